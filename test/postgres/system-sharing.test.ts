/**
 * Statements of several requests in one round trip.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { createDatabase } from '../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';

let proxy: RecordingProxy;
let pool: SystemPool;

beforeAll(async () => {
  const database = await createDatabase(
    'create table counter (id int primary key, uses int not null)',
    'insert into public.counter select i, 0 from generate_series(1, 20) i',
  );
  proxy = await startRecordingProxy(database.url);
  const options = { size: 3, waitMs: 60_000, applicationName: 'test', preparedStatements: true, onError: () => {} };
  pool = createSystemPool({ ...options, connectionString: proxy.url });
});

beforeEach(async () => {
  // On all connections of the pool, whose opening is not counted: a round trip that takes long on a busy machine is not waited for.
  await Promise.all(['update public.counter set uses = 0', 'select 1', 'select 1'].map((text) => pool.query(text)));
  proxy.reset();
});

afterAll(async () => {
  await pool.stop();
  await proxy.stop();
});

const ask = (value: number) => pool.shared.query('select 100 / $1::int as share', [value]);
const use = (id: number) =>
  pool.shared.query('update public.counter set uses = uses + 1 where id = $1::int returning uses', [id]);

test('statements that arrive together, or while two round trips are under way, share one', async () => {
  const first = ask(1);
  await Promise.resolve();
  const second = [2, 4].map(ask);
  await Promise.resolve();
  const third = [5, 10].map(ask);
  await Promise.resolve();
  const fourth = ask(20);
  const shares = [100, 50, 25, 20, 10, 5].map((share) => [{ share }]);
  expect(await Promise.all([first, ...second, ...third, fourth])).toEqual(shares);
  expect(proxy.roundTrips()).toBe(3);
  await Promise.all([10, 20].map(ask));
  expect(proxy.roundTrips()).toBe(4);
});

test('each statement gets its own answer, also when another one fails', async () => {
  const asked = await Promise.allSettled([ask(1), ask(0), ask(2), use(7), ask(0)]);
  expect(asked).toMatchObject([
    { value: [{ share: 100 }] },
    { reason: { sqlstate: '22012' } },
    { value: [{ share: 50 }] },
    { value: [{ uses: 1 }] },
    { reason: { sqlstate: '22012' } },
  ]);
});

test('two round trips that write the same rows in another order both end, and everything counts once', async () => {
  const other = createSystemPool({
    connectionString: proxy.url, size: 1, waitMs: 60_000, applicationName: 'test', onError: () => {},
  }); // biome-ignore format: short
  const ids = Array.from({ length: 20 }, (_, index) => index + 1);
  const useThere = (id: number) =>
    other.shared.query('update public.counter set uses = uses + 1 where id = $1::int returning uses', [id]);
  for (let round = 0; round < 20; round += 1) {
    await Promise.all([...ids.map(use), ...ids.toReversed().map(useThere)]);
  }
  await other.stop();
  expect(await pool.query('select distinct uses from public.counter')).toEqual([{ uses: 40 }]);
});

test('what was committed before a statement is in its answer', async () => {
  const busy = [1, 2, 3].map(ask);
  await pool.query('update public.counter set uses = 5 where id = 3');
  const [row] = await pool.shared.query('select uses from public.counter where id = $1::int', [3]);
  expect(row).toEqual({ uses: 5 });
  await Promise.all(busy);
});

test('a round trip that is stuck does not hold others forever', async () => {
  const lock = 'select uses from public.counter where id = $1::int for update';
  let stuck: Promise<unknown> = Promise.resolve();
  await pool.transaction(async (connection) => {
    await connection.query(lock, [9]);
    stuck = pool.shared.query(lock, [9]);
    await Promise.resolve();
    expect(await ask(4)).toEqual([{ share: 25 }]);
    expect(await ask(5)).toEqual([{ share: 20 }]);
  });
  expect(await stuck).toEqual([{ uses: 0 }]);
});
