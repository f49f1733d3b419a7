/** Of which tables a live query reads the same others each time, so that its runs need not be asked for their locks. */
import { expect, test } from 'vitest';
import { RelationsRead } from '../../src/graphql/live/relations-read.ts';
import { openSystemPool } from '../support/auth.ts';
import { createDatabase } from '../support/postgres.ts';

const member = (condition: string) => `
  create table t (id int primary key, kind kind, name citext, at int4range);
  create policy p on t for select using (${condition});`;

const cases: readonly (readonly [what: string, sql: string, isFixed: boolean])[] = [
  ['a table without policies', 'create table t (id int)', true],
  ['a policy on settings', member(`id = current_setting('a.b', true)::int`), true],
  ['a policy on an enum', member(`kind = 'one'`), true],
  ['a policy that reads another table', member('exists (select from other)'), true],
  ['a policy with a function that has a parsed body', member('own() = id'), true],
  ['a policy with a function whose parsed body reads a table', member('counted() = id'), false],
  ['a policy with a function that has a quoted body', member('quoted() = id'), false],
  ['a policy with a function that runs a text', member(`query_to_xml('select 1', true, true, '') is not null`), false],
  ['a policy with an operator of an extension', member(`name = 'a'`), false],
  ['a policy that casts to a domain', member('id::small > 1'), false],
  ['a policy that reads a sequence', member(`case when id > 1 then nextval('counter') > 1 end`), false],
  [
    'a policy of another command',
    `create table t (id int); create policy p on t for insert with check (quoted() = id)`,
    true,
  ],
  ['a view', 'create view t as select id from other', true],
  ['a view with a function', 'create view t as select quoted() as id from other', false],
  ['a materialized view', 'create materialized view t as select id from other', true],
  ['a partitioned table', 'create table t (id int) partition by list (id)', false],
  ['a table with a child', 'create table t (id int); create table u () inherits (t)', false],
];

const database = await createDatabase(`
  create extension citext;
  create type kind as enum ('one', 'two');
  create domain small as int check (value < 9);
  create sequence counter;
  create table other (id int);
  create function own() returns int stable return current_setting('a.b')::int;
  create function counted() returns bigint stable return (select count(*) from other);
  create function quoted() returns int stable language sql as 'select 1';
  ${cases.map(([, sql], index) => `create schema s${index}; set search_path = s${index}, public; ${sql};`).join('\n')}
`);
const pool = openSystemPool(database.url, 1);

test.each(cases.map((each, index) => [...each, index] as const))('%s', async (_what, _sql, isFixed, index) => {
  const reads = new RelationsRead<string>(pool);
  reads.reset(true);
  const [row] = await database.query<{ oid: string }>(`select 's${index}.t'::regclass::oid::text as oid`);
  await reads.note('group', row!.oid);
  expect(reads.of('group').isFixed).toBe(isFixed);
});
