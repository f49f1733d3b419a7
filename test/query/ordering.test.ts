/**
 * The `orderBy` argument in all its forms.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const unordered = `
  create table lib.unordered ("the key" int primary key, doc jsonb);
  comment on table lib.unordered is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  insert into lib.unordered values (2, '2'), (1, '1');
  create function lib.all_unordered() returns setof lib.unordered stable language sql as 'select * from lib.unordered';
  grant select on lib.unordered to anon;`;
const { ask, run, column, text } = await openReader(['query-pages.sql', unordered]);
const ids = (given: string, variables?: Record<string, unknown>, head?: string) =>
  column(`tieCollection(${given})`, 'id', variables, head);
const byKey = [1, 2, 3, 4, 5, 6, 7];

describe('orderBy', () => {
  test.each([
    ['null', byKey],
    ['[]', byKey],
    ['{}', byKey],
    ['[{}]', byKey],
    ['{a: null}', byKey],
    ['{id: DescNullsLast}', byKey.toReversed()],
    ['{a: null, id: DescNullsLast}', byKey.toReversed()],
    ['{id: DescNullsLast, a: null}', byKey.toReversed()],
    ['[{a: AscNullsFirst}, {id: DescNullsFirst}]', [7, 6, 3, 2, 1, 5, 4]],
    ['[{}, {a: DescNullsFirst}]', [7, 4, 5, 1, 2, 3, 6]],
    ['{b: AscNullsFirst, a: DescNullsLast}', [4, 3, 6, 1, 2, 7, 5]],
    ['{a: DescNullsLast, b: AscNullsFirst}', [4, 5, 3, 1, 2, 6, 7]],
    ['"AscNullsLast"', null],
    ['{a: Sideways}', null],
    ['{a: "DescNullsLast"}', [4, 5, 1, 2, 3, 6, 7]],
    ['[null]', null],
    ['{nope: AscNullsLast}', null],
    ['{a: AscNullsLast, a: AscNullsLast}', null],
  ])('of %s gives %j (null: the request is rejected)', async (given, expected) => {
    if (expected !== null) expect(await ids(`orderBy: ${given}`)).toEqual(expected);
    else expect(await run(`{ tieCollection(orderBy: ${given}) { edges { cursor } } }`)).not.toHaveProperty('data');
  });

  test('orderBy may be a variable: a list, one object, null, an empty list, or absent', async () => {
    const head = 'query ($o: [TieOrderBy!])';
    expect(await ids('orderBy: $o', { o: [{ id: 'DescNullsLast' }] }, head)).toEqual(byKey.toReversed());
    expect(await ids('orderBy: $o', { o: { id: 'DescNullsLast' } }, head)).toEqual(byKey.toReversed());
    expect(await ids('orderBy: $o', { o: { id: 'DescNullsLast' } }, 'query ($o: TieOrderBy)')).toEqual(
      byKey.toReversed(),
    );
    for (const variables of [{ o: null }, { o: [] }, {}, { o: {} }, { o: [{ a: null }] }]) {
      expect(await ids('orderBy: $o', variables, head)).toEqual(byKey);
    }
  });

  test('orderBy may hold variables: an element, a direction', async () => {
    expect(await ids('orderBy: [$e]', { e: { id: 'DescNullsLast' } }, 'query ($e: TieOrderBy!)')).toEqual(
      byKey.toReversed(),
    );
    const head = 'query ($d: OrderByDirection)';
    expect(await ids('orderBy: {id: $d}', { d: 'DescNullsFirst' }, head)).toEqual(byKey.toReversed());
    expect(await ids('orderBy: {id: $d}', { d: null }, head)).toEqual(byKey);
    expect(await ids('orderBy: {id: $d}', {}, head)).toEqual(byKey);
    expect(await ids('orderBy: {id: $d}', {}, 'query ($d: OrderByDirection = DescNullsLast)')).toEqual(
      byKey.toReversed(),
    );
  });

  test.each([
    ['query ($o: [TieOrderBy!]) { c: tieCollection(orderBy: $o) { edges { cursor } } }', { o: [{ id: 'Up' }] }],
    [
      'query ($o: [TieOrderBy!]) { c: tieCollection(orderBy: $o) { edges { cursor } } }',
      { o: [{ nope: 'AscNullsLast' }] },
    ],
    ['query ($o: [TieOrderBy!]) { c: tieCollection(orderBy: $o) { edges { cursor } } }', { o: [null] }],
    ['query ($e: TieOrderBy!) { c: tieCollection(orderBy: [$e]) { edges { cursor } } }', {}],
    ['query ($e: TieOrderBy) { c: tieCollection(orderBy: [$e]) { edges { cursor } } }', {}],
    ['query ($e: TieOrderBy) { c: tieCollection(orderBy: [$e]) { edges { cursor } } }', { e: null }],
    ['query ($o: [TieOrderBy]) { c: tieCollection(orderBy: $o) { edges { cursor } } }', { o: [null] }],
    ['query ($d: OrderByDirection) { c: tieCollection(orderBy: {id: $d}) { edges { cursor } } }', { d: 'Up' }],
  ])('%s with %j is rejected', async (query, variables) => {
    const body = await run(query, variables);
    expect(body).not.toHaveProperty('data');
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('orderBy may have more terms than a function of PostgreSQL has arguments', async () => {
    const terms = Array.from({ length: 120 }, (_, index) => (index % 2 ? '{a: AscNullsLast}' : '{b: AscNullsLast}'));
    const data = await ask(
      `{ tieCollection(first: 2, orderBy: [${terms.join(', ')}]) { edges { cursor node { id } } } }`,
    );
    const [first, second] = data.tieCollection.edges;
    expect(JSON.parse(Buffer.from(first.cursor, 'base64').toString())).toHaveLength(121);
    expect(await ids(`first: 1, orderBy: [${terms.join(', ')}], after: "${first.cursor}"`)).toEqual([second.node.id]);
  });

  test('orderBy has one statement for each list of columns and directions', async () => {
    const query = 'query ($o: [TieOrderBy!]) { c: tieCollection(orderBy: $o) { edges { cursor } } }';
    const one = await text(query, { o: [{ a: 'AscNullsLast', b: 'DescNullsLast' }] });
    expect(await text(query, { o: { a: 'AscNullsLast', b: 'DescNullsLast' } })).toBe(one);
    expect(await text(query, { o: { b: 'DescNullsLast', a: 'AscNullsLast' } })).not.toBe(one);
    expect(await text(query, { o: [{ a: 'AscNullsLast', b: 'AscNullsLast' }] })).not.toBe(one);
  });
});

test('rows without a column that can be ordered by come in the order of their key', async () => {
  const page = { edges: [{ node: { doc: '1' } }], pageInfo: { hasNextPage: true } };
  const selection = '{ edges { node { doc } } pageInfo { hasNextPage } }';
  expect(await ask(`{ c: unorderedCollection(first: 1) ${selection} }`)).toEqual({ c: page });
  expect(await ask(`{ c: allUnordered(first: 1) ${selection} }`)).toEqual({ c: page });
  expect(await ask('{ c: unorderedCollection { totalCount aggregate { count } } }')).toEqual({
    c: { totalCount: 2, aggregate: { count: 2 } },
  });
  expect(await run('{ unorderedCollection(orderBy: {}) { totalCount } }')).not.toHaveProperty('data');
});
