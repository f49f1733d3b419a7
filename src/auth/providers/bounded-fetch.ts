/**
 * `fetch` towards providers, with limits: somebody else's server must not be able to hold a request up or to fill the memory.
 */

/** Limits of one request. */
export interface FetchLimits {
  readonly timeoutMs: number;
  /** After decompression. */
  readonly maxBytes: number;
}

/** What limits requests to providers: far more than keys, tokens and claims take. */
export const providerLimits: FetchLimits = { timeoutMs: 5000, maxBytes: 262_144 };

/**
 * Makes a `fetch` that gives up after the time, does not read on after the size, and follows no redirect: a provider must not
 * choose other machines for us to call.
 */
export function createBoundedFetch({ timeoutMs, maxBytes }: FetchLimits): typeof fetch {
  return async (input, init = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    const response = await fetch(input, { ...init, signal, redirect: 'manual' });
    const { status, statusText, headers } = response;
    return new Response(await readBytes(response, maxBytes), { status, statusText, headers });
  };
}

async function readBytes(response: Response, maxBytes: number): Promise<Buffer<ArrayBuffer> | null> {
  if (response.body === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`The provider's answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
