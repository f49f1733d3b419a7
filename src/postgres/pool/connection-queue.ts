/**
 * Who gets the next connection of a pool, and who is told at once that the wait would be too long.
 *
 * Fair between roles, because a role is what an operator sets limits for, and within a role between its callers: a connection
 * goes to the role that waits and holds the fewest, and of several to the one that had its turn longest ago; likewise to the caller
 * within the role, whose requests are served in the order in which they came. So nobody waits for the queue of somebody else. One
 * connection is also kept from the statements of a role that are not known to be quick, and one more from those of a single caller:
 * else one slow query for each connection would lock everybody else out.
 *
 * Nobody is let in to wait in vain. How long a turn takes is measured while somebody waits, and who would wait longer than
 * allowed is refused on arrival, when that costs nothing yet. A queue that grows and grows does not absorb a burst, it only
 * makes everybody late, and somebody has to be refused anyway: then it is kept short. One that is long and stays as it is
 * does no harm: so many clients wait for their answers before they ask again. They may come in waves, after the machine was busy
 * with something else, so a queue that is no longer than usual is no overload.
 *
 * A queue that is just kept short once it has not been empty for a fifth of the longest wait was tried (`bench --overload`): where
 * the gateway is the bottleneck it refused nine of ten requests at the rate of the peak. Turns look long there, since their ends are read late.
 */
import { type AwakeTimer, afterAwake, awakeNow, beginAwake, endAwake } from '../../shared/awake.ts';
import { DatabaseError } from '../failure.ts';

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
  /** Longest wait, in milliseconds; 0: there is no limit. A pause of the whole process is nobody's wait. */
  readonly waitMs: number;
  /** Milliseconds since any moment, by which turns are measured; awake ones unless told. */
  readonly now?: () => number;
}

/** A pool with fewer connections keeps none back. */
const smallestSizeWithSpare = 5;
/**
 * Share of the longest wait after which the queue is looked at again, or a turn where that is longer, and after no fewer turns
 * than there are connections: while the first clients come and connections are opened, it has to grow.
 */
const lookShare = 1 / 100;
/** By how much it has grown, if it has. One that is neither that nor shorter after `calmLooks` stays as it is. */
const growth = 1.1;
/**
 * Grown so many times in a row, to where one would wait for so many looks and so many times as many wait as usual, it is
 * overloaded, until nobody was refused for `restLooks`: longer than a busy machine keeps the process from refusing. Clients that wait
 * for their answers all come within a moment when they begin, or when the machine was busy, but there are no more of them.
 */
const overloadGrowths = 3;
const overloadLength = 3;
const overloadLooks = 10;
const restLooks = 40;
const calmLooks = 10;
/**
 * What the queue is kept to then: what is served until the next look, or a turn of each connection and so many more, or what was
 * usual before, which is forgotten by this share with each look.
 */
const overloadSpare = 2;
const forgetting = 0.005;
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
  readonly timer: AwakeTimer | null;
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
  #lookedAt = Number.NEGATIVE_INFINITY;
  #turnsSinceLook = 0;
  /** The last look that could tell: when, how many waited, and how many in a row found more than the one before. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #seen = 0;
  #grown = 0;
  /** So many waited when it did not grow. */
  #usual = 0;
  /** It is kept short until then. */
  #overloadUntil = Number.NEGATIVE_INFINITY;

  constructor({ size, waitMs, now = awakeNow }: ConnectionQueueOptions) {
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
    const expectedMs = ((ahead + 1) * this.#turnMs) / this.#size;
    this.#look(now, expectedMs);
    const isOverload = now < this.#overloadUntil;
    const isInTime =
      expectedMs <= (isOverload ? this.#shortMs() : this.#waitMs) && now - this.#lastTurn <= this.#waitMs;
    if (isOverload && !isInTime) this.#overloadUntil = now + restLooks * this.#lookMs();
    return isInTime;
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
    endAwake();
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

  #startTimer(turn: Turn): AwakeTimer | null {
    if (this.#waitMs === Number.POSITIVE_INFINITY) return null;
    const problem = `No database connection became free within ${this.#waitMs} ms.`;
    return afterAwake(this.#waitMs, () => this.withdraw(turn, overloaded(problem)));
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
    beginAwake();
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
      this.#lastTurn = this.#now();
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
    this.#turnsSinceLook += 1;
    this.#turnMs += (now - startedAt - this.#turnMs) * Math.max(shareOfLast, 1 / this.#turns);
    this.#lastTurn = now;
  }

  #shortMs(): number {
    const most = Math.max(this.#size + overloadSpare, this.#usual * growth);
    return Math.min(this.#waitMs, Math.max(this.#waitMs * lookShare, (this.#turnMs * most) / this.#size));
  }

  #lookMs(): number {
    return Math.max(this.#waitMs * lookShare, this.#turnMs);
  }

  #look(now: number, expectedMs: number): void {
    const lookMs = this.#lookMs();
    if (now - this.#lookedAt < lookMs || this.#turnsSinceLook < this.#size) return;
    this.#lookedAt = now;
    this.#turnsSinceLook = 0;
    const [waiting, seen] = [this.#waiting, this.#seen];
    const isRecent = now - this.#seenAt < calmLooks * lookMs;
    if (isRecent && waiting >= seen && waiting <= seen * growth) return;
    this.#grown = isRecent && waiting > seen ? this.#grown + 1 : 0;
    this.#usual *= 1 - forgetting;
    if (this.#grown === 0 && now >= this.#overloadUntil) this.#usual = Math.max(this.#usual, seen);
    this.#seenAt = now;
    this.#seen = waiting;
    const isLong = expectedMs > overloadLooks * lookMs && waiting > overloadLength * this.#usual;
    const isOverload = this.#grown >= overloadGrowths && isLong;
    if (isOverload) this.#overloadUntil = now + restLooks * lookMs;
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
