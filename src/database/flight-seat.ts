/**
 * Who flies in a batch (flight-batch.ts), and what it is told.
 */
import type { Flight, FlightOutcome } from './flight.ts';
import type { ApiConnection } from './pool.ts';

/** How a flight differs from what was asked for. */
export interface FlightHow {
  /** Writes are refused, with SQLSTATE 25006. */
  readonly readOnly: boolean;
  /** Shares with nobody, so nothing but itself can make it fly again. */
  readonly isAlone: boolean;
}

/** A request that wants to fly. */
export interface Passenger {
  /** Name of the statement that its duration is noted under; empty: not noted. */
  readonly statement: string;
  /** Whether others may fly along. */
  readonly shares: boolean;
  /** Code of a user may run in it: nothing in the session is to be trusted afterwards. */
  readonly runsUserCode: boolean;
  /** Makes its flight, when there is a connection. */
  makeFlight(connection: ApiConnection, how: FlightHow, onEnd: (outcome: FlightOutcome) => void): Flight;
  /** Told of the outcome before the next flight on the connection is answered. */
  ended(connection: ApiConnection, outcome: FlightOutcome): void;
}

/** How it ended for one passenger. */
export type SeatEnd =
  | { readonly kind: 'flown'; readonly outcome: FlightOutcome }
  /** There was no connection. */
  | { readonly kind: 'refused'; readonly problem: unknown }
  /** Fly again, alone: nothing is known of it. Never said of a mutation. */
  | { readonly kind: 'scattered' }
  /** Left before the server was at it. */
  | { readonly kind: 'left' };

/** A place in a batch. */
export interface Seat {
  readonly end: Promise<SeatEnd>;
  /**
   * Gives up: at once where the server is not at it yet, else by a cancel request and the server's answer to that.
   */
  cancel(): void;
}

/** Fly again, alone. */
export const scattered: SeatEnd = { kind: 'scattered' };

/** A place in a batch, seen from inside. */
export class BatchSeat implements Seat {
  readonly passenger: Passenger;
  readonly end: Promise<SeatEnd>;
  readonly #onCancel: (seat: BatchSeat) => void;
  #resolve: (end: SeatEnd) => void = () => {};
  isOver = false;

  constructor(passenger: Passenger, onCancel: (seat: BatchSeat) => void) {
    this.passenger = passenger;
    this.#onCancel = onCancel;
    this.end = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  cancel(): void {
    if (!this.isOver) this.#onCancel(this);
  }

  settle(end: SeatEnd): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#resolve(end);
  }
}
