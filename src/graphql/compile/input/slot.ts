/**
 * The source of a statement's parameter, and filling it from the coerced variables of a request.
 *
 * Binding cannot fail: all refusals happened in decisions.ts, so a statement accepts any values with the same
 * decisions. All parameters are sent as text.
 */
import { createHash, randomBytes } from 'node:crypto';
import { invariant, unreachable } from '../../../shared/invariant.ts';
import { decodeOnce } from '../cursor/read-cursor.ts';
import { readOnce } from './read-once.ts';
import { type Entry, entryValue, type Run } from './update-list.ts';

/**
 * Path into the coerced variables: first the variable's key, then input fields and list positions. `*` stands for all
 * positions of a list, in the paths of objects to insert; {@link agreed} behind a key for what they agree on under it.
 */
export type Path = readonly (string | number)[];

/** Coerced variables by key; a missing key is an absent variable. */
export type Variables = Readonly<Record<string, unknown>>;

/** Source of one parameter. */
export type Slot =
  /** From the document, where `name` is its argument or input field, or made by the compiler. */
  | { readonly kind: 'constant'; readonly value: string | null; readonly name?: string }
  /** A scalar or enum of the variables. */
  | { readonly kind: 'scalar'; readonly path: Path }
  /** A whole list of scalars from the variables, as a PostgreSQL array. */
  | { readonly kind: 'list'; readonly path: Path }
  /** A list in the document, with slots as elements. */
  | { readonly kind: 'array'; readonly items: readonly Slot[] }
  /** An object, or a list of objects, of the variables as a composite value or an array of these. */
  | { readonly kind: 'composite'; readonly path: Path; readonly form: TextForm }
  /** A composite value in the document, with slots as members. */
  | { readonly kind: 'record'; readonly members: readonly Slot[] }
  /** A page size from the variables, capped at `maxRows`; `maxRows` if null or absent. */
  | { readonly kind: 'limit'; readonly path: Path; readonly maxRows: number }
  /** Element of a cursor or node id from the variables. */
  | { readonly kind: 'element'; readonly path: Path; readonly index: number }
  /**
   * The values of one key of the objects to insert, from the variables: a PostgreSQL array of texts, one element per
   * object; null if the object lacks the key.
   */
  | { readonly kind: 'key_values'; readonly path: Path; readonly fieldName: string; readonly isList: boolean }
  /** Whether each of these objects has the key, as an array of booleans. */
  | { readonly kind: 'key_presence'; readonly path: Path; readonly key: RowKey }
  /** The value of a key of one of these objects, null if it lacks the key. */
  | {
      readonly kind: 'row_value';
      readonly path: Path;
      readonly index: number;
      readonly fieldName: string;
      readonly isList: boolean;
    }
  /** The number of these objects. */
  | { readonly kind: 'row_count'; readonly path: Path }
  /** For each object nested at `below`, the number of the object above it; `first` for the first one. An array. */
  | { readonly kind: 'row_parents'; readonly path: Path; readonly below: Path; readonly first: number }
  /** For each object, the number of the only one nested at `below`, from 1, or null. An array. */
  | { readonly kind: 'row_links'; readonly path: Path; readonly below: Path }
  /** Name of the setting for the keys of a step's rows (nested-writes.ts). */
  | { readonly kind: 'kept_keys'; readonly step: number }
  /** The values at a place in the entries of a run (update-list.ts), as an array. */
  | {
      readonly kind: 'entry_values';
      readonly path: Path;
      readonly run: Run;
      readonly at: readonly string[];
      readonly isList: boolean;
    }
  /** A digest of these values in twelve characters. */
  | { readonly kind: 'digest'; readonly of: readonly (string | Slot)[] }
  /** The answer of a meta field, as JSON text. */
  | { readonly kind: 'introspection'; readonly responseKey: string };

/** What sets a column of an inserted row: the key of its value, or those of related objects. */
export interface RowKey {
  readonly fieldName: string;
  readonly related: readonly string[];
}

/** How a value becomes PostgreSQL's text. A member of a record without a form is null. */
export type TextForm =
  | { readonly kind: 'scalar' }
  | { readonly kind: 'list'; readonly element: TextForm }
  | {
      readonly kind: 'record';
      readonly members: readonly ({ readonly fieldName: string; readonly form: TextForm } | null)[];
    };

/** Which of the keys a row has: `1` or `0` for each. */
export function patternOf(keys: readonly RowKey[], has: (key: RowKey) => boolean): string {
  return keys.map((key) => (has(key) ? '1' : '0')).join('');
}

/** Whether an object sets the column; a null instead of related objects sets nothing. */
export function setsKey(row: Readonly<Record<string, unknown>>, { fieldName, related }: RowKey): boolean {
  return Object.hasOwn(row, fieldName) || related.some((name) => Object.hasOwn(row, name) && row[name] !== null);
}

/** Most values of rows that are told apart, in one operation, for 400 kB of text: planning them takes less than 100 ms. */
export const mostCells = 20_000;

/** Of rows with these patterns: that of each, one more than the most at most, or the only one if all are equal. */
export function patternsOf(ofRows: readonly string[]): readonly string[] {
  const isSame = ofRows.every((pattern) => pattern === ofRows[0]);
  return ofRows.slice(0, isSame ? 1 : mostCells + 1);
}

/** The source of slot values. */
export interface BindingSource {
  readonly variables: Variables;
  /** JSON text by response key, for operations with `__schema` or `__type` besides data. */
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
    case 'composite':
      return formText(slot.form, valueAt(source.variables, slot.path));
    case 'record':
      return recordText(slot.members.map((member) => bindSlot(member, source)));
    case 'limit':
      return limitText(valueAt(source.variables, slot.path), slot.maxRows);
    case 'element': {
      const elements = decodeOnce(source.variables, String(valueAt(source.variables, slot.path)));
      invariant(elements !== null && slot.index < elements.length, 'the element was asked for before');
      return elements[slot.index] ?? null;
    }
    case 'key_values': {
      const text = slot.isList ? listText : scalarText;
      return arrayText(rowsAt(source.variables, slot.path).map((row) => text(row[slot.fieldName])));
    }
    case 'key_presence':
      return presenceText(rowsAt(source.variables, slot.path).map((row) => setsKey(row, slot.key)));
    case 'row_value': {
      const value = rowAt(source.variables, slot)[slot.fieldName];
      return slot.isList ? listText(value) : scalarText(value);
    }
    case 'row_count':
      return String(rowsAt(source.variables, slot.path).length);
    case 'row_parents': {
      const { path, below, first } = slot;
      const parents = path.length === 0 ? [source.variables] : rowsAt(source.variables, path);
      return placesText(parents.flatMap((row, index) => rowsAt(row, below).map(() => index + first)));
    }
    case 'row_links':
      return placesText(linksOf(rowsAt(source.variables, slot.path), slot.below));
    case 'kept_keys':
      return `${settingPrefix}.k${slot.step}`;
    case 'entry_values': {
      const text = slot.isList ? listText : scalarText;
      return arrayText(entriesAt(source.variables, slot).map((entry) => text(entryValue(entry, slot.at))));
    }
    case 'digest':
      return digestText(
        slot.of.map((part) => (typeof part === 'string' ? part : bindSlot(part, source))),
        source.variables,
      );
    case 'introspection':
      return source.introspection.get(slot.responseKey) ?? null;
    default:
      return unreachable(slot);
  }
}

function limitText(value: unknown, maxRows: number): string {
  return String(typeof value === 'number' ? Math.min(value, maxRows) : maxRows);
}

function digestText(values: readonly (string | null)[], owner: object): string {
  // A long value may be used very often.
  const short = values.map((value) => (value !== null && value.length > 1000 ? digestOnce(owner, value) : value));
  return digest(JSON.stringify(short));
}

const digestOnce = readOnce(digest);

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

/** See {@link Path}. */
export const agreed = '=';

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

/** The values under the last key of a path, in the rows that have one; null where they lack it. */
export function valuesBelow(variables: Variables, path: Path): readonly unknown[] {
  const key = String(path.at(-1));
  return rowsAt(variables, path.slice(0, -1)).map((row) => row[key] ?? null);
}

/** Looked up for each value in it, in rows that may be many. */
const agreedValue = readAtOnce((variables, path) => valuesBelow(variables, path)[0]);

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

/** Text form of a coerced scalar, as PostgreSQL reads it. */
export function scalarText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** Characters that need an escape in a quoted element. */
const syntax = /["\\]/;
const everySyntax = /["\\]/g;

/** PostgreSQL's array literal; every element is quoted, so none can be read as syntax. */
function arrayText(elements: readonly (string | null)[]): string {
  return `{${elements.map((element) => (element === null ? 'NULL' : quoteText(element))).join(',')}}`;
}

function quoteText(text: string): string {
  return syntax.test(text) ? `"${text.replaceAll(everySyntax, '\\$&')}"` : `"${text}"`;
}

function listText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return arrayText((Array.isArray(value) ? value : [value]).map(scalarText));
}

/** PostgreSQL's text of a composite value; like elements of arrays, members are quoted. */
function recordText(members: readonly (string | null)[]): string {
  return `(${members.map((member) => (member === null ? '' : quoteText(member))).join(',')})`;
}

/** The text of a value; missing members are null. */
function formText(form: TextForm, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  switch (form.kind) {
    case 'scalar':
      return scalarText(value);
    case 'list':
      return arrayText((Array.isArray(value) ? value : [value]).map((item) => formText(form.element, item)));
    case 'record':
      return recordText(
        form.members.map((member) => member && formText(member.form, valueAt(value as Variables, [member.fieldName]))),
      );
    default:
      return unreachable(form);
  }
}

/** Characters of the text of a value, without making it: each level of quotes may double what is inside. */
export function formLength(form: TextForm, value: unknown): number {
  return measure(form, value)?.length ?? 0;
}

/** The length of a text, and how many of its characters need an escape. */
interface Extent {
  readonly length: number;
  readonly escaped: number;
}

function measure(form: TextForm, value: unknown): Extent | null {
  if (value === null || value === undefined) return null;
  switch (form.kind) {
    case 'scalar': {
      const text = String(value);
      return { length: text.length, escaped: text.match(everySyntax)?.length ?? 0 };
    }
    case 'list':
      return enclose((Array.isArray(value) ? value : [value]).map((item) => measure(form.element, item)));
    case 'record':
      return enclose(
        form.members.map((member) => member && measure(member.form, valueAt(value as Variables, [member.fieldName]))),
      );
    default:
      return unreachable(form);
  }
}

const nullLength = 'NULL'.length;

function enclose(parts: readonly (Extent | null)[]): Extent {
  let [length, escaped] = [1 + parts.length, 0];
  for (const part of parts) {
    length += part === null ? nullLength : part.length + part.escaped + 2;
    if (part !== null) escaped += 2 * part.escaped + 2;
  }
  return { length, escaped };
}

/** An array of booleans. */
export function presenceText(presence: readonly boolean[]): string {
  return `{${presence.map((has) => (has ? 't' : 'f')).join(',')}}`;
}

/** The number of the only object nested at `below`, from 1, or null, for each of these. */
function linksOf(rows: readonly Row[], below: Path): readonly (number | null)[] {
  let count = 0;
  return rows.map((row) => (rowsAt(row, below).length > 0 ? ++count : null));
}

/** Numbers of rows as an array. */
export function placesText(places: readonly (number | null)[]): string {
  return `{${places.map((place) => place ?? 'NULL').join(',')}}`;
}

/**
 * Settings with this prefix hold keys from one statement to the next. Its random part is known only to this process,
 * so neither a function that a caller can call nor a trigger can read or set them.
 */
const settingPrefix = `pgreflect_${randomBytes(16).toString('hex')}`;

type Row = Readonly<Record<string, unknown>>;

/** Objects to insert, in order; coerced objects have no prototype's keys. */
export function rowsAt(variables: Variables, path: Path): readonly Row[] {
  const at = path.indexOf('*');
  if (at >= 0) {
    const list = valueAt(variables, path.slice(0, at)) ?? [];
    return (list as readonly Row[]).flatMap((row) => rowsAt(row, path.slice(at + 1)));
  }
  const value = valueAt(variables, path) ?? [];
  return Array.isArray(value) ? (value as readonly Row[]) : [value as Row];
}

const rowsOnce = readAtOnce(rowsAt);

/** One of these objects. */
export function rowAt(
  variables: Variables,
  { path, index }: { readonly path: Path; readonly index: number },
): Readonly<Record<string, unknown>> {
  return rowsOnce(variables, path)[index]!;
}

/** The paths of the same objects, without `*`. */
export function rowPathsAt(variables: Variables, path: Path): readonly Path[] {
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
): readonly Entry[] {
  return (valueAt(variables, path) as readonly Entry[]).slice(run.from, run.to ?? undefined);
}
