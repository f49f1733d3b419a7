/**
 * Amazon SES through SNS: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 *
 * Anybody with an account can have SNS sign messages. The secret is therefore the ARN of the topic, and no other topic
 * counts. Certificates and confirmations are read from SNS of the topic's region alone.
 */
import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import {
  assertRecent,
  at,
  EventRefusal,
  type EventTools,
  idsOf,
  jsonOf,
  listAt,
  type MailEvent,
  type MailEventKind,
  parseEvent,
  type ReadEvents,
  textAt,
  type VerifiedEvents,
} from './mail-event.ts';

/** Signed members, in their order, by the type of the message. */
const signedMembers: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};

const algorithms: Readonly<Record<string, string>> = { '1': 'sha1', '2': 'sha256' };

/** As AWS advises. */
const maxAgeMs = 3_600_000;

/** Verifies the signature. Confirms the subscription of the webhook to the topic. */
export const readSesEvents: ReadEvents = async (request, tools) => {
  const json = jsonOf(request);
  const topic = textAt(json, 'TopicArn');
  const [, , , region = ''] = topic.split(':');
  if (topic !== tools.secret || !/^[a-z0-9-]+$/.test(region)) throw new EventRefusal('The event is of another topic');
  await assertSigned(json, region, tools);
  assertRecent(String(Date.parse(textAt(json, 'Timestamp')) / 1000), tools.now, maxAgeMs);
  return answer(json, region, tools);
};

async function answer(json: unknown, region: string, { fetchText }: EventTools): Promise<VerifiedEvents> {
  const id = textAt(json, 'MessageId');
  if (textAt(json, 'Type') !== 'SubscriptionConfirmation')
    return { id, events: toEvents(parseEvent(textAt(json, 'Message'))) };
  const url = textAt(json, 'SubscribeURL');
  assertAddress(url, region, /^\/\?/);
  await fetchText(url).catch(() => {
    throw new EventRefusal('The subscription could not be confirmed');
  });
  return { id, events: [] };
}

async function assertSigned(json: unknown, region: string, { fetchText, now }: EventTools): Promise<void> {
  const members = signedMembers[textAt(json, 'Type')] ?? [];
  const algorithm = algorithms[textAt(json, 'SignatureVersion')];
  const url = textAt(json, 'SigningCertURL');
  assertAddress(url, region, /^\/SimpleNotificationService-[0-9a-f]+\.pem$/);
  const given = members.filter((name) => typeof at(json, name) === 'string');
  const signed = given.map((name) => `${name}\n${textAt(json, name)}\n`).join('');
  const key = await readKey(url, fetchText, now);
  const signature = Buffer.from(textAt(json, 'Signature'), 'base64');
  if (algorithm === undefined || signed === '' || !verify(algorithm, Buffer.from(signed), key, signature)) {
    throw new EventRefusal('The signature does not fit');
  }
}

/** @throws EventRefusal */
async function readKey(url: string, fetchText: EventTools['fetchText'], now: number): Promise<KeyObject> {
  try {
    const { publicKey, validFrom, validTo } = new X509Certificate(await fetchText(url));
    if (Date.parse(validFrom) <= now && now <= Date.parse(validTo)) return publicKey;
  } catch {
    // Neither reached nor read.
  }
  throw new EventRefusal('The certificate of the signature could not be read');
}

/** @throws EventRefusal */
function assertAddress(text: string, region: string, path: RegExp): void {
  const url = URL.parse(text);
  const hosts = [`sns.${region}.amazonaws.com`, `sns.${region}.amazonaws.com.cn`];
  const isPlain =
    url !== null && url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  if (isPlain && hosts.includes(url.hostname) && path.test(url.pathname + url.search)) return;
  throw new EventRefusal('The address of the certificate or confirmation is not one of SNS');
}

/** Names of the kind of event, and of its list of recipients. */
const lists: Readonly<Record<string, readonly [list: string, recipients: string]>> = {
  Bounce: ['bounce', 'bouncedRecipients'],
  Complaint: ['complaint', 'complainedRecipients'],
  Delivery: ['delivery', 'recipients'],
};

function toEvents(message: unknown): readonly MailEvent[] {
  const type = textAt(message, 'eventType') || textAt(message, 'notificationType');
  const [list = '', name = ''] = lists[type] ?? [];
  const own = listAt(message, 'mail', 'headers').find(
    (header) => textAt(header, 'name').toLowerCase() === 'message-id',
  );
  const messageIds = idsOf(textAt(message, 'mail', 'messageId'), textAt(own, 'value'));
  const events = listAt(message, list, name).map((recipient) => ({
    kind: kindOf(type, message),
    messageIds,
    address: typeof recipient === 'string' ? recipient : textAt(recipient, 'emailAddress'),
    answer: textAt(recipient, 'diagnosticCode') || null,
  }));
  // A mail server that refuses an email later names its recipient in its answer, and may name any.
  const recipients = listAt(message, 'mail', 'destination').map((one) => String(one).trim().toLowerCase());
  return events.filter(({ address }) => recipients.length === 0 || recipients.includes(address.trim().toLowerCase()));
}

function kindOf(type: string, message: unknown): MailEventKind {
  if (type === 'Delivery') return 'delivered';
  if (type === 'Complaint') return 'complained';
  return textAt(message, 'bounce', 'bounceType') === 'Permanent' ? 'bounced' : 'failed';
}
