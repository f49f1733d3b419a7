/**
 * Variables: defaults, absent and null, and variables in places of another type.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const { ask, run, column, execution } = await openReader(['query-library.sql', 'query-functions.sql']);
const strict = await openReader(['query-library.sql'], { strictVariablePositions: true });

describe('a variable', () => {
  const query = 'query ($n: Int = 2) { volumeCollection(first: $n) { edges { node { shelfMark } } } }';
  const length = async (variables?: Record<string, unknown>) =>
    (await ask(query, variables)).volumeCollection.edges.length;

  test('a variable has its default where it is left out, and null where it is null', async () => {
    expect(await length()).toBe(2);
    expect(await length({ n: 1 })).toBe(1);
    expect(await length({ n: null })).toBe(4);
  });

  test('that is not declared is ignored', async () => {
    expect(await length({ n: 3, other: { deep: true } })).toBe(3);
  });

  test.each([
    ['query ($n: Int!) { volumeCollection(first: $n) { edges { cursor } } }', {}],
    ['query ($n: Int!) { volumeCollection(first: $n) { edges { cursor } } }', { n: null }],
    ['query ($n: Int) { volumeCollection(first: $n) { edges { cursor } } }', { n: 'one' }],
    ['query ($n: Int) { volumeCollection(first: $n) { edges { cursor } } }', { n: 1.5 }],
    ['query ($n: Int) { volumeCollection(first: $n) { edges { cursor } } }', { n: [1] }],
    ['query ($n: [String!]) { volumeCollection(filter: {tags: {eq: $n}}) { edges { cursor } } }', { n: [['a']] }],
    ['query ($n: String) { volumeCollection(filter: {title: {eq: $n}}) { edges { cursor } } }', { n: 1 }],
    ['query ($id: BigInt!) { patronByPk(id: $id) { id } }', {}],
    ['query ($id: BigInt!) { patronByPk(id: $id) { id } }', { id: {} }],
    ['query ($b: Boolean!) { __typename @skip(if: $b) }', {}],
  ])('in %s with %j is rejected', async (operation, variables) => {
    const body = await run(operation, variables);
    expect(body).not.toHaveProperty('data');
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  });

  test('a variable may have a name of JavaScript objects', async () => {
    const head = 'query ($constructor: Int, $__proto__: Int, $toString: Int)';
    const selection =
      '{ volumeCollection(first: $constructor, offset: $toString, last: $__proto__) { edges { node { shelfMark } } } }';
    expect((await ask(`${head} ${selection}`)).volumeCollection.edges).toHaveLength(4);
    expect((await ask(`${head} ${selection}`, { constructor: 1 })).volumeCollection.edges).toHaveLength(1);
  });
});

test('an absent variable is absent, also when JavaScript objects have its name', async () => {
  const query = `query ($constructor: Int, $toString: LoanFilter, $s: String) {
    loanCollection(first: $constructor, filter: {and: [{shelfMark: {in: $s}}, {not: $toString}]}) { edges { node { seq } } } }`;
  expect((await ask(query, { s: 'QA-76' })).loanCollection.edges).toHaveLength(3);
  expect((await ask(query, { s: 'QA-76', constructor: 1 })).loanCollection.edges).toHaveLength(1);
});

describe('a variable in a place of another type', () => {
  const cases = [
    [
      'a nullable element',
      'query ($o: [LoanOrderBy]) { c: loanCollection(orderBy: $o) { edges { node { seq } } } }',
      { o: [{ seq: 'DescNullsLast' }] },
    ],
    [
      'one value for a list',
      'query ($o: LoanOrderBy) { c: loanCollection(orderBy: $o) { edges { node { seq } } } }',
      { o: { seq: 'DescNullsLast' } },
    ],
    [
      'one integer for a list',
      'query ($o: Int!) { c: loanCollection(filter: {seq: {in: $o}}) { edges { node { seq } } } }',
      { o: 2 },
    ],
    [
      'a string for a cursor',
      'query ($o: String) { c: loanCollection(before: $o) { edges { node { seq } } } }',
      { o: 'WzEyLCAiUUEtNzYiLCAxXQ==' },
    ],
    [
      'a string for a date',
      'query ($o: String) { c: loanCollection(filter: {dueOn: {eq: $o}}) { edges { node { seq } } } }',
      { o: '2024-05-01' },
    ],
    [
      'an integer for a big one',
      'query ($o: Int) { c: loanCollection(filter: {patronId: {eq: $o}}) { edges { node { seq } } } }',
      { o: 12 },
    ],
    [
      'an optional one for a required one',
      'query ($o: Int) { c: loanCollection(filter: {seq: {in: [$o]}}) { edges { node { seq } } } }',
      { o: 2 },
    ],
    [
      'a string for an enum',
      'query ($o: String) { c: loanCollection(filter: {state: {eq: $o}}) { edges { node { seq } } } }',
      { o: 'lost' },
    ],
    [
      'a default of the declared type',
      'query ($o: String = "2024-05-01") { c: loanCollection(filter: {dueOn: {eq: $o}}) { edges { node { seq } } } }',
      {},
    ],
  ] as const;

  test.each(cases)('(%s) is coerced to the type of its place', async (_, query, variables) => {
    expect((await ask(query, variables)).c.edges.length).toBeGreaterThan(0);
  });

  test.each(cases)('(%s) is rejected where positions are strict', async (_, query, variables) => {
    const body = await strict.run(query, variables);
    // A nullable variable with a default may stand in a non-null place; everything else here may not.
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].message).toMatch(/used in position expecting type/);
  });

  test.each([
    ['query ($o: [LoanOrderBy]) { c: loanCollection(orderBy: $o) { edges { cursor } } }', { o: [null] }],
    ['query ($o: String) { c: loanCollection(first: $o) { edges { cursor } } }', { o: '1' }],
    ['query ($o: Float) { c: loanCollection(first: $o) { edges { cursor } } }', { o: 1.5 }],
    ['query ($o: String) { c: loanCollection(filter: {state: {eq: $o}}) { edges { cursor } } }', { o: 'gone' }],
    ['query ($o: Int) { c: loanCollection(filter: {seq: {in: [$o]}}) { edges { cursor } } }', {}],
    ['query ($o: Int) { c: loanCollection(filter: {seq: {in: [1, $o]}}) { edges { cursor } } }', { o: null }],
    ['query ($o: BigInt) { c: patronByPk(id: $o) { id } }', {}],
    ['query ($o: BigInt) { c: patronByPk(id: $o) { id } }', { o: null }],
    ['query ($o: Int) { addUp(a: $o) }', {}],
    ['query ($o: Boolean) { a: __typename b: __typename @skip(if: $o) }', {}],
    ['query ($o: Boolean) { a: __typename ... @include(if: $o) { b: __typename } }', { o: null }],
    ['query ($o: String) { a: __typename b: __typename @include(if: $o) }', { o: 'true' }],
    ['query ($o: ID) { node(nodeId: $o) { nodeId } }', { o: null }],
  ])(
    'a variable in a place of another type is rejected where its value does not fit: %s with %j',
    async (query, variables) => {
      const body = await run(`${query}`, variables);
      expect(body).not.toHaveProperty('data');
      expect(body.errors).toHaveLength(1);
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
      expect(body.errors[0].message).toMatch(/"\$o".*expected/);
    },
  );

  test('a variable in a place of another type may stand in several places of different types', async () => {
    const query =
      'query ($v: String) { a: loanCollection(filter: {shelfMark: {eq: $v}}) { totalCount } b: loanCollection(filter: {shelfMark: {in: $v}}) { totalCount } }';
    expect(await ask(query, { v: 'QA-76' })).toEqual({ a: { totalCount: 3 }, b: { totalCount: 3 } });
    expect(await ask(query, { v: null })).toEqual({ a: { totalCount: 0 }, b: { totalCount: 0 } });
    expect(await ask(query)).toEqual({ a: { totalCount: 5 }, b: { totalCount: 5 } });
  });
});

describe('a variable in a fragment', () => {
  test('a variable in a fragment has the value of the operation that uses the fragment', async () => {
    const query =
      'query a ($n: Int) { ...f } query b ($n: Int = 1) { ...f } fragment f on Query { c: volumeCollection(first: $n) { edges { cursor } } }';
    const count = async (operationName: string, variables: Record<string, unknown>) =>
      (await execution.data('anon', query, { operationName, variables })).c.edges.length;
    expect(await count('a', {})).toBe(4);
    expect(await count('b', {})).toBe(1);
    expect(await count('a', { n: 2 })).toBe(2);
  });

  test('a variable in a fragment may have different types in different operations', async () => {
    const query =
      'query a ($n: Int!) { ...f } query b ($n: [Int!]) { ...f } fragment f on Query { c: loanCollection(filter: {seq: {in: $n}}) { edges { cursor } } }';
    for (const [operationName, n] of [
      ['a', 2],
      ['b', [2]],
    ] as const) {
      const data = await execution.data('anon', query, { operationName, variables: { n } });
      expect(data.c.edges).toHaveLength(1);
    }
  });

  test('a variable in a fragment may have the name of a variable of another type, of another operation with fragments of its own', async () => {
    const query = `query a ($v: Int) { ...byNumber } fragment byNumber on Query { c: loanCollection(first: $v) { edges { cursor } } }
      query b ($v: String) { ...outer } fragment outer on Query { ...byText } fragment byText on Query { c: loanCollection(filter: {shelfMark: {eq: $v}}) { edges { cursor } } }
      fragment nobody on Query { c: loanCollection(offset: $v) { edges { cursor } } }`;
    const count = async (operationName: string, v: unknown) =>
      (await execution.data('anon', query, { operationName, variables: { v } })).c.edges.length;
    expect(await count('a', 2)).toBe(2);
    expect(await count('b', 'QA-76')).toBe(3);
  });
});

test('an integer beyond 2^53 in a variable given as text keeps all digits', async () => {
  expect(
    await column(
      'patronCollection(filter: {id: {eq: $id}})',
      'fullName',
      { id: '9007199254740993' },
      'query ($id: BigInt)',
    ),
  ).toEqual(['Big']);
});
