/**
 * Copies bytes that are kept for long.
 *
 * Node cuts short buffers from shared 64 KiB pools, and one buffer keeps its whole pool alive. Measured with ten
 * thousand cached operations: 90 MB for 3 MB of bytes.
 */

/** The same bytes in memory of their own. */
export function keepBytes(pieces: readonly Uint8Array[]): readonly Buffer[] {
  const kept = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  return pieces.map((piece) => {
    const start = at;
    kept.set(piece, start);
    at += piece.length;
    return kept.subarray(start, at);
  });
}
