/** Aggregates that pg_graphql does not have: of samples, of flags, and the number of values of a column (docs/aggregates.md). */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create domain flag as bool;
  create table shop (id int primary key, name text);
  create table sale (id int primary key, shop_id int references shop, kind text, whole int, price numeric, weight float8, worth money, paid bool,
    sent flag, note jsonb, secret int, hidden bool not null default false);
  comment on table sale is '@graphql({"aggregate": {"enabled": true}})';
  insert into shop values (1, 'a'), (2, 'b'), (3, 'c');
  insert into sale values
    (1, 1, 'x', 2, 1.5, 0.5, 1, true, true, '{}', 1, false), (2, 1, 'x', 4, 2.5, 'NaN', 3, true, null, null, 1, false),
    (3, 1, 'y', 4, null, 1, null, false, true, null, null, false), (4, 2, null, null, 7, null, null, null, null, null, null, false),
    (5, 2, 'y', 100, 100, 100, 100, false, false, '{}', 9, true);
  grant select on shop, sale to authenticated; grant select on shop to anon;
  grant select (id, shop_id, kind, whole, price, weight, worth, paid, sent, note, hidden) on sale to anon;
  alter table sale enable row level security;
  create policy shown on sale to anon using (not hidden); create policy all_of_them on sale to authenticated using (true);
`);
const execution = await startExecution(database, { introspection: 'always' });
const ask = async (selection: string, given = '', role = 'anon') =>
  (await execution.data(role, `{ saleCollection${given} { ${selection} } }`)).saleCollection;

test('stddev and variance are those of a sample, null for less than two values', async () => {
  const figures = 'aggregate { stddev { whole price weight id } variance { __typename whole price weight worth } }';
  expect((await ask(figures)).aggregate).toEqual({
    stddev: { whole: 1.1547005383792515, price: 2.9297326385411577, weight: 'NaN', id: 1.2909944487358056 },
    variance: { __typename: 'SaleAvgAggregateResult', whole: 1.3333333333333333, price: 8.583333333333334, weight: 'NaN', worth: 2 },
  }); // biome-ignore format: one line each
  const one = await ask(figures, '(filter: {id: {eq: 3}})');
  expect(Object.values(one.aggregate.stddev)).toEqual([null, null, null, null]);
});

test('boolAnd and boolOr ignore nulls, and are null without values', async () => {
  const flags = 'aggregate { boolAnd { __typename paid sent } boolOr { paid sent hidden } }';
  expect((await ask(flags)).aggregate).toEqual({
    boolAnd: { __typename: 'SaleBoolAggregateResult', paid: false, sent: true },
    boolOr: { paid: true, sent: true, hidden: false },
  });
  expect((await ask(flags, '(filter: {id: {eq: 4}})')).aggregate.boolAnd).toMatchObject({ paid: null, sent: null });
  expect((await ask(flags, '', 'authenticated')).aggregate.boolOr.hidden).toBe(true);
});

test('count takes a column, whose nulls do not count', async () => {
  const counts = 'aggregate { count all: count(column: null) kinds: count(column: kind) prices: count(column: price) }';
  expect((await ask(counts)).aggregate).toEqual({ count: 4, all: 4, kinds: 3, prices: 3 });
  const query = 'query ($c: SaleColumn) { saleCollection { aggregate { count(column: $c) } } }';
  const counted = async (variables: Record<string, unknown>) =>
    (await execution.data('anon', query, { variables })).saleCollection.aggregate.count;
  expect([await counted({ c: 'whole' }), await counted({}), await counted({ c: null })]).toEqual([3, 4, 4]);
  // A column that the role may not select is none.
  expect(await execution.errors('anon', '{ saleCollection { aggregate { count(column: secret) } } }')).toEqual([
    expect.stringContaining('"secret" does not exist in "SaleColumn"'),
  ]);
});

test('groups have them, and are chosen and ordered by them', async () => {
  const groups = async (given: string, selection = 'key { shopId }') =>
    (await ask(`groups(by: {column: shopId}${given}) { ${selection} }`)).groups;
  expect(await groups('', 'key { shopId } stddev { whole } variance { price } boolAnd { paid } n: count(column: kind)')).toEqual([
    { key: { shopId: 1 }, stddev: { whole: 1.1547005383792515 }, variance: { price: 0.5 }, boolAnd: { paid: false }, n: 3 },
    { key: { shopId: 2 }, stddev: { whole: null }, variance: { price: null }, boolAnd: { paid: null }, n: 0 },
  ]); // biome-ignore format: one line each
  const of = async (given: string) => (await groups(given)).map(({ key }: { key: { shopId: number } }) => key.shopId);
  expect(await of(', having: {stddev: {whole: {gt: 1}}}')).toEqual([1]);
  expect(await of(', having: {variance: {price: {lte: "0.5"}}, boolOr: {paid: {eq: true}}}')).toEqual([1]);
  expect(await of(', having: {boolAnd: {paid: {is: NULL}}}')).toEqual([2]);
  expect(await of(', orderBy: {stddev: {whole: DescNullsFirst}}')).toEqual([2, 1]);
  expect(await of(', orderBy: {boolOr: {paid: AscNullsFirst}}')).toEqual([2, 1]);
});

test('rows are filtered and ordered by those of related rows, of the visible ones alone', async () => {
  const shops = async (given: string, role = 'anon') => {
    const { shopCollection } = await execution.data(role, `{ shopCollection(${given}) { edges { node { id } } } }`);
    return shopCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
  };
  const spread = 'filter: {saleCollection: {aggregate: {variance: {price: {gt: 1}}}}}'.replace('gt: 1', 'gt: "1"');
  expect(await shops(spread)).toEqual([]);
  expect(await shops(spread, 'authenticated')).toEqual([2]);
  expect(await shops('filter: {saleCollection: {aggregate: {boolOr: {hidden: {eq: true}}}}}')).toEqual([]);
  expect(await shops('orderBy: {saleCollection: {variance: {whole: DescNullsLast}}}')).toEqual([1, 2, 3]);
  expect(await shops('orderBy: {saleCollection: {boolAnd: {paid: AscNullsFirst}}}')).toEqual([2, 3, 1]);
});

describe('an order and a filter by aggregates name columns', () => {
  test.each([
    ['orderBy: {saleCollection: {sum: {kind: AscNullsLast}}}', '"kind" has no "sum": its type has none.'],
    ['orderBy: {saleCollection: {max: {shop: {name: AscNullsLast}}}}', '"max" takes columns. "shop" is none.'],
    ['orderBy: {saleCollection: {key: {kind: AscNullsLast}}}', '"key" orders groups. Related rows have none.'],
    ['filter: {saleCollection: {aggregate: {avg: {kind: {eq: "a"}}}}}', '"kind" has no "avg": its type has none.'],
    [
      'filter: {saleCollection: {aggregate: {boolOr: {whole: {eq: 1}}}}}',
      '"whole" has no "boolOr": its type has none.',
    ],
  ])('%s: others are refused', async (given, message) => {
    expect(await execution.errors('anon', `{ shopCollection(${given}) { edges { node { id } } } }`)).toEqual([message]);
  });
});

test('without the extension, and of a table without flags, nothing of it is there', async () => {
  const fields = async (on: typeof execution, type: string) => {
    const query = `{ __type(name: "${type}") { fields { name args { name } } } }`;
    const { __type } = await on.data('anon', query);
    return __type?.fields.map(({ name, args }: { name: string; args: unknown[] }) => `${name}${args.length}`) ?? null;
  };
  const plain = await startExecution(database, { introspection: 'always', extensions: [] });
  const contract = ['count0', 'sum0', 'avg0', 'min0', 'max0'];
  expect(await fields(plain, 'SaleAggregate')).toEqual(contract);
  expect(await fields(plain, 'SaleBoolAggregateResult')).toBeNull();
  expect(await fields(execution, 'SaleAggregate')).toEqual([
    ...['count1', ...contract.slice(1), 'distinctCount0', 'stddev0', 'variance0', 'boolAnd0', 'boolOr0', 'key0'],
  ]);
  expect(await fields(execution, 'SaleBoolAggregateResult')).toEqual(['paid0', 'sent0', 'hidden0']);
});
