/**
 * More requests than connections, of several roles: slow statements of one role do not lock the others out, and who is next.
 */
import { beforeAll, expect, test } from 'vitest';
import type { RunAsOptions } from '../../src/postgres/caller/flight-request.ts';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import type { ApiPool } from '../../src/postgres/pool/pool.ts';
import { holdFunction, takeLock, untilHeld } from '../support/busy.ts';
import { callerOf, flightOf, openPool } from '../support/flights.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await createDatabase(holdFunction);
  url = database.urlAs('authenticator', 'test');
});

const ask = (pool: ApiPool, role: string, text: string, more: Partial<RunAsOptions> = {}) =>
  runAs(pool, flightOf([text], { caller: callerOf(role), ...more }));

test('one slow query for each connection leaves another role a connection, and another caller of the role', async () => {
  const pool = openPool(url, { size: 5, waitMs: 60_000 });
  const release = await takeLock(database, 1);
  const slow = Array.from({ length: 8 }, () => ask(pool, 'anon', 'select hold(1)', { queuedAs: 'greedy' }));
  await untilHeld(database, 3);
  expect(pool.state()).toMatchObject({ waiting: 5 });
  expect(await ask(pool, 'anon', 'select 1', { queuedAs: 'other' })).toEqual(['1']);
  slow.push(ask(pool, 'anon', 'select hold(1)', { queuedAs: 'another' }));
  await untilHeld(database, 4);
  expect(await ask(pool, 'authenticated', 'select 1')).toEqual(['1']);
  await release();
  expect(await Promise.all(slow)).toEqual(slow.map(() => ['held']));
});

test('a role that holds no connection gets the next one, before those who came earlier', async () => {
  const pool = openPool(url, { size: 2, waitMs: 60_000 });
  const [releaseFirst, releaseSecond] = [await takeLock(database, 1), await takeLock(database, 2)];
  const order: string[] = [];
  const note = (name: string, asked: Promise<unknown>) => asked.then(() => order.push(name));
  const first = note('slow', ask(pool, 'anon', 'select hold(1)'));
  const slow = [2, 2, 2].map((number) => ask(pool, 'anon', `select hold(${number})`));
  const other = note('other', ask(pool, 'authenticated', 'select 1'));
  await untilHeld(database, 2);
  await releaseFirst();
  await Promise.all([first, other]);
  expect(order).toEqual(['slow', 'other']);
  await untilHeld(database, 2);
  await releaseSecond();
  expect(await Promise.all(slow)).toEqual(slow.map(() => ['held']));
});

test('a caller’s request for which the queue of its role has no room is refused at once, and counted', async () => {
  const pool = openPool(url, { size: 1, waitMs: 60_000 });
  const release = await takeLock(database, 1);
  const held = ask(pool, 'anon', 'select hold(1)');
  const waiting = Array.from({ length: 100 }, (_, number) => ask(pool, 'anon', `select ${number}`));
  await untilHeld(database, 1);
  expect(pool.state()).toMatchObject({ waiting: 100, refused: 0 });
  await expect(ask(pool, 'anon', 'select 1')).rejects.toMatchObject({ kind: 'overloaded', step: 0 });
  expect(pool.state()).toMatchObject({ waiting: 100, refused: 1 });
  const others = [ask(pool, 'anon', 'select 1', { queuedAs: 'other' }), ask(pool, 'authenticated', 'select 1')];
  expect(pool.state()).toMatchObject({ waiting: 102, refused: 1 });
  await release();
  expect(await Promise.all([held, ...others])).toEqual([['held'], ['1'], ['1']]);
  expect(await Promise.all(waiting)).toEqual(waiting.map((_, number) => [`${number}`]));
});

test('clients that go away while they wait take their places in the queue with them', async () => {
  const pool = openPool(url, { size: 1, waitMs: 60_000 });
  const release = await takeLock(database, 1);
  const held = ask(pool, 'anon', 'select hold(1)');
  const client = new AbortController();
  const leaving = Array.from({ length: 20 }, () =>
    ask(pool, 'anon', 'select 1', { signal: client.signal }).catch((problem) => problem.kind),
  );
  expect(pool.state()).toMatchObject({ waiting: 20 });
  client.abort();
  expect(pool.state()).toMatchObject({ waiting: 0 });
  expect(new Set(await Promise.all(leaving))).toEqual(new Set(['cancelled']));
  await release();
  expect(await held).toEqual(['held']);
});
