/**
 * Prints a query as a statement that returns rows; the gateway makes the JSON by a layout (answer-layout.ts).
 *
 * PostgreSQL spends half of a simple list's time on making JSON. Simple lists are therefore read as rows: the page's
 * columns, and one more row if the client asks for more pages. Measured, PostgreSQL's CPU per request: 20 rows of a
 * deep page 146 us as JSON and 55 as rows, 1,000 rows 2,559 and 644.
 *
 * For a single root field, because each statement sees its own state, and for table pages whose rows are certain to be
 * edges. Everything else (null here) stays one text made by PostgreSQL.
 */
import type { Table } from '../../model/model.ts';
import type { AnswerLayout, AnswerPiece, RowPiece } from '../answer/answer-layout.ts';
import {
  callsRoutine,
  isFlat,
  joinConstants,
  layOutRow,
  objectPieces,
  printCalledValue,
  type RowContext,
  rawColumn,
  Selection,
} from '../answer/row-layout.ts';
import { cursorColumns, hasCursorColumns } from '../cursor/print-cursor.ts';
import { isOfPage, rowsShownBy, showsRows } from '../plan/inspect-plan.ts';
import type {
  ConnectionEntry,
  ConnectionPlan,
  ObjectPlan,
  PageFact,
  SelectedValue,
  Typename,
  ValuePlan,
} from '../plan/plan.ts';
import { columnOf } from '../plan/plan-order.ts';
import { printKey, where } from '../sql/condition.ts';
import { type SqlPrinter, tableName } from '../sql/printer.ts';
import { directRow, type Row, type RowSet, SubqueryRow } from '../sql/row.ts';
import { ident, type Sql, sql } from '../sql/sql.ts';
import { printCounted, printEntry, tableRows } from './print-connection.ts';
import { printOtherKey } from './print-order.ts';
import { readsOneMore } from './print-page.ts';
import { printFirst, printScan } from './print-scan.ts';

/** PostgreSQL's limit is 1,664 columns. */
const maxColumns = 1600;

/** Prints the root fields of a query as rows; null if impossible. */
export function printRows(
  printer: SqlPrinter,
  fields: readonly SelectedValue[],
): { readonly select: Sql; readonly layout: AnswerLayout } | null {
  const [field, ...others] = fields.filter(({ kind }) => kind !== 'typename');
  if (field === undefined || others.length > 0) return null;
  const printed = printField(printer, field);
  if (printed === null || printed.count > maxColumns) return null;
  const { limit = null, backward = false, rowPresence = null } = printed;
  const pieces = joinConstants<Piece>(objectPieces(fields, () => printed.pieces));
  return { select: printed.select, layout: { pieces, limit, backward, rowPresence } };
}

type Piece = Exclude<AnswerPiece, string>;

interface PrintedField extends Partial<Omit<AnswerLayout, 'pieces'>> {
  readonly select: Sql;
  /** Number of columns of the select. */
  readonly count: number;
  readonly pieces: readonly AnswerPiece[];
}

function printField(printer: SqlPrinter, value: ValuePlan): PrintedField | null {
  if (value.kind === 'row' && value.source.kind === 'key') {
    const { table, slots } = value.source;
    return printByKey(printer, value.object, (row) => printKey(table, slots, row), table);
  }
  if (value.kind === 'call') {
    const printed = printCalledValue(value);
    return printed && { select: printed.select, count: 1, pieces: [printed.column] };
  }
  if (value.kind !== 'connection' || value.connection.source.kind !== 'table') return null;
  const plan = value.connection;
  const rows = tableRows(printer, { ...plan, source: value.connection.source }, null);
  const isPaged = plan.entries.some(isOfPage);
  return isPaged ? printPageRows(printer, plan, rows) : printSums(printer, plan, rows);
}

function printByKey(
  printer: SqlPrinter,
  object: ObjectPlan,
  condition: (row: Row) => Sql,
  table: Table,
): PrintedField | null {
  if (!table.uniqueKey || !isFlat(object)) return null;
  const alias = printer.names.next('t');
  const row = directRow(alias, table);
  const selection = new Selection();
  const pieces = joinConstants(layOutRow({ printer, row, selection, isRow: null }, object));
  const from = sql`${tableName(table)} as ${ident(alias)}${where(condition(row))}`;
  return {
    select: sql`select ${selection.print()} from ${from}`,
    count: selection.count,
    pieces: [{ kind: 'row', row: pieces }],
    // The key may have been dropped since the model was read.
    limit: { kind: 'constant', value: 1 },
  };
}

// Only counts and aggregates: one row.
function printSums(printer: SqlPrinter, plan: ConnectionPlan, rows: RowSet): PrintedField {
  const selection = new Selection();
  const sums = plan.entries.filter(({ kind }) => kind !== 'typename');
  const [only, ...others] = sums;
  const count = only?.kind === 'total_count' && others.length === 0 ? only : null;
  const pieces = objectPieces(plan.entries, (entry): AnswerPiece[] => {
    const value = count !== null ? sql`pg_catalog.count(*)` : printEntry(printer, plan, entry, rows);
    return [{ kind: 'column', index: selection.add(null, value), form: 'json' }];
  });
  return {
    select:
      count !== null
        ? sql`select ${selection.print()} from ${printCounted(printer, plan, rows, count.atMost)}`
        : sql`select ${selection.print()}`,
    count: selection.count,
    pieces,
  };
}

interface PageContext extends RowContext {
  readonly plan: ConnectionPlan;
  readonly rows: RowSet;
  readonly page: SubqueryRow;
}

function printPageRows(printer: SqlPrinter, plan: ConnectionPlan, rows: RowSet): PrintedField | null {
  const counted = readsOneMore(plan);
  if (!isPlain(plan, rows.table, counted)) return null;
  const page = new SubqueryRow(printer.names.next('p'));
  const selection = new Selection();
  const totals = printer.names.next('n');
  const total = plan.entries.find((entry) => entry.kind === 'total_count');
  const hasTotal = total !== undefined;
  // A page row's key is never null (isPlain), so a null marks the row with the total count of an empty page.
  const key = columnOf(rows.table, rows.table.primaryKey[0]!);
  const isRow = hasTotal ? sql`${page.column(key)} is not null` : null;
  const context: PageContext = { printer, row: page, selection, isRow, plan, rows, page };
  const pieces = objectPieces(plan.entries, (entry) => entryPieces(context, entry, totals));
  const rowPresence = hasTotal ? rawColumn(context, key).index : null;
  const scan = sql`(${printScan(printer.names, plan, { rows, page, counted })}) as ${ident(page.alias)}`;
  const from = hasTotal ? sql`${printTotal(context, total, totals)} left join ${scan} on true` : scan;
  return {
    select: sql`select ${selection.print()} from ${from}`,
    count: selection.count,
    pieces,
    limit: counted ? plan.page.limit : null,
    backward: plan.page.backward,
    rowPresence,
  };
}

type TotalEntry = Extract<ConnectionEntry, { kind: 'total_count' }>;

function printTotal({ printer, plan, rows }: PageContext, { atMost }: TotalEntry, alias: string): Sql {
  return sql`(select pg_catalog.count(*) as "n" from ${printCounted(printer, plan, rows, atMost)}) as ${ident(alias)}`;
}

function isPlain({ entries, order }: ConnectionPlan, table: Table, counted: boolean): boolean {
  const shown = entries.filter(showsRows);
  if (shown.length !== 1 || entries.some(({ kind }) => kind === 'aggregate' || kind === 'groups')) return false;
  const [total, ...otherTotals] = entries.filter((entry) => entry.kind === 'total_count');
  if (otherTotals.some(({ atMost }) => atMost !== total?.atMost)) return false;
  // Rows without a first key value are not edges, but count for the page.
  if (!columnOf(table, table.primaryKey[0]!).notNull) return false;
  const wantsCursor = entries.some(
    (entry) =>
      (entry.kind === 'edges' && entry.entries.some(({ kind }) => kind === 'cursor')) ||
      (entry.kind === 'page_info' &&
        entry.entries.some(({ kind }) => kind === 'start_cursor' || kind === 'end_cursor')),
  );
  if (wantsCursor && !hasCursorColumns(order)) return false;
  return shown.flatMap(rowsShownBy).every((object) => isFlatRow(object, counted));
}

function isFlatRow(object: ObjectPlan, counted: boolean): boolean {
  // A routine may have effects, which must not happen for the row after the page.
  return isFlat(object) && (!counted || !callsRoutine(object));
}

function entryPieces(context: PageContext, entry: Exclude<ConnectionEntry, Typename>, totals: string): AnswerPiece[] {
  switch (entry.kind) {
    case 'edges': {
      const row = objectPieces(entry.entries, (edge): RowPiece[] =>
        edge.kind === 'cursor' ? [cursorPiece(context)] : layOutRow(context, edge.object),
      );
      return rowPieces(row);
    }
    case 'nodes':
      return rowPieces(layOutRow(context, entry.object));
    case 'page_info':
      return objectPieces(entry.entries, ({ kind }) => [factPiece(context, kind)]);
    case 'total_count':
      return [{ kind: 'column', index: context.selection.add('total', ident(totals, 'n')), form: 'json' }];
    case 'aggregate':
    case 'groups':
      throw new Error('a page of rows has no aggregates');
  }
}

function rowPieces(row: readonly RowPiece[]): AnswerPiece[] {
  return ['[', { kind: 'rows', row: joinConstants<Exclude<RowPiece, string>>(row) }, ']'];
}

function cursorPiece(context: PageContext) {
  const { order, page } = context.plan;
  return { kind: 'cursor', columns: cursorColumns(context, order, context.page.sortKeys(order), page.digest) } as const;
}

function factPiece(context: PageContext, fact: PageFact): AnswerPiece {
  const { backward, cursor, offset } = context.plan.page;
  switch (fact) {
    case 'start_cursor':
    case 'end_cursor':
      return { ...cursorPiece(context), of: fact === 'start_cursor' ? 'start' : 'end' };
    default: {
      if ((fact === 'has_next_page') !== backward) return { kind: 'has_more' };
      if (cursor === null && offset === null) return 'false';
      return { kind: 'of_first', index: context.selection.add('beyond', printBeyond(context)) };
    }
  }
}

// Whether a row differs from the first of the whole set, in scan order. That first row is read once.
function printBeyond({ printer, plan, page, rows }: PageContext): Sql {
  return printOtherKey(rows, page, (key) => sql`(select ${printFirst(printer.names, plan, rows, key)})`);
}
