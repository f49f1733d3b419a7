/**
 * Connections that break at each moment of a flight, and databases that go away and come back.
 */
import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import type { ApiPool } from '../../src/postgres/pool/pool.ts';
import { takeLock, untilHeld } from '../support/busy.ts';
import { flightOf, openPool } from '../support/flights.ts';
import { deadPort, findFreePort } from '../support/free-port.ts';
import { startServer } from '../support/own-server.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { type Inspector, type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';
import { scratch } from '../support/scratch.ts';

let database: TestDatabase;
let proxy: RecordingProxy;
let pool: ApiPool;
beforeAll(async () => {
  database = await createDatabase(`
    create table note (id serial primary key);
    grant select, insert on note to anon;
    grant usage on sequence note_id_seq to anon;
    create function die() returns int language sql security definer
      as 'select 1 from (select pg_terminate_backend(pg_backend_pid(), 1000)) x';
  `);
  proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
});
afterAll(() => proxy.stop());
beforeEach(async () => {
  proxy.inspect(null);
  pool = openPool(proxy.url);
  await runAs(pool, flightOf(['select 1']));
  proxy.reset();
});

/** The message behind a commit: its type, its length, outside a transaction. */
const readyForQuery = 'Z\0\0\0\x05I';

/** Hurts the next connection's traffic `times` times; an answer at the first packet with one of the marks. */
function hurt(
  times: number,
  where: 'question' | 'answer' | 'half answer',
  marks: readonly string[] = ['SELECT 1', 'INSERT'],
): Inspector {
  let left = times;
  return (from, packet) => {
    if (left === 0 || (from === 'client') !== (where === 'question')) return 'pass';
    // The answer to the look at a new connection is let through; it alone describes its columns.
    if (from === 'server' && packet.includes('pid\0')) return 'pass';
    // The start-up of a new connection is let through: authentication packets are R, p and shorter ones.
    if (packet.includes('select 1') || from === 'server') {
      if (from === 'server' && !marks.some((mark) => packet.includes(mark))) return 'pass';
      left -= 1;
      return where === 'half answer' ? Math.floor(packet.length / 2) : 'cut';
    }
    return 'pass';
  };
}

describe.each(['question', 'answer', 'half answer'] as const)('a connection cut in the %s', (where) => {
  test('a read is repeated once on another connection', async () => {
    proxy.inspect(hurt(1, where));
    expect(await runAs(pool, flightOf(['select 1 as again']))).toEqual(['1']);
    expect(proxy.connections()).toBe(1);
  });

  test('a read whose repetition is cut as well is unavailable, and was tried twice', async () => {
    proxy.inspect(hurt(2, where));
    await expect(runAs(pool, flightOf(['select 1 as again']))).rejects.toMatchObject({
      kind: 'unavailable',
      maybeCommitted: false,
    });
    proxy.inspect(null);
    expect(await runAs(pool, flightOf(['select 1']))).toEqual(['1']);
  });

  test('a mutation is never repeated, and says that it may have been committed', async () => {
    // The rows are sent before the commit; only what comes behind it says that it is done.
    proxy.inspect(hurt(1, where, [readyForQuery]));
    const [before] = await database.query<{ count: string }>('select count(*) from note');
    const steps = ['insert into note default values returning id', 'select 1 as again'];
    await expect(runAs(pool, flightOf(steps, { mutation: true }))).rejects.toMatchObject({
      kind: 'unavailable',
      maybeCommitted: true,
    });
    const [after] = await database.query<{ count: string }>('select count(*) from note');
    expect(Number(after?.count) - Number(before?.count)).toBe(where === 'question' ? 0 : 1);
    expect(await runAs(pool, flightOf(['select 1']))).toEqual(['1']);
  });
});

test('a mutation whose rows came, but no word of its commit, says that it may have been committed', async () => {
  proxy.inspect(hurt(1, 'answer', ['INSERT']));
  const [before] = await database.query<{ count: string }>('select count(*) from note');
  const steps = ['insert into note default values returning id'];
  await expect(runAs(pool, flightOf(steps, { mutation: true }))).rejects.toMatchObject({
    kind: 'unavailable',
    maybeCommitted: true,
  });
  expect(await runAs(pool, flightOf(['select 1']))).toEqual(['1']);
  const [after] = await database.query<{ count: string }>('select count(*) from note');
  // Whether the server got to the commit is its affair, but it never ran twice.
  expect(Number(after?.count) - Number(before?.count)).toBeLessThanOrEqual(1);
});

describe('a connection that ends while it is being opened', () => {
  /** Cuts the next `times` connections at the server's greeting, which has its settings. */
  function cutOpenings(times: number): Inspector {
    let left = times;
    return (from, packet) => (from === 'server' && packet.includes('server_version') && left-- > 0 ? 'cut' : 'pass');
  }

  test.each([false, true])(
    'a connection that ends while it is being opened is opened once more, for a mutation (%s) too, since nothing was sent',
    async (mutation) => {
      proxy.inspect(cutOpenings(1));
      const fresh = openPool(proxy.url);
      expect(await runAs(fresh, flightOf(['select 1 as again'], { mutation }))).toEqual(['1']);
      await fresh.stop();
    },
  );

  test('a second time is an error', async () => {
    proxy.inspect(cutOpenings(2));
    const fresh = openPool(proxy.url);
    const lost = runAs(fresh, flightOf(['insert into note values (2000)'], { mutation: true }));
    await expect(lost).rejects.toMatchObject({ kind: 'unavailable', maybeCommitted: false });
    expect(await runAs(fresh, flightOf(['select 1']))).toEqual(['1']);
    await fresh.stop();
  });
});

test.each([1, 2, 3])(
  'a server process ended in step %i of a mutation: nothing is written, nothing repeated',
  async (at) => {
    const insert = 'insert into note values (1000) returning id';
    const steps = [insert, 'select 2', 'select 3'].map((text, index) => (index + 1 === at ? 'select die()' : text));
    await expect(runAs(pool, flightOf(steps, { mutation: true }))).rejects.toMatchObject({
      kind: 'unavailable',
      step: at,
      sqlstate: '57P01',
      maybeCommitted: true,
    });
    expect(await database.query('select id from note where id = 1000')).toEqual([]);
    expect(await runAs(pool, flightOf(['select 1']))).toEqual(['1']);
  },
);

test('connections that break while idle are noted, replaced and seen by nobody', async () => {
  const events: string[] = [];
  const idle = openPool(proxy.url, { size: 3, onEvent: (event) => events.push(event.kind) });
  const release = await takeLock(database, 1);
  const held = [1, 2, 3].map(() => runAs(idle, flightOf(['select pg_advisory_xact_lock_shared(1)'])));
  await untilHeld(database, 3);
  await release();
  await Promise.all(held);
  proxy.cut();
  await vi.waitFor(() => expect(events).toEqual(Array.from({ length: 3 }, () => 'connection_lost')));
  expect(await runAs(idle, flightOf(['select 1']))).toEqual(['1']);
});

test('where no database listens a request is unavailable at once', async () => {
  const away = openPool(`postgresql://authenticator:secret-word@127.0.0.1:${deadPort}/postgres`);
  const problem = await runAs(away, flightOf(['select 1'], { mutation: true })).catch((error: unknown) => error);
  expect(problem).toMatchObject({ kind: 'unavailable', step: 0, maybeCommitted: false });
  expect(String(problem) + String((problem as Error).cause)).not.toContain('secret-word');
});

test('a database that goes away, during requests too, and comes back works without a restart', async () => {
  const directory = await mkdtemp(join(scratch, 'pgreflect-away-'));
  await chmod(directory, 0o755);
  const dataDirectory = join(directory, 'data');
  const options = { dataDirectory, settings: { fsync: 'off' }, port: await findFreePort() };
  const first = await startServer({ ...options, persistent: true });
  const own = openPool(first.url, { size: 4 });
  const role = { caller: { role: 'postgres', claims: '{}', headers: '{}', method: '', path: '' } };
  await runAs(own, flightOf(['select 1'], role));

  const running = [1, 2, 3, 4].map(() => runAs(own, flightOf(['select pg_sleep(20)'], { ...role, mutation: true })));
  const outcomes = Promise.allSettled(running);
  const admin = new pg.Client({ connectionString: first.url });
  await admin.connect();
  const asleep = "select count(*)::int as count from pg_stat_activity where wait_event = 'PgSleep'";
  await vi.waitFor(async () => expect((await admin.query(asleep)).rows).toEqual([{ count: 4 }]));
  await admin.end();
  await first.stop();
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', sqlstate: '57P01' } });
  }
  await expect(runAs(own, flightOf(['select 1'], role))).rejects.toMatchObject({ kind: 'unavailable' });

  const second = await startServer({ ...options, persistent: false });
  expect(await runAs(own, flightOf(['select 1'], role))).toEqual(['1']);
  await own.stop();
  await second.stop();
});
