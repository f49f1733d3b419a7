/**
 * What becomes of a gateway that is asked for twice as much as it can do: it goes on at its pace, in time for those whom it
 * serves, refuses the rest at once, and is well again as soon as the load is gone.
 */
import { setTimeout } from 'node:timers/promises';
import { cases } from './cases.ts';
import type { BenchDatabase } from './database.ts';
import { runLoad } from './load.ts';
import { runOpenLoad } from './open-load.ts';
import { childrenCpuSeconds, cpuSeconds, type Target } from './processes.ts';
import { ourRequest, requestsOfOurs, startOurs } from './targets.ts';

/** One case; rates are requests per second, times milliseconds, and work is in processors kept busy. */
export interface OverloadRow {
  readonly title: string;
  /** At saturation: as much as it can do, asked for by clients that wait for their answers. */
  readonly peakRate: number;
  readonly peakP99Ms: number;
  /** Answered to clients that ask for just that and do not wait: what the clients' own work leaves of the peak. */
  readonly openRate: number;
  readonly offeredRate: number;
  readonly answeredRate: number;
  readonly answeredP99Ms: number;
  readonly refusedRate: number;
  readonly refusedP99Ms: number;
  /** From the end of the load to the first of the probes from which on all were answered as without a load. */
  readonly recoveryMs: number;
  /** While it is asked for too much. */
  readonly work: { readonly gateway: number; readonly database: number; readonly clients: number };
}

/** Sockets at saturation, and the most under way beyond it. */
const saturatingSockets = 64;
const mostSockets = 1000;
const overloadFactor = 2;
/** A database that is elsewhere and slow, so that it is no rival of the client and the gateway for this machine's processors. */
const nap = {
  title: 'wait of 4 ms in PostgreSQL',
  requests: [ourRequest('{ nap(ms: 4) }', {})],
};
const napFunction = `create or replace function public.nap(ms int) returns int stable language sql
  as 'select ms from (select pg_catalog.pg_sleep(ms / 1000.0)) slept'`;
/** Much work for the database, and little. */
const chosen = ['nested', 'one-row'];

/** Measures. */
export async function measureOverload(
  db: BenchDatabase,
  { poolSize, seconds }: { readonly poolSize: number; readonly seconds: number },
): Promise<readonly OverloadRow[]> {
  await db.run([napFunction]);
  const { target } = await startOurs({ databaseUrl: db.loginUrl, poolSize });
  try {
    const rows: OverloadRow[] = [];
    const own = chosen.flatMap((name) => cases.find((each) => each.name === name) ?? []);
    const named = own.map((each) => ({ title: each.title, requests: requestsOfOurs(each, each.values) }));
    for (const { title, requests } of [nap, ...named]) {
      rows.push({ title, ...(await measureCase({ target, databasePid: db.pid, requests, seconds })) });
    }
    return rows;
  } finally {
    await target.stop();
  }
}

interface OverloadCase {
  readonly target: Target;
  readonly databasePid: number;
  readonly requests: readonly Buffer[];
  readonly seconds: number;
}

async function measureCase({
  target,
  databasePid,
  requests,
  seconds,
}: OverloadCase): Promise<Omit<OverloadRow, 'title'>> {
  const { port, pid } = target;
  await runLoad({ port, requests, sockets: saturatingSockets, seconds: 2 });
  const peak = await runLoad({ port, requests, sockets: saturatingSockets, seconds });
  const peakRate = peak.requests / peak.seconds;
  const peakP99Ms = p99(peak.latencies);
  const offeredRate = overloadFactor * peakRate;
  const workBefore = readWork(pid, databasePid);
  const over = await runOpenLoad({ port, requests, perSecond: offeredRate, seconds, sockets: mostSockets });
  const workAfter = readWork(pid, databasePid);
  const share = (name: keyof OverloadRow['work']) => (workAfter[name] - workBefore[name]) / over.seconds;
  const recoveryMs = await untilRecovered(port, requests, peakP99Ms);
  const open = await runOpenLoad({ port, requests, perSecond: peakRate, seconds, sockets: mostSockets });
  return {
    peakRate,
    peakP99Ms,
    offeredRate,
    recoveryMs,
    answeredRate: over.answered.length / over.seconds,
    answeredP99Ms: p99(over.answered),
    refusedRate: over.refused.length / over.seconds,
    refusedP99Ms: p99(over.refused),
    openRate: open.answered.length / open.seconds,
    work: { gateway: share('gateway'), database: share('database'), clients: share('clients') },
  };
}

/** CPU seconds until now. */
function readWork(pid: number, databasePid: number): OverloadRow['work'] {
  const { user, system } = process.cpuUsage();
  return {
    gateway: cpuSeconds(pid),
    database: childrenCpuSeconds(databasePid),
    clients: (user + system) / 1e6,
  };
}

const probes = 100;
const probeEveryMs = 20;

/** Asks now and then; the end of the last probe that was refused, or slower than at saturation. */
async function untilRecovered(port: number, requests: readonly Buffer[], goodMs: number): Promise<number> {
  const start = performance.now();
  let recovered = 0;
  for (let probe = 0; probe < probes; probe += 1) {
    const one = { port, requests, perSecond: 1000 / probeEveryMs, seconds: probeEveryMs / 1000, sockets: 1 };
    const { answered } = await runOpenLoad(one);
    if ((answered[0] ?? Number.POSITIVE_INFINITY) > goodMs) recovered = performance.now() - start;
    await setTimeout(probeEveryMs);
  }
  return recovered;
}

function p99(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
