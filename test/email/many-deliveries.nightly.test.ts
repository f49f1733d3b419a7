/**
 * Ten thousand emails of the queue through a mail server that defers, refuses, hangs and dies: each ends in the state that it should,
 * and none arrives twice where the protocol lets one know.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { createHooks } from '../../src/auth/hooks/call-hook.ts';
import { createHookSender } from '../../src/auth/messages/send-by-hook.ts';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { DeliveryOutcome } from '../../src/email/outbox/deliveries.ts';
import { type ClaimedEmail, claimEmails, removeEmail, storeEmail } from '../../src/email/outbox/outbox.ts';
import { sendFromOutbox } from '../../src/email/outbox/send-from-outbox.ts';
import { createMailer } from '../../src/email/transport/mailer.ts';
import type { SystemPool } from '../../src/postgres/system/run-system.ts';
import { untraced } from '../../src/shared/trace/span.ts';
import { heldClock } from '../support/auth.ts';
import { sampleMessage } from '../support/email.ts';
import { emailDatabase } from '../support/email-database.ts';

const emails = 10_000;

/** What the server does with an email at its first attempts; then it takes it. In front: how many of a thousand. */
const behaviors = [
  [2, 'hang', 2],
  [10, 'die', 1],
  [10, 'late', 1],
  [50, 'refuse', Number.POSITIVE_INFINITY],
  [100, 'defer', 1],
  [828, 'take', 0],
] as const;

type Behavior = (typeof behaviors)[number][1];

const perThousand = behaviors.flatMap(([count, name]) => Array<Behavior>(count).fill(name));
const timesOf = (name: string) => behaviors.find(([, known]) => known === name)?.[2] ?? 0;

/** A mail server that goes by the part of the recipient before the dot. */
async function startMoodyServer() {
  const attempts = new Map<string, number>();
  const received = new Map<string, number>();
  const of = ({ envelope }: SMTPServerSession) => envelope.rcptTo[0]?.address ?? '';
  const misbehaves = (address: string, name: Behavior) =>
    address.startsWith(`${name}.`) && (attempts.get(address) ?? 0) <= timesOf(name);
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo({ address }, _session, done) {
      attempts.set(address, (attempts.get(address) ?? 0) + 1);
      if (misbehaves(address, 'hang')) return;
      if (misbehaves(address, 'defer')) return done(Object.assign(new Error('4.7.1 Later'), { responseCode: 451 }));
      if (misbehaves(address, 'refuse')) return done(Object.assign(new Error('5.1.1 Nobody'), { responseCode: 550 }));
      done();
    },
    onData(stream, session, done) {
      stream.resume();
      stream.on('end', () => {
        const address = of(session);
        const [dies, isLate] = [misbehaves(address, 'die'), misbehaves(address, 'late')];
        if (!dies) received.set(address, (received.get(address) ?? 0) + 1);
        if (dies || isLate) cut(session.id);
        else done(null);
      });
    },
  });
  function cut(id: string): void {
    for (const connection of server.connections) {
      if (connection.id === id) (connection as unknown as { _socket: Socket })._socket.destroy();
    }
  }
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received };
}

test('each of ten thousand emails ends in the state that it should', async () => {
  const { database, openPool } = await emailDatabase();
  const { port, received } = await startMoodyServer();
  const clock = heldClock();
  const config = layerAuthConfig({
    smtp_host: '127.0.0.1',
    smtp_port: String(port),
    smtp_admin_email: 'shop@mail.test',
    mailer_deliveries_recipients: 'full',
  });
  const message = sampleMessage();
  await openPool().transaction(async (tx) => {
    for (let number = 0; number < emails; number += 1) {
      const to = `${perThousand[number % perThousand.length]}.${number}@mail.test`;
      const email = { message: { ...message, to }, userId: randomUUID(), lifetimeSeconds: 86_400, config };
      await storeEmail(tx, email, { version: 0, now: clock.now() });
    }
  });
  const waiting = async () => {
    const [row] = await database.query(
      'select count(*)::integer as count, min(due_at) as due from pgreflect_queue.emails',
    );
    return row as { readonly count: number; readonly due: Date };
  };
  let underway = 0;
  /** A process: it takes what is due, and moves the time where nothing is. */
  const work = async (pool: SystemPool) => {
    const urls = { authUrl: 'https://db.test/auth/v1', inboxUrl: 'https://db.test/studio/inbox' };
    const observe = () => {};
    const mailer = createMailer({ database: pool, ...urls, observe, clock, timeoutMs: 3000 });
    const parts = {
      database: pool,
      mailer,
      sendByHook: createHookSender(createHooks({ database: pool, clock, observe })),
      clock,
      observe,
      tracer: untraced,
      finish: (email: ClaimedEmail, outcome: DeliveryOutcome) => removeEmail(pool, email, outcome, clock.now()),
    };
    for (;;) {
      underway += 1;
      const claimed = await claimEmails(pool, { now: clock.now(), leaseMs: 60_000, limit: 4 });
      await Promise.all(claimed.map((email) => sendFromOutbox(parts, config, email)));
      underway -= 1;
      if (claimed.length > 0) continue;
      const { count, due } = await waiting();
      if (count === 0) break;
      // The lease of what the other process sends must not end meanwhile.
      if (underway === 0) clock.time = Math.max(clock.time, due.getTime());
    }
    await mailer.stop();
  };
  await Promise.all([work(openPool()), work(openPool())]);
  const rows = await database.query('select recipient, state, attempts from pgreflect_queue.deliveries');
  const wrong = rows.filter(({ recipient, state, attempts }) => {
    const [name = ''] = String(recipient).split('.');
    const times = received.get(String(recipient)) ?? 0;
    if (name === 'refuse') return state !== 'failed' || times !== 0 || attempts !== 1;
    // Nobody can know whether a server that dies has taken the email.
    const isOnce = name === 'late' ? times <= 2 && times > 0 : times === 1;
    // A message whose connection breaks is sent again at once.
    return state !== 'sent' || !isOnce || Number(attempts) > timesOf(name) + 1;
  });
  expect([rows.length, wrong]).toEqual([emails, []]);
}, 900_000);
