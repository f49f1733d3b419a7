/**
 * One-time tokens that sign a person in to the studio of a local project: in the address that the start prints, worth one
 * exchange for the access token.
 *
 * Kept in memory as hashes. They end with the process that printed them.
 */
import { hash, randomBytes } from 'node:crypto';

/** Tickets of this process. */
export interface StudioTickets {
  issue(): string;
  /** Whether the ticket was good; it is not any more. */
  redeem(ticket: string): boolean;
}

/** Makes the book of them; nobody has one yet. */
export function createStudioTickets(): StudioTickets {
  const open = new Set<string>();
  return {
    issue() {
      const ticket = randomBytes(24).toString('base64url');
      open.add(hash('sha256', ticket));
      return ticket;
    },
    redeem: (ticket) => open.delete(hash('sha256', ticket)),
  };
}
