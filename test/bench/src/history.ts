/**
 * What earlier runs have measured, as ratios against what ran beside them, because machines differ.
 */
import type { Comparison } from './compare.ts';
import { resultOf } from './markdown.ts';
import type { Conditions } from './report.ts';

/** One run. */
export interface Past extends Pick<Conditions, 'date' | 'commit' | 'machine' | 'rounds' | 'seconds'> {
  /** By the case's title; null where the other server did not run. */
  readonly cases: Readonly<Record<string, PastCase>>;
}

interface PastCase {
  /** Our requests per second of theirs. */
  readonly ofPostgraphile: number | null;
  readonly ofBaseline: number | null;
  /** Our CPU a request of theirs. */
  readonly cpuOfBaseline: number | null;
}

const maxRuns = 100;

/** The history with a run more; the oldest leave. */
export function nextHistory(
  past: readonly Past[],
  { date, commit, machine, rounds, seconds }: Conditions,
  { rows }: Pick<Comparison, 'rows'>,
): Past[] {
  const cases = rows.map(({ title, targets }) => {
    const [ours, other, baseline] = ['pgreflect', 'postgraphile', 'baseline'].map((name) => resultOf(targets, name));
    const measured: PastCase = {
      ofPostgraphile: share(ours?.requestsPerSecond, other?.requestsPerSecond),
      ofBaseline: share(ours?.requestsPerSecond, baseline?.requestsPerSecond),
      cpuOfBaseline: share(ours?.cpuMicroseconds, baseline?.cpuMicroseconds),
    };
    return [title, measured] as const;
  });
  const run = { date, commit, machine, rounds, seconds, cases: Object.fromEntries(cases) };
  return [...past, run].slice(-maxRuns);
}

function share(value: number | undefined, other: number | undefined): number | null {
  return value === undefined || !other ? null : Math.round((100 * value) / other) / 100;
}
