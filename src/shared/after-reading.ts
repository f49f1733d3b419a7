/**
 * A timer that lets the process read first what has arrived: after a pause of the whole process, timers are due before the
 * answers that came meanwhile have been read.
 */

/** Calls after so many milliseconds, unless it was cleared; does not keep the process alive. */
export function afterReading(delayMs: number, call: () => void): { clear(): void } {
  let isOver = false;
  const callUnlessOver = () => {
    if (!isOver) call();
  };
  const timer = setTimeout(() => setImmediate(callUnlessOver), delayMs).unref();
  return {
    clear() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
