/**
 * Phones: codes by text message, kept in the inbox by the provider `capture`.
 */
import { beforeAll, expect, test } from 'vitest';
import { hashCode } from '../../src/auth/secrets/one-time-code.ts';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const captured = { external_phone_enabled: true, sms_provider: 'capture', sms_max_frequency: 0 } as const;

test('a sign-up by phone is confirmed with the code, and signs in with the password from then on', async () => {
  const auth = await testAuth(database, captured);
  const { body } = await auth.ask('/signup', { phone: '+49 170 1', password, data: { a: 1 } });
  expect(body).toMatchObject({
    phone: '491701',
    email: '',
    app_metadata: { provider: 'phone' },
    user_metadata: { a: 1 },
  });
  const early = await auth.ask('/token?grant_type=password', { phone: '491701', password });
  expect(early.body).toMatchObject({ code: 'phone_not_confirmed', message: 'Phone not confirmed' });
  const { code, kind, text } = await auth.message('491701');
  expect([kind, text]).toEqual(['sms', `Your code is ${code}`]);
  const verified = await auth.ask('/verify', { type: 'sms', phone: '+491701', token: code });
  expect(verified).toMatchObject({ status: 200, body: { user: { phone: '491701' } } });
  expect((await auth.ask('/token?grant_type=password', { phone: '+491701', password })).status).toBe(200);
});

test('an address in the data of a sign-up by phone is no address of the user', async () => {
  const auth = await testAuth(database, captured);
  const { body: user } = await auth.ask('/signup', {
    phone: '491706',
    password,
    data: { email: 'owner@x.test', a: 1 },
  });
  expect(user.user_metadata).toMatchObject({ email: 'owner@x.test', a: 1 });
  expect(user.identities).toMatchObject([{ provider: 'phone', identity_data: { sub: user.id, a: 1 } }]);
  expect(user.identities[0]).not.toHaveProperty('email');
  // Its owner is not kept from having it.
  expect((await signedUp(auth, 'owner@x.test')).user.email).toBe('owner@x.test');
});

test('the code of a number confirms no email address, not even as the hash of a link', async () => {
  const auth = await testAuth(database, captured);
  const phone = '491707';
  const { body: user } = await auth.ask('/signup', { phone, password });
  await auth.ask('/verify', { type: 'sms', phone, token: (await auth.message(phone)).code });
  // As an identity leaves it whose provider has not verified the address.
  await database.query(`update auth.users set email = 'notmine@x.test' where id = $1::uuid`, [user.id]);
  await auth.ask('/otp', { phone });
  const { code } = await auth.message(phone);
  for (const type of ['signup', 'email', 'invite']) {
    const { body } = await auth.ask('/verify', { type, token_hash: hashCode(phone, code) });
    expect(body.code).toBe('otp_expired');
  }
  expect((await auth.ask('/verify', { type: 'sms', phone, token: code })).status).toBe(200);
});

test('a code without password works for new and for known numbers, for a minute', async () => {
  const auth = await testAuth(database, captured);
  for (const _round of ['new', 'known']) {
    const { body } = await auth.ask('/otp', { phone: '491702' });
    expect(body.message_id).toMatch(/^[0-9a-f-]{36}$/);
    const { code } = await auth.message('491702');
    expect((await auth.ask('/verify', { type: 'sms', phone: '491702', token: code })).status).toBe(200);
  }
  await auth.ask('/otp', { phone: '491702' });
  auth.pass(61);
  const { code } = await auth.message('491702');
  expect((await auth.ask('/verify', { type: 'sms', phone: '491702', token: code })).body.code).toBe('otp_expired');
});

test('a user of email adds a number', async () => {
  const auth = await testAuth(database, captured);
  const { access_token: token } = await signedUp(auth, 'phone@x.test');
  const { body } = await auth.ask('/user', { phone: '491703' }, { method: 'PUT', token });
  expect(body).toMatchObject({ phone: '', new_phone: '491703' });
  const { code } = await auth.message('491703');
  const verified = await auth.ask('/verify', { type: 'phone_change', phone: '491703', token: code });
  expect(verified.body.user).toMatchObject({ phone: '491703', app_metadata: { providers: ['email', 'phone'] } });
});

test('a later request by another user does not keep the first from confirming the number', async () => {
  const auth = await testAuth(database, captured);
  const [{ access_token: own, user }, { access_token: other }] = [
    await signedUp(auth, 'waits@x.test'),
    await signedUp(auth, 'blocks@x.test'),
  ];
  await auth.ask('/user', { phone: '491719' }, { method: 'PUT', token: own });
  const { code } = await auth.message('491719');
  auth.pass(1);
  expect(await auth.ask('/user', { phone: '491719' }, { method: 'PUT', token: other })).toMatchObject({ status: 200 });
  const verified = await auth.ask('/verify', { type: 'phone_change', phone: '491719', token: code });
  expect(verified).toMatchObject({ status: 200, body: { user: { id: user.id, phone: '491719' } } });
});

test('without a provider nothing is stored, and numbers for tests need none', async () => {
  const auth = await testAuth(database, { external_phone_enabled: true, sms_test_otp: '491704=123456' });
  const reply = await auth.ask('/signup', { phone: '491705', password });
  expect(reply).toMatchObject({ status: 500, body: { message: 'Unable to get SMS provider' } });
  expect(await database.query("select 1 from auth.users where phone = '491705'")).toEqual([]);
  await auth.ask('/otp', { phone: '491704' });
  expect((await auth.ask('/verify', { type: 'sms', phone: '491704', token: '123456' })).status).toBe(200);
});

test('a code can be requested again, which invalidates the one before', async () => {
  const auth = await testAuth(database, captured);
  const phone = '491720';
  await auth.ask('/signup', { phone, password });
  const { code: lost } = await auth.message(phone);
  const again = await auth.ask('/resend', { type: 'sms', phone: `+${phone}` });
  expect(again).toMatchObject({ status: 200, body: { message_id: expect.stringMatching(/^[0-9a-f-]{36}$/) } });
  const { code } = await auth.message(phone);
  expect((await auth.ask('/verify', { type: 'sms', phone, token: lost })).body.code).toBe('otp_expired');
  const { access_token: token } = (await auth.ask('/verify', { type: 'sms', phone, token: code })).body;
  // The same for a number that is asked for.
  const wanted = '491721';
  await auth.ask('/user', { phone: wanted }, { method: 'PUT', token });
  const { code: first } = await auth.message(wanted);
  expect((await auth.ask('/resend', { type: 'phone_change', phone })).status).toBe(200);
  const { code: second } = await auth.message(wanted);
  const verify = (text: string) => auth.ask('/verify', { type: 'phone_change', phone: wanted, token: text });
  expect((await verify(first)).body.code).toBe('otp_expired');
  expect((await verify(second)).body.user.phone).toBe(wanted);
});

test('resending to a number does not tell whether it has an account, and sends nothing where no code is pending', async () => {
  const auth = await testAuth(database, captured);
  const phone = '491722';
  await auth.ask('/signup', { phone, password });
  await auth.ask('/verify', { type: 'sms', phone, token: (await auth.message(phone)).code });
  const sent = await auth.messages();
  for (const [type, number] of [
    ['sms', phone],
    ['phone_change', phone],
    ['sms', '491799'],
  ] as const)
    expect(await auth.ask('/resend', { type, phone: number })).toMatchObject({ status: 200, body: {} });
  expect(await auth.messages()).toEqual(sent);
});

test('where phones are no way to sign in, every request that is about one says so, and sends nothing', async () => {
  const off = await testAuth(database, { ...captured, external_phone_enabled: false });
  const phone = '491723';
  for (const [path, status, message] of [
    ['/signup', 400, 'Phone signups are disabled'],
    ['/token?grant_type=password', 422, 'Phone logins are disabled'],
    ['/otp', 400, 'Unsupported phone provider'],
    ['/resend', 400, 'Phone logins are disabled'],
  ] as const) {
    const reply = await off.ask(path, { type: 'sms', phone, password });
    const { code, message: text } = reply.body;
    expect([path, reply.status, code, text]).toEqual([path, status, 'phone_provider_disabled', message]);
  }
  expect(await off.messages(phone)).toEqual([]);
  expect(await database.query('select 1 from auth.users where phone = $1', [phone])).toEqual([]);
});
