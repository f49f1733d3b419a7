/**
 * Resend: https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests, signed as Svix does.
 *
 * The secret is the signing secret of the webhook, `whsec_…`. The library `standardwebhooks`, which the tests sign with, has a
 * clock and a tolerance of its own and hashes in JavaScript.
 */
import { createHmac } from 'node:crypto';
import { sameBytes } from '../../shared/same-text.ts';
import {
  assertRecent,
  EventRefusal,
  headerOf,
  idsOf,
  jsonOf,
  listAt,
  type MailEventKind,
  type ReadEvents,
  textAt,
} from './mail-event.ts';

/** Verifies the signature over id, time and body. */
export const readResendEvents: ReadEvents = (request, { secret, now }) => {
  const [id, timestamp] = [headerOf(request, 'svix-id'), headerOf(request, 'svix-timestamp')];
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(request.body).digest();
  const isSigned = headerOf(request, 'svix-signature')
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .some((signature) => sameBytes(Buffer.from(signature.slice('v1,'.length), 'base64'), expected));
  // Without a dot in the id, no character can move between the parts.
  if (!isSigned || !/^[\w-]{1,200}$/.test(id)) throw new EventRefusal('The signature does not fit');
  assertRecent(timestamp, now);
  const json = jsonOf(request);
  const kind = kindOf(json);
  const addresses = listAt(json, 'data', 'to').filter((address) => typeof address === 'string');
  const messageIds = idsOf(textAt(json, 'data', 'email_id'));
  const answer = textAt(json, 'data', 'bounce', 'message') || null;
  return { id, events: kind === null ? [] : addresses.map((address) => ({ kind, messageIds, address, answer })) };
};

const kinds: Readonly<Record<string, MailEventKind>> = {
  'email.delivered': 'delivered',
  'email.complained': 'complained',
  'email.failed': 'failed',
};

function kindOf(json: unknown): MailEventKind | null {
  const type = textAt(json, 'type');
  if (type === 'email.bounced') return textAt(json, 'data', 'bounce', 'type') === 'Permanent' ? 'bounced' : 'failed';
  return kinds[type] ?? null;
}
