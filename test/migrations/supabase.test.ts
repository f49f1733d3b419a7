/**
 * `init --supabase`: the migrations of a Supabase project apply, a second run does nothing, `--remove` leaves nothing, and a tenant who
 * was there first gains nothing.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { adviseExtensions, planSupabaseRemoval } from '../../src/cli/init/supabase-setup.ts';
import { runCommand } from '../commands/run-command.ts';
import { usePool } from '../management/management.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { applyFolder, printApplied } from './apply-folder.ts';
import { startOwnServer } from './hosted-project.ts';

vi.setConfig({ testTimeout: 120_000 });

const project: readonly string[] = [
  `create extension if not exists "uuid-ossp" schema extensions; create extension if not exists pgcrypto with schema extensions;
  create table profile (id uuid primary key references auth.users on delete cascade, token text default encode(extensions.gen_random_bytes(8), 'hex'),
    ref uuid default uuid_generate_v4(), pin text);
  alter table profile enable row level security;
  create policy own on profile for all to authenticated using (auth.uid() = id);`,
  `create function handle_new_user() returns trigger language plpgsql security definer set search_path = '' as $$
  begin insert into public.profile (id) values (new.id); return new; end $$;
  create trigger on_auth_user_created after insert on auth.users for each row execute function handle_new_user();`,
  `insert into storage.buckets (id, name, public) values ('avatars', 'avatars', true) on conflict (id) do nothing;
  create policy "own avatars" on storage.objects for insert to authenticated
    with check (bucket_id = 'avatars' and (storage.foldername(name))[1] = auth.uid()::text);`,
  `create function set_pin(text) returns text language sql as $$ select crypt($1, gen_salt('bf')) $$;`,
  `create table message (id bigint generated always as identity primary key, body text);
  alter publication supabase_realtime add table message;
  create policy listens on realtime.messages for select to authenticated using (realtime.topic() = 'room');`,
  `select cron.schedule('nightly', '0 3 * * *', 'delete from message');`,
  `create function tell() returns trigger language plpgsql as $$
  begin perform net.http_post(url := 'https://example.com', body := jsonb_build_object('id', new.id)); return new; end $$;
  create trigger tells after insert on message for each row execute function tell();
  insert into message (body) values ('hello');`,
  `create trigger hook after insert or update or delete on message for each row
  execute function supabase_functions.http_request('https://example.com', 'POST', '{}', '{}', '5000');
  insert into message (body) values ('hi'); update message set body = 'ho'; delete from message;
  select setval('supabase_functions.hooks_id_seq', 1, false);`,
  `select vault.create_secret('hidden', 'api_key');
  do $$ begin perform decrypted_secret from vault.decrypted_secrets where name = 'api_key'; end $$;`,
  `create function access_token_hook(event jsonb) returns jsonb language sql as 'select event';
  grant usage on schema public to supabase_auth_admin;
  grant execute on function access_token_hook to supabase_auth_admin;`,
  `insert into auth.users (id, email) values (gen_random_uuid(), 'a@example.com');`,
];

const mark = randomBytes(4).toString('hex');
const roles = ['anon', 'authenticated', 'service', 'login', 'auth'].flatMap((kind) => [
  `--${kind}-role`,
  `${kind}_${mark}`,
]);

const init = (database: TestDatabase, ...args: readonly string[]) =>
  runCommand(['init', '--database-url', database.url, ...args]);

/** Schemas, publications and settings of the database. */
const left = `select n.nspname::text as name from pg_namespace n where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all select p.pubname from pg_publication p
  union all select e.extname from pg_extension e
  union all select s.setconfig::text from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
  where d.datname = current_database()
  order by 1`;

test('the migrations of a project apply after init', async () => {
  const database = await createDatabase();
  const made = await init(database, '--auth', '--grant-defaults', '--supabase', '--schemas', 'public');
  expect([made.code, made.err]).toEqual([0, '']);
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [place, text] of project.entries()) writeFileSync(join(folder, `${place}_step.sql`), text);
  expect(printApplied(await applyFolder(database.url, folder))).toBe(`${project.length} applied, 0 failed`);
  expect(await database.query('select jobname from cron.job')).toEqual([{ jobname: 'nightly' }]);
  expect(await database.query('select secret from vault.secrets')).toEqual([{ secret: null }]);
  const [path] =
    await database.query(`select storage.foldername('a/b/c.tar.gz') as folder, storage.filename('a/b/c.tar.gz') as file,
    storage.extension('a/b/c.tar.gz') as extension, storage.foldername('c') as top`);
  expect(path).toEqual({ folder: ['a', 'b'], file: 'c.tar.gz', extension: 'gz', top: [] });

  const checked = await runCommand([
    'check',
    '--database-url',
    database.url,
    '--schemas',
    'public',
    '--only',
    'not_served',
  ]);
  for (const word of [
    'Storage',
    'Realtime',
    'pg_cron',
    'pg_net',
    'Database Webhooks, so these are stored only: trigger "hook" on public.message',
    'table message',
    'policy "own avatars"',
    'jobs of cron.job',
  ])
    expect(checked.out).toContain(word.replace('table ', 'table public.'));

  const again = await init(database, '--auth', '--grant-defaults', '--supabase', '--schemas', 'public');
  expect(again.out).toContain('unchanged  surroundings of Supabase');
  expect(again.out).not.toContain('\ndone');
  // Objects of the project keep what they stand on.
  const kept = await init(database, '--dry-run', '--remove', ...roles);
  expect(kept.out).toContain('the schema storage has rows, policies or triggers of yours');
});

test.each([[[]], [['--auth']]])('with %s, a removal leaves nothing', async (more) => {
  const database = await createDatabase();
  const before = await database.query(left);
  const made = await init(database, '--supabase', ...more, ...roles, '--schemas', 'public');
  expect([made.code, made.err]).toEqual([0, '']);
  const again = await init(database, '--supabase', ...more, ...roles, '--schemas', 'public');
  expect(again.out).not.toContain('done');
  const removed = await init(database, '--remove', ...roles);
  expect(removed).toMatchObject({ code: 0, err: '', out: expect.not.stringContaining('REFUSED') });
  await database.query('drop schema if exists auth, pgreflect_queue cascade');
  expect(await database.query(left)).toEqual(before);
  // Other databases of the server may name them.
  expect(await database.query(`select from pg_roles where rolname = 'supabase_admin'`)).toHaveLength(1);
});

test('extensions that the server has no files of are named, with what to do', async () => {
  const database = await createDatabase();
  const advice = await usePool(database, (pool) => adviseExtensions(pool, ['pgcrypto', 'no_such', 'nor-this']));
  expect(advice).toBe(
    'The server lacks the extensions no_such, nor-this, which migrations of Supabase name. Install its package of contrib modules, ' +
      'then: create extension no_such schema extensions; create extension "nor-this" schema extensions;',
  );
  expect(await usePool(database, (pool) => adviseExtensions(pool, ['pgcrypto']))).toBeNull();
});

test('the script of --dry-run makes the same', async () => {
  const [byInit, byHand] = [await createDatabase(), await createDatabase()];
  const script = await init(byHand, '--supabase', '--dry-run', '--schemas', 'public');
  await byHand.query(script.out);
  await init(byInit, '--supabase', '--schemas', 'public');
  const lines = async (database: TestDatabase) =>
    JSON.stringify(await database.query(left)).replaceAll(database.name, 'NAME');
  expect(await lines(byHand)).toBe(await lines(byInit));
});

test('a server whose superuser has another name than postgres gets the role that dumps name', async () => {
  const server = await startOwnServer();
  await server.query('postgres', `create role boss superuser login password 'test'`);
  await server.query('boss', 'alter role postgres rename to first');
  const url = server.urlAs('boss');
  const made = await runCommand(['init', '--supabase', '--schemas', 'public', '--database-url', url]);
  expect([made.code, made.err]).toEqual([0, '']);
  await server.query(
    'boss',
    `create table note (id int primary key); alter table note owner to postgres; grant all on note to postgres;
    alter default privileges for role postgres in schema public grant all on tables to postgres, anon`,
  );
  const attributes = 'rolsuper, rolcanlogin, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication';
  const [role] = await server.query('boss', `select ${attributes} from pg_roles where rolname = 'postgres'`);
  expect(Object.values(role!)).toEqual(attributes.split(', ').map(() => false));
});

test.each(['storage', 'extensions', 'net'])(
  'the schema %s of a tenant is refused, and nothing is given',
  async (schema) => {
    const tenant = `tenant_${schema}_${mark}`;
    const database = await createDatabase(`create role ${tenant} login password 'test'`);
    onTestFinished(async () => void (await database.query(`drop owned by ${tenant} cascade; drop role ${tenant}`)));
    await database.query(`create schema ${schema} authorization ${tenant};
    set role ${tenant}; create function ${schema}.gen_salt(text) returns text language sql as 'select $1'; reset role`);
    const before = await database.query(left);
    const { code, out } = await init(database, '--supabase', '--schemas', 'public');
    expect(code).toBe(1);
    expect(out).toContain(`REFUSED    surroundings of Supabase`);
    expect(out).toContain(tenant);
    expect(await database.query(left)).toEqual(before);
    const [row] = await database.query(`select nspacl from pg_namespace where nspname = '${schema}'`);
    expect(row).toEqual({ nspacl: null });
  },
);

test('a function of a tenant in a trusted schema is refused, and the path stays', async () => {
  const tenant = `tenant_in_${mark}`;
  const database = await createDatabase(`create role ${tenant} login password 'test'`);
  onTestFinished(async () => void (await database.query(`drop owned by ${tenant} cascade; drop role ${tenant}`)));
  await database.query(`create schema extensions; create function extensions.digest(text) returns text language sql as 'select $1';
    alter function extensions.digest owner to ${tenant}`);
  const before = await database.query(left);
  expect((await init(database, '--supabase', '--schemas', 'public')).code).toBe(1);
  expect(await database.query(left)).toEqual(before);
});

test('a removal names and reads no table of a tenant, who may put a view in its place', async () => {
  const tenant = `tenant_by_${mark}`;
  const database = await createDatabase(`create role ${tenant} login password 'test'; create sequence ran`);
  onTestFinished(async () => void (await database.query(`drop owned by ${tenant} cascade; drop role ${tenant}`)));
  await init(database, '--supabase', '--schemas', 'public');
  await database.query(`grant create, usage on schema storage to ${tenant};
    set role ${tenant}; create table storage."$body$; alter role ${tenant} superuser; --" (); create table storage.mine (); reset role`);
  const { out } = await init(database, '--dry-run', '--remove');
  expect(out).toContain('drop schema storage');
  expect(out).not.toContain('superuser');
  const steps = await usePool(database, planSupabaseRemoval);
  // A number is counted as whoever runs it, and stays counted after a rollback.
  await database.query(`set role ${tenant}; drop table storage.mine;
    create function storage.spy() returns bool language plpgsql as $f$ begin perform nextval('public.ran'); return false; end $f$;
    create view storage.mine as select 1 as n where storage.spy(); reset role`);
  for (const { statement } of steps) await database.query(statement!).catch(() => {});
  expect(await database.query('select is_called from ran')).toEqual([{ is_called: false }]);
  // It is still there, with what the tenant has in it.
  expect(await database.query(`select from pg_class where relname = 'objects'`)).toHaveLength(1);
});
