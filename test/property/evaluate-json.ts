/**
 * Filters of JSON columns (docs/filters.md, "JSON"): what `jsonb` means by equal and contained, by a key, and by the part at a path.
 */
import { Num, parseJson, type Value } from './canonical.ts';
import { type Input, listOf } from './document.ts';
import { FieldError } from './encoded.ts';
import { type Condition, conjunction } from './evaluate-filter.ts';
import { jsonOf as jsonText } from './json-input.ts';
import type { Oracle, Truth } from './oracle.ts';
import type { Row } from './reader.ts';
import { scalarTypes } from './types.ts';
import type { Column } from './world.ts';

interface Setting {
  readonly oracle: Oracle;
  /** JSON travels as values, not as texts. */
  readonly isValue: boolean;
}

/** A value of a row; undefined is SQL null. */
type Reading = (row: Row) => Value | undefined;

/** Paths that are tried, those that are predicates apart. */
export const jsonPaths = {
  path: ['$', '$.page', '$.a[*] ? (@ == null)', '$.a.b', '$.**.c', '$.page.double()', '$[1][0]', 'strict $.a.b', '($.page == 3).type()'],
  predicate: ['$.page > 2', 'strict $.page == 3', '($.page == "x") is unknown', 'exists($.a)', '!($.a == 1)', '$[0] == 1 || $.page == 3'],
} as const; // biome-ignore format: two lists

/** What a `JSONFilter` says of a column; null: no condition. */
export function prepareJson(
  oracle: Oracle,
  { name, type }: Column,
  filter: ReadonlyMap<string, Input>,
): Condition | null {
  const read = (row: Row) => {
    const text = row.cells.get(name)?.text ?? null;
    return text === null ? undefined : parseJson(text);
  };
  return prepareValue({ oracle, isValue: type.input === 'json' }, read, filter);
}

function prepareValue(setting: Setting, read: Reading, filter: ReadonlyMap<string, Input>): Condition | null {
  return allOf(
    [...filter].map(([name, input]) => {
      if (input === undefined) return null;
      if (name === 'at') return prepareParts(setting, read, input);
      if (name === 'is') return isNull(input, (row) => read(row) === undefined);
      if (input === null) return unknown;
      if (name === 'matches') return prepareMatch(setting.oracle, read, input as string);
      const isJson = ['contains', 'containedBy', 'eq'].includes(name);
      const compare = comparisons[name]!(isJson && setting.isValue ? jsonText(input) : input);
      return async () => (row) => {
        const value = read(row);
        return value === undefined ? null : compare(value);
      };
    }),
  );
}

const unknown: Condition = async () => () => null;

const comparisons: Readonly<Record<string, (operand: Input) => (value: Value) => Truth>> = {
  contains: (operand) => (value) => isContained(parseJson(operand as string), value),
  containedBy: (operand) => (value) => isContained(value, parseJson(operand as string)),
  eq: (operand) => (value) => isEqual(value, parseJson(operand as string)),
  hasKey: (key) => (value) => hasKey(value, key),
  hasAllKeys: (keys) => (value) => listOf(keys).every((key) => hasKey(value, key)),
  hasAnyKey: (keys) => (value) => listOf(keys).some((key) => hasKey(value, key)),
};

function isObject(value: Value): value is ReadonlyMap<string, Value> {
  return value instanceof Map;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isScalar(value: Value): boolean {
  return !isObject(value) && !isList(value);
}

function isEqual(one: Value, other: Value): boolean {
  if (one instanceof Num && other instanceof Num) return plain(one) === plain(other);
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]!));
  }
  if (isObject(one) && isObject(other)) {
    return one.size === other.size && [...one].every(([key, item]) => other.has(key) && isEqual(item, other.get(key)!));
  }
  return one === other;
}

/** Without zeros behind the point. */
function plain({ text }: Num): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function isContained(part: Value, whole: Value): boolean {
  // At the top alone, an array contains a value that stands in no array.
  if (isList(whole) && isScalar(part)) return whole.some((item) => isScalar(item) && isEqual(item, part));
  return isPartOf(part, whole);
}

function isPartOf(part: Value, whole: Value): boolean {
  if (isObject(part) && isObject(whole)) {
    return [...part].every(([key, item]) => whole.has(key) && isPartOf(item, whole.get(key)!));
  }
  if (isList(part) && isList(whole)) return part.every((item) => whole.some((other) => isPartOf(item, other)));
  return isScalar(part) && isScalar(whole) && isEqual(part, whole);
}

function hasKey(value: Value, key: Input): boolean {
  if (isObject(value)) return value.has(key as string);
  return isList(value) ? value.includes(key as string) : value === key;
}

function prepareMatch(oracle: Oracle, read: Reading, path: string): Condition {
  const kind = (jsonPaths.predicate as readonly string[]).includes(path) ? 'meets path' : 'finds path';
  return async (rows) => {
    const texts = rows.map((row) => jsonOf(read(row)));
    const truths = await oracle.compare(typeOf('jsonb'), kind, texts, path);
    return (row) => truths.get(jsonOf(read(row))) ?? null;
  };
}

function prepareParts(setting: Setting, read: Reading, parts: Input): Condition | null {
  if (parts === null) return null;
  return allOf(listOf(parts).map((part) => preparePart(setting, read, part as ReadonlyMap<string, Input>)));
}

function preparePart(setting: Setting, read: Reading, part: ReadonlyMap<string, Input>): Condition | null {
  const path = listOf(part.get('path')) as readonly string[];
  const readPart: Reading = (row) => partAt(read(row), path);
  return allOf(
    [...part].map(([name, input]) => {
      if (name === 'path' || input === undefined) return null;
      if (name === 'is') return isNull(input, (row) => textOf(readPart(row)) === null);
      if (input === null) return null;
      const filter = input as ReadonlyMap<string, Input>;
      if (name === 'json') return prepareValue(setting, readPart, filter);
      const compared = prepareText(
        setting.oracle,
        readPart,
        filter,
        { text: 'text', number: 'numeric', boolean: 'boolean' }[name]!,
      );
      if (compared === null || name === 'text') return compared;
      const isSuch = (value: Value | undefined) =>
        name === 'number' ? value instanceof Num : typeof value === 'boolean';
      return async (rows) => {
        const truth = await compared(rows.filter((row) => isSuch(readPart(row))));
        return (row) => (isSuch(readPart(row)) ? truth(row) : false);
      };
    }),
  );
}

function prepareText(
  oracle: Oracle,
  read: Reading,
  filter: ReadonlyMap<string, Input>,
  type: string,
): Condition | null {
  return allOf(
    [...filter].map(([operator, input]) => {
      if (input === undefined) return null;
      if (operator === 'is') return isNull(input, (row) => textOf(read(row)) === null);
      if (input === null) return unknown;
      const texts = listOf(input) as readonly string[];
      const operand = operator === 'in' ? texts : texts[0]!;
      return async (rows) => {
        const truths = await oracle.compare(
          typeOf(type),
          operator,
          rows.map((row) => textOf(read(row))),
          operand,
        );
        return (row) => truths.get(textOf(read(row))) ?? null;
      };
    }),
  );
}

function isNull(input: Input, isSuch: (row: Row) => boolean): Condition {
  if (input === null) throw new FieldError(null);
  return async () => (row) => isSuch(row) === (input === 'NULL');
}

function allOf(conditions: readonly (Condition | null)[]): Condition | null {
  return conjunction(conditions.filter((condition) => condition !== null));
}

function typeOf(sql: string) {
  return scalarTypes.find((type) => type.sql === sql)!;
}

/** The part at a path of keys and positions, which count from the end where they are negative. */
function partAt(value: Value | undefined, path: readonly string[]): Value | undefined {
  return path.reduce<Value | undefined>((part, key) => {
    if (part === undefined) return undefined;
    if (isObject(part)) return part.get(key);
    return isList(part) && /^-?\d+$/.test(key) ? part.at(Number(key)) : undefined;
  }, value);
}

/** A value as text: a string without its quotes, null where there is none or JSON null. */
function textOf(value: Value | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : jsonOf(value);
}

/** As `jsonb` prints it; keys come in its order. */
function jsonOf(value: Value | undefined): string | null {
  if (value === undefined) return null;
  if (value instanceof Num) return value.text;
  if (isList(value)) return `[${value.map(jsonOf).join(', ')}]`;
  if (isObject(value))
    return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}: ${jsonOf(item)}`).join(', ')}}`;
  return JSON.stringify(value);
}
