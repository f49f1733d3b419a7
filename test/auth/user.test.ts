/**
 * What users change of themselves: password, metadata, address, phone number; and the proofs that are asked for.
 */
import { beforeAll, expect, test } from 'vitest';
import { createAuthDatabase, fragmentOf, open, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import type { TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

const update = (auth: TestAuth, token: string, body: unknown) => auth.ask('/user', body, { method: 'PUT', token });

test('metadata is merged, a null deletes, and app metadata is not for users', async () => {
  const auth = await testAuth(database);
  const { access_token: token } = await signedUp(auth, 'meta@x.test');
  await update(auth, token, { data: { a: 1, b: { c: 1 } } });
  const { body } = await update(auth, token, { data: { a: null, b: { d: 2 } } });
  expect(body.user_metadata).toMatchObject({ b: { d: 2 } });
  expect(body.user_metadata).not.toHaveProperty('a');
  expect(body.user_metadata.b).not.toHaveProperty('c');
  const refused = await update(auth, token, { app_metadata: { admin: true } });
  expect(refused).toMatchObject({ status: 403, body: { code: 'not_admin' } });
});

test('a new password ends the other sessions and the pending links, and must be new', async () => {
  const auth = await testAuth(database);
  const email = 'password@x.test';
  const { access_token: token } = await signedUp(auth, email);
  const other = (await auth.ask('/token?grant_type=password', { email, password })).body;
  await auth.ask('/recover', { email });
  const { link } = await auth.mail(email);
  expect((await update(auth, token, { password })).body.code).toBe('same_password');
  expect((await update(auth, token, { password: '' })).body.code).toBe('weak_password');
  expect((await update(auth, token, { password: 'a better password' })).status).toBe(200);
  expect((await auth.ask('/user', undefined, { token })).status).toBe(200);
  expect((await auth.ask('/user', undefined, { token: other.access_token })).body.code).toBe('session_not_found');
  expect(fragmentOf((await open(link)).location).error_code).toBe('otp_expired');
  expect((await auth.ask('/token?grant_type=password', { email, password: 'a better password' })).status).toBe(200);
});

test('an old session needs a code for a new password, once', async () => {
  const auth = await testAuth(database, {
    security_update_password_require_reauthentication: true,
    jwt_exp: 604_800,
    smtp_max_frequency: 0,
  });
  const email = 'nonce@x.test';
  const { access_token: token } = await signedUp(auth, email);
  expect((await update(auth, token, { password: 'second password', nonce: '000000' })).status).toBe(200);
  auth.pass(24 * 3600 + 1);
  expect(await update(auth, token, { password: 'third password' })).toMatchObject({
    status: 400,
    body: { code: 'reauthentication_needed', message: 'Password update requires reauthentication' },
  });
  expect(await auth.ask('/reauthenticate', undefined, { token })).toMatchObject({ status: 200, body: {} });
  const { code: nonce, kind } = await auth.mail(email);
  expect(kind).toBe('reauthentication');
  const wrong = nonce === '111111' ? '222222' : '111111';
  expect(await update(auth, token, { password: 'third password', nonce: wrong })).toMatchObject({
    status: 422,
    body: { code: 'reauthentication_not_valid', message: 'Nonce has expired or is invalid' },
  });
  expect((await update(auth, token, { password: 'third password', nonce })).status).toBe(200);
  expect((await update(auth, token, { password: 'fourth password', nonce })).body.code).toBe(
    'reauthentication_not_valid',
  );
});

test('where the configuration asks for it, a new password needs the old one, but not after a recovery', async () => {
  const auth = await testAuth(database, { security_update_password_require_current_password: true });
  const email = 'current@x.test';
  const recovered = await signedUp(auth, email);
  expect((await update(auth, recovered.access_token, { password: 'second password' })).status).toBe(200);
  const { body } = await auth.ask('/token?grant_type=password', { email, password: 'second password' });
  const change = (current_password?: string) =>
    update(auth, body.access_token, { password: 'third password', current_password });
  expect((await change()).body.code).toBe('current_password_required');
  expect((await change('wrong')).body.code).toBe('current_password_invalid');
  expect((await change('second password')).status).toBe(200);
});

test('a change of the address is confirmed at both addresses, in any order', async () => {
  const auth = await testAuth(database);
  const [old, fresh] = ['old@x.test', 'fresh@x.test'];
  const { access_token: token } = await signedUp(auth, old);
  const pending = await update(auth, token, { email: 'Fresh@x.test' });
  expect(pending.body).toMatchObject({ email: old, new_email: fresh });
  const [toOld, toNew] = [await auth.mail(old), await auth.mail(fresh)];
  expect([toOld.kind, toNew.kind]).toEqual(['email_change', 'email_change']);
  expect(toOld.code).not.toBe(toNew.code);
  const first = await open(toNew.link);
  expect(first.location).toBe(
    'https://app.test#message=Confirmation+link+accepted.+Please+proceed+to+confirm+link+sent+to+the+other+email&sb=',
  );
  expect((await auth.ask('/user', undefined, { token })).body.email).toBe(old);
  expect(fragmentOf((await open(toNew.link)).location).error_code).toBe('otp_expired');
  const wrongAddress = await auth.ask('/verify', { type: 'email_change', email: fresh, token: toOld.code });
  expect(wrongAddress.body.code).toBe('otp_expired');
  const second = await auth.ask('/verify', { type: 'email_change', email: old, token: toOld.code });
  expect(second.body.user).toMatchObject({ email: fresh, identities: [{ email: fresh }] });
  expect(second.body.user).not.toHaveProperty('new_email');
});

test('the first code of a change answers what to do next', async () => {
  const auth = await testAuth(database);
  const { access_token: token } = await signedUp(auth, 'first@x.test');
  await update(auth, token, { email: 'second@x.test' });
  const { code } = await auth.mail('first@x.test');
  const { body } = await auth.ask('/verify', { type: 'email_change', email: 'first@x.test', token: code });
  const msg = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';
  expect(body).toEqual({ msg, code: '200' });
});

test('a new request for another address kills the links of the first', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const { access_token: token } = await signedUp(auth, 'change@x.test');
  await update(auth, token, { email: 'one@x.test' });
  const old = [await auth.mail('change@x.test'), await auth.mail('one@x.test')];
  await open(old[1]!.link);
  await update(auth, token, { email: 'two@x.test' });
  for (const { link } of old) expect(fragmentOf((await open(link)).location).error_code).toBe('otp_expired');
  await auth.ask('/resend', { type: 'email_change', email: 'change@x.test' });
  await open((await auth.mail('change@x.test')).link);
  expect((await open((await auth.mail('two@x.test')).link)).location).toContain('type=email_change');
});

test('without the secure change only the new address confirms; the same address in another case changes nothing', async () => {
  const auth = await testAuth(database, { mailer_secure_email_change_enabled: false });
  const { access_token: token } = await signedUp(auth, 'simple@x.test');
  const before = (await auth.mails()).length;
  expect((await update(auth, token, { email: 'Simple@X.test' })).body).not.toHaveProperty('new_email');
  expect(await auth.mails()).toHaveLength(before);
  await update(auth, token, { email: 'simpler@x.test' });
  expect(await auth.mails()).toHaveLength(before + 1);
  expect((await open((await auth.mail('simpler@x.test')).link)).location).toContain('access_token=');
});

test('an address or a number of somebody else is refused', async () => {
  const auth = await testAuth(database);
  await signedUp(auth, 'taken@x.test');
  const { access_token: token } = await signedUp(auth, 'taker@x.test');
  const reply = await update(auth, token, { email: 'Taken@x.test' });
  expect(reply).toMatchObject({ status: 422, body: { code: 'email_exists' } });
});

test('an anonymous user becomes one with an address', async () => {
  const auth = await testAuth(database, { external_anonymous_users_enabled: true });
  const { access_token: token } = (await auth.ask('/signup', {})).body;
  expect((await update(auth, token, { password })).status).toBe(422);
  await update(auth, token, { email: 'named@x.test' });
  const { location } = await open((await auth.mail('named@x.test')).link);
  const { body } = await auth.ask('/user', undefined, { token: fragmentOf(location).access_token! });
  expect(body).toMatchObject({ email: 'named@x.test', is_anonymous: false, app_metadata: { providers: ['email'] } });
  const automatic = await testAuth(database, { external_anonymous_users_enabled: true, mailer_autoconfirm: true });
  const other = (await automatic.ask('/signup', {})).body;
  const reply = await update(automatic, other.access_token, { email: 'auto-named@x.test' });
  expect(reply.body).toMatchObject({ email: 'auto-named@x.test', is_anonymous: false });
});

test('resending says nothing of who there is', async () => {
  const auth = await testAuth(database);
  await signedUp(auth, 'done@x.test');
  for (const email of ['done@x.test', 'nobody@x.test']) {
    for (const type of ['signup', 'email_change']) {
      expect(await auth.ask('/resend', { type, email })).toMatchObject({ status: 200, body: {} });
    }
  }
  expect(await auth.ask('/recover', { email: 'nobody@x.test' })).toMatchObject({ status: 200, body: {} });
  expect(await auth.ask('/otp', { email: 'nobody@x.test', create_user: false })).toMatchObject({
    status: 422,
    body: { code: 'otp_disabled', message: 'Signups not allowed for otp' },
  });
});

test.each([
  [
    '/resend',
    { type: 'recovery', email: 'a@x.test' },
    'Missing one of these types: signup, email_change, sms, phone_change',
  ],
  ['/resend', { type: 'signup' }, 'Type provided requires an email address'],
  ['/resend', { type: 'email_change' }, 'Missing email address or phone number'],
  ['/recover', {}, 'Password recovery requires an email'],
  ['/otp', {}, 'One of email or phone must be set'],
  ['/otp', { email: 'a@x.test', channel: 'sms' }, 'Channel should only be specified with Phone OTP'],
  ['/magiclink', {}, 'Password recovery requires an email'],
])('POST %s with %j is refused', async (path, body, message) => {
  const auth = await testAuth(database);
  expect((await auth.ask(path, body)).body).toMatchObject({ code: 'validation_failed', message });
});
