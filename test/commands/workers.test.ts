/**
 * `pgreflect serve --workers N`: several processes are one gateway to whoever asks, signals or looks at it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { LiveOverview } from '../../src/server/recent/live-schemas.ts';
import type { RecentRequests, Usage } from '../../src/server/recent/recent-schemas.ts';
import { anonKey, secret } from '../support/http.ts';
import { overEvents } from '../support/live.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import type { WhenOver } from '../support/when-over.ts';
import { atEnd } from '../support/when-over.ts';
import { linesOf } from './log-lines.ts';
import { type Running, startCommand, temporaryDirectory } from './run-command.ts';

const database = await createAuthDatabase(`
  create table note (id int primary key); insert into note values (1); grant select on note to anon;
  create schema blog; create table blog.post (id int primary key);
  grant usage on schema blog to anon; grant select on blog.post to anon;
  create function held() returns boolean language plpgsql stable as
    $$ begin perform pg_advisory_lock_shared(20); return true; end $$`);

const accessToken = `sbp_${'2'.repeat(40)}`;
const env = () => ({
  DATABASE_URL: database.urlAs('authenticator', 'test'),
  PGREFLECT_ADMIN_DATABASE_URL: database.url,
  PGREFLECT_JWT_SECRET: secret,
  PGREFLECT_ACCESS_TOKEN: accessToken,
  PGREFLECT_LOG_FORMAT: 'json',
});

interface Served {
  readonly command: Running;
  readonly url: string;
  readonly metricsUrl: string;
  readonly directory: string;
}

/** Two workers that expose what the configuration file says. */
async function serve(args: readonly string[], whenOver: WhenOver = onTestFinished): Promise<Served> {
  const directory = temporaryDirectory(whenOver);
  writeFileSync(join(directory, 'pgreflect.toml'), 'schemas = "public"\n');
  const usual = ['serve', '--workers', '2', '--port', '0', '--metrics-port', '0'];
  const command = startCommand([...usual, ...args], { env: env(), directory }, whenOver);
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  const [, metricsUrl = ''] = await command.until(/Metrics: ([^\s"]+)/);
  return { command, url, metricsUrl, directory };
}

/** Process numbers of those that have ever answered, as the log has them. */
const pidsOf = ({ command }: Served) =>
  [...command.text().matchAll(/"workerPid":(\d+),"msg":"worker ready"/g)].map(([, pid]) => Number(pid));

/** What an operator reads, on a connection of its own. */
const operator = (address: string) =>
  fetch(address, { headers: { authorization: `Bearer ${accessToken}`, connection: 'close' } });

/** One request on a connection of its own, so that the workers take turns. */
async function ask(url: string, query: string): Promise<{ readonly data?: unknown; readonly errors?: unknown }> {
  const headers = { apikey: anonKey, 'content-type': 'application/json', connection: 'close' };
  const response = await fetch(`${url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await response.json()) as { data?: unknown };
}

async function readProject<T>(url: string, what: string): Promise<T> {
  const [ref] = /[a-z0-9]{20}/.exec(await (await operator(`${url}/studio/project`)).text()) ?? [];
  return (await operator(`${url}/v1/projects/${ref}/${what}`)).json() as Promise<T>;
}

/** As many as there are workers, one after the other. */
const askBoth = async (url: string, query: string) => [await ask(url, query), await ask(url, query)];

/** Asks until the answer is as expected; the test's own limit of time ends what never becomes so. */
async function eventually(find: () => Promise<unknown>, expected: unknown): Promise<void> {
  while (JSON.stringify(await find()) !== JSON.stringify(expected)) await sleep(20);
}

async function seriesValue({ metricsUrl }: Served, series: string): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

const requests = 'pgreflect_http_requests_total{route="/graphql/v1",method="POST",status="200"}';
const notes = { data: { noteCollection: { edges: [{ node: { id: 1 } }] } } };
const noteQuery = '{ noteCollection { edges { node { id } } } }';

describe('two workers', () => {
  let served: Served;
  beforeAll(async () => {
    const patient = ['--statement-timeout-ms', '60000', '--drain-timeout-ms', '60000'];
    served = await serve(['--schema-poll-ms', '86400000', ...patient], atEnd);
    await served.command.until(/Try:/);
  });

  test('signals and notifications reach both', async () => {
    const { command, url, directory } = served;
    const bothKnow = (table: string, known: boolean) =>
      eventually(
        async () => (await askBoth(url, emptyQuery(table))).map(({ data }) => data !== undefined),
        [known, known],
      );

    await createTable('told');
    await bothKnow('told', false);
    await database.query(`notify pgreflect, 'reload'`);
    await bothKnow('told', true);

    await createTable('signalled');
    command.signal('SIGUSR2');
    await bothKnow('signalled', true);

    await bothKnow('post', false);
    writeFileSync(join(directory, 'pgreflect.toml'), 'schemas = "public,blog"\n');
    command.signal('SIGHUP');
    await bothKnow('post', true);
    await command.until(/Exposed schemas are now: public, blog/);
    expect(command.text().match(/Exposed schemas are now: public, blog/g)).toHaveLength(1);
  });

  test('the live queries of both are one list for operators', async () => {
    const { url } = served;
    const query = 'subscription Notes { noteCollection { edges { node { id } } } }';
    const heard = Array.from({ length: 4 }, () => overEvents(url, { query }));
    await Promise.all(heard.map((each) => each.next()));
    const list = async () => {
      const { processes, answered, operations } = await readProject<LiveOverview>(url, 'live-queries');
      const rows = operations.map(({ operation, role, subscribers, groups }) => [operation, role, subscribers, groups]);
      return [processes, answered, rows];
    };
    // One group in each process: equal subscriptions of different processes run by themselves.
    const all = [2, 2, [['Notes', 'anon', 4, 2]]];
    expect([await list(), await list()]).toEqual([all, all]);
    for (const each of heard) each.stop();
    await eventually(list, [2, 2, []]);
  });

  test('the last requests and the last hour of both are one for operators', async () => {
    const { url } = served;
    const read = (what: string) => readProject<RecentRequests & Usage>(url, what);
    await askBoth(url, `query Both { noteCollection { edges { node { id } } } }`);
    const workers = async () => {
      const { processes, answered, requests } = await read('requests?operation=Both');
      return [processes, answered, requests.map(({ worker }) => worker).toSorted()];
    };
    await eventually(workers, [2, 2, [1, 2]]);
    const { processes, answered, minutes } = await read('usage');
    expect([processes, answered, minutes.length]).toEqual([2, 2, 60]);
    expect(minutes.reduce((sum, minute) => sum + minute.requests, 0)).toBeGreaterThanOrEqual(2);
    // The sum of both pools.
    const [, size] =
      (await (await operator(`${url}/metrics`)).text()).match(/connections_max\{pool="api"\} (\d+)/) ?? [];
    await eventually(async () => (await read('usage')).minutes.at(-1)?.connectionsMax, Number(size));
  });

  test('both answer and are counted together, one that is killed is replaced, and all stop in good order', async () => {
    const { command, url } = served;
    const before = await seriesValue(served, requests);
    expect(await askBoth(url, noteQuery)).toEqual([notes, notes]);
    const total = await seriesValue(served, requests);
    expect(total - before).toBe(2);
    const headers = { authorization: `Bearer ${accessToken}`, connection: 'close' };
    for (let round = 0; round < 2; round += 1) {
      expect(await (await fetch(`${url}/metrics`, { headers })).text()).toContain(`${requests} ${total}\n`);
    }

    process.kill(pidsOf(served)[0] as number, 'SIGKILL');
    await command.until(/"code":null,"signal":"SIGKILL","msg":"worker exited; replacing it"/);
    await command.until(/(worker ready[\s\S]*){3}/);
    // What the killed one had counted stays counted: Prometheus takes a sum that falls for a restart.
    expect(await seriesValue(served, requests)).toBe(total);
    expect(await seriesValue(served, 'pgreflect_events_total{kind="worker_ended"}')).toBe(1);
    expect(await seriesValue(served, 'pgreflect_processes')).toBe(2);
    expect(await seriesValue(served, 'pgreflect_ready')).toBe(1);
    const startedAt = await seriesValue(served, 'process_start_time_seconds');
    expect(startedAt).toBeGreaterThan(performance.timeOrigin / 1000);
    expect(startedAt).toBeLessThan(Date.now() / 1000);
    expect(await askBoth(url, noteQuery)).toEqual([notes, notes]);
    expect(await seriesValue(served, requests)).toBe(total + 2);

    // A request that is under way when the signal comes is finished; new ones are not taken. A service manager sends the
    // signal to every process, the supervisor as well, and npm's shell once more.
    const release = await holdLock();
    const held = ask(url, '{ held }');
    await eventually(waiting, [{ n: 1 }]);
    const signalAll = () => {
      for (const pid of pidsOf(served).filter(isAlive)) process.kill(pid, 'SIGTERM');
      command.signal('SIGTERM');
    };
    signalAll();
    signalAll();
    await eventually(() => isRefused(url), true);
    await release();
    expect(await held).toEqual({ data: { held: true } });
    const { code, out, err } = await command.finished;
    expect(code).toBe(0);
    // Every line is one of the log, with the number of the worker.
    expect(new Set(linesOf(out + err).map(({ worker }) => worker))).toEqual(new Set([undefined, 1, 2]));
  });
});

const emptyQuery = (table: string) => `{ ${table}Collection { edges { node { id } } } }`;

const createTable = (name: string) =>
  database.query(`create table ${name} (id int primary key); grant select on ${name} to anon`);

/** Holds what `held` waits for. @returns What lets it go. */
async function holdLock(): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('select pg_advisory_lock(20)');
  return () => client.end();
}

const waiting = () =>
  database.query(`select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`);

// One that nobody takes up any more is as good as refused: it ends with the last process.
const isRefused = (url: string) =>
  fetch(`${url}/health`, { headers: { connection: 'close' }, signal: AbortSignal.timeout(2000) }).then(
    () => false,
    () => true,
  );

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
