/**
 * Whether mutations gain by sharing a flight: only where a commit is quick.
 *
 * Commits that wait for a disk wait together when they are on several connections; behind each other on one, each waits for
 * itself. How long one takes cannot be seen from here, where it is read late by a busy process, so the server tells: in some of
 * the shared flights each transaction begins with the time of the server's clock.
 */

/** A statement for the time, in seconds; microseconds count. */
export const serverTime = 'select extract(epoch from pg_catalog.clock_timestamp())';

/** In milliseconds, of a small write with its commit. Without a disk it takes about 0.1. */
const quickMs = 0.3;
/** It is judged by the median of so many, which neither a busy processor nor a commit that finds its work done by another decides. */
const enough = 15;
/** Of the shared flights, one in so many tells once there are enough. */
const tellingShare = 16;
/** So many mutations fly alone before it is looked at again; each time twice as many. */
const firstRest = 1000;
const longestRest = 100_000;

/** What is known of the commits of one pool. */
export class CommitPace {
  #times: number[] = [];
  #untold = 0;
  #resting = 0;
  #nextRest = firstRest;

  /** Whether a mutation may share; asked once for each. */
  mayShare(): boolean {
    if (this.#resting === 0) return true;
    this.#resting -= 1;
    return false;
  }

  /** Whether the server shall tell in the next shared flight. */
  wantsTimes(): boolean {
    this.#untold += 1;
    return this.#times.length < enough || this.#untold % tellingShare === 0;
  }

  /** Notes from the beginning of a mutation to the beginning of what came right behind it, in milliseconds. */
  note(ms: number): void {
    this.#times.push(ms);
    if (this.#times.length < enough) return;
    if (this.#times.length > enough) this.#times.shift();
    const median = this.#times.toSorted((a, b) => a - b)[enough >> 1]!;
    if (median <= quickMs) {
      this.#nextRest = firstRest;
      return;
    }
    this.#resting = this.#nextRest;
    this.#nextRest = Math.min(2 * this.#nextRest, longestRest);
    this.#times = [];
  }
}
