import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quoteName } from '../../src/graphql/catalog/quote-name.ts';
import { supportedVersions } from '../../src/postgres/supported.ts';
import { createDatabase } from '../support/postgres.ts';
import { columnOf, modelReader, relationshipsOf, routineOf, tableNames, tableOf } from '../support/read-model.ts';

const database = await createDatabase(`
create schema off; create schema inflected; comment on schema inflected is '@graphql({"inflect_names": true})';
grant usage on schema off, inflected to anon;

create table off.loan_item (id int primary key, due_on date, "DueBy" date);
create table off."Invoice" (id int primary key, "customerId" int, customer_id int, payer_id int);
create table off."Customer" (id int primary key);
create table off.customer (id int primary key);
alter table off."Invoice" add foreign key ("customerId") references off."Customer";
alter table off."Invoice" add foreign key (customer_id) references off.customer;
create function off.RenewLoan("Days_Left" int) returns int stable language sql as 'select 1';
create function off."RenewLoan"("Days_Left" int) returns int stable language sql as 'select 1';
create function off._shelf_label(off.loan_item) returns text stable language sql as 'select $1.id::text';

create table inflected.loan_item (id int primary key, due_on date, loan_state text, "loanState" int);
comment on table inflected.loan_item is '@graphql({"name": "Tome", "description": "A book.", "max_rows": "7", "totalCount": {"enabled": "true"}, "aggregate": {"enabled": 1}})';
comment on column inflected.loan_item.due_on is '@graphql({"name": "DUE", "description": "When."})';
create function inflected._shelf_label(inflected.loan_item) returns text stable language sql as 'select $1.id::text';
create function inflected.renew_loan(days_left int) returns int stable language sql as 'select 1';
comment on function inflected.renew_loan is '@graphql({"name": "Renew", "description": 5})';
create table inflected.clerk (id int primary key, "clerkId" int references inflected.clerk, boss_id int references inflected.clerk, _id int references inflected.clerk);
create type inflected.loan_state as enum ('a b', 'ok', 'true', 'x');
comment on type inflected.loan_state is '@graphql({"name": "State", "mappings": {"a b": "A_B", "x": "ok", "nope": "NO"}})';
create table inflected.customer (id int primary key);
create table inflected.invoice (id int primary key, "billTo" int references inflected.customer);
create table inflected.card (id int primary key, patron_id int unique references inflected.customer);
create table inflected.annex (id int primary key references inflected.customer);
create table inflected.keyed (patron_id int primary key);
create table inflected.one_to_one (id int primary key, k int unique references inflected.keyed);
create table inflected.pair (a int, b int, primary key (a, b));
create table inflected.to_pair (id int primary key, a int, b int, unique (a), foreign key (a, b) references inflected.pair);
create table inflected.to_pair_many (id int primary key, pa int not null, pb int, foreign key (pb, pa) references inflected.pair (b, a));
create table inflected.named (id int primary key, x_id int constraint named_x references inflected.customer, y_id int);
comment on constraint named_x on inflected.named is '@graphql({"foreign_name": "Customer", "local_name": "NamedOnes"})';
create table inflected.partial (id int primary key, c_id int references inflected.customer, e_id int references inflected.customer, i_id int references inflected.customer);
create unique index on inflected.partial (c_id) where id > 5;
create unique index on inflected.partial ((e_id + 0));
create unique index on inflected.partial (i_id) include (e_id);
create table inflected.guarded (id int primary key); alter table inflected.guarded enable row level security;
create table inflected.to_guarded (id int primary key, guarded_id int not null references inflected.guarded, node_id int);
create view inflected.card_view as select id, patron_id from inflected.card;
comment on view inflected.card_view is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [
  {"local_columns": ["patron_id"], "foreign_schema": "inflected", "foreign_table": "customer", "foreign_columns": ["id"]},
  {"local_columns": ["id"], "foreign_schema": "inflected", "foreign_table": "customer", "foreign_columns": ["id"], "foreign_name": "owner", "local_name": "views"},
  {"local_columns": ["id"], "foreign_schema": "inflected", "foreign_table": "customer", "foreign_columns": ["nope"]},
  {"local_columns": ["id"], "foreign_schema": "pg_catalog", "foreign_table": "pg_class", "foreign_columns": ["oid"]},
  {"local_columns": ["id", "patron_id"], "foreign_schema": "inflected", "foreign_table": "guarded", "foreign_columns": ["id"], "foreign_name": "surplus"}]})';
grant all on all tables in schema off, inflected to anon;
`);
const reader = modelReader(database);
const off = await reader.model(['off']);
const on = await reader.model(['inflected']);

test('with inflection off names are verbatim, except that routines and arguments start small', () => {
  expect(tableNames(off)).toEqual(['loan_item', 'Invoice', 'Customer', 'customer']);
  expect(tableOf(off, 'loan_item').columns.map((column) => column.fieldName)).toEqual(['id', 'due_on', 'DueBy']);
  expect(routineOf(off, 'RenewLoan')).toMatchObject({
    fieldName: 'renewLoan',
    arguments: [{ fieldName: 'days_Left', name: 'Days_Left' }],
  });
  expect(routineOf(off, 'renewloan')?.fieldName).toBe('renewloan');
  expect(routineOf(off, '_shelf_label')).toMatchObject({ use: 'computed', fieldName: 'shelf_label' });
});

test('with inflection on a directive still wins, verbatim', () => {
  const tome = tableOf(on, 'Tome');
  expect(tome).toMatchObject({ description: 'A book.', maxRows: 7, totalCount: true, aggregate: false });
  expect(columnOf(tome, 'due_on')).toMatchObject({ fieldName: 'DUE', description: 'When.' });
  expect(routineOf(on, 'renew_loan')).toMatchObject({
    fieldName: 'Renew',
    description: '5',
    arguments: [{ fieldName: 'daysLeft' }],
  });
  expect(routineOf(on, '_shelf_label')?.fieldName).toBe('shelfLabel');
});

test('an enum has mapped names; labels that GraphQL cannot spell have none; unknown labels are ignored', () => {
  expect([...on.enums.values()]).toMatchObject([
    {
      graphqlName: 'State',
      mapped: true,
      values: [
        { label: 'a b', graphqlName: 'A_B' },
        { label: 'ok', graphqlName: 'ok' },
        { label: 'true', graphqlName: null },
        { label: 'x', graphqlName: 'ok' },
      ],
    },
  ]);
});

test('of two labels with one name the last in byte order has it, however the directive is written', async () => {
  const names = async (mappings: string) => {
    await database.query(`comment on type inflected.loan_state is '@graphql({"mappings": ${mappings}})'`);
    const model = await reader.model(['inflected']);
    return [...model.enums.values()][0]?.values.map((value) => value.graphqlName);
  };
  const expected = [null, 'ok', null, 'SAME'];
  expect(await names('{"ok": "SAME", "x": "SAME"}')).toEqual(expected);
  expect(await names('{"x": "SAME", "ok": "SAME"}')).toEqual(expected);
});

test('to-one fields are named after their column or their target, to-many fields after the table', () => {
  expect(relationshipsOf(off, 'Invoice')).toEqual([
    'outbound customer: one Customer',
    'outbound customer: one customer',
  ]);
  expect(relationshipsOf(off, 'Customer')).toEqual(['inbound invoiceCollection: many Invoice']);
  expect(relationshipsOf(on, 'Invoice')).toEqual(['outbound customer: one Customer']);
  expect(relationshipsOf(on, 'Clerk')).toEqual([
    'outbound clerk: one Clerk',
    'outbound boss: one Clerk',
    'inbound clerkCollection: many Clerk',
    'inbound clerkCollection: many Clerk',
    'inbound clerkCollection: many Clerk',
  ]);
});

test('a foreign key on a unique key is to-one on both sides, and the field back is named after the referenced column', () => {
  expect(relationshipsOf(on, 'Card')).toEqual(['outbound patron: one Customer']);
  expect(relationshipsOf(on, 'Annex')).toEqual(['outbound customer: one Customer!']);
  expect(relationshipsOf(on, 'Keyed')).toEqual(['inbound patron: one OneToOne']);
  expect(relationshipsOf(on, 'Pair')).toEqual([
    'inbound toPair: one ToPair',
    'inbound toPairManyCollection: many ToPairMany',
  ]);
});

test('pairs of columns come in constraint order, and one required column makes the field non-null', () => {
  const [outbound] = tableOf(on, 'ToPairMany').relationships;
  expect(outbound).toMatchObject({
    nullable: false,
    unique: true,
    pairs: [
      { local: 3, foreign: 2 },
      { local: 2, foreign: 1 },
    ],
  });
  const inbound = tableOf(on, 'Pair').relationships.find((relationship) => relationship.cardinality === 'many');
  expect(inbound).toMatchObject({
    nullable: true,
    unique: false,
    pairs: [
      { local: 2, foreign: 3 },
      { local: 1, foreign: 2 },
    ],
  });
});

test('row security on the referenced table makes the field nullable', () => {
  expect(relationshipsOf(on, 'ToGuarded')).toEqual(['outbound guarded: one Guarded']);
});

test('names of a constraint directive are verbatim on both sides', () => {
  expect(relationshipsOf(on, 'Named')).toEqual(['outbound Customer: one Customer']);
  expect(relationshipsOf(on, 'Customer')).toContain('inbound NamedOnes: many Named');
});

test('partial and expression indexes do not make a relationship to-one; included columns of an index change nothing', () => {
  const inbound = tableOf(on, 'Customer').relationships.filter(({ target }) => target === tableOf(on, 'Partial').oid);
  expect(inbound.map(({ cardinality }) => cardinality)).toEqual(['many', 'many', 'one']);
});

test('directive foreign keys of a view behave like real ones; unknown targets and columns are skipped', () => {
  expect(relationshipsOf(on, 'CardView')).toEqual([
    'outbound patron: one Customer',
    'outbound owner: one Customer',
    'outbound surplus: one Guarded',
  ]);
  const back = relationshipsOf(on, 'Customer').filter((relationship) => relationship.endsWith('CardView'));
  expect(back).toEqual(['inbound cardViewCollection: many CardView', 'inbound views: many CardView']);
});

test('a relationship needs every column on both sides to be readable', async () => {
  await database.query(
    'revoke select on inflected.customer from anon; grant select (id) on inflected.customer to anon',
  );
  expect(relationshipsOf(await reader.model(['inflected']), 'Card')).toHaveLength(1);
  await database.query('revoke select on inflected.card from anon; grant select (id) on inflected.card to anon');
  const model = await reader.model(['inflected']);
  expect(relationshipsOf(model, 'Card')).toEqual([]);
  expect(relationshipsOf(model, 'Customer')).not.toContain('inbound id: one Card');
  await database.query('grant select on inflected.card, inflected.customer to anon');
});

test('a column that would be nodeId stays, and is noted', async () => {
  const omission = (await reader.omissions(['inflected'])).find(
    ({ object }) => object === 'inflected.to_guarded.node_id',
  );
  expect(omission).toMatchObject({ kind: 'name', fix: expect.stringContaining('"name":"node_id"') });
});

test('every word that the server reserves is quoted', async () => {
  const words = await database.query<{ word: string; version: number }>(
    `select word, current_setting('server_version_num')::int / 10000 as version from pg_get_keywords()
    where catcode in ('R', 'T') order by word collate "C"`,
  );
  expect(words.filter(({ word }) => quoteName(word) === word)).toEqual([]);
  // An update against a server of the newest version writes the list.
  if (words[0]!.version < supportedVersions.at(-1)!) return;
  const text = `/**
 * Words that cannot name a table or column without quotes: \`pg_get_keywords()\` of the newest supported version, in which those of
 * the older ones are. Written by \`npm run test:update\` (test/catalog/names.test.ts).
 */

/** With spaces between them. */
export const reservedWords =
  '${words.map(({ word }) => word).join(' ')}';
`;
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, '../../src/graphql/catalog/reserved-words.ts'));
});
