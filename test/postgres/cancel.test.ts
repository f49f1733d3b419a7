/**
 * Limits of time and clients that go away: what is cancelled, and that nothing else ever is.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import { flightOf, openPool } from '../support/flights.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await createDatabase('create table note (id int); grant select, insert on note to anon');
  url = database.urlAs('authenticator', 'test');
});

test('a client that goes away cancels its statement, and a mutation is undone', async () => {
  const pool = openPool(url);
  const client = new AbortController();
  void whenRunning('select pg_sleep(60)').then(() => client.abort());
  const steps = ['insert into note values (1)', 'select pg_sleep(60)'];
  await expect(runAs(pool, flightOf(steps, { mutation: true, signal: client.signal }))).rejects.toMatchObject({
    kind: 'cancelled',
    step: 2,
    maybeCommitted: false,
  });
  expect(await database.query('select id from note')).toEqual([]);
});

test('what a mutation has deferred to its end runs before the commit, under the same limits', async () => {
  await database.query(`
    create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$;
    create table slow (id int);
    grant insert on slow to anon;
    create constraint trigger linger after insert on slow deferrable initially deferred for each row execute function linger();
  `);
  const pool = openPool(url);
  const steps = ['insert into slow values (1)'];
  for (const limit of [{ timeoutMs: 500 }, { requestTimeoutMs: 500 }])
    await expect(runAs(pool, flightOf(steps, { mutation: true, ...limit }))).rejects.toMatchObject({
      kind: 'timeout',
      sqlstate: '57014',
      maybeCommitted: false,
    });
  expect(await database.query('select id from slow')).toEqual([]);
});

test('a cancelled request never hits the next one on its connection', async () => {
  const pool = openPool(url);
  for (let round = 0; round < 60; round += 1) {
    const client = new AbortController();
    // Around the end of the statement, where the cancel request arrives late most often.
    const cancelled = runAs(pool, flightOf(['select pg_sleep(0.004)'], { signal: client.signal })).catch(
      (problem: { kind: string }) => expect(problem.kind).toBe('cancelled'),
    );
    setTimeout(() => client.abort(), 1 + (round % 6));
    const next = runAs(pool, flightOf(['select pg_sleep(0.003)', `select ${round % 5}`]));
    expect((await next)[1]).toBe(String(round % 5));
    await cancelled;
  }
});

test('a client that is gone before the statement is sent costs the database nothing', async () => {
  const proxy = await startRecordingProxy(url);
  const pool = openPool(proxy.url);
  const options = flightOf(['select 1'], { signal: AbortSignal.abort() });
  await expect(runAs(pool, options)).rejects.toMatchObject({ kind: 'cancelled', step: 0 });
  expect(proxy.connections()).toBe(0);
  await proxy.stop();
});

test('a client that goes while waiting for a connection is not served, and the connection is not lost', async () => {
  const pool = openPool(url);
  const client = new AbortController();
  const busy = runAs(pool, flightOf(['select pg_sleep(0.2)']));
  const waiting = runAs(pool, flightOf(['insert into note values (2)'], { mutation: true, signal: client.signal }));
  client.abort();
  await expect(waiting).rejects.toMatchObject({ kind: 'cancelled' });
  await busy;
  expect(await runAs(pool, flightOf(['select count(*) from note where id = 2']))).toEqual(['0']);
});

test('the statement limit is measured by the server for each statement', async () => {
  const pool = openPool(url);
  // Each ends long before the limit, all of them after it.
  const naps = Array.from({ length: 10 }, () => 'select 1 from (select pg_sleep(0.2)) x');
  expect(await runAs(pool, flightOf(naps, { timeoutMs: 1900 }))).toEqual(naps.map(() => '1'));
  await expect(runAs(pool, flightOf(['select 1', 'select pg_sleep(20)'], { timeoutMs: 1000 }))).rejects.toMatchObject({
    kind: 'timeout',
    step: 2,
    sqlstate: '57014',
  });
  expect(await runAs(pool, flightOf(['show statement_timeout']))).toEqual(['0']);
});

test('the limit of the whole request counts all statements together, and a function cannot lift it', async () => {
  const pool = openPool(url);
  // The time is that of the statements, not of the connection.
  await runAs(pool, flightOf(['select 1']));
  const lift = "select set_config('statement_timeout', '0', true)";
  const options = flightOf([lift, 'select pg_sleep(0.1)', 'select pg_sleep(60)'], {
    timeoutMs: 80_000,
    requestTimeoutMs: 1500,
  });
  await expect(runAs(pool, options)).rejects.toMatchObject({ kind: 'timeout', step: 3, maybeCommitted: false });
  expect(await runAs(pool, flightOf(['select 1']))).toEqual(['1']);
});

test('a cancel request that is lost on its way is made again', async () => {
  const proxy = await startRecordingProxy(url);
  const pool = openPool(proxy.url);
  // The time is that of the statement, not of the connection.
  await runAs(pool, flightOf(['select 1']));
  let requests = 0;
  const isCancelRequest = (packet: Buffer) => packet.length === 16 && packet.readUInt32BE(4) === 80877102;
  proxy.inspect((from, packet) => {
    if (from !== 'client' || !isCancelRequest(packet)) return 'pass';
    requests += 1;
    return requests === 1 ? 'cut' : 'pass';
  });
  await expect(runAs(pool, flightOf(['select pg_sleep(60)'], { requestTimeoutMs: 1500 }))).rejects.toMatchObject({
    kind: 'timeout',
  });
  await whenRunning('select pg_sleep(60)', 0);
  expect(requests).toBeGreaterThan(1);
  await pool.stop();
  await proxy.stop();
});

test('a network that drops everything does not hold a request forever', async () => {
  const proxy = await startRecordingProxy(url);
  const pool = openPool(proxy.url);
  await runAs(pool, flightOf(['select 1']));
  proxy.inspect(() => 'drop');
  const options = flightOf(['insert into note values (3)'], { mutation: true, requestTimeoutMs: 100 });
  await expect(runAs(pool, options)).rejects.toMatchObject({ kind: 'timeout', maybeCommitted: true });
  proxy.inspect(null);
  expect(await runAs(pool, flightOf(['select 1']))).toEqual(['1']);
  await pool.stop();
  await proxy.stop();
});

/** Resolves when the server is at work on a statement of this text, or on none any more. */
async function whenRunning(text: string, count = 1): Promise<void> {
  await vi.waitFor(
    async () => {
      const running = "select from pg_stat_activity where datname = $2 and state = 'active' and query = $1";
      const rows = await database.query(running, [text, database.name]);
      expect(rows).toHaveLength(count);
    },
    { timeout: 60_000, interval: 20 },
  );
}
