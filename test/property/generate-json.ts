/**
 * Invents filters of JSON columns: by what is in them, by keys, by JSON paths and by their parts.
 */
import { jsonPaths } from './evaluate-json.ts';
import { writeJson } from './json-input.ts';
import type { Random } from './random.ts';
import type { Type } from './types.ts';
import { nullValue, type Place, type Writer, type Written, writeList, writeObject, writeToken } from './writer.ts';

const keys = ['page', 'page', 'a', 'a', 'b', 'c', '0', '1', '-1', 'x', ''];
const pieces = ['{}', '[]', 'null', '3', '3.00', '5.1', 'true', '"a"', '"x"', '{"a": []}', '{"page": 3}', '{"a": {"b": []}}', '[1]', '[[2]]', '[{}]',
  '["a", "page"]', '{"page": 3, "a": [null], "x": 1}', '[1, [2, "a", 4], {"page": 5}, 7]']; // biome-ignore format: a list
const texts = ['a', 'x', '3', '3.0', '', 'true', '[]', '5'];

/** The filter of a JSON column; those of type `json` are there or not. @param texts Those of its values. */
export function writeJsonFilter(writer: Writer, { comparedAs, sql, input }: Type, texts: readonly string[]): Written {
  const { random } = writer;
  if (random.chance(0.04)) return nullValue;
  const known = { texts, isValue: input === 'json' };
  if ((comparedAs ?? sql) !== 'jsonb')
    return writer.value({ type: 'JSONIsFilter' }, () => writeObject([['is', writeIs(writer)]]));
  return writeValue(writer, known, 2);
}

/** What is known of a column's values. */
interface Known {
  readonly texts: readonly string[];
  /** They travel as JSON, not as texts. */
  readonly isValue: boolean;
}

function writeIs(writer: Writer): Written {
  const choose = () => writeToken(writer.random, writer.random.pick(['NULL', 'NOT_NULL']));
  return writer.value({ type: 'FilterIs', canBeNull: false }, choose);
}

function writeValue(writer: Writer, known: Known, depth: number): Written {
  const { random } = writer;
  const json = () => {
    const all = known.texts.length > 0 && random.chance(0.3) ? known.texts : pieces;
    if (!known.isValue) return writeText(writer, 'JSON', all);
    return writer.value({ type: 'JSON' }, () => writeJson(random.pick(all)) ?? nullValue);
  };
  const writers: Readonly<Record<string, () => Written>> = {
    contains: json,
    containedBy: json,
    eq: json,
    is: () => writeIs(writer),
    hasKey: () => writeText(writer, 'String', keys),
    hasAllKeys: () => writeKeys(writer, { type: '[String!]' }),
    hasAnyKey: () => writeKeys(writer, { type: '[String!]' }),
    matches: () => writeText(writer, 'String', random.chance(0.5) ? jsonPaths.path : jsonPaths.predicate),
    ...(depth > 0 && { at: () => writeParts(writer, known, depth - 1) }),
  };
  const names = [...Object.keys(writers), ...(depth > 0 ? ['at', 'at', 'at'] : [])];
  return writer.value({ type: 'JSONFilter' }, () => {
    const chosen = random.chance(0.04) ? [] : new Set([random.pick(names), ...random.some(names, 0.06)]);
    return writeObject([...chosen].map((name) => [name, orNull(random, name, writers[name]!)]));
  });
}

function orNull(random: Random, name: string, write: () => Written): Written {
  return name !== 'is' && random.chance(0.03) ? nullValue : write();
}

function writeParts(writer: Writer, known: Known, depth: number): Written {
  const { random } = writer;
  const one = () => writer.value({ type: 'JSONPathFilter', isRequired: true }, () => writePart(writer, known, depth));
  return writer.value({ type: '[JSONPathFilter!]' }, () =>
    random.chance(0.4) ? writePart(writer, known, depth) : writeList(Array.from({ length: random.int(0, 2) }, one)),
  );
}

function writePart(writer: Writer, known: Known, depth: number): Written {
  const { random } = writer;
  const readings: Readonly<Record<string, () => Written>> = {
    text: () => writeOperators(writer, 'StringFilter', ['String', texts], ['eq', 'neq', 'in', 'lt', 'gte', 'like', 'startsWith', 'is']),
    number: () => writeOperators(writer, 'BigFloatFilter', ['BigFloat', ['3', '3.0', '5.1', '0', '-1']], ['eq', 'neq', 'in', 'gt', 'lte', 'is']),
    boolean: () => writeOperators(writer, 'BooleanFilter', ['Boolean', ['true', 'false']], ['eq', 'is']),
    json: () => writeValue(writer, known, depth),
    is: () => writeIs(writer),
  }; // biome-ignore format: a table
  const chosen = new Set([random.pick(Object.keys(readings)), ...random.some(Object.keys(readings), 0.08)]);
  return writeObject([
    ['path', writeKeys(writer, { type: '[String!]', isRequired: true })],
    ...[...chosen].map((name) => [name, orNull(random, name, readings[name]!)] as const),
  ]);
}

/** The path of a part. */
export function writeKeys(writer: Writer, place: Place): Written {
  const { random } = writer;
  const one = () => writeText(writer, 'String', keys, true);
  return writer.value(place, () => writeList(Array.from({ length: random.pick([0, 1, 1, 1, 2, 2]) }, one)));
}

function writeOperators(
  writer: Writer,
  type: string,
  [scalar, operands]: readonly [string, readonly string[]],
  operators: readonly string[],
): Written {
  const { random } = writer;
  return writer.value({ type }, () => {
    const chosen = random.chance(0.04) ? [] : new Set([random.pick(operators), ...random.some(operators, 0.1)]);
    return writeObject(
      [...chosen].map((operator) => {
        if (operator === 'is') return [operator, writeIs(writer)];
        if (random.chance(0.03)) return [operator, nullValue];
        if (operator !== 'in') return [operator, writeText(writer, scalar, operands)];
        const many = () =>
          writeList(Array.from({ length: random.int(0, 3) }, () => writeText(writer, scalar, operands, true)));
        return [operator, writer.value({ type: `[${scalar}!]` }, many)];
      }),
    );
  });
}

function writeText(writer: Writer, type: string, all: readonly string[], isRequired = false): Written {
  const text = writer.random.pick(all);
  const written = type === 'Boolean' ? { text, json: text === 'true' } : { text: JSON.stringify(text), json: text };
  return writer.value({ type, isRequired }, () => written);
}
