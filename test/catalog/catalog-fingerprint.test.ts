import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFingerprint } from '../../src/graphql/catalog/read-catalog.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { systemPool } from '../support/read-model.ts';

const database = await createDatabase(
  fixture('lib.sql'),
  `create schema away; grant usage on schema away to anon;
   create domain away.money_like as numeric; create table away.elsewhere (id int);
   create table lib.kind (id serial primary key, price away.money_like, note text);
   create view lib.volumes as select shelf_mark, title from lib.volume;
   create view away.between as select id from away.elsewhere; create view lib.elsewhere as select id from away.between; create materialized view lib.stored as select 1 as id;
   create function lib.f(a int default 1) returns int stable language sql as 'select 1'; create function lib.tf() returns trigger language plpgsql as 'begin return null; end';
   create sequence lib.free_seq; create table lib.parent_part (id int, day int) partition by range (day); create table lib.part (id int, day int);
   insert into lib.kind (note) select 'x' from generate_series(1, 100)`,
);
const pool = systemPool(database.url);
const role = `fp_${database.name}`;
const other = `fp2_${database.name}`;
beforeAll(async () => {
  await database.query(`create role ${role}; create role ${other}`);
});
afterAll(async () => {
  await database.query(`drop owned by ${role}; drop role ${role}; drop owned by ${other}; drop role ${other}`);
});

const fingerprint = () => readFingerprint(pool, ['lib']);

/** Roles belong to the whole server, where other tests change them at any time: one quiet try of many is enough. */
async function isQuiet(statement: string): Promise<boolean> {
  for (let tries = 0; tries < 100; tries += 1) {
    const before = await fingerprint();
    await database.query(statement);
    if ((await fingerprint()) === before) return true;
  }
  return false;
}

/** One statement from a major of PostgreSQL on, another before. */
function ifMajor(major: number, newer: string, older: string): string {
  const isNewer = `current_setting('server_version_num')::int >= ${major}0000`;
  // As text, because an older major cannot read the newer statement.
  return `do $$ begin if ${isNewer} then execute '${newer}'; else execute '${older}'; end if; end $$`;
}

/** In this order: later statements build on earlier ones. */
const changes: readonly string[] = [
  'create table lib.fresh (id int)',
  'alter table lib.fresh add primary key (id)',
  'alter table lib.fresh add column name text',
  'alter table lib.fresh rename column name to title',
  'alter table lib.fresh alter column title type varchar(10)',
  'alter table lib.fresh alter column title type varchar(20)',
  "alter table lib.fresh alter column title set default 'a'",
  "alter table lib.fresh alter column title set default 'b'",
  'alter table lib.fresh alter column title drop default',
  'alter table lib.fresh alter column title set not null',
  'alter table lib.fresh alter column title drop not null',
  'alter table lib.fresh add column double int generated always as (id * 2) stored',
  'alter table lib.fresh add column counted int not null generated always as identity',
  'alter table lib.fresh alter column counted drop identity',
  'alter table lib.fresh drop column double',
  'create unique index fresh_title on lib.fresh (title)',
  'alter index lib.fresh_title rename to fresh_by_title',
  'drop index lib.fresh_by_title',
  // Behind views.
  'create unique index elsewhere_id on away.elsewhere (id)',
  'alter index away.elsewhere_id rename to elsewhere_key',
  'drop index away.elsewhere_key',
  'create policy behind on away.elsewhere using (true)',
  'create table away.heir_of_elsewhere () inherits (away.elsewhere)',
  'drop table away.heir_of_elsewhere',
  'create or replace view away.between as select id + 0 as id from away.elsewhere',
  'create index fresh_order on lib.fresh (title desc nulls last)',
  'create rule noted as on update to lib.fresh do also nothing',
  'alter table lib.fresh add constraint fresh_fk foreign key (title) references lib.volume',
  `comment on constraint fresh_fk on lib.fresh is '@graphql({"local_name": "freshOnes"})'`,
  'alter table lib.fresh drop constraint fresh_fk',
  ifMajor(18, 'alter table lib.fresh add constraint there not null title not valid', 'alter table lib.fresh alter column title set not null'),
  ifMajor(18, 'alter table lib.fresh validate constraint there', 'alter table lib.fresh alter column title drop not null'),
  'alter table lib.fresh enable row level security',
  'alter table lib.fresh disable row level security',
  'alter table lib.fresh rename to fresher',
  'alter table lib.fresher set schema away',
  'alter table away.fresher set schema lib',
  'drop table lib.fresher',
  'alter sequence lib.free_seq owned by lib.kind.price',
  'alter sequence lib.free_seq owned by none',
  'grant select on lib.kind to $role',
  'grant insert (note) on lib.kind to $role',
  'grant all on all tables in schema lib to $role',
  'revoke delete on lib.kind from $role',
  'grant usage on schema lib to $role',
  'revoke usage on schema away from anon',
  'grant usage on schema away to anon',
  'grant execute on function lib.f to $role',
  'revoke execute on function lib.f from public',
  'revoke usage on type lib.loan_state from public',
  'revoke usage on domain away.money_like from public',
  'alter table lib.kind owner to $role',
  'grant $role to $other',
  'revoke $role from $other',
  'alter role $role superuser',
  'alter role $role nosuperuser',
  'alter role $role bypassrls',
  'alter role $role noinherit',
  "alter role $role set statement_timeout = '5s'",
  'alter role $role reset statement_timeout',
  "alter role $role in database $database set statement_timeout = '6s'",
  "alter database $database set search_path = 'lib'",
  'alter database $database owner to $role',
  'alter database $database owner to current_user',
  'alter role $other rename to $other_x',
  'alter role $other_x rename to $other',
  `comment on schema lib is '@graphql({"inflect_names": false})'`,
  `comment on table lib.kind is '@graphql({"totalCount": {"enabled": true}})'`,
  `comment on table lib.kind is '@graphql({"totalCount": {"enabled": false}})'`,
  'comment on table lib.kind is null',
  `comment on column lib.kind.note is '@graphql({"name": "remark"})'`,
  `comment on function lib.f is '@graphql({"name": "g"})'`,
  `comment on type lib.loan_state is '@graphql({"name": "State"})'`,
  `comment on view lib.volumes is '@graphql({"primary_key_columns": ["shelf_mark"]})'`,
  `comment on materialized view lib.stored is '@graphql({"primary_key_columns": ["id"]})'`,
  "alter type lib.loan_state add value 'damaged' before 'lost'",
  "alter type lib.loan_state rename value 'damaged' to 'broken'",
  'alter type lib.loan_state rename to state',
  'create type lib.colour as enum (\'red\')',
  'drop type lib.colour',
  'create or replace view lib.volumes as select shelf_mark, title, acquired_on from lib.volume',
  'create or replace view lib.volumes as select shelf_mark, title, max(acquired_on) as acquired_on from lib.volume group by 1, 2',
  'create trigger write_volumes instead of insert on lib.volumes for each row execute function lib.tf()',
  'drop trigger write_volumes on lib.volumes',
  'drop view lib.volumes',
  'create function lib.g(a int) returns int stable language sql as \'select 1\'',
  'create or replace function lib.g(a int) returns int volatile language sql as \'select 1\'',
  'create or replace function lib.g(a int default 5) returns int volatile language sql as \'select 1\'',
  'alter function lib.g rename to h',
  'alter function lib.h rows 1',
  'drop function lib.h',
  'create table away.heir () inherits (lib.volume)',
  'create materialized view lib.more as select 1 as id',
  'drop materialized view lib.more',
  'alter table lib.parent_part attach partition lib.part for values from (0) to (10)',
  'alter table lib.parent_part detach partition lib.part',
  'alter domain away.money_like rename to cash',
  'alter schema away rename to far_away',
  'create extension if not exists citext schema lib',
  'drop extension citext',
  'alter schema lib rename to lib_old',
  'create schema lib',
]; // biome-ignore format: a list of statements

test('every kind of change that a model depends on changes the fingerprint', async () => {
  let before = await fingerprint();
  const missed: string[] = [];
  for (const change of changes) {
    const sql = change.replaceAll('$other', other).replaceAll('$role', role).replaceAll('$database', database.name);
    if (change.includes('rows 1')) {
      // Only a set-returning function has rows.
      await database.query("create function lib.many() returns setof int stable language sql as 'select 1'");
      before = await fingerprint();
      await database.query('alter function lib.many() rows 1');
    } else await database.query(sql);
    const after = await fingerprint();
    if (after === before) missed.push(change);
    before = after;
  }
  expect(missed).toEqual([]);
});

test('what no model depends on leaves the fingerprint alone', async () => {
  await database.query('drop schema lib; alter schema lib_old rename to lib; alter schema far_away rename to away');
  const quiet = [
    'insert into lib.kind (note) values (1)',
    'create temporary table scratch (id int); drop table scratch',
    'vacuum lib.kind',
    'analyze lib.kind',
    'vacuum full lib.kind',
    'truncate lib.kind',
    'refresh materialized view lib.stored',
    'create index on lib.kind (note)',
    'reindex table lib.kind',
    'drop table if exists away.another; create table away.another (id int)',
  ];
  const alarms: string[] = [];
  for (const statement of quiet) if (!(await isQuiet(statement))) alarms.push(statement);
  expect(alarms).toEqual([]);
});
