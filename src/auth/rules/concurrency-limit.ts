/** Limits how many jobs run at once; the others wait, first come first served. */
import type { AuthError } from '../model/auth-error.ts';

/** Runs `run` when its turn comes, not after the deadline. @param deadline In terms of `performance.now()`. */
export type ConcurrencyLimit = <T>(run: () => Promise<T>, deadline: number) => Promise<T>;

/**
 * Makes the queue.
 *
 * @param refuse Makes the error for a job whose turn does not come in time.
 * @param maxWaitMs Longest wait for a turn; 0: until the deadline.
 */
export function createConcurrencyLimit(
  concurrency: number,
  refuse: () => AuthError,
  maxWaitMs: number = 0,
): ConcurrencyLimit {
  const waiting = new Set<() => void>();
  let running = 0;
  const wait = (untilMs: number) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        waiting.delete(begin);
        reject(refuse());
      };
      const timer = Number.isFinite(untilMs) ? setTimeout(giveUp, Math.max(0, untilMs)) : undefined;
      waiting.add(begin);
    });
  return async (run, deadline) => {
    const leftMs = deadline - performance.now();
    if (running < concurrency) running += 1;
    else await wait(maxWaitMs === 0 ? leftMs : Math.min(leftMs, maxWaitMs));
    try {
      if (performance.now() > deadline) throw refuse();
      return await run();
    } finally {
      const [next] = waiting;
      // Hand the slot to the next waiter, so that a new job cannot take it first.
      if (next === undefined) running -= 1;
      else {
        waiting.delete(next);
        next();
      }
    }
  };
}
