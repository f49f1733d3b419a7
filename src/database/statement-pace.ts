/**
 * For how long each named statement is expected to keep its server process busy, learnt from the flights it was in.
 *
 * Measured is the time in which our event loop stood idle until the answer came: what a busy process adds by reading late
 * is no work of the database. The network's time counts, once for a batch, so that far servers are not shared.
 */
import { LRUCache } from 'lru-cache';

/** Statements that are remembered, at about 100 bytes. */
const maxStatements = 10_000;
/** How fast the expectation follows longer times; shorter ones count at once, because noise only ever adds. */
const rise = 0.1;
/**
 * How long a statement that has kept others waiting runs alone, in milliseconds: from the second time to the worst. Once in
 * `forgivenMs` costs nothing, because on a busy machine any process waits for the processor at times.
 */
const shortestPenaltyMs = 100;
const longestPenaltyMs = 60_000;
const forgivenMs = 1000;

interface Expectation {
  ms: number;
  penaltyMs: number;
  /** On the clock of `performance.now()`, as all times here. */
  aloneUntil: number;
}

/** Expectations of one pool. */
export class StatementPace {
  readonly #known = new LRUCache<string, Expectation>({ max: maxStatements });

  /** In milliseconds; null: it is unknown, or has kept others waiting a moment ago, and should run alone. */
  expectedMs(name: string): number | null {
    const known = this.#known.get(name);
    if (known === undefined || (known.penaltyMs > 0 && known.aloneUntil > performance.now())) return null;
    return known.ms;
  }

  /** Notes that it has tried to write: it runs alone from now on. */
  noteWrite(name: string): void {
    this.#known.set(name, { ms: 0, penaltyMs: longestPenaltyMs, aloneUntil: Number.POSITIVE_INFINITY });
  }

  /** Notes how long a successful flight took. */
  note(name: string, ms: number): void {
    const known = this.#known.get(name);
    if (known === undefined) this.#known.set(name, { ms, penaltyMs: 0, aloneUntil: 0 });
    else known.ms = ms < known.ms ? ms : known.ms + rise * (ms - known.ms);
  }

  /** Notes that others waited in vain for its answer. */
  noteStall(name: string): void {
    const known = this.#known.get(name);
    if (known === undefined) return;
    const now = performance.now();
    const isForgiven = now > known.aloneUntil + forgivenMs + 10 * known.penaltyMs;
    known.penaltyMs = isForgiven ? 0 : Math.min(Math.max(2 * known.penaltyMs, shortestPenaltyMs), longestPenaltyMs);
    known.aloneUntil = Math.max(known.aloneUntil, now + known.penaltyMs);
  }
}
