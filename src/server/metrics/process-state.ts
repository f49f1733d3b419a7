/** The series of this process itself: memory, CPU time, files, event loop and garbage collector. */
import { readdirSync, readFileSync } from 'node:fs';
import {
  constants,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { version } from '../../shared/version.ts';
import type { Snapshot } from './snapshot.ts';
import type { Tally } from './tally.ts';

/** Resolution of the event loop delay in milliseconds: an idle process wakes this often. */
const delayPrecisionMs = 50;

const garbageKinds: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak_callbacks'],
]);

/** Begins to watch the process. @param tally Counts the pauses of the garbage collector. @returns Reads its state. */
export function watchProcess(tally: Tally): () => Snapshot {
  const delay = monitorEventLoopDelay({ resolution: delayPrecisionMs });
  delay.enable();
  const garbage = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } };
      const kind = garbageKinds.get(detail.kind);
      if (kind !== undefined) tally.histogram('nodejs_gc_duration_seconds', kind).observe(entry.duration / 1000);
    }
  });
  garbage.observe({ entryTypes: ['gc'] });
  return () => {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
    // What is measured is the time between two wakings. Of none, there is no percentile.
    const late = (nanoseconds: number) =>
      plain(delay.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - delayPrecisionMs / 1000));
    const state = {
      pgreflect_build_info: [{ labels: [version, process.versions.node], value: 1 }],
      process_start_time_seconds: plain(performance.timeOrigin / 1000),
      process_cpu_seconds_total: plain((user + system) / 1e6),
      process_resident_memory_bytes: plain(rss),
      nodejs_heap_size_used_bytes: plain(heapUsed),
      nodejs_heap_size_total_bytes: plain(heapTotal),
      nodejs_heap_used_ratio: plain(heapUsed / getHeapStatistics().heap_size_limit),
      nodejs_external_memory_bytes: plain(external),
      nodejs_eventloop_busy_seconds_total: plain(performance.eventLoopUtilization().active / 1000),
      nodejs_eventloop_lag_p50_seconds: late(delay.percentile(50)),
      nodejs_eventloop_lag_p99_seconds: late(delay.percentile(99)),
      nodejs_eventloop_lag_max_seconds: late(delay.max),
      ...readFiles(),
    };
    delay.reset();
    return state;
  };
}

function plain(value: number) {
  return [{ labels: [], value }];
}

/** Open files and their limit; empty where the system does not say. */
function readFiles(): Snapshot {
  try {
    const [, limit = ''] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return {
      process_open_fds: plain(readdirSync('/proc/self/fd').length),
      ...(limit !== '' && { process_max_fds: plain(Number(limit)) }),
    };
  } catch {
    return {};
  }
}
