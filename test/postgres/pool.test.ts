/**
 * Waiting for connections, in order and not for ever; system statements; notifications.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import { startListener } from '../../src/postgres/system/listener.ts';
import { createSystemPool, type SystemPoolOptions } from '../../src/postgres/system/run-system.ts';
import { takeLock, untilHeld } from '../support/busy.ts';
import { flightOf, openPool } from '../support/flights.ts';
import { deadPort } from '../support/free-port.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await createDatabase('create table note (id int primary key)');
  url = database.urlAs('authenticator', 'test');
});

describe('the pool of requests', () => {
  test('a request that finds no free connection in time is told so, and nothing was sent', async () => {
    const pool = openPool(url, { size: 2, waitMs: 3000 });
    await Promise.all([1, 2].map(() => runAs(pool, flightOf(['select 1'], { mutation: true }))));
    const holder = new AbortController();
    const busy = [1, 2].map(() => runAs(pool, flightOf(['select pg_sleep(60)'], { signal: holder.signal })));
    await expect(runAs(pool, flightOf(['select 1'], { mutation: true }))).rejects.toMatchObject({
      kind: 'overloaded',
      step: 0,
      maybeCommitted: false,
    });
    holder.abort();
    await Promise.allSettled(busy);
    expect(await runAs(pool, flightOf(['select 1']))).toEqual(['1']);
  });

  test('a connection that was late only because the whole process paused is opened again', async () => {
    const pool = openPool(url, { waitMs: 1000 });
    const asked = runAs(pool, flightOf(['select 1'], { mutation: true }));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100);
    expect(await asked).toEqual(['1']);
  });

  test('requests are served in the order they came', async () => {
    const pool = openPool(url);
    const order: number[] = [];
    const numbers = [1, 2, 3, 4, 5, 6];
    await Promise.all(numbers.map((number) => runAs(pool, flightOf(['select 1'])).then(() => order.push(number))));
    expect(order).toEqual(numbers);
  });

  test('never more connections than its size', async () => {
    const proxy = await startRecordingProxy(url);
    const pool = openPool(proxy.url, { size: 3 });
    await Promise.all(Array.from({ length: 50 }, () => runAs(pool, flightOf(['select pg_sleep(0.002)']))));
    expect(proxy.connections()).toBe(3);
    await pool.stop();
    await proxy.stop();
  });

  test('stopping waits for what runs, refuses what comes, and closes every connection', async () => {
    const pool = openPool(url);
    const release = await takeLock(database, 1);
    const running = runAs(pool, flightOf(["select 'done' from (select pg_advisory_xact_lock_shared(1)) x"]));
    await untilHeld(database, 1);
    const stopped = pool.stop();
    const refused = expect(runAs(pool, flightOf(['select 1']))).rejects.toMatchObject({ kind: 'unavailable' });
    await release();
    await refused;
    expect(await running).toEqual(['done']);
    await stopped;
  });
});

describe('system statements', () => {
  const open = (more: Partial<SystemPoolOptions> = {}) =>
    createSystemPool({
      connectionString: database.url, size: 1, waitMs: 60_000, applicationName: 'pgreflect-own', onError: () => {}, ...more,
    }); // biome-ignore format: short

  test('return rows, of the last statement where there are several', async () => {
    const pool = open();
    expect(await pool.query('select $1::int + 1 as a, $2::text[] as b', [1, ['x']])).toEqual([{ a: 2, b: ['x'] }]);
    const several = pool.transaction((connection) => connection.query('select 1 as a; select 2 as b'));
    expect(await several).toEqual([{ b: 2 }]);
    await expect(pool.query('select 1 as a; select 2 as b')).rejects.toMatchObject({ sqlstate: '42601' });
    const [name] = await pool.query('show application_name');
    expect(name).toEqual({ application_name: 'pgreflect-own' });
    await pool.stop();
  });

  test('a transaction is committed whole, or undone whole for any error', async () => {
    const pool = open();
    const result = await pool.transaction(async (connection) => {
      await connection.query('insert into public.note values (1)');
      return (await connection.query('select count(*)::int as count from public.note'))[0]?.count;
    });
    expect(result).toBe(1);
    const ours = new Error('ours');
    const failing = pool.transaction(async (connection) => {
      await connection.query('insert into public.note values (2)');
      throw ours;
    });
    await expect(failing).rejects.toBe(ours);
    const refused = pool.transaction(async (connection) => {
      await connection.query('insert into public.note values (3)');
      await connection.query('insert into public.note values (1)');
    });
    await expect(refused).rejects.toMatchObject({ kind: 'statement', sqlstate: '23505', constraint: 'note_pkey' });
    expect(await pool.query('select id from public.note')).toEqual([{ id: 1 }]);
    await pool.stop();
  });

  test('a transaction is opened as asked', async () => {
    const pool = open();
    const options = { begin: 'begin isolation level repeatable read read only', settings: { lock_timeout: '5s' } };
    const show = "select current_setting('transaction_isolation') as level, current_setting('lock_timeout') as wait";
    const asked = { level: 'repeatable read', wait: '5s' };
    expect(await pool.transaction((connection) => connection.query(show), options)).toEqual([asked]);
    expect(await pool.transaction((connection) => connection.query(show, []), options)).toEqual([asked]);
    expect(await pool.query(show)).toEqual([{ level: 'read committed', wait: '0' }]);
    await pool.stop();
  });

  test('a transaction that a statement left open does not reach the next statement', async () => {
    const pool = open();
    await pool.query('begin');
    await pool.query('insert into public.note values (50)');
    expect(await pool.query('select id from public.note where id = 50')).toEqual([{ id: 50 }]);
    await expect(pool.query('rollback')).resolves.toEqual([]);
    await pool.stop();
  });

  test('overload, a lost connection and a missing server have different errors', async () => {
    const pool = open({ waitMs: 3000 });
    const release = await takeLock(database, 1);
    const busy = pool.query('select pg_advisory_xact_lock_shared(1)');
    await expect(pool.query('select 1')).rejects.toMatchObject({ kind: 'overloaded' });
    await release();
    await busy;
    const lost = pool.query('select pg_terminate_backend(pg_backend_pid())');
    await expect(lost).rejects.toMatchObject({ kind: 'unavailable', sqlstate: '57P01', maybeCommitted: true });
    expect(await pool.query('select 1 as one')).toEqual([{ one: 1 }]);
    await pool.stop();
    const away = open({ connectionString: `postgresql://a:b@127.0.0.1:${deadPort}/postgres` });
    await expect(away.query('select 1')).rejects.toMatchObject({ kind: 'unavailable', maybeCommitted: false });
    await away.stop();
  });
});

describe('notifications', () => {
  test('each one asks for a check, and so does a connection made again', async () => {
    let checks = 0;
    let outages = 0;
    const waitFor = async (condition: () => boolean) => {
      while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    const listener = startListener({
      connectionString: url,
      applicationName: 'pgreflect-listener',
      check: async () => {
        checks += 1;
        return true;
      },
      onLost: () => {
        outages += 1;
      },
    });
    await listener.listening;
    expect(checks).toBe(0);
    await database.query("notify pgreflect, 'reload'");
    await waitFor(() => checks === 1);
    await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'pgreflect-listener'`);
    await waitFor(() => checks === 2);
    expect(outages).toBe(1);
    await database.query('notify pgreflect');
    await waitFor(() => checks === 3);
    await listener.stop();
  });

  test('a listener can be stopped while the database is away', async () => {
    const lost: Error[] = [];
    const listener = startListener({
      connectionString: `postgresql://a:b@127.0.0.1:${deadPort}/postgres`,
      applicationName: 'pgreflect-listener',
      check: async () => false,
      onLost: (problem) => lost.push(problem),
    });
    await vi.waitFor(() => expect(lost).toHaveLength(1));
    await listener.stop();
  });
});
