/**
 * Pages: arguments and their combinations, limits, page info (docs/pagination.md).
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const limits = `
  create table lib.raised (id int primary key); insert into lib.raised select n from generate_series(1, 150) n;
  comment on table lib.raised is '@graphql({"max_rows": 100})';
  create view lib.raised_view as select id from lib.raised;
  comment on view lib.raised_view is '@graphql({"primary_key_columns": ["id"], "max_rows": 2})';
  grant select on lib.raised, lib.raised_view to anon;`;
const { ask, run, errors, column, text } = await openReader(['query-pages.sql', limits]);
const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const items = (given: string, variables?: Record<string, unknown>, head?: string) =>
  column(`itemCollection${given && `(${given})`}`, 'id', variables, head);

describe('a page', () => {
  test.each([
    ['', [1, 2, 3, 4, 5]],
    ['first: 2', [1, 2]],
    [`first: 2, after: "${cursor([2])}"`, [3, 4]],
    [`after: "${cursor([3])}"`, [4, 5]],
    [`after: "${cursor([5])}"`, []],
    ['first: 2, offset: 1', [2, 3]],
    ['offset: 0', [1, 2, 3, 4, 5]],
    ['offset: 4', [5]],
    ['offset: 9', []],
    [`first: 1, after: "${cursor([1])}", offset: 2`, [4]],
    ['last: 2', [4, 5]],
    [`last: 2, before: "${cursor([4])}"`, [2, 3]],
    [`before: "${cursor([3])}"`, [1, 2]],
    [`before: "${cursor([1])}"`, []],
    ['first: 0', []],
    ['last: 0', []],
    ['first: null, last: null, before: null, after: null, offset: null', [1, 2, 3, 4, 5]],
    ['first: 2, after: null', [1, 2]],
    ['last: 2, before: null', [4, 5]],
    ['last: 2, orderBy: {id: DescNullsLast}', [2, 1]],
    [`last: 1, before: "${cursor([2, 2])}", orderBy: {id: DescNullsLast}`, [3]],
  ])('with (%s) has the rows %j', async (given, expected) => {
    expect(await items(given)).toEqual(expected);
  });

  test('a page takes all its arguments from variables, of which only a legal combination is given', async () => {
    const head = 'query ($first: Int, $last: Int, $before: Cursor, $after: Cursor, $offset: Int)';
    const given = 'first: $first, last: $last, before: $before, after: $after, offset: $offset';
    const page = (variables: Record<string, unknown>) => items(given, variables, head);
    expect(await page({})).toEqual([1, 2, 3, 4, 5]);
    expect(await page({ last: 2, before: cursor([4]) })).toEqual([2, 3]);
    expect(await page({ first: 2, after: cursor([4]), last: null, before: null })).toEqual([5]);
    expect(await page({ first: 2, after: null })).toEqual([1, 2]);
    expect(await page({ first: null, after: null, last: null, before: null, offset: null })).toEqual([1, 2, 3, 4, 5]);
    expect(await page({ offset: 3, first: 1 })).toEqual([4]);
  });

  test('a page is cut to the limit of the table, which is 30 unless a directive says otherwise', async () => {
    const length = async (selection: string, variables?: Record<string, unknown>, head?: string) =>
      (await column(selection, 'id', variables, head)).length;
    expect(await length('manyCollection')).toBe(30);
    expect(await length('manyCollection(first: 31)')).toBe(30);
    expect(await length('manyCollection(last: 1000)')).toBe(30);
    expect(await length('manyCollection(first: $n)', { n: 1000 }, 'query ($n: Int)')).toBe(30);
    expect(await length('manyCollection(first: $n)', { n: null }, 'query ($n: Int)')).toBe(30);
    expect(await length('childCollection')).toBe(3);
    expect(await length('raisedCollection')).toBe(100);
    expect(await length('raisedCollection(first: 150)')).toBe(100);
    expect(await length('raisedViewCollection')).toBe(2);
  });

  test('before a cursor holds the rows closest to it, up to the limit', async () => {
    expect(await column(`childCollection(before: "${cursor([9])}")`, 'id')).toEqual([6, 7, 8]);
    expect(await column(`childCollection(last: 9, before: "${cursor([9])}")`, 'id')).toEqual([6, 7, 8]);
    expect(await column('childCollection(offset: 2)', 'id')).toEqual([3, 4, 5]);
  });

  test('a page has its limit and its size for each parent', async () => {
    const data = await ask(`{ parentCollection { edges { node { id
      all: childCollection { edges { node { id } } pageInfo { hasNextPage } totalCount }
      last: childCollection(last: 1) { edges { node { id } } }
      next: childCollection(first: 1, after: "${cursor([4])}") { edges { node { id } } } } } } }`);
    const ids = (edges: readonly { node: { id: number } }[]) => edges.map(({ node }) => node.id);
    const rows = data.parentCollection.edges.map(({ node }: typeof data) => [
      ids(node.all.edges),
      node.all.pageInfo.hasNextPage,
      node.all.totalCount,
      ids(node.last.edges),
      ids(node.next.edges),
    ]);
    expect(rows).toEqual([
      [[2, 4, 6], true, 5, [10], [6]],
      [[1, 3, 5], true, 5, [9], [5]],
      [[], false, 0, [], []],
    ]);
  });
});

describe('an illegal page', () => {
  const c = cursor([1]);
  test.each([
    ['first: -1', '`first` must be an unsigned integer'],
    ['last: -1', '`last` must be an unsigned integer'],
    ['offset: -1', '`offset` must be an unsigned integer'],
    ['first: 1, last: 1', 'only one of "first" and "last" may be provided'],
    [`before: "${c}", after: "${c}"`, 'only one of "before" and "after" may be provided'],
    [`first: 1, before: "${c}"`, '"first" may only be used with "after"'],
    [`last: 1, after: "${c}"`, '"last" may only be used with "before"'],
    ['offset: 1, last: 1', '"offset" may only be used with "first" and "after"'],
    [`offset: 1, before: "${c}"`, '"offset" may only be used with "first" and "after"'],
    ['first: 0, last: 0', 'only one of "first" and "last" may be provided'],
    ['first: -1, last: -1', '`first` must be an unsigned integer'],
    ['first: 1, last: 1, before: "?"', 'The cursor cannot be decoded.'],
  ])('with (%s) fails its field', async (given, message) => {
    expect(await run(`{ itemCollection(${given}) { edges { cursor } } }`)).toEqual({
      data: null,
      errors: [
        {
          message,
          path: ['itemCollection'],
          locations: [{ line: 1, column: 3 }],
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ],
    });
  });

  test('an illegal page fails the root field it is under, and the other fields are answered', async () => {
    const body = await run(`{
      good: itemCollection(first: 1) { edges { node { id } } }
      bad: parentCollection { edges { node { childCollection(first: -1) { edges { cursor } } } } }
      fine: itemCollection(last: 1) { edges { node { id } } }
    }`);
    expect(body.data).toEqual({ good: { edges: [{ node: { id: 1 } }] }, fine: { edges: [{ node: { id: 5 } }] } });
    expect(body.errors).toMatchObject([{ message: '`first` must be an unsigned integer', path: ['bad'] }]);
  });

  test('an illegal page is found in variables too', async () => {
    const query =
      'query ($first: Int, $last: Int, $before: Cursor) { itemCollection(first: $first, last: $last, before: $before) { edges { cursor } } }';
    expect(await errors(query, { first: -3 })).toEqual(['`first` must be an unsigned integer']);
    expect(await errors(query, { first: 3, last: 3 })).toEqual(['only one of "first" and "last" may be provided']);
    expect(await errors(query, { last: 3, before: 'ä' })).toEqual(['The cursor cannot be decoded.']);
    expect(await errors(query, { last: 1 })).toEqual([]);
  });

  test('an illegal page is rejected as a whole where the argument is no integer', async () => {
    for (const value of ['"1; drop table lib.item"', '1.5', 'true', '2147483648']) {
      expect(await run(`{ itemCollection(first: ${value}) { edges { cursor } } }`)).not.toHaveProperty('data');
    }
  });
});

describe('page info', () => {
  const info = async (selection: string) => {
    const { pageInfo } = (
      await ask(`{ c: ${selection} { pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } }`)
    ).c;
    const decode = (value: string | null) => value && JSON.parse(Buffer.from(value, 'base64').toString())[0];
    return [pageInfo.hasPreviousPage, pageInfo.hasNextPage, decode(pageInfo.startCursor), decode(pageInfo.endCursor)];
  };

  test.each([
    ['first: 2', [false, true, 1, 2]],
    [`first: 2, after: "${cursor([2])}"`, [true, true, 3, 4]],
    [`first: 2, after: "${cursor([3])}"`, [true, false, 4, 5]],
    ['first: 5', [false, false, 1, 5]],
    ['first: 9', [false, false, 1, 5]],
    ['last: 2', [true, false, 4, 5]],
    [`last: 2, before: "${cursor([4])}"`, [true, true, 2, 3]],
    [`last: 2, before: "${cursor([3])}"`, [false, true, 1, 2]],
    ['last: 5', [false, false, 1, 5]],
    [`before: "${cursor([3])}"`, [false, true, 1, 2]],
    [`last: 2, before: "${cursor([9])}"`, [true, false, 4, 5]],
    [`after: "${cursor([1])}"`, [true, false, 2, 5]],
    [`after: "${cursor([0])}"`, [false, false, 1, 5]],
    ['offset: 0', [false, false, 1, 5]],
    ['offset: 1', [true, false, 2, 5]],
    ['first: 1, offset: 1', [true, true, 2, 2]],
    ['first: 2, offset: 3', [true, false, 4, 5]],
    [`first: 1, offset: 1, after: "${cursor([2])}"`, [true, true, 4, 4]],
    ['offset: 9', [false, false, null, null]],
    [`after: "${cursor([5])}"`, [false, false, null, null]],
    ['first: 0', [false, true, null, null]],
    ['last: 0', [true, false, null, null]],
    [`before: "${cursor([1])}"`, [false, false, null, null]],
    ['first: 0, after: "WzVd"', [false, false, null, null]],
  ])('of (%s) is %j: previous, next, start, end', async (given, expected) => {
    expect(await info(`itemCollection(${given})`)).toEqual(expected);
  });

  test('of a backward page is about the order that was asked for', async () => {
    expect(await info('itemCollection(last: 2, orderBy: {id: DescNullsLast})')).toEqual([true, false, 2, 1]);
    expect(await info('itemCollection(first: 2, orderBy: {id: DescNullsLast})')).toEqual([false, true, 5, 4]);
  });

  test('of an empty collection has no previous page, no next page and no cursors', async () => {
    expect(await info('emptyCollection')).toEqual([false, false, null, null]);
    expect(await info('emptyCollection(last: 1)')).toEqual([false, false, null, null]);
    expect(await info(`emptyCollection(first: 1, after: "${cursor([1])}")`)).toEqual([false, false, null, null]);
    expect(await info('emptyCollection(first: 0)')).toEqual([false, false, null, null]);
  });

  test('of a filtered collection ignores the other rows', async () => {
    expect(await info(`itemCollection(filter: {id: {gte: 2, lte: 4}}, after: "${cursor([1])}")`)).toEqual([
      false,
      false,
      2,
      4,
    ]);
    expect(await info('itemCollection(filter: {id: {gte: 2, lte: 4}}, first: 2)')).toEqual([false, true, 2, 3]);
  });

  test('beside edges does not change them', async () => {
    const data = await ask('{ itemCollection(first: 2) { pageInfo { hasNextPage } edges { cursor node { id } } } }');
    expect(data.itemCollection).toEqual({
      pageInfo: { hasNextPage: true },
      edges: [
        { cursor: 'WzFd', node: { id: 1 } },
        { cursor: 'WzJd', node: { id: 2 } },
      ],
    });
  });

  test('with a size from a variable is the same statement for every size', async () => {
    const query =
      'query ($n: Int) { itemCollection(first: $n) { edges { node { id } } pageInfo { hasNextPage endCursor } } }';
    const expected = await ask(
      '{ itemCollection(first: 2) { edges { node { id } } pageInfo { hasNextPage endCursor } } }',
    );
    expect(await ask(query, { n: 2 })).toEqual(expected);
    expect(await text(query, { n: 2 })).toBe(await text(query, { n: 4 }));
  });

  test.each(['hasPreviousPage', '__typename', 'hasNextPage', 'startCursor', 'hasPreviousPage __typename'])(
    'page info answers %s of the page info alone',
    async (selected) => {
      const data = await ask(`{ itemCollection(first: 2) { pageInfo { ${selected} } } }`);
      const known = { hasPreviousPage: false, __typename: 'PageInfo', hasNextPage: true, startCursor: 'WzFd' };
      const expected = selected.split(' ').map((key) => [key, known[key as keyof typeof known]]);
      expect(data.itemCollection).toEqual({ pageInfo: Object.fromEntries(expected) });
      const last = await ask('{ itemCollection(last: 2) { pageInfo { hasNextPage } } }');
      expect(last.itemCollection).toEqual({ pageInfo: { hasNextPage: false } });
    },
  );
});

test('with the largest possible limit, hasNextPage is still answered', async () => {
  const huge = `comment on table lib.item is '@graphql({"max_rows": 2147483647})'`;
  const reader = await openReader(['query-pages.sql', huge], { limits: null });
  const flags = { pageInfo: { hasNextPage: false } };
  expect(await reader.ask('{ itemCollection { pageInfo { hasNextPage } } }')).toEqual({ itemCollection: flags });
  const two =
    '{ a: itemCollection { pageInfo { hasNextPage } } b: itemCollection(last: 2147483647) { edges { node { id } } } }';
  expect(await reader.ask(two)).toMatchObject({ a: flags, b: { edges: expect.any(Array) } });
});
