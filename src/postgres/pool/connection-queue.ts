/**
 * The queue for a pool's connections: which request gets the next one, and which is refused on arrival because it would
 * wait too long (`admits`). Figures: `npm run bench -- --overload`, test/bench/results.md.
 *
 * Fair between roles, because operators set limits per role, then between callers of a role: first the one that holds
 * the fewest connections, then the one served longest ago. Statements not known to be quick leave one connection free per
 * role and one more per caller. One limit of the wait, as in CoDel, did not suffice: turns look long where the gateway is
 * the bottleneck, and at the rate of the peak 0.09 of the reads of one row were answered instead of 1.00.
 */
import { performance } from 'node:perf_hooks';
import { DatabaseError } from '../database-error.ts';
import { afterUnpaused, beginUnpaused, endUnpaused, type UnpausedTimer, unpausedNow } from '../wire/unpaused-clock.ts';

/** A request for a connection, until it is released. */
export interface Turn {
  readonly role: string;
  /** One of those whom the queue treats equally: the user, or the network of a caller without a user. */
  readonly caller: string;
  /** Its statements are known to be quick. */
  readonly isQuick: boolean;
  /** Start of its wait, then of its use of the connection; set by the queue. */
  startedAt: number;
}

interface ConnectionQueueOptions {
  readonly size: number;
  /** Longest wait in milliseconds; 0: no limit. A pause of the whole process does not count. */
  readonly waitMs: number;
  /** Clock for measuring turns, in milliseconds; default: unpaused time. */
  readonly now?: () => number;
  /** The part of that time in which the process was idle. */
  readonly idleNow?: () => number;
}

/** Pools with fewer connections reserve none. */
const smallestSizeWithSpare = 5;
/**
 * Share of the longest wait: how long a role's first request may wait in a burst, and the longest wait in a queue older
 * than that.
 */
const burstShare = 1 / 9;
const overloadShare = 1 / 6;
/** Idle share of a process that only waits for the database. A process below it is late by itself. */
const idleShare = 1 / 10;
/** Weight of the last turn in the mean, once there are enough turns. */
const shareOfLast = 0.05;

/** What a role or caller holds. */
interface Held {
  held: number;
  /** Those of them not known to be quick. */
  slow: number;
}

interface RoleTurns extends Held {
  /** In order of arrival. */
  readonly waiting: Waiter[];
  /** Callers that hold or wait. */
  readonly callers: Map<string, CallerTurns>;
}

interface CallerTurns extends Held {
  waiting: number;
  /** Number of its last turn; 0: none. */
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
  /** Reserved connections; otherwise one slow query per connection would block all others. */
  readonly #spare: number;
  /** By name. Only roles of the database, so there are few. */
  readonly #roles = new Map<string, RoleTurns>();
  /** Roles with waiting requests; the one served longest ago comes first. */
  readonly #waitingRoles = new Set<RoleTurns>();
  #turnNumber = 0;
  #held = 0;
  #waiting = 0;
  /** End of the last turn since requests have been waiting. */
  #lastTurn = 0;
  /** Mean length of a turn since then in milliseconds, and their number. */
  #turnMs = 0;
  #turns = 0;
  readonly #idleNow: () => number;
  #idleAt = 0;
  /** Mean time between the ends of two turns. */
  #passedMs = 0;
  #idleMs = 0;

  constructor({ size, waitMs, now = unpausedNow, idleNow = loopIdleMs }: ConnectionQueueOptions) {
    this.#size = size;
    this.#waitMs = waitMs === 0 ? Number.POSITIVE_INFINITY : waitMs;
    this.#now = now;
    this.#idleNow = idleNow;
    this.#spare = size < smallestSizeWithSpare ? 0 : 1;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Whether a request of this caller would probably get a connection in time: turns ahead of it times the mean turn,
   * divided by the connections (Little's law). In a burst the wait may reach the limit. Once the role's first request
   * has waited longer than a burst, only a share of it: a queue that stays long serves no request sooner. Does not
   * refuse while this process is hardly idle: turns then seem long because their ends are read late, and a refusal
   * costs half of an answer.
   */
  admits(role: string, caller: string): boolean {
    const own = this.#roles.get(role);
    // The role's next request is admitted, whatever else waits.
    if (own === undefined || own.waiting.length === 0) return true;
    const now = this.#now();
    const ahead = this.#ahead(own, caller);
    const expectedMs = ((ahead + 1) * this.#turnMs) / this.#size;
    if (expectedMs > this.#waitMs || now - this.#lastTurn > this.#waitMs) return false;
    // Longer than each connection's next turn, and caused by the database.
    const isLong =
      ahead >= this.#size && expectedMs > this.#waitMs * overloadShare && this.#idleMs > this.#passedMs * idleShare;
    return !isLong || now - own.waiting[0]!.turn.startedAt <= this.#waitMs * burstShare;
  }

  /** Takes a connection if one is free for this turn; call `leave` afterwards. */
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
   * Waits for a connection and takes it; call `leave` afterwards.
   *
   * @throws DatabaseError `overloaded`, immediately if the wait would be too long, or when it was.
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

  /** Ends a turn's wait with this error. Ignores a turn that does not wait. */
  withdraw(turn: Turn, reason: DatabaseError): void {
    const turns = this.#turnsOf(turn.role);
    const at = turns.waiting.findIndex((waiter) => waiter.turn === turn);
    if (at === -1) return;
    const waiter = this.#remove(turns, at);
    forgetIdle(turns, waiter.caller, turn);
    waiter.refuse(reason);
  }

  /** Restarts a turn's time, because its connection had to be opened first. */
  restart(turn: Turn): void {
    turn.startedAt = this.#now();
  }

  /** Releases a connection and gives it to the next waiting turn. */
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

  /** Turns ahead of this caller's next one. */
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
    // Behind the other roles.
    if (this.#waitingRoles.delete(next) && next.waiting.length > 0) this.#waitingRoles.add(next);
    this.#start(next, caller, turn);
    start();
  }

  /** Index of the role's next turn; -1: none may start. */
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

  #remove(turns: RoleTurns, at: number): Waiter {
    const [waiter] = turns.waiting.splice(at, 1) as [Waiter];
    waiter.timer?.clear();
    waiter.caller.waiting -= 1;
    this.#waiting -= 1;
    if (turns.waiting.length === 0) this.#waitingRoles.delete(turns);
    return waiter;
  }
}

/** Counts a turn that starts or ends. */
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

/** Drops idle callers: there are as many callers as users. */
function forgetIdle({ callers }: RoleTurns, { held, waiting }: CallerTurns, { caller }: Turn): void {
  if (held === 0 && waiting === 0) callers.delete(caller);
}

/** Idle time of this thread's event loop, in milliseconds since it started. */
export function loopIdleMs(): number {
  return performance.nodeTiming.idleTime;
}

function overloaded(primary: string): DatabaseError {
  return new DatabaseError({ kind: 'overloaded', primary });
}
