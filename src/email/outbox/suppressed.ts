/** Addresses that get no emails for a while: one bounced for good, or its reader complained. */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { hashRecipient } from './deliveries.ts';

/** What the list of deliveries says of an email to a suppressed address. */
export const suppressedAnswer = 'an earlier email to this address bounced or its reader complained';

/** An email that was not sent, because its address is suppressed. The message is for the operator. */
export class SuppressedError extends Error {
  override readonly name = 'SuppressedError';
}

/** Condition for the hash `hash` to be suppressed at the time `now`; both are SQL. */
export const isSuppressedSql = (hash: string, now: string) => `exists (
    select from pgreflect_queue.suppressed s where s.recipient_hash = ${hash} and s.expires_at > ${now}
  )`;

/** Whether an address gets no emails now. @param now Milliseconds since the epoch. */
export async function isSuppressed(database: Queryable, address: string, now: number): Promise<boolean> {
  const [row] = await database.query(`select ${isSuppressedSql('$1::bytea', '$2::timestamptz')} as "isSuppressed"`, [
    hashRecipient(address),
    new Date(now),
  ]);
  return row?.isSuppressed === true;
}
