/**
 * JSON values whose numbers keep all their digits, and the comparison of an expected with an actual one.
 */

/** A number as its text. An approximate one is only known to double precision. */
export class Num {
  readonly text: string;
  readonly isApproximate: boolean;

  constructor(text: string, isApproximate = false) {
    this.text = text;
    this.isApproximate = isApproximate;
  }
}

/** The text of a number, with any number of zeros behind the point. */
export class NumText {
  readonly number: Num;

  constructor(number: Num) {
    this.number = number;
  }
}

/** Rows whose order PostgreSQL does not promise. */
export class Unordered {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** One of several values that are equal to PostgreSQL, such as the numbers 1.0 and 1.00. */
export class OneOf {
  readonly values: readonly Value[];

  constructor(values: readonly Value[]) {
    this.values = values;
  }
}

/**
 * A cursor that is not known to the last byte: its last element is a digest of the arguments of its order, or one of several
 * equal values is in it, of which PostgreSQL picks any.
 */
export class LooseCursor {
  readonly cursor: string;
  readonly hasDigest: boolean;

  constructor(cursor: string, hasDigest: boolean) {
    this.cursor = cursor;
    this.hasDigest = hasDigest;
  }
}

/** A JSON value; an object keeps its keys in order. */
export type Value =
  | null
  | string
  | boolean
  | Num
  | NumText
  | Unordered
  | OneOf
  | LooseCursor
  | readonly Value[]
  | ReadonlyMap<string, Value>;

/** Reads JSON text. */
export function parseJson(text: string): Value {
  const revive = (_: string, value: unknown, context?: { source?: string }): unknown => {
    if (typeof value === 'number') return new Num(context?.source ?? String(value));
    if (value === null || typeof value !== 'object' || Array.isArray(value) || value instanceof Num) return value;
    return new Map(Object.entries(value));
  };
  return JSON.parse(text, revive) as Value;
}

/** JSON text of a value, for people: two values with equal texts are equal. */
export function showValue(value: Value): string {
  if (value instanceof Num) return value.isApproximate ? String(Number(value.text)) : decimal(value.text);
  if (value instanceof NumText) return `"${showValue(value.number)}"`;
  if (value instanceof Unordered) return `[${value.items.map(showValue).sort().join(', ')}]`;
  if (value instanceof LooseCursor) return JSON.stringify(`${value.cursor}${value.hasDigest ? ' and a digest' : ''}`);
  if (value instanceof OneOf) return value.values.map(showValue).join(' or ');
  if (value instanceof Map)
    return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}: ${showValue(item)}`).join(', ')}}`;
  if (Array.isArray(value)) return `[${value.map(showValue).join(', ')}]`;
  return JSON.stringify(value);
}

/** Where two values first differ, as a path; null: nowhere. */
export function findDifference(expected: Value, actual: Value, path = ''): string | null {
  if (expected instanceof Num) return isSameNumber(expected, actual) ? null : path;
  if (expected instanceof NumText)
    return typeof actual === 'string' && isSameNumber(expected.number, new Num(actual)) ? null : path;
  if (expected instanceof Unordered) {
    return Array.isArray(actual) && isSameBag(expected.items, actual) ? null : path;
  }
  if (expected instanceof OneOf) {
    return expected.values.some((value) => findDifference(value, actual) === null) ? null : path;
  }
  if (expected instanceof LooseCursor) return isSameCursor(expected, String(actual)) ? null : path;
  if (expected instanceof Map) {
    if (!(actual instanceof Map)) return path;
    if ([...expected.keys()].join('\n') !== [...actual.keys()].join('\n')) return `${path} (keys)`;
    return firstOf([...expected], ([key, item]) => findDifference(item, actual.get(key) as Value, `${path}.${key}`));
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return path;
    if (actual.length !== expected.length) return `${path} (length)`;
    return firstOf([...expected.entries()], ([index, item]) =>
      findDifference(item, actual[index] as Value, `${path}[${index}]`),
    );
  }
  return expected === actual ? null : path;
}

function isSameCursor({ cursor, hasDigest }: LooseCursor, actual: string): boolean {
  const [wanted, found] = [cursor, actual].map((text) => Buffer.from(text, 'base64').toString()) as [string, string];
  const digest = hasDigest ? /, "[-\w]{12}"(?=\]$)/ : /^/;
  return digest.test(found) && findDifference(parseJson(wanted), parseJson(found.replace(digest, ''))) === null;
}

function isSameBag(expected: readonly Value[], actual: readonly Value[]): boolean {
  const open = [...actual];
  for (const item of expected) {
    const index = open.findIndex((candidate) => findDifference(item, candidate) === null);
    if (index < 0) return false;
    open.splice(index, 1);
  }
  return open.length === 0;
}

function firstOf<T>(items: readonly T[], find: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}

function isSameNumber(expected: Num, actual: Value): boolean {
  if (!(actual instanceof Num)) return false;
  return expected.isApproximate
    ? Number(expected.text) === Number(actual.text)
    : decimal(expected.text) === decimal(actual.text);
}

/** One spelling for each number: digits without leading and trailing zeros, and an exponent. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  if (trimmed === '') return '0';
  return `${sign}0.${trimmed}e${digits.length - fraction.length + Number(exponent)}`;
}
