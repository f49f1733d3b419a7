/**
 * One run of a load against a server, with what the server and PostgreSQL spent on it; and the median of several runs.
 */
import type { BenchDatabase } from './database.ts';
import { type Load, runLoad } from './load.ts';
import { childrenCpuSeconds, cpuSeconds, type Target } from './processes.ts';
import { median, type TargetResult } from './report.ts';

/** Runs the load. Rejects as `runLoad` does. */
export async function measureRun(db: BenchDatabase, target: Target, load: Omit<Load, 'port'>): Promise<TargetResult> {
  const before = { own: cpuSeconds(target.pid), database: childrenCpuSeconds(db.pid) };
  const { requests, seconds, latencies } = await runLoad({ ...load, port: target.port });
  const perRequest = (cpuUsed: number) => (cpuUsed / requests) * 1e6;
  return {
    name: target.name,
    requestsPerSecond: requests / seconds,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    cpuMicroseconds: perRequest(cpuSeconds(target.pid) - before.own),
    databaseCpuMicroseconds: perRequest(childrenCpuSeconds(db.pid) - before.database),
  };
}

/** Each figure's median. */
export function medianOf(runs: readonly TargetResult[]): TargetResult {
  const of = (key: Exclude<keyof TargetResult, 'name'>) => median(runs.map((run) => run[key]));
  return {
    name: runs[0]?.name ?? '',
    requestsPerSecond: of('requestsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    cpuMicroseconds: of('cpuMicroseconds'),
    databaseCpuMicroseconds: of('databaseCpuMicroseconds'),
  };
}
