import { expect, test } from 'vitest';
import {
  about,
  anyOf,
  anything,
  flag,
  from,
  integerBetween,
  listOf,
  named,
  objectOf,
  oneOf,
  optional,
  orNull,
  serializerOf,
  text,
} from '../../../src/shared/schema.ts';

const point = named(
  'Point',
  objectOf({ x: integerBetween(0, 9), label: optional(text), kind: orNull(oneOf('a', 'b')) }),
);

test('an object has a JSON Schema and reads what that describes', () => {
  expect(point.json).toEqual({ $ref: '#/components/schemas/Point' });
  expect(point.named.Point).toEqual({
    type: 'object',
    properties: {
      x: { type: 'integer', minimum: 0, maximum: 9 },
      label: { type: 'string' },
      kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
    },
    required: ['x', 'kind'],
  });
  expect(point.parse({ x: 1, kind: 'a', other: true })).toEqual({ x: 1, kind: 'a' });
  expect(point.parseText('{"x": 1, "kind": null}')).toEqual({ x: 1, kind: null });
});

test('an error names the member and what it is not', () => {
  expect(() => point.parse([])).toThrow('must be an object');
  expect(() => point.parse({ x: '1' })).toThrow('field "x" is not an integer');
  expect(() => point.parse({ x: 10 })).toThrow('field "x" is not a whole number from 0 to 9');
  expect(() => point.parse({ x: 1, label: null })).toThrow('field "label" is not a string');
  expect(() => point.parse({ x: 1, kind: 'c' })).toThrow('field "kind" is not one of a, b');
  expect(() => listOf(flag).parse([true, 1])).toThrow('must be true or false');
  expect(() => listOf(flag).parse({})).toThrow('must be a list');
});

test('names and descriptions reach the document from any depth', () => {
  const nested = anyOf(listOf(point), objectOf({ at: about(point, 'Where.') }), anything());
  expect(Object.keys(nested.named)).toEqual(['Point']);
  expect(nested.json).toMatchObject({ anyOf: [{ type: 'array' }, { required: ['at'] }, {}] });
});

test('an answer prints values of another form', () => {
  const answer = serializerOf<{ readonly big: bigint; readonly note: string }>('Big', {
    big: from(text, ({ big }) => String(big)),
    note: from(optional(text), ({ note }) => note || undefined),
  });
  expect(JSON.stringify(listOf(answer).print([{ big: 7n, note: '' }]))).toBe('[{"big":"7"}]');
  expect(answer.named.Big).toMatchObject({ required: ['big'] });
});
