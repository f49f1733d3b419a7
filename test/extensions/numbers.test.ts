/** Big numbers as texts wherever they stand: `"numbers": "text"` in the comment of a schema (extension `reads`). */
import { expect, onTestFinished, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const numbersIn = (word: string) =>
  `comment on schema shop is '@graphql({"inflect_names": true, "aggregate": {"enabled": true}, "numbers": ${word}})'`;
const database = await createDatabase(
  `
  create schema shop; create schema side; grant usage on schema shop, side to anon;
  comment on schema side is '@graphql({"inflect_names": true, "aggregate": {"enabled": true}})';
  create table shop.item (id bigint primary key, small int, price numeric, weight float8, paid money, made date, kind text);
  insert into shop.item values (9007199254740993, 1, 0.1234567890123456789, 1.5, 2.50, '2024-05-01', 'a'), (2, 2, 1e30, 'NaN', 1, '2024-05-02', 'a'),
    (3, null, null, null, null, null, 'b');
  create table side.pile (id bigint primary key); insert into side.pile values (9007199254740993);
  create function shop.total() returns numeric stable language sql as 'select sum(id) from shop.item';
  create function shop.totals() returns bigint[] stable language sql as 'select array_agg(id order by id) from shop.item';
  grant select on all tables in schema shop, side to anon;
`,
  numbersIn('"text"'),
);
const options = { schemas: ['shop', 'side'] } as const;
const execution = await startExecution(database, options);

const functions =
  'count sum { id small price weight paid } avg { small price } min { id small price } max { id small price weight made }';
const ofGroup = {
  count: 2,
  sum: {
    id: '9007199254740995',
    small: '3',
    price: '1000000000000000000000000000000.1234567890123456789',
    weight: 'NaN',
    paid: '3.50',
  },
  avg: { small: '1.5000000000000000', price: '500000000000000000000000000000.0617283945061728395' },
  min: { id: '2', small: 1, price: '0.1234567890123456789' },
  max: {
    id: '9007199254740993',
    small: 2,
    price: '1000000000000000000000000000000',
    weight: 'NaN',
    made: '2024-05-02',
  },
};

test('big numbers are exact texts in aggregates and groups', async () => {
  const query = `{ itemCollection(filter: {small: {gt: 0}}) { aggregate { ${functions} distinctCount { id } } } }`;
  const { itemCollection } = await execution.data('anon', query);
  expect(itemCollection.aggregate).toEqual({ ...ofGroup, distinctCount: { id: 2 } });
  const groups = `groups(by: [{column: kind}], having: {sum: {id: {gte: "0"}}}, orderBy: [{sum: {id: DescNullsLast}}]) { key { kind } ${functions} }`;
  const grouped = await execution.data('anon', `{ itemCollection { ${groups} } }`);
  const none = {
    count: 1,
    sum: { id: '3', small: null, price: null, weight: null, paid: null },
    avg: { small: null, price: null },
    min: { id: '3', small: null, price: null },
    max: { id: '3', small: null, price: null, weight: null, made: null },
  };
  expect(grouped.itemCollection.groups).toEqual([
    { key: { kind: 'a' }, ...ofGroup },
    { key: { kind: 'b' }, ...none },
  ]);
});

test('big numbers have one form in rows, results of functions and aggregates', async () => {
  const query =
    '{ itemCollection(first: 1, orderBy: [{id: DescNullsLast}]) { nodes { id price } aggregate { max { id } } } total totals }';
  expect(await execution.data('anon', query)).toEqual({
    itemCollection: {
      nodes: [{ id: '9007199254740993', price: '0.1234567890123456789' }],
      aggregate: { max: { id: '9007199254740993' } },
    },
    total: '9007199254740998',
    totals: ['2', '3', '9007199254740993'],
  });
});

test('big numbers stay numbers in aggregates of other schemas, and without the extension', async () => {
  const text = async (asked: typeof execution, query: string) => (await asked.answer('anon', query)).body.toString();
  expect(await text(execution, '{ pileCollection { aggregate { max { id } } } }')).toContain('"id":9007199254740993');
  const own = `comment on table shop.item is '@graphql({"aggregate": {"enabled": true}})'`;
  onTestFinished(async () => void (await database.query('comment on table shop.item is null')));
  await database.query(own);
  const plain = await startExecution(database, { ...options, extensions: [] });
  expect(await text(plain, '{ itemCollection { aggregate { max { id } } } }')).toContain('"id":9007199254740993');
});

test('a wrong word is an error of the directive, where the extension reads it', async () => {
  onTestFinished(async () => void (await database.query(numbersIn('"text"'))));
  await database.query(numbersIn('true'));
  const ask = async (extensions: readonly 'reads'[]) =>
    (await startExecution(database, { ...options, extensions })).errors(
      'anon',
      '{ itemCollection { edges { cursor } } }',
    );
  expect(await ask([])).toEqual([]);
  expect((await ask(['reads']))[0]).toContain('shop: "numbers" must be "text"');
});
