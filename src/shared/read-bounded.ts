/**
 * Reads the answer of somebody else's server, who must not be able to fill the memory.
 */

/** The answer is larger than was allowed; the rest was not read. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/**
 * Reads a body.
 *
 * @param maxBytes Counted after decompression: what is small on the way may be large here.
 * @throws TooLargeError; what the network throws.
 */
export async function readBounded({ body }: Response, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop ends the connection.
    if (size > maxBytes) throw new TooLargeError(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
