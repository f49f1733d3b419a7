/**
 * A server that is gone without a word: no connection is closed, and no answer comes. What the gateway asks for itself has no
 * client who would give up.
 */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Queryable } from '../../src/postgres/system/queryable.ts';
import { createSystemPool } from '../../src/postgres/system/run-system.ts';
import { startFreezingProxy } from '../support/freezing-proxy.ts';
import { testGateway } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase();
const login = database.urlAs('authenticator', 'test');

const lost = { kind: 'unavailable', cause: { message: 'The server did not answer within 300 ms.' } };

test('a statement of our own waits for its answer for a while, and the next one has another connection', async () => {
  const proxy = await startFreezingProxy(login);
  const pool = createSystemPool({
    connectionString: proxy.through(login),
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
    answerWithinMs: 300,
  });
  onTestFinished(() => pool.stop());
  const ask = () => pool.query('select 1 as number');
  // A busy machine may take that long as well.
  const answered = () => vi.waitFor(async () => expect(await ask()).toEqual([{ number: 1 }]));
  await answered();
  proxy.freezeOpen();
  await expect(ask()).rejects.toMatchObject(lost);
  await answered();
  const transaction = pool.transaction(async (connection) => {
    await connection.query('select 1', []);
    proxy.freezeOpen();
    await connection.query('select 2', []);
  });
  await expect(transaction).rejects.toMatchObject(lost);
  // Its connection answers, only late.
  const nap = (connection: Queryable) =>
    connection.query('select 1 as number from (select pg_catalog.pg_sleep(0.6)) nap');
  await expect(nap(pool)).rejects.toMatchObject(lost);
  expect(await pool.transaction(nap, { answerWithinMs: 60_000 })).toEqual([{ number: 1 }]);
});

test('/ready answers while the server is silent', async () => {
  const proxy = await startFreezingProxy(login);
  const gateway = await testGateway(database, { databaseUrl: proxy.through(login), schemaPollMs: 60_000 });
  const ready = async () => (await fetch(`${gateway.url}/ready`, { signal: AbortSignal.timeout(10_000) })).json();
  expect(await ready()).toEqual({ status: 'ready' });
  proxy.freeze();
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(await ready()).toEqual({ status: 'unavailable', reason: 'The database is not responding.' });
});

/** Timers of our ends of the connections to this port, in seconds: when each asks next whether the other end is still there. */
function keepAliveTimers(port: number): readonly number[] {
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, , remote = '', state, , timer = ''] = row.trim().split(/\s+/);
    const isOurs = Number.parseInt(remote.split(':')[1] ?? '', 16) === port && state === '01';
    const [kind, ticks = ''] = timer.split(':');
    return isOurs ? [kind === '02' ? Number.parseInt(ticks, 16) / 100 : Number.POSITIVE_INFINITY] : [];
  });
}

test.skipIf(process.platform !== 'linux')(
  'idle connections find out in time, before a router on the way forgets them',
  async () => {
    const proxy = await startFreezingProxy(login);
    const through = proxy.through(login);
    const gateway = await testGateway(database, {
      databaseUrl: through,
      adminDatabaseUrl: through,
      schemaPollMs: 60_000,
    });
    await gateway.ask('{ __typename }');
    const port = Number(new URL(through).port);
    // Of requests, of the gateway itself, and the one that listens.
    await vi.waitFor(() => expect(keepAliveTimers(port).length).toBeGreaterThanOrEqual(3));
    await vi.waitFor(() => expect(Math.max(...keepAliveTimers(port))).toBeLessThan(20));
  },
);
