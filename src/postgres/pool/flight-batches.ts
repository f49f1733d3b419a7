/**
 * Batches requests: quick queries that come in the same moment, or wait for a connection as the same role, share a batch.
 */
import type { Turn } from './connection-queue.ts';
import { Batch, budgetMs, type Connections } from './flight-batch.ts';
import type { QueuedRequest, Slot } from './queued-request.ts';
import type { StatementDurations } from './statement-durations.ts';

/** The batches of one pool. */
export class FlightBatches {
  readonly #connections: Connections;
  readonly #durations: StatementDurations;
  /** The last one that had a connection at once: who comes in the same moment may join it. */
  #open: Batch | null = null;
  /** The last one of each role that waits for a connection: others of the role may join it. */
  readonly #waiting = new Map<string, Batch>();

  constructor(connections: Connections, durations: StatementDurations) {
    this.#connections = connections;
    this.#durations = durations;
  }

  /** Finds a place: in the batch that is about to be sent where there is room, else in a new one. */
  enqueue(request: QueuedRequest, { role, caller }: Pick<Turn, 'role' | 'caller'>): Slot {
    const expectedMs = request.shares ? this.#durations.expectedMs(request.statement) : null;
    const mayShare = expectedMs !== null && expectedMs < budgetMs;
    if (mayShare) {
      const open = this.#open?.hasRoomFor(expectedMs) ? this.#open : this.#waiting.get(role);
      if (open?.hasRoomFor(expectedMs)) return open.add(request, expectedMs);
    }
    const batch = new Batch({ role, caller, isQuick: mayShare }, this.#connections, this.#durations);
    const slot = batch.add(request, expectedMs ?? budgetMs);
    void batch.start();
    if (mayShare && batch.isWaiting) this.#waiting.set(role, batch);
    else if (mayShare) this.#open = batch;
    return slot;
  }
}
