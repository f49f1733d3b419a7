/**
 * A request in a batch (flight-batch.ts), the connection that it gets, and how it ended.
 */

import type { DriverClient, TransactionDefaults } from '../wire/driver.ts';
import type { Flight, FlightOutcome } from '../wire/flight.ts';
import type { PreparedStatements } from '../wire/prepared-statements.ts';

/** One connection, in the hands of one batch of flights. */
export interface ApiConnection {
  readonly client: DriverClient;
  readonly prepared: PreparedStatements;
  /** Other clients use the connection as well, behind a pooler, and these are the defaults of its transactions; null: it is ours alone. */
  readonly shared: TransactionDefaults | null;
  /** Code of a user may have left anything on the connection: the next flight looks and cleans first. */
  dirty: boolean;
  /** A user's function has made temporary tables on the connection: from now on every flight cleans it first. */
  hasTemporaryTables: boolean;
  /** Code of a user has changed what no statement of ours cleans up: our prepared statements, what transactions begin with, the session authorization. */
  isSpoiled: boolean;
}

/** How a flight differs from what was asked for. */
export interface FlightHow {
  /** Writes are refused, with SQLSTATE 25006. */
  readonly readOnly: boolean;
  /** Shares with nobody, so nothing but itself can have it sent again. */
  readonly isAlone: boolean;
}

/** A request that waits for its flight. */
export interface QueuedRequest {
  /** Name of the statement that its duration is noted under; empty: not noted. */
  readonly statement: string;
  /** Whether others may share its batch. */
  readonly shares: boolean;
  /** Code of a user may run in it: trust nothing on the connection afterwards. */
  readonly runsUserCode: boolean;
  /** Makes its flight, when there is a connection. */
  makeFlight(connection: ApiConnection, how: FlightHow, onEnd: (outcome: FlightOutcome) => void): Flight;
  /** Told of the outcome before the next flight on the connection is answered. */
  ended(connection: ApiConnection, outcome: FlightOutcome): void;
}

/** How it ended for one request. */
type EntryEnd =
  | { readonly kind: 'answered'; readonly outcome: FlightOutcome }
  /** There was no connection. */
  | { readonly kind: 'refused'; readonly problem: unknown }
  /** Sent again, alone: nothing is known of it. Never said of a mutation. */
  | { readonly kind: 'requeued' }
  /** Given up before the server was at it. */
  | { readonly kind: 'withdrawn' };

/** Sent again, alone. */
export const requeued: EntryEnd = { kind: 'requeued' };

/** The place of a request in a batch. */
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

  /** Gives up: at once where the server is not at it yet, else by a cancel request and the server's answer to that. */
  cancel(): void {
    if (!this.isOver) this.#onCancel(this);
  }

  settle(end: EntryEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#end.resolve(end);
  }
}
