/**
 * No name of our SQL is looked up where others may have put something: the rule, shown by what it finds, and every file of `sql/`.
 */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSqlFile } from '../../src/postgres/system/sql-file.ts';
import { findBareNames } from '../support/qualified-names.ts';
import { root } from './source.ts';

describe('with a path that is not pinned, every name is found that stands without its schema', () => {
  test.each([
    ['select lower($1)', 'function lower'],
    ['select * from unnest($1)', 'function unnest'],
    ['select $1::text', 'type text'],
    ['select cast($1 as jsonb[])', 'type jsonb'],
    [`select 'a'::"char"`, 'type char'],
    ['select $1 collate "C"', 'collation C'],
    ['select 1 + 2', 'operator +'],
    ['select - $1', 'operator -'],
    ['select $1 = any ($2)', 'operator ='],
    ['select $1 <> all ($2)', 'operator <>'],
    ['select $1 > any (select 1)', 'operator >'],
    ['select $1 in (select 1)', 'operator in'],
    ['select $1 in (1, 2)', 'operator in'],
    ['select $1 not in (1, 2)', 'operator in'],
    ['select $1 between 1 and 2', 'operator between'],
    [`select $1 like 'a'`, 'operator like'],
    [`select $1 ilike 'a'`, 'operator ilike'],
    ['select $1 is distinct from $2', 'operator is distinct from'],
    ['select $1 is not distinct from $2', 'operator is not distinct from'],
    ['select nullif($1, $2)', 'operator nullif'],
    ['select case $1 when 1 then 2 end', 'operator case … when'],
    ['select 1 from a.b join a.c using (id)', 'operator join … using'],
    ['select 1 from a.b natural join a.c', 'operator join … using'],
    ['select 1 order by 1 using <', 'operator <'],
    ['select 1 from users', 'relation users'],
    ['update users set id = null', 'relation users'],
    ['insert into users default values', 'relation users'],
    ['delete from users', 'relation users'],
    ['with users as (select 1) insert into users select 1 from users', 'relation users'],
    ['select 1 from a.b where exists (select from users)', 'relation users'],
    [`select 'users'::pg_catalog.regclass`, `name 'users'`],
    [`select pg_catalog.to_regclass('users')`, `name 'users'`],
    [`select pg_catalog.nextval('users_id_seq')`, `name 'users_id_seq'`],
    ['create index on a.b (lower(c))', 'function lower'],
    ['create index on a.b (c text_pattern_ops)', 'operator class text_pattern_ops'],
    ['create table a.b (c uuid)', 'type uuid'],
    ['create table a.b (c pg_catalog.uuid default gen_random_uuid())', 'function gen_random_uuid'],
    ['create table a.b (c int check (c > 0))', 'operator >'],
    ['create table b (c int)', 'relation b'],
    [`create type b as enum ('x')`, 'type b'],
    ['create function f() returns int language sql return 1', 'function f'],
    ['create function a.f() returns int language sql return lower(null)', 'function lower'],
    [`create function a.f() returns int language sql as 'select lower(null)'`, 'function lower'],
    [`create function a.f() returns int language plpgsql as 'begin return lower(null); end'`, 'function lower'],
    [`do 'begin if 1 = 2 then null; end if; end'`, 'operator ='],
    [`do 'declare a int; begin a := 1 + 2; end'`, 'operator +'],
    [`do 'begin perform lower(null); end'`, 'function lower'],
    [`do 'begin update users set id = null; end'`, 'relation users'],
    ['comment on table users is null', 'relation users'],
    ['drop table users', 'relation users'],
    ['grant execute on function f() to public', 'function f'],
  ])('%s', (text, name) => {
    expect(findBareNames(text, 'unpinned')).toContain(name);
  });

  test('nothing is found where all have theirs, or need none', () => {
    const text = `with recursive q (n) as (
        select 1::int union all select q.n operator(pg_catalog.+) 1 from q where q.n operator(pg_catalog.<) 3::int
      )
      select pg_catalog.lower(b.c::pg_catalog.text collate pg_catalog."C"), extract(year from b.d), coalesce(b.e, 1), b.d at time zone 'UTC',
        case when b.f is null then 'a' end, greatest(1, 2), current_user, array[1], 'auth.users'::pg_catalog.regclass,
        b.a operator(pg_catalog.=) any ($1), b.c operator(pg_catalog.~~) 'x', trim(b.c)
      from a.b join q on q.n operator(pg_catalog.=) b.a order by b.a desc limit 1`;
    expect(findBareNames(text, 'unpinned')).toEqual([]);
  });
});

describe('with the pinned path', () => {
  test('names of PostgreSQL may stand alone', () => {
    expect(findBareNames('select lower($1::text) = any ($2) and 1 in (1, 2) from auth.users u', 'pinned')).toEqual([]);
  });

  test.each([
    ['select 1 from users', 'relation users'],
    [`select 'users'::regclass`, `name 'users'`],
    ['create table users (id uuid)', 'relation users'],
    [`create type level as enum ('a')`, 'type level'],
    [`create function f() returns int language sql return 1`, 'function f'],
    ['grant select on users to anon', 'relation users'],
    // The body runs with the path of whoever calls it.
    [`create function a.f() returns int language sql as 'select lower(null)'`, 'function lower'],
    [`do 'begin delete from users; end'`, 'relation users'],
  ])('those of relations and of what we make may not: %s', (text, name) => {
    expect(findBareNames(text, 'pinned')).toContain(name);
  });

  test('the body of a function with a path of its own is as safe', () => {
    const text = `create function a.f() returns int language plpgsql set search_path = pg_catalog, pg_temp as 'begin return lower(null); end'`;
    expect(findBareNames(text, 'pinned')).toEqual([]);
  });
});

describe('every file of sql/', () => {
  /** Sent on the connection of a caller, where nothing is pinned. */
  const unpinned = new Set(['primary-position.sql']);
  /** Parts of a statement, which the code completes. */
  const fragments: Readonly<Record<string, (text: string) => string>> = {
    'auth/refresh-state.sql': (text) => `select ${text}`,
    'harmless.sql': (text) => `with ${text} rest as (select) select`,
  };

  const files = globSync('**/*.sql', { cwd: join(root, 'sql') }).sort();

  test.each(files)('%s', (file) => {
    const text = loadSqlFile(file);
    expect(findBareNames(fragments[file]?.(text) ?? text, unpinned.has(file) ? 'unpinned' : 'pinned')).toEqual([]);
  });
});
