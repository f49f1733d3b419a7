/**
 * Mailgun: https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks
 *
 * The secret is the webhook signing key. The signature covers no event, so its token is good for one request.
 */
import { createHmac } from 'node:crypto';
import { sameBytes } from '../../shared/same-text.ts';
import {
  assertRecent,
  at,
  EventRefusal,
  idsOf,
  jsonOf,
  type MailEvent,
  type MailEventKind,
  type ReadEvents,
  textAt,
} from './mail-event.ts';

/** Verifies the signature over time and token. */
export const readMailgunEvents: ReadEvents = (request, { secret, now }) => {
  const json = jsonOf(request);
  const [timestamp, token] = [textAt(json, 'signature', 'timestamp'), textAt(json, 'signature', 'token')];
  const expected = createHmac('sha256', secret).update(`${timestamp}${token}`).digest();
  const given = Buffer.from(textAt(json, 'signature', 'signature'), 'hex');
  // A time of other length would move characters between time and token.
  if (!/^\d{10}$/.test(timestamp) || !sameBytes(given, expected)) throw new EventRefusal('The signature does not fit');
  assertRecent(timestamp, now);
  const data = at(json, 'event-data');
  const kind = kindOf(data);
  const event = (known: MailEventKind): MailEvent => ({
    kind: known,
    messageIds: idsOf(textAt(data, 'message', 'headers', 'message-id')),
    address: textAt(data, 'recipient'),
    answer: answerOf(data),
  });
  return { id: `${timestamp}${token}`, events: kind === null ? [] : [event(kind)] };
};

function kindOf(data: unknown): MailEventKind | null {
  const name = textAt(data, 'event');
  if (name === 'delivered' || name === 'complained') return name;
  if (name !== 'failed' || textAt(data, 'severity') !== 'permanent') return null;
  return ['bounce', 'suppress-bounce'].includes(textAt(data, 'reason')) ? 'bounced' : 'failed';
}

function answerOf(data: unknown): string | null {
  const status = (name: string) => textAt(data, 'delivery-status', name);
  return [status('code'), status('message') || status('description')].filter(Boolean).join(' ') || null;
}
