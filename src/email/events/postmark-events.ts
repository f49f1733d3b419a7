/**
 * Postmark: https://postmarkapp.com/developer/webhooks/webhooks-overview
 *
 * It signs nothing: the secret is the `USER:PASSWORD` in the address of the webhook.
 */
import { hash } from 'node:crypto';
import { sameText } from '../../shared/same-text.ts';
import {
  assertRecent,
  EventRefusal,
  headerOf,
  idsOf,
  jsonOf,
  type MailEvent,
  type MailEventKind,
  type ReadEvents,
  textAt,
} from './mail-event.ts';

/** By `Type` of a bounce; others, such as automatic replies, say nothing of the delivery. */
const bounces: Readonly<Record<string, MailEventKind>> = {
  HardBounce: 'bounced',
  BadEmailAddress: 'bounced',
  SpamComplaint: 'complained',
  SoftBounce: 'failed',
  Blocked: 'failed',
  DnsError: 'failed',
  SpamNotification: 'failed',
};

/** Longer than the service retries. */
const maxAgeMs = 20 * 3_600_000;

/** Verifies the login. */
export const readPostmarkEvents: ReadEvents = (request, { secret, now }) => {
  const [, encoded = ''] = /^basic +([\w+/=]+)$/i.exec(headerOf(request, 'authorization')) ?? [];
  const given = Buffer.from(encoded, 'base64').toString('hex');
  if (!sameText(given, Buffer.from(secret).toString('hex')))
    throw new EventRefusal('The login is not the one of the webhook');
  const json = jsonOf(request);
  const kind = kindOf(json);
  const time = textAt(json, 'BouncedAt') || textAt(json, 'DeliveredAt');
  if (kind !== null) assertRecent(String(Date.parse(time) / 1000), now, maxAgeMs);
  const event = (known: MailEventKind): MailEvent => ({
    kind: known,
    messageIds: idsOf(textAt(json, 'MessageID')),
    address: textAt(json, 'Email') || textAt(json, 'Recipient'),
    answer: textAt(json, 'Details') || null,
  });
  return { id: hash('sha256', request.body), events: kind === null ? [] : [event(kind)] };
};

function kindOf(json: unknown): MailEventKind | null {
  const type = textAt(json, 'RecordType');
  if (type === 'Delivery') return 'delivered';
  if (type === 'SpamComplaint') return 'complained';
  return type === 'Bounce' ? (bounces[textAt(json, 'Type')] ?? null) : null;
}
