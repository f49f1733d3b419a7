/**
 * Somebody guesses the codes that were sent to somebody else, or the codes of their second factor: from many networks, or from one,
 * to use the guesses up so that the owner has none.
 */
import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { cleanUp } from '../../src/auth/store/clean-up.ts';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { testPool } from '../management/management.ts';
import { open, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const serve = (values = {}) =>
  testAuth(database, { smtp_max_frequency: 0, ...values }, { trustedProxies: ['127.0.0.1'] });
const from = (network: number | string) => ({ headers: { 'x-forwarded-for': `198.51.100.${network}` } });
const owner = from(250);
const wrongOf = (code: string, number: number) => String((Number(code) + number) % 1_000_000).padStart(6, '0');

/** Guesses from as many networks, or from one, all at once. */
function guess(auth: TestAuth, body: object, code: string, count: number, network: number | null = null) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  return Promise.all(
    numbers.map((number) => auth.ask('/verify', { ...body, token: wrongOf(code, number) }, from(network ?? number))),
  );
}

const requests = {
  email: (auth: TestAuth, email: string) => auth.ask('/signup', { email, password: 'a good password' }),
  magiclink: async (auth: TestAuth, email: string) => {
    await signedUp(auth, email);
    return auth.ask('/otp', { email });
  },
  recovery: async (auth: TestAuth, email: string) => {
    await signedUp(auth, email);
    return auth.ask('/recover', { email });
  },
  email_change: async (auth: TestAuth, email: string) => {
    const { access_token: token } = await signedUp(auth, `old.${email}`);
    return auth.ask('/user', { email }, { method: 'PUT', token });
  },
} as const;

test.each(Object.keys(requests) as (keyof typeof requests)[])(
  'after ten wrong guesses from many networks the code of an email (%s) is invalid, and its link is not',
  async (type) => {
    const auth = await serve({ mailer_secure_email_change_enabled: false });
    const email = `${type}@x.test`;
    expect((await requests[type](auth, email)).status).toBe(200);
    const { code, link } = await auth.message(email);
    await guess(auth, { type, email }, code, 10);
    const last = await auth.ask('/verify', { type, email, token: code }, from(99));
    expect(last.body.code).toBe('otp_expired');
    expect((await open(link)).location).toContain('access_token=');
    const other = `other.${email}`;
    await requests[type](auth, other);
    const second = await auth.message(other);
    await guess(auth, { type, email: other }, second.code, 9);
    expect((await auth.ask('/verify', { type, email: other, token: second.code })).status).toBe(200);
  },
);

test('a stranger who uses up the guesses at a code leaves its owner the link of the email', async () => {
  const auth = await serve();
  for (const known of [true, false]) {
    const email = `shut.out.${known}@x.test`;
    if (known) await signedUp(auth, email);
    await auth.ask('/otp', { email }, owner);
    const { code, link } = await auth.message(email);
    await guess(auth, { type: 'email', email }, code, 30, 1);
    expect((await auth.ask('/verify', { type: 'email', email, token: code }, from(250))).status).toBe(403);
    expect((await open(link)).location).toContain('access_token=');
  }
});

test('the networks of the owner have guesses of their own, as many again and no more', async () => {
  const auth = await serve();
  const email = 'at.home@x.test';
  await auth.ask('/signup', { email, password: 'a good password' });
  const first = { type: 'email', email, token: (await auth.message(email)).code };
  expect((await auth.ask('/verify', first, owner)).status).toBe(200);
  await auth.ask('/otp', { email });
  const { code, link } = await auth.message(email);
  const body = { type: 'email', email };
  await guess(auth, body, code, 40);
  expect((await auth.ask('/verify', { ...body, token: code }, from(99))).body.code).toBe('otp_expired');
  await guess(auth, body, code, 20, 250);
  const counts = await database.query<{ readonly tokens: number }>(
    `select l.tokens from auth.pgreflect_rate_limits l join auth.one_time_tokens t on l.name in ('window:guess:' || t.id, 'window:own_guess:' || t.id)
    where t.relates_to = $1 order by 1`,
    [email],
  );
  expect(counts).toEqual([{ tokens: 10 }, { tokens: 10 }]);
  expect((await auth.ask('/verify', { ...body, token: code }, owner)).body.code).toBe('otp_expired');
  expect((await open(link)).location).toContain('access_token=');
});

test('the guesses of two processes are counted together', async () => {
  const [one, two] = [await serve(), await serve({ mailer_otp_attempts: 10 })];
  const email = 'two@x.test';
  await one.ask('/signup', { email, password: 'a good password' });
  const { code } = await one.message(email);
  await Promise.all([guess(one, { type: 'email', email }, code, 5), guess(two, { type: 'email', email }, code, 5)]);
  expect((await two.ask('/verify', { type: 'email', email, token: code })).body.code).toBe('otp_expired');
});

test('of fifty guesses at once ten are checked, and guesses at an unknown address are answered alike', async () => {
  const auth = await serve();
  const email = 'fifty@x.test';
  await auth.ask('/signup', { email, password: 'a good password' });
  const { code } = await auth.message(email);
  const answers = await guess(auth, { type: 'email', email }, code, 50);
  const [row] = await database.query(
    `select l.tokens from auth.pgreflect_rate_limits l join auth.one_time_tokens t on l.name = 'window:guess:' || t.id
    where t.relates_to = $1`,
    [email],
  );
  expect(row).toEqual({ tokens: 10 });
  const [unknown] = await guess(auth, { type: 'email', email: 'unknown@x.test' }, code, 1);
  const codes = new Set([...answers, unknown].map((answer) => `${answer?.status} ${answer?.body.code}`));
  expect([...codes]).toEqual(['403 otp_expired']);
});

test('the hash of an address and its code is not accepted as a link token', async () => {
  const auth = await serve();
  const email = 'hash@x.test';
  await auth.ask('/signup', { email, password: 'a good password' });
  const { code } = await auth.message(email);
  const token = createHash('sha224').update(email).update(code).digest('hex');
  expect((await open(`${auth.url}/auth/v1/verify?type=email&token=${token}`)).location).toContain('otp_expired');
  expect((await auth.ask('/verify', { type: 'email', token_hash: token })).body.code).toBe('otp_expired');
});

test('wrong guesses invalidate the code that a change of the password needs', async () => {
  const auth = await serve({ security_update_password_require_reauthentication: true });
  const { access_token: token } = await signedUp(auth, 'nonce@x.test');
  await database.query(`update auth.sessions set created_at = now() - interval '2 days'`);
  await auth.ask('/reauthenticate', undefined, { token });
  const { code } = await auth.message('nonce@x.test');
  const put = (nonce: string) => auth.ask('/user', { password: 'another password', nonce }, { method: 'PUT', token });
  for (let number = 1; number <= 20; number += 1) await put(wrongOf(code, number));
  expect((await put(code)).body.code).toBe('reauthentication_not_valid');
});

test('wrong guesses invalidate a code whose row another code has deleted', async () => {
  const auth = await serve();
  const email = 'rowless@x.test';
  await auth.ask('/signup', { email, password: 'a good password' });
  const { code: ofSignUp } = await auth.message(email);
  await auth.ask('/recover', { email });
  const { code } = await auth.message(email);
  expect((await auth.ask('/verify', { type: 'email', email, token: ofSignUp })).status).toBe(200);
  await guess(auth, { type: 'recovery', email }, code, 10);
  expect((await auth.ask('/verify', { type: 'recovery', email, token: code })).body.code).toBe('otp_expired');
});

test('wrong guesses invalidate a code of a text message', async () => {
  const phone = '4915550002';
  const auth = await serve({
    external_phone_enabled: true,
    sms_test_otp: `${phone}=123456`,
    sms_otp_exp: 600,
    sms_test_otp_valid_until: '2099-01-01T00:00:00Z',
  });
  await auth.ask('/signup', { phone, password: 'a good password' });
  await guess(auth, { type: 'sms', phone }, '123456', 10);
  expect((await auth.ask('/verify', { type: 'sms', phone, token: '123456' })).body.code).toBe('otp_expired');
});

test('guesses at a code that lives for a week are counted for a week', async () => {
  const values = { mailer_otp_exp: 604_800 };
  const auth = await serve(values);
  const email = 'week@x.test';
  await auth.ask('/signup', { email, password: 'a good password' });
  const { code } = await auth.message(email);
  await guess(auth, { type: 'email', email }, code, 10);
  await database.query("update auth.pgreflect_rate_limits set updated_at = updated_at - interval '6 days'");
  await cleanUp(testPool(database), { config: layerAuthConfig(values), now: Date.now(), deleteAnonymousUsers: false });
  expect((await auth.ask('/verify', { type: 'email', email, token: code })).body.code).toBe('otp_expired');
});
