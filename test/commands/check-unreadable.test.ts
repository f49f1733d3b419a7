/** What `pgreflect check` says of views that a role has select on, and that its requests cannot read. */
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

const key = `'@graphql({"primary_key_columns": ["id"]})'`;

describe('views that a role may select from and cannot read', async () => {
  const words = ['one', 'two', 'three', 'four'];
  const database = await createDatabase(`
    create schema i18n;
    create function i18n.words(text) returns text language sql stable as 'select $1';
    create function translate(text) returns text language sql stable as 'select i18n.words($1)';
    create table item (id int primary key, name text);
    insert into item values (1, 'a');
    create function rate(int) returns int language plpgsql stable as 'begin return $1; end';
    create function owned(int) returns int language plpgsql stable security definer set search_path = '' as 'begin return $1; end';
    revoke execute on function rate(int), owned(int) from public;
    ${words.map((name) => `create view ${name} as select id, translate(name) as name from item; comment on view ${name} is ${key};`).join('\n')}
    create view priced as select id, rate(id) as price from item; comment on view priced is ${key};
    create view kept as select id, owned(id) as price from item; comment on view kept is ${key};
    create function lure() returns int language plpgsql stable as $f$ begin
      raise 'permission denied for table item' using errcode = '42501'; end $f$;
    create view forged as select id, lure() as price from item; comment on view forged is ${key};
    create view fine as select id, name from item; comment on view fine is ${key};
    create view meant as select id, rate(id) as price from item;
    comment on view meant is '@graphql({"primary_key_columns": ["id"], "ignore": ["view_unreadable"]})';
    create view partly as select id, rate(id) as price from item; comment on view partly is ${key};
    grant select on ${words.join(', ')}, priced, kept, forged, fine, meant to anon;
    grant select (id) on partly to anon;
    grant select on one, fine to authenticated;
    grant usage on schema i18n to authenticated;
  `);
  const unreadable = () => findings(database, '--only', 'view_unreadable,key_not_measured');

  test('views that a role may select from and cannot read are a warning for each object that is missing, with the grant for a person to decide', async () => {
    expect(await unreadable()).toEqual([
      {
        check: 'view_unreadable',
        severity: 'warning',
        object: 'anon',
        message:
          'Role "anon" cannot read 4 views: permission denied for schema i18n. These are public.one, public.two, public.three and 1 more.',
        fix: '-- Where it is meant to use what is in the schema:\n-- grant usage on schema i18n to anon;',
      },
      {
        check: 'view_unreadable',
        severity: 'warning',
        object: 'anon',
        message: 'Role "anon" cannot read view public.priced: permission denied for function rate.',
        fix: '-- Where it is meant to call it:\n-- grant execute on routine public.rate(integer) to anon;',
      },
      {
        check: 'view_unreadable',
        severity: 'warning',
        object: 'anon',
        message: 'Role "anon" cannot read view public.kept: permission denied for function owned.',
        fix: null,
      },
      {
        check: 'view_unreadable',
        severity: 'warning',
        object: 'anon',
        message: 'Role "anon" cannot read view public.forged: permission denied for table item.',
        fix: null,
      },
    ]);
  });

  test('views that a role may select from and cannot read are gone after the grants', async () => {
    for (const { fix } of await unreadable()) if (fix) await database.query(fix.replaceAll(/^-- (?=grant)/gm, ''));
    expect((await unreadable()).map(({ message }) => message)).toEqual([
      'Role "anon" cannot read view public.kept: permission denied for function owned.',
      'Role "anon" cannot read view public.forged: permission denied for table item.',
    ]);
  });
});

test('a view whose rows come from a table that the caller may not read names that table', async () => {
  const database = await createDatabase(`
    create table "Secret" (id int primary key);
    create function rows() returns bigint language sql stable as 'select count(*) from public."Secret"';
  `);
  const [server] = await database.query<{ invokes: boolean }>(
    "select current_setting('server_version_num')::int >= 150000 as invokes",
  );
  // Views that run as their caller came with PostgreSQL 15.
  const query = server?.invokes ? 'with (security_invoker) as select id from "Secret"' : 'as select 1 as id, rows()';
  await database.query(`create view shown ${query}; comment on view shown is ${key}; grant select on shown to anon`);
  expect(await findings(database, '--only', 'view_unreadable')).toMatchObject([
    {
      message: 'Role "anon" cannot read view public.shown: permission denied for table Secret.',
      fix: '-- Where it is meant to read it, after policies guard the rows:\n-- grant select on public."Secret" to anon;',
    },
  ]);
});

test('where row security lets the role see no row, the policy comes with the grant, so that the grant is not called too wide', async () => {
  const database = await createDatabase(`
    create table "Secret" (id int primary key);
    alter table "Secret" enable row level security;
    create policy select_by_anon on "Secret" for update to anon using (false);
    create function rows() returns bigint language sql stable as 'select count(*) from public."Secret"';
    create view shown as select 1 as id, rows(); comment on view shown is ${key}; grant select on shown to anon;
  `);
  const about = () => findings(database, '--only', 'view_unreadable,grant_without_policy,policy_missing');
  const [{ fix } = { fix: null }, ...others] = await about();
  expect([fix, others]).toEqual([
    [
      '-- Where it is meant to read some rows, write their condition in place of false:',
      '-- create policy select_by_anon_2 on public."Secret" for select to anon using (false);',
      '-- grant select on public."Secret" to anon;',
    ].join('\n'),
    [],
  ]);
  await database.query(String(fix).replaceAll(/^-- (?=create|grant)/gm, ''));
  expect(await about()).toEqual([]);
});
