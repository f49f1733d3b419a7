/**
 * Why the database cannot be used while the gateway runs: said once in the log, in /ready, and counted, for each reason on a real
 * server; without the name of a login, a host or a database.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import pg from 'pg';
import { afterAll, expect, test, vi } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { startGateway } from '../../src/gateway.ts';
import { failureReason, failureReasons } from '../../src/postgres/wire/connection-failure.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { startEncryptedServer, tlsFixture } from '../support/encrypted-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { testConfig } from '../support/http.ts';

const { owner, login, port } = await startEncryptedServer('create role guard login password $$test$$');
await owner.query('create database shop');

const onShop = (url: string) => url.replace('/postgres', '/shop');

type Failed = Extract<Observation, { kind: 'connection_failed' }>;

async function start(
  databaseUrl: string,
  more: Partial<Config> = {},
  whenOver = (end: () => Promise<void>) => afterAll(end),
) {
  const observations: Observation[] = [];
  const config = testConfig({
    databaseUrl,
    adminDatabaseUrl: databaseUrl,
    schemas: ['public'],
    port: 0,
    schemaPollMs: 100,
    ...more,
  });
  const gateway = await startGateway(config, { observe: (observation) => observations.push(observation) });
  whenOver(() => gateway.stop());
  const ready = async () =>
    (await fetch(`${gateway.url}/ready`)).json() as Promise<{ status: string; reason?: string }>;
  const failures = () => observations.filter((one): one is Failed => one.kind === 'connection_failed');
  return { gateway, ready, failures };
}

const served = await start(onShop(login('')));
// Counting begins with the first look.
await served.gateway.readMetrics();

/** Ends the connections of the gateway, so that it needs new ones. */
const cut = () => owner.query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'");

async function changeHba(change: (text: string) => string): Promise<() => Promise<void>> {
  const { rows } = await owner.query<{ file: string }>("select current_setting('hba_file') as file");
  const file = rows[0]!.file;
  const kept = readFileSync(file, 'utf8');
  const reload = async (text: string) => {
    writeFileSync(file, text);
    await owner.query('select pg_reload_conf()');
  };
  await reload(change(kept));
  return () => reload(kept);
}

const sql = (text: string) => async () => void (await owner.query(text));

test.each([
  [
    'login_refused',
    sql("alter role authenticator password 'secret of another day'"),
    sql("alter role authenticator password 'test'"),
  ],
  ['login_refused', sql('alter role authenticator nologin'), sql('alter role authenticator login')],
  [
    'too_many_connections',
    sql('alter role authenticator connection limit 0'),
    sql('alter role authenticator connection limit -1'),
  ],
  ['database_missing', sql('alter database shop rename to other'), sql('alter database other rename to shop')],
  [
    'database_missing',
    sql('alter database shop allow_connections false'),
    sql('alter database shop allow_connections true'),
  ],
] as const)(
  'a gateway whose connections fail with %s says so until they work again',
  async (reason, breakIt, mendIt) => {
    const { gateway, ready, failures } = served;
    expect(await ready()).toEqual({ status: 'ready' });
    const before = failures().length;
    // A database with connections cannot be renamed.
    await owner.query('alter role authenticator connection limit 0');
    await vi.waitFor(async () => {
      await cut();
      const { rows } = await owner.query("select from pg_stat_activity where usename = 'authenticator'");
      expect(rows).toEqual([]);
    });
    await breakIt();
    if (reason !== 'too_many_connections') await owner.query('alter role authenticator connection limit -1');
    try {
      await vi.waitFor(async () => {
        // One that was on its way before.
        await cut();
        expect(await ready()).toEqual({ status: 'unavailable', reason: failureReasons[reason] });
      }, 20_000);
      const seen = () =>
        failures()
          .slice(before)
          .filter((one) => one.reason === reason);
      await vi.waitFor(() => expect(new Set(seen().map(({ pool }) => pool))).toContain('listener'), 20_000);
      // It asks again all the time.
      await vi.waitFor(async () => {
        await cut();
        expect(seen().filter(({ pool }) => pool === 'system').length).toBeGreaterThan(2);
      }, 20_000);
    } finally {
      await mendIt();
    }
    await vi.waitFor(async () => expect(await ready()).toEqual({ status: 'ready' }), 20_000);
    const { pgreflect_pool_connection_failures_total: counted } = await gateway.readMetrics();
    expect(counted).toContainEqual(expect.objectContaining({ labels: ['system', reason] }));
  },
);

test('a gateway that pg_hba.conf does not let in any more says so', async () => {
  const { ready } = served;
  const restore = await changeHba(() => 'local all all trust\nhost all postgres all scram-sha-256\n');
  try {
    await vi.waitFor(async () => {
      await cut();
      expect(await ready()).toEqual({ status: 'unavailable', reason: failureReasons.no_hba_entry });
    }, 20_000);
  } finally {
    await restore();
  }
  await vi.waitFor(async () => expect(await ready()).toEqual({ status: 'ready' }), 20_000);
});

test('the log has each reason of a pool once while it lasts, and no secret', async () => {
  const { failures } = served;
  const ofSystem = failures().filter(({ pool }) => pool === 'system');
  const fresh = ofSystem.filter(({ isNew }) => isNew).map(({ reason }) => reason);
  expect(ofSystem.length).toBeGreaterThan(fresh.length);
  expect(fresh.filter((reason, index) => reason === fresh[index - 1])).toEqual([]);
  const said = JSON.stringify(failures());
  for (const secret of ['authenticator', 'test', 'shop', '127.0.0.1', String(port)]) expect(said).not.toContain(secret);
});

test('a certificate by an authority that is not trusted, a host that is unknown, and a port where nobody listens are told apart', async () => {
  const reasonOf = async (databaseUrl: string) => (await (await start(databaseUrl)).ready()).reason;
  expect(await reasonOf(login(`sslmode=verify-full&sslrootcert=${tlsFixture('elsewhere.pem')}`))).toBe(
    failureReasons.tls,
  );
  expect(await reasonOf(login('', 'nowhere.invalid'))).toBe(failureReasons.unknown_host);
  expect(await reasonOf(login('', '127.0.0.1', await findFreePort()))).toBe(failureReasons.unreachable);
});

test('a server that takes connections and stays silent is not called unreachable', async () => {
  const silent = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
  afterAll(() => void silent.close());
  await once(silent, 'listening');
  const { failures } = await start(login('', '127.0.0.1', (silent.address() as AddressInfo).port), { poolWaitMs: 500 });
  const reasonsOf = (one: string) => failures().flatMap(({ pool, reason }) => (pool === one ? [reason] : []));
  for (const pool of ['system', 'listener'])
    await vi.waitFor(() => expect(new Set(reasonsOf(pool))).toEqual(new Set(['no_answer'])), 30_000);
});

test('a read replica and the auth service say why they cannot connect, each for itself', async () => {
  const lost = login('').replace(':test@', ':wrong@');
  const { failures } = await start(login(''), { readReplicaUrls: [lost], adminDatabaseUrl: lost });
  await vi.waitFor(() => {
    const reasons = failures().map(({ pool, reason }) => `${pool}: ${reason}`);
    expect(reasons).toEqual(expect.arrayContaining(['replica_1: login_refused', 'auth: login_refused']));
  }, 20_000);
});

test('a server that shuts down says so, and one that is gone is unreachable', async () => {
  const { ready } = served;
  const waiting = new pg.Client({ connectionString: login('').replace('authenticator', 'guard') });
  waiting.on('error', () => {});
  await waiting.connect();
  const { rows } = await owner.query<{ pid: string }>(
    "select split_part(pg_read_file('postmaster.pid'), chr(10), 1) as pid",
  );
  // Waits for the connections that there are.
  process.kill(Number(rows[0]!.pid), 'SIGTERM');
  await vi.waitFor(async () => {
    await cut();
    expect(await ready()).toEqual({ status: 'unavailable', reason: failureReasons.starting_up });
  }, 20_000);
  owner.on('error', () => {});
  // Waits for nobody.
  process.kill(Number(rows[0]!.pid), 'SIGINT');
  await Promise.allSettled([waiting.end(), owner.end()]);
  await vi.waitFor(
    async () => expect(await ready()).toEqual({ status: 'unavailable', reason: failureReasons.unreachable }),
    20_000,
  );
});

test('a standby that takes no connections yet is told from a server that starts', () => {
  const reasonOf = (message: string, detail?: string) =>
    failureReason(Object.assign(new Error(message), { code: '57P03', severity: 'FATAL', detail }));
  expect(reasonOf('the database system is starting up')).toBe('starting_up');
  expect(reasonOf('the database system is in recovery mode')).toBe('recovery');
  expect(reasonOf('the database system is not accepting connections')).toBe('starting_up');
  expect(reasonOf('the database system is not accepting connections', 'Hot standby mode is disabled.')).toBe(
    'recovery',
  );
  const notYet = 'Consistent recovery state has not been yet reached.';
  expect(reasonOf('the database system is not yet accepting connections', notYet)).toBe('recovery');
});
