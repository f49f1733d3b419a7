/**
 * Keeping somebody else from their emails: by events that name their address although the email went elsewhere, by complaints about
 * other senders of the same account, and by signing with what everybody knows. Then what lists of emails could tell.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type AuthValues, checkAuthConfig, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { applyEvents } from '../../src/email/events/apply-events.ts';
import type { MailEventKind } from '../../src/email/events/mail-event.ts';
import { readPostmarkEvents } from '../../src/email/events/postmark-events.ts';
import { readSesEvents } from '../../src/email/events/ses-events.ts';
import { hashRecipient } from '../../src/email/outbox/deliveries.ts';
import { testPool } from '../management/management.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
const victim = 'ana@x.test';

beforeAll(async () => {
  database = await createAuthDatabase();
});

beforeEach(async () => {
  await database.query('truncate pgreflect_queue.deliveries, pgreflect_queue.suppressed, auth.pgreflect_rate_limits');
  await sent('of-ana', victim);
  await sent('of-attacker', 'attacker@evil.test');
});

async function sent(messageId: string, to: string): Promise<void> {
  await database.query(
    `insert into pgreflect_queue.deliveries
      (kind, user_id, recipient_hash, template_version, state, attempts, created_at, updated_at, sent_at, message_id)
    values ('recovery', gen_random_uuid(), $1, 0, 'sent', 1, now(), now(), now(), $2)`,
    [hashRecipient(to), messageId],
  );
}

async function tell(messageId: string, kind: MailEventKind = 'bounced', values: AuthValues = {}, address = victim) {
  const event = { kind, messageIds: [messageId], address, answer: 'smtp; 550' };
  await testPool(database).transaction((tx) =>
    applyEvents(tx, { id: `${messageId} ${kind}`, events: [event] }, layerAuthConfig(values), Date.now()),
  );
  return (await database.query('select from pgreflect_queue.suppressed')).length;
}

test("a bounce of the attacker's own email that names another recipient suppresses nobody", async () => {
  expect(await tell('of-attacker')).toBe(0);
  expect(await database.query("select from pgreflect_queue.deliveries where state <> 'sent'")).toEqual([]);
  expect(await tell('of-ana')).toBe(1);
});

test.each(['bounced', 'complained'] as const)(
  'an email %s that another project sent through the same account suppresses nobody',
  async (kind) => {
    const own: AuthValues = { mailer_transport: 'resend', mailer_api_key: 'key' };
    expect(await tell('of-another-project', kind, own)).toBe(0);
    expect(await tell('of-ana', kind, own)).toBe(1);
  },
);

test('ids and answers with wildcards, quotes and foreign code are text', async () => {
  for (const id of ['%', '_', "' or true --", '{of-ana}', '{}', '']) {
    await tell(id, 'failed');
    await tell(id, 'bounced', {}, `%' or true --@x.test`);
  }
  expect(await database.query("select from pgreflect_queue.deliveries where state <> 'sent'")).toEqual([]);
  expect(await database.query('select from pgreflect_queue.suppressed')).toEqual([]);
});

test('an event with characters that PostgreSQL cannot store does not hold up the others', async () => {
  const body = Buffer.from(
    JSON.stringify({
      RecordType: 'Bounce',
      Type: 'HardBounce',
      MessageID: 'a\0b',
      Email: 'a\0b@x.test',
      Details: '\0',
    }),
  );
  const time = new Date().toISOString();
  const whole = Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), BouncedAt: time }));
  const headers = { authorization: `Basic ${Buffer.from('user:password').toString('base64')}` };
  const tools = { secret: 'user:password', now: Date.now(), fetchText: async () => '' };
  const verified = await readPostmarkEvents({ headers, body: whole }, tools);
  const apply = testPool(database).transaction((tx) => applyEvents(tx, verified, layerAuthConfig({}), Date.now()));
  expect(await apply).toBe(true);
});

test('what everybody may know is no secret of a service that signs with it', () => {
  const known = [
    `MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE${'a'.repeat(86)}==`,
    'arn:aws:sns:eu-central-1:123456789012:mail',
  ];
  for (const mailer_events_service of ['mailgun', 'resend', 'postmark'] as const) {
    for (const mailer_events_secret of known) {
      const values = layerAuthConfig({ mailer_events_service, mailer_events_secret });
      expect(checkAuthConfig(values)).toEqual([expect.stringContaining('mailer_events_secret must be')]);
    }
  }
});

test('the address of a certificate of SNS has no parameters, which would fill the cache', async () => {
  const asked: string[] = [];
  const fetchText = async (url: string) => {
    asked.push(url);
    return '';
  };
  const arn = 'arn:aws:sns:eu-central-1:123456789012:mail';
  const certificate = 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-00.pem';
  const post = (SigningCertURL: string) =>
    readSesEvents(
      {
        headers: {},
        body: Buffer.from(JSON.stringify({ Type: 'Notification', TopicArn: arn, Message: '{}', SigningCertURL })),
      },
      { secret: arn, now: Date.now(), fetchText },
    ) as Promise<unknown>;
  for (const end of ['?1.pem', '/../?.pem', '%00.pem', '/x.pem']) {
    await expect(post(certificate + end)).rejects.toThrow('not one of SNS');
  }
  expect(asked).toEqual([]);
});

test('no role of the API reads or changes deliveries and suppressed addresses', async () => {
  const tables = ['pgreflect_queue.deliveries', 'pgreflect_queue.suppressed', 'pgreflect_queue.emails'];
  const rows = await database.query(
    `select r, t from unnest(array['anon', 'authenticated']) r, unnest($1::text[]) t
    where has_schema_privilege(r, 'pgreflect_queue', 'usage')
      or has_table_privilege(r, t, 'select, insert, update, delete, truncate')`,
    [tables],
  );
  expect(rows).toEqual([]);
});
