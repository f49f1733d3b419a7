/**
 * `fetch` towards providers, with limits: somebody else's server must not be able to hold a request up or to fill the memory.
 */
import { readBounded } from '../../shared/read-bounded.ts';

/** What limits requests to providers: far more than keys, tokens and claims take, counted after decompression. */
export const providerLimits = { timeoutMs: 5000, maxBytes: 262_144 };

/**
 * Makes a `fetch` that gives up after the time, does not read on after the size, and follows no redirect: a provider must not
 * choose other machines for us to call.
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
