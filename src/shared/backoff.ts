/** Pauses between attempts that fail: each twice as long as the one before it, up to a longest one. */

/** Makes the pauses, in milliseconds. @returns The pause after so many failures in a row; none after 0. */
export function backoff(firstMs: number, maxMs: number): (failures: number) => number {
  return (failures) => (failures === 0 ? 0 : Math.min(maxMs, firstMs * 2 ** (failures - 1)));
}
