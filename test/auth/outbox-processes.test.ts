/**
 * The outbox between real processes (`pgreflect serve`) on one database: an email that was stored arrives although the process
 * that sends it is killed in the middle.
 */
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { testAuth } from '../support/auth-service.ts';
import { createSteps, startSmtpProxy } from '../support/holding-proxy.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';
import { setPassword, signIn, startOutboxProcess, waitingEmails } from './outbox-process.ts';

let database: TestDatabase;
let smtp: TestSmtpServer;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  smtp = await startSmtpServer({ tls: 'none' });
});

/** A new user changes the password. */
async function changePassword(url: string, email: string): Promise<void> {
  expect((await setPassword(url, await signIn(url, email))).status).toBe(200);
}

/** Its emails have been sent, by a gateway in this process. */
async function sendTheRest(): Promise<void> {
  const next = await testAuth(database, { smtp_host: '127.0.0.1', smtp_port: String(smtp.port) });
  next.pass(61);
  await vi.waitFor(async () => expect(await waitingEmails(database)).toEqual([]));
  // Left to the next test, it would take the emails of the processes there, at a time that is a minute ahead.
  await next.gateway.stop();
}

const recipients = () => smtp.messages.flatMap((message) => message.recipients);

test('an email whose process is killed after the mail server has taken it comes again, as the same message', async () => {
  const steps = createSteps();
  const { port, stop } = await startSmtpProxy(steps, smtp.port);
  onTestFinished(stop);
  const { url, command } = await startOutboxProcess(database, { port });
  const taken = steps.hold(1);
  await changePassword(url, 'taken@x.test');
  await taken;
  expect(recipients()).toEqual(['taken@x.test']);
  command.signal('SIGKILL');
  await command.finished;

  await sendTheRest();
  expect(recipients()).toEqual(['taken@x.test', 'taken@x.test']);
  const [before, after] = smtp.messages.map(({ parsed }) => parsed);
  expect([after?.messageId, after?.html]).toEqual([before?.messageId, before?.html]);
  expect(before?.messageId).toMatch(/^<.+@app\.test>$/);
});
