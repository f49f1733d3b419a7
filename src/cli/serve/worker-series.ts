/**
 * The series of all workers. Sums never fall, which Prometheus would take for a restart: what a worker has counted stays
 * counted when it ends, or does not answer a scrape.
 */
import { type SeriesName, series } from '../../server/metrics/series.ts';
import { combineSnapshots, type Snapshot } from '../../server/metrics/snapshot.ts';

/** By worker, named by its process number. */
export class WorkerSeries {
  readonly #latest = new Map<number, Snapshot>();
  /** Of workers that have ended, until their last report. */
  #ended: Snapshot = {};

  /** @param answered The reports of this scrape; null: no answer. @returns The series of all, and of those that ended. */
  take(answered: ReadonlyMap<number, Snapshot | null>): readonly Snapshot[] {
    const present = [...answered].map(([pid, report]) => {
      if (report === null) return { ...countsOf(this.#latest.get(pid) ?? {}), ...silent };
      this.#latest.set(pid, report);
      return report;
    });
    return [this.#ended, ...present];
  }

  ended(pid: number): void {
    this.#ended = combineSnapshots([this.#ended, countsOf(this.#latest.get(pid) ?? {})]);
    this.#latest.delete(pid);
  }
}

const silent: Snapshot = { pgreflect_ready: [{ labels: [], value: 0 }] };

/** Counters and histograms alone. */
function countsOf(snapshot: Snapshot): Snapshot {
  const isCount = (name: string) => ['counter', 'histogram'].includes(series[name as SeriesName].type);
  return Object.fromEntries(Object.entries(snapshot).filter(([name]) => isCount(name)));
}
