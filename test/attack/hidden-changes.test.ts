/**
 * Somebody who holds another user's session changes the account, and uses up limits first, so that the email about it is not sent. Every
 * limit on emails is tried, by callers with and without accounts.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});
beforeEach(async () => {
  await database.query('truncate auth.pgreflect_rate_limits');
});

const serve = (values: AuthValues = {}) =>
  testAuth(database, {
    mailer_notifications_password_changed_enabled: true,
    smtp_max_frequency: 0,
    rate_limit_email_recipient: 10,
    rate_limit_email_sent: 30,
    ...values,
  });

let changes = 0;
/** Changes the password of a session's user, and other members with it. */
async function changePassword(auth: TestAuth, token: string, members: Record<string, string> = {}): Promise<number> {
  changes += 1;
  const body = { password: `password number ${changes}`, ...members };
  return (await auth.ask('/user', body, { method: 'PUT', token })).status;
}

/** The number of notifications to an address. */
async function notified(auth: TestAuth, address: string): Promise<number> {
  return (await auth.messages(address)).filter(({ kind }) => kind === 'password_changed_notification').length;
}

test('all other emails that an address may get do not keep back the notification', async () => {
  const auth = await serve();
  const email = 'all.others@x.test';
  const { access_token: token } = await signedUp(auth, email);
  for (let time = 0; time < 10; time += 1) {
    await auth.ask('/reauthenticate', undefined, { token });
    await auth.ask('/magiclink', { email });
  }
  expect(await auth.messages(email)).toHaveLength(10);
  expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(1);
});

test('emails that anybody may ask for do not use up the limit of the project for notifications', async () => {
  const auth = await serve();
  const email = 'project@x.test';
  const { access_token: token } = await signedUp(auth, email);
  const asked = Array.from({ length: 30 }, (_, number) => auth.ask('/otp', { email: `nobody${number}@x.test` }));
  expect((await Promise.all(asked)).filter(({ status }) => status === 429)).toHaveLength(1);
  expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(1);
});

test.each([
  ['an address that no emails may go to', { email: 'elsewhere@x.test' }],
  ['a number, without a provider', { phone: '4915112345678' }],
])('changes that fail, by %s, do not use up the limit of the address', async (_, members) => {
  const [key = ''] = Object.keys(members);
  const email = `fails.by.${key}@x.test`;
  const auth = await serve({ external_phone_enabled: true, external_email_authorized_addresses: email });
  const { access_token: token } = await signedUp(auth, email);
  for (let time = 0; time < 12; time += 1) expect(await changePassword(auth, token, members)).not.toBe(200);
  expect(await notified(auth, email)).toBe(0);
  expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(1);
});

test('changes of other accounts, whoever owns them, keep back no first notification', async () => {
  const auth = await serve({ rate_limit_email_sent: 3, rate_limit_email_recipient: 2, mailer_autoconfirm: true });
  const email = 'others.change@x.test';
  const { access_token: token } = await signUp(auth, email);
  auth.pass(3600);
  for (const number of [1, 2, 3]) {
    const { access_token: own } = await signUp(auth, `thief${number}@x.test`);
    for (let time = 0; time < 4; time += 1) expect(await changePassword(auth, own)).toBe(200);
  }
  // Of the third thief, the limit of the project allows no second one.
  const counts = await Promise.all([1, 2, 3].map((number) => notified(auth, `thief${number}@x.test`)));
  expect(counts).toEqual([2, 1, 1]);
  expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(1);
});

/** A user whose address needs no proof. */
const signUp = async (auth: TestAuth, email: string) =>
  (await auth.ask('/signup', { email, password: 'a good password' })).body;

test('notifications do not use up the limits of other emails', async () => {
  const auth = await serve({ rate_limit_email_sent: 12 });
  const email = 'other.direction@x.test';
  const { access_token: token } = await signedUp(auth, email);
  for (let time = 0; time < 13; time += 1) expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(10);
  expect((await auth.ask('/recover', { email })).status).toBe(200);
  expect((await auth.message(email)).kind).toBe('recovery');
});

test('as many notifications as other emails go to an address in an hour', async () => {
  const auth = await serve({ rate_limit_email_recipient: 3 });
  const email = 'own.count@x.test';
  const { access_token: token } = await signedUp(auth, email);
  for (let time = 0; time < 5; time += 1) expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(3);
  expect(auth.observations).toContainEqual(
    expect.objectContaining({ kind: 'email_given_up', reason: 'rate_limit_email_recipient is used up' }),
  );
  auth.pass(3600);
  expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(4);
});

test('a project that sends no emails sends no notification either', async () => {
  const email = 'no.emails@x.test';
  const { access_token: token } = await signedUp(await serve(), email);
  const auth = await serve({ rate_limit_email_sent: 0 });
  expect(await changePassword(auth, token)).toBe(200);
  expect(await notified(auth, email)).toBe(0);
});
