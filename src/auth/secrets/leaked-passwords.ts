/**
 * Asks a list of leaked passwords by the first five digits of a password's SHA-1, so that nobody there learns the password.
 *
 * Where the list cannot be asked, every password counts as unknown to it: sign-ups do not depend on somebody else's server.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import { readBounded } from '../../shared/read-bounded.ts';

/** Whether a password is in a public list of leaked ones. Resolves to false where nobody can tell. */
export type IsPwned = (password: string) => Promise<boolean>;

/** What the check works with. */
export interface PwnedParts {
  /** Address of the ranges: the five digits follow after a slash. */
  readonly address: string;
  readonly clock: Clock;
  readonly observe: Observe;
  /** How long the list may take to answer, in milliseconds. */
  readonly timeoutMs?: number;
}

/** A hundred ranges of a thousand entries are 4 MB. */
const maxRanges = 100;
const rangeLifeMs = 3_600_000;
const maxRangeBytes = 1_000_000;

/** So long nobody waits again for a list that did not answer. */
const pauseMs = 30_000;

/** Makes the check; it remembers ranges. */
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

/** @throws Error whose message says what is wrong, and nothing of the password. */
async function fetchRange(address: string, timeoutMs: number): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  // Padding keeps the size of the answer from telling the range.
  const response = await fetch(address, { headers: { 'Add-Padding': 'true' }, redirect: 'error', signal });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const text = (await readBounded(response, maxRangeBytes)).toString();
  if (!/^(?:[0-9A-Fa-f]{35}:[0-9]+(?:\r?\n|$))*$/.test(text)) throw new Error('the answer is not a range');
  return text.toUpperCase();
}

/** Padding has the count 0. */
function isListed(range: string, suffix: string): boolean {
  const line = range.split(/\r?\n/).find((entry) => entry.startsWith(`${suffix}:`));
  return line !== undefined && Number(line.slice(suffix.length + 1)) > 0;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  if (error.name === 'TimeoutError') return 'no answer in time';
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.message;
}
