/**
 * What an operator sees of emails: each one from the moment it is decided, with its state and the last answer of the mail server,
 * and nothing that would open an account.
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { cleanUp } from '../../src/auth/store/clean-up.ts';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { hashRecipient } from '../../src/email/outbox/deliveries.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';
import { addToken, ref, testPool } from './management.ts';

let database: TestDatabase;
let token: string;
let smtp: TestSmtpServer;
beforeAll(async () => {
  database = await createAuthDatabase();
  token = await addToken(database, { scopes: ['project:operate'] });
});
beforeEach(async () => {
  smtp = await startSmtpServer({ tls: 'none' });
  await database.query('truncate pgreflect_queue.emails, pgreflect_queue.deliveries, pgreflect_queue.suppressed');
});

const password = 'a good password';

function serve(values: AuthValues = {}): Promise<TestAuth> {
  const server = { smtp_host: '127.0.0.1', smtp_port: String(smtp.port), smtp_admin_email: 'no-reply@app.test' };
  return testAuth(
    database,
    { ...server, smtp_max_frequency: 0, ...values },
    { projectRef: ref, managementRateLimit: null },
  );
}

async function call(auth: TestAuth, path: string, { method = 'GET', as = token } = {}) {
  const headers = { authorization: `Bearer ${as}` };
  const response = await fetch(`${auth.url}/v1/projects/${ref}/emails/${path}`, { method, headers });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  return { status: response.status, body: (await response.json()) as any };
}

async function untilState(auth: TestAuth, state: string) {
  const read = async () => (await call(auth, 'deliveries')).body;
  await vi.waitFor(async () => expect((await read())[0]?.state).toBe(state), { timeout: 5000 });
  return read();
}

const suppress = (email: string) =>
  database.query(
    `insert into pgreflect_queue.suppressed (recipient_hash, recipient, reason, created_at, expires_at)
    values ($1, 'shown', 'bounced', now(), now() + interval '30 days')`,
    [hashRecipient(email)],
  );

test('an email is listed with its user, its state and the answer of the mail server', async () => {
  const auth = await serve();
  await auth.ask('/signup', { email: 'ana@x.test', password });
  const [delivery] = await untilState(auth, 'sent');
  const [user] = await database.query(`select id from auth.users where email = 'ana@x.test'`);
  expect(delivery).toEqual({
    id: expect.stringMatching(/^\d+$/),
    kind: 'confirmation',
    userId: user?.id,
    recipient: 'a***@x.test',
    locale: 'en',
    templateVersion: 0,
    state: 'sent',
    attempts: 1,
    event: null,
    answer: expect.stringMatching(/^250 /),
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    sentAt: expect.any(String),
    nextAttemptAt: null,
  });
  expect(await call(auth, `deliveries/${delivery.id}`)).toEqual({ status: 200, body: delivery });
});

test('an email that waits is deferred, with what the server said and the time of the next attempt, and sent later', async () => {
  const auth = await serve();
  smtp.behave({ kind: 'refuse', at: 'recipient', code: 451, text: '4.7.1 Greylisted: bo@x.test, code 123456' });
  await auth.ask('/signup', { email: 'bo@x.test', password });
  const [deferred] = await untilState(auth, 'deferred');
  expect(deferred).toMatchObject({ attempts: 1, sentAt: null });
  expect(Date.parse(deferred.nextAttemptAt) - Date.parse(deferred.updatedAt)).toBe(10_000);
  expect((await call(auth, `deliveries/${deferred.id}`)).body).toEqual(deferred);
  expect(deferred.answer).toContain('451 4.7.1 Greylisted: [address] code [number]');
  smtp.behave({ kind: 'accept' });
  auth.pass(10);
  expect(await untilState(auth, 'sent')).toMatchObject([{ attempts: 2, recipient: 'b***@x.test' }]);
});

test('an answer that quotes the encoded subject, or the recipient without its domain, shows neither code nor address', async () => {
  const auth = await serve();
  const { access_token: asking } = await signedUp(await testAuth(database), 'ada.lovelace@x.test');
  await auth.ask('/user', { data: { locale: 'de' } }, { method: 'PUT', token: asking });
  smtp.behave({ kind: 'accept' });
  await auth.ask('/reauthenticate', undefined, { token: asking });
  await untilState(auth, 'sent');
  const [, subject = ''] = /^Subject: (.+)$/m.exec(smtp.messages.at(-1)?.raw ?? '') ?? [];
  const [code = ''] = /\d{6}/.exec(subject) ?? [];
  expect(subject).toMatch(/^=\?UTF-8\?Q\?\d{6}_ist_dein/);
  smtp.behave({
    kind: 'refuse',
    at: 'recipient',
    code: 451,
    text: `4.7.1 ${subject.trim()} to ada.lovelace: looks like spam`,
  });
  await auth.ask('/reauthenticate', undefined, { token: asking });
  const [deferred] = await untilState(auth, 'deferred');
  expect(deferred.answer).not.toMatch(new RegExp(`ada\\.lovelace|${code}`));
  expect(deferred.answer).toContain('to [address] looks like spam');
});

test('an email that the server refuses has failed', async () => {
  const auth = await serve();
  smtp.behave({ kind: 'refuse', at: 'recipient', code: 550, text: '5.1.1 No such user' });
  await auth.ask('/signup', { email: 'nobody@x.test', password });
  const [failed] = await untilState(auth, 'failed');
  expect(failed.answer).toContain('550 5.1.1 No such user');
});

test('emails sent during the request are listed, also those that make it fail', async () => {
  const auth = await serve({ mailer_delivery: 'direct' });
  await auth.ask('/signup', { email: 'direct@x.test', password });
  expect(await untilState(auth, 'sent')).toHaveLength(1);
  smtp.behave({ kind: 'refuse', at: 'recipient', code: 550, text: '5.1.1 No such user' });
  expect((await auth.ask('/signup', { email: 'fails@x.test', password })).status).toBe(500);
  expect(await untilState(auth, 'failed')).toMatchObject([{ recipient: 'f***@x.test', attempts: 1 }, {}]);
  expect(await database.query(`select from auth.users where email = 'fails@x.test'`)).toEqual([]);
});

async function sendTest(auth: TestAuth, to = 'me@x.test') {
  const headers = { authorization: `Bearer ${await addToken(database)}`, 'content-type': 'application/json' };
  const target = `${auth.url}/v1/projects/${ref}/config/auth/emails/send`;
  const body = JSON.stringify({ email: 'invite', to, locale: 'de' });
  const response = await fetch(target, { method: 'POST', headers, body });
  const { message } = (await response.json()) as { readonly message?: string };
  return { status: response.status, message };
}

test('a test email is listed without a user, also one that the server refuses', async () => {
  const auth = await serve();
  expect(await sendTest(auth)).toMatchObject({ status: 200 });
  smtp.behave({ kind: 'refuse', at: 'recipient', code: 550, text: '5.1.1 No such user' });
  expect(await sendTest(auth)).toMatchObject({ status: 502 });
  expect((await call(auth, 'deliveries?kind=invite')).body).toMatchObject([
    { userId: null, state: 'failed', answer: expect.stringContaining('550 5.1.1 No such user') },
    { userId: null, state: 'sent', recipient: 'm***@x.test', locale: 'de', attempts: 1 },
  ]);
});

test('a test email to a suppressed address is refused and listed, unless bounces do not suppress', async () => {
  const auth = await serve();
  await suppress('Gone@x.test');
  expect(await sendTest(auth, 'gone@X.test')).toEqual({
    status: 400,
    message:
      'Nothing was sent: an earlier email to this address bounced or its reader complained. Lift the address in Deliveries first.',
  });
  expect((await call(auth, 'deliveries')).body).toMatchObject([{ userId: null, state: 'suppressed', attempts: 0 }]);
  expect(smtp.messages).toEqual([]);
  expect(await sendTest(await serve({ mailer_suppress_bounced: false }), 'gone@x.test')).toMatchObject({ status: 200 });
  expect(smtp.messages).toHaveLength(1);
});

test('a test email that cannot be listed is not sent', async () => {
  const auth = await serve();
  await database.query('alter table pgreflect_queue.deliveries rename to elsewhere');
  const refused = await sendTest(auth).finally(() =>
    database.query('alter table pgreflect_queue.elsewhere rename to deliveries'),
  );
  expect(refused).toEqual({
    status: 500,
    message: 'The deliveries could not be read or changed. Try again.',
  });
  expect(smtp.messages).toEqual([]);
});

test('emails through the API of a mail service are listed with the id that it gave them', async () => {
  const server = await startHookServer(null);
  server.answer({ body: { ErrorCode: 0, MessageID: 'b7bc2f4a' } });
  const auth = await serve({ mailer_transport: 'postmark', mailer_api_key: 'our key', mailer_api_url: server.url });
  await auth.ask('/signup', { email: 'api@x.test', password });
  expect(await untilState(auth, 'sent')).toMatchObject([{ answer: 'HTTP 200' }]);
  expect(server.requests).toHaveLength(1);
  expect(await database.query('select message_id from pgreflect_queue.deliveries')).toEqual([
    { message_id: 'b7bc2f4a' },
  ]);
});

test('emails of the hook and those that a limit holds back are listed', async () => {
  const server = await startHookServer();
  const hook = { hook_send_email_enabled: true, hook_send_email_uri: server.url, hook_send_email_secrets: hookSecret };
  const auth = await serve({ ...hook, mailer_delivery: 'direct', rate_limit_email_recipient: 1 });
  await auth.ask('/signup', { email: 'hook@x.test', password });
  await auth.ask('/signup', { email: 'hook@x.test', password });
  const { body } = await call(auth, 'deliveries');
  expect(body).toMatchObject([
    { state: 'suppressed', answer: 'rate_limit_email_recipient is used up', attempts: 0 },
    { state: 'sent', recipient: 'h***@x.test' },
  ]);
});

test.each([
  ['full', 'cleo@x.test'],
  ['none', null],
] as const)('with mailer_deliveries_recipients %s the list shows %s', async (setting, shown) => {
  const auth = await serve({ mailer_deliveries_recipients: setting });
  await auth.ask('/signup', { email: 'cleo@x.test', password });
  expect(await untilState(auth, 'sent')).toMatchObject([{ recipient: shown }]);
});

test('rows of deliveries have no code, link or text of the email', async () => {
  const auth = await serve();
  await auth.ask('/signup', { email: 'secret@x.test', password });
  await untilState(auth, 'sent');
  const html = smtp.messages[0]?.parsed.html || '';
  const [, code = 'none'] = />(\d{6})</.exec(html) ?? [];
  const [, link = 'none'] = /[?&]token=(\w+)/.exec(html) ?? [];
  const [row] = await database.query('select row_to_json(d)::text as text from pgreflect_queue.deliveries d');
  expect(code).toMatch(/^\d{6}$/);
  expect([String(row?.text).includes(code), String(row?.text).includes(link)]).toEqual([false, false]);
});

test('a change that is rolled back leaves no delivery', async () => {
  const { access_token } = await signedUp(await testAuth(database), 'rolled@x.test');
  const auth = await serve({ rate_limit_email_sent: 1, mailer_delivery: 'direct' });
  await database.query('truncate pgreflect_queue.deliveries');
  await database.query(`delete from auth.pgreflect_rate_limits where name like '%sent:email'`);
  const put = await auth.ask('/user', { email: 'other@x.test' }, { method: 'PUT', token: access_token });
  expect(put.status).toBe(429);
  expect((await call(auth, 'deliveries')).body).toEqual([]);
});

test('deliveries can be paged and filtered, and a wrong filter is refused by name', async () => {
  const auth = await serve();
  for (const name of ['p1', 'p2', 'p3']) await auth.ask('/signup', { email: `${name}@x.test`, password });
  await vi.waitFor(async () => expect((await call(auth, 'deliveries?state=sent')).body).toHaveLength(3));
  const first = (await call(auth, 'deliveries?limit=2')).body;
  expect(first).toHaveLength(2);
  const rest = (await call(auth, `deliveries?limit=2&before=${first[1].id}`)).body;
  expect([...first, ...rest].map(({ recipient }) => recipient)).toEqual(['p***@x.test', 'p***@x.test', 'p***@x.test']);
  expect((await call(auth, `deliveries?user=${rest[0].userId}`)).body).toEqual(rest);
  expect((await call(auth, 'deliveries?kind=invite')).body).toEqual([]);
  expect((await call(auth, 'deliveries?kind=confirmation&state=sent')).body).toHaveLength(3);
  const wrong = await call(auth, `deliveries?state=lost&kind=x&user=1&before=${'9'.repeat(19)}&limit=0`);
  expect([wrong.status, wrong.body.code]).toEqual([400, 'validation_failed']);
  for (const name of ['state', 'kind', 'user', 'before', 'limit']) expect(wrong.body.message).toContain(`${name} must`);
  for (const id of ['0', 'x', '9'.repeat(30)]) expect((await call(auth, `deliveries/${id}`)).status).toBe(404);
});

test('only operators read deliveries and lift suppressed addresses', async () => {
  const auth = await serve();
  const weak = await addToken(database);
  const tried = [
    await call(auth, 'deliveries', { as: weak }),
    await call(auth, 'deliveries/1', { as: weak }),
    await call(auth, 'suppressed', { as: weak }),
    await call(auth, `suppressed/${'0'.repeat(64)}`, { as: weak, method: 'DELETE' }),
    await call(auth, 'deliveries', { as: 'nobody' }),
  ];
  expect(tried.map(({ status }) => status)).toEqual([403, 403, 403, 403, 401]);
});

test.each(['queue', 'direct'] as const)(
  'a suppressed address gets no email (%s) until an operator lifts it',
  async (mode) => {
    const auth = await serve({ mailer_delivery: mode });
    const email = `${mode}.bounced@x.test`;
    await suppress(email.toUpperCase());
    expect((await auth.ask('/signup', { email, password })).status).toBe(200);
    await untilState(auth, 'suppressed');
    expect(smtp.messages).toEqual([]);
    const [entry] = (await call(auth, 'suppressed')).body;
    expect(entry).toMatchObject({ reason: 'bounced', recipient: 'shown', id: hashRecipient(email).toString('hex') });
    expect((await call(auth, `suppressed/${entry.id}`, { method: 'DELETE' })).status).toBe(200);
    expect((await call(auth, `suppressed/${entry.id}`, { method: 'DELETE' })).status).toBe(404);
    await auth.ask('/resend', { type: 'signup', email });
    await untilState(auth, 'sent');
    expect(smtp.messages).toHaveLength(1);
  },
);

test('with mailer_suppress_bounced off every address gets its emails', async () => {
  const auth = await serve({ mailer_suppress_bounced: false });
  await suppress('any@x.test');
  await auth.ask('/signup', { email: 'any@x.test', password });
  expect(await untilState(auth, 'sent')).toHaveLength(1);
});

test('deliveries and suppressed addresses are deleted after their time', async () => {
  const auth = await serve();
  await auth.ask('/signup', { email: 'old@x.test', password });
  await untilState(auth, 'sent');
  await suppress('old@x.test');
  const pool = testPool(database);
  const clean = (days: number) =>
    cleanUp(pool, { config: layerAuthConfig(), now: Date.now() + days * 86_400_000, deleteAnonymousUsers: false });
  expect(await clean(29)).toMatchObject({ deliveries: 0, suppressed: 0 });
  expect(await clean(31)).toMatchObject({ deliveries: 1, suppressed: 1 });
});

test('a delivery whose email waits is kept beyond its time: it says whether the address is suppressed', async () => {
  const auth = await serve({ mailer_deliveries_retention_days: 1 });
  await auth.ask('/signup', { email: 'waits@x.test', password });
  await untilState(auth, 'sent');
  // A notification is tried for three days.
  const stored = `update pgreflect_queue.deliveries set state = 'deferred', created_at = now() - interval '2 days' returning id`;
  const [delivery] = await database.query<{ readonly id: string }>(stored);
  const waiting = `insert into pgreflect_queue.emails (kind, user_id, message, created_at, expires_at, due_at, delivery_id)
    values ('recovery', gen_random_uuid(), '{}', now(), now() + interval '1 day', now() + interval '1 day', $1)`;
  await database.query(waiting, [delivery?.id]);
  const pool = testPool(database);
  const config = layerAuthConfig({ mailer_deliveries_retention_days: 1 });
  const clean = () => cleanUp(pool, { config, now: Date.now(), deleteAnonymousUsers: false });
  expect(await clean()).toMatchObject({ deliveries: 0 });
  await database.query('truncate pgreflect_queue.emails');
  expect(await clean()).toMatchObject({ deliveries: 1 });
});

test('the metrics count the emails by kind and state', async () => {
  const auth = await serve();
  const metrics = async () =>
    (await fetch(`${auth.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
  await metrics();
  await auth.ask('/signup', { email: 'counted@x.test', password });
  await untilState(auth, 'sent');
  await vi.waitFor(async () =>
    expect(await metrics()).toMatch(/pgreflect_emails_total\{kind="confirmation",state="sent"\} \d/),
  );
});
