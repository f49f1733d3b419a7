/**
 * The inbox of a project without a mail server: what is kept, for how long, and what the log says of it.
 */
import { beforeEach, expect, test } from 'vitest';
import { createCapturedTransport } from '../../src/email/transport/captured-transport.ts';
import { createInbox } from '../../src/email/transport/inbox.ts';
import { createLogger } from '../../src/shared/logger.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { sampleMessage } from '../support/email.ts';
import { emailDatabase } from '../support/email-database.ts';

const { database, openPool } = await emailDatabase();
const [pool, otherPool] = [openPool(), openPool()];
const inbox = createInbox(pool);
const inboxUrl = 'http://localhost:54321/studio/inbox';
let observations: Observation[] = [];

beforeEach(async () => {
  observations = [];
  await database.query('delete from auth.pgreflect_captured_email');
});

const clock = { now: () => Date.parse('2026-11-21T12:00:00Z') };
const observe = (observation: Observation) => observations.push(observation);
const transportOn = (connections: typeof pool) =>
  createCapturedTransport({ database: connections, inboxUrl, observe, clock });

test('a message is kept as a page, as text and as it would be sent', async () => {
  await transportOn(pool).send(
    sampleMessage({ mailer_templates_recovery_content: '<p>Code <b>{{ .Token }}</b> für dich</p>' }),
  );
  const [email, more] = await inbox.read();
  expect(more).toBeUndefined();
  expect(email).toEqual({
    id: expect.any(Number),
    capturedAt: '2026-11-21T12:00:00.000Z',
    kind: 'recovery',
    from: 'Shop <shop@mail.test>',
    to: 'to@mail.test',
    subject: 'Reset your password',
    html: '<p>Code <b>012345</b> für dich</p>',
    text: 'Code 012345 für dich',
    source: expect.stringMatching(/\r\nFrom: Shop <shop@mail\.test>\r\nTo: to@mail\.test\r\n[\s\S]*f=C3=BCr dich/),
  });
});

test('the newest come first, whichever process kept them', async () => {
  const transports = [transportOn(pool), transportOn(otherPool)];
  for (const number of [1, 2, 3, 4]) {
    await transports[number % 2]?.send(sampleMessage({ mailer_subjects_recovery: `Email ${number}` }));
  }
  expect((await inbox.read()).map(({ subject }) => subject)).toEqual(['Email 4', 'Email 3', 'Email 2', 'Email 1']);
});

test('one recipient can be asked for, in any case', async () => {
  await transportOn(pool).send(sampleMessage());
  await transportOn(pool).send(sampleMessage({}, { to: 'bo@mail.test' }));
  expect((await inbox.read({ to: 'BO@mail.test' })).map(({ to }) => to)).toEqual(['bo@mail.test']);
  expect(await inbox.read({ to: 'nobody@mail.test' })).toEqual([]);
});

test('the newest 200 stay, also when several processes keep at once', async () => {
  const transports = [transportOn(pool), transportOn(otherPool)];
  for (let round = 0; round < 21; round += 1) {
    await Promise.all(Array.from({ length: 10 }, (_, index) => transports[index % 2]?.send(sampleMessage())));
  }
  await transportOn(pool).send(sampleMessage({ mailer_subjects_recovery: 'the last' }));
  const emails = await inbox.read();
  expect(emails).toHaveLength(200);
  expect(emails[0]?.subject).toBe('the last');
});

test('a reader can ask for the emails newer than an id', async () => {
  await transportOn(pool).send(sampleMessage());
  const after = (await inbox.read())[0]?.id ?? 0;
  expect(await inbox.read({ after })).toEqual([]);
  await transportOn(pool).send(sampleMessage({ mailer_subjects_recovery: 'newer' }));
  expect((await inbox.read({ after })).map(({ subject }) => subject)).toEqual(['newer']);
});

test('each is announced by the URL of the inbox and nothing of its content', async () => {
  await transportOn(pool).send(sampleMessage());
  expect(observations).toEqual([{ kind: 'email_captured', email: 'recovery', inboxUrl }]);

  const lines: string[] = [];
  const logger = await createLogger({
    level: 'info',
    format: 'json',
    slowMs: 1,
    stream: { write: (line) => lines.push(line) },
  });
  for (const observation of observations) logger.observe(observation);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ email: 'recovery', url: inboxUrl });
  expect(lines[0]).not.toMatch(/012345|hash|mail\.test/);
});

test('what PostgreSQL cannot store is replaced, not refused', async () => {
  await transportOn(pool).send(sampleMessage({ mailer_templates_recovery_content: 'a{{ "\\x00" }}b\0c' }));
  expect(observations).toEqual([{ kind: 'email_captured', email: 'recovery', inboxUrl }]);
  expect((await inbox.read())[0]?.html).not.toContain('\0');
});

test('a message that cannot be kept is a warning and fails nothing', async () => {
  await database.query('alter table auth.pgreflect_captured_email rename to elsewhere');
  try {
    await transportOn(pool).send(sampleMessage());
    expect(observations).toMatchObject([
      { kind: 'warning', message: expect.stringContaining('recovery email could not be stored') },
    ]);
    expect(JSON.stringify(observations)).not.toMatch(/012345|to@mail/);
  } finally {
    await database.query('alter table auth.elsewhere rename to pgreflect_captured_email');
  }
});

test('the roles of API requests cannot read it', async () => {
  const rights = await database.query<{ role: string; may: boolean }>(
    `select r.rolname as role, has_table_privilege(r.rolname, 'auth.pgreflect_captured_email', 'select') as may
    from pg_roles r where r.rolname in ('anon', 'authenticated', 'authenticator') order by r.rolname`,
  );
  expect(rights.map(({ may }) => may)).toEqual([false, false, false]);
});
