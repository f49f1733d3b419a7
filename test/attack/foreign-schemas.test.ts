/**
 * A tenant who may create schemas in the database makes those of the gateway before the operator does. `init` keeps what exists, and
 * whoever owns a function or a table decides what runs as those who use it, so nothing is put beside it.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { runCommand } from '../commands/run-command.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

// Roles belong to the whole server, so this file has its own.
const tenant = `tenant_${randomBytes(4).toString('hex')}`;
let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase(`do $body$ begin
    if not exists (select from pg_roles where rolname = '${tenant}') then create role ${tenant} login password 'test'; end if;
  end $body$`);
  await database.query(`alter role ${tenant} nosuperuser; grant create on database ${database.name} to ${tenant}`);
});
afterAll(async () => {
  await database.query(`drop owned by ${tenant} cascade`);
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

  const texts = (names: string) =>
    names
      .split(' ')
      .map((name) => `null::text as ${name}`)
      .join(', ');
  const times =
    'email_confirmed_at phone_confirmed_at invited_at last_sign_in_at created_at updated_at banned_until deleted_at';
  const none = 'null::uuid as id, null::uuid as user_id,';
  test.each([
    ['config export --project-ref abcdefghijklmnopqrst', `
      create view auth.pgreflect_config as select auth.seize() as project_ref, 1 as version, '{}'::jsonb as values`],
    ['tokens list', `
      create view auth.pgreflect_access_tokens as select auth.seize() as id, 'x' as name, '{}'::text[] as scopes,
        now() as created_at, null::timestamptz as expires_at, null::timestamptz as revoked_at, null::text as project_ref,
        null::text as created_by`],
    ['users export leaked.jsonl', `
      create view auth.identities as select ${none} ${texts('provider provider_id identity_data last_sign_in_at created_at updated_at')};
      create view auth.mfa_factors as select ${none} ${texts('factor_type friendly_name status secret phone created_at updated_at')};
      create view auth.users as select auth.seize()::uuid as instance_id, null::uuid as id,
        ${texts(`aud role email phone encrypted_password ${times} is_anonymous is_sso_user`)},
        '{}'::jsonb as raw_app_meta_data, '{}'::jsonb as raw_user_meta_data;
      grant select on auth.identities, auth.mfa_factors, auth.users to public`],
  ])('that `%s` would read from', async (command, views) => {
    await asTenant(`create schema auth; grant usage on schema auth to public;
      create function auth.seize() returns text language plpgsql as $$ ${code.replace('new;', 'gen_random_uuid();')} $$; ${views}`);
    const { code: exit, err } = await runCommand([...command.split(' '), '--database-url', database.url]);
    expect(await isSuperuser()).toBe(false);
    expect(exit).toBe(1);
    expect(err).toContain(`belongs to the role "${tenant}"`);
  }); // biome-ignore format: what each command reads

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

test('a second run finds what the first has made, and makes it again where the trigger was taken out', async () => {
  expect((await init('--watch', '--auth')).code).toBe(0);
  await database.query('drop event trigger pgreflect_ddl');
  expect((await init('--watch', '--auth')).out).toContain('done       schema-change trigger');
});
