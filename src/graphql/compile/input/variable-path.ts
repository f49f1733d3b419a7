/** Follows paths into the coerced variables of a request. */
import { hasValue } from './row-keys.ts';
import type { Path, Variables } from './slot.ts';
import type { ListedUpdate, Run } from './update-list.ts';

/** See {@link Path}. */
export const agreed = '=';

/** See {@link Path}. */
export const distinct = '!';

/** Follows a path; undefined if it leads nowhere. */
export function valueAt(variables: Variables, path: Path): unknown {
  const at = path.lastIndexOf(agreed);
  if (at < 0) return follow(variables, path);
  return follow(agreedValue(variables, path.slice(0, at)), path.slice(at + 1));
}

function follow(from: unknown, path: Path): unknown {
  let value = from;
  for (const step of path) {
    // Own keys only: a variable or column may be called `constructor`.
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** The values under the last key of a path, beside each `insert`; null where there is none. */
export function valuesBeside(variables: Variables, path: Path): readonly unknown[] {
  const key = String(path.at(-1));
  const inserting = rowsAt(variables, path.slice(0, -1)).filter((row) => hasValue(row, 'insert'));
  return inserting.map((row) => row[key] ?? null);
}

/** Looked up for each value in it, in rows that may be many. */
const agreedValue = readAtOnce((variables, path) => valuesBeside(variables, path)[0]);

function readAtOnce<T>(read: (variables: Variables, path: Path) => T): (variables: Variables, path: Path) => T {
  const all = new WeakMap<Variables, Map<string, T>>();
  return (variables, path) => {
    const known = all.get(variables) ?? new Map<string, T>();
    all.set(variables, known);
    const key = path.join();
    if (!known.has(key)) known.set(key, read(variables, path));
    return known.get(key)!;
  };
}

type InputObject = Readonly<Record<string, unknown>>;

/** Objects to insert, in order; coerced objects have no prototype's keys. */
export function rowsAt(variables: Variables, path: Path): readonly InputObject[] {
  const end = path.lastIndexOf(distinct);
  if (end >= 0) {
    const { rows } = distinctRows(variables, path.slice(0, end));
    return end === path.length - 1 ? rows : rows.flatMap((row) => rowsAt(row, path.slice(end + 1)));
  }
  const at = path.indexOf('*');
  if (at >= 0) {
    const list = valueAt(variables, path.slice(0, at)) ?? [];
    return (list as readonly InputObject[]).flatMap((row) => rowsAt(row, path.slice(at + 1)));
  }
  const value = valueAt(variables, path) ?? [];
  return Array.isArray(value) ? (value as readonly InputObject[]) : [value as InputObject];
}

const rowsOnce = readAtOnce(rowsAt);

/** The different ones of these objects in order of their first place, and for each object the number of its equal, from 1. */
export const distinctRows = readAtOnce((variables, path) => {
  const found = new Map<string, number>();
  const rows: InputObject[] = [];
  const numbers = rowsAt(variables, path).map((row) => {
    // The keys of coerced objects are in the order of their type.
    const text = JSON.stringify(row);
    if (!found.has(text)) found.set(text, rows.push(row));
    return found.get(text)!;
  });
  return { rows, numbers };
});

/** One of these objects. */
export function rowAt(
  variables: Variables,
  { path, index }: { readonly path: Path; readonly index: number },
): Readonly<Record<string, unknown>> {
  return rowsOnce(variables, path)[index]!;
}

/** The paths of the same objects, without `*`; of equal ones, that of the first. */
export function rowPathsAt(variables: Variables, path: Path): readonly Path[] {
  const end = path.lastIndexOf(distinct);
  if (end >= 0) {
    const { numbers } = distinctRows(variables, path.slice(0, end));
    const known = new Set<number>();
    const first = rowPathsAt(variables, path.slice(0, end)).filter(
      (_, index) => known.size < known.add(numbers[index]!).size,
    );
    return first.flatMap((row) => rowPathsAt(variables, [...row, ...path.slice(end + 1)]));
  }
  const at = path.indexOf('*');
  const list = valueAt(variables, at < 0 ? path : path.slice(0, at)) ?? [];
  if (!Array.isArray(list)) return [path];
  const paths = list.map((_, index) => [...(at < 0 ? path : path.slice(0, at)), index]);
  return at < 0 ? paths : paths.flatMap((row) => rowPathsAt(variables, [...row, ...path.slice(at + 1)]));
}

/** The entries of a run. */
export function entriesAt(
  variables: Variables,
  { path, run }: { readonly path: Path; readonly run: Run },
): readonly ListedUpdate[] {
  return (valueAt(variables, path) as readonly ListedUpdate[]).slice(run.from, run.to ?? undefined);
}
