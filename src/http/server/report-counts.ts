/**
 * Tells of what happens many times within a second once, with how often it was.
 */

/** @returns Counts one more. */
export function reportCounts(report: (count: number) => void): () => void {
  let count = 0;
  return () => {
    if (count === 0) {
      setTimeout(() => {
        report(count);
        count = 0;
      }, 1000).unref();
    }
    count += 1;
  };
}
