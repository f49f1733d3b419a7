/**
 * The queue for a pool's connections: which request gets the next one, and which is refused. A request waits until the
 * limit; one that finds the queue full is refused at once (`admits`). Figures: `npm run bench -- --overload`.
 *
 * Fair between roles, because operators set limits per role, then between callers of a role: first the one that holds
 * the fewest connections, then the one served longest ago. A role leaves one connection free, and a caller two.
 */
import { DatabaseError } from '../database-error.ts';
import { afterUnpaused, type UnpausedTimer } from '../wire/unpaused-clock.ts';

/** A request for a connection, until it is released. */
export interface Turn {
  readonly role: string;
  /** One of those whom the queue treats equally: the user, or the network of a caller without a user. */
  readonly caller: string;
}

interface ConnectionQueueOptions {
  readonly size: number;
  /** Longest wait in milliseconds; 0: no limit. A pause of the whole process does not count. */
  readonly waitMs: number;
}

/** Pools with fewer connections reserve none. */
const minSizeWithSpare = 5;
/** Requests of one role that wait, for each connection: more are served in time only where each takes milliseconds. */
const maxWaitingPerConnection = 100;

interface RoleTurns {
  held: number;
  /** In order of arrival. */
  readonly waiting: Waiter[];
  /** Callers that hold or wait. */
  readonly callers: Map<string, CallerTurns>;
}

interface CallerTurns {
  held: number;
  waiting: number;
  /** Number of its last turn. A new caller counts as served just before the latest turn, or it would pass all who wait. */
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
  /** Reserved connections; otherwise a slow query on each connection would block all others. */
  readonly #spare: number;
  /** By name. Only roles of the database, so there are few. */
  readonly #roles = new Map<string, RoleTurns>();
  /** Roles with waiting requests; the one served longest ago comes first. */
  readonly #waitingRoles = new Set<RoleTurns>();
  #turnNumber = 0;
  #held = 0;
  #waiting = 0;

  constructor({ size, waitMs }: ConnectionQueueOptions) {
    this.#size = size;
    this.#waitMs = waitMs;
    this.#spare = size < minSizeWithSpare ? 0 : 1;
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether a request of this caller may wait: its role's queue has room, or none of the caller's own waits there. */
  admits(role: string, caller: string): boolean {
    const own = this.#roles.get(role);
    if (own === undefined || own.waiting.length < this.#size * maxWaitingPerConnection) return true;
    return (own.callers.get(caller)?.waiting ?? 0) === 0;
  }

  /** Takes a connection if one is free for this turn; call `leave` afterwards. */
  take(turn: Turn): boolean {
    if (this.#held === this.#size) return false;
    const turns = this.#turnsOf(turn.role);
    const caller = this.#callerIn(turns, turn);
    const isTaken = this.#mayStart(turns, caller);
    if (isTaken) this.#start(turns, caller);
    else forgetIdle(turns, caller, turn);
    return isTaken;
  }

  /**
   * Waits for a connection and takes it; call `leave` afterwards.
   *
   * @throws DatabaseError `overloaded`, immediately if the queue is full, or when the wait was too long.
   */
  wait(turn: Turn): Promise<void> {
    if (!this.admits(turn.role, turn.caller)) {
      return Promise.reject(overloaded('Too many requests wait for a database connection.'));
    }
    return new Promise((start, refuse) => {
      const caller = this.#callerIn(this.#turnsOf(turn.role), turn);
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

  /** Releases a connection and gives it to the next waiting turn. */
  leave(turn: Turn): void {
    const turns = this.#turnsOf(turn.role);
    const caller = this.#callerIn(turns, turn);
    this.#held -= 1;
    turns.held -= 1;
    caller.held -= 1;
    forgetIdle(turns, caller, turn);
    if (this.#waiting > 0) this.#startNext();
  }

  #startTimer(turn: Turn): UnpausedTimer | null {
    if (this.#waitMs === 0) return null;
    const problem = `No database connection became free within ${this.#waitMs} ms.`;
    return afterUnpaused(this.#waitMs, () => this.withdraw(turn, overloaded(problem)));
  }

  #turnsOf(role: string): RoleTurns {
    let turns = this.#roles.get(role);
    if (turns === undefined) {
      turns = { held: 0, waiting: [], callers: new Map() };
      this.#roles.set(role, turns);
    }
    return turns;
  }

  #callerIn({ callers }: RoleTurns, { caller }: Turn): CallerTurns {
    let turns = callers.get(caller);
    if (turns === undefined) {
      turns = { held: 0, waiting: 0, lastTurn: this.#turnNumber - 0.5 };
      callers.set(caller, turns);
    }
    return turns;
  }

  #mayStart(turns: RoleTurns, caller: CallerTurns): boolean {
    return turns.held < this.#size - this.#spare && caller.held < this.#size - 2 * this.#spare;
  }

  #start(turns: RoleTurns, caller: CallerTurns): void {
    this.#held += 1;
    turns.held += 1;
    caller.held += 1;
    this.#turnNumber += 1;
    caller.lastTurn = this.#turnNumber;
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
    const { caller, start } = this.#remove(next, place);
    // Behind the other roles.
    if (this.#waitingRoles.delete(next) && next.waiting.length > 0) this.#waitingRoles.add(next);
    this.#start(next, caller);
    start();
  }

  /** Index of the role's next turn; -1: none may start. */
  #nextOf(turns: RoleTurns): number {
    let next: CallerTurns | null = null;
    let place = -1;
    for (const [at, { caller }] of turns.waiting.entries()) {
      const isSooner =
        next === null || caller.held < next.held || (caller.held === next.held && caller.lastTurn < next.lastTurn);
      if (isSooner && this.#mayStart(turns, caller)) [next, place] = [caller, at];
    }
    return place;
  }

  #add(waiter: Waiter): void {
    const { turn, caller } = waiter;
    const turns = this.#turnsOf(turn.role);
    turns.waiting.push(waiter);
    caller.waiting += 1;
    this.#waitingRoles.add(turns);
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

/** Drops idle callers: there are as many callers as users. */
function forgetIdle({ callers }: RoleTurns, { held, waiting }: CallerTurns, { caller }: Turn): void {
  if (held === 0 && waiting === 0) callers.delete(caller);
}

function overloaded(primary: string): DatabaseError {
  return new DatabaseError({ kind: 'overloaded', primary });
}
