/**
 * What mail services tell of emails, by the samples of their documentation: taken from the service alone, once and in time.
 * Whoever could forge it could keep users from their emails.
 */
import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type AuthValues, checkAuthConfig, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { EventsService } from '../../src/config/auth/auth-events.ts';
import { createEventReceiver } from '../../src/email/events/receive-events.ts';
import { hashRecipient } from '../../src/email/outbox/deliveries.ts';
import { testAuth } from '../support/auth-service.ts';
import { startHookServer } from '../support/hook-server.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { ref, testPool } from './management.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  await database.query('truncate pgreflect_queue.deliveries, pgreflect_queue.suppressed, auth.pgreflect_rate_limits');
});

const address = 'ana@x.test';
const messageId = 'b7bc2f4a-e38e-4336';
const userId = '11111111-1111-4111-8111-111111111111';

/** An email that the service took. */
async function sent(id = messageId, to = address): Promise<void> {
  await database.query(
    `insert into pgreflect_queue.deliveries
      (kind, user_id, recipient, recipient_hash, template_version, state, attempts, created_at, updated_at, sent_at, message_id)
    values ('recovery', $1, 'a***@x.test', $2, 0, 'sent', 1, now(), now(), now(), $3)`,
    [userId, hashRecipient(to), id],
  );
}

const deliveries = () => database.query('select state, event, answer from pgreflect_queue.deliveries order by id');
const suppressed = () =>
  database.query('select recipient, user_id, reason, expires_at - created_at as days from pgreflect_queue.suppressed');

interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Outcome = 'bounced' | 'failed' | 'complained' | 'delivered';

/** A service as it documents itself. */
interface Documented {
  readonly secret: string;
  /** The event of its documentation about a message. */
  event(outcome: Outcome, time: Date): unknown;
  /** What it sends. */
  sign(event: unknown, time: Date): Signed;
}

const json = { 'content-type': 'application/json' };
const sendgridKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const resendSecret = `whsec_${Buffer.from('a secret of thirty-two bytes long').toString('base64')}`;

const services: Readonly<Record<Exclude<EventsService, 'ses'>, Documented>> = {
  postmark: {
    secret: 'postmark:a long password',
    event(outcome, time) {
      const common = { MessageID: messageId, ServerID: 23, MessageStream: 'outbound' };
      if (outcome === 'delivered') {
        return { ...common, RecordType: 'Delivery', Recipient: address, DeliveredAt: time, Details: 'Test delivery' };
      }
      const bounce = { ...common, Email: address, BouncedAt: time, Details: `smtp;550 <${address}> no such user` };
      if (outcome === 'complained')
        return { ...bounce, RecordType: 'SpamComplaint', Type: 'SpamComplaint', TypeCode: 100001 };
      return { ...bounce, RecordType: 'Bounce', Type: outcome === 'bounced' ? 'HardBounce' : 'SoftBounce' };
    },
    sign: (event) => ({
      headers: { ...json, authorization: `Basic ${Buffer.from('postmark:a long password').toString('base64')}` },
      body: JSON.stringify(event),
    }),
  },
  sendgrid: {
    secret: sendgridKeys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
    event(outcome, time) {
      const names = { bounced: 'bounce', failed: 'dropped', complained: 'spamreport', delivered: 'delivered' };
      const facts = { email: address, timestamp: Math.floor(time.getTime() / 1000), event: names[outcome] };
      const ids = { sg_event_id: randomUUID(), sg_message_id: `${messageId}.filter0001.16648.5515E0B88.0` };
      return [
        { ...facts, ...ids, 'smtp-id': `<${messageId}@x>`, reason: `550 5.1.1 <${address}> unknown`, status: '5.1.1' },
      ];
    },
    sign(event, time) {
      const timestamp = String(Math.floor(time.getTime() / 1000));
      const body = JSON.stringify(event);
      const signature = sign('sha256', Buffer.from(timestamp + body), sendgridKeys.privateKey).toString('base64');
      const prefix = 'x-twilio-email-event-webhook';
      return { headers: { ...json, [`${prefix}-signature`]: signature, [`${prefix}-timestamp`]: timestamp }, body };
    },
  },
  mailgun: {
    secret: 'key-0123456789abcdef',
    event(outcome, time) {
      const failed = { event: 'failed', severity: 'permanent', reason: outcome === 'bounced' ? 'bounce' : 'old' };
      return {
        ...(outcome === 'delivered' || outcome === 'complained' ? { event: outcome } : failed),
        id: randomUUID(),
        timestamp: time.getTime() / 1000,
        recipient: address,
        'delivery-status': { code: 550, message: `5.1.1 <${address}> unknown` },
        message: { headers: { to: address, 'message-id': messageId } },
      };
    },
    sign(event, time) {
      const [timestamp, token] = [String(Math.floor(time.getTime() / 1000)), randomUUID().replaceAll('-', '')];
      const signature = createHmac('sha256', services.mailgun.secret)
        .update(timestamp + token)
        .digest('hex');
      return {
        headers: json,
        body: JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': event }),
      };
    },
  },
  resend: {
    secret: resendSecret,
    event(outcome, time) {
      const isBounce = outcome === 'bounced' || outcome === 'failed';
      const bounce = { message: `550 <${address}> unknown`, type: outcome === 'bounced' ? 'Permanent' : 'Transient' };
      const data = { email_id: messageId, from: 'Shop <shop@mail.test>', to: [address], ...(isBounce && { bounce }) };
      return { type: `email.${isBounce ? 'bounced' : outcome}`, created_at: time, data };
    },
    sign(event, time) {
      const [id, body] = [`msg_${randomUUID()}`, JSON.stringify(event)];
      const signature = new Webhook(resendSecret).sign(id, time, body);
      const timestamp = String(Math.floor(time.getTime() / 1000));
      return { headers: { ...json, 'svix-id': id, 'svix-timestamp': timestamp, 'svix-signature': signature }, body };
    },
  },
};

const names = Object.keys(services) as Exclude<EventsService, 'ses'>[];

async function serve(service: Exclude<EventsService, 'ses'>, values: AuthValues = {}) {
  const own = { mailer_events_service: service, mailer_events_secret: services[service].secret };
  const auth = await testAuth(database, { ...own, ...values }, { projectRef: ref });
  const post = async ({ headers, body }: Signed, project = ref) => {
    const response = await fetch(`${auth.url}/v1/projects/${project}/emails/events`, { method: 'POST', headers, body });
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    return { status: response.status, body: (await response.json()) as any };
  };
  const { event, sign: signed } = services[service];
  const make = (outcome: Outcome, time = new Date(auth.now())) => signed(event(outcome, time), time);
  return { auth, post, make, event };
}

test.each(names)(
  '%s tells of a bounce: the delivery has failed, and the address gets no emails for 30 days',
  async (name) => {
    const { post, make } = await serve(name);
    await sent();
    expect(await post(make('bounced'))).toEqual({ status: 200, body: { events: 1 } });
    const [delivery] = await deliveries();
    expect(delivery).toMatchObject({ state: 'failed', event: 'bounced' });
    expect(delivery?.answer).toContain('550');
    expect(delivery?.answer).not.toContain(address);
    expect(await suppressed()).toMatchObject([
      { recipient: 'a***@x.test', user_id: userId, reason: 'bounced', days: { days: 30 } },
    ]);
  },
);

test.each(names)('%s tells of complaints, deliveries and emails that failed alone', async (name) => {
  const { post, make } = await serve(name);
  await sent();
  await post(make('delivered'));
  expect([await deliveries(), await suppressed()]).toMatchObject([[{ state: 'sent', event: 'delivered' }], []]);
  await post(make('failed'));
  expect([await deliveries(), await suppressed()]).toMatchObject([[{ state: 'failed', event: 'failed' }], []]);
  await post(make('complained'));
  await post(make('delivered'));
  expect(await deliveries()).toMatchObject([{ event: 'complained' }]);
  expect(await suppressed()).toMatchObject([{ reason: 'complained' }]);
});

test.each(names)('forged, altered and old events of %s are refused, and a replay has no effect', async (name) => {
  const { auth, post, make, event } = await serve(name);
  await sent();
  const good = make('bounced');
  const minutes = (count: number) => new Date(auth.now() + count * 60_000);
  const wrong = {
    authorization: 'Basic eDp5',
    'svix-signature': 'v1,AAAA',
    'x-twilio-email-event-webhook-signature': 'AAAA',
  };
  const forged: readonly Signed[] = [
    { headers: json, body: JSON.stringify(event('bounced', minutes(0))) },
    { headers: { ...good.headers, ...wrong }, body: good.body.replace(/"signature":"\w+"/, '"signature":"00"') },
    { headers: {}, body: '' },
    { headers: good.headers, body: '{' },
    ...(name === 'postmark'
      ? [make('bounced', minutes(-25 * 60))]
      : [make('bounced', minutes(-6)), make('bounced', minutes(6))]),
    ...names
      .filter((other) => other !== name)
      .map((other) => services[other].sign(event('bounced', minutes(0)), minutes(0))),
    ...(['sendgrid', 'resend'].includes(name) ? [{ ...good, body: good.body.replace('550', '551') }] : []),
  ];
  for (const request of forged) expect((await post(request)).status).toBe(401);
  expect([await deliveries(), await suppressed()]).toMatchObject([[{ state: 'sent', event: null }], []]);
  expect((await post(good)).body).toEqual({ events: 1 });
  await database.query('truncate pgreflect_queue.suppressed');
  expect(await post(good)).toEqual({ status: 200, body: { events: 0 } });
  expect(await suppressed()).toEqual([]);
});

test('a signature of SendGrid that is written in another way is the same event', async () => {
  const { post, make } = await serve('sendgrid');
  await sent();
  const { headers, body } = make('bounced');
  const name = 'x-twilio-email-event-webhook-signature';
  expect((await post({ headers, body })).body).toEqual({ events: 1 });
  const again = await post({ headers: { ...headers, [name]: `${headers[name]}  ` }, body });
  const other = await post({ headers: { ...headers, [name]: `${headers[name]},AAAA` }, body });
  expect([again.body.events ?? 0, other.body.events ?? 0]).toEqual([0, 0]);
});

test('the token of a Mailgun request is good for one event, because the signature covers none', async () => {
  const { post, make, event, auth } = await serve('mailgun');
  await sent();
  const { headers, body } = make('delivered');
  await post({ headers, body });
  const other = { ...JSON.parse(body), 'event-data': event('bounced', new Date(auth.now())) };
  expect((await post({ headers, body: JSON.stringify(other) })).body).toEqual({ events: 0 });
  expect(await suppressed()).toEqual([]);
});

test('an address that never got an email from here is not suppressed', async () => {
  const { post, make } = await serve('postmark');
  await sent(messageId, 'somebody.else@x.test');
  await post(make('bounced'));
  expect([await deliveries(), await suppressed()]).toMatchObject([[{ state: 'sent', event: null }], []]);
});

test('with mailer_suppress_bounced off a bounce is noted and the address stays', async () => {
  const { post, make } = await serve('resend', { mailer_suppress_bounced: false });
  await sent();
  await post(make('bounced'));
  expect([await deliveries(), await suppressed()]).toMatchObject([[{ event: 'bounced' }], []]);
});

test('without a secret, for another project, or with another method nothing is taken', async () => {
  const { post, make, auth } = await serve('postmark', { mailer_events_secret: null });
  expect((await post(make('bounced'))).status).toBe(401);
  expect((await post(make('bounced'), 'tsrqponmlkjihgfedcba')).status).toBe(404);
  expect((await post(make('bounced'), 'x')).status).toBe(400);
  expect((await post({ headers: json, body: 'x'.repeat(1_100_000) })).status).toBe(413);
  expect((await fetch(`${auth.url}/v1/projects/${ref}/emails/events`)).status).toBe(405);
});

test('a secret has the form of its service, so that a public key never passes for a password', () => {
  const problems = (values: AuthValues) => checkAuthConfig(layerAuthConfig(values));
  for (const name of names) {
    const { secret } = services[name];
    expect(problems({ mailer_events_service: name, mailer_events_secret: secret })).toEqual([]);
    expect(problems({ mailer_events_service: name, mailer_events_secret: 'short' })).toHaveLength(1);
    expect(problems({ mailer_events_secret: secret })).toEqual(['mailer_events_secret needs mailer_events_service']);
  }
  const postmark = { mailer_transport: 'postmark', mailer_api_key: 'key' } as const;
  expect(problems({ ...postmark, mailer_events_secret: services.postmark.secret })).toEqual([]);
});

const topic = 'arn:aws:sns:eu-central-1:123456789012:ses-events';
const sns = 'https://sns.eu-central-1.amazonaws.com';
const certificate = readFileSync(new URL('../fixtures/tls/sns.pem', import.meta.url), 'utf8');
const snsKey = readFileSync(new URL('../fixtures/tls/sns-key.pem', import.meta.url), 'utf8');
const snsNow = Date.parse('2027-01-01T00:00:00Z');

/** Signs as SNS does. */
function signSns(members: Readonly<Record<string, string>>, version = '2'): Signed {
  const common = { MessageId: randomUUID(), TopicArn: topic, Timestamp: new Date(snsNow).toISOString(), ...members };
  const signed = Object.keys(common)
    .sort()
    .map((name) => `${name}\n${common[name as keyof typeof common]}\n`)
    .join('');
  const signature = sign(version === '2' ? 'sha256' : 'sha1', Buffer.from(signed), snsKey).toString('base64');
  const url = `${sns}/SimpleNotificationService-0123456789abcdef.pem`;
  const body = { ...common, SignatureVersion: version, Signature: signature, SigningCertURL: url };
  return { headers: { 'x-amz-sns-message-type': members.Type ?? '' }, body: JSON.stringify(body) };
}

const sesBounce = JSON.stringify({
  notificationType: 'Bounce',
  bounce: {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    feedbackId: '01',
    bouncedRecipients: [
      { emailAddress: address, status: '5.1.1', diagnosticCode: `smtp; 550 5.1.1 <${address}>... User` },
    ],
  },
  mail: { messageId, destination: [address], headers: [{ name: 'Message-ID', value: '<own@x.test>' }] },
});

/** A receiver whose requests to SNS reach a server here. */
async function receiveFromSns(values: AuthValues = {}) {
  const server = await startHookServer(null);
  server.answer({ headers: { 'content-type': 'text/plain' }, body: certificate });
  const asked: string[] = [];
  const toServer: typeof fetch = (input, init) => {
    asked.push(String(input));
    return fetch(String(input).replace(sns, server.url), { ...init, method: 'POST', body: '' });
  };
  const egress = { fetchFor: () => toServer };
  const receive = createEventReceiver({ database: testPool(database), egress, clock: { now: () => snsNow } });
  const config = layerAuthConfig({ mailer_events_service: 'ses', mailer_events_secret: topic, ...values });
  const post = ({ headers, body }: Signed) => receive(config, { headers, body: Buffer.from(body) });
  return { post, asked };
}

test.each(['1', '2'])('Amazon SES tells of a bounce through SNS, signed by version %s', async (version) => {
  const { post, asked } = await receiveFromSns();
  await sent();
  expect(await post(signSns({ Type: 'Notification', Message: sesBounce, Subject: 'Bounce' }, version))).toBe(1);
  expect(await post(signSns({ Type: 'Notification', Message: sesBounce }, version))).toBe(1);
  expect(await deliveries()).toEqual([{ state: 'failed', event: 'bounced', answer: 'smtp; 550 5.1.1 [address] User' }]);
  expect(await suppressed()).toMatchObject([{ reason: 'bounced' }]);
  expect(asked).toEqual([`${sns}/SimpleNotificationService-0123456789abcdef.pem`]);
});

/** Without the headers of the email, which SES leaves out unless the operator asks for them. */
function sesEventOf(id: string, bounced: string, destination: string): Signed {
  const bounce = { bounceType: 'Permanent', bouncedRecipients: [{ emailAddress: bounced }] };
  const mail = { messageId: id, destination: [destination] };
  const Message = JSON.stringify({ notificationType: 'Bounce', bounce, mail });
  return signSns({ Type: 'Notification', Message });
}

test("a bounce of SES that names another address than its email's tells nothing of that address", async () => {
  const { post } = await receiveFromSns();
  await sent('own@x.test', address);
  await sent('of-thief@x.test', 'thief@evil.test');
  // By SMTP, SES gives the email an id of its own, which is not known here.
  await post(sesEventOf('unknown', address, 'thief@evil.test'));
  expect(await suppressed()).toEqual([]);
  await post(sesEventOf('unknown', address.toUpperCase(), address));
  expect(await suppressed()).toMatchObject([{ reason: 'bounced' }]);
});

test('where emails go to SES by SMTP, those of other senders of its account suppress nobody', async () => {
  const { post } = await receiveFromSns({ smtp_host: 'email-smtp.eu-central-1.amazonaws.com' });
  await sent('known-to-ses', address);
  await post(sesEventOf('of-another-sender', address, address));
  expect(await suppressed()).toEqual([]);
  await post(sesEventOf('known-to-ses', address, address));
  expect(await suppressed()).toMatchObject([{ reason: 'bounced' }]);
});

test('the subscription of the topic is confirmed, at SNS alone', async () => {
  const { post, asked } = await receiveFromSns();
  const subscription = { Type: 'SubscriptionConfirmation', Message: 'You have chosen', Token: '2336412f37' };
  const url = `${sns}/?Action=ConfirmSubscription&TopicArn=${topic}&Token=2336412f37`;
  expect(await post(signSns({ ...subscription, SubscribeURL: url }))).toBe(0);
  expect(asked).toContain(url);
  for (const SubscribeURL of [
    'https://evil.test/?Action=ConfirmSubscription',
    'https://169.254.169.254/',
    `${sns}:8443/`,
  ]) {
    await expect(post(signSns({ ...subscription, SubscribeURL }))).rejects.toThrow('not one of SNS');
  }
  expect(asked.filter((each) => !each.startsWith(`${sns}/`))).toEqual([]);
});

test('many forged events request few certificates from SNS at once', async () => {
  const { post, asked } = await receiveFromSns();
  const good = signSns({ Type: 'Notification', Message: sesBounce });
  const forged = Array.from({ length: 50 }, (_, index) => {
    const url = `${sns}/SimpleNotificationService-${index.toString(16).padStart(4, '0')}.pem`;
    return { ...good, body: JSON.stringify({ ...JSON.parse(good.body), SigningCertURL: url, Signature: 'AAAA' }) };
  });
  const answers = await Promise.allSettled(forged.map(post));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  expect(asked.length).toBeLessThanOrEqual(4);
});

test('forged events of SNS are refused, and no other server is asked for a certificate', async () => {
  const { post, asked } = await receiveFromSns();
  await sent();
  const good = signSns({ Type: 'Notification', Message: sesBounce });
  const change = (members: object): Signed => ({
    ...good,
    body: JSON.stringify({ ...JSON.parse(good.body), ...members }),
  });
  const certificates = [
    'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-00.pem',
    'https://sns.eu-central-1.amazonaws.com.evil.test/SimpleNotificationService-00.pem',
    'https://user@sns.eu-central-1.amazonaws.com/SimpleNotificationService-00.pem',
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-00.pem',
    'https://bucket.s3.amazonaws.com/SimpleNotificationService-00.pem',
    'https://sns.eu-central-1.amazonaws.com/other.pem',
    'https://sns.eu-central-1.amazonaws.com:444/SimpleNotificationService-00.pem',
    'file:///etc/passwd',
    '',
  ];
  const forged: readonly Signed[] = [
    change({ Message: sesBounce.replace('General', 'Other') }),
    change({ SignatureVersion: '3' }),
    change({ Signature: '' }),
    change({ Type: 'Other' }),
    change({ TopicArn: topic.replace('123456789012', '210987654321') }),
    signSns({ Type: 'Notification', Message: sesBounce, TopicArn: `${topic}-mine` }),
    signSns({ Type: 'Notification', Message: sesBounce, Timestamp: new Date(snsNow - 2 * 3_600_000).toISOString() }),
    ...certificates.map((SigningCertURL) => change({ SigningCertURL })),
  ];
  for (const request of forged) await expect(post(request)).rejects.toThrow();
  expect([await deliveries(), await suppressed()]).toMatchObject([[{ state: 'sent' }], []]);
  expect(new Set(asked)).toEqual(new Set([`${sns}/SimpleNotificationService-0123456789abcdef.pem`]));
  expect(await post(good)).toBe(1);
  expect(await post(good)).toBe(0);
});
