import { expect, test } from 'vitest';
import { buildModel } from '../../src/graphql/model/build-model.ts';
import { explainMissing } from '../../src/graphql/model/explain-missing.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(
  fixture('lib.sql'),
  `create table lib.log (at timestamptz); grant select on lib.log to anon; create schema staff; create table staff.rota (id int primary key);
   create function lib.renew_loan(id int) returns int language sql as 'select 1'; revoke execute on function lib.renew_loan from public;
   revoke all on lib.loan from anon; revoke all on lib.patron from anon; grant select (id) on lib.patron to anon; revoke delete on lib.volume from anon;
   alter table lib.volume add column secret int; revoke select on lib.volume from anon;
   grant select (shelf_mark, title, tags, acquired_on), insert, update on lib.volume to anon`,
);
const reader = modelReader(database);
const explain = async (field: string, type: string | null = null) =>
  explainMissing(await reader.catalog(['lib', 'staff']), { role: 'anon', extensions: [] }, { field, type });

test('a table without privileges is explained under all its names', async () => {
  const expected = {
    reason: 'Table lib.loan exists; role anon has no SELECT.',
    fix: 'grant select on lib.loan to anon;',
  };
  const writes = [
    'insertIntoLoanCollection',
    'updateLoanCollection',
    'updateManyLoanCollection',
    'deleteFromLoanCollection',
  ];
  const ofRows = ['insertLoan', 'updateLoanByPk', 'deleteLoanByPk'];
  for (const name of ['loanCollection', 'loan', 'Loan', 'loanByPk', 'LoanFilter', 'LOAN', ...writes, ...ofRows]) {
    expect(await explain(name), name).toMatchObject(expected);
  }
  expect(await explain('loans', 'Query')).toMatchObject(expected);
  expect(await explain('records', 'LoanInsertResponse')).toMatchObject(expected);
  expect(await explain('records', 'VolumeInsertResponse')).toBeNull();
});

test('columns, entrypoints, routines and schemas are explained', async () => {
  expect((await explain('logCollection'))?.reason).toBe('Table lib.log has no primary key.');
  expect(await explain('fullName')).toMatchObject({
    reason: 'Column lib.patron.full_name exists; role anon has no SELECT on it.',
    fix: 'grant select (full_name) on lib.patron to anon;',
  });
  expect((await explain('full_name'))?.fix).toBe('grant select (full_name) on lib.patron to anon;');
  expect((await explain('secret'))?.fix).toBe('grant select (secret) on lib.volume to anon;');
  expect(await explain('deleteFromVolumeCollection')).toMatchObject({
    reason: 'Table lib.volume exists; role anon has no DELETE.',
    fix: 'grant delete on lib.volume to anon;',
  });
  expect(await explain('renewLoan')).toMatchObject({
    reason: 'Function lib.renew_loan exists; role anon has no EXECUTE.',
    fix: 'grant execute on routine lib.renew_loan to anon;',
  });
  expect(await explain('rotaCollection')).toMatchObject({
    reason: 'Table staff.rota exists; role anon has no USAGE on schema staff.',
    fix: 'grant usage on schema staff to anon;',
  });
  expect(await explain('totalCount', 'VolumeConnection')).toMatchObject({
    reason: '"totalCount" of lib.volume is off; its comment switches it on.',
    fix: `comment on table lib.volume is '@graphql({"totalCount":{"enabled":true}})';`,
  });
  // What the comment says already stays.
  await database.query(
    `comment on schema staff is 'Of the personnel office. @graphql({"inflect_names": true}) It''s private.'`,
  );
  await database.query('grant usage on schema staff to anon');
  expect(await explain('__schema', 'Query')).toMatchObject({
    reason: 'Introspection of the schema staff is off.',
    fix: `comment on schema staff is 'Of the personnel office. @graphql({"inflect_names":true,"introspection":true}) It''s private.';`,
  });
  await database.query(`revoke usage on schema staff from anon; comment on schema staff is null`);
});

test('a field is explained for its own type alone', async () => {
  const reason = 'Column lib.volume.secret exists; role anon has no SELECT on it.';
  for (const type of ['Volume', 'VolumeMaxAggregateResult'])
    expect((await explain('secret', type))?.reason, type).toBe(reason);
  for (const type of ['Patron', 'Query', 'VolumeConnection']) expect(await explain('secret', type), type).toBeNull();
});

test('a name of a table is not taken for a relationship that another one hides', async () => {
  const hidden = await createDatabase(`
    create table shop_item (id int primary key);
    create table pair (id int primary key, one int references shop_item, two int references shop_item);
    grant select on shop_item, pair to anon`);
  const catalog = await modelReader(hidden).catalog(['public']);
  const ask = async (field: string, type: string) =>
    (await explainMissing(catalog, { role: 'anon', extensions: [] }, { field, type }))?.reason;
  expect(await ask('shopItemCollection', 'Query')).toBeUndefined();
  expect(await ask('shopItem', 'pair')).toMatch(/^The field "shop_item" of public.pair is/);
});

test('a name that nothing has is not explained', async () => {
  for (const name of ['nothing', '', '_', '__proto__', 'Collection', 'x'.repeat(10_000)])
    expect(await explain(name)).toBeNull();
});

test('following the advice makes the table appear', async () => {
  for (const name of ['rota', 'rota']) await database.query((await explain(name))?.fix ?? '');
  const model = buildModel(await reader.catalog(['lib', 'staff']), { role: 'anon', extensions: [] });
  expect([...model.tables.values()].map((table) => table.baseName)).toContain('rota');
});
