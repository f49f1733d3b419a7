/**
 * A neighbour without rights may create in `public`, as everybody may in databases made before PostgreSQL 15. He plants functions,
 * operators and types that fit the arguments of our statements, and waits for somebody with more rights to run them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { managedGateway, ref } from '../management/management.ts';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { findCalledFunctions } from '../support/called-functions.ts';
import { operation, serviceKey } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

/** What values of our statements are. */
const types = [
  'varchar', 'text', 'name', '"char"', 'int2', 'int4', 'int8', 'numeric', 'float8', 'oid', 'regclass', 'uuid', 'xid8', 'bool',
  'timestamptz', 'interval', 'jsonb', 'json', 'bytea', 'inet', 'text[]',
]; // biome-ignore format: a list
/** Those of the auth service, which exist once it has its tables. */
const enums = ['aal_level', 'code_challenge_method', 'factor_type', 'factor_status', 'one_time_token_type'];
const operators = [
  '=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  '~~',
  '!~~',
  '~~*',
  '~',
  '!~',
  '||',
  '->',
  '->>',
  '@>',
  '&&',
  '+',
  '-',
  '*',
  '/',
  '%',
];

/** What stands beside them. */
const beside = [
  'varchar',
  'text',
  'name',
  'int4',
  'int8',
  'numeric',
  'float8',
  'oid',
  'regclass',
  'jsonb',
  'timestamptz',
  'text[]',
];

/** SQL that plants an operator of every name between two types, and every function that we call, with one and two arguments. */
function plant(kinds: readonly string[], others: readonly string[]): string {
  const list = (texts: readonly string[]) => `array[${texts.map((text) => `'${text}'`).join()}]`;
  return `set search_path = pg_catalog; do $plant$
    declare kind text; other text; name text;
    begin
      foreach kind in array ${list(kinds)} loop
        foreach other in array ${list(others)} || array[kind] loop
          continue when pg_catalog.to_regprocedure('public.spring(' || kind || ', ' || other || ')') is not null;
          execute pg_catalog.format('create function public.spring(a %s, b %s) returns bool language plpgsql as $f$ begin
            perform public.note(%L); return null; end $f$', kind, other, 'operator(' || kind || ', ' || other || ')');
          foreach name in array ${list(operators)} loop
            execute pg_catalog.format('create operator public.%s (leftarg = %s, rightarg = %s, function = public.spring)', name, kind, other);
          end loop;
        end loop;
        foreach name in array ${list(findCalledFunctions())} loop
          execute pg_catalog.format('create or replace function public.%I(a %s) returns %s language plpgsql as $f$ begin
            perform public.note(%L); return null; end $f$', name, kind, kind, name || '(' || kind || ')');
          execute pg_catalog.format('create or replace function public.%I(a %s, b text) returns %s language plpgsql as $f$ begin
            perform public.note(%L); return null; end $f$', name, kind, kind, name || '(' || kind || ', text)');
        end loop;
      end loop;
      foreach name in array array['now', 'gen_random_uuid', 'count', 'current_database', 'clock_timestamp', 'pg_current_xact_id'] loop
        execute pg_catalog.format('create or replace function public.%I() returns text language plpgsql as $f$ begin
          perform public.note(%L); return null; end $f$', name, name || '()');
      end loop;
    end $plant$; reset search_path`;
}

/** Types with the names of PostgreSQL's, whose values are checked by a function. */
const domains = ['uuid', 'text', 'jsonb', 'timestamptz', 'bytea', 'name', 'inet', 'xid8', 'float8', 'int8']
  .map((type) => `create domain public."${type}" as pg_catalog."${type}" check (public.checked('${type}'))`)
  .join(';');

// Behind the names of PostgreSQL, he would catch less: only what fits better.
const path = 'public, pg_catalog';

describe('with the schema before the names of PostgreSQL', () => {
  let database: TestDatabase;
  let owner: string;
  let mallory: string;
  let ownerUrl: string;

  beforeAll(async () => {
    database = await createDatabase();
    [owner, mallory] = [`owner_${database.name}`, `mallory_${database.name}`];
    ownerUrl = database.urlAs(owner, 'test');
    await database.query(`create role ${owner} superuser login password 'test'; create role ${mallory} login password 'test';
      grant create, usage on schema public to public;
      create table public.caught (what text, who text); grant insert on public.caught to public;
      create schema app; create table app.memo (id int primary key, body varchar); insert into app.memo values (1, 'a')`);
    for (const role of [owner, 'authenticator']) {
      // Nor does anything depend on how values are written in this database.
      const settings = {
        DateStyle: 'SQL, DMY',
        IntervalStyle: 'sql_standard',
        TimeZone: 'Asia/Tokyo',
        bytea_output: 'escape',
      };
      const all = Object.entries(settings).map(([name, value]) => `set ${name} = '${value}'`);
      for (const set of [`set search_path = ${path}`, ...all]) {
        await database.query(`alter role ${role} in database ${database.name} ${set}`);
      }
    }
    // Whatever runs tries to make its maker a superuser.
    await database.query(`set role ${mallory};
      create function public.note(what pg_catalog.text) returns void language plpgsql as $$ begin
        insert into public.caught values (what, session_user);
        execute 'alter role ${mallory} superuser';
      exception when insufficient_privilege then null; end $$;
      create function public.checked(what pg_catalog.text) returns pg_catalog.bool language plpgsql as $$ begin
        perform public.note(what); return true; end $$;
      ${plant(types, beside)}; ${domains}; reset role`);
  });

  afterAll(async () => {
    await database.query(`drop owned by ${mallory} cascade; drop role ${mallory}; reassign owned by ${owner} to current_user;
      drop owned by ${owner}; drop role ${owner}; alter role authenticator in database ${database.name} reset all`);
  });

  /** What our logins have run of his. */
  const caught = () =>
    database.query(
      `select distinct c.what, c.who from public.caught c where c.who in ($1, 'authenticator') order by 1`,
      [owner],
    );
  const isSuperuser = async () =>
    (
      await database.query<{ is: boolean }>('select r.rolsuper as is from pg_catalog.pg_roles r where r.rolname = $1', [
        mallory,
      ])
    )[0]!.is;

  test('an ordinary connection of the owner runs what he has planted', async () => {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: ownerUrl });
    await client.connect();
    await client.query(`select body ~~ 'a' from app.memo`);
    await client.end();
    expect(await caught()).toEqual([{ what: 'operator(varchar, varchar)', who: owner }]);
    expect(await isSuperuser()).toBe(true);
    await database.query(`delete from public.caught; alter role ${mallory} nosuperuser`);
  });

  test('no command, no request of the auth service or of its management, and no reading of the catalog does', async () => {
    const env = { DATABASE_URL: ownerUrl, PGREFLECT_SCHEMAS: 'app' };
    for (const args of [
      ['init', '--auth', '--watch', '--grant-defaults'],
      ['init', '--auth', '--watch'],
      ['check'],
      ['tokens', 'create', '--name', 'x'],
      ['tokens', 'list'],
    ]) {
      const { code, out, err } = await runCommand(args, { env });
      expect(`${args.join(' ')}: ${code === 0 || args[0] === 'check' ? 'done' : out + err}`).toBe(
        `${args.join(' ')}: done`,
      );
      expect(await caught()).toEqual([]);
    }
    await database.query(`grant usage on schema auth to ${mallory}; set role ${mallory};
      ${plant(
        enums.map((name) => `auth.${name}`),
        ['text', 'varchar'],
      )}; reset role`);

    const limits = {
      rate_limit_email_sent: 100,
      rate_limit_token_refresh: 100,
      rate_limit_verify: 100,
      rate_limit_otp: 100,
    };
    const auth = await testAuth(
      database,
      { mailer_autoconfirm: false, ...limits },
      { adminDatabaseUrl: ownerUrl, schemas: ['app'] },
    );
    const session = await signedUp(auth, 'ana@mail.test');
    expect(session.access_token).toBeTypeOf('string');
    const statuses = [
      await auth.ask('/token?grant_type=password', { email: 'ana@mail.test', password: 'a good password' }),
      await auth.ask('/token?grant_type=password', { email: 'ana@mail.test', password: 'a bad password' }),
      await auth.ask('/token?grant_type=refresh_token', { refresh_token: session.refresh_token }),
      await auth.ask('/recover', { email: 'ana@mail.test' }),
      await auth.ask('/user', { data: { a: 1 } }, { method: 'PUT', token: session.access_token }),
      await auth.ask('/factors', { factor_type: 'totp', friendly_name: 'x' }, { token: session.access_token }),
      await auth.askAdmin('/admin/users?page=1&per_page=10'),
      await auth.askAdmin('/admin/users', { email: 'bea@mail.test', password: 'a good password', email_confirm: true }),
      await auth.askAdmin('/admin/audit'),
      await auth.askAdmin('/admin/generate_link', { type: 'magiclink', email: 'bea@mail.test' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 400, 200, 200, 200, 200, 200, 200, 200, 200]);
    expect(await caught()).toEqual([]);

    const created = await runCommand(['tokens', 'create', '--name', 'y'], { env });
    const [token] = /sbp_\w+/.exec(created.out) ?? [];
    const { get, patch, call } = await managedGateway(database, token ?? created.out, {
      adminDatabaseUrl: ownerUrl,
      schemas: ['app'],
    });
    const configPath = `/v1/projects/${ref}/config/auth`;
    const management = [
      await get(),
      await patch({ site_url: 'https://one.test', smtp_pass: 'a secret', mailer_subjects_recovery: 'Hello' }),
      await patch({ site_url: 'https://two.test', mailer_subjects_recovery: null }),
      await patch({ nothing: 1 }),
      await call({ path: `${configPath}/versions` }),
      await call({ path: `${configPath}/versions/1` }),
      await call({ token: 'Bearer sbp_0000000000000000000000000000000000000000' }),
    ];
    expect(management.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200, 200, 401]);
    expect(management[2]?.body.site_url).toBe('https://two.test');
    expect(await caught()).toEqual([]);

    const response = await fetch(`${auth.url}/graphql/v1`, {
      method: 'POST',
      headers: { apikey: serviceKey, authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' },
      body: operation('{ memoCollection(filter: { body: { like: "a" } }) { edges { node { id body } } } }'),
    });
    expect(JSON.stringify(await response.json())).toContain('"body":"a"');

    expect(await caught()).toEqual([]);
    expect(await isSuperuser()).toBe(false);
  });
});
