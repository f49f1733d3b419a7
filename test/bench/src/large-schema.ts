/**
 * What a schema of many tables costs: until the first answer, at rest, after changes, for introspection; with all extensions and without.
 */
import { getIntrospectionQuery } from 'graphql';
import pg from 'pg';
import { installWatch } from '../../../src/cli/init/watch-setup.ts';
import { createSystemPool } from '../../../src/postgres/system/run-system.ts';
import type { BenchDatabase } from './database.ts';
import { takeHold } from './pauses-of.ts';
import { childrenCpuSeconds, cpuSeconds, residentMib, type Target } from './processes.ts';
import { anonKey, startGateway, startPostgraphile } from './targets.ts';

/** One server with one schema; memory is resident, CPU that of the server's process unless told. */
export interface SchemaResult {
  readonly tables: number;
  readonly server: string;
  /** Once the server is ready, before a request. */
  readonly idleMib: number;
  /** From the start of the process to the first answer. */
  readonly firstCpuSeconds: number;
  /** Of PostgreSQL meanwhile. */
  readonly firstDatabaseSeconds: number;
  readonly firstMib: number;
  /** Until an answer knows a new comment, and a new table; null for who does not notice. */
  readonly commentCpuSeconds: number | null;
  readonly tableCpuSeconds: number | null;
  readonly introspectionMb: number;
  readonly introspectionCpuSeconds: number;
  /** The same once more. */
  readonly introspectionAgainSeconds: number;
  /** CPU time between two turns of the event loop, the longest: of the first answer and introspection, and after changes. */
  readonly holdMs: number;
  readonly reloadHoldMs: number;
  /** Other requests while an answer waits for the new comment, and the new table, and while the schema is introspected. */
  readonly commentWaits: Waits | null;
  readonly tableWaits: Waits | null;
  readonly introspectionWaits: Waits;
  readonly afterMib: number;
}

/** In milliseconds. */
interface Waits {
  readonly p99: number;
  readonly longest: number;
}

const columns = 20;
/** Up to so many, tables have aggregates and totals. */
const withAggregates = 300;
/** PostGraphile takes part with so many. */
const ofPostgraphile = 1000;
/** Longest wait for anything, in milliseconds. */
const patienceMs = 300_000;

/** Makes a database with so many tables, and measures each server with it. */
export async function measureLargeSchema(db: BenchDatabase, tables: number): Promise<SchemaResult[]> {
  // Servers inherit it, and note how long they are held.
  process.env.BENCH_HOLDS = '1';
  const name = `large_${tables}`;
  await db.run([`create database ${name}`]);
  const [ownerUrl, databaseUrl] = [db.ownerUrl, db.loginUrl].map((url) => withDatabase(url, name)) as [string, string];
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    console.error(`${tables} tables: made in ${Math.round((await timed(() => fill(owner, tables))) / 1000)} s`);
    await watch(ownerUrl, databaseUrl);
    const base = { databaseUrl, poolSize: 8, schema: 'large' };
    const gateway = (name: string, more: readonly string[]) => () => startGateway({ ...base, name, more });
    const starts = [
      gateway('extensions all', []),
      gateway('all, bounded', ['--freshness', 'bounded']),
      gateway('extensions none', ['--extensions', 'none']),
    ];
    if (tables === ofPostgraphile) starts.push(() => startPostgraphile(base));
    const results: SchemaResult[] = [];
    for (const start of starts) results.push(await measureServer({ start, owner, databasePid: db.pid, tables }));
    return results;
  } finally {
    delete process.env.BENCH_HOLDS;
    await owner.end();
    await db.run([`drop database ${name} with (force)`]);
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

/** Three roles with three views of the schema. */
const grants = {
  anon: 'select',
  authenticated: 'select, insert, update',
  service_role: 'select, insert, update, delete',
};

const types = ['text', 'int', 'numeric', 'timestamptz', 'bool'];

/** What grows with the tables. */
const catalogs = ['pg_attribute', 'pg_class', 'pg_type', 'pg_index', 'pg_constraint', 'pg_depend', 'pg_trigger'];

/** Tables in steps, so that no transaction needs a lock for each. Every table but the first refers to the one before. */
async function fill(owner: pg.Client, tables: number): Promise<void> {
  await owner.query('create schema large');
  await owner.query(`comment on schema large is '@graphql({"inflect_names": true, "introspection": true})'`);
  await owner.query('grant usage on schema large to anon, authenticated, service_role');
  const words = Array.from({ length: columns - 2 }, (_, index) => `c${index} ${types[index % types.length]}`).join(
    ', ',
  );
  const totals = '{"totalCount": {"enabled": true}, "aggregate": {"enabled": true}}';
  const step = 50;
  for (let first = 0; first < tables; first += step) {
    const made = Array.from({ length: Math.min(step, tables - first) }, (_, index) => {
      const n = first + index;
      const reference = n === 0 ? 'int' : `int references large.t${n - 1} (id)`;
      const comment = tables > withAggregates ? '' : `; comment on table large.t${n} is '@graphql(${totals})'`;
      return `create table large.t${n} (id int primary key, other_id ${reference}, ${words})${comment}`;
    });
    await owner.query(made.join(';\n'));
  }
  for (const [role, privileges] of Object.entries(grants)) {
    for (let first = 0; first < tables; first += step) {
      const names = Array.from({ length: Math.min(step, tables - first) }, (_, index) => `large.t${first + index}`);
      await owner.query(`grant ${privileges} on ${names.join(', ')} to ${role}`);
    }
  }
  // As a server does by itself some time after a migration.
  for (const name of catalogs) await owner.query(`vacuum analyze pg_catalog.${name}`);
}

/** With the trigger an answer can be exact. */
async function watch(ownerUrl: string, loginUrl: string): Promise<void> {
  const connection = { connectionString: ownerUrl, size: 1, waitMs: 5000, applicationName: 'bench' };
  const pool = createSystemPool({ ...connection, onError: () => {} });
  await installWatch(pool, new URL(loginUrl).username);
  await pool.stop();
}

interface Measured {
  readonly start: () => Promise<Target>;
  readonly owner: pg.Client;
  /** Of the postmaster. */
  readonly databasePid: number;
  readonly tables: number;
}

async function measureServer({ start, owner, databasePid, tables }: Measured): Promise<SchemaResult> {
  const databaseCpu = childrenCpuSeconds(databasePid);
  const target = await start();
  const isOurs = target.name !== 'postgraphile';
  const spent = async (work: () => Promise<unknown>): Promise<number> => {
    const before = cpuSeconds(target.pid);
    await work();
    return cpuSeconds(target.pid) - before;
  };
  try {
    if (isOurs) await until(() => isReady(target));
    await pause(3000);
    const idleMib = residentMib(target.pid);
    // Loading the modules is none of it.
    await takeHold(target.pid);
    await firstAnswer(target);
    const firstCpuSeconds = cpuSeconds(target.pid);
    const firstDatabaseSeconds = childrenCpuSeconds(databasePid) - databaseCpu;
    // Hints at the start come after the first answer, and collections of garbage.
    await pause(3000);
    const firstMib = residentMib(target.pid);
    console.error(`${tables} tables, ${target.name}: ${firstCpuSeconds.toFixed(1)} s, ${firstMib} MiB`);
    const firstHoldMs = await takeHold(target.pid);
    const [comment, table] = isOurs ? await afterChanges(owner, target, spent) : [null, null];
    const reloadHoldMs = await takeHold(target.pid);
    let text = '';
    const others = beside(target);
    const introspectionCpuSeconds = await spent(async () => {
      text = await askText(target, getIntrospectionQuery());
    });
    const introspectionWaits = await others.end();
    const introspectionAgainSeconds = await spent(() => askText(target, getIntrospectionQuery()));
    return {
      tables,
      server: target.name,
      idleMib,
      firstCpuSeconds,
      firstDatabaseSeconds,
      firstMib,
      commentCpuSeconds: comment?.seconds ?? null,
      tableCpuSeconds: table?.seconds ?? null,
      commentWaits: comment?.waits ?? null,
      tableWaits: table?.waits ?? null,
      introspectionMb: Buffer.byteLength(text) / 1e6,
      introspectionCpuSeconds,
      introspectionAgainSeconds,
      holdMs: Math.max(firstHoldMs, await takeHold(target.pid)),
      reloadHoldMs,
      introspectionWaits,
      afterMib: residentMib(target.pid),
    };
  } finally {
    await target.stop();
  }
}

async function isReady({ port }: Target): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
  return answer?.ok === true;
}

/** Asks for a row again and again; how long it waits, once it ends. */
function beside(target: Target): { end(): Promise<Waits> } {
  let isOver = false;
  const waits: number[] = [];
  const run = async () => {
    while (!isOver) {
      waits.push(await timed(() => ask(target, oneRow(target))));
      await pause(10);
    }
  };
  const done = run();
  return {
    async end() {
      isOver = true;
      await done;
      waits.sort((a, b) => a - b);
      return { p99: waits[Math.floor(waits.length * 0.99)] ?? 0, longest: waits.at(-1) ?? 0 };
    },
  };
}

const oneRow = ({ name }: Target) =>
  name === 'postgraphile'
    ? '{ allT1S(first: 1) { edges { node { id } } } }'
    : '{ t1Collection(first: 1) { edges { node { id } } } }';

async function firstAnswer(target: Target): Promise<void> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const answered = await ask(target, oneRow(target)).then(
      () => true,
      () => false,
    );
    if (answered) return;
    const output = target.failure();
    if (output !== null) throw new Error(`${target.name} has ended:\n${output}`);
    await pause(20);
  }
  throw new Error(`${target.name}: no answer in ${patienceMs / 1000} s`);
}

/** Until an answer knows a change: with exact freshness the first one. */
async function afterChanges(
  owner: pg.Client,
  target: Target,
  spent: (work: () => Promise<unknown>) => Promise<number>,
) {
  const after = async (change: string, question: string, words: string) => {
    const others = beside(target);
    const seconds = await spent(async () => {
      await owner.query(change);
      await until(async () => {
        const answer = await ask(target, question).then(JSON.stringify, String);
        if (answer.includes(words)) return true;
        if (!target.name.includes('bounded')) throw new Error(`${target.name}: an answer of an old schema: ${answer}`);
        return false;
      });
    });
    const waits = await others.end();
    await pause(1000);
    return { seconds, waits };
  };
  const words = `Changed for ${target.name}`;
  const comment = `comment on table large.t1 is '@graphql({"description": "${words}"})'`;
  const table = `more_${target.pid}`;
  const create = `create table large.${table} (id int primary key, n int); grant select on large.${table} to anon`;
  return [
    await after(comment, '{ __type(name: "T1") { description } }', words),
    await after(create, `{ more${target.pid}Collection(first: 1) { edges { node { n } } } }`, '"edges"'),
  ] as const;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + patienceMs;
  while (!(await isTrue())) {
    if (performance.now() > end) throw new Error(`nothing has changed in ${patienceMs / 1000} s`);
    await pause(50);
  }
}

/** Milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The data of an answer. Rejects when there is none. */
async function ask(target: Target, query: string): Promise<unknown> {
  return JSON.parse(await askText(target, query)) as unknown;
}

/** An answer that has been received whole, but not read: reading a hundred megabytes of JSON takes its own time. */
async function askText(target: Target, query: string): Promise<string> {
  const path = target.name === 'postgraphile' ? '/graphql' : '/graphql/v1';
  const send = () =>
    fetch(`http://127.0.0.1:${target.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', apikey: anonKey() },
      body: JSON.stringify({ query }),
    });
  // A connection that was idle may be closed by now.
  const response = await send().catch(send);
  const text = await response.text();
  if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${target.name}: ${text.slice(0, 300)}`);
  return text;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
