/**
 * Who flies with whom: quick queries that come in the same moment, or wait for a connection as the same role, go into one batch.
 */

import type { Turn } from './connection-queue.ts';
import { Batch, budgetMs, type Connections } from './flight-batch.ts';
import type { Passenger, Seat } from './flight-seat.ts';
import type { StatementPace } from './statement-pace.ts';

/** The batches of one pool. */
export class FlightBatches {
  readonly #connections: Connections;
  readonly #pace: StatementPace;
  /** The last one that had a connection at once: who comes in the same moment may join it. */
  #boarding: Batch | null = null;
  /** The last one of each role that waits for a connection: others of the role may join it. */
  readonly #waiting = new Map<string, Batch>();

  constructor(connections: Connections, pace: StatementPace) {
    this.#connections = connections;
    this.#pace = pace;
  }

  /** Finds a place: in the batch that is about to leave where there is room, else in a new one. */
  board(passenger: Passenger, { role, caller }: Pick<Turn, 'role' | 'caller'>): Seat {
    const expectedMs = passenger.shares ? this.#pace.expectedMs(passenger.statement) : null;
    const mayShare = expectedMs !== null && expectedMs < budgetMs;
    if (mayShare) {
      const open = this.#boarding?.hasRoomFor(expectedMs) ? this.#boarding : this.#waiting.get(role);
      if (open?.hasRoomFor(expectedMs)) return open.add(passenger, expectedMs);
    }
    const batch = new Batch({ role, caller, isQuick: mayShare }, this.#connections, this.#pace);
    const seat = batch.add(passenger, expectedMs ?? budgetMs);
    void batch.depart();
    if (mayShare && batch.isWaiting) this.#waiting.set(role, batch);
    else if (mayShare) this.#boarding = batch;
    return seat;
  }
}
