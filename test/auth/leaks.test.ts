/**
 * What nobody may learn or do through the auth service: accounts by time, secrets by the log, headers by metadata.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import { createPasswordHasher } from '../../src/auth/secrets/passwords.ts';
import { open, signedUp, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer } from '../support/smtp-server.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

test('a wrong password has a hash computed for unknown users as for known ones', async () => {
  const hasher = createPasswordHasher(1, 4);
  const computed: (string | null)[] = [];
  const counting: typeof hasher = {
    ...hasher,
    verify(password, hash, deadline) {
      computed.push(hash);
      return hasher.verify(password, hash, deadline);
    },
  };
  const auth = await testAuth(database, {}, { hasher: counting });
  await signedUp(auth, 'timed@x.test');
  const wrong = { password: 'wrong password' };
  for (const email of ['timed@x.test', 'unknown@x.test']) {
    expect((await auth.ask('/token?grant_type=password', { ...wrong, email })).status).toBe(400);
  }
  // That it takes as long without a hash as with one is shown in unit/auth/passwords.
  expect(computed).toEqual([expect.stringMatching(/^\$2b\$/), null]);
});

test('no password, token, code or address reaches the log', async () => {
  const auth = await testAuth(database);
  const email = 'logged@x.test';
  const session = await signedUp(auth, email, 'unusual password');
  await auth.ask('/recover', { email });
  const { link, code } = await auth.message(email);
  await open(link);
  await auth.ask('/token?grant_type=password', { email, password: 'another unusual password' });
  const log = JSON.stringify(auth.observations);
  expect(auth.observations.length).toBeGreaterThan(5);
  const token = new URL(link).searchParams.get('token')!;
  for (const secret of [email, 'unusual', session.access_token, session.refresh_token, code, token]) {
    expect(log).not.toContain(secret);
  }
});

test('metadata with line breaks adds no header to the email, and markup in it stays text', async () => {
  const smtp = await startSmtpServer({ tls: 'none' });
  const auth = await testAuth(database, {
    smtp_host: '127.0.0.1',
    smtp_port: String(smtp.port),
    smtp_admin_email: 'no-reply@app.test',
    mailer_subjects_confirmation: 'Hello {{ .Data.name }}',
    mailer_templates_confirmation_content: '<p>{{ .Data.name }} {{ .Token }}</p>',
  });
  const name = 'Eve\r\nBcc: all@x.test\r\n\r\n<script>{{ .Token }}</script>';
  await auth.ask('/signup', { email: 'eve@x.test', password, data: { name } });
  await vi.waitFor(() => expect(smtp.messages).toHaveLength(1));
  const [message] = smtp.messages;
  expect(message?.recipients).toEqual(['eve@x.test']);
  expect(message?.parsed.headers.map(({ key }) => key)).not.toContain('bcc');
  expect(message?.parsed.html).toMatch(/&lt;script&gt;\{\{ \.Token \}\}&lt;\/script&gt; \d{6}/);
});

test('a link never leads to a place that is not allowed', async () => {
  const auth = await testAuth(database, {
    uri_allow_list: 'https://ok.test/*, https://**--ok.test/**',
    smtp_max_frequency: 0,
  });
  const tricks = [
    'https://evil.test/',
    'https://app.test@evil.test/',
    'https://app.test.evil.test/',
    'https:\\\\evil.test',
    '//evil.test/',
    'javascript:alert(1)',
    'https://ok.test/a/b',
    'https://evil.test/https://ok.test/x',
    'https://evil.test/--ok.test/x',
  ];
  for (const trick of tricks) {
    await auth.ask(`/signup?redirect_to=${encodeURIComponent(trick)}`, { email: 'trick@x.test', password });
    expect(new URL((await auth.message('trick@x.test')).link).searchParams.get('redirect_to')).toBe('https://app.test');
  }
});

test('a refresh token, a code or a link of one user is of no use with the name of another', async () => {
  const auth = await testAuth(database);
  const one = await signedUp(auth, 'one@x.test');
  const two = await signedUp(auth, 'two@x.test');
  await auth.ask('/recover', { email: 'one@x.test' });
  const { code } = await auth.message('one@x.test');
  const reply = await auth.ask('/verify', { type: 'recovery', email: 'two@x.test', token: code });
  expect(reply.body.code).toBe('otp_expired');
  const mine = await auth.ask('/token?grant_type=refresh_token', { refresh_token: one.refresh_token });
  expect(mine.body.user.id).toBe(one.user.id);
  expect(two.user.id).not.toBe(one.user.id);
});
