/**
 * Prints a write whose rows are plainly selected as what one would write by hand: `update … where id = $1 returning id, title`. The
 * gateway makes the JSON. For inserts into tables, and for an update or delete by the whole key.
 *
 * Everything else, and what turns out to be wide, is written by print-write.ts. A mutation must fail before it is committed, so
 * nobody can count what came afterwards: `atMost` holds by the key, and the size by a check of the texts of each row inside the
 * statement.
 */
import type { Column, Table } from '../model/model.ts';
import { type AnswerLayout, type AnswerPiece, layOutAll, type RowPiece } from './answer-layout.ts';
import { holdsKey } from './held-key.ts';
import { joinConstants, objectPieces } from './json-pieces.ts';
import { identifierBytes, maxGrowth, narrowBytes } from './narrow.ts';
import type { ObjectPlan, ValuePlan, WriteChange, WriteEntry, WritePlan } from './plan.ts';
import { keyColumns } from './plan-order.ts';
import { printInsert } from './print-insert.ts';
import { directRow, list, type Names } from './print-row.ts';
import { printChangeOf } from './print-write.ts';
import type { Printer } from './printer.ts';
import { callsRoutine, isFlat, layOutRow, type RowContext, Selection } from './row-layout.ts';
import type { Slot } from './slot.ts';
import { builtin, integer, literal, param, type Sql, sql } from './sql.ts';

/** A statement and what becomes of its rows. */
export interface PrintedWrite {
  readonly statement: Sql;
  readonly layout: AnswerLayout;
}

/** What the answer must be like. */
export interface WriteOptions {
  readonly maxResponseBytes: number;
  /** Refuses other types of columns (print-type-check.ts); null: there is nothing to check. */
  readonly check: Sql | null;
}

/** Prints the write; null where it is not of that kind, or a single row may be too large. */
export function printWrittenRows(
  printer: Printer,
  plan: WritePlan,
  { maxResponseBytes, check }: WriteOptions,
): PrintedWrite | null {
  const { table, change, entries } = plan;
  const records = entries.filter((entry) => entry.kind === 'records');
  if (records.length > 1 || !records.every(({ object }) => isFlat(object) && !callsRoutine(object))) return null;
  const alias = printer.names.next('t');
  const write = printDirectly(printer.names, table, change, alias);
  if (write === null) return null;
  const selection = new Selection();
  const context: RowContext = { printer, row: directRow(alias, table), selection, isRow: null };
  const pieces = joinConstants(objectPieces<Piece>(entries.map((entry) => layOut(context, entry))));
  const fixed = JSON.stringify(pieces).length;
  if (fixed > maxResponseBytes) return null;
  if (records[0] !== undefined) {
    const guard = printGuard(context, records[0].object, { share: shareOf(change, maxResponseBytes), fixed });
    if (guard === null) return null;
    if (guard !== 'none') selection.add(null, guard);
  }
  if (selection.count === 0) {
    // A row that policies hide from the role makes the write fail, if anything of it is returned.
    const visible = table.columns.find(({ selectable }) => selectable);
    if (visible === undefined) return null;
    selection.add(null, context.row.column(visible));
  }
  if (check !== null) selection.add(null, check);
  return {
    statement: sql`${write} returning ${selection.print()}`,
    layout: layOutAll(pieces),
  };
}

/** Start of the text whose cast fails on purpose, before anything is committed. */
export const tooWideMarker = 'pgreflect:too_wide:';

type Piece = Exclude<AnswerPiece, string>;

function printDirectly(names: Names, table: Table, change: WriteChange, alias: string): Sql | null {
  if (change.kind === 'insert') {
    // The width of each row says something of the answer only where there is at most a row for each object.
    const isPlain = table.kind === 'table' && !table.hasRules && change.groups.length === 1;
    return isPlain ? printInsert(names, table, change, alias) : null;
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

/** Bytes that each row may take of an answer of so many bytes: known, or from the number of objects. */
function shareOf(change: WriteChange, bytes: number): number | Slot {
  if (change.kind !== 'insert') return bytes;
  const { size } = change;
  return size.kind === 'known' ? Math.floor(bytes / size.count) : { kind: 'share', path: size.path, whole: bytes };
}

interface Room {
  readonly share: number | Slot;
  /** Most bytes of a row beside its values. */
  readonly fixed: number;
}

/**
 * An expression that fails where the JSON of the row may take more than its share, `none` where it cannot; null where that is not
 * known, or is so for every row. What fails is undone, and written again by the statement that measures its answer.
 */
function printGuard(
  { printer, row }: RowContext,
  { entries }: ObjectPlan,
  { share, fixed }: Room,
): Sql | 'none' | null {
  const measured = entries.map(({ value }) => measure(value, printer.enums));
  if (measured.includes(null)) return null;
  const wide = measured.flatMap((each) => each?.wide ?? []);
  const least = measured.reduce((sum, each) => sum + (each?.bytes ?? 0), fixed);
  if (typeof share === 'number' && share < least) return null;
  if (wide.length === 0) {
    if (typeof share === 'number') return 'none';
    // The failing cast must contain a column or a parameter, or the planner computes it before it looks at the condition.
    const given = param(share, builtin.int8);
    return sql`case when ${given} operator(pg_catalog.<) ${integer(least)} then ${tooWide(given)} end`;
  }
  // Null texts have no length.
  const lengths = [...new Set(wide)].map((column) => printLength(column, row.column(column)));
  const longest = sql`greatest(${list([...lengths, integer(0)])})`;
  const growth = maxGrowth * wide.length;
  const allowed =
    typeof share === 'number'
      ? integer(Math.floor((share - least) / growth))
      : sql`((${param(share, builtin.int8)} operator(pg_catalog.-) ${integer(least)}) operator(pg_catalog./) ${integer(growth)})`;
  return sql`case when ${longest} operator(pg_catalog.>) ${allowed} then ${tooWide(longest)} end`;
}

function tooWide(bytes: Sql): Sql {
  return sql`(${literal(tooWideMarker)} operator(pg_catalog.||) ${bytes})::pg_catalog.int4`;
}

interface Measure {
  /** Columns that take as much room. */
  readonly wide: readonly Column[];
  /** Most bytes of JSON beside theirs. */
  readonly bytes: number;
}

/** Null where nothing is known of the room that a value takes. */
function measure(value: ValuePlan, enums: Printer['enums']): Measure | null {
  if (value.kind === 'column') return measureColumn(value.column, enums);
  if (value.kind !== 'node_id') return { wide: [], bytes: 0 };
  // Base64, of which there is less than twice as much.
  const key = keyColumns(value.table).map((column) => measureKey(column, enums));
  if (key.includes(null)) return null;
  const wide = key.flatMap((each) => each?.wide ?? []);
  const names = 2 * identifierBytes * maxGrowth;
  return { wide: [...wide, ...wide], bytes: key.reduce((sum, each) => sum + 2 * (each?.bytes ?? 0), 2 * names) };
}

function measureKey(column: Column, enums: Printer['enums']): Measure | null {
  const { type } = column;
  return type?.kind === 'scalar' && type.scalar === 'Float'
    ? { wide: [], bytes: floatDigits }
    : measureColumn(column, enums);
}

/** Of a float as `jsonb` writes it out, without an exponent. */
const floatDigits = 350;

/** Nothing is known of lists of an enum, whose names may be long, and of types that are nothing but JSON. */
function measureColumn(column: Column, enums: Printer['enums']): Measure | null {
  const { type } = column;
  const narrow = narrowBytes(column, enums);
  if (narrow !== null) return { wide: [], bytes: narrow };
  const single = type?.kind === 'list' ? type.element : type;
  return single?.kind === 'scalar' && single.scalar !== 'Opaque' ? { wide: [column], bytes: quotes } : null;
}

/** Or of null. */
const quotes = 4;

/** Bytes of a value as text, of which its JSON is at most `maxGrowth` times as long. */
function printLength({ cast }: Column, value: Sql): Sql {
  // A cast to text would drop the blanks at the end, which the answer has.
  const isText = cast.blankPadded || (cast.namespace === 'pg_catalog' && texts.has(cast.name));
  return sql`pg_catalog.octet_length(${isText ? value : sql`${value}::pg_catalog.text`})`;
}

const texts: ReadonlySet<string> = new Set(['text', 'varchar']);
