/**
 * A clock that stands still while the whole process is paused: stopped, starved of CPU time, or blocked in its own event
 * loop. For limits on waiting for others: after a pause everything seems late, though it may only not have been read yet.
 *
 * By the usual clock, tests of the queue and the pool fail: after a pause of 600 ms, a request that may wait 500 ms is
 * refused though its connection is free; after 1,100 ms, a database that has 1,000 ms to answer counts as unreachable.
 */

/** Interval of the measurement in milliseconds, and the most that one interval counts: the rest was a pause. */
const lookMs = 50;
const maxMs = 100;

let unpausedMs = 0;
let lookedAt = performance.now();
let users = 0;
/** Null while unused: then all time counts. */
let timer: NodeJS.Timeout | null = null;

/** Milliseconds from an arbitrary start; compare only values between `beginUnpaused` and its `endUnpaused`. */
export function unpausedNow(): number {
  const passedMs = performance.now() - lookedAt;
  return unpausedMs + (timer === null ? passedMs : Math.min(passedMs, maxMs));
}

/** Starts measuring; calls are counted. */
export function beginUnpaused(): void {
  users += 1;
  if (timer !== null) return;
  look();
  timer = setInterval(look, lookMs).unref();
}

/** Ends one `beginUnpaused`. */
export function endUnpaused(): void {
  users -= 1;
}

function look(): void {
  unpausedMs = unpausedNow();
  lookedAt = performance.now();
  if (users > 0 || timer === null) return;
  clearInterval(timer);
  timer = null;
}

/** A timer of unpaused time. */
export interface UnpausedTimer {
  clear(): void;
}

/** Calls back after that much unpaused time in milliseconds; does not keep the process alive. */
export function afterUnpaused(delayMs: number, call: () => void): UnpausedTimer {
  beginUnpaused();
  const end = unpausedNow() + delayMs;
  let waiting = setTimeout(check, delayMs).unref();
  let isOver = false;
  function clear(): void {
    if (!isOver) endUnpaused();
    isOver = true;
    clearTimeout(waiting);
  }
  function check(): void {
    const leftMs = end - unpausedNow();
    if (leftMs >= 1) {
      waiting = setTimeout(check, leftMs).unref();
      return;
    }
    clear();
    call();
  }
  return { clear };
}
