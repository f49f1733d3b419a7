/**
 * Several exposed namespaces: which object answers, what introspection hides, and settings of the role.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const two = `
  create schema lib; create schema billing; create schema outside;
  grant usage on schema lib, billing, outside to anon;
  comment on schema lib is '@graphql({"introspection": true, "max_rows": 2})';
  create type outside.grade as enum ('low', 'high');
  create table lib.item (id int primary key, grade outside.grade);
  create table billing.item (id int primary key, owner text);
  create table billing.invoice (id int primary key, item_id int references lib.item (id));
  create view lib.item_view as select id from lib.item;
  comment on view lib.item_view is '@graphql({"primary_key_columns": ["id"]})';
  create view lib.view_of_view as select id from lib.item_view;
  comment on view lib.view_of_view is '@graphql({"primary_key_columns": ["id"], "max_rows": 3})';
  set check_function_bodies = off;
  create function billing.total() returns int stable language sql as 'select count(*)::int from invoice';
  reset check_function_bodies;
  create table lib."Float" (id int primary key);
  insert into lib.item select n, 'high' from generate_series(1, 5) n;
  insert into billing.item values (9, 'nobody');
  insert into billing.invoice values (1, 1), (2, 1), (3, null);
  grant select on all tables in schema lib, billing to anon;`;
const { ask, errors, column, execution, database } = await openReader([two], { schemas: ['lib', 'billing'] });

describe('of two namespaces', () => {
  test('the first one has the name that both have', async () => {
    expect(await column('itemCollection', 'id')).toEqual([1, 2]);
    expect(await errors('{ itemCollection { edges { node { owner } } } }')).toHaveLength(1);
    const { node } = await ask(
      `{ node(nodeId: "${Buffer.from('["lib", "item", 1]').toString('base64')}") { __typename } }`,
    );
    expect(node).toEqual({ __typename: 'item' });
  });

  test('tables refer to each other', async () => {
    const data = await ask(
      '{ invoiceCollection { edges { node { id item { id grade invoiceCollection { edges { node { id } } } } } } } }',
    );
    expect(data.invoiceCollection.edges[0].node).toEqual({
      id: 1,
      item: { id: 1, grade: 'high', invoiceCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } },
    });
    expect(data.invoiceCollection.edges[2].node.item).toBeNull();
  });

  test('the limit is that of the table, else of its own namespace', async () => {
    expect(await column('item_viewCollection', 'id')).toEqual([1, 2]);
    expect(await column('view_of_viewCollection(first: 9)', 'id')).toEqual([1, 2, 3]);
    expect(await column('invoiceCollection', 'id')).toEqual([1, 2, 3]);
  });

  test('functions find the tables of all of them', async () => {
    expect(await ask('{ total }')).toEqual({ total: 3 });
  });

  test('introspection shows only those whose comment enables it, and the others are still read', async () => {
    const data = await ask(`{
      item: __type(name: "item") { name } invoice: __type(name: "invoice") { name } nope: __type(name: "nope") { name }
      __type(name: "Query") { fields { name } } invoiceCollection(first: 1) { edges { node { id } } } total }`);
    expect(data).toMatchObject({
      item: { name: 'item' },
      invoice: null,
      nope: null,
      invoiceCollection: { edges: [{ node: { id: 1 } }] },
      total: 3,
    });
    const names = data.__type.fields.map(({ name }: { name: string }) => name);
    expect(names).toContain('itemCollection');
    expect(names).not.toContain('invoiceCollection');
    expect(names).not.toContain('total');
  });

  test('an enum outside of them is text that is not checked; exposed, it is an enum', async () => {
    expect(await column('itemCollection(filter: {grade: {eq: "high"}}, first: 1)', 'grade')).toEqual(['high']);
    const more = await openReader([two], { schemas: ['lib', 'outside'] });
    expect(await more.column('itemCollection(filter: {grade: {in: [high, low]}}, first: 1)', 'grade')).toEqual([
      'high',
    ]);
    expect(await more.errors('{ itemCollection(filter: {grade: {eq: "middle"}}) { edges { cursor } } }')).toHaveLength(
      1,
    );
  });

  test('a table named like a type of the API is left out, and the others are answered', async () => {
    expect(await errors('{ FloatCollection { edges { cursor } } }')).toHaveLength(1);
    expect(await errors('{ floatCollection { edges { cursor } } }')).toHaveLength(1);
  });
});

test('text forms of values follow the settings of the role', async () => {
  await database.query(`create function lib.moment() returns timestamptz stable language sql as $$ select timestamptz '2024-05-01 10:00:00+00' $$;
    create function lib.length() returns interval stable language sql as $$ select interval '1 day 2 hours' $$`);
  await execution.reload();
  expect(await ask('{ moment length }')).toEqual({ moment: '2024-05-01T10:00:00+00:00', length: '1 day 02:00:00' });
  await database.query(`alter role anon in database ${database.name} set timezone = 'Asia/Tokyo'`);
  await database.query(`alter role anon in database ${database.name} set intervalstyle = 'iso_8601'`);
  await execution.reload();
  expect(await ask('{ moment length }')).toEqual({ moment: '2024-05-01T19:00:00+09:00', length: 'P1DT2H' });
});
