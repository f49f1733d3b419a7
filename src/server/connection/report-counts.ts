/** Reports an event that happens many times a second once, with its count. */

/** @returns A function that counts one event. */
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
