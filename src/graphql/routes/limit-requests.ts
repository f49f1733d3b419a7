/**
 * Limits requests per minute (`--rate-limit`, which may be replaced): of the token's user, or without one of the
 * client's address or network. A minute begins with the first request of a caller.
 */
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/config.ts';
import { countedAs } from '../../server/caller/client-address.ts';
import { PublicError } from '../../shared/errors.ts';
import type { CountRequests } from './run-batch.ts';

const windowMs = 60_000;
/** Most callers counted at once; the least recently seen are dropped first. */
const maxCallers = 50_000;

interface Window {
  /** In terms of `performance.now()`. */
  readonly endsAt: number;
  count: number;
}

/** Makes the function that counts requests. It runs after authentication. */
export function createRequestLimit(config: Pick<Config, 'rateLimit'>): CountRequests {
  // Counted as sizes, because `max` would allocate for all of them at once.
  const windows = new LRUCache<string, Window>({ maxSize: maxCallers, sizeCalculation: () => 1 });
  return async ({ state: { identity, address } }, reply, number) => {
    const { rateLimit: perMinute } = config;
    if (perMinute === null) return;
    const now = performance.now();
    const caller = countedAs(identity?.subject ?? null, address);
    let window = windows.get(caller);
    if (window === undefined || window.endsAt <= now) {
      window = { endsAt: now + windowMs, count: 0 };
      windows.set(caller, window);
    }
    window.count += number;
    if (window.count <= perMinute) return;
    const seconds = Math.ceil((window.endsAt - now) / 1000);
    reply.header('retry-after', seconds);
    throw new PublicError('RATE_LIMITED', `More than ${perMinute} requests in a minute; wait ${seconds} seconds.`);
  };
}
