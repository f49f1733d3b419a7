/**
 * Transactions of system statements: few round trips, in order, and nothing outside of what `begin` has begun.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';

let database: TestDatabase;
let proxy: RecordingProxy;
let pool: SystemPool;

beforeAll(async () => {
  database = await createDatabase('create table note (id int primary key)');
  proxy = await startRecordingProxy(database.url);
  const options = { size: 1, waitMs: 60_000, applicationName: 'test', preparedStatements: true, onError: () => {} };
  pool = createSystemPool({ ...options, connectionString: proxy.url });
});

beforeEach(async () => {
  await database.query('truncate note');
  await pool.query('select 1');
  proxy.reset();
});

afterAll(async () => {
  await pool.stop();
  await proxy.stop();
});

const insert = 'insert into public.note values ($1::int) returning id';
const notes = () => database.query('select id from public.note order by id');

test('begin, settings and the statements that are asked for at the same time are one round trip, commit another', async () => {
  const results = await pool.transaction(
    (connection) =>
      Promise.all([
        connection.query(insert, [1]),
        connection.query('select count(*)::int as count from public.note where id = any ($1::int[])', [['1', '2']]),
        connection.query("select pg_catalog.current_setting('lock_timeout') as wait", []),
      ]),
    { settings: { lock_timeout: '5s' } },
  );
  expect(results).toEqual([[{ id: 1 }], [{ count: 1 }], [{ wait: '5s' }]]);
  expect(proxy.roundTrips()).toBe(2);
  expect(await pool.query("select pg_catalog.current_setting('lock_timeout') as wait", [])).toEqual([{ wait: '0' }]);
});

test('after a statement that fails none of its round trip runs, and the transaction is undone', async () => {
  const asked: Promise<unknown>[] = [];
  const failing = pool.transaction(async (connection) => {
    await connection.query(insert, [1]);
    asked.push(connection.query(insert, [2]), connection.query(insert, [1]), connection.query(insert, [3]));
    await Promise.all(asked);
  });
  await expect(failing).rejects.toMatchObject({ sqlstate: '23505' });
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await notes()).toEqual([]);
});

test('nothing runs outside a transaction whose begin is refused', async () => {
  const refused = pool.transaction(
    async (connection) => {
      await connection.query(insert, [1]).catch(() => {});
      await connection.query(insert, [2]);
    },
    { settings: { lock_timeout: 'a while' } },
  );
  await expect(refused).rejects.toMatchObject({ sqlstate: '25P02' });
  await expect(
    pool.transaction((connection) => connection.query(insert, [3]), { begin: 'begin work now' }),
  ).rejects.toThrow();
  expect(await notes()).toEqual([]);
});

test('a transaction that asks for nothing costs nothing', async () => {
  expect(await pool.transaction(async () => 'done')).toBe('done');
  expect(proxy.roundTrips()).toBe(0);
});

test('values are text, numbers, booleans, dates, bytes, null and lists of text, whatever characters they have', async () => {
  const texts = ['', 'a "quoted" \\ text', '{1,2}', 'null', 'ü€😀, and a comma'];
  const time = new Date('2026-11-21T12:00:00.25Z');
  const bytes = Buffer.from([0, 1, 0x5c, 0xff]);
  const statement = `select $1::text[] as texts, $2::float8 as number, $3::boolean as truth, $4::timestamptz as time,
    $5::bytea as bytes, $6::text as nothing`;
  const [row] = await pool.query(statement, [texts, 1.5, true, time, bytes, null]);
  expect(row).toEqual({ texts, number: 1.5, truth: true, time, bytes, nothing: null });
  await expect(pool.query('select $1::json', [{ a: 1 }])).rejects.toThrow('has no text');
});
