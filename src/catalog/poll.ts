/**
 * Runs a check again and again: at an interval, and seldom enough that a slow one takes little of the time.
 */

/** Share of the time that the check may take. */
const pollShare = 0.05;

/**
 * Begins after one interval. A check that fails is as good as one that found nothing; the next one tries again.
 *
 * @returns What ends it; a check that is under way ends by itself.
 */
export function pollAtInterval(check: () => Promise<unknown>, intervalMs: number): () => void {
  let timer: NodeJS.Timeout | null = null;
  let ended = false;

  function schedule(delayMs: number): void {
    if (ended) return;
    timer = setTimeout(async () => {
      const began = performance.now();
      await check().catch(() => {});
      const tookMs = performance.now() - began;
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
