/** A total count that goes no further than it must (extension `counts`). */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create table shelf (id int primary key);
  create table book (id int primary key, shelf_id int references shelf, title text);
  insert into shelf values (1), (2);
  insert into book select n, 1 + n % 2, 'book ' || n from generate_series(1, 40) n;
  comment on table book is '@graphql({"totalCount": {"enabled": true}})';
  comment on schema public is '@graphql({"inflect_names": true})';
  create function books() returns setof book volatile language sql as 'select * from book';
  grant select on all tables in schema public to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });
const total = async (field: string, variables = {}, declared = '') => {
  const { bookCollection } = await execution.data('anon', `query ${declared} { bookCollection { ${field} } }`, {
    variables,
  });
  return bookCollection;
};

test('counts no further than atMost', async () => {
  expect(await total('totalCount(atMost: 7)')).toEqual({ totalCount: 7 });
  expect(await total('totalCount(atMost: 40)')).toEqual({ totalCount: 40 });
  expect(await total('totalCount(atMost: 41)')).toEqual({ totalCount: 40 });
  expect(await total('totalCount(atMost: 0)')).toEqual({ totalCount: 0 });
  expect(await total('totalCount(atMost: null)')).toEqual({ totalCount: 40 });
  expect(await total('a: totalCount(atMost: 3) b: totalCount c: totalCount(atMost: 5)')).toEqual({ a: 3, b: 40, c: 5 });
});

test('atMost may be a variable, which is no part of the statement', async () => {
  const declared = '($n: Int)';
  expect(await total('totalCount(atMost: $n)', { n: 9 }, declared)).toEqual({ totalCount: 9 });
  expect(await total('totalCount(atMost: $n)', {}, declared)).toEqual({ totalCount: 40 });
  expect(await total('totalCount(atMost: $n)', { n: null }, declared)).toEqual({ totalCount: 40 });
  const query = `query ${declared} { bookCollection { totalCount(atMost: $n) } }`;
  const texts = await Promise.all(
    [1, 30].map(async (n) => (await execution.statements('anon', query, { variables: { n } }))[0]?.text),
  );
  expect(texts[0]).toBe(texts[1]);
});

test('a count may be used beside pages, in nested collections and on results of functions', async () => {
  expect(await total('totalCount(atMost: 4) edges { node { id } }')).toMatchObject({ totalCount: 4 });
  expect((await total('totalCount(atMost: 4) edges { node { id } }')).edges).toHaveLength(30);
  expect(await total('totalCount(atMost: 4) again: totalCount edges { cursor }')).toMatchObject({
    totalCount: 4,
    again: 40,
  });
  const empty = `{ bookCollection(filter: {id: {lt: 0}}) { totalCount(atMost: 4) edges { node { id } } } }`;
  expect(await execution.data('anon', empty)).toEqual({ bookCollection: { totalCount: 0, edges: [] } });
  const nested = '{ shelfCollection { edges { node { bookCollection { totalCount(atMost: 6) } } } } }';
  const { shelfCollection } = await execution.data('anon', nested);
  expect(shelfCollection.edges[0].node).toEqual({ bookCollection: { totalCount: 6 } });
  const called = await execution.data('anon', 'mutation { books { totalCount(atMost: 2) edges { node { id } } } }');
  expect(called.books.totalCount).toBe(2);
});

test('reads no more rows than it counts', async () => {
  const [statement] = await execution.statements('anon', '{ bookCollection { totalCount(atMost: 3) } }');
  const plan = await database.query(`explain (analyze, format json) ${statement!.text}`);
  expect(JSON.stringify(plan)).toMatch(/"Node Type":"Limit"[^{}]*?"Actual Rows":3/);
});

test('a negative number is refused, and a large one counts for the cost', async () => {
  const query = '{ bookCollection { totalCount(atMost: -1) } }';
  const { errors } = await execution.run('anon', query);
  expect(errors).toMatchObject([
    {
      message: '`atMost` must be an unsigned integer',
      path: ['bookCollection'],
      extensions: { code: 'BAD_USER_INPUT' },
    },
  ]);
  const nested = (atMost: number) =>
    `{ shelfCollection(first: 10) { edges { node { bookCollection(first: 1) { totalCount(atMost: ${atMost}) } } } } }`;
  const cheap = await startExecution(database, { limits: { maxCost: 119 } });
  expect(await cheap.errors('anon', nested(9))).toEqual([]);
  expect(await cheap.errors('anon', nested(10))).toEqual([
    'The operation has 120 rows at most, more than the limit of 119 (option --max-cost).',
  ]);
});

test('without the extension there is no such argument', async () => {
  const none = await startExecution(database, { extensions: [], introspection: 'always' });
  const query = '{ __type(name: "BookConnection") { fields { name args { name type { name } } } } }';
  const args = async (from: typeof none) => {
    const { __type } = await from.data('anon', query);
    return __type.fields.find(({ name }: { name: string }) => name === 'totalCount').args;
  };
  expect(await args(none)).toEqual([]);
  expect(await args(execution)).toEqual([{ name: 'atMost', type: { name: 'Int' } }]);
});
