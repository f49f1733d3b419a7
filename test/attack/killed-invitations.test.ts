/**
 * A stranger knows that somebody was invited, and makes every request that sends an email to the address: the invitation stays, and so
 * does the account that waits for its owner.
 */
import { beforeAll, expect, test } from 'vitest';
import { open, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const serve = (values = {}) => testAuth(database, { smtp_max_frequency: 0, ...values });
const thief = 'the password of the thief';
const requests = [
  ['/signup', { password: thief, data: { role: 'thief' } }],
  ['/otp', {}],
  ['/magiclink', {}],
  ['/recover', {}],
  ['/resend', { type: 'signup' }],
] as const;

async function invited(auth: TestAuth, email: string): Promise<string> {
  expect((await auth.askAdmin('/invite', { email, data: { team: 'blue' } })).status).toBe(200);
  return (await auth.message(email)).link;
}

const users = 'select u.email_confirmed_at, u.encrypted_password as password from auth.users u where u.email = $1';

test.each([
  ['', {}],
  [' with autoconfirm', { mailer_autoconfirm: true }],
])('no request of a stranger ends an invitation or confirms its address%s', async (name, values) => {
  const auth = await serve(values);
  const email = `invited${Object.keys(values).length}@x.test`;
  const link = await invited(auth, email);
  for (const [path, more] of requests) {
    await auth.ask(path, { email, ...more });
    expect(await database.query(users, [email]), path + name).toEqual([
      { email_confirmed_at: null, password: expect.toSatisfy((hash: string | null) => !hash) },
    ]);
  }
  expect((await open(link)).location).toContain('access_token=');
  const [user] = await database.query('select u.raw_user_meta_data as data from auth.users u where u.email = $1', [
    email,
  ]);
  expect(user).toMatchObject({ data: { team: 'blue' } });
  expect((await auth.ask('/token?grant_type=password', { email, password: thief })).status).toBe(400);
});

test.each([
  ['', {}],
  [' with autoconfirm', { mailer_autoconfirm: true }],
])('a user who was invited and asks for a sign-in gets one, by link and by code%s', async (_, values) => {
  const auth = await serve(values);
  for (const way of ['link', 'code'] as const) {
    const email = `asks.${way}${Object.keys(values).length}@x.test`;
    await invited(auth, email);
    await auth.ask('/otp', { email });
    const { link, code } = await auth.message(email);
    if (way === 'link') expect((await open(link)).location).toContain('access_token=');
    else expect((await auth.ask('/verify', { type: 'email', email, token: code })).status).toBe(200);
    expect(await database.query(users, [email])).toMatchObject([{ email_confirmed_at: expect.anything() }]);
  }
});

test('after an invitation has expired, a sign-up sends the confirmation as ever', async () => {
  const auth = await serve();
  const email = 'expired@x.test';
  await invited(auth, email);
  auth.pass(3601);
  await auth.ask('/signup', { email, password: 'a good password' });
  expect(await auth.message(email)).toMatchObject({ kind: 'confirmation' });
});
