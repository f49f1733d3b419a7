/**
 * One-time tokens that sign a person in to the studio of a local project: in the address that the start prints, worth one
 * exchange for the access token, for ten minutes.
 *
 * Kept in memory as hashes. They end with the process that printed them.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';

/** Addresses stay in the history of a terminal and of a browser. */
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

  /** Whether the ticket was good; it is not any more. */
  redeem(ticket: string): boolean {
    const key = hash('sha256', ticket);
    const end = this.#endOf.get(key);
    return this.#endOf.delete(key) && end !== undefined && this.#clock.now() < end;
  }
}
