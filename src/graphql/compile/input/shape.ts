/**
 * What compiled text may depend on. The planner never reads a variable directly: it asks a question with few possible
 * answers (is it present? which keys? which direction?), and each question is recorded with its answer.
 *
 * The record is the operation's shape: equal answers give equal text, so compiled operations are cached in a tree of
 * questions. Scalar values are never part of an answer; otherwise one client could fill the cache. Questions about
 * values (`fits`, `text_length`, `sign`, `count`, `time_zone`, `json_path`, `json_kind`, `search_config`, `cursor`, `same`, `equal`, `node`) have a
 * handful of answers each.
 */
import { isDeepStrictEqual } from 'node:util';
import { decodeOnce, type Elements, readNodeId } from '../cursor/read-cursor.ts';
import { bindSlot } from './bind-slot.ts';
import { formLength } from './composite-text.ts';
import { haveSameKeys } from './input-coercer.ts';
import { readJsonPath } from './json-path.ts';
import { readOnce } from './read-once.ts';
import { hasValue, patternOf, patternsOf, setsKey } from './row-keys.ts';
import type { Path, RowKey, Slot, TextForm, Variables } from './slot.ts';
import { describeRuns, type ListedUpdate, type UpdateListKeys } from './update-list.ts';
import { fits, isNestedJson } from './value-facts.ts';
import { numberAmong, rowsAt, valueAt, valuesBeside } from './variable-path.ts';

/** A question about the variables of a request. */
export type ShapeQuestion =
  /** `absent`, `null` or `value`. */
  | { readonly kind: 'state'; readonly path: Path }
  /** Keys of an input object, separated by commas. */
  | { readonly kind: 'keys'; readonly path: Path }
  /** Length of a list of input objects; `one` for a single object instead of a list. */
  | { readonly kind: 'length'; readonly path: Path }
  /** A value that chooses SQL: an order direction, `NULL`/`NOT_NULL`, a boolean of a directive. */
  | { readonly kind: 'choice'; readonly path: Path }
  /** `negative` or `ok`. */
  | { readonly kind: 'sign'; readonly path: Path }
  /** A number compared with a row count; `large` if it, or one of a list, exceeds the limit. */
  | { readonly kind: 'count'; readonly path: Path; readonly most: number }
  /** `ok` if the string looks like a time zone name, otherwise `bad`. */
  | { readonly kind: 'time_zone'; readonly path: Path }
  /** `name` if the string can name a text search configuration, otherwise `bad`. */
  | { readonly kind: 'search_config'; readonly path: Path }
  /** The kind of a JSON path: a `JsonPathKind`. */
  | { readonly kind: 'json_path'; readonly path: Path }
  /** `nested` if the JSON text is of an object or array, otherwise `other`. */
  | { readonly kind: 'json_kind'; readonly path: Path }
  /** `long` if the string, or one of a list, exceeds the limit, otherwise `ok`. */
  | { readonly kind: 'fits'; readonly path: Path; readonly maxLength: number }
  /** `long` if the value's text in this form exceeds the limit in characters, otherwise `ok`. */
  | { readonly kind: 'text_length'; readonly path: Path; readonly form: TextForm; readonly most: number }
  /**
   * The keys of a list of objects to insert, separated by commas, with a question mark if only some objects have the
   * key. Or their fault, with a prefix that no key has: `!empty`, `!sparse` (`areSparse`), and `!long:title` for a
   * string longer than the key's column allows. A null under one of the `generated` keys is like no value.
   */
  | {
      readonly kind: 'rows';
      readonly path: Path;
      readonly limits: readonly LengthLimit[];
      readonly generated: readonly string[];
    }
  /** Which of the keys each of the objects to insert has: their patterns (`patternsOf`), separated by commas. */
  | { readonly kind: 'row_patterns'; readonly path: Path; readonly keys: readonly RowKey[] }
  /** The runs of a list of updates (update-list.ts). */
  | { readonly kind: 'update_runs'; readonly path: Path; readonly shape: UpdateListKeys }
  /**
   * How many of the objects to insert have a related object under the key: `none`, `some` or `all`; or, after `!`, the
   * first of `columns` that an object has as well.
   */
  | {
      readonly kind: 'nested_objects';
      readonly path: Path;
      readonly fieldName: string;
      readonly columns: readonly string[];
    }
  /**
   * The members that objects have a value for, of these, separated by commas; `!` if one of the objects has none or
   * several.
   */
  | { readonly kind: 'members'; readonly path: Path; readonly names: readonly string[] }
  /** Whether entries that insert have equal values under the last key of the path: `none` has one, `same` or `other`. */
  | { readonly kind: 'uniform_value'; readonly path: Path }
  /** Whether objects of the path are among the different ones at another place: `some` or `none`. */
  | { readonly kind: 'known_rows'; readonly path: Path; readonly other: Path }
  /** Whether the values of two paths are equal: `same` or `other`. */
  | { readonly kind: 'equal'; readonly path: Path; readonly other: Path }
  /**
   * Which elements of a cursor are null: `=` and one letter per element (`n` or `v`); `bad` if it is invalid, `long` if it
   * has more than `maxElements`.
   */
  | { readonly kind: 'cursor'; readonly path: Path; readonly maxElements: number }
  /** Whether two values are equal: `same` or `other`. The values are not part of the answer. The path is empty. */
  | { readonly kind: 'same'; readonly path: Path; readonly left: Slot; readonly right: Slot }
  /** `namespace` NUL `table` NUL `number of keys` of a node id; `other`: an unknown table; `bad`: an invalid id. */
  | {
      readonly kind: 'node';
      readonly path: Path;
      readonly known: (namespace: string, table: string, keys: number) => boolean;
    };

/** Longest string for one key of inserted objects. */
export interface LengthLimit {
  readonly fieldName: string;
  readonly maxLength: number;
}

/** The shape of the variables: the questions that were asked, with their answers. */
export class Shape {
  readonly trace: { readonly question: ShapeQuestion; readonly answer: string }[] = [];
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  /** Asks and records. */
  ask(question: ShapeQuestion): string {
    const answer = answerQuestion(question, this.#variables);
    this.trace.push({ question, answer });
    return answer;
  }
}

/** The answer for the given variables. */
export function answerQuestion(question: ShapeQuestion, variables: Variables): string {
  return answerFor(question, subjectOf(question, variables), variables);
}

function subjectOf({ kind, path }: ShapeQuestion, variables: Variables): unknown {
  if (kind === 'uniform_value') return valuesBeside(variables, path);
  return kindsOfRows.has(kind) ? rowsAt(variables, path) : valueAt(variables, path);
}

const kindsOfRows: ReadonlySet<ShapeQuestion['kind']> = new Set([
  'rows',
  'row_patterns',
  'nested_objects',
  'members',
  'known_rows',
]);

/** A question about a value at hand. */
export type ValueQuestion<Q = ShapeQuestion> = Q extends ShapeQuestion ? Omit<Q, 'path'> : never;

/** The answer for a value. @param owner Its owner: the variables of the request, or a node of the document. */
export function answerFor(question: ValueQuestion, value: unknown, owner: object): string {
  return answers[question.kind](value as never, question as never, owner);
}

type Answers = {
  readonly [Kind in ShapeQuestion['kind']]: (
    value: never,
    question: ValueQuestion<Extract<ShapeQuestion, { kind: Kind }>>,
    owner: object,
  ) => string;
};

type Rows = readonly Readonly<Record<string, unknown>>[];

const answers: Answers = {
  state: (value) => (value === undefined ? 'absent' : value === null ? 'null' : 'value'),
  keys: (value: object) => Object.keys(value).join(','),
  length: (value) => (Array.isArray(value) ? String((value as unknown[]).length) : 'one'),
  choice: String,
  sign: (value: number) => (value < 0 ? 'negative' : 'ok'),
  count: (value: number | readonly number[], { most }) => describeCount(value, most),
  time_zone: (value) => (timeZoneName.test(String(value)) ? 'ok' : 'bad'),
  search_config: (value) => (configName.test(String(value)) ? 'name' : 'bad'),
  json_path: (value, _, owner) => jsonPathKind(owner, String(value)),
  json_kind: (value) => (isNestedJson(value) ? 'nested' : 'other'),
  fits: (value, { maxLength }) => (fits(value, maxLength) ? 'ok' : 'long'),
  text_length: (value, { form, most }) => (formLength(form, value) > most ? 'long' : 'ok'),
  rows: (rows: Rows, question) => describeRows(rows, question),
  row_patterns: (rows: Rows, { keys }) =>
    patternsOf(rows.map((row) => patternOf(keys, (key) => setsKey(row, key)))).join(','),
  update_runs: (entries: readonly ListedUpdate[], { shape }) => describeRuns(entries, shape),
  nested_objects(rows: Rows, { fieldName, columns }) {
    const having = rows.filter((row) => hasValue(row, fieldName));
    const given = columns.find((name) => having.some((row) => Object.hasOwn(row, name)));
    if (given !== undefined) return `!${given}`;
    return having.length === rows.length ? 'all' : having.length > 0 ? 'some' : 'none';
  },
  members: (rows: Rows, { names }) => describeMembers(rows, names),
  uniform_value: describeUniformValue,
  known_rows: (rows: Rows, { other }, owner) =>
    rows.some((row) => numberAmong(owner as Variables, other, row) !== null) ? 'some' : 'none',
  equal: (value, { other }, owner) => (isDeepStrictEqual(value, valueAt(owner as Variables, other)) ? 'same' : 'other'),
  cursor: (value, { maxElements }, owner) => describeCursor(decodeOnce(owner, String(value)), maxElements),
  same(_, { left, right }, owner) {
    const source = { variables: owner as Variables, introspection: nothing };
    return bindSlot(left, source) === bindSlot(right, source) ? 'same' : 'other';
  },
  node(value, { known }, owner) {
    const id = readNodeId(decodeOnce(owner, String(value)));
    if (id === null) return 'bad';
    return known(id.namespace, id.table, id.keys) ? `${id.namespace}\0${id.table}\0${id.keys}` : 'other';
  },
};

const nothing: ReadonlyMap<string, string> = new Map();

const jsonPathKind = readOnce(readJsonPath);

/** The form of time zone names. Zones such as `AAA1BBB2`, which PostgreSQL accepts, fill caches without limit. */
const timeZoneName = /^(?!.{65})(?:[A-Za-z_]+(?:[-/][A-Za-z_]+)*|Etc\/GMT[-+]?1?\d|EST5EDT|CST6CDT|MST7MDT|PST8PDT)$/;

// PostgreSQL would read numbers as object ids, and its errors distinguish missing schemas from forbidden ones.
const configName = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

function describeCount(value: number | readonly number[], most: number): string {
  if (typeof value !== 'number') return value.some((each) => each > most) ? 'large' : 'more';
  if (value < 0) return 'negative';
  if (value > most) return 'large';
  return value === 0 ? 'zero' : value === 1 ? 'one' : 'more';
}

function describeMembers(rows: Rows, names: readonly string[]): string {
  const found = new Set<string>();
  for (const row of rows) {
    const [only, another] = names.filter((name) => Object.hasOwn(row, name) && row[name] !== null);
    if (only === undefined || another !== undefined) return '!';
    found.add(only);
  }
  return names.filter((name) => found.has(name)).join(',');
}

function describeUniformValue([first, ...others]: readonly unknown[]): string {
  if (!others.every((other) => isDeepStrictEqual(other, first))) return 'other';
  return (first ?? null) === null ? 'none' : 'same';
}

function describeCursor(elements: Elements, maxElements: number): string {
  if (elements === null) return 'bad';
  if (elements.length > maxElements) return 'long';
  return `=${elements.map((element) => (element === null ? 'n' : 'v')).join('')}`;
}

/** Values that objects to insert may lack in total, plus the number allowed per present value. */
const [alwaysLacking, lackingForEach] = [1_000_000, 16];

/**
 * Whether objects to insert lack too many of each other's keys. Each column is sent with an element per object, so a
 * small request with many objects, one of them with all keys, would become very large.
 */
export function areSparse(objects: number, keyCounts: ReadonlyMap<string, number>): boolean {
  const values = [...keyCounts.values()].reduce((sum, count) => sum + count, 0);
  return objects * keyCounts.size - values > alwaysLacking + lackingForEach * values;
}

function describeRows(
  rows: Rows,
  { limits, generated }: Pick<Extract<ShapeQuestion, { readonly kind: 'rows' }>, 'limits' | 'generated'>,
): string {
  if (rows.length === 0) return '!empty';
  const keys = keysOfRows(rows, generated);
  if (keys === null) return '!sparse';
  for (const { fieldName, maxLength } of limits) {
    if (!rows.every((row) => fits(row[fieldName], maxLength))) return `!long:${fieldName}`;
  }
  // Sorted, so that key order makes no second shape.
  return keys.sort().join(',');
}

function keysOfRows(rows: Rows, generated: readonly string[]): string[] | null {
  const lacking = generated.filter((name) => rows.some((row) => row[name] === null));
  const keysOf = (row: Rows[number]) =>
    lacking.length === 0
      ? Object.keys(row)
      : Object.keys(row).filter((key) => !lacking.includes(key) || row[key] !== null);
  const first = keysOf(rows[0]!);
  if (rows.every((row) => haveSameKeys(first, keysOf(row)))) return first;
  const counts = new Map<string, number>();
  for (const row of rows) {
    for (const key of keysOf(row)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if (areSparse(rows.length, counts)) return null;
  return [...counts].map(([key, count]) => (count === rows.length ? key : `${key}?`));
}
