/** The values of a process's series at a time, and those of several processes as one. Plain data, sent between processes. */
import type { DistributionState } from '../../shared/distribution.ts';
import { type SeriesDefinition, type SeriesName, series } from './series.ts';

/** One value, by its labels. */
export interface SeriesSample {
  /** Values of the labels, in the order of the definition. */
  readonly labels: readonly string[];
  /** The sum, of a histogram. */
  readonly value: number;
  /** Of histograms; see `DistributionState`. */
  readonly counts?: readonly number[];
  /** Of some histograms; see `DistributionState`. */
  readonly exemplars?: DistributionState['exemplars'];
}

/** The values by series; absent: the process has none. */
export type Snapshot = Readonly<Partial<Record<SeriesName, readonly SeriesSample[]>>>;

/** The series of several processes as those of one. */
export function combineSnapshots(snapshots: readonly Snapshot[]): Snapshot {
  const names = new Set(snapshots.flatMap((snapshot) => Object.keys(snapshot) as SeriesName[]));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      combine(
        series[name],
        snapshots.flatMap((snapshot) => snapshot[name] ?? []),
      ),
    ]),
  );
}

function combine(definition: SeriesDefinition, samples: readonly SeriesSample[]): readonly SeriesSample[] {
  const combined = new Map<string, SeriesSample>();
  for (const sample of samples) {
    const key = sample.labels.join('\0');
    const known = combined.get(key);
    combined.set(key, known === undefined ? sample : merge(definition, known, sample));
  }
  return [...combined.values()];
}

function merge({ combine: how }: SeriesDefinition, one: SeriesSample, other: SeriesSample): SeriesSample {
  if (how !== 'sum') return { labels: one.labels, value: Math[how](one.value, other.value) };
  const value = one.value + other.value;
  if (one.counts === undefined) return { labels: one.labels, value };
  const counts = one.counts.map((count, at) => count + (other.counts?.[at] ?? 0));
  return { labels: one.labels, value, counts, exemplars: newest(one.exemplars, other.exemplars) };
}

type Exemplars = DistributionState['exemplars'];

function newest(one: Exemplars, other: Exemplars): Exemplars {
  if (one === undefined || other === undefined) return one ?? other;
  return one.map((own, at) => {
    const more = other[at] ?? null;
    return own === null || (more !== null && more.at > own.at) ? more : own;
  });
}
