/** `init --live`: as a superuser, as the owner of the database without more, and what it says where something is refused. */
import { randomBytes } from 'node:crypto';
import { afterAll, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

vi.setConfig({ testTimeout: 120_000 });

const mark = randomBytes(4).toString('hex');
const names = { anon: `anon_${mark}`, authenticated: `user_${mark}`, service: `robot_${mark}`, login: `login_${mark}` };
const flags = [
  ...['--anon-role', names.anon, '--authenticated-role', names.authenticated],
  ...['--service-role', names.service, '--login-role', names.login],
];
const owner = `owner_${mark}`;
const shop = `
  create schema "Back Office";
  create table note (id int primary key, at date) partition by range (id);
  create table note_1 partition of note for values from (1) to (100);
  create schema hidden;
  create table hidden.member (id int primary key);
  create table hidden.unread (id int primary key);
  create table hidden."part of ""note" partition of note for values from (100) to (200);
  create table own_note (id int primary key);
  alter table own_note enable row level security;
  create policy of_members on own_note for select using (exists (select from hidden.member));
  create view seen as select id from own_note;
  create foreign data wrapper nowhere;
  create server away foreign data wrapper nowhere;
  create foreign table far (id int) server away;
`;
const database = await createDatabase(shop);
const init = (url: string, ...args: readonly string[]) =>
  runCommand(['init', '--database-url', url, ...flags, ...args]);
const triggered = (on: TestDatabase) =>
  on.query<{ name: string; enabled: string }>(
    `select tgrelid::regclass::text as name, tgenabled as enabled from pg_trigger where tgname = 'pgreflect_live' order by 1`,
  );

afterAll(async () => {
  await init(database.url, '--remove');
  await database.query(`drop role if exists ${owner}`);
});

async function check(): Promise<readonly { readonly object: string }[]> {
  const only = ['--only', 'change_trigger_missing', '--format', 'json', '--schemas', 'public,Back Office'];
  const { out } = await runCommand(['check', '--database-url', database.url, ...flags.slice(0, 8), ...only]);
  return JSON.parse(out).findings;
}

test('init --live puts its trigger on all tables that may be read, once, and --remove takes it away', async () => {
  const { out: printed } = await init(database.url, '--live', '--dry-run', '--schemas', 'public');
  expect(printed).toContain('create unlogged table if not exists pgreflect.live_change');
  expect(printed).toContain('create event trigger pgreflect_ddl');
  expect(printed).toContain('on hidden."part of ""note"');
  expect(await triggered(database)).toEqual([]);
  const { code, out } = await init(database.url, '--live', '--schemas', 'public');
  expect(out).toContain('done       record of changed tables');
  expect(out).not.toContain('REFUSED');
  expect(code).toBe(0);
  expect(out).toContain('done       schema-change trigger');
  expect(out).toContain('done       change triggers on 5 tables');
  const all = ['hidden."part of ""note"', 'hidden.member', 'note', 'note_1', 'own_note'];
  expect(await triggered(database)).toEqual(all.map((name) => ({ name, enabled: 'A' })));
  const { out: again } = await init(database.url, '--live', '--schemas', 'public');
  expect(again).not.toMatch(/^done/m);
  expect(again).toContain('unchanged  change triggers on 5 tables');
  // Another schema, and a trigger that somebody has removed.
  expect(await check()).toEqual([]);
  await database.query('drop trigger pgreflect_live on own_note; alter table note disable trigger pgreflect_live');
  await database.query('create table "Back Office"."a""b" (id int primary key)');
  expect(await check()).toMatchObject([
    { object: '"Back Office"."a""b"', severity: 'note', command: 'pgreflect init --live' },
    { object: 'public.note', fix: 'alter table public.note enable always trigger pgreflect_live;' },
    { object: 'public.own_note', fix: expect.stringContaining('create trigger pgreflect_live') },
  ]);
  const more = await init(database.url, '--live', '--schemas', 'public,Back Office');
  expect(more.out).toContain('done       record of changed tables');
  expect(more.out).toContain('done       change triggers on 6 tables');
  expect((await check()).map(({ object }) => object)).toEqual([]);
  expect((await triggered(database)).map(({ enabled }) => enabled)).toEqual(['A', 'A', 'A', 'A', 'A', 'A']);
  expect((await init(database.url, '--remove', '--dry-run')).out).toContain(
    'drop function if exists pgreflect.note_live',
  );
  const { out: removed } = await init(database.url, '--remove');
  expect(removed).toContain('done       record of changed tables');
  expect(await triggered(database)).toEqual([]);
  expect(await database.query(`select from pg_namespace where nspname = 'pgreflect'`)).toEqual([]);
});

test('init --live gives the login of the gateway the rows of the record alone, and nobody its functions', async () => {
  await init(database.url, '--live', '--schemas', 'public');
  const [row] = await database.query(
    `select has_table_privilege($1, 'pgreflect.live_change', 'select, delete') and has_schema_privilege($1, 'pgreflect', 'usage') as reads,
      has_table_privilege($1, 'pgreflect.live_change', 'insert, update, truncate') as writes,
      has_function_privilege($1, 'pgreflect.note_live_change()', 'execute') as calls,
      has_table_privilege('public', 'pgreflect.live_change', 'select') as open`,
    [names.login],
  );
  expect(row).toEqual({ reads: true, writes: false, calls: false, open: false });
  await init(database.url, '--remove');
});

test('init --live of an owner who is no superuser does what it may, and says what follows from the rest', async () => {
  const own = await createDatabase(shop);
  await own.query(`create role ${owner} login createrole password 'test'; alter database ${own.name} owner to ${owner};
    alter table own_note owner to ${owner}; alter schema hidden owner to ${owner}; alter table hidden.member owner to ${owner}`);
  const { code, out } = await init(own.urlAs(owner, 'test'), '--live', '--schemas', 'public');
  expect(code).toBe(1);
  expect(out).toContain('REFUSED    schema-change trigger');
  expect(out).toContain('done       record of changed tables');
  expect(out).toContain('done       change triggers on 2 tables');
  expect(out).toContain('REFUSED    change trigger on public.note_1');
  expect(out).toContain('Live queries on 3 tables without a change trigger run at --live-interval-ms.');
  expect(out).toContain('this also holds for materialized views');
  expect(await triggered(own)).toEqual(['hidden.member', 'own_note'].map((name) => ({ name, enabled: 'A' })));
  expect((await init(own.urlAs(owner, 'test'), '--remove')).out).toContain('done       record of changed tables');
  await own.query(`reassign owned by ${owner} to current_user; drop owned by ${owner}`);
});
