/** Splits pieces of bytes into lines. */

/**
 * Lines without their line feed. They end only with one: JSON may contain other separators.
 *
 * @param input Pieces, split anywhere.
 * @param maxBytes Longest line. @throws RangeError for a longer one, as soon as that is known
 */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  maxBytes: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const add = (piece: Uint8Array) => {
    pieces.push(piece);
    length += piece.length;
    if (length > maxBytes) throw new RangeError(`has more than ${maxBytes} bytes`);
  };
  for await (const bytes of input) {
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      add(bytes.subarray(start, end));
      yield Buffer.concat(pieces);
      [pieces, length, start] = [[], 0, end + 1];
    }
    add(bytes.subarray(start));
  }
  if (length > 0) yield Buffer.concat(pieces);
}
