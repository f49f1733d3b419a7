/** Reads a body of another program, which must not be able to fill the memory. */

/** The answer exceeds the limit; the rest was not read. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/** Reads a body. @param maxBytes After decompression. @throws TooLargeError; errors of the network. */
export async function readBounded({ body }: Pick<Response, 'body'>, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (size > maxBytes) throw new TooLargeError(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
