/**
 * Which routines `pgreflect check` says need an extension off the search path: those that fail for a caller. Each case
 * calls its routine with the path of requests. Texts of 16 MB: check-extension-calls.nightly.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

const setup = `create schema extensions; grant usage on schema extensions to public;
  create extension pgcrypto schema extensions; create extension pg_trgm schema extensions; create extension citext schema extensions;`;

const offPath = (database: TestDatabase, ...args: readonly string[]) =>
  findings(database, '--only', 'extension_off_path', ...args);

const asAnon = (database: TestDatabase, path: string, called: string) =>
  database
    .query(`begin; set local role anon; set local search_path = ${path}; ${called}`)
    .finally(() => database.query('rollback'));

/** What stands in the text of a function, and whether it fails with the path `public`. */
const texts: readonly (readonly [text: string, fails: boolean])[] = [
  [`select similarity('a', 'b')::text`, true],
  [`select SIMILARITY ('a', 'b')::text`, true],
  [`select "similarity"('a', 'b')::text`, true],
  [`select 'A'::citext::text`, true],
  [`select ('a' operator(extensions.<%) 'b')::text`, false],
  [`select ('a' <% 'b')::text`, true],
  [`select extensions.similarity('a', 'b')::text`, false],
  [`select 'similarity(' -- similarity()`, false],
  [`select /* similarity() */ 'b'`, false],
  [`select lower('A')`, false],
  [`select own.crypt('a')`, false],
  [`select crypt('a')`, false],
]; // biome-ignore format: a table of texts

describe('a function that names something of an extension', async () => {
  const database = await createDatabase(`${setup}
    create schema own; grant usage on schema own to public;
    create function own.crypt(text) returns text language sql as 'select $1';
    create function crypt(text) returns text language sql as 'select $1';
    set check_function_bodies = off;
    ${texts.map(([text], number) => `create function calls_${number}() returns text language sql as $f$ ${text} $f$;`).join('\n')}`);
  const found = await offPath(database, '--extra-search-path', 'own');

  test.each(texts.map(([text, fails], number) => [text, number, fails] as const))(
    '%s',
    async (_text, number, fails) => {
      const called = asAnon(database, 'public', `select calls_${number}()`);
      await (fails ? expect(called).rejects.toThrow(/does not exist/) : called);
      const own = found.filter(({ object }) => object === `public.calls_${number}()`);
      expect(own.map(({ command }) => command)).toEqual(fails ? ['--extra-search-path own,extensions'] : []);
    },
  );

  test('the default path has extensions', async () => {
    expect(await offPath(database)).toEqual([]);
  });
});

test('an extension off the path is named with the path that it is run with, and its fix makes it work', async () => {
  const database = await createDatabase(`${setup}
    create schema auth; create schema closed; set check_function_bodies = off;
    create table auth.users (id int primary key); create table post (id int primary key, title text, token text); grant insert on post to anon;
    create function make_token() returns trigger language plpgsql as $$ begin new.token := gen_salt('md5'); return new; end $$;
    create trigger t before insert on post for each row execute function make_token();
    create function emptied() returns text language sql set search_path = '' as $$ select gen_salt('md5') $$;
    create function narrow() returns text language sql set search_path to "$user", closed as $$ select gen_salt('md5') $$;
    create function wide() returns text language sql set search_path to closed, "extensions" as $$ select gen_salt('md5') $$;
    create function closed.for_user() returns trigger language plpgsql as $$ begin perform gen_salt('md5'); return new; end $$;
    create trigger t after insert on auth.users for each row execute function closed.for_user();
    create function closed.unreached() returns text language sql as $$ select gen_salt('md5') $$;
    comment on function emptied() is '@graphql({"ignore": []})';
  `);
  const summary = (found: Awaited<ReturnType<typeof offPath>>) =>
    found.map(({ object, message, fix, command }) => [
      object,
      /which is not on (.*)$/.exec(message)![1],
      fix?.split('\n')[1] ?? command,
    ]);
  const own = [
    ['closed.for_user()', 'the search path of the auth service: it fails. Its triggers are on auth.users.', '-- alter routine closed.for_user() set search_path = public, extensions;'],
    ['public.emptied()', 'its search path: it fails.', '-- alter routine public.emptied() set search_path = extensions;'],
    ['public.narrow()', 'its search path: it fails.', '-- alter routine public.narrow() set search_path = "$user", closed, extensions;'],
  ]; // biome-ignore format: a table
  const found = await offPath(database);
  expect(summary(found).sort()).toEqual(own);
  const narrow = await offPath(database, '--extra-search-path', 'closed');
  const asked = narrow.find(({ object }) => object === 'public.make_token()');
  expect(asked?.message).toContain('not on that of requests: it fails. Its triggers are on public.post.');
  expect(asked?.command).toBe('--extra-search-path closed,extensions');
  await database.query('grant create on schema extensions to anon');
  const open = await offPath(database);
  expect(open.map(({ object }) => object).sort()).toEqual([
    'closed.for_user()', 'public.emptied()', 'public.make_token()', 'public.narrow()',
  ]); // biome-ignore format: a list
  for (const { message, fix, command } of open) {
    expect([fix, command]).toEqual([null, undefined]);
    expect(message).toContain('Others may create objects in "extensions", so put it on no search path;');
  }
  const calls = [['public', 'insert into post values (1)'], ['public', 'select emptied()'], ['public', 'select narrow()']] as const; // biome-ignore format: pairs
  for (const [path, called] of calls)
    await expect(asAnon(database, path, called)).rejects.toThrow(/gen_salt\(unknown\) does not exist/);
  for (const { fix } of found) await database.query(fix!.split('\n').slice(1).join('\n').replaceAll('-- ', ''));
  for (const [, called] of calls) await asAnon(database, 'public, extensions', called);
  await database.query('revoke create on schema extensions from anon');
  expect(await offPath(database)).toEqual([]);
});

test('the schema public may be on a path while nobody but the owner of the database creates objects there', async () => {
  const database = await createDatabase(`
    alter schema public owner to pg_database_owner; revoke create on schema public from public;
    create extension pgcrypto; create schema shop; grant usage on schema shop to anon; set check_function_bodies = off;
    create function shop.token() returns text language sql as $$ select gen_salt('md5') $$;`);
  const found = async () => (await offPath(database, '--schemas', 'shop')).map(({ command }) => command);
  expect(await found()).toEqual(['--extra-search-path public']);
  await database.query('grant create on schema public to authenticated');
  expect(await found()).toEqual([undefined]);
});

test('whoever named or owns the schema of an extension has no say in a shell or about a path, plain names included', async () => {
  const database = await createDatabase(`${setup}
    create schema "x; touch /tmp/here #"; create extension hstore schema "x; touch /tmp/here #";
    set check_function_bodies = off;
    create function pairs() returns text language sql as $$ select akeys('a=>1'::hstore)::text $$;
    create function fixed() returns text language sql set search_path = pg_temp as $$ select soundex('a') $$;
    create function bare() returns text language sql as $$ select soundex('a') $$;`);
  const role = `${database.name}_tenant`;
  await database.query(`create role ${role} login; create schema helpers; create extension fuzzystrmatch schema helpers;
    alter schema helpers owner to ${role}`);
  try {
    const found = await offPath(database);
    expect(found.map(({ object, fix, command }) => [object, fix, command]).sort()).toEqual([
      ['public.bare()', null, undefined],
      ['public.fixed()', null, undefined],
      ['public.pairs()', null, undefined],
    ]);
    await database.query('alter schema helpers owner to current_user');
    const bare = (await offPath(database)).find(({ object }) => object === 'public.bare()');
    expect(bare?.command).toBe('--extra-search-path extensions,helpers');
  } finally {
    await database.query(`alter schema helpers owner to current_user; drop role ${role}`);
  }
});
