/**
 * What an application learns, with the published client, of an address or a number that has an account, or has none.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, signedUpBefore, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const phones = { external_phone_enabled: true, sms_provider: 'capture' } as const;

test('a sign-up with an address that has an account has a user without identities', async () => {
  const auth = await testAuth(database, phones);
  await signedUp(auth, 'member@x.test');
  await auth.askAdmin('/admin/users', { phone: '491511', phone_confirm: true });
  const { auth: client } = supabaseClient(auth.url);
  for (const [known, unknown] of [
    [{ email: 'member@x.test' }, { email: 'newcomer@x.test' }],
    [{ phone: '491511' }, { phone: '491512' }],
  ]) {
    const again = await client.signUp({ ...known, password });
    expect([again.error, again.data.session, again.data.user.identities.length]).toEqual([null, null, 0]);
    const first = await client.signUp({ ...unknown, password });
    expect([first.error, first.data.session, first.data.user.identities.length]).toEqual([null, null, 1]);
  }
});

test('sign-in without creating users says that nobody has the address', async () => {
  const auth = await testAuth(database, phones);
  const { auth: client } = supabaseClient(auth.url);
  for (const address of [{ email: 'nobody@x.test' }, { phone: '491513' }]) {
    const { error } = await client.signInWithOtp({ ...address, options: { shouldCreateUser: false } });
    expect(error).toMatchObject({ status: 422, code: 'otp_disabled', message: 'Signups not allowed for otp' });
  }
});

test('where nobody may sign up, a sign-in of nobody says so, and members still sign in', async () => {
  await signedUpBefore(database, 'insider@x.test');
  const auth = await testAuth(database, { disable_signup: true, ...phones });
  const { auth: client } = supabaseClient(auth.url);
  for (const address of [{ email: 'outsider@x.test' }, { phone: '491514' }]) {
    const { error } = await client.signInWithOtp(address);
    expect(error).toMatchObject({ status: 422, code: 'signup_disabled' });
  }
  expect((await client.signInWithOtp({ email: 'insider@x.test' })).error).toBeNull();
});

test('a change to an address or number of somebody else says so', async () => {
  const auth = await testAuth(database, phones);
  await signedUp(auth, 'first@x.test');
  await auth.askAdmin('/admin/users', { phone: '491515', phone_confirm: true });
  await signedUp(auth, 'second@x.test');
  const { auth: client } = supabaseClient(auth.url);
  await client.signInWithPassword({ email: 'second@x.test', password });
  expect((await client.updateUser({ email: 'first@x.test' })).error).toMatchObject({
    status: 422,
    code: 'email_exists',
  });
  expect((await client.updateUser({ phone: '491515' })).error).toMatchObject({ status: 422, code: 'phone_exists' });
  expect((await client.getUser()).data.user).not.toHaveProperty('new_email');
  expect(await auth.messages('first@x.test')).toHaveLength(1);
});

test('a second message within a minute has to wait, and the answer says how long', async () => {
  const auth = await testAuth(database, phones);
  const { auth: client } = supabaseClient(auth.url);
  const email = 'often@x.test';
  const tooSoon = (code: string) => ({
    status: 429,
    code,
    message: expect.stringMatching(/only request this after 60 s/),
  });
  await client.signUp({ email, password });
  for (const again of [
    () => client.signUp({ email, password }),
    () => client.resend({ type: 'signup', email }),
    () => client.signInWithOtp({ email }),
  ]) {
    expect((await again()).error).toMatchObject(tooSoon('over_email_send_rate_limit'));
  }
  const { code } = await auth.message(email);
  expect((await client.verifyOtp({ type: 'email', email, token: code })).error).toBeNull();
  expect((await client.resetPasswordForEmail(email)).error).toBeNull();
  for (const again of [() => client.resetPasswordForEmail(email), () => client.signInWithOtp({ email })]) {
    expect((await again()).error).toMatchObject(tooSoon('over_email_send_rate_limit'));
  }
  expect((await client.updateUser({ email: 'more-often@x.test' })).error).toBeNull();
  expect((await client.updateUser({ email: 'more-often@x.test' })).error).toMatchObject(
    tooSoon('over_email_send_rate_limit'),
  );
  expect(await auth.messages(email)).toHaveLength(3);
  await client.signInWithOtp({ phone: '491516' });
  expect((await client.signInWithOtp({ phone: '491516' })).error).toMatchObject(tooSoon('over_sms_send_rate_limit'));
  auth.pass(60);
  for (const address of [{ email }, { phone: '491516' }])
    expect((await client.signInWithOtp(address)).error).toBeNull();
});
