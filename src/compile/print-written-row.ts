/**
 * Prints a write of one row, plainly selected, as what one would write by hand: `update … where id = $1 returning id, title`. The
 * gateway makes the JSON. For an object that is inserted alone, and for an update or delete by the whole key.
 *
 * Everything else, and what turns out to be wide, is written by print-write.ts. A mutation must fail before it is committed, so
 * nobody can count what came afterwards: `atMost` holds by the key, and the size by a check of the row's texts inside the
 * statement.
 */
import type { Column, Table } from '../model/model.ts';
import { type AnswerLayout, type AnswerPiece, layOutAll, type RowPiece } from './answer-layout.ts';
import { holdsKey } from './held-key.ts';
import { joinConstants, objectPieces } from './json-pieces.ts';
import { isNarrow, maxGrowth, narrowBytes } from './narrow.ts';
import type { ObjectPlan, WriteChange, WriteEntry, WritePlan } from './plan.ts';
import { onlyRow, printRowInsert } from './print-insert.ts';
import { directRow, list } from './print-row.ts';
import { printChangeOf } from './print-write.ts';
import type { Printer } from './printer.ts';
import { callsRoutine, isFlat, layOutRow, type RowContext, Selection } from './row-layout.ts';
import { integer, literal, type Sql, sql } from './sql.ts';

/** A statement and what becomes of its row. */
export interface PrintedWrite {
  readonly statement: Sql;
  readonly layout: AnswerLayout;
}

/** Prints the write; null where it is not of that kind. */
export function printWrittenRow(printer: Printer, plan: WritePlan, maxResponseBytes: number): PrintedWrite | null {
  const { table, change, entries } = plan;
  const records = entries.filter((entry) => entry.kind === 'records');
  if (records.length > 1 || !records.every(({ object }) => isFlat(object) && !callsRoutine(object))) return null;
  const alias = printer.names.next('t');
  const write = printOneRow(table, change, alias);
  if (write === null) return null;
  const selection = new Selection();
  const context: RowContext = { printer, row: directRow(alias, table), selection };
  const pieces = joinConstants(objectPieces<Piece>(entries.map((entry) => layOut(context, entry))));
  const room = maxResponseBytes - JSON.stringify(pieces).length;
  const guard = printWidthGuard(context, records[0]?.object ?? null, room);
  if (guard === null) return null;
  if (guard !== 'none') selection.add(null, guard);
  if (selection.count === 0) {
    // A row that policies hide from the role makes the write fail, if anything of it is returned.
    const visible = table.columns.find(({ selectable }) => selectable);
    if (visible === undefined) return null;
    selection.add(null, context.row.column(visible));
  }
  return {
    statement: sql`${write} returning ${selection.print()}`,
    layout: layOutAll(pieces),
  };
}

/** Start of the text whose cast fails on purpose, before anything is committed. */
export const tooWideMarker = 'pgreflect:too_wide:';

type Piece = Exclude<AnswerPiece, string>;

function printOneRow(table: Table, change: WriteChange, alias: string): Sql | null {
  if (change.kind === 'insert') {
    const values = table.kind === 'table' ? onlyRow(change) : null;
    return values === null ? null : printRowInsert(table, values, alias);
  }
  const allowsOne = change.atMost.kind === 'constant' && Number(change.atMost.value) >= 1;
  if (!allowsOne || !table.uniqueKey || !holdsKey(table, change.filter)) return null;
  return printChangeOf(table, change, alias);
}

function layOut(context: RowContext, entry: WriteEntry): { readonly key: string; readonly pieces: AnswerPiece[] } {
  const { key } = entry;
  switch (entry.kind) {
    case 'typename':
      return { key, pieces: [JSON.stringify(entry.name)] };
    case 'affected_count':
      return { key, pieces: [{ kind: 'count' }] };
    case 'records': {
      const row = joinConstants<Exclude<RowPiece, string>>(layOutRow(context, entry.object));
      return { key, pieces: ['[', { kind: 'rows', row }, ']'] };
    }
  }
}

/**
 * An expression that fails where the values of the row may take more than these bytes, `none` where they cannot; null where that
 * is not known. What fails is undone, and written again by the statement that measures its answer.
 */
function printWidthGuard({ row }: RowContext, object: ObjectPlan | null, bytes: number): Sql | 'none' | null {
  const entries = object?.entries ?? [];
  const columns = entries.flatMap(({ value }) => (value.kind === 'column' ? [value.column] : []));
  const room = bytes - narrowBytes * entries.length;
  if (room < 0 || entries.some(({ value }) => value.kind === 'node_id') || !columns.every(isMeasurable)) return null;
  const wide = columns.filter((column) => !isNarrow(column));
  if (wide.length === 0) return 'none';
  const lengths = wide.map((column) => sql`pg_catalog.octet_length(${row.column(column)})`);
  const longest = lengths.length === 1 ? lengths[0]! : sql`greatest(${list(lengths)})`;
  const allowed = integer(Math.floor(room / wide.length / maxGrowth));
  return sql`case when ${longest} > ${allowed} then (${literal(tooWideMarker)} operator(pg_catalog.||) ${longest})::pg_catalog.int4 end`;
}

function isMeasurable(column: Column): boolean {
  return isNarrow(column) || (column.cast.namespace === 'pg_catalog' && texts.has(column.cast.name));
}

const texts: ReadonlySet<string> = new Set(['text', 'varchar']);
