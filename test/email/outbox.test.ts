/**
 * The outbox: an email that is stored with a change is sent after its commit, at least once, by whichever process looks; and
 * what the log says of one that does not get through.
 */
import { beforeEach, expect, test, vi } from 'vitest';
import { createHooks } from '../../src/auth/hooks/call-hook.ts';
import { createHookSender } from '../../src/auth/messages/send-by-hook.ts';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { OutboxWorker } from '../../src/email/outbox/outbox-worker.ts';
import { createMailer } from '../../src/email/transport/mailer.ts';
import type { SystemPool } from '../../src/postgres/system/run-system.ts';
import { createLogger } from '../../src/shared/logger.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { untraced } from '../../src/shared/trace/span.ts';
import { heldClock } from '../support/auth.ts';
import { sampleMessage } from '../support/email.ts';
import { emailDatabase } from '../support/email-database.ts';
import { startForwarder } from '../support/forwarder.ts';
import { startSmtpServer, type TestSmtpServer } from '../support/smtp-server.ts';

const { database, openPool } = await emailDatabase();
const pools = [openPool(), openPool()] as const;
const userId = '11111111-1111-4111-8111-111111111111';
const lifetimeSeconds = 3 * 24 * 3600;
const kept = { config: layerAuthConfig() };

let smtp: TestSmtpServer;
let clock = heldClock();
let observations: Observation[] = [];
let isInstalled = true;
beforeEach(async () => {
  smtp = await startSmtpServer({ tls: 'none' });
  clock = heldClock();
  observations = [];
  await database.query('delete from pgreflect_queue.emails');
});

/** An outbox as a process has it. */
function outboxOn(pool: SystemPool): OutboxWorker {
  const observe = (observation: Observation) => {
    if (!['email', 'external_call'].includes(observation.kind)) observations.push(observation);
  };
  const urls = { authUrl: 'https://db.test/auth/v1', inboxUrl: 'https://db.test/studio/inbox' };
  const mailer = createMailer({ database: pool, ...urls, observe, clock });
  const config = layerAuthConfig({ smtp_host: '127.0.0.1', smtp_port: String(smtp.port) });
  const currentConfig = async () => config;
  const hooks = createHooks({ database: pool, clock, observe });
  const parts = {
    database: pool,
    mailer,
    sendByHook: createHookSender(hooks),
    currentConfig,
    isInstalled: async () => isInstalled,
    clock,
    observe,
    tracer: untraced,
    configVersion: () => 7,
  };
  return new OutboxWorker(parts);
}

/** Looks once, and waits for what came of it. */
async function look(outbox: OutboxWorker): Promise<void> {
  outbox.start();
  await outbox.stop();
}

function add(outbox: OutboxWorker, to = 'to@mail.test', given = lifetimeSeconds, whose = userId): Promise<void> {
  const message = sampleMessage({}, { to }, 'password_changed_notification');
  const email = { message, userId: whose, lifetimeSeconds: given, ...kept };
  return pools[0].transaction((connection) => outbox.add(connection, email));
}

const waiting = () => database.query('select kind, attempts from pgreflect_queue.emails order by id');
const recipients = () => smtp.messages.flatMap((message) => message.recipients);

test('an email is sent after the commit of what it tells of, not before, and once', async () => {
  const outbox = outboxOn(pools[0]);
  outbox.start();
  const message = sampleMessage({}, {}, 'password_changed_notification');
  await pools[0]
    .transaction(async (connection) => {
      await outbox.add(connection, { message, userId, lifetimeSeconds, ...kept });
      await look(outboxOn(pools[1]));
      expect(smtp.connections()).toBe(0);
      return connection;
    })
    .then((connection) => outbox.committed(connection));
  await vi.waitFor(() => expect(recipients()).toEqual(['to@mail.test']));
  await outbox.stop();
  expect(smtp.messages[0]?.parsed).toMatchObject({ subject: message.subject, messageId: message.messageId });
  expect(await waiting()).toEqual([]);
  await look(outbox);
  expect(smtp.messages).toHaveLength(1);
});

test('an email of a transaction that was undone is never sent', async () => {
  const outbox = outboxOn(pools[0]);
  const message = sampleMessage();
  const undone = pools[0].transaction(async (connection) => {
    await outbox.add(connection, { message, userId, lifetimeSeconds, ...kept });
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  await look(outbox);
  expect([await waiting(), smtp.connections()]).toEqual([[], 0]);
});

test('while the mail server is away pauses grow from 10 s to an hour, and the email arrives when it is back', async () => {
  const outbox = outboxOn(pools[0]);
  await add(outbox);
  smtp.behave({ kind: 'drop', at: 'connect' });
  for (const pause of [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]) {
    await look(outbox);
    const tried = observations.length;
    clock.pass(pause - 1);
    await look(outbox);
    expect(observations).toHaveLength(tried);
    clock.pass(1);
  }
  expect(observations).toHaveLength(11);
  expect(observations[10]).toMatchObject({ kind: 'email_delayed', userId, attempts: 11 });
  smtp.behave({ kind: 'accept' });
  await look(outbox);
  expect([recipients(), await waiting()]).toEqual([['to@mail.test'], []]);
});

test.each([
  ['drop', { kind: 'drop', at: 'data' }],
  ['temporary refusal', { kind: 'refuse', at: 'recipient', code: 451, text: 'busy' }],
  ['refused sender', { kind: 'refuse', at: 'sender', code: 550, text: 'unknown' }],
] as const)('an email that a %s has stopped is tried again', async (_name, behaviour) => {
  const outbox = outboxOn(pools[0]);
  await add(outbox);
  smtp.behave(behaviour);
  await look(outbox);
  expect(await waiting()).toEqual([{ kind: 'password_changed_notification', attempts: 1 }]);
  smtp.behave({ kind: 'accept' });
  clock.pass(10);
  await look(outbox);
  expect(await waiting()).toEqual([]);
  // A connection that breaks late leaves the server with the email; it can tell the second one by its id.
  expect(new Set(smtp.messages.map(({ parsed }) => parsed.messageId)).size).toBe(1);
});

test.each(['recipient', 'message'] as const)('an email whose %s the server does not want is given up', async (at) => {
  const outbox = outboxOn(pools[0]);
  await add(outbox);
  smtp.behave({ kind: 'refuse', at, code: 550, text: 'no' });
  await look(outbox);
  expect(observations).toEqual([
    { kind: 'email_given_up', email: 'password_changed_notification', userId, attempts: 1, reason: expect.any(String) },
  ]);
  expect(await waiting()).toEqual([]);
});

test('an email is given up when it would be tried after its life, and not even tried past it', async () => {
  const outbox = outboxOn(pools[0]);
  await add(outbox, 'short@mail.test', 10);
  smtp.behave({ kind: 'drop', at: 'connect' });
  await look(outbox);
  expect(observations).toMatchObject([{ kind: 'email_given_up', attempts: 1 }]);
  await add(outbox, 'late@mail.test', 10);
  clock.pass(11);
  smtp.behave({ kind: 'accept' });
  await look(outbox);
  expect(observations[1]).toMatchObject({ kind: 'email_given_up', reason: 'it has expired' });
  expect([recipients(), await waiting()]).toEqual([[], []]);
});

test('a lost email and a delayed one are lines of the log, without address and content', async () => {
  const outbox = outboxOn(pools[0]);
  smtp.behave({ kind: 'drop', at: 'connect' });
  await add(outbox, 'delayed@mail.test');
  await add(outbox, 'lost@mail.test', 1);
  await look(outbox);
  await look(outbox);
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const logger = await createLogger({ level: 'info', format: 'json', slowMs: 1, stream });
  for (const observation of observations) logger.observe(observation);
  const read = lines.map((line) => JSON.parse(line)).sort((a, b) => a.level - b.level);
  const fields = { email: 'password_changed_notification', user: userId, attempts: 1, reason: expect.any(String) };
  expect(read).toMatchObject([
    { ...fields, msg: 'email not sent; will retry' },
    { ...fields, msg: 'email not sent; given up' },
  ]);
  expect(lines.join('')).not.toMatch(/(delayed|lost|ana)@mail/);
});

test('emails to one user are sent one after the other, in the order in which they were stored', async () => {
  const outbox = outboxOn(pools[0]);
  let free = () => {};
  smtp.behave({ kind: 'wait', until: new Promise<void>((resolve) => (free = resolve)) });
  const numbers = Array.from({ length: 4 }, (_, number) => `${number}@mail.test`);
  for (const address of numbers) await add(outbox, address);
  await add(outbox, 'other@mail.test', lifetimeSeconds, '22222222-2222-4222-8222-222222222222');
  outbox.start();
  await vi.waitFor(() => expect(smtp.connections()).toBeGreaterThan(0));
  expect((await waiting()).map(({ attempts }) => attempts)).toEqual([1, 0, 0, 0, 1]);
  free();
  smtp.behave({ kind: 'accept' });
  await vi.waitFor(async () => expect(await waiting()).toEqual([]));
  await outbox.stop();
  expect(recipients().filter((address) => address !== 'other@mail.test')).toEqual(numbers);
});

test('several processes share what waits: each email goes out once', async () => {
  const outboxes = pools.map(outboxOn);
  const addresses = Array.from({ length: 20 }, (_, number) => `${number}@mail.test`);
  for (const address of addresses) await add(outboxes[0]!, address);
  for (const outbox of outboxes) outbox.start();
  await vi.waitFor(async () => expect(await waiting()).toEqual([]));
  await Promise.all(outboxes.map((outbox) => outbox.stop()));
  expect(recipients().sort()).toEqual(addresses.sort());
});

test('an email that a dead process had begun is sent by another one after a minute', async () => {
  const dead = outboxOn(pools[0]);
  await add(dead);
  smtp.behave({ kind: 'wait', until: new Promise(() => {}) });
  dead.start();
  await vi.waitFor(() => expect(smtp.held()).toBe(1));
  expect(await waiting()).toMatchObject([{ attempts: 1 }]);
  const alive = outboxOn(pools[1]);
  smtp.behave({ kind: 'accept' });
  clock.pass(59);
  await look(alive);
  expect(await waiting()).toMatchObject([{ attempts: 1 }]);
  clock.pass(1);
  await look(alive);
  expect(await waiting()).toEqual([]);
  expect(recipients()).toContain('to@mail.test');
  smtp.cutConnections();
  await dead.stop();
});

test('an email that was sent while the database went away is noted when it is back, and not sent again', async () => {
  const forwarder = await startForwarder();
  forwarder.target = new URL(database.url);
  const url = Object.assign(new URL(database.url), { host: `127.0.0.1:${forwarder.port}` });
  const outbox = outboxOn(openPool(url.href));
  await add(outbox);
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  smtp.behave({ kind: 'wait', until: taken });
  outbox.start();
  await vi.waitFor(() => expect(smtp.held()).toBe(1));
  forwarder.target = null;
  forwarder.cut();
  take();
  await outbox.stop();
  expect(await waiting()).toMatchObject([{ attempts: 1 }]);
  // Past the lease, when any process may take it.
  clock.pass(61);
  forwarder.target = new URL(database.url);
  await look(outbox);
  expect([await waiting(), recipients()]).toEqual([[], ['to@mail.test']]);
});

test('no email is lost while connections to the database and to the mail server break again and again', async () => {
  const addresses = Array.from({ length: 12 }, (_, number) => `broken-${number}@mail.test`);
  for (const address of addresses) await add(outboxOn(pools[0]), address);
  const outboxes = pools.map(outboxOn);
  for (const behaviour of [
    { kind: 'delay', ms: 20 },
    { kind: 'drop', at: 'data' },
    { kind: 'delay', ms: 50 },
  ] as const) {
    smtp.behave(behaviour);
    for (const outbox of outboxes) outbox.start();
    await vi.waitFor(() => expect(smtp.connections()).toBeGreaterThan(0));
    await database.query(`select pg_terminate_backend(a.pid) from pg_stat_activity a
      where a.datname = current_database() and a.pid <> pg_backend_pid()`);
    smtp.cutConnections();
    await Promise.all(outboxes.map((outbox) => outbox.stop()));
    clock.pass(3600);
  }
  smtp.behave({ kind: 'accept' });
  for (const outbox of outboxes) outbox.start();
  await vi.waitFor(async () => expect(await waiting()).toEqual([]));
  await Promise.all(outboxes.map((outbox) => outbox.stop()));
  expect([...new Set(recipients())].sort()).toEqual(addresses.sort());
  expect(observations.filter(({ kind }) => kind === 'email_given_up' || kind === 'warning')).toEqual([]);
});

test('before the auth service is installed the outbox is not read', async () => {
  const outbox = outboxOn(pools[0]);
  await add(outbox);
  isInstalled = false;
  await look(outbox);
  expect([await waiting(), observations]).toEqual([[{ kind: 'password_changed_notification', attempts: 0 }], []]);
  isInstalled = true;
  await look(outbox);
  expect(recipients()).toEqual(['to@mail.test']);
});

test('tables that cannot be read are warned of once, and no emails are lost', async () => {
  const outbox = outboxOn(pools[0]);
  await add(outbox);
  await database.query('alter table pgreflect_queue.emails rename to elsewhere');
  await look(outbox);
  await look(outbox);
  expect(observations).toMatchObject([{ kind: 'warning', message: expect.stringContaining('could not be looked at') }]);
  await database.query('alter table pgreflect_queue.elsewhere rename to emails');
  await look(outbox);
  expect(recipients()).toEqual(['to@mail.test']);
});

test('every text can be stored, also those that jsonb cannot hold', async () => {
  const outbox = outboxOn(pools[0]);
  const message = sampleMessage({ mailer_templates_recovery_content: 'a{{ "\\x00" }}b\0c\uD800 "ü" \\u0000' });
  await pools[0].transaction((connection) => outbox.add(connection, { message, userId, lifetimeSeconds, ...kept }));
  await look(outbox);
  expect([smtp.messages.length, observations]).toEqual([1, []]);
});
