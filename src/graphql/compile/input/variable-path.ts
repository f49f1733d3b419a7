/** Follows paths into the coerced variables of a request. */
import { hasValue } from './row-keys.ts';
import type { Path, Variables } from './slot.ts';
import type { ListedUpdate, Run } from './update-list.ts';

/** See {@link Path}. */
export const agreed = '=';

/** See {@link Path}. @param earlier Places of different objects, whose objects are left out. */
export function distinct(earlier: readonly Path[]): string {
  return `!${JSON.stringify(earlier)}`;
}

/** Whether the step of a path stands for the different objects. */
export function isDistinct(step: Path[number]): step is string {
  return typeof step === 'string' && step.startsWith('!');
}

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
  const end = path.findLastIndex(isDistinct);
  if (end >= 0) {
    const { rows } = distinctRows(variables, path.slice(0, end + 1));
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
const distinctRows = readAtOnce((variables, path) => {
  const earlier = (JSON.parse(String(path.at(-1)).slice(1)) as readonly Path[]).map((other) =>
    numbersAt(variables, other),
  );
  const rows: InputObject[] = [];
  const found = new Map<string, number>();
  const numbers = rowsAt(variables, path.slice(0, -1)).map((row) => {
    const text = textOf(row);
    if (earlier.some((other) => other.has(text))) return null;
    if (!found.has(text)) found.set(text, rows.push(row));
    return found.get(text)!;
  });
  return { rows, numbers };
});

/** The numbers of objects that differ, from 1, by their text. */
const numbersAt = readAtOnce(
  (variables, path) => new Map(rowsAt(variables, path).map((row, index) => [textOf(row), index + 1] as const)),
);

/** The number of the object at a place of different ones that is equal, from 1; null for none. */
export function numberAmong(variables: Variables, place: Path, row: InputObject): number | null {
  return numbersAt(variables, place).get(textOf(row)) ?? null;
}

// The keys of coerced objects are in the order of their type.
function textOf(row: InputObject): string {
  return JSON.stringify(row);
}

/** One of these objects. */
export function rowAt(
  variables: Variables,
  { path, index }: { readonly path: Path; readonly index: number },
): Readonly<Record<string, unknown>> {
  return rowsOnce(variables, path)[index]!;
}

/** The paths of the same objects, without `*`; of equal ones, that of the first. */
export function rowPathsAt(variables: Variables, path: Path): readonly Path[] {
  const end = path.findLastIndex(isDistinct);
  if (end >= 0) {
    const { numbers } = distinctRows(variables, path.slice(0, end + 1));
    const known = new Set<number | null>([null]);
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
