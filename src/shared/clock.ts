/** Wall time, passed to all that compares times, so that tests can fix it. Durations use `performance.now()`. */

/** A source of wall time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };
