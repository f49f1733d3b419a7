/**
 * The line of groups that are to run, and how much of the database they get.
 *
 * Live queries never starve requests: they use at most a quarter of the connections, rest after each run in proportion
 * to what it took, and begin none while requests wait for a connection. Beside requests they get a sixth of the time, a
 * few at once, so that few requests meet them. Several light ones share a write (postgres/pool/flight-batch.ts).
 * Callers take turns, and slow queries never take all places.
 */
import type { LiveGroup } from './live-group.ts';

interface LineOptions {
  /** Connections of requests. */
  readonly poolSize: number;
  /** Whether requests wait for a connection. */
  readonly isBusy: () => boolean;
  /** Milliseconds in which requests were being answered, up to now. */
  readonly busyMs: () => number;
  readonly run: (group: LiveGroup) => Promise<void>;
}

/** How much runs. */
interface Pace {
  readonly places: number;
  /** Runs that begin together at a place. */
  readonly together: number;
}

/** Of the connections. */
const part = 4;
const together = 16;
/** Beside requests: a place for slow queries, and one for others. */
const besideRequests: Pace = { places: 2, together: 4 };
/** The pause after runs as a part of their duration, without requests and beside them. */
const leastRest = 1 / 3;
const restBeside = 5;
/** Requests count from this part of the time on. */
const leastBusy = 0.1;
/** From this duration on, in milliseconds, a query runs alone. */
const slowMs = 50;
/** How much longer a slow query takes than others beside it. */
const slower = 3;
/** The longest rest of all places together, in milliseconds. */
const maxRestMs = 1000;
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
  /** The part of the time in which requests are answered, and until when it was measured. */
  #busy = 0;
  #measured = { at: 0, busyMs: 0 };

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
    this.#measure();
    const pace = this.#pace();
    while (this.#taken < pace.places && this.#waiting.size > 0 && !this.#mustWait()) {
      const next = this.#takeNext(pace);
      if (next.length === 0) return;
      void this.#runTogether(next, pace);
    }
  }

  #pace(): Pace {
    if (this.#busy < leastBusy) return { places: this.#places, together };
    return { ...besideRequests, places: Math.min(besideRequests.places, this.#places) };
  }

  #measure(): void {
    const at = performance.now();
    if (at - this.#measured.at < lookAgainMs) return;
    const busyMs = this.#options.busyMs();
    this.#busy = (busyMs - this.#measured.busyMs) / (at - this.#measured.at);
    this.#measured = { at, busyMs };
  }

  #mustWait(): boolean {
    const now = performance.now();
    if (!this.#options.isBusy() || now - (this.#delayedSince ?? now) > maxDelayMs) {
      this.#delayedSince = null;
      return false;
    }
    if (this.#delayedSince === null) this.#delayedSince = now;
    // Somebody looks again in any case.
    if (this.#taken === 0) this.#holdPlace(lookAgainMs, false);
    return true;
  }

  #takeNext({ places, together }: Pace): readonly LiveGroup[] {
    const next: LiveGroup[] = [];
    const maySlow = places === 1 || this.#slow < places - 1;
    for (let turns = this.#waiting.size; turns > 0 && next.length < together; turns -= 1) {
      const [queuedAs, own] = this.#waiting.entries().next().value!;
      const group = own.values().find((each) => !each.isSlow || (maySlow && next.length === 0));
      // To the end, behind all other callers.
      this.#waiting.delete(queuedAs);
      if (group !== undefined) own.delete(group);
      if (own.size > 0) this.#waiting.set(queuedAs, own);
      if (group === undefined) continue;
      next.push(group);
      if (group.isSlow) return next;
      // One caller with many groups, alone: another turn for each.
      if (own.size > 0) turns += 1;
    }
    return next;
  }

  async #runTogether(groups: readonly LiveGroup[], { places }: Pace): Promise<void> {
    const wasSlow = groups.some((group) => group.isSlow);
    this.#taken += 1;
    if (wasSlow) this.#slow += 1;
    await Promise.all(groups.map(this.#options.run));
    this.#taken -= 1;
    markSlow(groups);
    const isSlow = wasSlow || groups.some((group) => group.isSlow);
    if (isSlow && !wasSlow) this.#slow += 1;
    this.#measure();
    // Places share the time.
    const tookMs = Math.max(...groups.map((group) => group.tookMs));
    const restMs = tookMs * (leastRest + this.#busy * restBeside * places);
    // Quick ones wait for the last place.
    this.#holdPlace(this.#slow < places ? restMs : Math.min(restMs, maxRestMs), isSlow);
  }

  #holdPlace(restMs: number, isSlow: boolean): void {
    this.#taken += 1;
    setTimeout(() => {
      this.#taken -= 1;
      if (isSlow) this.#slow -= 1;
      this.#fill();
    }, restMs).unref();
  }
}

/** Those that were slow, and not because the others beside them or the machine were. */
function markSlow(groups: readonly LiveGroup[]): void {
  const took = groups.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const usual = took[Math.floor((took.length - 1) / 2)]!;
  const least = Math.max(slowMs, Math.min(usual * slower, (slowMs * groups.length) / 2));
  for (const group of groups) group.isSlow = group.tookMs >= least;
}
