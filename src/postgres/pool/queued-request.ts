/**
 * A request in a batch (flight-batch.ts), its connection, and its end.
 */

import type { DriverClient, TransactionDefaults } from '../wire/driver.ts';
import type { Flight, FlightOutcome } from '../wire/flight.ts';
import type { PreparedStatements } from '../wire/prepared-statements.ts';

/** A connection while a batch uses it. */
export interface ApiConnection {
  readonly client: DriverClient;
  readonly prepared: PreparedStatements;
  /** The transaction defaults of a shared connection, behind a pooler; null: only we use it. */
  readonly shared: TransactionDefaults | null;
  /** User code may have left anything on the connection: the next flight checks and resets it. */
  needsFullReset: boolean;
  /** A write without user code: PostgreSQL's own defaults may have left what `lastval()` returns. */
  wrote: boolean;
  /** A user function made temporary tables on the connection: from now on every flight discards them first. */
  hasTemporaryTables: boolean;
  /**
   * User code changed what no statement of ours resets: prepared statements, how transactions begin, or the session
   * authorization.
   */
  isUnusable: boolean;
}

/** Restrictions of one flight. */
export interface FlightHow {
  /** Writes fail with SQLSTATE 25006. */
  readonly readOnly: boolean;
}

/** A request that waits for its flight. */
export interface QueuedRequest {
  /** Name of a statement whose plan may not fit its values (slow-plans.ts); empty: its duration is not recorded. */
  readonly statement: string;
  /** Whether it may share a batch. */
  readonly shares: boolean;
  /** It may run user code, which may leave anything on the connection. */
  readonly runsUserCode: boolean;
  readonly writes: boolean;
  /** Makes its flight, once it has a connection. */
  makeFlight(connection: ApiConnection, how: FlightHow, onEnd: (outcome: FlightOutcome) => void): Flight;
  /** Called with the outcome before the next flight on the connection is answered. */
  ended(connection: ApiConnection, outcome: FlightOutcome): void;
}

/** The end of one request in a batch. */
export type EntryEnd =
  | { readonly kind: 'answered'; readonly outcome: FlightOutcome }
  /** No connection was available. */
  | { readonly kind: 'refused'; readonly problem: unknown }
  /** To be sent again, alone: its outcome is unknown. Never for a mutation. */
  | { readonly kind: 'requeued' }
  /** Given up before the server reached it. */
  | { readonly kind: 'withdrawn' };

/** To be sent again, alone. */
export const requeued: EntryEnd = { kind: 'requeued' };

/** A request's entry in a batch. */
export class BatchEntry {
  readonly request: QueuedRequest;
  readonly #onCancel: (entry: BatchEntry) => void;
  readonly #end = Promise.withResolvers<EntryEnd>();
  isOver = false;

  constructor(request: QueuedRequest, onCancel: (entry: BatchEntry) => void) {
    this.request = request;
    this.#onCancel = onCancel;
  }

  get end(): Promise<EntryEnd> {
    return this.#end.promise;
  }

  /** Gives up: immediately if the server has not reached it, otherwise by a cancel request and its answer. */
  cancel(): void {
    if (!this.isOver) this.#onCancel(this);
  }

  settle(end: EntryEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#end.resolve(end);
  }
}
