/** The schema `extensions` is on the search path of requests, as at Supabase, unless callers could put something there. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const schema = `
  create schema extensions;
  grant usage on schema extensions to anon;
  create extension pgcrypto schema extensions;
  create table post (id int primary key, slug text);
  create function set_slug() returns trigger language plpgsql as
    $$ begin new.slug := encode(digest(new.id::text, 'md5'), 'hex'); return new; end $$;
  create trigger set_slug before insert on post for each row execute function set_slug();
  grant all on post to anon;
`;
const insert = 'mutation { insertIntopostCollection(objects: [{id: 1}]) { records { slug } } }';
const slug = 'c4ca4238a0b923820dcc509a6f75849b';

const database = await createDatabase(schema);
const execution = await startExecution(database);
const asked = await startExecution(database, { extraSearchPath: ['extensions'] });
const role = `${database.name}_tenant`;

/** Makes a change of the database, in which NAME is a role, and takes it back when the test has ended. */
async function change(sql: string, undo = ''): Promise<void> {
  onTestFinished(async () => {
    if (sql.includes('NAME'))
      await database.query(`reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`);
    await database.query(`${undo}; truncate post`);
  });
  await database.query(sql.replaceAll('NAME', role));
  await execution.reload();
}

const leftOver =
  'create function extensions.left_over() returns int language sql as $$ select 1 $$; alter function extensions.left_over owner to NAME';

describe('a trigger that calls a function of an extension by its bare name', () => {
  test('a trigger that calls a function of an extension by its bare name finds it in the schema extensions, also beside functions of an owner that nobody acts as', async () => {
    await change(`create role NAME; ${leftOver}`, 'drop function extensions.left_over');
    expect(await execution.data('anon', insert)).toEqual({ insertIntopostCollection: { records: [{ slug }] } });
  });

  test.each<[string, string?]>([
    ['grant create on schema extensions to public', 'revoke create on schema extensions from public'],
    ['grant create on schema extensions to anon', 'revoke create on schema extensions from anon'],
    ['create role NAME; grant create on schema extensions to NAME'],
    ['create role NAME; alter schema extensions owner to NAME'],
    [`create role NAME login; ${leftOver}`, 'drop function extensions.left_over'],
    [
      'create role NAME login; create operator extensions.=== (function = pg_catalog.int4eq, leftarg = int, rightarg = int); alter operator extensions.=== (int, int) owner to NAME',
      'drop operator extensions.=== (int, int)',
    ],
    [
      'create role NAME login; create type extensions.left_over as (n int); alter type extensions.left_over owner to NAME',
      'drop type extensions.left_over',
    ],
  ])(
    'a trigger that calls a function of an extension by its bare name does not where others could have put theirs there: %s',
    async (sql, undo) => {
      await change(sql, undo);
      const { data, errors } = await execution.run('anon', insert);
      expect([data, errors[0].message]).toEqual([null, expect.stringContaining('--extra-search-path')]);
      expect(await database.query('select * from post')).toEqual([]);
      await asked.reload();
      expect(await asked.data('anon', insert)).toEqual({ insertIntopostCollection: { records: [{ slug }] } });
    },
  );
});

test('the next request after a grant counts it', async () => {
  await execution.reload();
  expect((await execution.role('anon')).searchPath).toBe('"public", "extensions"');
  onTestFinished(async () => void (await database.query('revoke create on schema extensions from anon')));
  await database.query('grant create on schema extensions to anon');
  expect(await execution.compare()).toBe(true);
  expect((await execution.role('anon')).searchPath).toBe('"public"');
});

test('the next flight finds the names after a role that may create objects there may create roles no more', async () => {
  await change('create role NAME createrole; grant create on schema extensions to NAME');
  expect((await execution.role('anon')).searchPath).toBe('"public", "extensions"');
  await database.query(`alter role ${role} nocreaterole`);
  expect(await execution.compare()).toBe(true);
  expect((await execution.role('anon')).searchPath).toBe('"public"');
});
