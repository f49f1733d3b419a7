/**
 * The email about a new password, whose process is killed at each step of the change in turn: it is sent where the password is
 * in force, and only there.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { send, testAuth } from '../support/auth-service.ts';
import { createSteps, startPostgresProxy } from '../support/holding-proxy.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { setPassword, signIn, startOutboxProcess, waitingEmails } from './outbox-process.ts';

test('a new password whose process is killed at any step is told if it is in force, and only then', async () => {
  const database = await createAuthDatabase();
  const smtp = await startSmtpServer({ tls: 'none' });
  const next = await testAuth(database, { smtp_host: '127.0.0.1', smtp_port: String(smtp.port) });
  const steps = createSteps();
  const proxy = await startPostgresProxy(steps, database.url);
  onTestFinished(() => proxy.stop());
  const { url, command } = await startOutboxProcess(database, smtp, proxy.url);
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
  await vi.waitFor(async () => expect(await waitingEmails(database)).toEqual([]));

  const changed: string[] = [];
  for (const email of emails) {
    const { status } = await send(next.url, '/token?grant_type=password', { email, password: 'another password' }, {});
    if (status === 200) changed.push(email);
  }
  // At least: the lock, what is written, the email, the commit.
  expect(emails.length).toBeGreaterThan(4);
  // The last was answered, the one before held when it had just been committed.
  expect(changed).toEqual(emails.slice(-2));
  const recipients = smtp.messages.flatMap((message) => message.recipients);
  expect([...new Set(recipients)].sort()).toEqual(changed.sort());
});
