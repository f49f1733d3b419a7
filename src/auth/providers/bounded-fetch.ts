/**
 * `fetch` for providers, with limits: a remote server must not hold up a request or fill the memory.
 */
import { readBounded } from '../../shared/read-bounded.ts';

/** Limits of requests to providers: far above the size of keys, tokens and claims, counted after decompression. */
export const providerLimits = { timeoutMs: 5000, maxBytes: 262_144 };

/**
 * Makes a `fetch` with a timeout and a size limit that follows no redirect: a provider must not choose other hosts for
 * us to call.
 */
export function createBoundedFetch({ timeoutMs, maxBytes }: typeof providerLimits, send: typeof fetch): typeof fetch {
  return async (input, init = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      const response = await send(input, { ...init, signal, redirect: 'manual' });
      const { status, statusText, headers } = response;
      const body = response.body === null ? null : await readBounded(response, maxBytes);
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  };
}
