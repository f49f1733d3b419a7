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
  /**
   * Of code that the engine has compiled, then, in MB. It has more of it for as long as something that seldom happens becomes worth
   * compiling, and there is no more of it than of the program.
   */
  readonly compiledMb: number;
  /** Of the process, in MB. */
  readonly residentMb: number;
}

/** What a process that is to be looked at is started with, and the look at it. */
export interface MemoryWatch {
  readonly env: Readonly<Record<string, string>>;
  /** Longest time until everything that is garbage now has been collected. */
  readonly everyMs: number;
  read(metricsUrl: string, minutes: number): Promise<MemorySample>;
}

/** Prepares to look at the memory of one process, in which garbage is collected every so many milliseconds. */
export function watchMemory(everyMs: number, whenOver: WhenOver): MemoryWatch {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-soak-'));
  whenOver(async () => rmSync(directory, { recursive: true }));
  const file = join(directory, 'alive');
  const preloaded = new URL('collect-garbage.js', import.meta.url).href;
  return {
    env: { NODE_OPTIONS: `--import ${preloaded}`, SOAK_MEMORY_FILE: file, SOAK_MEMORY_EVERY_MS: String(everyMs) },
    everyMs,
    async read(metricsUrl, minutes) {
      const text = await (await fetch(metricsUrl)).text();
      const resident = Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
      const [alive, compiled] = readFileSync(file, 'utf8').split(' ').map(Number) as [number, number];
      return { minutes, aliveMb: alive / 1e6, compiledMb: compiled / 1e6, residentMb: resident / 1e6 };
    },
  };
}

/** What became of the memory after the warm-up. */
export interface MemoryTrend {
  /** Minutes that it is judged from. */
  readonly minutes: number;
  readonly aliveMb: number;
  /** In MB an hour, of what is alive, of compiled code, and of the process. */
  readonly aliveSlope: number;
  readonly compiledSlope: number;
  readonly residentSlope: number;
}

/** The trend from a minute on, over samples of which each was taken in the same state: nobody asks, and nothing was asked lately. */
export function trendOf(samples: readonly MemorySample[], fromMinute: number): MemoryTrend {
  const judged = samples.filter(({ minutes }) => minutes >= fromMinute);
  const slope = (key: 'aliveMb' | 'compiledMb' | 'residentMb') =>
    60 * slopeOf(judged.map((each) => [each.minutes, each[key]]));
  const [first, last] = [judged[0], judged.at(-1)];
  return {
    minutes: (last?.minutes ?? 0) - (first?.minutes ?? 0),
    aliveMb: last?.aliveMb ?? 0,
    aliveSlope: slope('aliveMb'),
    compiledSlope: slope('compiledMb'),
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
