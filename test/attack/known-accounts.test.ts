/**
 * Somebody asks the endpoints that need no session which addresses have an account.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

/** What an answer says, without what differs between any two answers. */
async function answerOf(auth: TestAuth, path: string, body: Readonly<Record<string, unknown>>) {
  const { status, headers, text } = await auth.ask(path, body);
  const plain = text
    .replaceAll(String(body.email), 'EMAIL')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  const named = [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length', 'etag'].includes(name));
  return { status, headers: named, body: plain };
}

const asked = [
  ['/recover', {}],
  ['/otp', {}],
  ['/otp', { create_user: false }],
  ['/magiclink', {}],
  ['/resend', { type: 'signup' }],
  ['/resend', { type: 'email_change' }],
  ['/signup', { password }],
] as const;

test.each(asked)(
  '%s %j answers alike for known and unknown addresses, also the second time within a minute',
  async (path, members) => {
    const auth = await testAuth(database);
    const name = `${path.slice(1)}-${Object.keys(members).join('')}-${'type' in members ? members.type : ''}`;
    const [known, pending, unknown] = ['known', 'waits', 'never'].map((kind) => `${kind}.${name}@x.test`) as [
      string,
      string,
      string,
    ];
    await signedUp(auth, known);
    await auth.ask('/signup', { email: pending, password });
    for (const _time of ['first', 'second', 'third']) {
      const expected = await answerOf(auth, path, { ...members, email: unknown });
      expect(expected.status).toBe(200);
      expect(await answerOf(auth, path, { ...members, email: known })).toEqual(expected);
      expect(await answerOf(auth, path, { ...members, email: pending })).toEqual(expected);
    }
  },
);

test.each(asked)('%s %j answers alike where only some addresses get emails', async (path, members) => {
  const name = `listed-${path.slice(1)}-${JSON.stringify(members).replace(/\W/g, '')}`.toLowerCase();
  await signedUp(await testAuth(database), `known.${name}@x.test`);
  const auth = await testAuth(database, { external_email_authorized_addresses: 'me@x.test' });
  const answers = [];
  for (const kind of ['unknown', 'known']) {
    answers.push(await answerOf(auth, path, { ...members, email: `${kind}.${name}@x.test` }));
  }
  expect(answers[1]).toEqual(answers[0]);
});

test.each(asked)('%s %j takes a time that the work for an account is small beside', async (path, members) => {
  const minResponseMs = 300;
  const auth = await testAuth(database, {}, { minResponseMs });
  const name = `time-${path.slice(1)}-${JSON.stringify(members).replace(/\W/g, '')}`.toLowerCase();
  await signedUp(auth, `known.${name}@x.test`);
  for (const kind of ['known', 'never']) {
    const start = performance.now();
    await auth.ask(path, { ...members, email: `${kind}.${name}@x.test` });
    // A timer may ring a millisecond early.
    expect(performance.now() - start).toBeGreaterThan(minResponseMs - 2);
  }
});

test.each(asked)('%s %j answers alike while no email may be sent', async (path, members) => {
  const limited = { rate_limit_email_sent: 0 };
  const name = `limit-${path.slice(1)}-${JSON.stringify(members).replace(/\W/g, '')}`.toLowerCase();
  await signedUp(await testAuth(database), `known.${name}@x.test`);
  const auth = await testAuth(database, limited);
  const expected = await answerOf(auth, path, { ...members, email: `never.${name}@x.test` });
  expect(expected.status).toBe(429);
  expect(await answerOf(auth, path, { ...members, email: `known.${name}@x.test` })).toEqual(expected);
});

test.each(['/otp', '/magiclink'])('%s answers alike where nobody may sign up', async (path) => {
  const name = `closed-${path.slice(1)}`;
  const open = await testAuth(database);
  await signedUp(open, `known.${name}@x.test`);
  await open.ask('/signup', { email: `waits.${name}@x.test`, password });
  const auth = await testAuth(database, { disable_signup: true });
  const expected = await answerOf(auth, path, { email: `never.${name}@x.test` });
  expect(expected.status).toBe(200);
  for (const kind of ['known', 'waits']) {
    expect(await answerOf(auth, path, { email: `${kind}.${name}@x.test` })).toEqual(expected);
  }
  expect(await database.query(`select from auth.users where email = 'never.${name}@x.test'`)).toEqual([]);
});

test.each([
  ['email', 'known.change@x.test', 'never.change@x.test'],
  ['phone', '4917001', '4917002'],
])(
  'a change of %s answers alike whether or not somebody has it, and takes it from nobody',
  async (member, known, never) => {
    const auth = await testAuth(database, {
      ...{ external_phone_enabled: true, sms_provider: 'capture', external_anonymous_users_enabled: true },
    });
    const { body: owner } = await auth.askAdmin('/admin/users', { [member]: known, [`${member}_confirm`]: true });
    const answers = [];
    for (const wanted of [known, never]) {
      const { access_token: token, user } = (await auth.ask('/signup', {})).body;
      const { status, text } = await auth.ask('/user', { [member]: wanted }, { method: 'PUT', token });
      answers.push([
        status,
        text
          .replaceAll(wanted, 'WANTED')
          .replaceAll(user.id, 'ID')
          .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'),
      ]);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect((await auth.askAdmin(`/admin/users/${owner.id}`)).body[member]).toBe(known);
  },
);

test('an address gets one email in a minute, however often somebody asks', async () => {
  const auth = await testAuth(database);
  await signedUp(auth, 'often@x.test');
  for (const path of ['/recover', '/otp', '/magiclink', '/recover']) await auth.ask(path, { email: 'often@x.test' });
  expect(await auth.messages('often@x.test')).toHaveLength(2);
  auth.pass(61);
  await auth.ask('/recover', { email: 'often@x.test' });
  expect(await auth.messages('often@x.test')).toHaveLength(3);
});

test('two sign-ups with different passwords within a minute keep neither, though only the first was mailed', async () => {
  const auth = await testAuth(database);
  const email = 'both@x.test';
  await auth.ask('/signup', { email, password: 'the password of a stranger' });
  expect((await auth.ask('/signup', { email, password })).status).toBe(200);
  const { code: token } = await auth.message(email);
  expect((await auth.ask('/verify', { type: 'email', email, token })).status).toBe(200);
  for (const given of ['the password of a stranger', password]) {
    expect((await auth.ask('/token?grant_type=password', { email, password: given })).body.code).toBe(
      'invalid_credentials',
    );
  }
});
