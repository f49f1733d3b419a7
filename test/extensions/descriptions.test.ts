/** What introspection says beside names and types. */
import { getIntrospectionQuery } from 'graphql';
import { expect, test } from 'vitest';
import type { ExtensionName } from '../../src/config/extensions.ts';
import { printRoleSchema } from '../../src/graphql/schema/build-schema.ts';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create schema shop; create schema side; grant usage on schema shop, side to anon;
  comment on schema shop is '@graphql({"inflect_names": true, "introspection": true})';
  comment on schema side is '@graphql({"inflect_names": true, "introspection": true, "extensions": false})';
  create table shop.item (id int primary key, name text, price numeric, secret text, made date, told text);
  create table shop.part (id int primary key, item_id int references shop.item);
  create table shop.hidden (id int primary key, note text);
  create table side.pile (id int primary key);
  comment on table shop.item is e'  Things for sale.\\nTwo lines. ';
  comment on column shop.item.name is 'Shown to customers.';
  comment on column shop.item.secret is 'TOPSECRET margin';
  comment on column shop.item.made is 'Unused: @graphql({"description": "Day of production."})';
  comment on column shop.item.told is 'prose @graphql({"name": "spoken"})';
  comment on table shop.hidden is 'TOPSECRET table';
  comment on column shop.hidden.note is 'TOPSECRET column';
  comment on table shop.part is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  comment on table side.pile is 'Not shown.';
  create function shop.hello() returns text stable language sql as $$ select 'hello' $$;
  comment on function shop.hello is 'A comment of a function.';
  grant select (id, name, price, made, told), insert (id, name, secret), update (name) on shop.item to anon;
  grant all on shop.part, side.pile to anon;
`);
const start = (extensions?: readonly ExtensionName[]) =>
  startExecution(database, { schemas: ['shop', 'side'], ...(extensions && { extensions }) });
const [all, none] = [await start(), await start([])];

const introspect = async (execution: TestExecution, role = 'anon') => execution.data(role, getIntrospectionQuery());

async function describe(type: string, execution = all) {
  const query = `{ __type(name: "${type}") { description fields { name description args { name description } } inputFields { name description } enumValues { name description } } }`;
  const { __type } = await execution.data('anon', query);
  const found: Record<string, string | null> = { '': __type.description };
  for (const each of __type.fields ?? __type.inputFields ?? __type.enumValues ?? []) {
    found[each.name] = each.description;
    for (const argument of each.args ?? []) found[`${each.name}(${argument.name})`] = argument.description;
  }
  return found;
}

test('comments without a directive describe tables and columns; a directive wins', async () => {
  expect(await describe('Item')).toMatchObject({
    '': 'Things for sale.\nTwo lines.',
    name: 'Shown to customers.',
    made: 'Day of production.',
    spoken: null,
    price: null,
    nodeId: 'Global id of the row.',
  });
});

test('entrypoints, their arguments and what they answer are described', async () => {
  expect(await describe('Query')).toMatchObject({
    '': expect.any(String),
    node: 'The row with this global id.',
    'node(nodeId)': 'Global id of the row.',
    itemCollection: 'Rows of Item, in pages.',
    'itemCollection(first)': 'The first n rows.',
    'itemCollection(orderBy)': expect.any(String),
    partByPk: 'The row of Part with this primary key.',
    'partByPk(id)': 'The id of the row.',
    hello: null,
  });
  expect(await describe('Mutation')).toMatchObject({
    insertIntoPartCollection: 'Adds rows to Part.',
    'insertIntoPartCollection(objects)': 'The rows to add.',
    'updatePartCollection(atMost)': 'Fails where more rows than this match.',
    deleteFromPartCollection: 'Deletes rows of Part.',
  });
  expect(await describe('PartConnection')).toMatchObject({ totalCount: 'How many rows match the filter.' });
  expect(await describe('PartFilter')).toMatchObject({
    and: 'All of these hold.',
    id: null,
    item: 'The related row of Item matches.',
  });
  expect(await describe('PartCollectionFilter')).toMatchObject({ some: 'At least one related row matches.' });
  expect(await describe('PartAggregateFilter')).toMatchObject({ sum: 'Sum, of each column.' });
  expect(await describe('PartInsertResponse')).toMatchObject({ affectedCount: 'How many rows were written.' });
  expect(await describe('PartSumAggregateResult')).toMatchObject({ itemId: null });
  expect(await describe('StringFilter')).toMatchObject({ '': 'Conditions on String values.' });
  expect(await describe('IntListFilter')).toMatchObject({ '': 'Conditions on Int lists.' });
  expect(await describe('OrderByDirection')).toMatchObject({ AscNullsFirst: 'Ascending, nulls first.' });
  const connection = await describe('Item');
  expect(connection['partCollection(after)']).toBe('Rows after this cursor.');
});

test('what the role does not see is not mentioned', async () => {
  const text = JSON.stringify(await introspect(all));
  expect(text).toContain('Shown to customers.');
  expect(text).toContain('"secret"');
  expect(text).not.toContain('TOPSECRET');
  const { shared } = await all.role('anon');
  expect(printRoleSchema(shared.model)).not.toContain('TOPSECRET');
});

test('a schema whose comment switches them off has none, and without them there is nothing but directives', async () => {
  const rows = Object.entries(await describe('Pile')).concat(Object.entries(await describe('PileFilter')));
  expect(rows.filter(([, description]) => description !== null)).toEqual([]);
  expect(await describe('Query')).toMatchObject({ pileCollection: null, 'pileCollection(first)': null });
  const plain = JSON.stringify(await introspect(none));
  for (const said of ['Shown to customers.', 'Rows of', 'Global id', 'Conditions on', 'Ascending'])
    expect(plain).not.toContain(said);
  expect(plain).toContain('Day of production.');
});

test('the printed schema has the same descriptions as introspection', async () => {
  const { shared } = await all.role('anon');
  const printed = printRoleSchema(shared.model);
  expect(printed).toContain('"""Rows of Item, in pages."""');
  expect(printed).toContain('"""Ascending, nulls first."""');
  expect(printed).toContain('Things for sale.');
  expect(printed).not.toContain('Not shown.');
});

test('a changed comment is described at once', async () => {
  await database.query(`comment on column shop.part.item_id is 'First.'`);
  await all.reload();
  expect(await describe('Part')).toMatchObject({ itemId: 'First.' });
  await database.query(`comment on column shop.part.item_id is 'Second.'`);
  expect(await all.compare()).toBe(true);
  expect(await describe('Part')).toMatchObject({ itemId: 'Second.' });
});

test('a table is not described by the words of something else that has its name', async () => {
  await database.query(`
    create schema odd; grant usage on schema odd to anon;
    comment on schema odd is '@graphql({"inflect_names": false, "introspection": true})';
    create table odd.constructor (id int primary key); create table odd."AscNullsFirst" (id int primary key);
    grant select on all tables in schema odd to anon;
  `);
  const odd = await startExecution(database, { schemas: ['odd'] });
  for (const name of ['constructor', 'AscNullsFirst']) expect((await describe(name, odd))['']).toBeNull();
  expect(await describe('OrderByDirection', odd)).toMatchObject({ AscNullsFirst: 'Ascending, nulls first.' });
});
