/**
 * Flights that share a connection and one write: quick ones that arrive in the same turn of the event loop.
 *
 * A write to a socket costs more than everything else a small request needs, on both sides; several flights in one write
 * cost it once. Each stays a transaction of its own under its own caller's settings, as if the connection had been taken
 * by one after the other, which is what the server sees.
 *
 * Only queries share. A mutation has its connection to itself: behind another statement nobody could say whether it has run, and
 * commits that wait for a disk wait together only on several connections. Nobody may lose by it:
 *
 * - Only statements that are known to be quick share (statement-pace.ts), as many as fit into `budgetMs` together.
 * - Where an answer does not come in time or one is cancelled, those behind it are `scattered`: they fly again, alone, and
 *   what the first flight of theirs answers is thrown away. What then runs for nobody is cancelled if it takes long.
 * - Queries may call functions that write. Twice is harmless, because all but the first of a batch run read-only; one that
 *   is refused for it flies again, alone, as its statement does from then on.
 * - Behind one that may run code of a user, and on a connection that is not clean, every flight opens with the whole hygiene:
 *   the server comes to the next one whatever the one before was answered.
 * - How transactions begin is beyond an opening: those that fail behind one that has changed it fly again, alone.
 * - Only the flight that the server is at is ever cancelled; one further behind just leaves.
 */
import { performance } from 'node:perf_hooks';
import { sendCancel } from './cancel.ts';
import type { ConnectionQueue, Turn } from './connection-queue.ts';
import type { DriverClient } from './driver.ts';
import { DatabaseError } from './failure.ts';
import type { Flight, FlightOutcome } from './flight.ts';
import { BatchSeat, type FlightHow, type Passenger, type Seat, scattered } from './flight-seat.ts';
import type { ApiConnection } from './pool.ts';
import type { StatementPace } from './statement-pace.ts';

/** The most that all of a batch may be expected to take, in milliseconds. */
export const budgetMs = 2;
const maxSeats = 16;
/** How long one may wait for a connection and still take others along, who wait so much less than they are promised. */
const boardingMs = 50;
/** Longest wait of the others for an answer, in milliseconds. */
const stallMs = 20;
/** How long a server may take to answer after it was asked to cancel, before we close the connection ourselves. */
const answerAfterCancelMs = 5000;
/** How often the server is asked in that time. */
const maxCancelRequests = 5;

const alone: FlightHow = { readOnly: false, isAlone: true };
const leading = { readOnly: false, isAlone: false };
const following = { readOnly: true, isAlone: false };
const refusedWrite = '25006';
const cancelled = '57014';

/** Where the connections of batches come from and go to. */
export interface Connections {
  /** Whose turn it is. */
  readonly queue: ConnectionQueue;
  /** Opens a connection, or takes one that is idle, for one whose turn it is. @throws DatabaseError `unavailable`; then the turn is over. */
  acquire(turn: Turn): Promise<ApiConnection>;
  /** Gives it back, and ends the turn; one that is `broken` is thrown away. */
  release(turn: Turn, connection: ApiConnection, broken: boolean): void;
}

/** One write and its answers. */
export class Batch implements Turn {
  /** Both of the first passenger. */
  readonly role: string;
  readonly caller: string;
  /** All of them are, and others may join. */
  readonly isQuick: boolean;
  startedAt = 0;
  /** There was no connection at once. */
  isWaiting = false;
  readonly #connections: Connections;
  readonly #pace: StatementPace;
  readonly #since = performance.now();
  readonly #waiting: BatchSeat[] = [];
  #expectedMs = 0;
  #isOpen = true;
  /** Those that were sent; the server is at `#at`. */
  #flying: readonly BatchSeat[] = none;
  #flights: readonly Flight[] = none;
  #at = 0;
  #connection: ApiConnection | null = null;
  #hasFailed = false;
  #isLost = false;
  /** The cancel request under way. */
  #cancelling: Promise<void> | null = null;
  /** A cancel request may still hit whatever runs next. */
  #isHaunted = false;
  /** The last one that gave up while the server was at it. */
  #givenUp: BatchSeat | null = null;
  /** A cancel request has been sent. */
  #hasCancelled = false;
  /** Runs from a cancel request to the answer. */
  #patience: NodeJS.Timeout | null = null;
  #stallTimer: NodeJS.Timeout | null = null;
  /** Idle time of the event loop at the start and at the end of each flight, in milliseconds. */
  #idleAt: number[] = [];

  constructor(
    { role, caller, isQuick }: Pick<Turn, 'role' | 'caller' | 'isQuick'>,
    connections: Connections,
    pace: StatementPace,
  ) {
    this.role = role;
    this.caller = caller;
    this.isQuick = isQuick;
    this.#connections = connections;
    this.#pace = pace;
  }

  hasRoomFor(expectedMs: number): boolean {
    const hasRoom = this.#isOpen && this.#waiting.length < maxSeats && this.#expectedMs + expectedMs <= budgetMs;
    return hasRoom && performance.now() - this.#since < boardingMs;
  }

  add(passenger: Passenger, expectedMs: number): Seat {
    const seat = new BatchSeat(passenger, (left) => this.#cancel(left));
    this.#waiting.push(seat);
    this.#expectedMs += expectedMs;
    return seat;
  }

  /** Takes a connection and sends everybody who has come until then, and in the rest of this turn of the event loop. */
  async depart(): Promise<void> {
    const { queue } = this.#connections;
    let connection: ApiConnection;
    try {
      if (!queue.take(this)) {
        this.isWaiting = true;
        await queue.wait(this);
        this.isWaiting = false;
      }
      connection = await this.#connections.acquire(this);
    } catch (problem) {
      this.#isOpen = false;
      for (const seat of this.#waiting) seat.settle({ kind: 'refused', problem });
      return;
    }
    if (this.isQuick) setImmediate(() => this.#launch(connection));
    else this.#launch(connection);
  }

  #launch(connection: ApiConnection): void {
    this.#isOpen = false;
    const flying = this.#waiting.filter((seat) => !seat.isOver);
    if (flying.length === 0) {
      this.#connections.release(this, connection, false);
      return;
    }
    this.#connection = connection;
    this.#flying = flying;
    this.#flights = flying.map(({ passenger }, index) => {
      const how = flying.length === 1 ? alone : index === 0 ? leading : following;
      const flight = passenger.makeFlight(connection, how, (outcome) => this.#ended(index, outcome));
      if (passenger.runsUserCode) connection.dirty = true;
      return flight;
    });
    this.#idleAt = [idleMs()];
    this.#flights[0]?.lead(this.#flights.slice(1));
    this.#submit(connection);
    if (flying.length > 1) this.#stallTimer = setTimeout(() => this.#watch(), stallMs);
  }

  #submit({ client }: ApiConnection): void {
    client.query(this.#flights[this.#at] as Flight);
  }

  #ended(index: number, outcome: FlightOutcome): void {
    const connection = this.#connection as ApiConnection;
    const seat = this.#flying[index] as BatchSeat;
    this.#idleAt.push(idleMs());
    this.#at = index + 1;
    if (this.#patience !== null) clearTimeout(this.#patience);
    this.#patience = null;
    this.#stallTimer?.refresh();
    seat.passenger.ended(connection, outcome);
    if (outcome.kind === 'failed') this.#failed(seat, index, outcome);
    seat.settle({ kind: 'flown', outcome });
    if (this.#at === this.#flights.length || this.#isLost) this.#finish(connection);
    else this.#submit(connection);
  }

  #failed(seat: BatchSeat, index: number, outcome: FlightOutcome & { readonly kind: 'failed' }): void {
    const code = (outcome.problem as { readonly code?: string }).code ?? '';
    this.#hasFailed = true;
    this.#isLost = outcome.lost;
    this.#pace.noteFailure(seat.passenger.statement, (this.#idleAt[index + 1] ?? 0) - (this.#idleAt[index] ?? 0));
    if (outcome.lost) this.#loseBehind();
    if (code === cancelled && this.#hasCancelled && seat !== this.#givenUp) seat.settle(scattered);
    // It may have failed for what its transaction began with.
    if (index > 0 && this.#connection?.isSpoiled && !outcome.lost) seat.settle(scattered);
    if (code === refusedWrite && index > 0) {
      this.#pace.noteWrite(seat.passenger.statement);
      seat.settle(scattered);
    }
  }

  /** Nothing that was said of this one is true of those behind it. */
  #loseBehind(): void {
    const problem = new Error('The connection was lost before the answer to another request on it was whole.');
    for (const seat of this.#flying.slice(this.#at)) {
      seat.settle({ kind: 'flown', outcome: { kind: 'failed', problem, step: 0, lost: true } });
    }
  }

  /** Sends those from this place on away. */
  #scatter(from: number): void {
    for (const seat of this.#flying.slice(from)) seat.settle(scattered);
  }

  #cancel(seat: BatchSeat): void {
    if (this.#connection === null) this.#leave(seat);
    else if (this.#flying[this.#at] === seat) {
      this.#givenUp = seat;
      this.#cancelFlight(this.#connection);
    } else this.#leave(seat);
  }

  /** Gives the place in the queue up with the last one who left. */
  #leave(seat: BatchSeat): void {
    seat.settle({ kind: 'left' });
    const isEmpty = this.#waiting.every(({ isOver }) => isOver);
    if (this.isWaiting && isEmpty) this.#connections.queue.withdraw(this, abandoned);
  }

  /** Cancels what the server is at, once. The request may reach it when it is at the next one. */
  #cancelFlight({ client }: ApiConnection): void {
    if (this.#cancelling !== null || this.#patience !== null) return;
    this.#scatter(this.#at + 1);
    this.#askToCancel(client, maxCancelRequests);
  }

  /** Asks again where no answer comes: a request that arrives between two statements is lost. */
  #askToCancel(client: DriverClient, requests: number): void {
    this.#hasCancelled = true;
    const again = () => {
      if (requests > 1) this.#askToCancel(client, requests - 1);
      else this.#loseFlight(client);
    };
    this.#patience = setTimeout(again, answerAfterCancelMs / maxCancelRequests);
    this.#cancelling ??= sendCancel(client).then((certain) => {
      this.#cancelling = null;
      if (!certain) this.#isHaunted = true;
      // The server may have come to the next one meanwhile, which has given up as well.
      const seat = this.#flying[this.#at];
      if (seat !== undefined && seat === this.#givenUp) this.#cancelFlight(this.#connection as ApiConnection);
    });
  }

  /** The server does not answer. The connection is closed only where the one it is at has been given up: others wait for theirs. */
  #loseFlight(client: DriverClient): void {
    this.#patience = null;
    const seat = this.#flying[this.#at];
    if (seat === this.#givenUp || seat?.isOver) client.connection.stream.destroy();
  }

  /** Called when no answer has come for a while. What has arrived is read first: a busy process is no reason. */
  #watch(): void {
    const seen = this.#at;
    setImmediate(() => {
      if (this.#stallTimer === null || this.#at > seen) return;
      const seat = this.#flying[seen] as BatchSeat;
      if (this.#hasWaiting(seen)) {
        this.#pace.noteStall(seat.passenger.statement);
        this.#scatter(seen + 1);
      }
      if (seat.isOver) this.#cancelFlight(this.#connection as ApiConnection);
      this.#stallTimer.refresh();
    });
  }

  /** Somebody waits for an answer behind this place. */
  #hasWaiting(at: number): boolean {
    return this.#flying.slice(at + 1).some(({ isOver }) => !isOver);
  }

  #finish(connection: ApiConnection): void {
    if (this.#stallTimer !== null) clearTimeout(this.#stallTimer);
    this.#stallTimer = null;
    connection.dirty = this.#hasFailed || this.#flying.some(({ passenger }) => passenger.runsUserCode);
    if (!this.#hasFailed) this.#notePace();
    // The last batch is remembered until the next one boards; its answers are not.
    this.#waiting.length = 0;
    this.#flying = none;
    this.#flights = none;
    const release = () => this.#connections.release(this, connection, this.#isLost || this.#isHaunted);
    // Given back once no cancel request can hit its next user.
    if (this.#cancelling === null) release();
    else void this.#cancelling.then(release);
  }

  /** An answer that came together with the one before took at least its share of the whole. */
  #notePace(): void {
    const [start = 0] = this.#idleAt;
    const share = ((this.#idleAt.at(-1) ?? start) - start) / this.#flying.length;
    this.#flying.forEach(({ passenger }, index) => {
      const own = (this.#idleAt[index + 1] ?? start) - (this.#idleAt[index] ?? start);
      if (passenger.statement !== '') this.#pace.note(passenger.statement, Math.max(own, share));
    });
  }
}

const none: readonly never[] = [];
/** Seen by nobody. */
const abandoned = new DatabaseError({ kind: 'cancelled', primary: 'Everybody who waited has left.' });

/** Time that this thread's event loop has spent waiting, in milliseconds since it began. */
function idleMs(): number {
  return performance.nodeTiming.idleTime;
}
