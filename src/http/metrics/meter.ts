/**
 * Counts for Prometheus from when they are first wanted: `--metrics-port` wants them from the start, a holder of an access token
 * from the first look on. Until then nothing is counted and the library is not loaded.
 */
import type { Observe } from '../../shared/observation.ts';
import { createMetrics, type MetricSeries, type MetricSources, type Metrics } from './metrics.ts';

/** The counting of a process. */
export class Meter {
  readonly #sources: () => MetricSources;
  #metrics: Metrics | null = null;
  #beginning: Promise<Metrics> | null = null;

  /** @param sources Asked for when counting begins. */
  constructor(sources: () => MetricSources) {
    this.#sources = sources;
  }

  /** Counts an observation where somebody wants to know. */
  readonly observe: Observe = (observation) => this.#metrics?.observe(observation);

  /** Begins to count, or goes on. */
  begin(): Promise<Metrics> {
    this.#beginning ??= createMetrics(this.#sources()).then((metrics) => {
      this.#metrics = metrics;
      return metrics;
    });
    return this.#beginning;
  }

  /** Every series of this process. */
  async read(): Promise<MetricSeries> {
    return (await this.begin()).read();
  }
}
