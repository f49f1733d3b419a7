/**
 * Writes of several statements, killed in the middle: nothing of them is there, or all of it. Each statement, and the
 * commit, waits for a lock that the test holds; then the backend, the whole server or the gateway's process is killed.
 */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import { startCommand } from '../commands/run-command.ts';
import { findFreePort } from '../support/free-port.ts';
import { anonKey, operation, secret, testConfig } from '../support/http.ts';
import { scratch } from '../support/scratch.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table parent (id int primary key, n int, note text);
  create table child (id int primary key, parent_id int not null references parent, n int);
  create table leaf (id int primary key, child_id int not null references child, n int);
  create function wait() returns trigger language plpgsql security definer as $$ begin
    perform pg_advisory_xact_lock_shared(77, tg_argv[0]::int); return null; end $$;
  create trigger wait before insert or update or delete on parent execute function wait(1);
  create trigger wait before insert or update or delete on child execute function wait(2);
  create trigger wait before insert or update or delete on leaf execute function wait(3);
  create constraint trigger commits after insert or update on parent deferrable initially deferred for each row execute function wait(4);
  grant usage on schema public to anon;
  grant select, insert, update, delete on parent, child, leaf to anon;
`;
const rows = `
  truncate parent, child, leaf;
  insert into parent values (1, 1), (2, 2);
  insert into child values (1, 1, 1), (2, 1, 2), (3, 2, 3);
  insert into leaf values (1, 2, 1), (2, 3, 2)`;

/** Each writes all three tables. */
const writes = {
  'a nested insert':
    'insertIntoParentCollection(objects: [{id: 10, childCollection: {insert: [{id: 10, leafCollection: {insert: [{id: 10}, {id: 11}]}}]}}]) { affectedCount }',
  'a nested update':
    'updateParentCollection(set: {n: 5, childCollection: {delete: [{filter: {id: {eq: 1}}}], update: [{set: {n: 9, leafCollection: {insert: [{id: 12}]}}, filter: {id: {eq: 2}}}], insert: [{id: 13}]}}, filter: {id: {eq: 1}}) { affectedCount }',
  'lists of updates':
    'updateManyParentCollection(updates: [{set: {n: 7}, filter: {id: {eq: 1}}}, {set: {note: "x"}, filter: {n: {eq: 2}}}]) { affectedCount } updateManyChildCollection(updates: [{increment: {n: 1}, filter: {id: {eq: 1}}}]) { affectedCount } updateManyLeafCollection(updates: [{set: {n: 8}, filter: {id: {eq: 1}}}]) { affectedCount }',
  'a nested upsert':
    'insertIntoParentCollection(objects: [{id: 1, n: 7, childCollection: {insert: [{id: 3, n: 7, leafCollection: {insert: [{id: 2, n: 7}, {id: 14}], onConflict: {constraint: leaf_pkey, updateColumns: [n, childId]}}}], onConflict: {constraint: child_pkey, updateColumns: [n, parentId]}}}], onConflict: {constraint: parent_pkey, updateColumns: [n]}) { affectedCount }',
} as const;
type Name = keyof typeof writes;
const names = Object.keys(writes) as Name[];
/** The statements of the three tables, and the commit. */
const steps = [1, 2, 3, 4];

let folder: string;
let server: EmbeddedServer;
let port: number;
let gateway: Gateway;
const login = () => `postgresql://authenticator:test@127.0.0.1:${port}/postgres`;
const options = () => ({
  dataDirectory: join(folder, 'data'),
  password: 'test',
  persistent: true,
  port,
  settings: { fsync: 'off' },
});

beforeAll(async () => {
  folder = await mkdtemp(join(scratch, 'pgreflect-killed-'));
  await chmod(folder, 0o755);
  port = await findFreePort();
  server = await startEmbeddedServer(options());
  await query(`create role anon; create role authenticated; create role service_role bypassrls;
    create role authenticator login noinherit password 'test'; grant anon, authenticated, service_role to authenticator; ${schema}`);
  const config = testConfig({ databaseUrl: login(), schemas: ['public'], port: 0 });
  gateway = await startGateway(config, { observe: () => {} });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = await connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const state = async () =>
  (
    await query(`select (select json_agg(p order by id) from parent p) as p, (select json_agg(c order by id) from child c) as c,
      (select json_agg(l order by id) from leaf l) as l`)
  )[0];

async function send(url: string, name: Name) {
  const response = await fetch(`${url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json' },
    body: operation(`mutation { ${writes[name]} }`),
  });
  return response.json();
}

/** The rows before and after each write. */
const expected = new Map<Name, { readonly before: unknown; readonly after: unknown }>();
beforeAll(async () => {
  for (const name of names) {
    await query(rows);
    const before = await state();
    expect((await send(gateway.url, name)).errors).toBeUndefined();
    expected.set(name, { before, after: await state() });
    expect(await state()).not.toEqual(before);
  }
});

/** Sends a write that stops at a step. @returns The process of its backend, its answer, and how to let it go on. */
async function stopAt(url: string, name: Name, step: number) {
  await query(rows);
  const holder = await connect();
  await holder.query('select pg_advisory_lock(77, $1)', [step]);
  const answer = send(url, name).catch(() => null);
  const waiting = "select pid from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'advisory'";
  const pid = await vi.waitFor(async () => {
    const { rows: found } = await holder.query(waiting);
    expect(found).toHaveLength(1);
    return Number(found[0].pid);
  }, 20_000);
  return { pid, answer, goOn: () => holder.end().catch(() => {}) };
}

/** The rows when no backend of the gateway runs any more. */
async function settled() {
  const running = "select from pg_stat_activity where usename = 'authenticator' and state <> 'idle'";
  await vi.waitFor(async () => expect(await query(running)).toEqual([]), { timeout: 30_000, interval: 50 });
  return state();
}

/** After a kill that the gateway survives, nothing is there, and the same request writes all. */
async function expectUndone(name: Name, answer: Promise<{ readonly errors?: readonly unknown[] } | null>) {
  expect((await answer)?.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
  expect(await settled()).toEqual(expected.get(name)!.before);
  await vi.waitFor(async () => expect((await send(gateway.url, name)).errors).toBeUndefined(), 20_000);
  expect(await state()).toEqual(expected.get(name)!.after);
}

describe.each(names)('%s leaves nothing', (name) => {
  test.each(steps)('when its backend is ended at step %s', async (step) => {
    const { pid, answer, goOn } = await stopAt(gateway.url, name, step);
    await query(`select pg_terminate_backend(${pid})`);
    await goOn();
    await expectUndone(name, answer);
  });

  test.each(steps)('when its backend crashes at step %s, and all others with it', async (step) => {
    const { pid, answer, goOn } = await stopAt(gateway.url, name, step);
    process.kill(pid, 'SIGKILL');
    await goOn();
    await vi.waitFor(() => query('select 1'), { timeout: 30_000, interval: 100 });
    await expectUndone(name, answer);
  });
});

test.each(names.map((name, index) => [name, steps[index]!] as const))(
  '%s leaves nothing when the server is killed at step %s',
  async (name, step) => {
    const { answer, goOn } = await stopAt(gateway.url, name, step);
    const [pid] = (await readFile(join(folder, 'data/postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await answer;
    await goOn();
    await server.stop();
    server = await startEmbeddedServer(options());
    await expectUndone(name, answer);
  },
);

test.each(names.flatMap((name) => steps.map((step) => [name, step] as const)))(
  '%s leaves nothing or all when the gateway is killed at step %s',
  async (name, step) => {
    const env = { DATABASE_URL: login(), PGREFLECT_JWT_SECRET: secret };
    const command = startCommand(['serve', '--port', '0', '--schemas', 'public'], { env }, onTestFinished);
    const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
    const { goOn } = await stopAt(url, name, step);
    command.signal('SIGKILL');
    await command.finished;
    await goOn();
    const { before, after } = expected.get(name)!;
    expect([before, after]).toContainEqual(await settled());
  },
);
