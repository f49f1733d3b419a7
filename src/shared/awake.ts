/**
 * Time that this process has been at work or could have been: it passes as time does, but stands still where the whole process
 * did, because it was stopped, or because the machine had no time for it or it had none for its events.
 *
 * For waits that somebody else is blamed for. After such a pause everything seems to be late, though it may have come long ago and
 * only was not read.
 */

/** Milliseconds between two looks at the time, and the most that counts between them: what is more was a pause. */
const lookMs = 50;
const mostMs = 100;

let awakeMs = 0;
let lookedAt = performance.now();
let users = 0;
/** Null where nobody measures: then all time counts. */
let timer: NodeJS.Timeout | null = null;

/** Milliseconds since any moment; to be compared between `beginAwake` and its `endAwake`. */
export function awakeNow(): number {
  const passedMs = performance.now() - lookedAt;
  return awakeMs + (timer === null ? passedMs : Math.min(passedMs, mostMs));
}

/** Somebody measures from now on. */
export function beginAwake(): void {
  users += 1;
  if (timer !== null) return;
  look();
  timer = setInterval(look, lookMs).unref();
}

/** Who began to measure has ended. */
export function endAwake(): void {
  users -= 1;
}

function look(): void {
  awakeMs = awakeNow();
  lookedAt = performance.now();
  if (users > 0 || timer === null) return;
  clearInterval(timer);
  timer = null;
}

/** A timer of awake time. */
export interface AwakeTimer {
  clear(): void;
}

/** Calls when so many milliseconds of awake time have passed; does not keep the process alive. */
export function afterAwake(delayMs: number, call: () => void): AwakeTimer {
  beginAwake();
  const end = awakeNow() + delayMs;
  let waiting = setTimeout(check, delayMs).unref();
  let isOver = false;
  function clear(): void {
    if (!isOver) endAwake();
    isOver = true;
    clearTimeout(waiting);
  }
  function check(): void {
    const leftMs = end - awakeNow();
    if (leftMs >= 1) {
      waiting = setTimeout(check, leftMs).unref();
      return;
    }
    clear();
    call();
  }
  return { clear };
}
