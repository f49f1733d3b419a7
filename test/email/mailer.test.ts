/**
 * The mailer follows the configuration of the moment.
 */
import { createPublicKey, createVerify, generateKeyPairSync, hash } from 'node:crypto';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { createInbox } from '../../src/email/transport/inbox.ts';
import { createMailer, type Mailer } from '../../src/email/transport/mailer.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { sampleMessage } from '../support/email.ts';
import { emailDatabase } from '../support/email-database.ts';
import { startSmtpServer, trustTestAuthority } from '../support/smtp-server.ts';

const { openPool } = await emailDatabase();
const pool = openPool();
const inbox = createInbox(pool);
beforeAll(() => trustTestAuthority());

function openMailer(observations: Observation[] = [], timeoutMs?: number): Mailer {
  const mailer = createMailer({
    database: pool,
    authUrl: 'https://db.test/auth/v1',
    inboxUrl: 'https://db.test/studio/inbox',
    observe: (observation) => observations.push(observation),
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  onTestFinished(() => mailer.stop());
  return mailer;
}

const smtp = (port: number, values: AuthValues = {}) =>
  layerAuthConfig({ smtp_host: 'localhost', smtp_port: String(port), ...values });

test('without a mail server a message goes to the inbox, with one it is sent', async () => {
  const server = await startSmtpServer();
  const mailer = openMailer();
  await mailer.deliver(layerAuthConfig({}), sampleMessage({ mailer_subjects_recovery: 'kept' }));
  await mailer.deliver(smtp(server.port), sampleMessage({ mailer_subjects_recovery: 'sent' }));
  expect((await inbox.read()).map(({ subject }) => subject)).toEqual(['kept']);
  expect(server.messages.map(({ parsed }) => parsed.subject)).toEqual(['sent']);
  expect(server.messages[0]?.clientName).toBe('db.test');
});

test('a change of the server works at once; connections stay while nothing changes', async () => {
  const [first, second] = [await startSmtpServer(), await startSmtpServer()];
  const mailer = openMailer();
  for (const port of [first.port, first.port, second.port, second.port]) {
    await mailer.deliver(smtp(port, { jwt_exp: 60 + port }), sampleMessage());
  }
  expect([first.messages.length, second.messages.length]).toEqual([2, 2]);
  expect([first.connections(), second.connections()]).toEqual([1, 1]);
});

test('a message on its way is finished although the server is changed meanwhile', async () => {
  const [slow, other] = [await startSmtpServer(), await startSmtpServer()];
  slow.behave({ kind: 'delay', ms: 400 });
  const mailer = openMailer();
  const underway = mailer.deliver(smtp(slow.port), sampleMessage());
  await mailer.deliver(smtp(other.port), sampleMessage());
  await underway;
  expect([slow.messages.length, other.messages.length]).toEqual([1, 1]);
});

test('both messages of an email change are sent at the same time', async () => {
  const server = await startSmtpServer();
  let taken = 0;
  let takeBoth = () => {};
  const both = new Promise<void>((resolve) => {
    takeBoth = resolve;
  });
  server.behave({
    kind: 'wait',
    // Read for each message.
    get until() {
      taken += 1;
      if (taken === 2) takeBoth();
      return both;
    },
  });
  await openMailer().deliver(smtp(server.port), sampleMessage(), sampleMessage({}, { to: 'new@mail.test' }));
  expect(server.messages.map(({ recipients }) => recipients[0]).sort()).toEqual(['new@mail.test', 'to@mail.test']);
});

test('where one of several fails the delivery fails, after all have ended', async () => {
  const server = await startSmtpServer();
  const refused = { ...sampleMessage(), to: 'not an address' };
  await expect(openMailer().deliver(smtp(server.port), refused, sampleMessage())).rejects.toMatchObject({
    code: 'recipient_refused',
  });
  expect(server.messages).toHaveLength(1);
});

test('a delivery ends at its time limit, so that a transaction is not held open for longer', async () => {
  const server = await startSmtpServer();
  server.behave({ kind: 'wait', until: new Promise(() => {}) });
  await expect(openMailer([], 300).deliver(smtp(server.port), sampleMessage())).rejects.toMatchObject({
    code: 'timed_out',
  });
});

test('after it has stopped it refuses, and what was on its way has arrived', async () => {
  const server = await startSmtpServer();
  server.behave({ kind: 'delay', ms: 200 });
  const mailer = openMailer();
  const underway = mailer.deliver(smtp(server.port), sampleMessage());
  await mailer.stop();
  await underway;
  expect(server.messages).toHaveLength(1);
  await expect(mailer.deliver(layerAuthConfig({}), sampleMessage())).rejects.toMatchObject({ code: 'stopped' });
});

test('a message of more than 100 KB is sent, with a warning about its kind, once', async () => {
  const server = await startSmtpServer();
  const observations: Observation[] = [];
  const mailer = openMailer(observations);
  const large = sampleMessage({ mailer_templates_recovery_content: `<p>${'x'.repeat(100 * 1024)}</p>` });
  for (const message of [sampleMessage(), large, large]) await mailer.deliver(smtp(server.port), message);
  expect(server.messages).toHaveLength(3);
  expect(observations.filter(({ kind }) => kind === 'warning')).toEqual([
    {
      kind: 'warning',
      message: 'The recovery email has 101 KB. Mail programs such as Gmail cut emails of more than 100 KB.',
      hint: 'Shorten its template.',
    },
  ]);
});

test('a message is signed with the DKIM key in force', async () => {
  const server = await startSmtpServer();
  const mailer = openMailer();
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const signing = { mailer_dkim_domain: 'mail.test', mailer_dkim_selector: 'k1', mailer_dkim_private_key: privateKey };
  await mailer.deliver(smtp(server.port, signing), sampleMessage({ mailer_reply_to: 'help@mail.test' }));
  await mailer.deliver(smtp(server.port), sampleMessage());
  const [signed, unsigned] = server.messages.map(({ raw }) => raw);
  expect(unsigned).not.toMatch(/^DKIM-Signature:/m);
  const { tags, verified } = verifyDkim(signed ?? '', privateKey);
  expect(tags).toMatchObject({ d: 'mail.test', s: 'k1', a: 'rsa-sha256', c: 'relaxed/relaxed' });
  expect(tags.h?.split(':')).toEqual(expect.arrayContaining(['from', 'to', 'subject', 'reply-to', 'message-id']));
  expect(verified).toBe(true);
});

/** By RFC 6376, for relaxed canonical forms; the key is a private one, of which only the public part is used. */
function verifyDkim(raw: string, key: string) {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n');
  const fieldOf = (name: string) => lines.find((line) => line.toLowerCase().startsWith(`${name}:`)) ?? '';
  const relaxed = (line: string) =>
    `${line.slice(0, line.indexOf(':')).toLowerCase()}:${line
      .slice(line.indexOf(':') + 1)
      .replace(/[ \t]+/g, ' ')
      .trim()}`;
  const signature = fieldOf('dkim-signature');
  const tags: Record<string, string> = Object.fromEntries(
    [...signature.slice(signature.indexOf(':') + 1).matchAll(/(\w+)=([^;]*)/g)].map(([, name, value]) => [
      name,
      value!.replace(/\s+/g, ''),
    ]),
  );
  const body = raw
    .slice(end + 4)
    .replace(/[ \t]+/g, ' ')
    .replace(/ (?=\r\n)/g, '')
    .replace(/(\r\n)*$/, '\r\n');
  const signed = [
    ...(tags.h ?? '')
      .toLowerCase()
      .split(':')
      .map((name) => relaxed(fieldOf(name))),
    relaxed(signature.replace(/\bb=[^;]*$/, 'b=')),
  ];
  const verifier = createVerify('RSA-SHA256').update(signed.join('\r\n'), 'latin1');
  const isBody = hash('sha256', Buffer.from(body, 'latin1'), 'base64') === tags.bh;
  return { tags, verified: isBody && verifier.verify(createPublicKey(key), tags.b ?? '', 'base64') };
}

test('extra headers that cannot be read are a warning, once', async () => {
  const observations: Observation[] = [];
  const mailer = openMailer(observations);
  const config = layerAuthConfig({ smtp_headers: '{nonsense' });
  await mailer.deliver(config, sampleMessage());
  await mailer.deliver(config, sampleMessage());
  expect(observations.filter(({ kind }) => kind === 'warning')).toHaveLength(1);
});
