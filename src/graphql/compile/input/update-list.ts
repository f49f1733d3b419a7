/**
 * The entries of a list of updates in a variable: which of them are one statement, and the values that it needs.
 *
 * Entries that follow each other, change the same columns in the same ways and are filtered by the whole primary key
 * are a run: one statement for any number. A key that occurs again begins another run, because a statement updates a
 * row once.
 */
import { updateOperators } from '../../model/extensions/update-operators.ts';
import { fits, isNestedJson } from './value-facts.ts';

/** What the entries of a run may hold. */
export interface UpdateListKeys {
  /** Most runs of a list. */
  readonly most: number;
  /** Field names of the primary key; null if no entries may share a statement. */
  readonly key: readonly string[] | null;
  /** Field names of the columns that `set` may name. */
  readonly columns: ReadonlySet<string>;
  /** Places in an entry of strings with a limit of characters. */
  readonly limits: readonly { readonly at: readonly string[]; readonly maxLength: number }[];
  /** Places in an entry of JSON objects or arrays. */
  readonly nested: readonly (readonly string[])[];
}

/** One statement of a list of updates. */
export interface Run {
  /** Position of its first entry. */
  readonly from: number;
  /** Position after its last entry; null: the end of the list. */
  readonly to: number | null;
  /** Whether its entries are filtered by key. Others are alone. */
  readonly isKeyed: boolean;
}

/** A coerced object. */
export type ListedUpdate = Readonly<Record<string, unknown>>;

/** The runs as a text: the position of each, with a `k` if its entries are filtered by key; `many` if there are too many. */
export function describeRuns(entries: readonly ListedUpdate[], shape: UpdateListKeys): string {
  const runs: string[] = [];
  let last: { readonly changes: string; readonly keys: Set<string> } | null = null;
  entries.forEach((entry, index) => {
    const key = keyOf(entry, shape);
    const changes = key === null ? null : changesOf(entry, shape);
    if (key === null || changes === null) {
      runs.push(String(index));
      last = null;
    } else if (last === null || last.changes !== changes || last.keys.has(key)) {
      runs.push(`${index}k`);
      last = { changes, keys: new Set([key]) };
    } else last.keys.add(key);
  });
  return runs.length > shape.most ? tooMany : runs.join(',');
}

const tooMany = 'many';

/** The runs of a text; null if there are too many. */
export function readRuns(text: string): readonly Run[] | null {
  if (text === tooMany) return null;
  const starts = text === '' ? [] : text.split(',');
  return starts.map((start, index) => {
    const next = starts[index + 1];
    const to = next === undefined ? null : Number.parseInt(next, 10);
    return { from: Number.parseInt(start, 10), to, isKeyed: start.endsWith('k') };
  });
}

/** The key that the entry is filtered by, as text; null for another filter. */
function keyOf({ filter, atMost }: ListedUpdate, { key }: UpdateListKeys): string | null {
  if (key === null || !isObject(filter) || Object.keys(filter).length !== key.length || Number(atMost) < 1) return null;
  let text = '';
  for (const name of key) {
    const operators = filter[name];
    const { eq = null } = isObject(operators) && Object.keys(operators).length === 1 ? operators : {};
    if (eq === null) return null;
    text += typeof eq === 'object' ? JSON.stringify(eq) : `${eq}\0`;
  }
  return text;
}

const operators = ['set', ...updateOperators];

/** The changed columns by operator, as text; null if the entry needs a statement of its own. */
function changesOf(entry: ListedUpdate, { columns, limits, nested }: UpdateListKeys): string | null {
  let changes = '';
  for (const operator of operators) {
    const given = entry[operator];
    if (!isObject(given)) continue;
    const isSet = operator === 'set';
    let names = '';
    for (const name in given) {
      if (isSet && !columns.has(name)) return null;
      if (isSet || given[name] !== null) names += `${name},`;
    }
    if (names !== '') changes += `${operator}:${names}`;
  }
  const isFitting = limits.every(({ at, maxLength }) => fits(entryValue(entry, at), maxLength));
  const isNested = nested.every((at) => isNestedJson(entryValue(entry, at) ?? '{}'));
  return isFitting && isNested ? changes : null;
}

/** The value at a place in an entry. */
export function entryValue(entry: ListedUpdate, at: readonly string[]): unknown {
  let value: unknown = entry;
  for (const name of at) value = isObject(value) ? value[name] : undefined;
  return value;
}

function isObject(value: unknown): value is ListedUpdate {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
