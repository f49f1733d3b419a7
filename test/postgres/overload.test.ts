/**
 * More requests than connections, of several roles: slow statements of one role do not lock the others out, and who is next.
 */
import { setTimeout as sleep } from 'node:timers/promises';
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

test('a request that cannot be served in time is refused at once, and counted; earlier ones are served', async () => {
  const pool = openPool(url, { size: 1, waitMs: 10_000 });
  const [releaseFirst, release] = [await takeLock(database, 2), await takeLock(database, 1)];
  const first = ask(pool, 'anon', 'select hold(2)');
  const held = ask(pool, 'anon', 'select hold(1)');
  const early = [1, 2, 3].map((number) => ask(pool, 'anon', `select ${number}`));
  await untilHeld(database, 1);
  await sleep(500);
  await releaseFirst();
  await first;
  // A turn has taken half a second, so at most 20 of them are waited for.
  const late = Array.from({ length: 40 }, (_, number) =>
    ask(pool, 'anon', `select ${number} as late`).then(String, (problem) => problem.kind),
  );
  const { waiting } = pool.state();
  expect(waiting).toBeGreaterThanOrEqual(3);
  expect(waiting).toBeLessThanOrEqual(20);
  const refused = 43 - waiting;
  await expect(ask(pool, 'anon', 'select 1')).rejects.toMatchObject({ kind: 'overloaded', step: 0 });
  expect(pool.state()).toMatchObject({ waiting, refused: refused + 1 });
  await release();
  await Promise.all([held, ...early]);
  expect((await Promise.all(late)).filter((answer) => answer === 'overloaded')).toHaveLength(refused);
  expect(await ask(pool, 'anon', 'select 1')).toEqual(['1']);
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
