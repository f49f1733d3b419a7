/**
 * SendGrid: https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
 *
 * The secret is the public key of its signed event webhook.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
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

/** Verifies the signature over time and body. */
export const readSendgridEvents: ReadEvents = (request, { secret, now }) => {
  const prefix = 'x-twilio-email-event-webhook';
  const [signature, timestamp] = [headerOf(request, `${prefix}-signature`), headerOf(request, `${prefix}-timestamp`)];
  const signed = Buffer.concat([Buffer.from(timestamp), request.body]);
  if (!verify('sha256', signed, keyOf(secret), Buffer.from(signature, 'base64'))) {
    throw new EventRefusal('The signature does not fit');
  }
  assertRecent(timestamp, now);
  const json = jsonOf(request);
  // Not the signature: the same one can be written in several ways.
  const id = createHash('sha256').update(signed).digest('hex');
  return { id, events: (Array.isArray(json) ? json : []).flatMap(toEvent) };
};

/** @throws EventRefusal */
function keyOf(secret: string): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(secret, 'base64'), format: 'der', type: 'spki' });
  } catch {
    throw new EventRefusal('mailer_events_secret is not the public key of the webhook');
  }
}

function toEvent(json: unknown): readonly MailEvent[] {
  const kind = kindOf(json);
  if (kind === null) return [];
  // The id of the answer, before what the service adds for each recipient.
  const [id = ''] = textAt(json, 'sg_message_id').split(/\.(?:filter|recvd)/);
  const messageIds = idsOf(id, textAt(json, 'smtp-id'));
  return [{ kind, messageIds, address: textAt(json, 'email'), answer: textAt(json, 'reason') || null }];
}

function kindOf(json: unknown): MailEventKind | null {
  switch (textAt(json, 'event')) {
    case 'delivered':
      return 'delivered';
    case 'bounce':
      return textAt(json, 'type') === 'blocked' ? 'failed' : 'bounced';
    case 'dropped':
      return 'failed';
    case 'spamreport':
      return 'complained';
    default:
      return null;
  }
}
