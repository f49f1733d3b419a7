/**
 * Limits requests with unknown access tokens for each client address: every one of them asks the database.
 *
 * A token that was valid in this process is never refused, so whoever shares an address with a stranger goes on.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';

/** What is known of tokens and addresses. */
export interface UnknownTokens {
  /** Null if the token may be looked up; otherwise the milliseconds until it may. @param from A client's network. */
  waitMs(token: string, from: string): number | null;
  /** Takes the result of a look-up. */
  note(token: string, from: string, isValid: boolean): void;
}

const windowMs = 60_000;
const maxAddresses = 10_000;
const maxTokens = 1000;

/** @param perMinute Unknown tokens of an address; null: no limit. */
export function createUnknownTokens(perMinute: number | null, clock: Clock): UnknownTokens {
  const time = { perf: { now: () => clock.now() }, ttlResolution: 0 };
  const counts = new LRUCache<string, number>({
    // Counted as sizes, because `max` would allocate for all of them at once.
    maxSize: maxAddresses,
    sizeCalculation: () => 1,
    ttl: windowMs,
    noUpdateTTL: true,
    ...time,
  });
  const valid = new LRUCache<string, true>({ max: maxTokens });
  return {
    waitMs(token, from) {
      if (perMinute === null || (counts.get(from) ?? 0) < perMinute || valid.has(keyOf(token))) return null;
      return Math.max(1, counts.getRemainingTTL(from));
    },
    note(token, from, isValid) {
      if (isValid) valid.set(keyOf(token), true);
      else counts.set(from, (counts.get(from) ?? 0) + 1);
    },
  };
}

/** No token is kept. */
function keyOf(token: string): string {
  return hash('sha256', token, 'base64');
}
