/**
 * Which statements get custom plans for a while, because a generic plan took long: PostgreSQL compares the estimates of
 * plans, never their run times. It is the one thing that is learned of durations: with generic plans alone, 20 rare rows of
 * 1,000,000 take 104 ms instead of 0.06; with custom plans alone, each 20 rows take 110 µs of PostgreSQL's CPU, not 48.
 *
 * Measures only the time in which our event loop was idle before the answer: the delay of a busy process is not the
 * database's. Such values come again, so the while is longer each time.
 */
import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';

/** Most statements remembered, at about 100 bytes each. */
const maxStatements = 10_000;
/** So slow that the outliers of thousands of flights on a busy machine count: with 0.999, 20 rows two relationships away took 1.3 times the CPU. */
const slowDecay = 0.9997;
/** In milliseconds: hundreds of times the planning time, and far less than an unsuitable generic plan can take. */
const defaultSlowMs = 20;
/** Upper limit of a generic plan's time, however slow custom plans are. */
const maxSlowMs = 200;
/** Number of flights with custom plans: at first, and at most. */
const firstPlanned = 1000;
const maxPlanned = 1_000_000;

interface SlowPlan {
  /** Remaining flights with custom plans, and the number for the next time. */
  planned: number;
  plannedNext: number;
  /**
   * The limit for generic plans: twice the recent time with custom plans, which may be long because the machine is busy.
   * 20 rows found through two relationships took 1,250 µs of PostgreSQL's CPU under load, 350 of them for planning.
   */
  slowMs: number;
}

/** The statements of one pool that were slow. */
export class SlowPlans {
  readonly #known = new LRUCache<string, SlowPlan>({ max: maxStatements });

  /** Records the duration of a flight, also of one that hit a time limit. */
  note(name: string, ms: number): void {
    let known = this.#known.get(name);
    if (known === undefined) {
      if (ms <= defaultSlowMs) return;
      known = { planned: 0, plannedNext: firstPlanned, slowMs: defaultSlowMs };
      this.#known.set(name, known);
    }
    if (known.planned > 0) {
      known.planned -= 1;
      known.slowMs = Math.min(Math.max(defaultSlowMs, slowDecay * known.slowMs, 2 * ms), maxSlowMs);
    } else if (ms > known.slowMs) {
      known.planned = known.plannedNext;
      known.plannedNext = Math.min(2 * known.plannedNext, maxPlanned);
    }
  }

  /** Whether the statement gets custom plans now. */
  wantsPlanForValues(name: string): boolean {
    return (this.#known.get(name)?.planned ?? 0) > 0;
  }
}

/** Idle time of this thread's event loop, in milliseconds since it started. */
export function loopIdleMs(): number {
  return performance.nodeTiming.idleTime;
}
