/**
 * Keeps messages in the database instead of sending them, for projects without a mail server; `/studio/inbox` shows them.
 *
 * Never fails: a message that cannot be kept is a warning in the log, and the request that caused it goes on. Each is
 * announced by the URL of the inbox, never by its content.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import type { EmailMessage } from '../message.ts';
import { toPlainText } from '../plain-text.ts';
import { composeMessage } from './compose-message.ts';
import type { EmailTransport } from './transport.ts';

/** Emails that are kept; older ones are deleted. */
export const maxCapturedEmails = 200;

/** What the transport works with. */
export interface CapturedTransportParts {
  /**
   * Outside the transaction of the request. It needs connections that no request holds while it waits for its email:
   * otherwise a burst of sign-ups would wait for itself.
   */
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
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown reason';
        observe({ kind: 'warning', message: `The ${message.kind} email could not be stored in the inbox: ${reason}` });
      }
    },
    async stop() {},
  };
}

// The new row is not yet visible to the deletion, so one less than the limit stays.
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
  const texts = [kind, sender, to, subject, html, await toPlainText(html), source.toString('utf8')].map(storable);
  await database.query(insertEmail, [date, ...texts]);
}

/** PostgreSQL's `text` has no NUL; a template can make one. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
