/**
 * Lays out one row: which columns a select needs for it, and how they become JSON (answer-layout.ts).
 */
import type { Column, ScalarName, ValueType } from '../../model/model.ts';
import type { Slot } from '../input/slot.ts';
import type { CallPlan, Keyed, ObjectPlan, OrderExpression, OrderTerm, Typename } from '../plan/plan.ts';
import { isSummed } from '../sql/print-expression.ts';
import { isTypename } from '../sql/print-object.ts';
import { list, type Row } from '../sql/print-row.ts';
import { type PrintedValue, type Printer, printCall } from '../sql/printer.ts';
import { builtin, param, type Sql, sql } from '../sql/sql.ts';
import type { AnswerColumn, ColumnForm, RowPiece } from './answer-layout.ts';

/** JSON text: constants, and whatever stands for a value. */
type Pieces<T> = (T | string)[];

/** The same pieces with neighboring constants joined and empty ones left out. */
export function joinConstants<T extends object>(pieces: readonly (T | string)[]): Pieces<T> {
  const joined: Pieces<T> = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') joined[joined.length - 1] = last + piece;
    else if (piece !== '') joined.push(piece);
  }
  return joined;
}

/** An object of these entries, in order; `__typename` is the same everywhere. A key is a GraphQL name, which needs no escapes. */
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

/** The columns of a select, each of them once. */
export class Selection {
  readonly #columns: Sql[] = [];
  readonly #indexes = new Map<string, number>();

  /** @param key Equal keys stand for equal values; null: like no other. */
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

/** A row in scope, and the select that reads from it. */
export interface RowContext {
  readonly printer: Printer;
  readonly row: Row;
  readonly selection: Selection;
  /** Holds where there is a row; null: there is one. Nothing is called for a row of nulls that stands for none. */
  readonly isRow: Sql | null;
}

/** Other rows inside a row are JSON anyway, which PostgreSQL then makes best in one go. */
export function isFlat({ entries }: ObjectPlan): boolean {
  return entries.every(({ kind }) => kind !== 'row' && kind !== 'connection');
}

/** Whether a computed field is among the entries. */
export function callsRoutine({ entries }: ObjectPlan): boolean {
  return entries.some(({ kind }) => kind === 'call');
}

/** The pieces of an object of the row; its entries are flat (`isFlat`). */
export function layOutRow(context: RowContext, object: ObjectPlan): Pieces<RowPart> {
  return objectPieces(object.entries, (value) => [valuePiece(context, value)]);
}

type RowPart = Exclude<RowPiece, string>;

function valuePiece(context: RowContext, value: PrintedValue): RowPart {
  const { printer, row, selection, isRow } = context;
  if (value.kind === 'column' && value.at === null) return { kind: 'column', ...columnIn(context, value.column) };
  const printed = printer.printValue(printer, value, row);
  if (value.kind === 'node_id') return { kind: 'column', index: selection.add('node_id', printed), form: 'text' };
  if (value.kind === 'column') return { kind: 'column', index: selection.add(null, printed), form: 'text' };
  const json = sql`pg_catalog.to_json(${printed})`;
  const called = isRow === null ? json : sql`case when ${isRow} then ${json} end`;
  return { kind: 'column', index: selection.add(null, called), form: 'json' };
}

/** How a scalar travels where its text is sent as PostgreSQL prints it; null: it is made JSON there. */
const plainForms: Partial<Readonly<Record<ScalarName, ColumnForm>>> = {
  Int: 'json',
  Float: 'number',
  BigInt: 'quoted',
  BigFloat: 'quoted',
  Boolean: 'boolean',
  String: 'text',
  UUID: 'quoted',
  Time: 'quoted',
};

/** Prints a call at the root that gives one plain value as the call alone; null where its value is no plain scalar. */
export function printCalledValue(call: CallPlan) {
  const { result, returnsSet } = call.routine;
  if (returnsSet || result.kind !== 'value' || result.type.kind !== 'scalar') return null;
  const form = plainForms[result.type.scalar];
  if (form === undefined) return null;
  return { select: sql`select ${printCall(call, null)}`, column: { kind: 'column', index: 0, form } as const };
}

function columnIn(context: RowContext, column: Column): AnswerColumn {
  const type = column.type!;
  const form = type.kind === 'scalar' ? plainForms[type.scalar] : undefined;
  if (form !== undefined) return { ...rawColumn(context, column), form };
  const { printer, row, selection } = context;
  if (isJson(type)) return jsonColumn(context, column);
  // Enums and JSON scalars are strings, under another text than the column's own.
  const text = printer.printValue(printer, { kind: 'column', column, at: null }, row);
  return { index: selection.add(`text ${column.number}`, text), form: 'text' };
}

/** Times depend on settings of the role in every other form than JSON. */
function isJson(type: ValueType): boolean {
  return type.kind === 'list' || (type.kind === 'scalar' && type.scalar !== 'JSON');
}

function jsonColumn({ printer, row, selection }: RowContext, column: Column): AnswerColumn {
  const value = printer.printValue(printer, { kind: 'column', column, at: null }, row);
  return { index: selection.add(`json ${column.number}`, sql`pg_catalog.to_json(${value})`), form: 'json' };
}

/** A column as it is, for `AnswerLayout.marker` and the like. */
export function rawColumn({ row, selection }: RowContext, column: Column): { readonly index: number } {
  return { index: selection.add(`raw ${column.number}`, row.column(column)) };
}

/** How a scalar travels for a cursor, which holds what `jsonb` would print; others, such as floats, whose digits `jsonb` writes out, do not. */
const cursorForms: Partial<Readonly<Record<ScalarName, ColumnForm>>> = {
  Int: 'json',
  BigInt: 'json',
  BigFloat: 'number',
  Boolean: 'boolean',
  String: 'text',
  UUID: 'quoted',
  Time: 'quoted',
  Date: 'json',
  Datetime: 'json',
};

/** Whether the columns of a row are enough for its cursor. */
export function hasCursorColumns(order: readonly OrderTerm[]): boolean {
  return order.every(({ expression }) => cursorFormOf(expression) !== undefined);
}

function cursorFormOf(expression: OrderExpression): ColumnForm | undefined {
  const scalar = scalarOf(expression);
  return scalar === null ? undefined : cursorForms[scalar];
}

function scalarOf(expression: OrderExpression): ScalarName | null {
  switch (expression.kind) {
    case 'related':
      return scalarOf(expression.expression);
    case 'count':
    case 'distinct_count':
      return 'BigInt';
    case 'rank':
      return 'Float';
    case 'computed':
      return expression.type.kind === 'scalar' ? expression.type.scalar : null;
    default: {
      if (expression.kind === 'aggregate' && isSummed(expression.function)) return 'BigFloat';
      const { type } = expression.column;
      return type?.kind === 'scalar' ? type.scalar : null;
    }
  }
}

/** The columns of a cursor of this order, which `hasCursorColumns`. @param sortKeys The values of its terms. */
export function cursorColumns(
  context: RowContext,
  order: readonly OrderTerm[],
  sortKeys: readonly Sql[],
  seal: Slot | null,
): readonly AnswerColumn[] {
  const columns = order.map(({ expression }, index): AnswerColumn => {
    const key = sortKeys[index]!;
    const form = cursorFormOf(expression)!;
    const isTime = ['Date', 'Datetime'].includes(scalarOf(expression)!);
    if (expression.kind === 'column') {
      return isTime ? jsonColumn(context, expression.column) : { ...rawColumn(context, expression.column), form };
    }
    return { index: context.selection.add(null, isTime ? sql`pg_catalog.to_json(${key})` : key), form };
  });
  return seal === null
    ? columns
    : [...columns, { index: context.selection.add('seal', param(seal, builtin.text)), form: 'text' }];
}
