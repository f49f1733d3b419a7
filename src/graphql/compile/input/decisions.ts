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
import { unreachable } from '../../../shared/invariant.ts';
import { decodeOnce, type Elements, readNodeId } from '../cursor/read-cursor.ts';
import { haveSameKeys } from './input-coercer.ts';
import { readJsonPath } from './json-path.ts';
import { readOnce } from './read-once.ts';
import {
  type BindingSource,
  bindSlot,
  formLength,
  type Path,
  patternOf,
  patternsOf,
  type RowKey,
  rowsAt,
  type Slot,
  setsKey,
  type TextForm,
  type Variables,
  valueAt,
  valuesBelow,
} from './slot.ts';
import { describeRuns, type Entry, type UpdateListShape } from './update-list.ts';
import { fits, isNestedJson } from './value-facts.ts';

/** A question about the variables of a request. */
export type Question =
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
  /**
   * A number compared with a row count: `negative`, `zero`, `one`, `more`; `large` if it, or one of a list, exceeds the
   * limit.
   */
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
   * string longer than the key's column allows.
   */
  | { readonly kind: 'rows'; readonly path: Path; readonly limits: readonly LengthLimit[] }
  /** Which of the keys each of the objects to insert has: their patterns (`patternsOf`), separated by commas. */
  | { readonly kind: 'row_patterns'; readonly path: Path; readonly keys: readonly RowKey[] }
  /** The runs of a list of updates (update-list.ts). */
  | { readonly kind: 'runs'; readonly path: Path; readonly shape: UpdateListShape }
  /**
   * How many of the objects to insert have a related object under the key: `none`, `some` or `all`; or, after `!`, the
   * first of `columns` that an object has as well.
   */
  | { readonly kind: 'related'; readonly path: Path; readonly fieldName: string; readonly columns: readonly string[] }
  /** Whether the rows have equal values under the last key of the path: `none` has one, `same` or `other`. */
  | { readonly kind: 'agreement'; readonly path: Path }
  /** Whether the values of two paths are equal: `same` or `other`. */
  | { readonly kind: 'equal'; readonly path: Path; readonly other: Path }
  /**
   * Which elements of a cursor are null: `=` and one letter per element (`n` or `v`); `bad` if it is invalid, `long` if it
   * has more than `maxElements`.
   */
  | { readonly kind: 'cursor'; readonly path: Path; readonly maxElements: number }
  /** Whether two values are equal: `same` or `other`. The values are not part of the answer. The path is empty. */
  | { readonly kind: 'same'; readonly path: Path; readonly left: Slot; readonly right: Slot }
  /**
   * The table of a node id, as the text `namespace` NUL `table` NUL `number of keys`; `other` for an unknown table,
   * `bad` for an invalid node id.
   */
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

/** Records the questions that were asked, with their answers. */
export class Decisions {
  readonly trace: { readonly question: Question; readonly answer: string }[] = [];
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  /** Asks and records. */
  ask(question: Question): string {
    const answer = answerQuestion(question, this.#variables);
    this.trace.push({ question, answer });
    return answer;
  }
}

/** Questions about objects to insert. */
const ofRows: readonly Question['kind'][] = ['rows', 'row_patterns', 'related'];

/** The answer for the given variables. */
export function answerQuestion(question: Question, variables: Variables): string {
  return answerFor(question, subjectOf(question, variables), variables);
}

function subjectOf({ kind, path }: Question, variables: Variables): unknown {
  if (kind === 'agreement') return valuesBelow(variables, path);
  return ofRows.includes(kind) ? rowsAt(variables, path) : valueAt(variables, path);
}

const nothing: ReadonlyMap<string, string> = new Map();

const jsonPathKind = readOnce(readJsonPath);

/** A question about a value at hand. */
export type Asked<Q = Question> = Q extends Question ? Omit<Q, 'path'> : never;

/** The answer for a value. @param owner Its owner: the variables of the request, or a node of the document. */
export function answerFor(question: Asked, value: unknown, owner: object): string {
  switch (question.kind) {
    case 'state':
      return value === undefined ? 'absent' : value === null ? 'null' : 'value';
    case 'keys':
      return Object.keys(value as object).join(',');
    case 'length':
      return Array.isArray(value) ? String(value.length) : 'one';
    case 'choice':
      return String(value);
    case 'sign':
      return (value as number) < 0 ? 'negative' : 'ok';
    case 'count':
      return describeCount(value as number | readonly number[], question.most);
    case 'time_zone':
      return timeZoneName.test(String(value)) ? 'ok' : 'bad';
    case 'search_config':
      return configName.test(String(value)) ? 'name' : 'bad';
    case 'json_path':
      return jsonPathKind(owner, String(value));
    case 'json_kind':
      return isNestedJson(value) ? 'nested' : 'other';
    case 'fits':
      return fits(value, question.maxLength) ? 'ok' : 'long';
    case 'text_length':
      return formLength(question.form, value) > question.most ? 'long' : 'ok';
    case 'rows':
      return describeRows(value as readonly Readonly<Record<string, unknown>>[], question.limits);
    case 'runs':
      return describeRuns(value as readonly Entry[], question.shape);
    case 'row_patterns': {
      const rows = value as readonly Readonly<Record<string, unknown>>[];
      const patterns = rows.map((row) => patternOf(question.keys, (key) => setsKey(row, key)));
      return patternsOf(patterns).join(',');
    }
    case 'related': {
      const rows = value as readonly Readonly<Record<string, unknown>>[];
      const having = rows.filter((row) => setsKey(row, { fieldName: '', related: [question.fieldName] }));
      const given = question.columns.find((name) => having.some((row) => Object.hasOwn(row, name)));
      if (given !== undefined) return `!${given}`;
      return having.length === rows.length ? 'all' : having.length > 0 ? 'some' : 'none';
    }
    case 'agreement':
      return describeAgreement(value as readonly unknown[]);
    case 'equal':
      return isDeepStrictEqual(value, valueAt(owner as Variables, question.other)) ? 'same' : 'other';
    case 'cursor':
      return describeCursor(decodeOnce(owner, String(value)), question.maxElements);
    case 'same':
      return describeSame(question, { variables: owner as Variables, introspection: nothing });
    case 'node': {
      const id = readNodeId(decodeOnce(owner, String(value)));
      if (id === null) return 'bad';
      if (!question.known(id.namespace, id.table, id.keys)) return 'other';
      return `${id.namespace}\0${id.table}\0${id.keys}`;
    }
    default:
      return unreachable(question);
  }
}

/**
 * The form of time zone names. PostgreSQL also accepts self-defined zones such as `AAA1BBB2`, but each connection
 * caches every one it was given, without limit.
 */
const timeZoneName = /^(?!.{65})(?:[A-Za-z_]+(?:[-/][A-Za-z_]+)*|Etc\/GMT[-+]?1?\d|EST5EDT|CST6CDT|MST7MDT|PST8PDT)$/;

// PostgreSQL would read numbers as object ids, and its errors distinguish missing schemas from forbidden ones.
const configName = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

function describeCount(value: number | readonly number[], most: number): string {
  if (typeof value !== 'number') return value.some((each) => each > most) ? 'large' : 'more';
  if (value < 0) return 'negative';
  if (value > most) return 'large';
  return value === 0 ? 'zero' : value === 1 ? 'one' : 'more';
}

function describeAgreement([first, ...others]: readonly unknown[]): string {
  if (!others.every((other) => isDeepStrictEqual(other, first))) return 'other';
  return first === null ? 'none' : 'same';
}

function describeSame({ left, right }: { readonly left: Slot; readonly right: Slot }, source: BindingSource): string {
  return bindSlot(left, source) === bindSlot(right, source) ? 'same' : 'other';
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

function describeRows(rows: readonly Readonly<Record<string, unknown>>[], limits: readonly LengthLimit[]): string {
  if (rows.length === 0) return '!empty';
  const keys = keysOfRows(rows);
  if (keys === null) return '!sparse';
  for (const { fieldName, maxLength } of limits) {
    if (!rows.every((row) => fits(row[fieldName], maxLength))) return `!long:${fieldName}`;
  }
  // Sorted, so that key order makes no second shape.
  return keys.sort().join(',');
}

function keysOfRows(rows: readonly object[]): string[] | null {
  const first = Object.keys(rows[0] as object);
  if (rows.every((row) => haveSameKeys(first, Object.keys(row)))) return first;
  const counts = new Map<string, number>();
  for (const row of rows) {
    for (const key of Object.keys(row)) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if (areSparse(rows.length, counts)) return null;
  return [...counts].map(([key, count]) => (count === rows.length ? key : `${key}?`));
}
