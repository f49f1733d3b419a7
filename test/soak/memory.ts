/**
 * Whether memory is flat: what is left in a process after garbage was collected, and the slope of that.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WhenOver } from '../support/when-over.ts';

/** A look at a process. */
export interface MemorySample {
  /** Since the beginning of the soak. */
  readonly minutes: number;
  /** Of JavaScript and of buffers, at the last collection, in MB. */
  readonly aliveMb: number;
  /** Of the process, in MB. */
  readonly residentMb: number;
}

/** What a process that is to be looked at is started with, and the look at it. */
export interface MemoryWatch {
  readonly env: Readonly<Record<string, string>>;
  read(metricsUrl: string, minutes: number): Promise<MemorySample>;
}

/** Prepares to look at the memory of one process. */
export function watchMemory(whenOver: WhenOver): MemoryWatch {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-soak-'));
  whenOver(async () => rmSync(directory, { recursive: true }));
  const file = join(directory, 'alive');
  const preloaded = new URL('collect-garbage.js', import.meta.url).href;
  return {
    env: { NODE_OPTIONS: `--import ${preloaded}`, SOAK_MEMORY_FILE: file },
    async read(metricsUrl, minutes) {
      const text = await (await fetch(metricsUrl)).text();
      const resident = Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
      return { minutes, aliveMb: Number(readFileSync(file, 'utf8')) / 1e6, residentMb: resident / 1e6 };
    },
  };
}

/** What became of the memory after the warm-up. */
export interface MemoryTrend {
  /** Minutes that it is judged from. */
  readonly minutes: number;
  readonly aliveMb: number;
  /** In MB an hour, of what is alive and of the process. */
  readonly aliveSlope: number;
  readonly residentSlope: number;
}

const windowMinutes = 0.5;

/** The trend from a minute on. Counted is the least of each window: what a request under way holds only ever adds. */
export function trendOf(samples: readonly MemorySample[], fromMinute: number): MemoryTrend {
  const windows = Map.groupBy(
    samples.filter(({ minutes }) => minutes >= fromMinute),
    ({ minutes }) => Math.floor(minutes / windowMinutes),
  );
  const least = [...windows.values()].map((window) => ({
    minutes: window[0]!.minutes,
    aliveMb: Math.min(...window.map(({ aliveMb }) => aliveMb)),
    residentMb: Math.min(...window.map(({ residentMb }) => residentMb)),
  }));
  const slope = (key: 'aliveMb' | 'residentMb') => 60 * slopeOf(least.map((each) => [each.minutes, each[key]]));
  return {
    minutes: least.length * windowMinutes,
    aliveMb: least.at(-1)?.aliveMb ?? 0,
    aliveSlope: slope('aliveMb'),
    residentSlope: slope('residentMb'),
  };
}

/** Of the straight line with the least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const across = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return across === 0 ? 0 : points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / across;
}
