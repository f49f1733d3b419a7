/**
 * Flights that share a connection and one write: quick ones that arrive in the same turn of the event loop.
 *
 * A write to a socket costs more than everything else a small request needs, on both sides; several flights in one write
 * cost it once. Without sharing, one row by key takes 1.96 × the CPU of PostgreSQL and 1.19 × that of the gateway. Each flight
 * stays a transaction of its own under its own caller's settings, as if each had taken the connection after the one before.
 *
 * Only queries share. A mutation has its connection to itself: behind another statement nobody could say whether it has run, and
 * commits that wait for a disk wait together only on several connections. Nobody may lose by it:
 *
 * - Only statements that are known to be quick share (statement-durations.ts), as many as fit into `budgetMs` together.
 * - Where an answer does not come in time or one is cancelled, those behind it are `requeued`: they are sent again, alone, and
 *   the answers to their first flights are dropped. What then runs for nobody is cancelled if it takes long.
 * - Queries may call functions that write. Twice is harmless, because all but the first of a batch run read-only; one that
 *   is refused for it is sent again, alone, as its statement is from then on.
 * - Behind one that may run code of a user, and on a connection that is not clean, every flight begins with the whole reset:
 *   the server comes to the next one whatever the one before was answered.
 * - How transactions begin is beyond an opening: those that fail behind one that has changed it are sent again, alone.
 * - Only the flight that the server is at is ever cancelled; one further behind is just dropped.
 */
import { performance } from 'node:perf_hooks';
import { DatabaseError } from '../failure.ts';
import { sendCancel, terminate } from '../wire/cancel.ts';
import type { DriverClient } from '../wire/driver.ts';
import type { Flight, FlightOutcome } from '../wire/flight.ts';
import { type ConnectionQueue, loopIdleMs, type Turn } from './connection-queue.ts';
import { type ApiConnection, BatchEntry, type FlightHow, type QueuedRequest, requeued } from './queued-request.ts';
import type { StatementDurations } from './statement-durations.ts';

/** The most that all of a batch may be expected to take, in milliseconds. */
const budgetMs = 2;
const maxRequests = 16;
/** How long a batch may wait for a connection and still be joined: those who join wait so much less than they are promised. */
const joinableMs = 50;
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
  readonly durations: StatementDurations;
  /** Opens a connection, or takes one that is idle, for one whose turn it is. @throws DatabaseError `unavailable`; then the turn is over. */
  acquire(turn: Turn): Promise<ApiConnection>;
  /** Gives it back, and ends the turn; one that is `broken` is thrown away. */
  release(turn: Turn, connection: ApiConnection, broken: boolean): void;
}

/** One write and its answers. */
class Batch implements Turn {
  /** Both of the first request. */
  readonly role: string;
  readonly caller: string;
  /** All of them are, and others may join. */
  readonly isQuick: boolean;
  startedAt = 0;
  /** There was no connection at once. */
  isWaiting = false;
  readonly #connections: Connections;
  readonly #since = performance.now();
  readonly #waiting: BatchEntry[] = [];
  #expectedMs = 0;
  #isOpen = true;
  /** Those that were sent; the server is at `#at`. */
  #sent: readonly BatchEntry[] = none;
  #flights: readonly Flight[] = none;
  #at = 0;
  #connection: ApiConnection | null = null;
  #hasFailed = false;
  #isLost = false;
  /** The cancel request under way. */
  #cancelling: Promise<void> | null = null;
  /** A cancel request may still hit whatever runs next. */
  #cancelInDoubt = false;
  /** The last one that gave up while the server was at it. */
  #cancelledEntry: BatchEntry | null = null;
  /** A cancel request has been sent. */
  #hasCancelled = false;
  /** Runs from a cancel request to the answer. */
  #cancelTimer: NodeJS.Timeout | null = null;
  #stallTimer: NodeJS.Timeout | null = null;
  /** Idle time of the event loop at the start and at the end of each flight, in milliseconds. */
  #idleAt: number[] = [];

  constructor({ role, caller, isQuick }: Omit<Turn, 'startedAt'>, connections: Connections) {
    this.role = role;
    this.caller = caller;
    this.isQuick = isQuick;
    this.#connections = connections;
  }

  hasRoomFor(expectedMs: number): boolean {
    const hasRoom = this.#isOpen && this.#waiting.length < maxRequests && this.#expectedMs + expectedMs <= budgetMs;
    return hasRoom && performance.now() - this.#since < joinableMs;
  }

  add(request: QueuedRequest, expectedMs: number): BatchEntry {
    const entry = new BatchEntry(request, (left) => this.#cancel(left));
    this.#waiting.push(entry);
    this.#expectedMs += expectedMs;
    return entry;
  }

  /** Takes a connection, then sends every request that has come until the end of this turn of the event loop. */
  async start(): Promise<void> {
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
      for (const entry of this.#waiting) entry.settle({ kind: 'refused', problem });
      return;
    }
    if (this.isQuick) setImmediate(() => this.#send(connection));
    else this.#send(connection);
  }

  #send(connection: ApiConnection): void {
    this.#isOpen = false;
    const sent = this.#waiting.filter((entry) => !entry.isOver);
    if (sent.length === 0) {
      this.#connections.release(this, connection, false);
      return;
    }
    this.#connection = connection;
    this.#sent = sent;
    this.#flights = sent.map(({ request }, index) => {
      const how = sent.length === 1 ? alone : index === 0 ? leading : following;
      const flight = request.makeFlight(connection, how, (outcome) => this.#ended(index, outcome));
      if (request.runsUserCode) connection.dirty = true;
      return flight;
    });
    this.#idleAt = [loopIdleMs()];
    this.#flights[0]?.lead(this.#flights.slice(1));
    this.#submit(connection);
    if (sent.length > 1) this.#stallTimer = setTimeout(() => this.#watch(), stallMs);
  }

  #submit({ client }: ApiConnection): void {
    client.query(this.#flights[this.#at] as Flight);
  }

  #ended(index: number, outcome: FlightOutcome): void {
    const connection = this.#connection as ApiConnection;
    const entry = this.#sent[index] as BatchEntry;
    this.#idleAt.push(loopIdleMs());
    this.#at = index + 1;
    if (this.#cancelTimer !== null) clearTimeout(this.#cancelTimer);
    this.#cancelTimer = null;
    this.#stallTimer?.refresh();
    entry.request.ended(connection, outcome);
    if (outcome.kind === 'failed') this.#failed(entry, index, outcome);
    entry.settle({ kind: 'answered', outcome });
    if (this.#at === this.#flights.length || this.#isLost) this.#finish(connection);
    else this.#submit(connection);
  }

  #failed(entry: BatchEntry, index: number, outcome: FlightOutcome & { readonly kind: 'failed' }): void {
    const code = (outcome.problem as { readonly code?: string }).code ?? '';
    this.#hasFailed = true;
    this.#isLost = outcome.lost;
    this.#connections.durations.noteFailure(
      entry.request.statement,
      (this.#idleAt[index + 1] ?? 0) - (this.#idleAt[index] ?? 0),
    );
    if (outcome.lost) this.#loseBehind();
    if (code === cancelled && this.#hasCancelled && entry !== this.#cancelledEntry) entry.settle(requeued);
    // It may have failed for what its transaction began with.
    if (index > 0 && this.#connection?.isSpoiled && !outcome.lost) entry.settle(requeued);
    if (code === refusedWrite && index > 0) {
      this.#connections.durations.noteWrite(entry.request.statement);
      entry.settle(requeued);
    }
  }

  /** Nothing that was said of this one is true of those behind it. */
  #loseBehind(): void {
    const problem = new Error('The connection was lost before the answer to another request on it was whole.');
    for (const entry of this.#sent.slice(this.#at)) {
      entry.settle({ kind: 'answered', outcome: { kind: 'failed', problem, step: 0, lost: true } });
    }
  }

  /** Has those from this place on sent again. */
  #requeue(from: number): void {
    for (const entry of this.#sent.slice(from)) entry.settle(requeued);
  }

  #cancel(entry: BatchEntry): void {
    if (this.#connection !== null && this.#sent[this.#at] === entry) {
      this.#cancelledEntry = entry;
      this.#cancelFlight(this.#connection);
    } else this.#leave(entry);
  }

  /** Gives the place in the queue up with the last request. */
  #leave(entry: BatchEntry): void {
    entry.settle({ kind: 'withdrawn' });
    const isEmpty = this.#waiting.every(({ isOver }) => isOver);
    if (this.isWaiting && isEmpty) this.#connections.queue.withdraw(this, abandoned);
  }

  /** Cancels what the server is at, once. The request may reach it when it is at the next one. */
  #cancelFlight({ client }: ApiConnection): void {
    if (this.#cancelling !== null || this.#cancelTimer !== null) return;
    this.#requeue(this.#at + 1);
    this.#askToCancel(client, maxCancelRequests);
  }

  /** Asks again where no answer comes: a request that arrives between two statements is lost. */
  #askToCancel(client: DriverClient, requests: number): void {
    this.#hasCancelled = true;
    const again = () => {
      if (requests > 1) this.#askToCancel(client, requests - 1);
      else this.#loseFlight(client);
    };
    this.#cancelTimer = setTimeout(again, answerAfterCancelMs / maxCancelRequests);
    this.#cancelling ??= sendCancel(client).then((certain) => {
      this.#cancelling = null;
      if (!certain) this.#cancelInDoubt = true;
      // The server may have come to the next one meanwhile, which has given up as well.
      const entry = this.#sent[this.#at];
      if (entry !== undefined && entry === this.#cancelledEntry) this.#cancelFlight(this.#connection as ApiConnection);
    });
  }

  /** The server does not answer. The connection is closed only where the one it is at has been given up: others wait for theirs. */
  #loseFlight(client: DriverClient): void {
    this.#cancelTimer = null;
    const entry = this.#sent[this.#at];
    if (entry === this.#cancelledEntry || entry?.isOver) terminate(client);
  }

  /** Called when no answer has come for a while. What has arrived is read first: a busy process is no reason. */
  #watch(): void {
    const seen = this.#at;
    setImmediate(() => {
      if (this.#stallTimer === null || this.#at > seen) return;
      const entry = this.#sent[seen] as BatchEntry;
      if (this.#sent.slice(seen + 1).some(({ isOver }) => !isOver)) {
        this.#connections.durations.noteStall(entry.request.statement);
        this.#requeue(seen + 1);
      }
      if (entry.isOver) this.#cancelFlight(this.#connection as ApiConnection);
      this.#stallTimer.refresh();
    });
  }

  #finish(connection: ApiConnection): void {
    if (this.#stallTimer !== null) clearTimeout(this.#stallTimer);
    this.#stallTimer = null;
    connection.dirty = this.#hasFailed || this.#sent.some(({ request }) => request.runsUserCode);
    if (!this.#hasFailed) this.#noteDurations();
    // The last batch is remembered until the next one is made; its answers are not.
    this.#waiting.length = 0;
    this.#sent = none;
    this.#flights = none;
    const release = () => this.#connections.release(this, connection, this.#isLost || this.#cancelInDoubt);
    // Given back once no cancel request can hit its next user.
    if (this.#cancelling === null) release();
    else void this.#cancelling.then(release);
  }

  /** An answer that came together with the one before took at least its share of the whole. */
  #noteDurations(): void {
    const [start = 0] = this.#idleAt;
    const share = ((this.#idleAt.at(-1) ?? start) - start) / this.#sent.length;
    this.#sent.forEach(({ request }, index) => {
      const own = (this.#idleAt[index + 1] ?? start) - (this.#idleAt[index] ?? start);
      if (request.statement !== '') this.#connections.durations.note(request.statement, Math.max(own, share));
    });
  }
}

/** The batches of one pool: quick queries that come in the same moment, or wait for a connection as the same role, share one. */
export class FlightBatches {
  readonly #connections: Connections;
  /** The last one that had a connection at once: who comes in the same moment may join it. */
  #open: Batch | null = null;
  /** The last one of each role that waits for a connection: others of the role may join it. */
  readonly #waiting = new Map<string, Batch>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Finds a place: in the batch that is about to be sent where there is room, else in a new one. */
  enqueue(request: QueuedRequest, { role, caller }: Pick<Turn, 'role' | 'caller'>): BatchEntry {
    const expectedMs = request.shares ? this.#connections.durations.expectedMs(request.statement) : null;
    const mayShare = expectedMs !== null && expectedMs < budgetMs;
    if (mayShare) {
      const open = this.#open?.hasRoomFor(expectedMs) ? this.#open : this.#waiting.get(role);
      if (open?.hasRoomFor(expectedMs)) return open.add(request, expectedMs);
    }
    const batch = new Batch({ role, caller, isQuick: mayShare }, this.#connections);
    const entry = batch.add(request, expectedMs ?? budgetMs);
    void batch.start();
    if (mayShare && batch.isWaiting) this.#waiting.set(role, batch);
    else if (mayShare) this.#open = batch;
    return entry;
  }
}

const none: readonly never[] = [];
/** Seen by nobody. */
const abandoned = new DatabaseError({ kind: 'cancelled', primary: 'Everybody who waited has left.' });
