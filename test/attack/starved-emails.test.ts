/**
 * Somebody asks for emails to addresses that mail servers defer, such as those of domains whose names do not resolve. Each is tried again
 * and again, and the emails of everybody else must not wait behind them.
 */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHooks } from '../../src/auth/hooks/call-hook.ts';
import { createHookSender } from '../../src/auth/messages/send-by-hook.ts';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { OutboxWorker } from '../../src/email/outbox/outbox-worker.ts';
import { createMailer } from '../../src/email/transport/mailer.ts';
import { untraced } from '../../src/shared/trace/span.ts';
import { heldClock } from '../support/auth.ts';
import { sampleMessage } from '../support/email.ts';
import { emailDatabase } from '../support/email-database.ts';
import { startSmtpServer } from '../support/smtp-server.ts';

const { database, openPool } = await emailDatabase();

/** Four at each look at the outbox would take longer than a test may. */
const bad = 200;

test('an email arrives though hundreds to recipients that the server defers are older', async () => {
  const smtp = await startSmtpServer({ tls: 'none' });
  smtp.behave({ kind: 'refuse', at: 'recipient', code: 450, text: '4.1.2 Domain not found', recipients: /@bad\./ });
  const [pool, clock, observe] = [openPool(), heldClock(), () => {}];
  const urls = { authUrl: 'https://db.test/auth/v1', inboxUrl: 'https://db.test/studio/inbox' };
  const config = layerAuthConfig({ smtp_host: '127.0.0.1', smtp_port: String(smtp.port) });
  const outbox = new OutboxWorker({
    database: pool,
    mailer: createMailer({ database: pool, ...urls, observe, clock }),
    sendByHook: createHookSender(createHooks({ database: pool, clock, observe })),
    currentConfig: async () => config,
    isInstalled: async () => true,
    clock,
    observe,
    tracer: untraced,
    configVersion: () => 7,
  });
  await pool.transaction(async (tx) => {
    const addresses = [...Array.from({ length: bad }, (_, index) => `${index}@bad.test`), 'good@x.test'];
    for (const to of addresses) {
      const message = sampleMessage({}, { to }, 'password_changed_notification');
      await outbox.add(tx, { message, userId: randomUUID(), lifetimeSeconds: 3600, config });
    }
  });
  outbox.start();
  onTestFinished(() => outbox.stop());
  await vi.waitFor(() => expect(smtp.messages.flatMap(({ recipients }) => recipients)).toEqual(['good@x.test']));
  const others = Array.from({ length: bad }, () => ({ attempts: 1 }));
  await vi.waitFor(async () =>
    expect(await database.query('select attempts from pgreflect_queue.emails')).toEqual(others),
  );
});
