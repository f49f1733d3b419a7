/**
 * One-time tokens that sign a person in to the studio of a local project: in the address that the start prints, worth one
 * exchange for the access token, for ten minutes.
 *
 * Kept in memory as hashes. They end with the process that printed them.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/clock.ts';

/** Tickets of this process. */
export interface StudioTickets {
  issue(): string;
  /** Whether the ticket was good; it is not any more. */
  redeem(ticket: string): boolean;
}

/** Addresses stay in the history of a terminal and of a browser. */
const lifetimeMs = 10 * 60_000;

/** Makes the book of them; nobody has one yet. */
export function createStudioTickets(clock: Clock): StudioTickets {
  const endOf = new Map<string, number>();
  return {
    issue() {
      const ticket = randomBytes(24).toString('base64url');
      endOf.set(hash('sha256', ticket), clock.now() + lifetimeMs);
      return ticket;
    },
    redeem(ticket) {
      const key = hash('sha256', ticket);
      const end = endOf.get(key);
      return endOf.delete(key) && end !== undefined && clock.now() < end;
    },
  };
}
