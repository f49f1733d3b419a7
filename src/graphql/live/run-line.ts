/**
 * The line of groups that are to run, and how much of the database they get.
 *
 * Live queries never starve requests: they use at most a quarter of the connections, rest after each run in proportion
 * to what it took and to the requests beside it, and begin none while requests wait for a connection. Several light ones share a write
 * (postgres/pool/flight-batch.ts). Callers take turns, and slow queries never take all places.
 */
import type { LiveGroup } from './live-group.ts';

interface LineOptions {
  /** Connections of requests. */
  readonly poolSize: number;
  /** Whether requests wait for a connection. */
  readonly isBusy: () => boolean;
  /** Requests that are answered now. */
  readonly requests: () => number;
  readonly run: (group: LiveGroup) => Promise<void>;
}

/** Of the connections. */
const part = 4;
/** Runs that begin together. */
const together = 16;
/** The pause after a run where there are no requests, as a part of its duration. */
const leastRest = 1 / 3;
/** From this duration on, in milliseconds, a query runs alone. */
const slowMs = 50;
/** How long the line waits for requests at most, and how often it looks, in milliseconds. */
const maxDelayMs = 500;
const lookAgainMs = 20;

/** The line. */
export class RunLine {
  readonly #options: LineOptions;
  readonly #places: number;
  /** By caller, who are served in turn. */
  readonly #waiting = new Map<string, Set<LiveGroup>>();
  #taken = 0;
  #slow = 0;
  #delayedSince: number | null = null;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#places = Math.max(1, Math.floor(options.poolSize / part));
  }

  /** Adds a group to the end of its caller's line, unless it waits there. */
  add(group: LiveGroup): void {
    const { queuedAs } = group.operation.context;
    const own = this.#waiting.get(queuedAs);
    if (own !== undefined) own.add(group);
    else this.#waiting.set(queuedAs, new Set([group]));
    this.#fill();
  }

  remove(group: LiveGroup): void {
    const { queuedAs } = group.operation.context;
    const own = this.#waiting.get(queuedAs);
    if (own?.delete(group) && own.size === 0) this.#waiting.delete(queuedAs);
  }

  #fill(): void {
    while (this.#taken < this.#places && this.#waiting.size > 0 && !this.#mustWait()) {
      const next = this.#takeNext();
      if (next.length === 0) return;
      void this.#runTogether(next);
    }
  }

  #mustWait(): boolean {
    const now = performance.now();
    if (!this.#options.isBusy() || now - (this.#delayedSince ?? now) > maxDelayMs) {
      this.#delayedSince = null;
      return false;
    }
    if (this.#delayedSince === null) this.#delayedSince = now;
    // Somebody looks again in any case.
    if (this.#taken === 0) this.#holdPlace(lookAgainMs);
    return true;
  }

  #takeNext(): readonly LiveGroup[] {
    const next: LiveGroup[] = [];
    const maySlow = this.#places === 1 || this.#slow < this.#places - 1;
    for (let turns = this.#waiting.size; turns > 0 && next.length < together; turns -= 1) {
      const [queuedAs, own] = this.#waiting.entries().next().value!;
      const group = own.values().find((each) => each.tookMs < slowMs || (maySlow && next.length === 0));
      // To the end, behind all other callers.
      this.#waiting.delete(queuedAs);
      if (group !== undefined) own.delete(group);
      if (own.size > 0) this.#waiting.set(queuedAs, own);
      if (group === undefined) continue;
      next.push(group);
      if (group.tookMs >= slowMs) return next;
      // One caller with many groups, alone: another turn for each.
      if (own.size > 0) turns += 1;
    }
    return next;
  }

  async #runTogether(groups: readonly LiveGroup[]): Promise<void> {
    const isSlow = groups.some(({ tookMs }) => tookMs >= slowMs);
    this.#taken += 1;
    if (isSlow) this.#slow += 1;
    const { run, requests } = this.#options;
    const startedAt = performance.now();
    const before = requests();
    await Promise.all(groups.map(run));
    if (isSlow) this.#slow -= 1;
    this.#taken -= 1;
    // So that each request beside it has had its turn.
    this.#holdPlace((performance.now() - startedAt) * (leastRest + (before + requests()) / 2));
  }

  #holdPlace(restMs: number): void {
    this.#taken += 1;
    setTimeout(() => {
      this.#taken -= 1;
      this.#fill();
    }, restMs).unref();
  }
}
