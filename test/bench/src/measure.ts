/**
 * One run of a load against a server, with what the server and PostgreSQL spent on it; and the median of several runs.
 */
import type { BenchDatabase } from './database.ts';
import { type Load, runLoad } from './load.ts';
import { takePauses } from './pauses-of.ts';
import { childrenCpuSeconds, childrenOf, cpuSeconds, type Target, watchMemory } from './processes.ts';

/** One server under one load; times of CPU are per request, of a server and its workers together. */
export interface TargetResult {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly cpuMicroseconds: number;
  readonly databaseCpuMicroseconds: number;
  /** 0 where nothing is between the server and PostgreSQL. */
  readonly poolerCpuMicroseconds: number;
  /** Pauses of the garbage collector in a second of the load. */
  readonly pausedMsPerSecond: number;
  readonly longestPauseMs: number;
  /** The most memory that was seen under the load. */
  readonly loadMib: number;
}

/** Runs the load. Rejects as `runLoad` does. */
export async function measureRun(db: BenchDatabase, target: Target, load: Omit<Load, 'port'>): Promise<TargetResult> {
  await pausesOf(target);
  const memory = watchMemory(target.pid);
  const before = { own: cpuOf(target), database: childrenCpuSeconds(db.pid), pooler: poolerCpuOf(target) };
  const { requests, seconds, latencies } = await runLoad({ ...load, port: target.port }).finally(memory);
  const perRequest = (cpuUsed: number) => (cpuUsed / requests) * 1e6;
  const pauses = await pausesOf(target);
  const slowerThan = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    name: target.name,
    requestsPerSecond: requests / seconds,
    p50Ms: slowerThan(0.5),
    p99Ms: slowerThan(0.99),
    p999Ms: slowerThan(0.999),
    cpuMicroseconds: perRequest(cpuOf(target) - before.own),
    databaseCpuMicroseconds: perRequest(childrenCpuSeconds(db.pid) - before.database),
    poolerCpuMicroseconds: perRequest(poolerCpuOf(target) - before.pooler),
    pausedMsPerSecond: pauses.totalMs / seconds,
    longestPauseMs: pauses.longestMs,
    loadMib: memory(),
  };
}

/** Workers pause each for itself. */
const pausesOf = ({ pid }: Target) => takePauses([pid, ...childrenOf(pid)]);

const cpuOf = ({ pid }: Target) => cpuSeconds(pid) + childrenCpuSeconds(pid);

const poolerCpuOf = ({ poolerPid }: Target) => (poolerPid === undefined ? 0 : cpuSeconds(poolerPid));

/** Each figure's median; of memory and of the longest pause the most. */
export function medianOf(runs: readonly TargetResult[]): TargetResult {
  const all = (key: Exclude<keyof TargetResult, 'name'>) => runs.map((run) => run[key]);
  return {
    name: runs[0]?.name ?? '',
    requestsPerSecond: median(all('requestsPerSecond')),
    p50Ms: median(all('p50Ms')),
    p99Ms: median(all('p99Ms')),
    p999Ms: median(all('p999Ms')),
    cpuMicroseconds: median(all('cpuMicroseconds')),
    databaseCpuMicroseconds: median(all('databaseCpuMicroseconds')),
    poolerCpuMicroseconds: median(all('poolerCpuMicroseconds')),
    pausedMsPerSecond: median(all('pausedMsPerSecond')),
    longestPauseMs: Math.max(...all('longestPauseMs')),
    loadMib: Math.max(...all('loadMib')),
  };
}

/** The middle value; the mean of the two middle ones for an even count. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}
