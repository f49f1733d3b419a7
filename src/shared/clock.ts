/**
 * Where wall time comes from. It is handed to everything that compares times, so that tests can hold it still; durations
 * are measured with `performance.now()` and need no clock.
 */

/** A source of wall time. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };
