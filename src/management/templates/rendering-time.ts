/**
 * The processor time that drafts of an access token may take: all who may read the configuration may have drafts
 * rendered, and all requests of the process wait for them. Each process counts its own.
 */
import { ManagementError } from '../management-error.ts';

const windowMs = 60_000;

/** For each request that a token may make: enough for its ten drafts of usual length. */
const msEach = 250;

interface Spent {
  /** In terms of `performance.now()`. */
  readonly since: number;
  usedMs: number;
}

/** The time of all tokens. */
export class RenderingTime {
  readonly #maxMs: number;
  readonly #spent = new Map<string, Spent>();

  /** @param perMinute Requests of a token; null: no limit. */
  constructor(perMinute: number | null) {
    this.#maxMs = perMinute === null ? Number.POSITIVE_INFINITY : perMinute * msEach;
  }

  /** Renders, and counts what that takes. @throws ManagementError `rate_limited` if the time is used up. */
  async spend<T>(tokenId: string, render: () => Promise<T>): Promise<T> {
    const spent = this.#of(tokenId);
    if (spent.usedMs >= this.#maxMs) throw this.#refusal(spent.since + windowMs - performance.now());
    const startMs = processorMs();
    try {
      return await render();
    } finally {
      spent.usedMs += processorMs() - startMs;
    }
  }

  #of(tokenId: string): Spent {
    const known = this.#spent.get(tokenId);
    if (known !== undefined && performance.now() < known.since + windowMs) return known;
    const begun = { since: performance.now(), usedMs: 0 };
    this.#spent.set(tokenId, begun);
    return begun;
  }

  #refusal(waitMs: number): ManagementError {
    const what = `drafts of ${this.#maxMs} ms of processor time a minute for an access token (--management-rate-limit)`;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    return new ManagementError('rate_limited', `Rate limit exceeded: ${what}`, { retryAfterSeconds });
  }
}

/** Processor time that this thread has used, in milliseconds: unlike the clock, it stands still while others work. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
