/**
 * What happened in each of the last 60 minutes in this process: fixed memory, and no allocation for a request.
 */
import type { PoolState } from '../../postgres/wire/pool-state.ts';
import { Distribution } from '../../shared/distribution.ts';
import type { RequestObservation } from '../../shared/observation.ts';
import { outcomeOf, type RequestOutcome } from '../metrics/outcome.ts';

/** Minutes that are kept, with the current one. */
export const keptMinutes = 60;

/** Upper bounds in milliseconds, each √2 times the one before: from a quarter of a millisecond to about 30 seconds. */
export const durationBounds: readonly number[] = Array.from({ length: 35 }, (_, at) => 0.25 * 2 ** (at / 2));

/** The busiest moment of a pool. */
interface PoolPeak {
  used: number;
  waiting: number;
  size: number;
}

/** A minute, as plain data that processes send each other. */
export interface MinuteCounts {
  /** Minutes since the epoch. */
  readonly minute: number;
  readonly outcomes: Readonly<Record<RequestOutcome, number>>;
  /** By bound, as those of a `Distribution`. */
  readonly durations: readonly number[];
  readonly pool: Readonly<PoolPeak>;
  readonly signIns: number;
  readonly authFailures: number;
  readonly emails: number;
  readonly emailsFailed: number;
  readonly liveEvents: number;
}

class Minute {
  minute = -1;
  readonly outcomes: Record<RequestOutcome, number> = {
    success: 0,
    client_error: 0,
    server_error: 0,
    refused: 0,
    aborted: 0,
  };
  readonly durations = new Distribution(durationBounds);
  readonly pool: PoolPeak = { used: 0, waiting: 0, size: 0 };
  signIns = 0;
  authFailures = 0;
  emails = 0;
  emailsFailed = 0;
  liveEvents = 0;
}

/** The minutes of a process. */
export class Minutes {
  readonly #slots: Minute[] = Array.from({ length: keptMinutes }, () => new Minute());
  #liveEvents = 0;

  /** Counts a request. @param now Milliseconds since the epoch, as everywhere here. */
  addRequest(request: RequestObservation, now: number): void {
    const slot = this.#at(now);
    slot.outcomes[outcomeOf(request)] += 1;
    slot.durations.observe(request.totalMs);
    if (request.attempt === null) return;
    if (request.codes.length > 0) slot.authFailures += 1;
    else if (request.attempt.action !== 'refresh') slot.signIns += 1;
  }

  /** Counts an email that got into a state. */
  addEmail(state: string, now: number): void {
    if (state === 'sent' || state === 'captured') this.#at(now).emails += 1;
    else if (state === 'failed') this.#at(now).emailsFailed += 1;
  }

  /** Notes how busy the pool of requests is. @param liveEvents Answers that subscriptions got since the start. */
  sample({ size, open, idle, waiting }: PoolState, liveEvents: number, now: number): void {
    const { pool } = this.#at(now);
    pool.used = Math.max(pool.used, open - idle);
    pool.waiting = Math.max(pool.waiting, waiting);
    pool.size = size;
    this.#at(now).liveEvents += liveEvents - this.#liveEvents;
    this.#liveEvents = liveEvents;
  }

  /** Those with anything in them, in any order. */
  read(now: number): readonly MinuteCounts[] {
    const last = minuteOf(now);
    return this.#slots
      .filter(({ minute }) => minute > last - keptMinutes && minute <= last)
      .map(({ durations, ...slot }) => ({ ...slot, durations: [...durations.counts] }));
  }

  #at(now: number): Minute {
    const minute = minuteOf(now);
    const at = minute % keptMinutes;
    const slot = this.#slots[at] as Minute;
    if (slot.minute === minute) return slot;
    const begun = new Minute();
    begun.minute = minute;
    this.#slots[at] = begun;
    return begun;
  }
}

/** Minutes since the epoch. */
export function minuteOf(now: number): number {
  return Math.floor(now / 60_000);
}
