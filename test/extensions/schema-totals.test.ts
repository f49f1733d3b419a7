/** Totals and aggregates for all tables of a schema (extension `reads`). */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader, tableOf } from '../support/read-model.ts';

const on = '{"enabled": true}';
const database = await createDatabase(`
  create schema shop; create schema side; grant usage on schema shop, side to anon;
  comment on schema shop is '@graphql({"inflect_names": true, "totalCount": ${on}, "aggregate": ${on}})';
  comment on schema side is '@graphql({"inflect_names": true})';
  create table shop.item (id int primary key, price int);
  create table shop.part (id int primary key, item_id int references shop.item);
  create table shop.plain (id int primary key);
  create table shop.counted (id int primary key);
  create table shop.unclear (id int primary key);
  create view shop.seen as select id from shop.item;
  comment on table shop.plain is '@graphql({"totalCount": {"enabled": false}, "aggregate": {"enabled": "false"}})';
  comment on table shop.counted is '@graphql({"aggregate": {"enabled": false}})';
  comment on table shop.unclear is '@graphql({"totalCount": true, "aggregate": {}})';
  comment on view shop.seen is '@graphql({"primary_key_columns": ["id"]})';
  create table side.pile (id int primary key);
  create table side.taken (id int primary key);
  comment on table side.taken is '@graphql({"name": "ItemAggregate"})';
  create table side.sum (id int primary key);
  comment on table side.sum is '@graphql({"name": "PartSumAggregateResult"})';
  insert into shop.item values (1, 5), (2, 6); insert into shop.part values (7, 1); insert into shop.counted values (1);
  grant select on all tables in schema shop, side to anon;
`);
const schemas = ['shop', 'side'];

test('totals are those of the schema, unless the comment of the table says otherwise', async () => {
  const model = await modelReader(database).model(schemas);
  const switches = (name: string) => {
    const { totalCount, aggregate } = tableOf(model, name);
    return [totalCount, aggregate];
  };
  expect(switches('Part')).toEqual([true, true]);
  expect(switches('Seen')).toEqual([true, true]);
  expect(switches('Plain')).toEqual([false, false]);
  expect(switches('Counted')).toEqual([true, false]);
  // Nothing that a switch can be read from is no word of its own.
  expect(switches('Unclear')).toEqual([true, true]);
  expect(switches('Pile')).toEqual([false, false]);
});

test('totals are answered at the root and in nested collections', async () => {
  const execution = await startExecution(database, { schemas });
  const query =
    '{ itemCollection { totalCount nodes { id partCollection { totalCount aggregate { count max { id } } } } } }';
  const of = (totalCount: number, max: number | null) => ({
    totalCount,
    aggregate: { count: totalCount, max: { id: max } },
  });
  expect(await execution.data('anon', query)).toEqual({
    itemCollection: {
      totalCount: 2,
      nodes: [
        { id: 1, partCollection: of(1, 7) },
        { id: 2, partCollection: of(0, null) },
      ],
    },
  });
});

test('totals take no type of another table, which is reported with a way out', async () => {
  const reader = modelReader(database);
  const model = await reader.model(schemas);
  expect(tableOf(model, 'ItemAggregate')).toBeDefined();
  expect(tableOf(model, 'Item')).toMatchObject({ aggregate: false, totalCount: true });
  const { aggregate, columns } = tableOf(model, 'Part');
  expect([aggregate, columns.map(({ sum }) => sum), columns.map(({ max }) => max)]).toEqual([
    true,
    [null, null],
    ['Int', 'Int'],
  ]);
  const found = (await reader.omissions(schemas)).filter(({ kind }) => kind === 'name');
  expect(found.map(({ object, reason, fix }) => `${object} ${reason} ${fix}`).join('\n')).toMatchInlineSnapshot(`
    "shop.item Table shop.item would have the type "ItemAggregate", and table side.taken has that name already. comment on table shop.item is '@graphql({"name":"ShopItem"})';
    shop.part Table shop.part would have the type "PartSumAggregateResult", and table side.sum has that name already. comment on table shop.part is '@graphql({"name":"ShopPart"})';"
  `);
});

test('totals are those of the tables alone without the extension', async () => {
  const model = await modelReader(database, ['writes']).model(schemas);
  for (const { totalCount, aggregate } of model.tables.values())
    expect([totalCount, aggregate]).toEqual([false, false]);
});
