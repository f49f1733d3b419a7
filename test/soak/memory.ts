/**
 * Whether memory is flat: what a process has, as its metrics say it, and the slope of that.
 */

/** A look at a process. */
export interface MemorySample {
  /** Since the beginning of the soak. */
  readonly minutes: number;
  /** Of JavaScript and of buffers, garbage included, in MB. */
  readonly usedMb: number;
  /** Of the process, in MB. */
  readonly residentMb: number;
}

/** Reads the metrics of a process. */
export async function readMemory(url: string, minutes: number): Promise<MemorySample> {
  const text = await (await fetch(url)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN) / 1e6;
  const usedMb = value('nodejs_heap_size_used_bytes') + value('nodejs_external_memory_bytes');
  return { minutes, usedMb, residentMb: value('process_resident_memory_bytes') };
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

/** The trend from a minute on. What is alive is the least of each window: garbage only ever adds. */
export function trendOf(samples: readonly MemorySample[], fromMinute: number): MemoryTrend {
  const windows = Map.groupBy(
    samples.filter(({ minutes }) => minutes >= fromMinute),
    ({ minutes }) => Math.floor(minutes / windowMinutes),
  );
  const least = [...windows.values()].map((window) => ({
    minutes: window[0]!.minutes,
    usedMb: Math.min(...window.map(({ usedMb }) => usedMb)),
    residentMb: Math.min(...window.map(({ residentMb }) => residentMb)),
  }));
  const slope = (key: 'usedMb' | 'residentMb') => 60 * slopeOf(least.map((each) => [each.minutes, each[key]]));
  return {
    minutes: least.length * windowMinutes,
    aliveMb: least.at(-1)?.usedMb ?? 0,
    aliveSlope: slope('usedMb'),
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
