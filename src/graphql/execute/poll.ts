/** Repeats a check at an interval, and less often if it is slow. */

/** Largest share of time that the check may take. */
const pollShare = 0.05;

/**
 * Starts after one interval. A failed check counts as one without a result; the next one retries.
 *
 * @param check Resolves to the time that the comparison took, in ms; waiting and reloading do not delay the next one.
 * @returns Stops it; a running check finishes.
 */
export function pollAtInterval(check: () => Promise<number>, intervalMs: number): () => void {
  let timer: NodeJS.Timeout | null = null;
  let ended = false;

  function schedule(delayMs: number): void {
    if (ended) return;
    timer = setTimeout(async () => {
      const began = performance.now();
      const tookMs = await check().catch(() => performance.now() - began);
      schedule(Math.max(intervalMs, tookMs / pollShare));
    }, delayMs);
    timer.unref();
  }

  schedule(intervalMs);
  return () => {
    ended = true;
    if (timer !== null) clearTimeout(timer);
  };
}
