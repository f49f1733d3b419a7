/**
 * Which tables may run code that is not PostgreSQL's own, when they are read or written. Where a table may, the connection is looked
 * at before it serves the next request; a table that is missing here would hand statements of its owner's to other callers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Catalog } from '../../src/graphql/catalog/catalog.ts';
import { readCatalog } from '../../src/graphql/catalog/read-catalog.ts';
import { migrate } from '../../src/postgres/migrations/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { systemPool } from '../support/read-model.ts';

const plain = 'create table public.t (id int primary key, body text, at timestamptz default now())';
const protect = (policy: string) =>
  `${plain}; alter table public.t enable row level security; create policy p on public.t using (${policy})`;
const evil = `create function public.evil() returns boolean language plpgsql as 'begin return true; end'`;
const folded = `create function public.folded(int) returns int immutable language plpgsql as 'begin return 1; end'`;

/** What makes the table `t`, and what of it runs code of somebody. */
const cases: readonly (readonly [what: string, sql: string, runs: '' | 'read' | 'write' | 'read write' | '(read )?write'])[] = [
  ['a plain table with a default', plain, ''],
  ['a serial column', 'create table public.t (id serial primary key)', ''],
  ['an enum', `create type public.mood as enum ('sad'); create table public.t (id int primary key, m public.mood, l public.mood[])`, ''],
  ['a check of its own', 'create table public.t (id int primary key check (id > 0 and id % 2 = 1))', ''],
  ['a key to another table', `${plain}; create table public.u (id int references public.t)`, ''],
  ['a policy that reads the claims', protect(`body = current_setting('request.jwt.claims', true)::json ->> 'sub'`), ''],
  ['a policy that asks auth.uid()', protect('auth.uid() is not null and body = (select auth.role())'), ''],
  ['a policy that calls a function', `${evil}; ${protect('public.evil()')}`, 'read write'],
  ['a policy that reads another table', `create table public.u (id int); ${protect('id in (select u.id from public.u u)')}`, 'read write'],
  ['a policy that runs a text', protect(`query_to_xml('select 1', true, true, '') is not null`), 'read write'],
  ['a function in SQL that calls another', `${evil}; create function public.f() returns boolean language sql return public.evil(); ${protect('public.f()')}`, 'read write'],
  ['a function in SQL that runs a text', `create function public.f() returns boolean language sql return query_to_xml('select 1', true, true, '') is not null; ${protect('public.f()')}`, 'read write'],
  ['a function whose body is a text', `create function public.f() returns boolean language sql as 'select true'; ${protect('public.f()')}`, 'read write'],
  ['an operator', `create operator public.=== (leftarg = int, rightarg = int, function = int4eq); ${protect('id operator(public.===) 1')}`, 'read write'],
  ['a view', 'create view public.t as select 1 as id', 'read write'],
  ['a materialized view', 'create materialized view public.t as select 1 as id', 'write'],
  ['a partitioned table', 'create table public.t (id int primary key) partition by range (id)', 'read write'],
  ['a table with children', `${plain}; create table public.u () inherits (public.t)`, 'read write'],
  ['a domain', `create domain public.d as int check (value > 0); create table public.t (id int primary key, d public.d)`, 'read write'],
  ['an enum with a cast of its own', `create type public.mood as enum ('sad'); create function public.c(public.mood) returns text language sql as 'select null'; create cast (public.mood as text) with function public.c(public.mood); create table public.t (id int primary key, m public.mood)`, 'read write'],
  ['an index on a function', `${folded}; ${plain}; create index on public.t ((id + public.folded(1)))`, 'read write'],
  ['an index with a condition', `${folded}; ${plain}; create index on public.t (id) where public.folded(id) = 1`, 'read write'],
  ['statistics of a function', `${folded}; ${plain}; create statistics public.s on (public.folded(id)), body from public.t`, 'read write'],
  ['a check that calls a function', `${folded}; create table public.t (id int primary key check (public.folded(id) = 1))`, 'read write'],
  ['a default that calls a function', `${folded}; create table public.t (id int primary key default public.folded(1))`, 'write'],
  // Before PostgreSQL 15 the column itself depends on the function.
  ['a generated column', `${folded}; create table public.t (id int primary key, g int generated always as (public.folded(id)) stored)`, '(read )?write'],
  ['a trigger', `create function public.tr() returns trigger language plpgsql as 'begin return new; end'; ${plain}; create trigger tr before insert on public.t for each row execute function public.tr()`, 'write'],
  ['a rule', `${plain}; create rule r as on insert to public.t do also notify x`, 'write'],
  ['a key that deletes rows of another table', `${plain}; create table public.u (id int references public.t on delete cascade)`, 'write'],
]; // biome-ignore format: a table of cases

const schemaOf = (index: number) => `case_${index}`;
let catalog: Catalog;
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const pool = systemPool(database.url);
  await migrate(pool, { apiRoles: ['anon'] });
  for (const [index, [, sql]] of cases.entries()) {
    await database.query(`create schema ${schemaOf(index)}; ${sql.replaceAll('public.', `${schemaOf(index)}.`)}`);
  }
  catalog = await readCatalog(
    pool,
    cases.map((_, index) => schemaOf(index)),
  );
});

test.each(cases.map((each, index) => [...each, index] as const))('%s', (_what, _sql, runs, index) => {
  const namespace = catalog.namespaces.find(({ nspname }) => nspname === schemaOf(index))?._id;
  const table = catalog.tables.find(({ relname, relnamespace }) => relname === 't' && relnamespace === namespace);
  const found = (['read', 'write'] as const).filter((access) => table?.[`${access}sUserCode`]);
  expect(found.join(' ')).toMatch(new RegExp(`^${runs}$`));
});

test('every function of PostgreSQL that runs a text is known', async () => {
  const known = readFileSync(join(import.meta.dirname, '../../sql/harmless.sql'), 'utf8');
  const rows = await database.query<{ proname: string }>(
    `select distinct proname from pg_proc where proname ~ '(_to_xml(_and_xmlschema|schema)?|^ts_stat|^ts_rewrite|^pg_input_.*)$'`,
  );
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.map(({ proname }) => proname).filter((name) => !known.includes(`'${name}'`))).toEqual([]);
});
