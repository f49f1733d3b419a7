/** How busy a connection pool is, for monitoring. */
import type pg from 'pg';

/** The current state of a pool, and its counts since the start; null for counts it does not keep. */
export interface PoolState extends Readonly<Record<keyof FlightCounts, number | null>> {
  readonly open: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** Counts of a request pool since the start. */
export interface FlightCounts {
  flights: number;
  /** Writes with one or several flights. */
  batches: number;
  /** Requests refused because no connection was, or would have been, free in time. */
  refused: number;
}

/** The state of a driver pool. */
export function poolState(pool: pg.Pool): PoolState {
  const { totalCount: open, idleCount: idle, waitingCount: waiting } = pool;
  return { open, idle, waiting, flights: null, batches: null, refused: null };
}
