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
const rise = 0.005;
/**
 * A statement that has kept others waiting is suspected: each time more, each good flight less. Now and then is tolerated,
 * because on a busy machine any process waits for the processor.
 */
const toleratedSuspicion = 1.5;
const forgetting = 0.97;
const worstSuspicion = 1000;

interface Expectation {
  ms: number;
  suspicion: number;
  writes: boolean;
}

/** Expectations of one pool. */
export class StatementPace {
  readonly #known = new LRUCache<string, Expectation>({ max: maxStatements });

  /** In milliseconds; null: it is unknown, writes, or has kept others waiting too often, and should run alone. */
  expectedMs(name: string): number | null {
    const known = this.#known.get(name);
    if (known === undefined || known.writes || known.suspicion > toleratedSuspicion) return null;
    return known.ms;
  }

  /** Notes that it has tried to write: it runs alone from now on. */
  noteWrite(name: string): void {
    this.#known.set(name, { ms: 0, suspicion: 0, writes: true });
  }

  /** Notes how long a successful flight took. */
  note(name: string, ms: number): void {
    const known = this.#known.get(name);
    if (known === undefined) {
      this.#known.set(name, { ms, suspicion: 0, writes: false });
      return;
    }
    known.ms = ms < known.ms ? ms : known.ms + rise * (ms - known.ms);
    known.suspicion *= forgetting;
  }

  /** Notes that others waited in vain for its answer. */
  noteStall(name: string): void {
    const known = this.#known.get(name);
    if (known !== undefined) known.suspicion = Math.min(2 * known.suspicion + 1, worstSuspicion);
  }
}
