/**
 * How busy a pool of connections is, for those who watch the gateway.
 */
import type pg from 'pg';

/** A pool at this moment, with what it has done since the start; null where that is not counted. */
export interface PoolState extends Readonly<Record<keyof FlightCounts, number | null>> {
  /** Connections. */
  readonly open: number;
  readonly idle: number;
  /** Those who wait for a connection. */
  readonly waiting: number;
}

/** What a pool for requests has done since the start. */
export interface FlightCounts {
  flights: number;
  /** Writes of one flight or several. */
  batches: number;
  /** Requests for which no connection was, or would have been, free in time. */
  refused: number;
}

/** The state of a pool of the driver. */
export function poolState(pool: pg.Pool): PoolState {
  const { totalCount: open, idleCount: idle, waitingCount: waiting } = pool;
  return { open, idle, waiting, flights: null, batches: null, refused: null };
}
