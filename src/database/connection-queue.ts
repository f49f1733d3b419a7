/**
 * Decides which request gets the next connection of a pool, and refuses those that would wait too long.
 *
 * Fair queuing: roles take turns, because a role is what an operator sets limits for, and within a role its callers do. A connection
 * goes to the role that holds the fewest, and of several to the one that had its turn longest ago; likewise to the caller within the
 * role, whose requests are served in the order in which they came. One connection is also kept from the statements of a role that are
 * not known to be quick, and one more from those of a single caller: a slow query for each connection would lock everybody else out.
 *
 * Refused on arrival, when that costs nothing yet: requests whose expected wait is longer than allowed. As in CoDel, a queue
 * may be long in a burst, but one that has not been empty for a while only makes everybody late, and is kept short.
 */
import { afterReading } from '../shared/after-reading.ts';
import { DatabaseError } from './failure.ts';

/** One who wants a connection for a while. */
export interface Turn {
  readonly role: string;
  /** The user, or the network that a caller without a user comes from. */
  readonly caller: string;
  /** Its statements are known to be quick. */
  readonly isQuick: boolean;
  /** When it got its connection; kept by the queue. */
  startedAt: number;
}

/** Size of the pool, and patience. */
export interface ConnectionQueueOptions {
  readonly size: number;
  /** Longest wait, in milliseconds; 0: no limit. */
  readonly waitMs: number;
  /** Milliseconds since any moment; `performance.now` by default. */
  readonly now?: () => number;
}

/** A pool with fewer connections keeps none back. */
const smallestSizeWithSpare = 5;
/** Share of the longest wait: a queue that has not been empty for this long admits only requests that wait no longer than this. */
const targetShare = 1 / 5;
/** How fast the expectation follows the measured turns, once there are enough of them for a mean. */
const shareOfLast = 0.05;

/** What a role holds and waits for. */
interface RoleTurns {
  held: number;
  /** Of those held, the ones not known to be quick. */
  slow: number;
  /** In the order in which they came. */
  readonly waiting: Waiter[];
  /** Those who hold or wait. */
  readonly callers: Map<string, CallerTurns>;
}

/** What one caller of a role holds and waits for. */
interface CallerTurns {
  held: number;
  slow: number;
  waiting: number;
  /** Number of the turn that it had last; 0: none. */
  lastTurn: number;
}

interface Waiter {
  readonly turn: Turn;
  readonly caller: CallerTurns;
  readonly timer: { clear(): void } | null;
  readonly start: () => void;
  readonly refuse: (problem: DatabaseError) => void;
}

/** The queue of one pool. */
export class ConnectionQueue {
  readonly #size: number;
  readonly #waitMs: number;
  readonly #now: () => number;
  /** Most connections that a role may hold with statements not known to be quick. */
  readonly #mostSlow: number;
  /** The same for one caller of a role. */
  readonly #mostSlowOfCaller: number;
  #turnNumber = 0;
  /** By name; roles of the database only, so there are not many. */
  readonly #roles = new Map<string, RoleTurns>();
  /** Those in which somebody waits; whose turn was longest ago comes first. */
  readonly #waitingRoles = new Set<RoleTurns>();
  #held = 0;
  #waiting = 0;
  /** End of the last turn since somebody waits. */
  #lastTurn = 0;
  /** Mean length of a turn since then in milliseconds, and their number. */
  #turnMs = 0;
  #turns = 0;
  /** The last time when nobody waited. */
  #emptyAt = 0;

  constructor({ size, waitMs, now = () => performance.now() }: ConnectionQueueOptions) {
    this.#size = size;
    this.#waitMs = waitMs === 0 ? Number.POSITIVE_INFINITY : waitMs;
    this.#now = now;
    this.#mostSlow = size < smallestSizeWithSpare ? size : size - 1;
    this.#mostSlowOfCaller = size < smallestSizeWithSpare ? size : size - 2;
  }

  /** Number of those who wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether this caller of a role would get a connection in time, as far as can be known. */
  admits(role: string, caller: string): boolean {
    if (this.#waiting === 0) return true;
    const own = this.#roles.get(role);
    // The next one of its role, whoever else waits.
    if (own === undefined || own.waiting.length === 0) return true;
    const waiting = own.callers.get(caller)?.waiting ?? 0;
    let ahead = 0;
    for (const other of own.callers.values()) ahead += Math.min(other.waiting, waiting + 1);
    const ofRole = ahead;
    for (const other of this.#waitingRoles) if (other !== own) ahead += Math.min(other.waiting.length, ofRole + 1);
    const now = this.#now();
    // Never shorter than one turn of each connection: none is idle for it, also while the whole process is slow.
    const targetMs = Math.max(this.#waitMs * targetShare, this.#turnMs);
    const allowedMs = now - this.#emptyAt > targetMs ? Math.min(targetMs, this.#waitMs) : this.#waitMs;
    const expectedMs = ((ahead + 1) * this.#turnMs) / this.#size;
    return expectedMs <= allowedMs && now - this.#lastTurn <= this.#waitMs;
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
    this.#held -= 1;
    for (const each of [turns, caller]) {
      each.held -= 1;
      if (!turn.isQuick) each.slow -= 1;
    }
    forgetIdle(turns, caller, turn);
    if (this.#waiting === 0) return;
    this.#noteTurn(turn, this.#now());
    this.#startNext();
  }

  #startTimer(turn: Turn): { clear(): void } | null {
    if (this.#waitMs === Number.POSITIVE_INFINITY) return null;
    const problem = `No database connection became free within ${this.#waitMs} ms.`;
    return afterReading(this.#waitMs, () => this.withdraw(turn, overloaded(problem)));
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
    return isQuick || (turns.slow < this.#mostSlow && caller.slow < this.#mostSlowOfCaller);
  }

  #start(turns: RoleTurns, caller: CallerTurns, turn: Turn): void {
    this.#held += 1;
    for (const each of [turns, caller]) {
      each.held += 1;
      if (!turn.isQuick) each.slow += 1;
    }
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
      if (at === -1) continue;
      [next, place] = [turns, at];
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
    const turns = this.#turnsOf(waiter.turn.role);
    turns.waiting.push(waiter);
    waiter.caller.waiting += 1;
    this.#waitingRoles.add(turns);
    if (this.#waiting === 0) {
      this.#emptyAt = this.#now();
      this.#lastTurn = this.#emptyAt;
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

  #noteTurn({ startedAt }: Turn, now: number): void {
    this.#turns += 1;
    this.#turnMs += (now - startedAt - this.#turnMs) * Math.max(shareOfLast, 1 / this.#turns);
    this.#lastTurn = now;
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

function overloaded(primary: string): DatabaseError {
  return new DatabaseError({ kind: 'overloaded', primary });
}
