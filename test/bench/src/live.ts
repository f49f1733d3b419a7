/**
 * Live queries: from a commit to the clients, what they take from requests, what idle ones cost, and what exact mode costs commits.
 * Beside them clients that ask each second, which is what there is without live queries.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { BenchDatabase } from './database.ts';
import { startWatchers, type Way } from './live-watchers.ts';
import { table, whole } from './markdown.ts';
import { measureRun } from './measure.ts';
import { childrenCpuSeconds, cpuSeconds, residentMib, type Target } from './processes.ts';
import { ourRequest, startOurs } from './targets.ts';

/** How the gateway comes to know of changes, and the clients of them. */
type Mode = 'exact' | 'default' | 'polling';
const modes: readonly Mode[] = ['exact', 'default', 'polling'];

interface LatencyRow {
  readonly title: string;
  readonly mode: Mode;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of exact mode, in milliseconds. */
  readonly boundMs: number | null;
  /** Of a second, in percent of one core. */
  readonly gatewayPercent: number;
  readonly databasePercent: number;
}

interface Requests {
  readonly perSecond: number;
  readonly p99Ms: number;
}

/** What was measured. */
export interface LiveResult {
  readonly latencies: readonly LatencyRow[];
  /** One row by key over 8 sockets, with a change every 100 ms, without subscribers and then beside 1,000 groups, in one process. */
  readonly requests: readonly { readonly mode: Mode; readonly alone: Requests; readonly beside: Requests }[];
  readonly idle: readonly {
    readonly mode: Mode;
    readonly kibEach: number;
    readonly gatewayPercent: number;
    readonly databasePercent: number;
  }[];
  /** Commits a second, without and with the triggers by turns; null without pgbench. */
  readonly commits: readonly { readonly writers: number; readonly plain: number; readonly exact: number }[] | null;
}

interface Scenario {
  readonly title: string;
  readonly rooms: readonly number[];
  /** Rooms that one commit writes to. */
  readonly written: number;
  readonly everyMs: number;
  readonly boundMs: number | null;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const scenarios: readonly Scenario[] = [
  { title: '1,000 clients, one group', rooms: numbers(1000).map(() => 1), written: 1, everyMs: 500, boundMs: 100 },
  { title: '100 groups', rooms: numbers(100), written: 100, everyMs: 500, boundMs: 60 },
  { title: '1,000 groups of 20 rows', rooms: numbers(1000), written: 1000, everyMs: 1500, boundMs: 400 },
  {
    title: '1,000 groups, a change of 20 every 100 ms',
    rooms: numbers(1000),
    written: 20,
    everyMs: 100,
    boundMs: null,
  },
];
const idleClients = 10_000;
const more = [
  '--max-live-per-caller',
  '100000',
  '--max-live',
  '100000',
  '--max-connections',
  '30000',
  '--max-connections-per-address',
  '30000',
];

/** Measures; takes about five minutes. */
export async function measureLive(
  db: BenchDatabase,
  { seconds, poolSize }: { readonly seconds: number; readonly poolSize: number },
): Promise<LiveResult> {
  const latencies: LatencyRow[] = [];
  const requests: LiveResult['requests'][number][] = [];
  const idle: LiveResult['idle'][number][] = [];
  await makeSchema(db);
  for (const mode of ['default', 'polling', 'exact'] as const) {
    if (mode === 'exact') installExact(db);
    const { target } = await startOurs({ databaseUrl: db.loginUrl, poolSize, schema: 'live', more });
    try {
      for (const scenario of scenarios) {
        latencies.push(await measureLatency(db, target, scenario, mode, seconds));
        console.error(`${scenario.title}, ${mode}: p95 ${Math.round(latencies.at(-1)?.p95Ms ?? 0)} ms`);
      }
      if (mode !== 'polling') {
        // The two in one process: another one is quicker or slower by chance.
        const alone = await measureRequests(db, target, 0, seconds);
        const beside = await measureRequests(db, target, 1000, seconds);
        requests.push({ mode, alone, beside });
        console.error(`requests beside groups, ${mode}: ${share(beside.perSecond, alone.perSecond)}`);
        idle.push(await measureIdle(db, target, mode));
      }
    } finally {
      await target.stop();
    }
  }
  const hasPgbench = spawnSync('pgbench', ['--version']).status === 0;
  return { latencies, requests, idle, commits: hasPgbench ? await compareCommits(db, seconds) : null };
}

async function makeSchema(db: BenchDatabase): Promise<void> {
  await db.run([readFileSync(join(import.meta.dirname, '../sql/live.sql'), 'utf8'), 'analyze live.message']);
}

function installExact(db: BenchDatabase): void {
  const checkout = join(import.meta.dirname, '../../..');
  const run = spawnSync(
    process.execPath,
    [join(checkout, 'dist/main.js'), 'init', '--live', '--schemas', 'live', '--database-url', db.ownerUrl],
    { encoding: 'utf8' },
  );
  if (run.status !== 0) throw new Error(`init --live failed: ${run.stdout}${run.stderr}`);
}

async function measureLatency(
  db: BenchDatabase,
  target: Target,
  { title, rooms, written, everyMs, boundMs }: Scenario,
  mode: Mode,
  seconds: number,
): Promise<LatencyRow> {
  const way: Way = mode === 'polling' ? 'polling' : 'live';
  const watchers = await startWatchers(target.port, rooms, way);
  const writer = new pg.Client({ connectionString: db.ownerUrl });
  await writer.connect();
  try {
    await pause(2500);
    const usage = startUsage(db, target);
    const all = [...new Set(rooms)];
    const end = performance.now() + seconds * 2000;
    for (let turn = 1; performance.now() < end; turn += 1) {
      counter += 1;
      const n = counter;
      const chosen = all.length <= written ? all : numbers(written).map((i) => all[(turn * written + i) % all.length]!);
      // The first row of each room.
      const text = 'update live.message set n = $1 where id = any ($2)';
      await writer.query(text, [n, chosen.map((room) => (room === 1 ? 1000 : room - 1))]);
      watchers.committed(n, new Set(chosen));
      await pause(everyMs * (0.5 + Math.random()));
    }
    const found = await watchers.finish();
    return { title, mode, p50Ms: at(found, 0.5), p95Ms: at(found, 0.95), boundMs, ...usage() };
  } finally {
    watchers.close();
    await writer.end();
  }
}

/** Numbers are never written twice. */
let counter = 0;

async function measureRequests(db: BenchDatabase, target: Target, groups: number, seconds: number): Promise<Requests> {
  const watchers = await startWatchers(target.port, numbers(groups), 'live');
  const writer = new pg.Client({ connectionString: db.ownerUrl });
  await writer.connect();
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      counter += 1;
      await writer.query('update live.message set n = $1 where id = $2', [counter, 1 + (counter % 20_000)]);
      await pause(100);
    }
  })();
  try {
    const query = 'query ($id: Int!) { entryCollection(filter: { id: { eq: $id } }) { edges { node { id n } } } }';
    const asked = numbers(1000).map((id) => ourRequest(query, { id }));
    await measureRun(db, target, { requests: asked, sockets: 8, seconds: 2 });
    const measured = await measureRun(db, target, { requests: asked, sockets: 8, seconds: seconds * 2 });
    return { perSecond: measured.requestsPerSecond, p99Ms: measured.p99Ms };
  } finally {
    isOver = true;
    await writing;
    watchers.close();
    await writer.end();
  }
}

async function measureIdle(db: BenchDatabase, target: Target, mode: Mode): Promise<LiveResult['idle'][number]> {
  const before = residentMib(target.pid);
  const watchers = await startWatchers(target.port, numbers(idleClients), 'live');
  try {
    // What opening them has left to collect is not theirs.
    await pause(20_000);
    const kibEach = ((residentMib(target.pid) - before) * 1024) / idleClients;
    const usage = startUsage(db, target);
    await pause(20_000);
    return { mode, kibEach, ...usage() };
  } finally {
    watchers.close();
  }
}

/** CPU from now on. @returns What gives it, in percent of one core. */
function startUsage(db: BenchDatabase, target: Target) {
  const used = () => [cpuSeconds(target.pid), childrenCpuSeconds(db.pid)] as const;
  const [gateway, database] = used();
  const began = performance.now();
  return () => {
    const seconds = (performance.now() - began) / 1000;
    const [gatewayNow, databaseNow] = used();
    return {
      gatewayPercent: ((gatewayNow - gateway) / seconds) * 100,
      databasePercent: ((databaseNow - database) / seconds) * 100,
    };
  };
}

/** Rounds of both, whose sums are compared. */
const commitRounds = 3;

async function compareCommits(db: BenchDatabase, seconds: number) {
  const commits: { writers: number; plain: number; exact: number }[] = [];
  for (const writers of [8, 32]) {
    let [plain, exact] = [0, 0];
    for (let round = 0; round < commitRounds; round += 1) {
      await db.run(['alter table live.entry disable trigger pgreflect_live']);
      plain += measureCommits(db, writers, seconds) / commitRounds;
      await db.run(['alter table live.entry enable always trigger pgreflect_live']);
      exact += measureCommits(db, writers, seconds) / commitRounds;
    }
    commits.push({ writers, plain, exact });
  }
  return commits;
}

/** Updates of one row, each a transaction. @returns How many a second. */
function measureCommits(db: BenchDatabase, writers: number, seconds: number): number {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-live-'));
  try {
    const file = join(directory, 'script.sql');
    writeFileSync(file, '\\set id random(1, 10000)\nupdate live.entry set n = n + 1 where id = :id;\n');
    const options = ['-n', '-M', 'prepared', '-c', `${writers}`, '-T', `${Math.max(2, seconds * 2)}`, '-f', file];
    const run = spawnSync('pgbench', [...options, db.loginUrl], {
      encoding: 'utf8',
      env: { ...process.env, PGOPTIONS: '-c role=anon' },
    });
    if (run.status !== 0) throw new Error(`pgbench failed: ${run.stderr}`);
    return Number(/tps = ([\d.]+)/.exec(run.stdout)?.[1]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The tables. */
export function printLive({ latencies, requests, idle, commits }: LiveResult): string {
  const percent = (value: number) => value.toFixed(1);
  return [
    table(
      [
        'commit to client',
        'clients learn by',
        'p50 ms',
        'p95 ms',
        'bound of exact mode',
        'gateway, % of a core',
        'PostgreSQL, % of a core',
      ],
      scenarios.flatMap(({ title }) =>
        modes
          .flatMap((mode) => latencies.filter((each) => each.title === title && each.mode === mode))
          .map((each, index) => [
            index === 0 ? title : '',
            each.mode === 'polling' ? 'a query each second' : `live queries, ${each.mode} mode`,
            whole(each.p50Ms),
            whole(each.p95Ms),
            each.mode === 'exact' && each.boundMs !== null ? `${each.boundMs} ms` : '',
            percent(each.gatewayPercent),
            percent(each.databasePercent),
          ]),
      ),
      2,
    ),
    table(
      ['requests beside a change every 100 ms', 'requests/s', 'of no subscribers', 'p99 ms'],
      requests.flatMap(({ mode, alone, beside }) => [
        [`no subscribers, ${mode} mode`, whole(alone.perSecond), '', alone.p99Ms.toFixed(2)],
        ['1,000 groups', whole(beside.perSecond), share(beside.perSecond, alone.perSecond), beside.p99Ms.toFixed(2)],
      ]),
      1,
    ),
    table(
      [`${whole(idleClients)} idle subscriptions`, 'KiB each', 'gateway, % of a core', 'PostgreSQL, % of a core'],
      idle.map((each) => [
        each.mode,
        each.kibEach.toFixed(0),
        percent(each.gatewayPercent),
        percent(each.databasePercent),
      ]),
      1,
    ),
    ...(commits === null
      ? []
      : [
          table(
            ['writers', 'commits/s', 'with `init --live`', 'of it'],
            commits.map(({ writers, plain, exact }) => [
              String(writers),
              whole(plain),
              whole(exact),
              share(exact, plain),
            ]),
            1,
          ),
        ]),
  ].join('\n');
}

function share(part: number, all: number): string {
  return `${(part / all).toFixed(2)} ×`;
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
