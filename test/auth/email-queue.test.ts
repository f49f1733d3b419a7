/**
 * `mailer_delivery` = `queue`, the default: a request that sends a link or a code succeeds when the email is stored, and the email follows
 * when the mail server takes it. With `direct` the request fails instead (email-failures.test.ts).
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';

let database: TestDatabase;
let smtp: TestSmtpServer;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  smtp = await startSmtpServer({ tls: 'none' });
  await database.query('truncate pgreflect_queue.emails');
});

const password = 'a good password';

function startAuth(values: AuthValues = {}): Promise<TestAuth> {
  const server = { smtp_host: '127.0.0.1', smtp_port: String(smtp.port), smtp_admin_email: 'no-reply@app.test' };
  return testAuth(database, { ...server, smtp_max_frequency: 0, ...values });
}

async function emailTo(email: string) {
  const find = () => smtp.messages.find(({ recipients }) => recipients.includes(email));
  await vi.waitFor(() => expect(find()).toBeDefined());
  const html = find()?.parsed.html ?? '';
  return { code: />(\d{6})</.exec(html)?.[1], hash: /[?&]token=(\w+)/.exec(html)?.[1] };
}

test('a sign-up succeeds while the mail server is down; its code arrives later and is accepted', async () => {
  const auth = await startAuth();
  const email = 'away@x.test';
  smtp.behave({ kind: 'drop', at: 'connect' });
  expect(await auth.ask('/signup', { email, password })).toMatchObject({ status: 200, body: { email } });
  const delayed = () => auth.observations.filter(({ kind }) => kind === 'email_delayed');
  await vi.waitFor(() => expect(delayed()).toMatchObject([{ email: 'confirmation', attempts: 1 }]));
  smtp.behave({ kind: 'accept' });
  auth.pass(10);
  const { code } = await emailTo(email);
  expect((await auth.ask('/verify', { type: 'email', email, token: code })).status).toBe(200);
});

test.each([
  ['/signup', { email: 'up@x.test', password }],
  ['/otp', { email: 'code@x.test' }],
])('%s answers while its email waits for a mail server that does not answer', async (path, body) => {
  const auth = await startAuth();
  const { promise: until, resolve: take } = Promise.withResolvers<void>();
  smtp.behave({ kind: 'wait', until });
  expect((await auth.ask(path, body)).status).toBe(200);
  await vi.waitFor(() => expect(smtp.held()).toBe(1));
  expect(smtp.messages).toEqual([]);
  expect(await database.query('select attempts from pgreflect_queue.emails')).toEqual([{ attempts: 1 }]);
  take();
  expect((await emailTo(body.email)).hash).toBeDefined();
});

test('both emails of a change of the address are queued, each with the token of its recipient', async () => {
  const auth = await startAuth();
  const [email, changed] = ['both@x.test', 'both2@x.test'];
  await auth.ask('/signup', { email, password });
  const { body } = await auth.ask('/verify', { type: 'email', token_hash: (await emailTo(email)).hash });
  await auth.ask('/user', { email: changed }, { method: 'PUT', token: body.access_token });
  await vi.waitFor(() => expect(smtp.messages).toHaveLength(3));
  const hashes = smtp.messages.slice(1).map(({ parsed }) => /[?&]token=(\w+)/.exec(parsed.html ?? '')?.[1]);
  const answers = [];
  for (const token_hash of hashes) answers.push(await auth.ask('/verify', { type: 'email_change', token_hash }));
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[1]?.body.user.email).toBe(changed);
});

test('an email whose token has expired while it waited is given up', async () => {
  const auth = await startAuth({ mailer_otp_exp: 60 });
  smtp.behave({ kind: 'drop', at: 'connect' });
  await auth.ask('/signup', { email: 'late@x.test', password });
  await vi.waitFor(() => expect(auth.observations.map(({ kind }) => kind)).toContain('email_delayed'));
  smtp.behave({ kind: 'accept' });
  auth.pass(60);
  const givenUp = () => auth.observations.filter(({ kind }) => kind === 'email_given_up');
  await vi.waitFor(() => expect(givenUp()).toMatchObject([{ email: 'confirmation' }]));
  expect(smtp.messages).toEqual([]);
});

test('a request that fails after its email was made stores none: there is no user whose address it could confirm', async () => {
  const auth = await startAuth({
    mailer_template_lenient_compare: false,
    mailer_templates_confirmation_content: '{{ index .Data.list 5 }}',
  });
  const reply = await auth.ask('/signup', { email: 'broken@x.test', password, data: { list: [] } });
  expect(reply).toMatchObject({ status: 500, body: { message: 'Error sending confirmation email' } });
  expect(await database.query('select from pgreflect_queue.emails')).toEqual([]);
  expect(await database.query(`select from auth.users where email = 'broken@x.test'`)).toEqual([]);
});
