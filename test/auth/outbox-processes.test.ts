/**
 * The outbox between real processes (`pgreflect serve`) on one database: an email that was stored arrives although the process
 * that sends it is killed in the middle, and of two processes one sends it.
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Running, startCommand } from '../commands/run-command.ts';
import { createAuthDatabase, send, testAuth } from '../support/auth-service.ts';
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

async function startProcess(): Promise<Process> {
  const env = {
    DATABASE_URL: database.urlAs('authenticator', 'test'),
    PGREFLECT_ADMIN_DATABASE_URL: database.url,
    PGREFLECT_JWT_SECRET: secret,
    PGREFLECT_SMTP_HOST: '127.0.0.1',
    PGREFLECT_SMTP_PORT: String(smtp.port),
    PGREFLECT_SMTP_ADMIN_EMAIL: 'no-reply@app.test',
    PGREFLECT_SITE_URL: 'https://app.test',
    PGREFLECT_RATE_LIMIT_EMAIL_SENT: '1000',
    PGREFLECT_MAILER_NOTIFICATIONS_PASSWORD_CHANGED_ENABLED: 'true',
  };
  const command = startCommand(['serve', '--port', '0'], { env, timeoutMs: 200_000 });
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)\/graphql\/v1/);
  return { url, command };
}

/** A new user changes the password. */
async function changePassword(url: string, email: string): Promise<void> {
  await send(url, '/admin/users', { email, password, email_confirm: true }, admin);
  const { body } = await send(url, '/token?grant_type=password', { email, password }, {});
  const options = { method: 'PUT', token: body.access_token };
  expect((await send(url, '/user', { password: 'another password' }, options)).status).toBe(200);
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

test('two processes that both look send each email once', async () => {
  const processes = await Promise.all([startProcess(), startProcess()]);
  const emails = Array.from({ length: 12 }, (_, number) => `once-${number}@x.test`);
  await Promise.all(emails.map((email, number) => changePassword(processes[number % 2]!.url, email)));
  await vi.waitFor(async () => expect(await waiting()).toEqual([]), { timeout: 15_000 });
  expect(recipients().sort()).toEqual(emails.sort());
  expect(new Set(smtp.messages.map(({ parsed }) => parsed.messageId)).size).toBe(emails.length);
});
