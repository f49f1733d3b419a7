/**
 * Who gets the next connection of a pool, and who is refused at once because of too long a wait.
 *
 * Fair between roles, because a role is what an operator sets limits for, and within a role between its callers: a connection
 * goes to the role that waits and holds the fewest, and of several to the one that had its turn longest ago; likewise to the caller
 * within the role, whose requests are served in the order in which they came. One connection is also kept from the statements of a
 * role that are not known to be quick, and one more from those of a single caller: else one slow query for each connection would
 * lock everybody else out.
 *
 * A request is refused on arrival, when that costs nothing yet. Its wait is the turns before it times the mean length of a turn,
 * divided by the connections (Little's law). In a burst it may be the longest wait allowed; once the first request of the role has
 * waited for longer than bursts last, a share of that: a queue that stays long serves nobody sooner, and some are refused anyway. Not where this process has
 * hardly any time to wait: turns are long then because their ends are read late, and a refusal costs half of an answer.
 */
import { performance } from 'node:perf_hooks';
import {
  afterUnpaused,
  beginUnpaused,
  endUnpaused,
  type UnpausedTimer,
  unpausedNow,
} from '../../shared/unpaused-clock.ts';
import { DatabaseError } from '../failure.ts';

/** One who wants a connection for a while. */
export interface Turn {
  readonly role: string;
  /** The user, or the network that a caller without a user comes from. */
  readonly caller: string;
  /** Its statements are known to be quick. */
  readonly isQuick: boolean;
  /** When it began to wait or got its connection; kept by the queue. */
  startedAt: number;
}

interface ConnectionQueueOptions {
  readonly size: number;
  /** Longest wait, in milliseconds; 0: there is no limit. A pause of the whole process is nobody's wait. */
  readonly waitMs: number;
  /** Milliseconds since any moment, by which turns are measured; unpaused ones unless told. */
  readonly now?: () => number;
  /** Of these, the ones in which this process had nothing to do. */
  readonly idleNow?: () => number;
}

/** A pool with fewer connections keeps none back. */
const smallestSizeWithSpare = 5;
/** Of the longest wait: how long the first request of a role waits in a burst, and the longest wait in a queue older than that. */
const burstShare = 1 / 9;
const overloadShare = 1 / 6;
/** Of its time a process is idle that has nothing but the database to wait for; one that is not is late by itself. */
const idleShare = 1 / 10;
/** How fast the mean follows the measured turns, once there are enough of them. */
const shareOfLast = 0.05;

/** What a role or a caller holds. */
interface Held {
  held: number;
  /** Of those, the ones not known to be quick. */
  slow: number;
}

interface RoleTurns extends Held {
  /** In the order in which they came. */
  readonly waiting: Waiter[];
  /** Those who hold or wait. */
  readonly callers: Map<string, CallerTurns>;
}

interface CallerTurns extends Held {
  waiting: number;
  /** Number of the turn that it had last; 0: none. */
  lastTurn: number;
}

interface Waiter {
  readonly turn: Turn;
  readonly caller: CallerTurns;
  readonly timer: UnpausedTimer | null;
  readonly start: () => void;
  readonly refuse: (problem: DatabaseError) => void;
}

/** The queue of one pool. */
export class ConnectionQueue {
  readonly #size: number;
  readonly #waitMs: number;
  readonly #now: () => number;
  /** Connections that are kept back. */
  readonly #spare: number;
  /** By name; roles of the database only, so there are not many. */
  readonly #roles = new Map<string, RoleTurns>();
  /** Those in which somebody waits; whose turn was longest ago comes first. */
  readonly #waitingRoles = new Set<RoleTurns>();
  #turnNumber = 0;
  #held = 0;
  #waiting = 0;
  /** End of the last turn since somebody waits. */
  #lastTurn = 0;
  /** Mean length of a turn since then in milliseconds, and their number. */
  #turnMs = 0;
  #turns = 0;
  readonly #idleNow: () => number;
  #idleAt = 0;
  /** Means between the ends of two turns. */
  #passedMs = 0;
  #idleMs = 0;

  constructor({ size, waitMs, now = unpausedNow, idleNow = loopIdleMs }: ConnectionQueueOptions) {
    this.#size = size;
    this.#waitMs = waitMs === 0 ? Number.POSITIVE_INFINITY : waitMs;
    this.#now = now;
    this.#idleNow = idleNow;
    this.#spare = size < smallestSizeWithSpare ? 0 : 1;
  }

  /** Number of those who wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether this caller of a role would get a connection in time, as far as can be known. */
  admits(role: string, caller: string): boolean {
    const own = this.#roles.get(role);
    // The next one of its role, whoever else waits.
    if (own === undefined || own.waiting.length === 0) return true;
    const now = this.#now();
    const ahead = this.#ahead(own, caller);
    const expectedMs = ((ahead + 1) * this.#turnMs) / this.#size;
    if (expectedMs > this.#waitMs || now - this.#lastTurn > this.#waitMs) return false;
    // More wait than each connection's next, and for the database.
    const isLong =
      ahead >= this.#size && expectedMs > this.#waitMs * overloadShare && this.#idleMs > this.#passedMs * idleShare;
    return !isLong || now - own.waiting[0]!.turn.startedAt <= this.#waitMs * burstShare;
  }

  /** Takes a connection where one is free for this turn; it ends with `leave`. */
  take(turn: Turn): boolean {
    if (this.#held === this.#size) return false;
    const turns = this.#turnsOf(turn.role);
    const caller = callerIn(turns, turn);
    const isTaken = this.#mayStart(turns, caller, turn);
    if (isTaken) this.#start(turns, caller, turn);
    else forgetIdle(turns, caller, turn);
    return isTaken;
  }

  /**
   * Waits for a connection and takes it; it ends with `leave`.
   *
   * @throws DatabaseError `overloaded`, at once where the wait would be too long, and where it was.
   */
  wait(turn: Turn): Promise<void> {
    if (!this.admits(turn.role, turn.caller)) {
      return Promise.reject(overloaded('More requests wait for a database connection than can be served in time.'));
    }
    return new Promise((start, refuse) => {
      const caller = callerIn(this.#turnsOf(turn.role), turn);
      this.#add({ turn, caller, timer: this.#startTimer(turn), start, refuse });
    });
  }

  /** Stops waiting, for this reason; one that does not wait is left as it is. */
  withdraw(turn: Turn, reason: DatabaseError): void {
    const turns = this.#turnsOf(turn.role);
    const at = turns.waiting.findIndex((waiter) => waiter.turn === turn);
    if (at === -1) return;
    const waiter = this.#remove(turns, at);
    forgetIdle(turns, waiter.caller, turn);
    waiter.refuse(reason);
  }

  /** Lets a turn begin anew: its connection had to be opened first. */
  restart(turn: Turn): void {
    turn.startedAt = this.#now();
  }

  /** Gives a connection back, to the next one where somebody waits. */
  leave(turn: Turn): void {
    const turns = this.#turnsOf(turn.role);
    const caller = callerIn(turns, turn);
    endUnpaused();
    this.#held -= 1;
    count(turns, caller, turn, -1);
    forgetIdle(turns, caller, turn);
    if (this.#waiting === 0) return;
    this.#noteTurn(turn);
    this.#startNext();
  }

  #noteTurn({ startedAt }: Turn): void {
    const [now, idleAt] = [this.#now(), this.#idleNow()];
    this.#turns += 1;
    const share = Math.max(shareOfLast, 1 / this.#turns);
    this.#turnMs += (now - startedAt - this.#turnMs) * share;
    this.#passedMs += (now - this.#lastTurn - this.#passedMs) * share;
    this.#idleMs += (idleAt - this.#idleAt - this.#idleMs) * share;
    this.#lastTurn = now;
    this.#idleAt = idleAt;
  }

  /** Turns before the next one of this caller. */
  #ahead(own: RoleTurns, caller: string): number {
    const waiting = own.callers.get(caller)?.waiting ?? 0;
    let ofRole = 0;
    for (const other of own.callers.values()) ofRole += Math.min(other.waiting, waiting + 1);
    let ahead = ofRole;
    for (const other of this.#waitingRoles) if (other !== own) ahead += Math.min(other.waiting.length, ofRole + 1);
    return ahead;
  }

  #startTimer(turn: Turn): UnpausedTimer | null {
    if (this.#waitMs === Number.POSITIVE_INFINITY) return null;
    const problem = `No database connection became free within ${this.#waitMs} ms.`;
    return afterUnpaused(this.#waitMs, () => this.withdraw(turn, overloaded(problem)));
  }

  #turnsOf(role: string): RoleTurns {
    let turns = this.#roles.get(role);
    if (turns === undefined) {
      turns = { held: 0, slow: 0, waiting: [], callers: new Map() };
      this.#roles.set(role, turns);
    }
    return turns;
  }

  #mayStart(turns: RoleTurns, caller: CallerTurns, { isQuick }: Turn): boolean {
    if (isQuick) return true;
    return turns.slow < this.#size - this.#spare && caller.slow < this.#size - 2 * this.#spare;
  }

  #start(turns: RoleTurns, caller: CallerTurns, turn: Turn): void {
    beginUnpaused();
    this.#held += 1;
    count(turns, caller, turn, 1);
    this.#turnNumber += 1;
    caller.lastTurn = this.#turnNumber;
    turn.startedAt = this.#now();
  }

  #startNext(): void {
    let next: RoleTurns | null = null;
    let place = 0;
    for (const turns of this.#waitingRoles) {
      if (next !== null && turns.held >= next.held) continue;
      const at = this.#nextOf(turns);
      if (at !== -1) [next, place] = [turns, at];
    }
    if (next === null) return;
    const { turn, caller, start } = this.#remove(next, place);
    this.#start(next, caller, turn);
    start();
  }

  /** Whose turn it is within a role; -1: nobody may start. */
  #nextOf(turns: RoleTurns): number {
    let next: CallerTurns | null = null;
    let place = -1;
    for (const [at, { turn, caller }] of turns.waiting.entries()) {
      const isSooner =
        next === null || caller.held < next.held || (caller.held === next.held && caller.lastTurn < next.lastTurn);
      if (isSooner && this.#mayStart(turns, caller, turn)) [next, place] = [caller, at];
    }
    return place;
  }

  #add(waiter: Waiter): void {
    const { turn, caller } = waiter;
    const turns = this.#turnsOf(turn.role);
    turn.startedAt = this.#now();
    turns.waiting.push(waiter);
    caller.waiting += 1;
    this.#waitingRoles.add(turns);
    if (this.#waiting === 0) {
      this.#lastTurn = turn.startedAt;
      this.#idleAt = this.#idleNow();
      this.#turnMs = 0;
      this.#turns = 0;
    }
    this.#waiting += 1;
  }

  /** Puts its role behind the others. */
  #remove(turns: RoleTurns, at: number): Waiter {
    const [waiter] = turns.waiting.splice(at, 1) as [Waiter];
    waiter.timer?.clear();
    waiter.caller.waiting -= 1;
    this.#waiting -= 1;
    this.#waitingRoles.delete(turns);
    if (turns.waiting.length > 0) this.#waitingRoles.add(turns);
    return waiter;
  }
}

/** Counts a turn that begins or ends. */
function count(turns: RoleTurns, caller: CallerTurns, { isQuick }: Turn, change: 1 | -1): void {
  for (const each of [turns, caller]) {
    each.held += change;
    if (!isQuick) each.slow += change;
  }
}

function callerIn({ callers }: RoleTurns, { caller }: Turn): CallerTurns {
  let turns = callers.get(caller);
  if (turns === undefined) {
    turns = { held: 0, slow: 0, waiting: 0, lastTurn: 0 };
    callers.set(caller, turns);
  }
  return turns;
}

/** There are as many callers as there are users. */
function forgetIdle({ callers }: RoleTurns, { held, waiting }: CallerTurns, { caller }: Turn): void {
  if (held === 0 && waiting === 0) callers.delete(caller);
}

/** Time that this thread's event loop has spent waiting, in milliseconds since it began. */
export function loopIdleMs(): number {
  return performance.nodeTiming.idleTime;
}

function overloaded(primary: string): DatabaseError {
  return new DatabaseError({ kind: 'overloaded', primary });
}
