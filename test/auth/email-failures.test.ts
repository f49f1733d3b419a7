/**
 * When an email cannot be sent with `mailer_delivery` = `direct`: the request says so, nothing of it is stored, and the same request
 * works afterwards. What the queue does: email-queue.test.ts.
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { fragmentOf, open, signedUp, signedUpBefore, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';

let database: TestDatabase;
let smtp: TestSmtpServer;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  smtp = await startSmtpServer({ tls: 'none' });
});

const password = 'a good password';
/** Gateways of a database share its queue: one that captures emails has its own sent before one with this server begins. */
const server = () =>
  ({
    smtp_host: '127.0.0.1',
    smtp_port: String(smtp.port),
    smtp_admin_email: 'no-reply@app.test',
    mailer_delivery: 'direct',
  }) as const;
const count = async (email: string) =>
  (await database.query('select from auth.users where email = $1', [email])).length;

test('a sign-up whose email is refused leaves no user, and works once the server takes emails', async () => {
  const auth = await testAuth(database, server());
  const email = 'refused@x.test';
  for (const behaviour of [
    { kind: 'refuse', at: 'message', code: 554, text: 'no' },
    { kind: 'drop', at: 'data' },
    { kind: 'drop', at: 'connect' },
  ] as const) {
    smtp.behave(behaviour);
    const reply = await auth.ask('/signup', { email, password });
    expect(reply).toMatchObject({
      status: 500,
      body: { code: 'unexpected_failure', message: 'Error sending confirmation email' },
    });
    expect(await count(email)).toBe(0);
  }
  smtp.behave({ kind: 'accept' });
  expect((await auth.ask('/signup', { email, password })).status).toBe(200);
  expect(smtp.messages.at(-1)?.recipients).toEqual([email]);
  const failures = auth.observations.filter(({ kind }) => kind === 'masked_error');
  expect(failures).toHaveLength(3);
});

test('a sign-up whose database goes away while its email is sent is to be retried: the email did not fail', async () => {
  const auth = await testAuth(database, server());
  const answer = Promise.withResolvers<void>();
  smtp.behave({ kind: 'wait', until: answer.promise });
  const email = 'cut@x.test';
  const reply = auth.ask('/signup', { email, password });
  await vi.waitFor(() => expect(smtp.held()).toBe(1));
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`);
  answer.resolve();
  const { status, headers } = await reply;
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect(await count(email)).toBe(0);
  smtp.behave({ kind: 'accept' });
  expect((await auth.ask('/signup', { email, password })).status).toBe(200);
});

test('the older link stays valid where the newer email cannot be sent', async () => {
  const captured = await testAuth(database, { smtp_max_frequency: 0 });
  const email = 'older@x.test';
  await signedUp(captured, email);
  await captured.ask('/recover', { email });
  const { link } = await captured.message(email);
  const auth = await testAuth(database, { ...server(), smtp_max_frequency: 0 });
  smtp.behave({ kind: 'refuse', at: 'recipient', code: 550, text: 'no' });
  expect((await auth.ask('/recover', { email })).body.message).toBe('Error sending recovery email');
  expect(fragmentOf((await open(link)).location).access_token).toBeDefined();
});

test('a template that fails with the data of a user is an error, and nothing is stored', async () => {
  const broken = {
    mailer_template_lenient_compare: false,
    mailer_templates_confirmation_content: '{{ index .Data.list 5 }}',
  };
  const auth = await testAuth(database, broken);
  const reply = await auth.ask('/signup', { email: 'broken@x.test', password, data: { list: [1] } });
  expect(reply).toMatchObject({ status: 500, body: { message: 'Error sending confirmation email' } });
  expect(await count('broken@x.test')).toBe(0);
});

test('an account can be recovered although its metadata makes the template fail', async () => {
  const content = '{{ if eq .Data.lang "de" }}Hallo{{ end }} <a href="{{ .ConfirmationURL }}">x</a>';
  const auth = await testAuth(database, {
    mailer_templates_recovery_content: content,
    mailer_templates_magic_link_content: content,
    mailer_template_lenient_compare: false,
    smtp_max_frequency: 0,
  });
  const email = 'poisoned@x.test';
  const { access_token: thief } = await signedUp(auth, email);
  expect((await auth.ask('/user', { data: { lang: 1 } }, { method: 'PUT', token: thief })).status).toBe(200);
  for (const path of ['/recover', '/otp']) {
    expect((await auth.ask(path, { email })).status).toBe(200);
    const { link } = await auth.message(email);
    expect(fragmentOf((await open(link)).location).access_token).toBeDefined();
  }
  const refused = auth.observations.filter(({ kind }) => kind === 'template_refused');
  expect(refused).toMatchObject([{ email: 'recovery' }, { email: 'magic_link' }]);
});

test('a change of password in the same request is undone with the email that cannot be sent', async () => {
  const { access_token: token } = await signedUpBefore(database, 'both@x.test');
  const auth = await testAuth(database, server());
  smtp.behave({ kind: 'refuse', at: 'message', code: 554, text: 'no' });
  const body = { password: 'another password', email: 'both2@x.test' };
  const reply = await auth.ask('/user', body, { method: 'PUT', token });
  expect(reply).toMatchObject({ status: 500, body: { message: 'Error sending email change email' } });
  const sign = (given: string) => auth.ask('/token?grant_type=password', { email: 'both@x.test', password: given });
  expect([(await sign(password)).status, (await sign('another password')).status]).toEqual([200, 400]);
});

test('while a mail server is slow only what waits for it waits: half of the connections are for all others', async () => {
  const captured = await testAuth(database);
  const email = 'quick@x.test';
  const signedIn = await signedUp(captured, email);
  const auth = await testAuth(database, server(), { authPoolSize: 4, poolWaitMs: 2000 });
  let answer = () => {};
  const until = new Promise<void>((resolve) => {
    answer = resolve;
  });
  smtp.behave({ kind: 'wait', until });
  const waiting = ['a', 'b'].map((name) => auth.ask('/signup', { email: `slow-${name}@x.test`, password }));
  await vi.waitFor(() => expect(smtp.connections()).toBe(2));
  const refused = ['c', 'd'].map((name) => auth.ask('/signup', { email: `slow-${name}@x.test`, password }));

  expect((await auth.ask('/token?grant_type=password', { email, password })).status).toBe(200);
  const { refresh_token } = signedIn;
  const refreshed = await auth.ask('/token?grant_type=refresh_token', { refresh_token });
  const { access_token: token } = refreshed.body;
  expect((await auth.ask('/user', { password: 'another password' }, { method: 'PUT', token })).status).toBe(200);
  expect((await auth.ask('/verify', { type: 'email', email, token: '000000' })).status).toBe(403);
  expect((await auth.askAdmin('/admin/users', { email: 'made@x.test' })).status).toBe(200);
  for (const { status, headers } of await Promise.all(refused)) {
    expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  }

  answer();
  expect((await Promise.all(waiting)).map((reply) => reply.status)).toEqual([200, 200]);
  expect((await auth.ask('/signup', { email: 'slow-c@x.test', password })).status).toBe(200);
});
