/**
 * The outbox between real processes (`pgreflect serve`) on one database: an email that was stored arrives although the process
 * that sends it is killed in the middle, and of two processes one sends it.
 */
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type Running, startCommand } from '../commands/run-command.ts';
import { createAuthDatabase, send, testAuth } from '../support/auth-service.ts';
import { createSteps, startPostgresProxy } from '../support/holding-proxy.ts';
import { secret, serviceKey } from '../support/http.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';

const password = 'a good password';
const admin = { key: serviceKey, token: serviceKey } as const;

let database: TestDatabase;
let smtp: TestSmtpServer;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  smtp = await startSmtpServer({ tls: 'none' });
});

interface Process {
  readonly url: string;
  readonly command: Running;
}

async function startProcess(adminUrl = database.url): Promise<Process> {
  const env = {
    DATABASE_URL: database.urlAs('authenticator', 'test'),
    PGREFLECT_ADMIN_DATABASE_URL: adminUrl,
    PGREFLECT_JWT_SECRET: secret,
    PGREFLECT_SMTP_HOST: '127.0.0.1',
    PGREFLECT_SMTP_PORT: String(smtp.port),
    PGREFLECT_SMTP_ADMIN_EMAIL: 'no-reply@app.test',
    PGREFLECT_SITE_URL: 'https://app.test',
    PGREFLECT_RATE_LIMIT_EMAIL_SENT: '1000',
    PGREFLECT_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
  };
  const args = ['serve', '--port', '0', '--auth-pool-size', '40', '--prepared-statements', 'false'];
  const command = startCommand(args, { env, timeoutMs: 200_000 });
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  return { url, command };
}

/** A new user. @returns An access token. */
async function signIn(url: string, email: string): Promise<string> {
  await send(url, '/admin/users', { email, password, email_confirm: true }, admin);
  return (await send(url, '/token?grant_type=password', { email, password }, {})).body.access_token;
}

const setPassword = (url: string, token: string) =>
  send(url, '/user', { password: 'another password' }, { method: 'PUT', token });

/** A new user changes the password. */
async function changePassword(url: string, email: string): Promise<void> {
  expect((await setPassword(url, await signIn(url, email))).status).toBe(200);
}

const waiting = () => database.query('select attempts from pgreflect_queue.emails');
const recipients = () => smtp.messages.flatMap((message) => message.recipients);

test('the email of a process that is killed while it sends is sent by the next one', async () => {
  const { url, command } = await startProcess();
  smtp.behave({ kind: 'wait', until: new Promise(() => {}) });
  await changePassword(url, 'killed@x.test');
  await vi.waitFor(() => expect(smtp.connections()).toBe(1));
  command.signal('SIGKILL');
  await command.finished;
  expect(await waiting()).toEqual([{ attempts: 1 }]);

  smtp.behave({ kind: 'accept' });
  const next = await testAuth(database, { smtp_host: '127.0.0.1', smtp_port: String(smtp.port) });
  next.pass(61);
  await vi.waitFor(async () => expect(await waiting()).toEqual([]), { timeout: 15_000 });
  expect(recipients()).toContain('killed@x.test');
});

test('a new password whose process is killed at any step is told if it is in force, and only then', async () => {
  const next = await testAuth(database, { smtp_host: '127.0.0.1', smtp_port: String(smtp.port) });
  const steps = createSteps();
  const proxy = await startPostgresProxy(steps, database.url);
  onTestFinished(() => proxy.stop());
  const { url, command } = await startProcess(proxy.url);
  const emails: string[] = [];
  let end: unknown = null;
  while (end !== 'answered') {
    const email = `step-${emails.length + 1}@x.test`;
    const token = await signIn(next.url, email);
    emails.push(email);
    const held = steps.hold(emails.length);
    const answered = setPassword(url, token).then(
      () => 'answered',
      () => 'cut',
    );
    end = await Promise.race([held, answered]);
    steps.pass();
  }
  command.signal('SIGKILL');
  await command.finished;
  // Its clock has stood still since it was started.
  next.pass(600);
  await vi.waitFor(async () => expect(await waiting()).toEqual([]), { timeout: 15_000 });

  const changed: string[] = [];
  for (const email of emails) {
    const { status } = await send(next.url, '/token?grant_type=password', { email, password: 'another password' }, {});
    if (status === 200) changed.push(email);
  }
  // At least: the lock, what is written, the email, the commit.
  expect(emails.length).toBeGreaterThan(4);
  // The last was answered, the one before held when it had just been committed.
  expect(changed).toEqual(emails.slice(-2));
  expect([...new Set(recipients())].sort()).toEqual(changed.sort());
});

test('two processes that both look send each email once', async () => {
  const processes = await Promise.all([startProcess(), startProcess()]);
  const emails = Array.from({ length: 12 }, (_, number) => `once-${number}@x.test`);
  await Promise.all(emails.map((email, number) => changePassword(processes[number % 2]!.url, email)));
  await vi.waitFor(async () => expect(await waiting()).toEqual([]), { timeout: 15_000 });
  expect(recipients().sort()).toEqual(emails.sort());
  expect(new Set(smtp.messages.map(({ parsed }) => parsed.messageId)).size).toBe(emails.length);
});
