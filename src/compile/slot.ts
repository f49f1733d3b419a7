/**
 * Where the value of a statement's parameter comes from, and how it is filled from the coerced variables of a request.
 *
 * Binding cannot fail: everything about a value that could be refused was asked before (decisions.ts), so a statement
 * that was compiled for the same decisions takes any values. All parameters travel as text.
 */
import { invariant, unreachable } from '../shared/invariant.ts';
import { decodeJsonArray } from './cursor.ts';

/** Path into the coerced variables: first the variable's key, then input fields and list positions. */
export type Path = readonly (string | number)[];

/** Coerced variables by key; a missing key is an absent variable. */
export type Variables = Readonly<Record<string, unknown>>;

/** Source of one parameter. */
export type Slot =
  /** Written in the document, where `name` is the argument or input field it stands for, or made by the compiler. */
  | { readonly kind: 'constant'; readonly value: string | null; readonly name?: string }
  /** A scalar or enum of the variables. */
  | { readonly kind: 'scalar'; readonly path: Path }
  /** A list of scalars: the whole of it from the variables, as a PostgreSQL array. */
  | { readonly kind: 'list'; readonly path: Path }
  /** A list written in the document whose elements are slots. */
  | { readonly kind: 'array'; readonly items: readonly Slot[] }
  /** A page size from the variables, cut to the ceiling; a null or absent one is the ceiling. */
  | { readonly kind: 'limit'; readonly path: Path; readonly ceiling: number }
  /** Element of a cursor or node id from the variables. */
  | { readonly kind: 'element'; readonly path: Path; readonly index: number }
  /** Objects to insert, from the variables, as one JSON array. */
  | {
      readonly kind: 'rows';
      readonly path: Path;
      readonly columns: readonly RowKey[];
      readonly grouping: RowGrouping | null;
    }
  /** Objects to insert that are written in the document, as one JSON array. */
  | {
      readonly kind: 'row_list';
      readonly rows: readonly ReadonlyMap<string, Slot>[];
      readonly columns: readonly RowKey[];
      readonly grouping: RowGrouping | null;
    }
  /** The answer of a meta field, as JSON text. */
  | { readonly kind: 'introspection'; readonly responseKey: string };

/** A key of inserted objects. In the JSON array, column `i` is the text `ci`, and `pi` says that the object has it. */
export interface RowKey {
  readonly fieldName: string;
  readonly isList: boolean;
  readonly partial: boolean;
}

/**
 * Rows that lack different keys among `fieldNames` are inserted apart. In the JSON array, `g` is the row's place in
 * `patterns` (see `patternOf`).
 */
export interface RowGrouping {
  readonly fieldNames: readonly string[];
  readonly patterns: readonly string[];
}

/** Which of the names a row has: `1` or `0` for each of them. */
export function patternOf(fieldNames: readonly string[], has: (fieldName: string) => boolean): string {
  return fieldNames.map((name) => (has(name) ? '1' : '0')).join('');
}

/** What slots are filled from. */
export interface BindingSource {
  readonly variables: Variables;
  /** JSON text by response key, for operations that ask for `__schema` or `__type` beside data. */
  readonly introspection: ReadonlyMap<string, string>;
}

/** Fills slots in order. */
export function bindSlots(slots: readonly Slot[], source: BindingSource): (string | null)[] {
  return slots.map((slot) => bindSlot(slot, source));
}

/** The value of one slot as text, null for SQL null. */
export function bindSlot(slot: Slot, source: BindingSource): string | null {
  switch (slot.kind) {
    case 'constant':
      return slot.value;
    case 'scalar':
      return scalarText(valueAt(source.variables, slot.path));
    case 'list':
      return listText(valueAt(source.variables, slot.path));
    case 'array':
      return arrayText(slot.items.map((item) => bindSlot(item, source)));
    case 'limit': {
      const value = valueAt(source.variables, slot.path);
      return String(typeof value === 'number' ? Math.min(value, slot.ceiling) : slot.ceiling);
    }
    case 'element': {
      const elements = decodeJsonArray(String(valueAt(source.variables, slot.path)));
      invariant(elements !== null && slot.index < elements.length, 'the element was asked for before');
      return elements[slot.index] ?? null;
    }
    case 'rows': {
      const rows = valueAt(source.variables, slot.path) as readonly Readonly<Record<string, unknown>>[];
      return rowsText(slot, rows, {
        has: (row, fieldName) => Object.hasOwn(row, fieldName),
        read: (row, { fieldName, isList }) => (isList ? listText(row[fieldName]) : scalarText(row[fieldName])),
      });
    }
    case 'row_list':
      return rowsText(slot, slot.rows, {
        has: (row, fieldName) => row.has(fieldName),
        read: (row, { fieldName }) => bindSlot(row.get(fieldName)!, source),
      });
    case 'introspection':
      return source.introspection.get(slot.responseKey) ?? null;
    default:
      return unreachable(slot);
  }
}

/** Follows a path; undefined where it leads nowhere. */
export function valueAt(variables: Variables, path: Path): unknown {
  let value: unknown = variables;
  for (const step of path) {
    // Own keys only: a variable or column may be called `constructor`.
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** Text form of a coerced scalar, as PostgreSQL reads it. */
export function scalarText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** PostgreSQL's array literal; every element is quoted, so that no element can be taken for syntax. */
export function arrayText(elements: readonly (string | null)[]): string {
  const items = elements.map((element) =>
    element === null ? 'NULL' : `"${element.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  );
  return `{${items.join(',')}}`;
}

function listText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return arrayText((Array.isArray(value) ? value : [value]).map(scalarText));
}

interface RowReader<T> {
  has(row: T, fieldName: string): boolean;
  /** The text of a value that the row has. */
  read(row: T, column: RowKey): string | null;
}

function rowsText<T>(
  { columns, grouping }: { readonly columns: readonly RowKey[]; readonly grouping: RowGrouping | null },
  rows: readonly T[],
  { has, read }: RowReader<T>,
): string {
  const keyed = columns.map((column, index) => ({ column, key: `c${index}`, partialKey: `p${index}` }));
  const objects = rows.map((row) => {
    const object: Record<string, string | number | null | true> = {};
    for (const { column, key, partialKey } of keyed) {
      if (!has(row, column.fieldName)) continue;
      object[key] = read(row, column);
      if (column.partial) object[partialKey] = true;
    }
    if (grouping !== null) {
      object.g = grouping.patterns.indexOf(patternOf(grouping.fieldNames, (name) => has(row, name)));
    }
    return object;
  });
  return JSON.stringify(objects);
}
