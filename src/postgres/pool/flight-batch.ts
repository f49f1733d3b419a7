/**
 * Batches: light queries that arrive in the same turn of the event loop share a connection and one write.
 *
 * A socket write costs more than the rest of a small request, on both sides. Without sharing, one row by key takes 1.96
 * × the CPU of PostgreSQL and 1.19 × that of the gateway. Each flight stays its own transaction under its caller's
 * settings, as if it had taken the connection after the one before. Mutations never share: it would be uncertain
 * whether one behind another statement has run, and commits wait for the disk together only on several connections.
 * `FlightBatches` has the rules that keep requests from harming each other.
 */
import { performance } from 'node:perf_hooks';
import type { Distribution } from '../../shared/distribution.ts';
import { DatabaseError } from '../database-error.ts';
import { sendCancel, terminate } from '../wire/cancel.ts';
import type { DriverClient } from '../wire/driver.ts';
import type { Flight, FlightOutcome } from '../wire/flight.ts';
import type { ConnectionQueue, Turn } from './connection-queue.ts';
import { type ApiConnection, BatchEntry, type QueuedRequest, requeued } from './queued-request.ts';
import { loopIdleMs, type SlowPlans } from './slow-plans.ts';

/** Few, because the last one waits for all before it, while other connections may be free. */
const maxRequests = 8;
/** How long a waiting batch may be joined: those that join have that much less of their promised wait. */
const joinableMs = 50;
/** Longest wait of the flights behind for an answer, in milliseconds. */
const stallMs = 20;
/** Time for a server to answer after a cancel request, before we close the connection. */
const answerAfterCancelMs = 5000;
/** Number of cancel requests in that time. */
const maxCancelRequests = 5;

const refusedWrite = '25006';
const cancelled = '57014';

/** Source of a batch's connections. */
interface Connections {
  /** Decides whose turn it is. */
  readonly queue: ConnectionQueue;
  readonly slowPlans: SlowPlans;
  /** Receives the waits for a connection, in seconds. */
  readonly waits: Distribution;
  /**
   * Opens a connection or takes an idle one for a turn that has started.
   *
   * @throws DatabaseError `unavailable`; the turn is over then.
   */
  acquire(turn: Turn): Promise<ApiConnection>;
  /** Releases it and ends the turn; closes one that is `broken`. */
  release(turn: Turn, connection: ApiConnection, broken: boolean): void;
}

/** One write and its answers. */
class Batch implements Turn {
  /** Role and caller of the first request. */
  readonly role: string;
  readonly caller: string;
  /** Others may join: all of its requests are light. */
  readonly #isShared: boolean;
  /** No connection was free at once. */
  isWaiting = false;
  readonly #connections: Connections;
  readonly #since = performance.now();
  readonly #waiting: BatchEntry[] = [];
  #isOpen = true;
  /** The sent entries; the server is at `#at`. */
  #sent: readonly BatchEntry[] = none;
  #flights: readonly Flight[] = none;
  #at = 0;
  #connection: ApiConnection | null = null;
  #hasFailed = false;
  #isLost = false;
  /** The pending cancel request. */
  #cancelling: Promise<void> | null = null;
  /** A cancel request may still hit the next statement. */
  #cancelInDoubt = false;
  /** The entry that gave up last while the server was at it. */
  #cancelledEntry: BatchEntry | null = null;
  /** A cancel request was sent. */
  #hasCancelled = false;
  /** Runs from a cancel request until the answer. */
  #cancelTimer: NodeJS.Timeout | null = null;
  #stallTimer: NodeJS.Timeout | null = null;
  /** Idle time of the event loop when the flight before ended, in milliseconds. */
  #idleMs = 0;

  constructor({ role, caller }: Turn, isShared: boolean, connections: Connections) {
    this.role = role;
    this.caller = caller;
    this.#isShared = isShared;
    this.#connections = connections;
  }

  get hasRoom(): boolean {
    return this.#isOpen && this.#waiting.length < maxRequests && performance.now() - this.#since < joinableMs;
  }

  add(request: QueuedRequest): BatchEntry {
    const entry = new BatchEntry(request, (left) => this.#cancel(left));
    this.#waiting.push(entry);
    return entry;
  }

  /** Takes a connection, then sends every request that arrived until the end of this turn of the event loop. */
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
      this.#connections.waits.observe((performance.now() - this.#since) / 1000);
    } catch (problem) {
      this.#isOpen = false;
      for (const entry of this.#waiting) entry.settle({ kind: 'refused', problem });
      return;
    }
    if (this.#isShared) setImmediate(() => this.#send(connection));
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
      const readOnly = index > 0;
      const flight = request.makeFlight(connection, { readOnly }, (outcome) => this.#ended(index, outcome));
      if (request.runsUserCode) connection.needsFullReset = true;
      return flight;
    });
    this.#idleMs = loopIdleMs();
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
    this.#noteDuration(entry.request.statement);
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
    if (outcome.lost) this.#loseBehind();
    if (code === cancelled && this.#hasCancelled && entry !== this.#cancelledEntry) entry.settle(requeued);
    // It may have failed because of how its transaction began.
    if (index > 0 && this.#connection?.isUnusable && !outcome.lost) entry.settle(requeued);
    if (code === refusedWrite && index > 0) entry.settle(requeued);
  }

  /** The flights behind a failed one have no valid answer. */
  #loseBehind(): void {
    const problem = new Error('The connection was lost before the answer to another request on it was whole.');
    for (const entry of this.#sent.slice(this.#at)) {
      entry.settle({ kind: 'answered', outcome: { kind: 'failed', problem, step: 0, lost: true } });
    }
  }

  /** Requeues the entries from this index on. */
  #requeue(from: number): void {
    for (const entry of this.#sent.slice(from)) entry.settle(requeued);
  }

  #cancel(entry: BatchEntry): void {
    if (this.#connection !== null && this.#sent[this.#at] === entry) {
      this.#cancelledEntry = entry;
      this.#cancelFlight(this.#connection);
    } else this.#leave(entry);
  }

  /** Leaves the queue when the last request has left. */
  #leave(entry: BatchEntry): void {
    entry.settle({ kind: 'withdrawn' });
    const isEmpty = this.#waiting.every(({ isOver }) => isOver);
    if (this.isWaiting && isEmpty) this.#connections.queue.withdraw(this, abandoned);
  }

  /** Cancels the current flight, once. The request may arrive when the server is at the next one. */
  #cancelFlight({ client }: ApiConnection): void {
    if (this.#leavesCommit()) return;
    if (this.#cancelling !== null || this.#cancelTimer !== null) return;
    this.#requeue(this.#at + 1);
    this.#askToCancel(client, maxCancelRequests);
  }

  /**
   * Whether the current flight commits. It may wait for a synchronous standby: a cancelled wait, or an ended process, would show
   * others rows that no standby has, and that a failover loses. So the connection waits, and only the request ends.
   */
  #leavesCommit(): boolean {
    if (this.#flights[this.#at]?.isCommitting !== true) return false;
    this.#sent[this.#at]?.settle({ kind: 'answered', outcome: stillCommitting });
    return true;
  }

  /** Repeats the cancel request while no answer comes: one that arrives between two statements is lost. */
  #askToCancel(client: DriverClient, requests: number): void {
    this.#hasCancelled = true;
    const again = () => {
      this.#cancelTimer = null;
      if (this.#leavesCommit()) return;
      if (requests > 1) this.#askToCancel(client, requests - 1);
      else this.#loseFlight(client);
    };
    this.#cancelTimer = setTimeout(again, answerAfterCancelMs / maxCancelRequests);
    this.#cancelling ??= sendCancel(client).then((certain) => {
      this.#cancelling = null;
      if (!certain) this.#cancelInDoubt = true;
      // Meanwhile the server may be at the next flight, which was given up as well.
      const entry = this.#sent[this.#at];
      if (entry !== undefined && entry === this.#cancelledEntry) this.#cancelFlight(this.#connection as ApiConnection);
    });
  }

  /**
   * The server does not answer. Closes the connection only if its current flight was given up; otherwise the flight's
   * client still waits.
   */
  #loseFlight(client: DriverClient): void {
    const entry = this.#sent[this.#at];
    if (entry === this.#cancelledEntry || entry?.isOver) terminate(client);
  }

  /** Called after a while without an answer. Reads arrived data first: a busy process is no stall. */
  #watch(): void {
    const seen = this.#at;
    setImmediate(() => {
      if (this.#stallTimer === null || this.#at > seen) return;
      const entry = this.#sent[seen] as BatchEntry;
      this.#requeue(seen + 1);
      if (entry.isOver) this.#cancelFlight(this.#connection as ApiConnection);
      this.#stallTimer.refresh();
    });
  }

  #finish(connection: ApiConnection): void {
    if (this.#stallTimer !== null) clearTimeout(this.#stallTimer);
    this.#stallTimer = null;
    connection.needsFullReset = this.#hasFailed || this.#sent.some(({ request }) => request.runsUserCode);
    connection.wrote = this.#sent.some(({ request }) => request.writes);
    // The last batch is kept until the next one, but its answers are not.
    this.#waiting.length = 0;
    this.#sent = none;
    this.#flights = none;
    const release = () => this.#connections.release(this, connection, this.#isLost || this.#cancelInDoubt);
    // Release only when no cancel request can hit the connection's next user.
    if (this.#cancelling === null) release();
    else void this.#cancelling.then(release);
  }

  /** The duration of the flight that has just ended. */
  #noteDuration(statement: string): void {
    const idleMs = loopIdleMs();
    if (statement !== '') this.#connections.slowPlans.note(statement, idleMs - this.#idleMs);
    this.#idleMs = idleMs;
  }
}

/**
 * The batches of one pool: light queries that arrive at the same moment, or wait for a connection as the same role,
 * share one. Rules:
 *
 * - Which queries are light is decided when they are compiled (inspect-plan.ts).
 * - If an answer is late or cancelled, the flights behind it are `requeued`: sent again, alone, and the first answers
 *   dropped. An abandoned flight is cancelled once it delays others.
 * - Policies may call functions that write. Twice is harmless, because all but the first of a batch run read-only. A
 *   flight refused for that is sent again, alone.
 * - After user code, and on a connection in an unknown state, every flight starts with the whole reset, because the server reaches it
 *   whatever the flight before was answered.
 * - A preamble cannot change how transactions begin: flights that fail after such a change are sent again, alone.
 * - Only the server's current flight is ever cancelled, and none that commits; one further behind is dropped.
 */
export class FlightBatches {
  readonly #connections: Connections;
  /** The last batch that had a connection at once: requests of the same moment may join it. */
  #open: Batch | null = null;
  /** Each role's last waiting batch: other requests of the role may join it. */
  readonly #waiting = new Map<string, Batch>();

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Adds the request to the batch about to be sent if there is room, otherwise to a new one. */
  enqueue(request: QueuedRequest, turn: Turn): BatchEntry {
    if (request.shares) {
      const open = this.#open?.hasRoom ? this.#open : this.#waiting.get(turn.role);
      if (open?.hasRoom) return open.add(request);
    }
    const batch = new Batch(turn, request.shares, this.#connections);
    const entry = batch.add(request);
    void batch.start();
    if (request.shares && batch.isWaiting) this.#waiting.set(turn.role, batch);
    else if (request.shares) this.#open = batch;
    return entry;
  }
}

const none: readonly never[] = [];
const stillCommitting: FlightOutcome = {
  kind: 'failed',
  problem: new Error('The server had not committed when the request was given up.'),
  step: 1,
  lost: true,
};
/** Never shown. */
const abandoned = new DatabaseError({ kind: 'cancelled', primary: 'All waiting requests have ended.' });
