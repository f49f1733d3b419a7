/** How busy a connection pool is, for monitoring. */
import type pg from 'pg';
import { Distribution, type DistributionState, fineBounds } from '../../shared/distribution.ts';

/** The current state of a pool, and its counts since the start; null for counts it does not keep. */
export interface PoolState extends Readonly<Record<keyof Omit<FlightCounts, 'waits'>, number | null>> {
  /** Most connections. */
  readonly size: number;
  readonly open: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  readonly waits: DistributionState;
}

/** Counts of a request pool since the start. */
export interface FlightCounts {
  flights: number;
  /** Writes with one or several flights. */
  batches: number;
  /** Requests refused because no connection was, or would have been, free in time. */
  refused: number;
  /** Waits for a connection in seconds, of those who got one. */
  readonly waits: Distribution;
}

/** An empty one for waits. */
export const newWaits = () => new Distribution(fineBounds);

/** The state of a driver pool. */
export function poolState(pool: pg.Pool, waits: Distribution): PoolState {
  const { totalCount: open, idleCount: idle, waitingCount: waiting, options } = pool;
  return { size: options.max, open, idle, waiting, waits, flights: null, batches: null, refused: null };
}
