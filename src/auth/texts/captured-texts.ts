/**
 * Text messages of the provider `capture`: kept in the inbox beside the captured emails instead of being sent, for tests and
 * for the first steps without a contract with anybody.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { randomUuid } from '../random.ts';
import { toTimestamp } from '../times.ts';
import type { Tools } from '../tools.ts';
import type { OutgoingText } from './text-provider.ts';

/**
 * Keeps a message.
 *
 * @param database Connections that no waiting request holds.
 * @returns An id of the message.
 */
export async function captureText(
  database: Queryable,
  { to, text }: Pick<OutgoingText, 'to' | 'text'>,
  tools: Tools,
): Promise<string> {
  await database.query(
    `insert into auth.pgreflect_captured_email (captured_at, kind, sender, recipient, subject, html, text, source)
    values ($1::timestamptz, 'sms', '', $2, $3, '', $3, $3)`,
    [toTimestamp(tools.clock.now()), to, text.replaceAll('\0', '')],
  );
  return randomUuid(tools.random);
}
