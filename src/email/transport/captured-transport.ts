/**
 * Stores messages in the database instead of sending them, for projects without a mail server; `/studio/inbox` shows
 * them.
 *
 * Never fails: a message that cannot be stored is logged as a warning, and its request continues. The log gets the
 * inbox URL of each, never the content.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import type { EmailMessage } from '../message/message.ts';
import { toPlainText } from '../message/plain-text.ts';
import { composeMessage } from './compose-message.ts';
import { type EmailTransport, noReceipt } from './transport.ts';

/** Limit of stored emails; older ones are deleted. */
export const maxCapturedEmails = 200;

/** What the transport needs. */
export interface CapturedTransportParts {
  /** Outside the request's transaction, on other connections: a burst of sign-ups would deadlock. */
  readonly database: Queryable;
  /** Where the emails can be read. */
  readonly inboxUrl: string;
  readonly observe: Observe;
  readonly clock?: Clock;
}

/** Makes the transport. */
export function createCapturedTransport(parts: CapturedTransportParts): EmailTransport {
  const { database, inboxUrl, observe, clock = systemClock } = parts;
  return {
    async send(message) {
      try {
        await keep(database, message, new Date(clock.now()));
        observe({ kind: 'email_captured', email: message.kind, inboxUrl });
        return { ...noReceipt, state: 'captured' };
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown reason';
        observe({ kind: 'warning', message: `The ${message.kind} email could not be stored in the inbox: ${reason}` });
        return { ...noReceipt, state: 'failed', answer: 'it could not be stored in the inbox' };
      }
    },
    async stop() {},
  };
}

// The deletion does not see the new row yet, so it keeps one less than the limit.
const insertEmail = `with cut as (
    delete from auth.pgreflect_captured_email c where c.id <= (
      select o.id from auth.pgreflect_captured_email o order by o.id desc offset ${maxCapturedEmails - 1} limit 1
    )
  )
  insert into auth.pgreflect_captured_email (captured_at, kind, sender, recipient, subject, html, text, source)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`;

async function keep(database: Queryable, message: EmailMessage, date: Date): Promise<void> {
  const { kind, from, to, subject, html } = message;
  const source = await composeMessage(message, date);
  const sender = from.name === '' ? from.address : `${from.name} <${from.address}>`;
  const texts = [
    kind,
    sender,
    to,
    subject,
    html,
    message.text ?? (await toPlainText(html)),
    source.toString('utf8'),
  ].map(storable);
  await database.query(insertEmail, [date, ...texts]);
}

/** PostgreSQL's `text` cannot contain NUL; a template can produce it. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
