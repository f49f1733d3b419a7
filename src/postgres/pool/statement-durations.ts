/**
 * The expected duration of each named statement in its server process, learned from its flights.
 *
 * Measures only the time in which our event loop was idle before the answer: the delay of a busy process is not the
 * database's. Network time counts, once per batch, so distant servers are not shared.
 *
 * A slow statement may have a generic plan that does not fit its values: PostgreSQL compares the estimates of plans,
 * never their run times. It then gets custom plans for a while, longer each time, because such values come again.
 */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';

/** Most statements remembered, at about 100 bytes each. */
const maxStatements = 10_000;
/** Weight of a longer time in the expectation; shorter ones count fully, because noise only adds. */
const rise = 0.005;
/**
 * A statement that delayed others gains suspicion; each quick flight reduces it. A little is tolerated, because on a
 * busy machine any process waits for the processor.
 */
const toleratedSuspicion = 1.5;
const forgetting = 0.97;
/** So slow that the outliers of thousands of flights on a busy machine count: with 0.999, 20 rows two relationships away took 1.3 times the CPU. */
const slowDecay = 0.9997;
const worstSuspicion = 1000;
/** In milliseconds: hundreds of times the planning time, and far less than an unsuitable generic plan can take. */
const defaultSlowMs = 20;
/** Upper limit of a generic plan's time, however slow custom plans are. */
const maxSlowMs = 200;
/** Number of flights with custom plans: at first, and at most. */
const firstPlanned = 1000;
const maxPlanned = 1_000_000;

interface Expectation {
  ms: number;
  suspicion: number;
  writes: boolean;
  /** Remaining flights with custom plans, and the number for the next time. */
  planned: number;
  plannedNext: number;
  /**
   * The limit for generic plans: twice the recent time with custom plans, which may be long because the machine is busy.
   * 20 rows found through two relationships took 1,250 µs of PostgreSQL's CPU under load, 350 of them for planning.
   */
  slowMs: number;
}

const newcomer: Expectation = {
  ms: 0,
  suspicion: 0,
  writes: false,
  planned: 0,
  plannedNext: firstPlanned,
  slowMs: defaultSlowMs,
};

/** Expectations of one pool. */
export class StatementDurations {
  readonly #known = new LRUCache<string, Expectation>({ max: maxStatements });

  /** In milliseconds; null: run alone, because it is unknown, writes, or delayed others too often. */
  expectedMs(name: string): number | null {
    const known = this.#known.get(name);
    if (known === undefined || known.writes || known.suspicion > toleratedSuspicion) return null;
    return known.ms;
  }

  /** Records an attempt to write: the statement runs alone from now on. */
  noteWrite(name: string): void {
    this.#known.set(name, { ...newcomer, writes: true });
  }

  /** Records the duration of a successful flight. */
  noteSuccess(name: string, ms: number): void {
    const known = this.#known.get(name);
    if (known === undefined) {
      this.#remember(name, ms);
      return;
    }
    known.ms = ms < known.ms ? ms : known.ms + rise * (ms - known.ms);
    known.suspicion *= forgetting;
    notePlan(known, ms);
  }

  /** Records the duration of a failed flight, for example one that hit a time limit. */
  noteFailure(name: string, ms: number): void {
    if (name === '' || ms <= defaultSlowMs) return;
    const known = this.#known.get(name);
    if (known === undefined) this.#remember(name, ms);
    else notePlan(known, ms);
  }

  /** Whether the statement gets custom plans now. */
  wantsPlanForValues(name: string): boolean {
    return (this.#known.get(name)?.planned ?? 0) > 0;
  }

  #remember(name: string, ms: number): void {
    const known = { ...newcomer, ms };
    notePlan(known, ms);
    this.#known.set(name, known);
  }

  /** Records that others waited for its answer in vain. */
  noteStall(name: string): void {
    const known = this.#known.get(name);
    if (known !== undefined) known.suspicion = Math.min(2 * known.suspicion + 1, worstSuspicion);
  }
}

function notePlan(known: Expectation, ms: number): void {
  if (known.planned > 0) {
    known.planned -= 1;
    known.slowMs = Math.min(Math.max(defaultSlowMs, slowDecay * known.slowMs, 2 * ms), maxSlowMs);
  } else if (ms > known.slowMs) {
    known.planned = known.plannedNext;
    known.plannedNext = Math.min(2 * known.plannedNext, maxPlanned);
  }
}

/** Idle time of this thread's event loop, in milliseconds since it started. */
export function loopIdleMs(): number {
  return performance.nodeTiming.idleTime;
}
