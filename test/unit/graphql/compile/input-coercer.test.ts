/**
 * Values of variables: ours coerces what fits as graphql-js does, and leaves it to graphql-js to refuse the rest.
 */
import {
  coerceInputValue,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableInputType,
} from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { coercerOf } from '../../../../src/graphql/compile/input/input-coercer.ts';
import { findUnstorable } from '../../../../src/graphql/compile/input/storable-text.ts';
import { StringEnumType } from '../../../../src/graphql/schema/types/enum-types.ts';
import { scalarTypes } from '../../../../src/graphql/schema/types/scalars.ts';
import { createRandom, type Random } from '../../../property/random.ts';

const { Int, String: Text, Boolean: Flag, Float, BigInt: Big, UUID, JSON: Json, Opaque } = scalarTypes;
const state = new StringEnumType({ name: 'State', values: { open: { value: 'OPEN' }, done: {} } }, ['on hold']);
const filter: GraphQLInputObjectType = new GraphQLInputObjectType({
  name: 'Filter',
  fields: () => ({
    title: { type: Text },
    state: { type: state },
    count: { type: Big },
    and: { type: new GraphQLList(new GraphQLNonNull(filter)) },
    not: { type: filter },
    constructor: { type: Text },
  }),
});
const entry = new GraphQLInputObjectType({
  name: 'Entry',
  fields: {
    title: { type: new GraphQLNonNull(Text) },
    score: { type: Int },
    share: { type: Float },
    isOpen: { type: Flag },
    tags: { type: new GraphQLList(Text) },
    key: { type: UUID },
    data: { type: Json },
    what: { type: Opaque },
  },
});
const paged = new GraphQLInputObjectType({
  name: 'Paged',
  fields: { first: { type: Int, default: { value: 10 } }, after: { type: Text } },
});
const one = new GraphQLInputObjectType({
  name: 'One',
  isOneOf: true,
  fields: { id: { type: Int }, name: { type: Text } },
});

const listOf = (type: GraphQLNullableInputType): GraphQLInputType =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));
const types: readonly GraphQLInputType[] = [
  filter,
  entry,
  listOf(entry),
  new GraphQLList(filter),
  new GraphQLList(new GraphQLList(Int)),
  listOf(state),
];
const fieldNames = [...Object.keys(filter.getFields()), ...Object.keys(entry.getFields()), '__proto__', 'toString'];

const coerce = (type: GraphQLInputType, value: unknown) => coercerOf(type)(value, 0);

/** The same with members as pairs, so that their order is compared, and prototypes are not. */
function pairs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pairs);
  return value === null || typeof value !== 'object'
    ? value
    : Object.entries(value).map(([key, item]) => [key, pairs(item)]);
}

const scalars: readonly unknown[] = [
  ...['', 'a', 'open', 'OPEN', 'on hold', '9007199254740993', '2b3f5b0e-6d5e-4c55-9f3a-0a3f0f3d7a11', '{"a": [1]}'],
  ...['a\0', '\ud800', '\udfff'.padStart(70), '😀', `${'x'.repeat(70)}\0`],
  ...[0, 1, -1, 1.5, 2 ** 31, 2 ** 60, 12345678901234567890n, true, false, null, undefined, Number.POSITIVE_INFINITY],
];

/** What a client may send for some type, mostly something that nearly fits. */
function someValue(random: Random, levels: number): unknown {
  const kind = random.int(1, 10);
  if (levels === 0 || kind <= 3) return random.pick(scalars);
  if (kind <= 5) return Array.from({ length: random.int(0, 3) }, () => someValue(random, levels - 1));
  return Object.fromEntries(random.some(fieldNames, 0.2).map((name) => [name, someValue(random, levels - 1)]));
}

/** A value that mostly fits the type. */
function fittingValue(random: Random, type: GraphQLInputType, levels: number): unknown {
  if (random.chance(0.02)) return someValue(random, 2);
  if (type instanceof GraphQLNonNull) return fittingValue(random, type.ofType as GraphQLInputType, levels);
  if (random.chance(0.05)) return null;
  if (type instanceof GraphQLList) {
    return Array.from({ length: random.int(0, 3) }, () =>
      fittingValue(random, type.ofType as GraphQLInputType, levels - 1),
    );
  }
  if (!(type instanceof GraphQLInputObjectType)) return random.pick(scalars);
  const fields = random.shuffle(Object.values(type.getFields()));
  const given = fields.filter(({ name }) => random.chance(name === 'title' ? 0.9 : 0.3));
  return Object.fromEntries(
    given.map((field) => [field.name, levels < 0 ? null : fittingValue(random, field.type, levels - 1)]),
  );
}

describe('Coercing the value of a variable', () => {
  test('Coercing the value of a variable gives what graphql-js gives, and takes all that it takes and PostgreSQL can store', () => {
    const random = createRandom(4711);
    let taken = 0;
    for (let round = 0; round < 10_000; round += 1) {
      const type = random.pick(types);
      const value = random.chance(0.5) ? fittingValue(random, type, 3) : someValue(random, 3);
      const ours = coerce(type, value);
      // Of an object with methods, graphql-js takes one for the value of a field that is missing.
      const theirs = coerceInputValue(withoutMethods(value), type);
      if (ours !== undefined) {
        taken += 1;
        expect(pairs(ours)).toStrictEqual(pairs(theirs));
        expect(findUnstorable(ours)).toBeNull();
      } else if (!holdsUndefined(value)) {
        expect(theirs === undefined || findUnstorable(theirs) !== null, JSON.stringify(value, bigText)).toBe(true);
      }
    }
    expect(taken).toBeGreaterThan(1000);
  });

  test('Coercing the value of a variable goes through the fields of a type once, however many objects with different keys there are', () => {
    const fields = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`c${at}`, { type: Int }]));
    const wide = new GraphQLInputObjectType({ name: 'Wide', fields });
    const read = vi.spyOn(wide, 'getFields');
    const objects = Array.from({ length: 1000 }, (_, at) => ({ [`c${at % 400}`]: at, c7: 7 }));
    expect(coerce(new GraphQLList(wide), objects)).toHaveLength(1000);
    expect(read).toHaveBeenCalledTimes(1);
  });

  test('Coercing the value of a variable knows the defaults of fields', () => {
    expect(coerce(paged, { after: 'x' })).toEqual({ first: 10, after: 'x' });
    expect(coerce(paged, { after: 'x' })).toEqual(coerceInputValue({ after: 'x' }, paged));
  });

  test('Coercing the value of a variable leaves to graphql-js what it knows better: one of several fields, and iterables', () => {
    expect(coerce(paged, { first: 3 })).toEqual({ first: 3 });
    expect(coerce(one, { id: 1 })).toBeUndefined();
    expect(coerce(new GraphQLList(Int), new Set([1]))).toBeUndefined();
    expect(coerce(filter, undefined)).toBeUndefined();
    expect(coerce(entry, { title: 'x', score: undefined })).toBeUndefined();
  });

  test('Coercing the value of a variable has no methods among the members, whatever a field is called', () => {
    expect(coerce(filter, {})).toEqual({});
    expect((coerce(filter, { title: 'x' }) as Record<string, unknown>).constructor).toBeUndefined();
    expect(pairs(coerce(filter, { constructor: 'x' }))).toEqual([['constructor', 'x']]);
  });

  test('Coercing the value of a variable leaves very deep values alone, which would take as deep a stack', () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = { not: deep };
    expect(coerce(filter, deep)).toBeUndefined();
  });
});

function withoutMethods(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMethods);
  if (value === null || typeof value !== 'object') return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) copy[key] = withoutMethods(item);
  return copy;
}

/** A client cannot send it; a program that embeds the gateway may. */
function holdsUndefined(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return value === undefined;
  return Object.values(value).some(holdsUndefined);
}

function bigText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
