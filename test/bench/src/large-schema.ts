/**
 * What a schema of many tables costs: the first answer after the start, memory, the wait after a change, introspection.
 */
import { getIntrospectionQuery } from 'graphql';
import pg from 'pg';
import { installWatch } from '../../../src/cli/init/watch-setup.ts';
import { createSystemPool } from '../../../src/postgres/system/run-system.ts';
import type { BenchDatabase } from './database.ts';
import { childrenCpuSeconds, cpuSeconds, residentMib, type Target } from './processes.ts';
import { anonKey, startGateway } from './targets.ts';

/** One schema with one kind of freshness; memory is resident. */
export interface SchemaResult {
  readonly tables: number;
  readonly freshness: Freshness;
  /** From the start of the process. */
  readonly firstAnswerSeconds: number;
  /** Of the gateway and of PostgreSQL until then: what the wait would be on a machine that does nothing else. */
  readonly firstCpuSeconds: number;
  readonly firstMib: number;
  /** Wait for the answer that is asked right after a comment has changed: the longest of some. */
  readonly changedMs: number;
  readonly introspectionSeconds: number;
  readonly introspectionCpuSeconds: number;
  /** The same once more. */
  readonly introspectionAgainMs: number;
  readonly afterMib: number;
}

type Freshness = 'exact' | 'bounded';

const columns = 20;
const changes = 3;
/** Longest wait for anything, in milliseconds. */
const patienceMs = 120_000;

/** Makes a database with so many tables and measures both kinds of freshness. */
export async function measureLargeSchema(db: BenchDatabase, tables: number): Promise<SchemaResult[]> {
  const name = `large_${tables}`;
  await db.run([`create database ${name}`]);
  const [ownerUrl, databaseUrl] = [db.ownerUrl, db.loginUrl].map((url) => withDatabase(url, name)) as [string, string];
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    console.error(`${tables} tables: made in ${Math.round((await timed(() => fill(owner, tables))) / 1000)} s`);
    await watch(ownerUrl, databaseUrl);
    const results: SchemaResult[] = [];
    for (const freshness of ['exact', 'bounded'] as const)
      results.push(await measureGateway(owner, { databaseUrl, databasePid: db.pid, tables, freshness }));
    return results;
  } finally {
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

/** What grows with the tables. */
const catalogs = ['pg_attribute', 'pg_class', 'pg_type', 'pg_index', 'pg_constraint', 'pg_depend', 'pg_trigger'];

/** Tables in steps, so that no transaction needs a lock for each. Every table but the first refers to the one before. */
async function fill(owner: pg.Client, tables: number): Promise<void> {
  await owner.query('create schema large');
  await owner.query(`comment on schema large is '@graphql({"inflect_names": true, "introspection": true})'`);
  await owner.query('grant usage on schema large to anon, authenticated, service_role');
  const words = Array.from({ length: columns - 2 }, (_, index) => `c${index} text`).join(', ');
  const step = 50;
  for (let first = 0; first < tables; first += step) {
    const made = Array.from({ length: Math.min(step, tables - first) }, (_, index) => {
      const n = first + index;
      const reference = n === 0 ? 'int' : `int references large.t${n - 1} (id)`;
      return `create table large.t${n} (id int primary key, other_id ${reference}, ${words})`;
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

interface LargeGateway {
  readonly databaseUrl: string;
  /** Of the postmaster. */
  readonly databasePid: number;
  readonly tables: number;
  readonly freshness: Freshness;
}

async function measureGateway(
  owner: pg.Client,
  { databaseUrl, databasePid, tables, freshness }: LargeGateway,
): Promise<SchemaResult> {
  const start = performance.now();
  const databaseCpu = childrenCpuSeconds(databasePid);
  const target = await startGateway({
    name: `${tables} tables, ${freshness}`,
    databaseUrl,
    poolSize: 8,
    schema: 'large',
    more: ['--freshness', freshness],
  });
  try {
    await firstAnswer(target);
    const firstAnswerSeconds = (performance.now() - start) / 1000;
    const firstCpuSeconds = cpuSeconds(target.pid) + childrenCpuSeconds(databasePid) - databaseCpu;
    const firstMib = residentMib(target.pid);
    console.error(`${target.name}: first answer after ${firstAnswerSeconds.toFixed(1)} s`);
    const changedMs = await waitAfterChanges(owner, target, freshness);
    const cpuBefore = cpuSeconds(target.pid);
    const introspection = await timed(() => askText(target, getIntrospectionQuery()));
    const introspectionCpuSeconds = cpuSeconds(target.pid) - cpuBefore;
    const again = await timed(() => askText(target, getIntrospectionQuery()));
    return {
      tables,
      freshness,
      firstAnswerSeconds,
      firstCpuSeconds,
      firstMib,
      changedMs,
      introspectionCpuSeconds,
      introspectionSeconds: introspection / 1000,
      introspectionAgainMs: again,
      afterMib: residentMib(target.pid),
    };
  } finally {
    await target.stop();
  }
}

const oneRow = '{ t1Collection(first: 1) { edges { node { id } } } }';

async function firstAnswer(target: Target): Promise<void> {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const answered = await ask(target, oneRow).then(
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

/** Asks right after each change; with `exact` the first answer has to know of it. */
async function waitAfterChanges(owner: pg.Client, target: Target, freshness: Freshness): Promise<number> {
  const waits: number[] = [];
  for (let change = 0; change < changes; change += 1) {
    const words = `Changed ${change}`;
    await owner.query(`comment on table large.t1 is '@graphql({"description": "${words}"})'`);
    waits.push(await timed(() => ask(target, oneRow)));
    const described = async () => JSON.stringify(await ask(target, '{ __type(name: "T1") { description } }'));
    if (freshness === 'exact') {
      if (!(await described()).includes(words)) throw new Error(`${target.name}: an answer of an old schema`);
    } else if (change === changes - 1) await until(async () => (await described()).includes(words));
  }
  return Math.max(...waits);
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
  const response = await fetch(`http://127.0.0.1:${target.port}/graphql/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', apikey: anonKey() },
    body: JSON.stringify({ query }),
  });
  const text = await response.text();
  if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${target.name}: ${text.slice(0, 300)}`);
  return text;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
