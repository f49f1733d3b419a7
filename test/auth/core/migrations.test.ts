/**
 * The tables of the auth service: made once, whoever starts first; never changed where Supabase Auth has made them.
 */
import { describe, expect, test } from 'vitest';
import { MigrationError, migrate, planMigration } from '../../../src/postgres/migrations/migrate.ts';
import { loadMigrations } from '../../../src/postgres/migrations/migrations.ts';
import { openSystemPool } from '../../support/auth.ts';
import { createDatabase, fixture, type TestDatabase } from '../../support/postgres.ts';

const apiRoles = ['anon', 'authenticated', 'service_role'];

/** Everything that makes up the schema but our own tables and indexes, as text. */
async function describeSchema(database: TestDatabase): Promise<readonly string[]> {
  const rows = await database.query<{ line: string }>(`
    select format('column %s.%s %s null=%s default=%s generated=%s', c.relname, a.attname,
      format_type(a.atttypid, a.atttypmod), not a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attgenerated) as line
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r' and c.relname not like 'pgreflect%'
    union all
    select format('table %s rls=%s acl=%s oid=%s', c.relname, c.relrowsecurity, c.relacl, c.oid)
    from pg_class c where c.relnamespace = 'auth'::regnamespace and c.relname not like 'pgreflect%'
    union all
    select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'auth'::regnamespace and c.relname not like 'pgreflect%'
      and i.indexrelid::regclass::text not like 'auth.pgreflect%'
    union all
    select format('constraint %s %s', o.conname, pg_get_constraintdef(o.oid)) from pg_constraint o
    where o.connamespace = 'auth'::regnamespace and o.conname not like 'pgreflect%'
    union all
    select pg_get_functiondef(p.oid) from pg_proc p where p.pronamespace = 'auth'::regnamespace
    union all
    select format('type %s %s', t.typname, string_agg(e.enumlabel, ',' order by e.enumsortorder))
    from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'auth'::regnamespace group by t.typname
    union all
    select format('schema %s', n.nspacl) from pg_namespace n where n.nspname = 'auth'
    order by 1`);
  return rows.map(({ line }) => line);
}

describe('a database of Supabase Auth', () => {
  test('a database of Supabase Auth is taken over as it is: nothing but our own tables and indexes is added', async () => {
    const database = await createDatabase(fixture('auth-original.sql'));
    const described = async () => (await describeSchema(database)).filter((line) => !line.includes('FUNCTION auth.'));
    const before = await described();
    await migrate(openSystemPool(database.url, 1), { apiRoles });
    expect(await described()).toEqual(before);
    expect(await database.query('select version from auth.schema_migrations order by 1')).toHaveLength(2);
  });

  test('a database of Supabase Auth has columns, indexes and keys that a schema made by us has too', async () => {
    const theirs = await createDatabase(fixture('auth-original.sql'));
    const ours = await createDatabase();
    await migrate(openSystemPool(ours.url, 1), { apiRoles });
    const isComparable = (line: string) => /^(column|CREATE (UNIQUE )?INDEX)/.test(line);
    const notOurs = /schema_migrations|instances|sso_providers|oauth_clients|oauth_client_states_created_at/;
    const lines = async (database: TestDatabase) =>
      (await describeSchema(database)).filter((line) => isComparable(line) && !notOurs.test(line));
    expect((await lines(ours)).map(simplify)).toEqual((await lines(theirs)).map(simplify));
  });

  test('that lacks a newer table gets that table alone', async () => {
    const database = await createDatabase(fixture('auth-original.sql'), 'drop table auth.oauth_client_states');
    const planned = await planMigration(openSystemPool(database.url, 1), { apiRoles });
    const made = planned.flatMap((text) => /^create table auth\.(?!pgreflect_)(\w+)/.exec(text)?.[1] ?? []);
    expect(made).toEqual(['oauth_client_states']);
  });
});

/** The same thing may be said in two ways. */
function simplify(line: string): string {
  return line.replace('NULL::character varying', '').replace("''::character varying", "''::text");
}

describe('an empty database', () => {
  test('an empty database gets every table once when five processes start at the same instant', async () => {
    const database = await createDatabase();
    const pools = Array.from({ length: 5 }, () => openSystemPool(database.url, 1));
    const ran = await Promise.all(pools.map((pool) => migrate(pool, { apiRoles })));
    expect(
      ran.filter((statements) => statements.some((text) => text.startsWith('create table auth.users'))),
    ).toHaveLength(1);
    const rows = await database.query('select version from auth.pgreflect_migrations order by version');
    expect(rows).toEqual(loadMigrations().map(({ version }) => ({ version })));
    expect(await migrate(pools[0]!, { apiRoles })).toEqual([]);
  });

  test('of a later version of the program is left alone', async () => {
    const database = await createDatabase();
    const pool = openSystemPool(database.url, 1);
    await migrate(pool, { apiRoles });
    await database.query(`insert into auth.pgreflect_migrations (version, title) values (9000, 'later')`);
    expect(await migrate(pool, { apiRoles })).toEqual([]);
  });

  test('an empty database is unchanged where a statement fails in the middle', async () => {
    const database = await createDatabase();
    const broken = {
      version: 2,
      title: 'broken',
      pieces: [{ kind: 'table', name: 'auth.nope', text: 'create table auth.nope (id auth.nothing)' }],
    } as const;
    const migrations = [loadMigrations()[0]!, broken];
    await expect(migrate(openSystemPool(database.url, 1), { apiRoles, migrations })).rejects.toThrow(MigrationError);
    expect(await database.query(`select nspname from pg_namespace where nspname = 'auth'`)).toEqual([]);
  });

  test('an empty database is refused to a login that may not create schemas, and the refusal says what to do', async () => {
    const database = await createDatabase();
    const pool = openSystemPool(database.urlAs('authenticator', 'test'), 1);
    await expect(migrate(pool, { apiRoles })).rejects.toThrow(/permission denied.*--admin-database-url/s);
  });
});

describe('what somebody has captured', () => {
  /** Where somebody has put the schema before that of PostgreSQL; what has a column of varchar is captured behind it, too. */
  const path = 'set search_path = public, pg_catalog;';
  /** Each notes that it was run. */
  const traps = `create table public.caught (what text, who text); grant all on public.caught to public;
    create function public.spring(what text) returns boolean language plpgsql as $$ begin
      insert into public.caught values (what, session_user); return true; end $$;
    create function public.unlike(varchar, varchar) returns boolean immutable language plpgsql as $$ begin
      return public.spring('index'); end $$;
    create operator public.!~ (leftarg = varchar, rightarg = varchar, function = public.unlike);
    create function public.member(jsonb, text) returns text immutable language plpgsql as $$ begin
      return public.spring('->>')::text; end $$;
    create function public.now() returns timestamptz language plpgsql as $$ begin
      perform public.spring('now'); return pg_catalog.now(); end $$;
    create operator public.->> (leftarg = jsonb, rightarg = text, function = public.member);
    grant usage on schema auth to public;`;
  /** What Supabase Auth ran with the search path of its login. */
  const original = loadMigrations().slice(0, 2);
  const insertUser = `insert into auth.users (id, email, confirmation_token) values (gen_random_uuid(), 'a@x.test', 'secret')`;
  const insertIdentity = `insert into auth.identities (provider_id, user_id, provider, identity_data)
    select '1', id, 'email', '{"email": "A@x.test"}' from auth.users`;

  const insertToken = `insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
    select gen_random_uuid(), id, 'recovery_token', 'x', 'y' from auth.users`;
  const ask = `${path} set "request.jwt.claims" = '{"role": "anon"}'; select auth.role() as role`;

  async function makeCaptured(): Promise<TestDatabase> {
    const database = await createDatabase('create schema auth', traps);
    const pool = openSystemPool(database.url, 1);
    const statements = await planMigration(pool, { apiRoles, migrations: original });
    for (const text of statements) await database.query(path + asTexts(text));
    return database;
  }

  /** Functions as Supabase Auth makes them: their names are looked up at each call. */
  function asTexts(text: string): string {
    return text.replace(/^ {2}return (coalesce[^;]*);/m, '  as $body$\n  select $1\n$body$;');
  }

  test('what somebody has captured does not run after the migration: indexes, generated columns and functions are recreated', async () => {
    const database = await makeCaptured();
    await database.query(`${insertUser}; ${insertIdentity}; ${insertToken}; ${ask}`);
    const caught = 'select distinct what from public.caught order by what';
    expect(await database.query(caught)).toEqual([{ what: '->>' }, { what: 'index' }, { what: 'now' }]);

    await migrate(openSystemPool(database.url, 1), { apiRoles });
    await database.query('delete from auth.users; delete from public.caught');
    await database.query(`${insertUser}; ${insertIdentity}; ${insertToken}`);
    expect(await database.query(caught)).toEqual([]);
    expect(await database.query('select email from auth.identities')).toEqual([{ email: 'a@x.test' }]);
    expect((await database.query(ask))[0]).toEqual({ role: 'anon' });
    expect(await database.query(caught)).toEqual([]);
    const again = insertUser.replace('a@x', 'b@x');
    await expect(database.query(again)).rejects.toThrow('confirmation_token_idx');
  });

  test('what somebody has captured is found without changes to other objects, and a function with another body stays', async () => {
    const own = `create or replace function auth.role() returns text language sql stable as $$ select 'mine' $$`;
    const database = await createDatabase();
    const pool = openSystemPool(database.url, 1);
    await migrate(pool, { apiRoles, migrations: original });
    await database.query(own);
    const files =
      'select relname, relfilenode, xmin::text from pg_class where relnamespace = $1::regnamespace order by 1';
    const before = await database.query(files, ['auth']);
    await migrate(pool, { apiRoles, migrations: loadMigrations().filter(({ title }) => title === 'captured-names') });
    expect(await database.query(files, ['auth'])).toEqual(before);
    expect(await database.query('select auth.role() as role')).toEqual([{ role: 'mine' }]);
  });
});

describe('the helper functions', () => {
  test('the helper functions are inlined into the policies that call them', async () => {
    const database = await createDatabase('create table public.note (owner uuid)');
    await migrate(openSystemPool(database.url, 1), { apiRoles });
    const plan = await database.query('explain (verbose) select * from public.note where owner = auth.uid()');
    expect(JSON.stringify(plan)).not.toContain('auth.uid');
  });

  test("the helper functions give policies the caller's claims", async () => {
    const database = await createDatabase();
    await migrate(openSystemPool(database.url, 1), { apiRoles });
    const ask = `select auth.uid()::text as uid, auth.role() as role, auth.email() as email, auth.jwt() ->> 'sub' as sub`;
    const sub = '11111111-1111-4111-8111-111111111111';
    const claims = JSON.stringify({ sub, role: 'authenticated', email: 'ana@mail.test' });
    const [row] = await database
      .query(`begin; set local role authenticated;
      set local "request.jwt.claims" = '${claims}'; ${ask}; `)
      .finally(() => {});
    expect(row).toEqual({ uid: sub, role: 'authenticated', email: 'ana@mail.test', sub });
  });

  test('answer null where no claims are set, or empty ones', async () => {
    const database = await createDatabase();
    await migrate(openSystemPool(database.url, 1), { apiRoles });
    const [row] = await database.query(`set role anon; set "request.jwt.claims" = '';
      select auth.uid() as uid, auth.role() as role, auth.jwt() as jwt`);
    expect(row).toEqual({ uid: null, role: null, jwt: null });
  });
});
