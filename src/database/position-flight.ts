/**
 * The flight behind a mutation's, in the same write: where the log of the primary ends once the mutation is committed, so
 * that its caller can be sent to a replica that has seen it. A transaction of its own, because the position inside the
 * mutation's would be before its commit.
 */
import { Flight, type FlightOutcome } from './flight.ts';
import type { FlightHow, Passenger } from './flight-seat.ts';
import { fixedStep, hygieneSteps } from './opening.ts';
import type { ApiConnection } from './pool.ts';
import { primaryPosition } from './replicas.ts';
import type { StatementNames } from './statement-names.ts';

/** Asks where the log ends. */
export class PositionPassenger implements Passenger {
  readonly #names: StatementNames | null;
  #resolve: (position: string | null) => void = () => {};
  readonly statement = '';
  readonly shares = false;
  readonly runsUserCode = false;
  /** Resolves once the flight before this one has been answered; null where the answer was no position. */
  readonly position = new Promise<string | null>((resolve) => {
    this.#resolve = resolve;
  });

  /** @param names Null: everything unnamed. */
  constructor(names: StatementNames | null) {
    this.#names = names;
  }

  makeFlight(connection: ApiConnection, _how: FlightHow, onEnd: (outcome: FlightOutcome) => void): Flight {
    const first = hygieneSteps(connection.dirty ? 'dirty' : 'plain', this.#names);
    return new Flight(connection.prepared, { first, main: [fixedStep(primaryPosition, this.#names)] }, onEnd);
  }

  ended(connection: ApiConnection, outcome: FlightOutcome): void {
    // Whatever it was, the next flight makes no assumption.
    if (outcome.kind === 'failed') connection.prepared.doubtAll();
    this.#resolve(outcome.kind === 'done' ? (outcome.results[0]?.toString() ?? null) : null);
  }
}
