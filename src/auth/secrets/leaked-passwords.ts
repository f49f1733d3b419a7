/**
 * Looks a password up in a list of leaked ones by the first five digits of its SHA-1, so that the list's server cannot
 * learn the password.
 *
 * If the list does not answer, the password counts as not leaked: sign-ups must not depend on a remote server.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';
import { openFetch } from '../../shared/egress/egress.ts';
import type { Observe } from '../../shared/observation.ts';
import { readBounded } from '../../shared/read-bounded.ts';

/** Whether a password is in a public list of leaked ones. Resolves to false if the list does not answer. */
export type IsPwned = (password: string) => Promise<boolean>;

interface PwnedParts {
  /** Base address of the ranges; a slash and the five digits are appended. */
  readonly address: string;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Timeout of the list in milliseconds. */
  readonly timeoutMs?: number;
}

/** Limit of cached ranges: a hundred ranges of a thousand entries take 4 MB. */
const maxRanges = 100;
const rangeLifeMs = 3_600_000;
const maxRangeBytes = 1_000_000;

/** After a failure, skip the list for this long, so that requests do not wait for it. */
const pauseMs = 30_000;

/** Makes the check, with a cache of ranges. */
export function createPwnedCheck({ address, clock, observe, timeoutMs = 3000 }: PwnedParts): IsPwned {
  const now = () => clock.now();
  const ranges = new LRUCache<string, Promise<string>>({
    max: maxRanges,
    ttl: rangeLifeMs,
    perf: { now },
    ttlResolution: 0,
  });
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let isAway = false;

  const ask = async (prefix: string): Promise<string> => {
    const range = await fetchRange(`${address}/${prefix}`, timeoutMs);
    isAway = false;
    return range;
  };

  const giveUp = (prefix: string, error: unknown): false => {
    ranges.delete(prefix);
    pausedUntil = now() + pauseMs;
    if (!isAway) {
      const message = `The list of leaked passwords cannot be asked, passwords are accepted without it: ${reasonOf(error)}`;
      observe({ kind: 'warning', message, hint: 'Check --leaked-passwords-url and whether it is reachable.' });
    }
    isAway = true;
    return false;
  };

  return async (password) => {
    const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
    const [prefix, suffix] = [digest.slice(0, 5), digest.slice(5)];
    let range = ranges.get(prefix);
    if (range === undefined) {
      if (now() < pausedUntil) return false;
      range = ask(prefix);
      ranges.set(prefix, range);
    }
    return range.then(
      (text) => isListed(text, suffix),
      (error: unknown) => giveUp(prefix, error),
    );
  };
}

/** @throws Error whose message states the problem and nothing of the password. */
async function fetchRange(address: string, timeoutMs: number): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  // Padding keeps the size of the answer from revealing the range.
  const response = await openFetch(address, { headers: { 'Add-Padding': 'true' }, signal });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const body = await readBounded(response, maxRangeBytes).catch((error) => {
    throw signal.reason ?? error;
  });
  const text = body.toString();
  if (!/^(?:[0-9A-Fa-f]{35}:[0-9]+(?:\r?\n|$))*$/.test(text)) throw new Error('the answer is not a range');
  return text.toUpperCase();
}

/** Padding entries have the count 0. */
function isListed(range: string, suffix: string): boolean {
  const line = range.split(/\r?\n/).find((entry) => entry.startsWith(`${suffix}:`));
  return line !== undefined && Number(line.slice(suffix.length + 1)) > 0;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if (error.name === 'TimeoutError') return 'no answer in time';
  return 'code' in error ? String(error.code) : error.message;
}
