/**
 * Metrics of a process: counts of observations since its start, and the state of the parts at each scrape.
 *
 * Labels come from our own tables and routes, never from requests (series.ts).
 */
import type { Observe } from '../../shared/observation.ts';
import { createCounts } from './count-observations.ts';
import { watchProcess } from './process-state.ts';
import { type MetricSources, readStates } from './read-states.ts';
import type { Snapshot } from './snapshot.ts';
import { Tally } from './tally.ts';

/** The metrics of a process. */
export class Meter {
  readonly #tally = new Tally();
  readonly #sources: (() => MetricSources) | null;
  #readProcess: (() => Snapshot) | null = null;

  /** @param sources Null: the process answers no requests. */
  constructor(sources: (() => MetricSources) | null) {
    this.#sources = sources;
    this.observe = createCounts(this.#tally);
  }

  /** Counts an observation. */
  readonly observe: Observe;

  /** Starts to watch the process, which has a small cost, if it has not started yet: most gateways are never scraped. */
  begin(): () => Snapshot {
    this.#readProcess ??= watchProcess(this.#tally);
    return this.#readProcess;
  }

  /** The current series of this process. */
  async read(): Promise<Snapshot> {
    const readProcess = this.begin();
    const states = this.#sources === null ? {} : await readStates(this.#sources());
    return { ...readProcess(), ...states, ...this.#tally.read() };
  }
}
