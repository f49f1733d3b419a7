/**
 * A tenant who may create schemas in the database makes those of the gateway before the operator does. `init` keeps what exists, and
 * whoever owns a function or a table decides what runs as those who use it, so nothing is put beside it.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { ref } from '../management/management.ts';
import { send } from '../support/auth-service.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

// Roles belong to the whole server, so this file has its own.
const mark = randomBytes(4).toString('hex');
const tenant = `tenant_${mark}`;
/** What a provider gives its customers: no superuser, and far more than the gateway's login. */
const hosted = `hosted_${mark}`;
/** What the tenant's code creates where it may. */
const made = `made_${mark}`;
let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase(`do $body$ begin
    if not exists (select from pg_roles where rolname = '${tenant}') then
      create role ${tenant} login password 'test';
      create role ${hosted} login createrole bypassrls password 'test';
    end if;
  end $body$`);
  await database.query(`alter role ${tenant} nosuperuser; drop role if exists ${made};
    grant create on database ${database.name} to ${tenant};
    create table diary (line text); alter table diary enable row level security; insert into diary values ('secret');
    grant select on diary to service_role, ${hosted}`);
});
afterAll(async () => {
  await database.query(`drop owned by ${tenant} cascade; drop owned by ${hosted} cascade`);
});

async function asTenant(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.urlAs(tenant, 'test') });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

function init(...args: readonly string[]) {
  return runCommand(['init', '--database-url', database.url, ...args]);
}

/** Of the tenant, who has it run by whoever changes the schema, or signs somebody up. */
const code = `begin
  if (select rolsuper from pg_roles where rolname = current_user) then alter role ${tenant} superuser; end if;
  return new;
end`;
const noteChange = `create or replace function pgreflect.note_catalog_change() returns event_trigger language plpgsql
  as $$ ${code.replace('return new;', '')} $$`;

async function isSuperuser(): Promise<boolean> {
  const [row] = await database.query<{ rolsuper: boolean }>(
    `select rolsuper from pg_roles where rolname = '${tenant}'`,
  );
  return row!.rolsuper;
}

describe('a tenant does not become superuser by a schema that was made before', () => {
  test.each([
    ['with the function of the trigger', `create schema pgreflect; ${noteChange}`],
    ['and nothing in it', 'create schema pgreflect'],
  ])('the one of the schema-change trigger %s', async (_what, before) => {
    await asTenant(before);
    const { code: exit, out } = await init('--watch');
    // Where the function is theirs, they change it now; else they cannot.
    await asTenant(noteChange).catch(() => {});
    await database.query('create table of_the_operator (id int)');
    expect(await isSuperuser()).toBe(false);
    expect(exit).toBe(1);
    expect(out).toMatch(new RegExp(`schema-change trigger: .* belongs to the role "${tenant}"`));
    expect(await database.query('select evtname from pg_event_trigger')).toEqual([]);
  });

  test('the record of changed tables, with a view in the place of one that is read', async () => {
    await asTenant(`create schema pgreflect; grant usage on schema pgreflect to public;
      create function pgreflect.note_live_change() returns void language sql as '';
      create function pgreflect.prune_live_change() returns void language sql as '';
      create table pgreflect.live_change (id int); grant select, delete on pgreflect.live_change to public;
      create table pgreflect.live_mark (id int);
      create function pgreflect.seize() returns name language plpgsql as $$ ${code.replace('return new', "return ''")} $$;
      create view pgreflect.live_schema as select pgreflect.seize() as name; grant select on pgreflect.live_schema to public`);
    const { code: exit, out } = await init('--live');
    expect(await isSuperuser()).toBe(false);
    expect(exit).toBe(1);
    expect(out).toMatch(new RegExp(`record of changed tables: .* belongs to the role "${tenant}"`));
  });

  test('the printed SQL stops at it too', async () => {
    await asTenant(`create schema pgreflect; ${noteChange}`);
    const { out } = await init('--watch', '--dry-run');
    const trigger = out.slice(out.indexOf('begin;'));
    await expect(database.query(trigger)).rejects.toThrow(`belongs to the role "${tenant}"`);
    expect(await database.query('select evtname from pg_event_trigger')).toEqual([]);
  });

  test('the one of the auth service', async () => {
    await asTenant(`create schema auth; create table auth.pgreflect_migrations (version integer primary key, title text);
      create function auth.seize() returns trigger language plpgsql as $$ ${code} $$;
      create trigger seize before insert on auth.pgreflect_migrations for each row execute function auth.seize()`);
    const { code: exit, out } = await init('--auth');
    expect(await isSuperuser()).toBe(false);
    expect(exit).toBe(1);
    expect(out).toMatch(new RegExp(`tables of the auth service: .* belongs to the role "${tenant}"`));
  });
});

/** Of the tenant: tries everything, as whoever calls it and as the roles that they may become. */
const seize = `create schema tenants; create table tenants.canary (ran_as text, line text);
  grant usage on schema tenants to public; grant insert on tenants.canary to public;
  create schema auth; grant usage on schema auth to public;
  create function auth.seize() returns text language plpgsql as $$ begin
    insert into tenants.canary values (current_user);
    begin insert into tenants.canary select current_user, line from public.diary; exception when others then null; end;
    begin create role ${made}; exception when others then null; end;
    begin alter role ${tenant} superuser; exception when others then null; end;
    begin
      perform set_config('role', 'service_role', true);
      insert into tenants.canary select current_user, line from public.diary;
    exception when others then null; end;
    perform set_config('role', 'none', true);
    return gen_random_uuid()::text;
  end $$`;

/** Where the code ran, what it read, and which roles it made or changed. */
async function damage() {
  const roles = await database.query(
    `select rolname from pg_roles where rolname = '${made}' or rolname = '${tenant}' and rolsuper`,
  );
  return [...roles, ...(await database.query('select ran_as, line from tenants.canary'))];
}

const texts = (names: string) =>
  names
    .split(' ')
    .map((name) => `null::text as ${name}`)
    .join(', ');
const times =
  'email_confirmed_at phone_confirmed_at invited_at last_sign_in_at created_at updated_at banned_until deleted_at';
const none = 'null::uuid as id, null::uuid as user_id,';
const configView = `create view auth.pgreflect_config as select auth.seize() as project_ref, 1 as version, '{}'::jsonb as values;
  grant select on auth.pgreflect_config to public`;
const tokensView = `create view auth.pgreflect_access_tokens as select auth.seize() as id, 'x' as name, '{}'::text[] as scopes,
    now() as created_at, null::timestamptz as expires_at, null::timestamptz as revoked_at, null::text as project_ref,
    null::text as created_by;
  grant select on auth.pgreflect_access_tokens to public`;

describe.each(['a superuser', 'the login of a customer'])('%s reads nothing of theirs', (login) => {
  const url = () => (login === 'a superuser' ? database.url : database.urlAs(hosted, 'test'));
  test.each([
    ['config export --project-ref abcdefghijklmnopqrst', configView],
    ['tokens list', tokensView],
    ['users export leaked.jsonl', `
      create view auth.identities as select ${none} ${texts('provider provider_id identity_data last_sign_in_at created_at updated_at')};
      create view auth.mfa_factors as select ${none} ${texts('factor_type friendly_name status secret phone created_at updated_at')};
      create view auth.users as select auth.seize()::uuid as instance_id, null::uuid as id,
        ${texts(`aud role email phone encrypted_password ${times} is_anonymous is_sso_user`)},
        '{}'::jsonb as raw_app_meta_data, '{}'::jsonb as raw_user_meta_data;
      grant select on auth.identities, auth.mfa_factors, auth.users to public`],
  ])('by `%s`', async (command, views) => {
    await asTenant(`${seize}; ${views}`);
    const { code: exit, err } = await runCommand([...command.split(' '), '--database-url', url()]);
    expect(await damage()).toEqual([]);
    expect(exit).toBe(1);
    expect(err).toContain(`belongs to the role "${tenant}"`);
    expect(err).toContain(`--adopt-role ${tenant}`);
  }); // biome-ignore format: what each command reads
});

test('a command that writes runs no trigger of theirs', async () => {
  expect((await init('--auth')).code).toBe(0);
  await asTenant(`create schema tenants; create table tenants.canary (ran_as text, line text);
    create function tenants.seize() returns trigger language plpgsql as $$ ${code} $$; grant usage on schema tenants to public`);
  await database.query(
    `grant usage on schema auth to ${tenant}; grant trigger on auth.pgreflect_access_tokens to ${tenant}`,
  );
  await asTenant(`create trigger seize before insert on auth.pgreflect_access_tokens
    for each row execute function tenants.seize()`);
  const create = () => runCommand(['tokens', 'create', '--database-url', database.url]);
  const refused = await create();
  expect(await damage()).toEqual([]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`"${tenant}" may create triggers on auth.`)]);
  await database.query(`revoke trigger on auth.pgreflect_access_tokens from ${tenant}`);
  expect((await create()).err).toContain(`runs the function tenants.seize() of the role "${tenant}"`);
  expect(await damage()).toEqual([]);
});

describe('a gateway runs no code of theirs as its login', () => {
  /** Everything that reads the auth tables without a proof of who asks. */
  async function askEverything(url: string): Promise<readonly number[]> {
    const signUp = { email: 'ana@example.com', password: 'correct horse battery' };
    const answers = [await send(url, '/signup', signUp, {}), await send(url, '/token?grant_type=password', signUp, {})];
    const managed = await fetch(`${url}/v1/projects/${ref}/config/auth`, {
      headers: { authorization: `Bearer sbp_${'0'.repeat(40)}` },
    });
    return [...answers.map(({ status }) => status), managed.status];
  }

  const tables = `${configView}; ${tokensView};
    create table auth.users (id text default auth.seize()); create table auth.pgreflect_rate_limits (id text default auth.seize());
    grant all on auth.users, auth.pgreflect_rate_limits to public; create schema pgreflect_queue`;
  const given = { projectRef: ref, managementApiEnabled: true };
  const login = () => ({ ...given, adminDatabaseUrl: database.urlAs('authenticator', 'test') });

  test('where they made the tables before `init --auth`', async () => {
    await asTenant(`${seize}; ${tables}`);
    const { url, observations } = await testGateway(database, login());
    const statuses = await askEverything(url);
    expect(await damage()).toEqual([]);
    expect(statuses.every((status) => status >= 400)).toBe(true);
    const warnings = observations.flatMap((one) => (one.kind === 'warning' ? [one.message] : []));
    expect(warnings).toContainEqual(expect.stringContaining(`belongs to the role "${tenant}"`));
  });

  test('where they make them while it serves, also after those of the operator were dropped', async () => {
    const gateway = await testGateway(database, login());
    await askEverything(gateway.url);
    await asTenant(`${seize}; ${tables}`);
    await askEverything(gateway.url);
    expect(await damage()).toEqual([]);

    await database.query('drop schema auth, pgreflect_queue, tenants cascade');
    expect((await init('--auth')).code).toBe(0);
    const settings = { headers: { apikey: anonKey } };
    const serving = await testGateway(database, given);
    expect((await fetch(`${serving.url}/auth/v1/settings`, settings)).status).toBe(200);
    await database.query('drop schema auth, pgreflect_queue cascade');
    await asTenant(`${seize}; ${tables}`);
    await serving.reload();
    await askEverything(serving.url);
    expect(await damage()).toEqual([]);
  });
});

test('an operator who is no superuser makes the tables, and all that use them go on', async () => {
  await database.query(`alter database ${database.name} owner to ${hosted}; alter schema public owner to ${hosted}`);
  const names = ['anon', 'authenticated', 'service', 'login', 'auth'].map((kind) => [
    `--${kind}-role`,
    `${kind}_${mark}`,
  ]);
  const url = database.urlAs(hosted, 'test');
  const made = await runCommand([
    'init',
    '--auth',
    '--auth-role-password',
    'test',
    '--database-url',
    url,
    ...names.flat(),
  ]);
  expect([made.code, made.err]).toEqual([0, '']);
  const authUrl = database.urlAs(`auth_${mark}`, 'test');
  // As the owner, and as the login that owns nothing.
  for (const admin of [url, authUrl]) {
    const token = await runCommand(['tokens', 'create', '--database-url', admin]);
    expect([token.code, (await runCommand(['tokens', 'list', '--database-url', admin])).code]).toEqual([0, 0]);
    const { url: origin } = await testGateway(database, {
      projectRef: ref,
      managementApiEnabled: true,
      adminDatabaseUrl: admin,
    });
    const headers = { authorization: `Bearer ${token.out.trim()}`, apikey: anonKey };
    for (const path of ['/auth/v1/settings', `/v1/projects/${ref}/config/auth`])
      expect([path, (await fetch(`${origin}${path}`, { headers })).status]).toEqual([path, 200]);
  }
});

test('a second run finds what the first has made, and makes it again where the trigger was taken out', async () => {
  expect((await init('--watch', '--auth')).code).toBe(0);
  await database.query('drop event trigger pgreflect_ddl');
  expect((await init('--watch', '--auth')).out).toContain('done       schema-change trigger');
});
