/**
 * Single-use tickets that sign in to the studio of a local project: part of the URL that `start` prints, exchanged once
 * for the access token, valid for ten minutes.
 *
 * Kept in memory as hashes; they end with the process that printed them.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';

/** Short, because URLs stay in the history of terminals and browsers. */
const lifetimeMs = 10 * 60_000;

/** Tickets of this process. */
export class StudioTickets {
  readonly #clock: Clock;
  readonly #endOf = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(): string {
    const ticket = randomBytes(24).toString('base64url');
    this.#endOf.set(hash('sha256', ticket), this.#clock.now() + lifetimeMs);
    return ticket;
  }

  /** Whether the ticket was valid; uses it up. */
  redeem(ticket: string): boolean {
    const key = hash('sha256', ticket);
    const end = this.#endOf.get(key);
    return this.#endOf.delete(key) && end !== undefined && this.#clock.now() < end;
  }
}
