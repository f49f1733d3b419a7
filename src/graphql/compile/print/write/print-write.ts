/**
 * Prints an insert, update or delete with its result as one statement (docs/mutations.md). Only the written rows show the
 * new state.
 *
 * Inserts into tables, and an update or delete by the whole key, which implies `atMost`, are written as by hand: `update …
 * where id = $1 returning id, title`. All others are `with x as (update … returning …) select … from x`. Each row is one
 * of the answer's records; several lists of records are one row of JSON. Without records, the count is the command's
 * (extension `writes`).
 */

import type { Table } from '../../../model/model.ts';
import { isStored } from '../../../model/tables/tables.ts';
import { type AnswerLayout, type AnswerPiece, layOutAll } from '../../answer/answer-layout.ts';
import { countPieces, jsonPieces, Selection, type WrittenAnswer, writtenPieces } from '../../answer/row-layout.ts';
import { isCounted, pinsPrimaryKey, runsVolatile } from '../../plan/inspect-plan.ts';
import type { ObjectPlan, UpdateChange, WriteChange, WritePlan } from '../../plan/plan.ts';
import { changesNothing } from '../../plan/write/plan-nested-steps.ts';
import { conjunction, printCondition, where } from '../../sql/condition.ts';
import { printFailure, sentinels } from '../../sql/failure-sentinels.ts';
import { printObject } from '../../sql/object.ts';
import { printMembers, type SqlPrinter, tableName } from '../../sql/printer.ts';
import { directRow, list, type Names, type Row, SubqueryRow } from '../../sql/row.ts';
import { builtin, empty, ident, param, type Sql, sql } from '../../sql/sql.ts';
import { printAssignments } from './print-assignment.ts';
import { printInsert, printOnlyKept } from './print-insert.ts';

/** A statement, and how its rows become JSON. */
export interface PrintedRows {
  readonly statement: Sql;
  readonly layout: AnswerLayout;
}

/** The rows that an answer shows. */
export interface WrittenRows {
  /** Named by the last of the common table expressions. */
  readonly row: SubqueryRow;
  /** An integer expression, always null, that fails if the rows may not be shown. Null: there is no condition. */
  readonly guard: Sql | null;
  /** The common table expressions. Print them after everything that reads the row. */
  expressions(): Sql;
}

/** @param check Refuses changed column types (print-schema-assertion.ts); null: nothing to check. */
export function printWrite(
  printer: SqlPrinter,
  { table, change, ...written }: Omit<WritePlan, 'nested'>,
  check: Sql | null,
): PrintedRows {
  const { names } = printer;
  const records = recordsIn(written.entries);
  const isVolatile = records.some(runsVolatile);
  if (isUnread({ table, change, ...written })) {
    const write = printChange(names, { table, change, alias: names.next('t') });
    return { statement: write, layout: layOutAll(countPieces(written)) };
  }
  // If a column is returned, the write fails for a row that policies hide from the role.
  const visible = table.columns.find(({ selectable }) => selectable);
  if (isWrittenDirectly(table, change) && records.length <= 1 && !isVolatile) {
    const alias = names.next('t');
    const write = printChange(names, { table, change, alias });
    const row = directRow(alias, table);
    const selection = new Selection();
    const pieces = writtenPieces({ printer, row, selection, isRow: null }, written);
    if (selection.count === 0) selection.add(null, visible === undefined ? sql`1` : row.column(visible));
    if (check !== null) selection.add(null, check);
    return { statement: sql`${write} returning ${selection.print()}`, layout: layOutWritten(pieces, written) };
  }
  const row = new SubqueryRow(names.next('x'));
  if (visible !== undefined) row.column(visible);
  const guard = printGuard(change, row, isVolatile);
  return printAnswer(
    printer,
    written,
    { row, guard, expressions: () => printWritten(names, { table, change }, row) },
    check,
  );
}

/** The answer as a statement that reads the rows. @param check As in `printWrite`. */
export function printAnswer(
  printer: SqlPrinter,
  written: WrittenAnswer,
  rows: WrittenRows,
  check: Sql | null,
): PrintedRows {
  const { names } = printer;
  const { entries } = written;
  const { row, guard } = rows;
  const alias = ident(row.alias);
  const selection = new Selection();
  const select = (from: Sql) =>
    sql`with ${rows.expressions()} select ${selection.print()} from ${from}${printOffset(guard, check)}`;
  if (recordsIn(entries).length === 1) {
    const pieces = writtenPieces({ printer, row, selection, isRow: null }, written);
    return { statement: select(alias), layout: layOutWritten(pieces, written) };
  }
  const counted = names.next('n');
  const pieces = jsonPieces(selection, entries, {
    count: ident(counted, 'n'),
    records: (object) => {
      const { from, value } = printObject(printer, printMembers(printer, object, row));
      return sql`(select coalesce(pg_catalog.json_agg(${value}), '[]'::pg_catalog.json) from ${alias} cross join ${from})`;
    },
  });
  return {
    statement: select(sql`(select pg_catalog.count(*) as "n" from ${alias}) as ${ident(counted)}`),
    layout: layOutAll([{ kind: 'rows', row: pieces }]),
  };
}

/** The layout of the written rows. A rule may return more rows than were written. */
function layOutWritten(pieces: readonly AnswerPiece[], { isRow }: WrittenAnswer): AnswerLayout {
  return { ...layOutAll(pieces), limit: isRow ? { kind: 'constant', value: 1 } : null };
}

/** ` offset …` of expressions that are always null: PostgreSQL evaluates it before it reads a row, even of no rows. */
export function printOffset(...expressions: readonly (Sql | null)[]): Sql {
  const [first, ...others] = expressions.filter((expression) => expression !== null);
  if (first === undefined) return empty;
  return others.length === 0 ? sql` offset ${first}` : sql` offset coalesce(${list([first, ...others])})`;
}

function recordsIn(entries: WritePlan['entries']): readonly ObjectPlan[] {
  return entries.flatMap((entry) => (entry.kind === 'records' ? [entry.object] : []));
}

/**
 * Whether nothing is returned: only the number of rows is asked for. Other updates and deletes count their rows for
 * `atMost`. They return a column, so that they never change or count rows that policies hide, even without a filter.
 */
export function isUnread({ table, change, ...answer }: Omit<WritePlan, 'nested'>): boolean {
  if (!isCounted(table, answer)) return false;
  return change.kind === 'insert' || isWrittenDirectly(table, change);
}

function isWrittenDirectly(table: Table, change: WriteChange): boolean {
  if (change.kind === 'insert') return isStored(table.kind) && !table.hasRules;
  const allowsOne = change.atMost.kind === 'constant' && Number(change.atMost.value) >= 1;
  return allowsOne && table.uniqueKey && pinsPrimaryKey(table, change.filter);
}

function printGuard(change: WriteChange, { alias }: SubqueryRow, isVolatile: boolean): Sql | null {
  const count = sql`pg_catalog.count(*)`;
  const guard = (condition: Sql, failure: Sql) =>
    sql`(select case when ${condition} then ${failure} end from ${ident(alias)})`;
  if (change.kind !== 'insert') {
    const limit = param(change.atMost, builtin.int8);
    return guard(sql`${count} operator(pg_catalog.>) ${limit}`, printFailure(sentinels.atMost, count));
  }
  // Counting completes all rows before any is read: volatile functions must not see a part of them.
  return isVolatile ? guard(sql`${count} is null`, sql`0`) : null;
}

/** What a statement writes. */
interface Change {
  readonly table: Table;
  readonly change: WriteChange;
}

/** Rows that an update or delete is limited to, and how they belong to those of the table. */
export interface Joined {
  readonly from: Sql;
  readonly condition: Sql;
}

/**
 * A common table expression named after `written`: the written rows, those of an insert in the order of the objects.
 *
 * @param join What it is limited to.
 */
export function printWritten(
  names: Names,
  { table, change }: Change,
  written: SubqueryRow,
  join: (row: Row) => Joined | null = () => null,
): Sql {
  const alias = names.next('t');
  const row = directRow(alias, table);
  const columns = written.selectList(row);
  const joined = join(row);
  if (changesNothing(change))
    return printChosen(names, { table, change: change as UpdateChange, alias }, written, joined);
  // No column of the table is read, or the role would need the right to see the rows.
  const returned = columns.length > 0 ? list(columns) : sql`1 as "one"`;
  return sql`${ident(written.alias)} as (${printChange(names, { table, change, alias }, joined)} returning ${returned})`;
}

/** A write of the table, under `alias`, up to its `returning`. */
function printChange(
  names: Names,
  { table, change, alias }: Change & { readonly alias: string },
  joined: Joined | null = null,
): Sql {
  if (change.kind === 'insert') return printInsert(names, table, change, alias);
  const target = sql`${tableName(table)} as ${ident(alias)}`;
  const condition = change.filter === null ? null : printCondition(names, change.filter, directRow(alias, table));
  // Supabase preloads `safeupdate` for its login: that refuses a statement without `where`, as `pg_graphql` never sends.
  const filter = where(conjunction([joined?.condition ?? null, condition]) ?? sql`true`);
  if (change.kind === 'delete')
    return sql`delete from ${target}${joined ? sql` using ${joined.from}` : empty}${filter}`;
  const changes = printAssignments(names, change.set, directRow(alias, table));
  const links = change.links.map((link) => sql`${ident(link.column.name)} = ${printOnlyKept(names, link)}`);
  const set = list([...(change.set.length > 0 ? [changes] : []), ...links]);
  return sql`update ${target} set ${set}${joined ? sql` from ${joined.from}` : empty}${filter}`;
}

/**
 * The rows that an update would change, where only related rows change. They are locked as an update locks them, so that two
 * requests that replace the same related rows wait for each other. In a view, rows may come from several tables.
 */
function printChosen(
  names: Names,
  { table, change, alias }: Omit<Change, 'change'> & { readonly change: UpdateChange; readonly alias: string },
  written: SubqueryRow,
  joined: Joined | null,
): Sql {
  const row = directRow(alias, table);
  const condition = change.filter === null ? null : printCondition(names, change.filter, row);
  const filter = where(conjunction([joined?.condition ?? null, condition]));
  const from = sql`${tableName(table)} as ${ident(alias)}${joined ? sql`, ${joined.from}` : empty}`;
  const lock = table.kind !== 'view' ? sql` for no key update of ${ident(alias)}` : empty;
  const columns = written.selectList(row);
  return sql`${ident(written.alias)} as (select ${list(columns.length > 0 ? columns : [sql`1 as "one"`])} from ${from}${filter}${lock})`;
}
