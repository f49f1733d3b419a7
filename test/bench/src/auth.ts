/**
 * The auth service: sign-ins and refreshes a second, what a burst of sign-ins does to GraphQL requests beside it, and what
 * emails cost. Nothing is compared; the product's own goals are.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '../../../src/postgres/migrations/migrate.ts';
import { createSystemPool } from '../../../src/postgres/system/run-system.ts';
import { type AuthCase, authCases, passwordRequest } from './auth-cases.ts';
import { cases } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { type EmailWork, measureEmailWork } from './email-work.ts';
import { runLoad } from './load.ts';
import { measureRun, medianOf, type TargetResult } from './measure.ts';
import type { Target } from './processes.ts';
import { requestsOfOurs, startOurs } from './targets.ts';

/** What was found. */
export interface AuthResult {
  readonly rows: readonly (Pick<AuthCase, 'title' | 'goal'> & { readonly result: TargetResult })[];
  readonly burst: BurstResult;
  readonly email: EmailWork;
}

/** A steady load of GraphQL requests, alone and while sign-ins with a password compete with it. */
export interface BurstResult {
  readonly signIns: number;
  /** How long it took until all of them were answered. */
  readonly seconds: number;
  readonly requestsPerSecond: number;
  /** Latency of the GraphQL requests in milliseconds. */
  readonly quietP99Ms: number;
  readonly burstP99Ms: number;
}

/** Users come one by one, so more of them at a time than a program has connections. */
export const authSockets = 64;

/** How it is measured. */
export interface AuthLoad {
  readonly poolSize: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Makes the tables and measures. */
export async function measureAuth(db: BenchDatabase, load: AuthLoad): Promise<AuthResult> {
  await installAuth(db);
  const { target } = await startOurs({
    databaseUrl: db.loginUrl,
    poolSize: load.poolSize,
    env: {
      PGREFLECT_ADMIN_DATABASE_URL: db.ownerUrl,
      PGREFLECT_SECURITY_SB_FORWARDED_FOR_ENABLED: 'true',
      PGREFLECT_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  try {
    const rows: AuthResult['rows'][number][] = [];
    for (const authCase of authCases) rows.push(await measureCase(db, target, authCase, load));
    return { rows, burst: await measureBurst(db, target, load), email: measureEmailWork(load.seconds) };
  } finally {
    await target.stop();
  }
}

async function installAuth(db: BenchDatabase): Promise<void> {
  const connection = { connectionString: db.ownerUrl, size: 1, waitMs: 5000, applicationName: 'bench' };
  const pool = createSystemPool({ ...connection, onError: () => {} });
  await migrate(pool, { apiRoles: ['anon', 'authenticated', 'service_role'] });
  await pool.stop();
  await db.run([readFileSync(join(import.meta.dirname, '../sql/auth.sql'), 'utf8')]);
}

async function measureCase(
  db: BenchDatabase,
  target: Target,
  { title, goal, usersPerSecond, request }: AuthCase,
  { rounds, seconds }: AuthLoad,
): Promise<AuthResult['rows'][number]> {
  const run = async (forSeconds: number) => {
    const requests = await fillUsers(db, Math.ceil(usersPerSecond * forSeconds), request);
    return measureRun(db, target, { requests, sockets: authSockets, seconds: forSeconds, once: true });
  };
  await run(Math.min(2, seconds));
  const runs: TargetResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const result = await run(seconds);
    runs.push(result);
    console.error(`${title} round ${round + 1}: ${Math.round(result.requestsPerSecond)} requests/s`);
  }
  return { title, goal, result: medianOf(runs) };
}

/** New users, and the request of each. */
async function fillUsers(db: BenchDatabase, size: number, request: (n: number) => Buffer): Promise<Buffer[]> {
  await db.run([`call bench.fill_auth(${size})`, 'vacuum analyze']);
  return Array.from({ length: size }, (_, index) => request(index + 1));
}

const burstSize = 50;
/** Half of what a gateway on two processors can do beside the load itself would already be too much to see anything. */
const steady = { sockets: 4, everyMs: 20 };

async function measureBurst(db: BenchDatabase, target: Target, { seconds }: AuthLoad): Promise<BurstResult> {
  const signIns = await fillUsers(db, burstSize, passwordRequest);
  const [oneRow] = cases;
  if (oneRow === undefined) throw new Error('there is no case to send beside the sign-ins');
  const requests = requestsOfOurs(oneRow, oneRow.values);
  const graphql = (forSeconds: number) => runLoad({ ...steady, port: target.port, requests, seconds: forSeconds });
  await graphql(1);
  const quiet = await graphql(Math.max(3, seconds));
  // As long as the sign-ins take: measured by a burst that is thrown away.
  const first = await runLoad({ port: target.port, requests: signIns, sockets: burstSize, seconds: 60, once: true });
  const [during, burst] = await Promise.all([
    graphql(first.seconds),
    runLoad({ port: target.port, requests: signIns, sockets: burstSize, seconds: 60, once: true }),
  ]);
  const p99 = (latencies: readonly number[]) => latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  return {
    signIns: burst.requests,
    seconds: burst.seconds,
    requestsPerSecond: during.requests / during.seconds,
    quietP99Ms: p99(quiet.latencies),
    burstP99Ms: p99(during.latencies),
  };
}
