/**
 * Light queries that arrive together share a connection and one write; here is that nobody loses by it: every caller keeps its own
 * settings, and an error, a slow statement, a cancel or a lost connection of one is none of the others' business.
 * Mutations have a connection to themselves.
 */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { RunAsOptions, Step } from '../../src/postgres/caller/flight-request.ts';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import type { ApiPool } from '../../src/postgres/pool/pool.ts';
import { takeLock, untilHeld } from '../support/busy.ts';
import { answersOf, callerOf, flightOf, makeShared as makeSharedThrough, openPool } from '../support/flights.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';
import { expectOwnAnswers, harmfulFunctions } from './flight-storm.ts';

let database: TestDatabase;
let proxy: RecordingProxy;
let pool: ApiPool;
beforeAll(async () => {
  database = await createDatabase(`
    create table note (owner text, body text);
    insert into note select format('user %s', n), format('note %s', n) from generate_series(1, 20) n;
    alter table note enable row level security;
    create policy own on note to authenticated
      using (owner = current_setting('request.jwt.claims')::json ->> 'sub');
    grant select on note to authenticated;
    create sequence touched;
    grant usage on sequence touched to anon;
    ${harmfulFunctions}
    create table visit (request text);
    create function visit(request text) returns text language sql volatile security definer
      as 'insert into visit values (request) returning request';
  `);
  proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
});
afterAll(() => proxy.stop());
beforeEach(() => {
  proxy.inspect(null);
  proxy.delay(0);
  pool = openPool(proxy.url, { size: 8 });
});

/** The process that answers, after a sleep of so many seconds, or an error where that is no number. */
const sleeper = `select pg_backend_pid() from (select pg_sleep(nullif($1, 'held')::float8),
  case when $1 = 'held' then pg_advisory_xact_lock_shared(7) end) s`;
const light = (step: string | Step, more: Partial<RunAsOptions> = {}) =>
  runAs(pool, flightOf([step], { isLight: true, ...more }));
const sleep = (seconds: string, more: Partial<RunAsOptions> = {}) => light({ text: sleeper, values: [seconds] }, more);

/** The processes that answer so many at once, while each waits until all of them run. */
async function processesOf(count: number, more: Partial<RunAsOptions> = {}): Promise<number> {
  const release = await takeLock(database, 7);
  const answers = answersOf(Array.from({ length: count }, () => sleep('held', more)));
  await untilHeld(database, count);
  await release();
  return new Set(await answers).size;
}

const makeShared = (ask: () => Promise<unknown>) => makeSharedThrough(proxy, ask);
const makeSleepShared = () => makeShared(() => sleep('0'));

test('reads that arrive together take one round trip on one connection', async () => {
  // On a busy machine one may keep the others waiting, and all are sent alone.
  await vi.waitFor(
    async () => {
      await makeSleepShared();
      const processes = await answersOf([sleep('0'), sleep('0'), sleep('0')]);
      expect(new Set(processes).size).toBe(1);
      expect(proxy.roundTrips()).toBe(1);
    },
    { timeout: 60_000 },
  );
});

test('mutations that arrive together run on connections of their own', async () => {
  await makeSleepShared();
  expect(await processesOf(3, { mutation: true })).toBe(3);
});

test('statements that were never run before run on connections of their own', async () => {
  expect(await processesOf(3)).toBe(3);
});

test('statements that are not light run on connections of their own, also when they have run before', async () => {
  for (let time = 0; time < 3; time += 1) await sleep('0', { isLight: false });
  expect(await processesOf(3, { isLight: false })).toBe(3);
});

test('each caller of a batch sees its own rows, limits and claims', async () => {
  const text = `select string_agg(body, ',') || current_setting('statement_timeout') from note`;
  const readAs = (user: number) => {
    const caller = { ...callerOf('authenticated'), claims: JSON.stringify({ sub: `user ${user}` }) };
    return light(text, { caller, timeoutMs: 1000 + user });
  };
  await makeShared(() => readAs(1));
  const users = [1, 2, 3, 4, 5, 6, 7, 8];
  // On a busy machine one may keep the others waiting, and all are sent alone.
  do {
    proxy.reset();
    expect(await answersOf(users.map(readAs))).toEqual(users.map((user) => `note ${user}${1000 + user}ms`));
  } while (proxy.roundTrips() === users.length);
});

test('an error of one is told to its request alone, wherever it is in the batch', async () => {
  await makeSleepShared();
  for (const broken of [0, 1, 2]) {
    const seconds = ['0', '0', '0'].map((each, index) => (index === broken ? 'x' : each));
    const ends = await answersOf(seconds.map((each) => sleep(each)));
    expect(ends.map((end) => (end === 'statement' ? end : 'answered'))).toEqual(
      seconds.map((each) => (each === 'x' ? 'statement' : 'answered')),
    );
  }
});

test('an error of one leaves the answers of the others valid', async () => {
  await vi.waitFor(
    async () => {
      await makeSleepShared();
      const [first, broken, last] = await answersOf([sleep('0'), sleep('x'), sleep('0')]);
      expect([first, broken]).toEqual([last, 'statement']);
      expect(proxy.roundTrips()).toBe(1);
    },
    { timeout: 60_000 },
  );
});

test('after one that failed before the connection was reset, no request is answered from that connection', async () => {
  pool = openPool(proxy.url, { size: 1 });
  const table = `select coalesce(to_regclass('pg_temp.note')::text, 'none')`;
  await makeShared(() => light(table));
  await makeSleepShared();
  await runAs(pool, flightOf(['create temporary table note as select 1'], { mutation: true }));
  expect(await answersOf([sleep('x'), light(table)])).toEqual(['statement', 'none']);
});

test.each([
  ['a quick one', '0'],
  ['a slow one', '0.1'],
  ['an error', 'x'],
  ['a cancelled one', '30'],
])('a query that writes behind %s does so once', async (name, seconds) => {
  const text = `select case when $1 = '' then '' else visit($1) end as "behind ${name}"`;
  const visit = (request: string) => light({ text, values: [request] });
  const client = new AbortController();
  await makeShared(() => visit(''));
  await makeSleepShared();
  const ends = answersOf([sleep(seconds, { signal: client.signal }), visit(name), visit(`${name} too`)]);
  if (seconds === '30') setTimeout(() => client.abort(), 5);
  expect((await ends).slice(1)).toEqual([name, `${name} too`]);
  // Whatever may still be on its way has ended.
  await pool.stop();
  expect(await database.query('select request from visit where starts_with(request, $1) order by 1', [name])).toEqual([
    { request: name },
    { request: `${name} too` },
  ]);
});

test('a statement whose request is gone is cancelled', async () => {
  await makeSleepShared();
  const ends = await answersOf([sleep('0.1'), sleep('40', { requestTimeoutMs: 200 })]);
  expect(ends[1]).toBe('timeout');
  await vi.waitFor(
    async () => {
      const [running] = await database.query<{ count: string }>(
        `select count(*) from pg_stat_activity where datname = $1 and state = 'active' and pid <> pg_backend_pid()`,
        [database.name],
      );
      expect(running?.count).toBe('0');
    },
    { timeout: 15_000 },
  );
});

test('what a failed one leaves on the connection is reset before the next answer', async () => {
  const state = `select coalesce(current_setting('my.state', true), '') || (select count(*) from pg_prepared_statements
    where not name like 'pgreflect%')`;
  await makeShared(() => light(state));
  const poison = `select case when set_config('my.state', 'left', false) is not null then (1 / $1::int)::text end`;
  await makeShared(() => light({ text: poison, values: ['1'] }));
  const ends = await answersOf([
    light({ text: poison, values: ['0'] }),
    light({ text: poison, values: ['1'] }),
    light(state),
  ]);
  expect(ends).toEqual(['statement', '1', '0']);
});

test('a statement that is slow for once does not delay the other requests', async () => {
  await makeSleepShared();
  const client = new AbortController();
  const slow = answersOf([sleep('30', { signal: client.signal })]);
  const quick = answersOf([sleep('0'), sleep('0')]);
  for (const answer of await quick) expect(Number(answer)).toBeGreaterThan(0);
  client.abort();
  expect(await slow).toEqual(['cancelled']);
});

test('a client that leaves while its statement runs cancels no other request', async () => {
  await makeSleepShared();
  for (let round = 0; round < 20; round += 1) {
    const client = new AbortController();
    const ends = answersOf([sleep('0.008', { signal: client.signal }), sleep('0'), sleep('0.001'), sleep('0')]);
    setTimeout(() => client.abort(), round % 10);
    const [first, ...others] = await ends;
    expect(first === 'cancelled' || Number(first) > 0).toBe(true);
    for (const other of others) expect(Number(other)).toBeGreaterThan(0);
    await makeSleepShared();
  }
});

test('a client that leaves before its turn sends no cancel request', async () => {
  pool = openPool(proxy.url, { size: 1 });
  await makeSleepShared();
  const client = new AbortController();
  const release = await takeLock(database, 7);
  const ends = answersOf([sleep('held'), sleep('0'), sleep('0', { signal: client.signal }), sleep('0')]);
  await untilHeld(database, 1);
  client.abort();
  await release();
  const [first, second, left, last] = await ends;
  for (const answer of [first, second, last]) expect(Number(answer)).toBeGreaterThan(0);
  expect(left).toBe('cancelled');
  expect(proxy.connections()).toBe(0);
});

test('the time limit applies to each, also after a slow one', async () => {
  await makeSleepShared();
  const ends = await answersOf([sleep('0.2'), sleep('30', { requestTimeoutMs: 300 }), sleep('0')]);
  expect(Number(ends[0])).toBeGreaterThan(0);
  expect(ends[1]).toBe('timeout');
  expect(Number(ends[2])).toBeGreaterThan(0);
});

test('a connection that dies under a batch: each read is repeated', async () => {
  const text = 'select case when $1 then die() end, pg_backend_pid() where $1 or true';
  const run = (dies: string) => light({ text, values: [dies] });
  await makeShared(() => run('false'));
  const ends = await answersOf([run('false'), run('true'), run('false'), run('false')]);
  // It ends the second connection as well, and a read is repeated once; the others' second time is alone.
  expect(ends).toEqual([null, 'unavailable', null, null]);
});

test('while the database is away all requests are refused, and once it is back they share round trips again', async () => {
  await makeSleepShared();
  proxy.inspect(() => 'cut');
  proxy.cut();
  const away = ['unavailable', 'unavailable', 'unavailable'];
  expect(await answersOf([sleep('0'), sleep('0'), sleep('0')])).toEqual(away);
  expect(await answersOf([sleep('0'), sleep('0'), sleep('0')])).toEqual(away);
  proxy.inspect(null);
  await makeSleepShared();
});

test('batches use more statements than a connection may keep prepared', async () => {
  pool = openPool(proxy.url, { size: 1, maxStatementsPerConnection: 8 });
  const texts = Array.from({ length: 12 }, (_, n) => `select ${n} + $1::int`);
  const ask = (round: number) => answersOf(texts.map((text) => light({ text, values: [String(round)] })));
  for (let round = 0; round < 12; round += 1) {
    expect(await ask(round)).toEqual(texts.map((_, n) => String(n + round)));
  }
});

test('a statement that the server no longer has is prepared again', async () => {
  pool = openPool(proxy.url, { size: 1 });
  await makeSleepShared();
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()
    and application_name = 'pgreflect-test'`,
    [database.name],
  );
  for (const answer of await answersOf([sleep('0'), sleep('0'), sleep('0')])) expect(Number(answer)).toBeGreaterThan(0);
});

test('requests that find no connection are refused, each after its own wait', async () => {
  pool = openPool(proxy.url, { size: 1, waitMs: 6000 });
  await makeSleepShared();
  const client = new AbortController();
  const busy = answersOf([runAs(pool, flightOf(['select pg_sleep(60)'], { mutation: true, signal: client.signal }))]);
  const early = answersOf([sleep('0'), sleep('0')]);
  await new Promise((resolve) => setTimeout(resolve, 5000));
  // Its own wait has only begun when that of the others is over.
  const late = answersOf([sleep('0')]);
  expect(await early).toEqual(['overloaded', 'overloaded']);
  client.abort();
  expect(await busy).toEqual(['cancelled']);
  expect(Number((await late)[0])).toBeGreaterThan(0);
});

test('answers that are read late do not make statements slow', async () => {
  let attempt = 0;
  const isSlow = async () => {
    attempt += 1;
    const text = `select current_setting('plan_cache_mode') as "attempt ${attempt}" from pg_sleep(0)`;
    const ask = () => runAs(pool, flightOf([text], { customPlanning: 'once_slow' }));
    await ask();
    proxy.reset();
    const late = ask();
    await vi.waitFor(() => expect(proxy.roundTrips()).toBe(1));
    // The process is busy with something else.
    const until = performance.now() + 100;
    while (performance.now() < until);
    await late;
    return (await ask())[0];
  };
  // On a busy machine the server may take as long itself.
  await expect.poll(isSlow, { timeout: 60_000 }).toBe('auto');
});

test('six hundred requests of many callers at once, each statement its own way of doing harm, get their own answers, and all connections are there afterwards', async () => {
  pool = openPool(proxy.url, { size: 4, waitMs: 60_000, maxStatementsPerConnection: 12 });
  await expectOwnAnswers(pool, proxy, 600);
  expect(await processesOf(4, { mutation: true })).toBe(4);
  await pool.stop();
});
