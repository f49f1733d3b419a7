/**
 * Pauses between attempts that fail: each twice as long as the one before it, up to a longest one.
 */

/**
 * Makes the pauses, in milliseconds.
 *
 * @returns The pause after so many failures in a row; none after 0.
 */
export function backoff(firstMs: number, longestMs: number): (failures: number) => number {
  return (failures) => (failures === 0 ? 0 : Math.min(longestMs, firstMs * 2 ** (failures - 1)));
}
