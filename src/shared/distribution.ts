/** Durations in seconds, counted by size. Cheap enough for every request: no labels, no allocation. */

/** Upper bounds of most durations. */
export const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** Upper bounds of what often takes less than a millisecond. */
export const fineBounds = [0.0001, 0.00025, 0.0005, ...bounds] as const;

/** A value with a trace that shows how it came about. */
export interface Exemplar {
  readonly traceId: string;
  readonly value: number;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** A histogram's counts. */
export interface DistributionState {
  /** Of all values. */
  readonly sum: number;
  /** By bound, each without the ones below it; the last one is of values above all bounds. */
  readonly counts: readonly number[];
  /** The latest by bound; absent: there is none. */
  readonly exemplars?: readonly (Exemplar | null)[] | undefined;
}

/** A histogram. */
export class Distribution implements DistributionState {
  sum = 0;
  readonly counts: number[];
  exemplars: (Exemplar | null)[] | undefined;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Array(bounds.length + 1).fill(0);
  }

  /** @param traceId Of a trace that is recorded; absent: none is. */
  observe(value: number, traceId?: string): void {
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] as number)) at += 1;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += value;
    if (traceId === undefined) return;
    this.exemplars ??= new Array(this.counts.length).fill(null);
    this.exemplars[at] = { traceId, value, at: Date.now() / 1000 };
  }
}
