/** Lays out one row: the columns it needs in a select, and how they become JSON (answer-layout.ts). */
import type { ResultColumn, ValueType } from '../../model/model.ts';
import { scalarRow } from '../../model/scalars.ts';
import { isJsonValue } from '../../model/tables/columns.ts';
import type { Slot } from '../input/slot.ts';
import type { CallPlan, Keyed, ObjectPlan, Typename, WritePlan } from '../plan/plan.ts';
import { isTypename, printObjectQuery } from '../sql/object.ts';
import { type PrintedValue, printCall, printMembers, type SqlPrinter } from '../sql/printer.ts';
import { list, type Row } from '../sql/row.ts';
import { type Sql, sql } from '../sql/sql.ts';
import { madeAtOnce, maxBytesIn } from '../sql/value-bytes.ts';
import type { AnswerColumn, AnswerPiece, RowPiece } from './answer-layout.ts';

/** JSON text: constants, and placeholders of values. */
type Pieces<T> = (T | string)[];

/** The same pieces with adjacent constants joined and empty ones removed. */
export function joinConstants<T extends object>(pieces: readonly (T | string)[]): Pieces<T> {
  const joined: Pieces<T> = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece;
    else if (piece !== '') joined.push(piece);
  }
  return joined;
}

/**
 * An object of these entries, in order; `__typename` is always the same. A key is a GraphQL name and needs no escapes.
 */
export function objectPieces<E extends Keyed<{ readonly kind: string }>, T extends object>(
  entries: readonly (E | Keyed<Typename>)[],
  lay: (entry: Exclude<E, Typename>) => readonly (T | string)[],
): Pieces<T> {
  const members = entries.map((entry, index): Pieces<T> => {
    const pieces = isTypename(entry) ? [JSON.stringify(entry.name)] : lay(entry as Exclude<E, Typename>);
    return [`${index === 0 ? '' : ','}"${entry.key}":`, ...pieces];
  });
  return ['{', ...members.flat(), '}'];
}

/** The columns of a select, each once. */
export class Selection {
  readonly #columns: Sql[] = [];
  readonly #indexes = new Map<string, number>();

  /** @param key Equal keys mean equal values; null: unique. */
  add(key: string | null, value: Sql): number {
    const known = key === null ? undefined : this.#indexes.get(key);
    if (known !== undefined) return known;
    this.#columns.push(value);
    if (key !== null) this.#indexes.set(key, this.#columns.length - 1);
    return this.#columns.length - 1;
  }

  get count(): number {
    return this.#columns.length;
  }

  print(): Sql {
    return list(this.#columns);
  }
}

/** A row in scope, and the select that reads it. */
export interface RowContext {
  readonly printer: SqlPrinter;
  readonly row: Row;
  readonly selection: Selection;
  /** Tells whether the row exists; null: always. Nothing is called for a missing row. */
  readonly isRow: Sql | null;
}

/**
 * Nested rows are JSON anyway, which PostgreSQL then makes best in one step. Many long values that it computes as well: it
 * makes a row of them whole, and only an object is bounded.
 */
export function isFlat({ entries }: ObjectPlan): boolean {
  const computed = entries.filter((entry) => (entry.kind === 'call' || isPart(entry)) && maxBytesIn(entry) === null);
  if (computed.length > madeAtOnce) return false;
  return entries.every(({ kind }) => kind !== 'row' && kind !== 'connection' && kind !== 'result');
}

function isPart(entry: ObjectPlan['entries'][number]): boolean {
  return entry.kind === 'column' && entry.at !== null;
}

/** Whether a computed field is among the entries. */
export function callsRoutine({ entries }: ObjectPlan): boolean {
  return entries.some(({ kind }) => kind === 'call');
}

/** What an answer shows of the rows that were written. */
export type WrittenAnswer = Pick<WritePlan, 'entries' | 'isRow'>;

/** The pieces of a record alone, or of a payload with at most one list of records: each row is a record. */
export function writtenPieces(context: RowContext, { entries, isRow }: WrittenAnswer): readonly AnswerPiece[] {
  const rowOf = (object: ObjectPlan) => joinConstants<RowPart>(recordPieces(context, object));
  if (isRow)
    return entries.flatMap((entry) => (entry.kind === 'records' ? [{ kind: 'row', row: rowOf(entry.object) }] : []));
  const pieces = objectPieces(entries, (entry): AnswerPiece[] =>
    entry.kind === 'affected_count' ? [{ kind: 'count' }] : ['[', { kind: 'rows', row: rowOf(entry.object) }, ']'],
  );
  return joinConstants<Exclude<AnswerPiece, string>>(pieces);
}

/** The pieces of a record or payload of which nothing is read, of a statement that returns no rows. */
export function countPieces({ entries, isRow }: WrittenAnswer): readonly AnswerPiece[] {
  if (isRow)
    return entries.flatMap((entry) => (entry.kind === 'records' ? { kind: 'if_written', text: typenames(entry) } : []));
  const pieces = objectPieces(entries, (): AnswerPiece[] => [{ kind: 'written' }]);
  return joinConstants<Exclude<AnswerPiece, string>>(pieces);
}

function typenames({ object }: { readonly object: ObjectPlan }): string {
  return objectPieces(object.entries.filter(isTypename), () => []).join('');
}

function recordPieces(context: RowContext, object: ObjectPlan): Pieces<RowPart> {
  if (isFlat(object) && !callsRoutine(object)) return layOutRow(context, object);
  const { printer, row, selection } = context;
  const json = printObjectQuery(printer, printMembers(printer, object, row));
  return [{ kind: 'column', index: selection.add(null, json), form: 'json' }];
}

/** The pieces of a row that is a whole payload, with values that PostgreSQL makes. */
export function jsonPieces(
  selection: Selection,
  entries: WritePlan['entries'],
  values: { readonly count: Sql; records(object: ObjectPlan): Sql },
): readonly RowPiece[] {
  const pieces = objectPieces(entries, (entry): RowPart[] => {
    const value = entry.kind === 'affected_count' ? values.count : values.records(entry.object);
    return [{ kind: 'column', index: selection.add(null, value), form: 'json' }];
  });
  return joinConstants<RowPart>(pieces);
}

/** The pieces of a row's object with flat entries (`isFlat`). */
export function layOutRow(context: RowContext, object: ObjectPlan): Pieces<RowPart> {
  return objectPieces(object.entries, (value) => [valuePiece(context, value)]);
}

type RowPart = Exclude<RowPiece, string>;

function valuePiece(context: RowContext, value: PrintedValue): RowPart {
  const { printer, row, selection, isRow } = context;
  if (value.kind === 'column' && value.at === null) return { kind: 'column', ...columnIn(context, value.column) };
  const printed = printer.printValue(printer, value, row);
  if (value.kind === 'node_id') return { kind: 'column', index: selection.add('node_id', printed), form: 'text' };
  if (value.kind === 'column') {
    const form = isJsonValue(value.column.type) ? 'json' : 'text';
    return { kind: 'column', index: selection.add(null, printed), form };
  }
  const json = sql`pg_catalog.to_json(${printed})`;
  const called = isRow === null ? json : sql`case when ${isRow} then ${json} end`;
  return { kind: 'column', index: selection.add(null, called), form: 'json' };
}

/** Prints a root call with a single plain value as the call alone; null for other values, and parts of them. */
export function printCalledValue({ call, at }: { readonly call: CallPlan; readonly at: Slot | null }) {
  const { result, returnsSet } = call.routine;
  if (at !== null || returnsSet || result.kind !== 'value' || result.type.kind !== 'scalar') return null;
  const { form } = scalarRow(result.type.scalar);
  if (form === null) return null;
  return { select: sql`select ${printCall(call, null)}`, column: { kind: 'column', index: 0, form } as const };
}

function columnIn(context: RowContext, column: ResultColumn): AnswerColumn {
  const type = column.type!;
  const form = type.kind === 'scalar' ? scalarRow(type.scalar).form : null;
  if (form !== null) return { ...rawColumn(context, column), form };
  const { printer, row, selection } = context;
  if (isJson(type)) return jsonColumn(context, column);
  // Enums and JSON scalars are strings with a text other than the column's.
  const text = printer.printValue(printer, { kind: 'column', column, at: null }, row);
  return { index: selection.add(`text ${column.number}`, text), form: 'text' };
}

/** Except as JSON, the text of times depends on settings of the role. */
function isJson(type: ValueType): boolean {
  return type.kind === 'list' || (type.kind === 'scalar' && type.scalar !== 'JSON');
}

/** A column as JSON that PostgreSQL makes. */
export function jsonColumn({ printer, row, selection }: RowContext, column: ResultColumn): AnswerColumn {
  const value = printer.printValue(printer, { kind: 'column', column, at: null }, row);
  return { index: selection.add(`json ${column.number}`, sql`pg_catalog.to_json(${value})`), form: 'json' };
}

/** A column without conversion, for `AnswerLayout.marker` and so on. */
export function rawColumn({ row, selection }: RowContext, column: ResultColumn): { readonly index: number } {
  return { index: selection.add(`raw ${column.number}`, row.column(column)) };
}
