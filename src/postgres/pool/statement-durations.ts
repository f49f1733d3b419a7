/**
 * For how long each named statement is expected to keep its server process busy, learned from the flights it was in.
 *
 * Measured is the time in which our event loop stood idle until the answer came: what a busy process adds by reading late
 * is no work of the database. The network's time counts, once for a batch, so that far servers are not shared.
 *
 * One that takes long may have been planned for other values than it was given: PostgreSQL compares what it expects of plans, and never
 * what they took. It is then planned for its values for a while, which costs it little beside that; for longer each time, because
 * those values will come again.
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
/** In milliseconds: hundreds of times what planning takes, and little of what a plan for other values can take. */
const longMs = 20;
/** Flights for which it is planned for its values: the first time, and the most. */
const firstPlanned = 1000;
const mostPlanned = 1_000_000;

interface Expectation {
  ms: number;
  suspicion: number;
  writes: boolean;
  /** Flights left that are planned for their values, and how many it will be the next time. */
  planned: number;
  plannedNext: number;
}

const newcomer: Expectation = { ms: 0, suspicion: 0, writes: false, planned: 0, plannedNext: firstPlanned };

/** Expectations of one pool. */
export class StatementDurations {
  readonly #known = new LRUCache<string, Expectation>({ max: maxStatements });

  /** In milliseconds; null: it is unknown, writes, or has kept others waiting too often, and should run alone. */
  expectedMs(name: string): number | null {
    const known = this.#known.get(name);
    if (known === undefined || known.writes || known.suspicion > toleratedSuspicion) return null;
    return known.ms;
  }

  /** Notes that it has tried to write: it runs alone from now on. */
  noteWrite(name: string): void {
    this.#known.set(name, { ...newcomer, writes: true });
  }

  /** Notes how long a successful flight took. */
  note(name: string, ms: number): void {
    const known = this.#known.get(name);
    if (known === undefined) {
      this.#remember(name, ms);
      return;
    }
    known.ms = ms < known.ms ? ms : known.ms + rise * (ms - known.ms);
    known.suspicion *= forgetting;
    notePlan(known, ms);
  }

  /** Notes how long a flight took until it failed, by a limit of time for example. */
  noteFailure(name: string, ms: number): void {
    if (name === '' || ms <= longMs) return;
    const known = this.#known.get(name);
    if (known === undefined) this.#remember(name, ms);
    else notePlan(known, ms);
  }

  /** Whether it is planned for its values now. */
  wantsPlanForValues(name: string): boolean {
    return (this.#known.get(name)?.planned ?? 0) > 0;
  }

  #remember(name: string, ms: number): void {
    const known = { ...newcomer, ms };
    notePlan(known, ms);
    this.#known.set(name, known);
  }

  /** Notes that others waited in vain for its answer. */
  noteStall(name: string): void {
    const known = this.#known.get(name);
    if (known !== undefined) known.suspicion = Math.min(2 * known.suspicion + 1, worstSuspicion);
  }
}

function notePlan(known: Expectation, ms: number): void {
  if (known.planned > 0) {
    known.planned -= 1;
  } else if (ms > longMs) {
    known.planned = known.plannedNext;
    known.plannedNext = Math.min(2 * known.plannedNext, mostPlanned);
  }
}
