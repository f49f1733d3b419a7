/**
 * What users change of themselves: password, metadata, address, phone number; and the proofs that are asked for.
 */
import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { fragmentOf, open, queryOf, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { token as sign } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

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
  const message = 'Updating app_metadata requires admin privileges';
  expect(refused).toMatchObject({ status: 403, body: { code: 'not_admin', message } });
});

// Supabase Auth writes the JSON null for a user without metadata.
test.each(['null', '[1]', '"text"'])('metadata that are %s in the database are empty', async (json) => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const email = `metadata${json.length}@x.test`;
  const { user } = await signedUp(auth, email);
  await database.query(
    'update auth.users set raw_user_meta_data = $2::jsonb, raw_app_meta_data = $2::jsonb where id = $1::uuid',
    [user.id, json],
  );
  await database.query('update auth.identities set identity_data = $2::jsonb where user_id = $1::uuid', [
    user.id,
    json,
  ]);
  const { status, body } = await auth.ask('/token?grant_type=password', { email, password });
  expect([status, body.user?.user_metadata, body.user?.app_metadata]).toEqual([200, {}, {}]);
  expect((await update(auth, body.access_token, { data: { a: 1 } })).body.user_metadata).toEqual({ a: 1 });
  await auth.ask('/recover', { email });
  const { code } = await auth.message(email);
  const { body: recovered } = await auth.ask('/verify', { type: 'recovery', email, token: code });
  expect(recovered.user.app_metadata).toEqual({ provider: 'email', providers: ['email'] });
});

test('a new password ends the other sessions and the pending links, and must be new', async () => {
  const auth = await testAuth(database);
  const email = 'password@x.test';
  const { access_token: token } = await signedUp(auth, email);
  const other = (await auth.ask('/token?grant_type=password', { email, password })).body;
  await auth.ask('/recover', { email });
  const { link } = await auth.message(email);
  expect(await update(auth, token, { password })).toMatchObject({
    status: 422,
    body: { code: 'same_password', message: 'New password should be different from the old password.' },
  });
  expect(await update(auth, token, { password: '' })).toMatchObject({ status: 422, body: { code: 'weak_password' } });
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
  const { code: nonce, kind } = await auth.message(email);
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

describe('the code for a new password', () => {
  const day = 24 * 3600;
  const asking = { security_update_password_require_reauthentication: true, jwt_exp: 604_800, smtp_max_frequency: 0 };
  const notValid = { status: 422, body: { code: 'reauthentication_not_valid' } };

  /** A user whose session is of the day before. */
  async function oldSession(auth: TestAuth, email: string): Promise<string> {
    const { access_token: token } = await signedUp(auth, email);
    auth.pass(day + 1);
    return token;
  }

  test('the code for a new password is not asked for within a day of the sign-in', async () => {
    const auth = await testAuth(database, asking);
    const { access_token: token } = await signedUp(auth, 'young@x.test');
    auth.pass(day);
    expect((await update(auth, token, { password: 'second password' })).status).toBe(200);
    auth.pass(1);
    expect((await update(auth, token, { password: 'third password' })).body.code).toBe('reauthentication_needed');
  });

  test('the code for a new password is asked for with a token without session; the password then ends all sessions', async () => {
    const auth = await testAuth(database, asking);
    const { user, access_token } = await signedUp(auth, 'no-session@x.test');
    const token = await sign({ sub: user.id, aud: 'authenticated', role: 'authenticated' });
    expect((await update(auth, token, { password: 'other password' })).body.code).toBe('reauthentication_needed');
    await auth.ask('/reauthenticate', undefined, { token });
    const { code: nonce } = await auth.message('no-session@x.test');
    expect((await update(auth, token, { password: 'other password', nonce })).status).toBe(200);
    expect((await auth.ask('/user', undefined, { token: access_token })).body.code).toBe('session_not_found');
  });

  test('the code for a new password stays good when the change is refused for something else', async () => {
    const auth = await testAuth(database, asking);
    const token = await oldSession(auth, 'refused@x.test');
    await auth.ask('/reauthenticate', undefined, { token });
    const { code: nonce } = await auth.message('refused@x.test');
    expect((await update(auth, token, { password, nonce })).body.code).toBe('same_password');
    expect((await update(auth, token, { password: 'other password', nonce })).status).toBe(200);
  });

  test('the code for a new password ends with its time, with the next one, and is of one user', async () => {
    const auth = await testAuth(database, asking);
    const [token, other] = [await oldSession(auth, 'late@x.test'), await oldSession(auth, 'stranger@x.test')];
    const nonces = [];
    for (const _round of ['replaced', 'too old']) {
      await auth.ask('/reauthenticate', undefined, { token });
      nonces.push((await auth.message('late@x.test')).code);
    }
    const change = (bearer: string, nonce?: string) => update(auth, bearer, { password: 'other password', nonce });
    expect(await change(token, nonces[0])).toMatchObject(notValid);
    expect(await change(other, nonces[1])).toMatchObject(notValid);
    auth.pass(3601);
    expect(await change(token, nonces[1])).toMatchObject(notValid);
  });

  test('the code for a new password is sent once in so many seconds', async () => {
    const auth = await testAuth(database, { ...asking, smtp_max_frequency: 60 });
    const token = await oldSession(auth, 'often@x.test');
    const ask = async () => (await auth.ask('/reauthenticate', undefined, { token })).status;
    expect([await ask(), await ask()]).toEqual([200, 429]);
    auth.pass(61);
    expect(await ask()).toBe(200);
  });

  test('the code for a new password comes by text message to a user without an email address, for as long as such codes are good', async () => {
    const phone = '491711';
    const captured = { external_phone_enabled: true, sms_provider: 'capture', sms_max_frequency: 0 } as const;
    const auth = await testAuth(database, { ...asking, ...captured });
    await auth.ask('/signup', { phone, password });
    const { body } = await auth.ask('/verify', { type: 'sms', phone, token: (await auth.message(phone)).code });
    auth.pass(day + 1);
    const token = body.access_token;
    const replies = [];
    for (const seconds of [61, 59]) {
      const sent = await auth.ask('/reauthenticate', undefined, { token });
      expect(sent.body.message_id).toMatch(/^[0-9a-f-]{36}$/);
      auth.pass(seconds);
      replies.push(await update(auth, token, { password: 'other password', nonce: (await auth.message(phone)).code }));
    }
    expect(replies).toMatchObject([notValid, { status: 200 }]);
  });

  test('the code for a new password needs an address that is confirmed', async () => {
    const auth = await testAuth(database, { ...asking, external_anonymous_users_enabled: true });
    const ask = (token: string) => auth.ask('/reauthenticate', undefined, { token });
    const { access_token: nobody } = (await auth.ask('/signup', {})).body;
    expect(await ask(nobody)).toMatchObject({
      status: 400,
      body: { message: 'Reauthentication requires the user to have an email or a phone number' },
    });
    const { user, access_token: token } = await signedUp(auth, 'unproved@x.test');
    await database.query('update auth.users set email_confirmed_at = null where id = $1', [user.id]);
    expect(await ask(token)).toMatchObject({
      status: 422,
      body: { code: 'email_not_confirmed', message: 'Please verify your email first.' },
    });
    await database.query(`update auth.users set email = null, phone = '491712' where id = $1`, [user.id]);
    expect(await ask(token)).toMatchObject({
      status: 422,
      body: { code: 'phone_not_confirmed', message: 'Please verify your phone first.' },
    });
  });
});

test('where the configuration asks for it, a new password needs the old one, but not after a recovery', async () => {
  const auth = await testAuth(database, { security_update_password_require_current_password: true });
  const email = 'current@x.test';
  const recovered = await signedUp(auth, email);
  expect((await update(auth, recovered.access_token, { password: 'second password' })).status).toBe(200);
  const { body } = await auth.ask('/token?grant_type=password', { email, password: 'second password' });
  const change = (current_password?: string) =>
    update(auth, body.access_token, { password: 'third password', current_password });
  const message = 'Current password required when setting new password.';
  expect(await change()).toMatchObject({ status: 400, body: { code: 'current_password_required', message } });
  expect(await change('wrong')).toMatchObject({ status: 400, body: { code: 'current_password_invalid', message } });
  expect((await change('second password')).status).toBe(200);
});

test('a change of the address is confirmed at both addresses, in any order', async () => {
  const auth = await testAuth(database);
  const [old, fresh] = ['old@x.test', 'fresh@x.test'];
  const { access_token: token } = await signedUp(auth, old);
  const pending = await update(auth, token, { email: 'Fresh@x.test' });
  expect(pending.body).toMatchObject({ email: old, new_email: fresh });
  const [toOld, toNew] = [await auth.message(old), await auth.message(fresh)];
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
  const { code } = await auth.message('first@x.test');
  const { body } = await auth.ask('/verify', { type: 'email_change', email: 'first@x.test', token: code });
  const msg = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';
  expect(body).toEqual({ msg, code: '200' });
});

test('a new request for another address invalidates the links of the first', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const { access_token: token } = await signedUp(auth, 'change@x.test');
  await update(auth, token, { email: 'one@x.test' });
  const old = [await auth.message('change@x.test'), await auth.message('one@x.test')];
  await open(old[1]!.link);
  await update(auth, token, { email: 'two@x.test' });
  for (const { link } of old) expect(fragmentOf((await open(link)).location).error_code).toBe('otp_expired');
  await auth.ask('/resend', { type: 'email_change', email: 'change@x.test' });
  await open((await auth.message('change@x.test')).link);
  expect((await open((await auth.message('two@x.test')).link)).location).toContain('type=email_change');
});

test('without the secure change only the new address confirms; the same address in another case changes nothing', async () => {
  const auth = await testAuth(database, { mailer_secure_email_change_enabled: false });
  const { access_token: token } = await signedUp(auth, 'simple@x.test');
  const before = (await auth.messages()).length;
  expect((await update(auth, token, { email: 'Simple@X.test' })).body).not.toHaveProperty('new_email');
  expect(await auth.messages()).toHaveLength(before);
  await update(auth, token, { email: 'simpler@x.test' });
  expect(await auth.messages()).toHaveLength(before + 1);
  expect((await open((await auth.message('simpler@x.test')).link)).location).toContain('access_token=');
});

test('both emails of a change name both addresses, and have a code and a link of their own', async () => {
  const auth = await testAuth(database, {
    external_anonymous_users_enabled: true,
    mailer_templates_email_change_content:
      '<p>{{ .Email }}|{{ .NewEmail }}|{{ .SendingTo }}|{{ .Token }}|{{ .TokenHash }}|{{ .ConfirmationURL }}</p>',
  });
  const variables = async (to: string) => (await auth.message(to)).text.trim().split('|');
  const { access_token: token } = await signedUp(auth, 'from@x.test');
  await update(auth, token, { email: 'to@x.test' });
  const [old, fresh] = [await variables('from@x.test'), await variables('to@x.test')];
  expect(old.slice(0, 3)).toEqual(['from@x.test', 'to@x.test', 'from@x.test']);
  expect(fresh.slice(0, 3)).toEqual(['from@x.test', 'to@x.test', 'to@x.test']);
  for (const own of [3, 4, 5]) expect(old[own]).not.toBe(fresh[own]);
  const { body: anonymous } = await auth.ask('/signup', {});
  await update(auth, anonymous.access_token, { email: 'first-of-all@x.test' });
  const only = await variables('first-of-all@x.test');
  expect(only.slice(0, 3)).toEqual(['', 'first-of-all@x.test', 'first-of-all@x.test']);
});

test('where addresses count as confirmed, both addresses confirm a change all the same', async () => {
  const captured = await testAuth(database);
  const auth = await testAuth(database, { mailer_autoconfirm: true });
  const { access_token: token } = await signedUp(captured, 'auto-old@x.test');
  expect((await update(auth, token, { email: 'auto-new@x.test' })).body).toMatchObject({
    new_email: 'auto-new@x.test',
  });
  const links = [(await auth.message('auto-old@x.test')).link, (await auth.message('auto-new@x.test')).link];
  expect(fragmentOf((await open(links[0]!)).location).message).toContain('confirm link sent to the other email');
  expect((await auth.ask('/user', undefined, { token })).body.email).toBe('auto-old@x.test');
  expect((await open(links[1]!)).location).toContain('access_token=');
  expect((await auth.ask('/user', undefined, { token })).body.email).toBe('auto-new@x.test');
});

test('a new password ends a pending change, which can be asked for again', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const [email, next] = ['pending@x.test', 'pending-new@x.test'];
  const { access_token: token } = await signedUp(auth, email);
  await update(auth, token, { email: next });
  const dead = await auth.message(next);
  expect((await update(auth, token, { password: 'other password' })).body.new_email).toBeUndefined();
  expect(fragmentOf((await open(dead.link)).location).error_code).toBe('otp_expired');
  await update(auth, token, { email: next });
  for (const to of [next, email]) await open((await auth.message(to)).link);
  expect((await auth.ask('/user', undefined, { token })).body.email).toBe(next);
});

test('in the PKCE flow the first link of a change leads back with a message, the second one with a code', async () => {
  const auth = await testAuth(database);
  const verifier = 'v'.repeat(64);
  const code_challenge = createHash('sha256').update(verifier).digest('base64url');
  const { access_token: token } = await signedUp(auth, 'pkce-old@x.test');
  const refused = await update(auth, token, { email: 'pkce-new@x.test', code_challenge });
  expect(refused).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  await update(auth, token, { email: 'pkce-new@x.test', code_challenge, code_challenge_method: 's256' });
  const links = [(await auth.message('pkce-old@x.test')).link, (await auth.message('pkce-new@x.test')).link];
  for (const link of links) expect(new URL(link).searchParams.get('token')).toMatch(/^pkce_[0-9a-f]{56}$/);
  const first = (await open(links[1]!)).location;
  expect([queryOf(first).message, fragmentOf(first).message]).toEqual(
    Array(2).fill('Confirmation link accepted. Please proceed to confirm link sent to the other email'),
  );
  const { code: auth_code } = queryOf((await open(links[0]!)).location);
  const exchange = await auth.ask('/token?grant_type=pkce', { auth_code, code_verifier: verifier });
  expect(exchange.body.user.email).toBe('pkce-new@x.test');
});

test('an address that another user takes before a change is complete stays theirs', async () => {
  const auth = await testAuth(database, { mailer_secure_email_change_enabled: false });
  const { access_token: token } = await signedUp(auth, 'slow@x.test');
  await update(auth, token, { email: 'wanted@x.test' });
  const { link, code } = await auth.message('wanted@x.test');
  await auth.askAdmin('/admin/users', { email: 'wanted@x.test' });
  expect(fragmentOf((await open(link)).location).error_code).toBe('email_exists');
  const typed = await auth.ask('/verify', { type: 'email_change', email: 'wanted@x.test', token: code });
  expect(typed).toMatchObject({ status: 422, body: { code: 'email_exists' } });
  expect((await auth.ask('/user', undefined, { token })).body).toMatchObject({ email: 'slow@x.test' });
});

test('an address or a number of somebody else is refused, and nothing is stored or sent', async () => {
  const auth = await testAuth(database, { external_phone_enabled: true, sms_provider: 'capture' });
  await auth.askAdmin('/admin/users', { email: 'taken@x.test', phone: '491713', email_confirm: true });
  const { access_token: token, user } = await signedUp(auth, 'taker@x.test');
  const before = await auth.messages();
  for (const [changes, code, kind] of [
    [{ email: 'Taken@x.test', data: { a: 1 } }, 'email_exists', 'email address'],
    [{ phone: '+49 1713', password: 'another password' }, 'phone_exists', 'phone number'],
  ] as const) {
    const message = `A user with this ${kind} has already been registered`;
    expect(await update(auth, token, changes)).toMatchObject({ status: 422, body: { code, message } });
  }
  expect(await auth.messages()).toEqual(before);
  expect((await auth.ask('/user', undefined, { token })).body).toEqual(user);
});

test('a user of single sign-on changes nothing here that the identity provider decides', async () => {
  const auth = await testAuth(database);
  const { user, access_token: token } = await signedUp(auth, 'sso@x.test');
  await database.query('update auth.users set is_sso_user = true where id = $1', [user.id]);
  for (const changes of [
    { password: 'other password' },
    { email: 'sso2@x.test' },
    { phone: '491714' },
    { nonce: '1' },
  ]) {
    expect(await update(auth, token, changes)).toMatchObject({ status: 422, body: { code: 'user_sso_managed' } });
  }
  expect((await update(auth, token, { data: { a: 1 } })).status).toBe(200);
});

test('an anonymous user becomes one with an address', async () => {
  const auth = await testAuth(database, { external_anonymous_users_enabled: true });
  const { access_token: token } = (await auth.ask('/signup', {})).body;
  expect(await update(auth, token, { password })).toMatchObject({
    status: 422,
    body: {
      code: 'validation_failed',
      message: 'Updating password of an anonymous user without an email or phone is not allowed',
    },
  });
  await update(auth, token, { email: 'named@x.test', password });
  // An empty text is no change.
  const pending = await update(auth, token, { email: '', phone: '', data: { a: 1 } });
  expect(pending.body).toMatchObject({ new_email: 'named@x.test', is_anonymous: true });
  const { code } = await auth.message('named@x.test');
  await auth.ask('/verify', { type: 'email_change', email: 'named@x.test', token: code });
  const { body } = await auth.ask('/user', undefined, { token });
  expect(body).toMatchObject({ email: 'named@x.test', is_anonymous: false, app_metadata: { providers: ['email'] } });
  expect((await auth.ask('/token?grant_type=password', { email: 'named@x.test', password })).status).toBe(200);
  const automatic = await testAuth(database, { external_anonymous_users_enabled: true, mailer_autoconfirm: true });
  const other = (await automatic.ask('/signup', {})).body;
  const reply = await update(automatic, other.access_token, { email: 'auto-named@x.test' });
  expect(reply.body).toMatchObject({ email: 'auto-named@x.test', is_anonymous: false });
});

test.each([
  ['/recover', {}],
  ['/resend', { type: 'signup' }],
  ['/resend', { type: 'email_change' }],
] as const)('%s %j has to wait a minute, for every address', async (path, members) => {
  const auth = await testAuth(database);
  const [done, nobody] = ['done', 'nobody'].map(
    (name) => `${name}-${path.slice(1)}-${JSON.stringify(members).length}@x.test`,
  );
  await signedUp(auth, done!);
  for (const email of [done, nobody]) {
    expect(await auth.ask(path, { ...members, email })).toMatchObject({ status: 200, body: {} });
    const soon = await auth.ask(path, { ...members, email });
    expect([soon.status, soon.headers.get('retry-after')]).toEqual([429, '60']);
    expect(soon.body).toEqual({
      code: 'over_email_send_rate_limit',
      message: 'For security purposes, you can only request this after 60 seconds.',
    });
  }
  auth.pass(60);
  for (const email of [done, nobody]) expect((await auth.ask(path, { ...members, email })).status).toBe(200);
});

test('a request that failed may be sent again at once', async () => {
  const auth = await testAuth(database, { rate_limit_email_sent: 0 });
  await auth.askAdmin('/admin/users', { email: 'retry@x.test', email_confirm: true });
  for (const _time of ['first', 'second']) {
    expect((await auth.ask('/recover', { email: 'retry@x.test' })).body.message).toBe('email rate limit exceeded');
  }
});

test('a client that must not create users is told that there is none', async () => {
  const auth = await testAuth(database, { external_phone_enabled: true, sms_provider: 'capture' });
  for (const address of [{ email: 'none@x.test' }, { phone: '491799' }]) {
    expect(await auth.ask('/otp', { ...address, create_user: false })).toMatchObject({
      status: 422,
      body: { code: 'otp_disabled', message: 'Signups not allowed for otp' },
    });
  }
});

test.each([
  [
    '/resend',
    { type: 'recovery', email: 'a@x.test' },
    'Missing one of these types: signup, email_change, sms, phone_change',
  ],
  ['/resend', { type: 'signup' }, 'Type provided requires an email address'],
  ['/resend', { type: 'email_change' }, 'Missing email address or phone number'],
  ['/resend', { type: 'sms' }, 'Type provided requires a phone number'],
  ['/resend', { type: 'phone_change', email: 'a@x.test' }, 'Type provided requires a phone number'],
  [
    '/resend',
    { type: 'sms', email: 'a@x.test', phone: '1' },
    'Only an email address or phone number should be provided.',
  ],
  [
    '/token?grant_type=password',
    { email: 'a@x.test', phone: '1', password },
    'Only an email address or phone number should be provided on login.',
  ],
  ['/recover', {}, 'Password recovery requires an email'],
  ['/otp', {}, 'One of email or phone must be set'],
  ['/otp', { email: 'a@x.test', channel: 'sms' }, 'Channel should only be specified with Phone OTP'],
  ['/magiclink', {}, 'Password recovery requires an email'],
])('POST %s with %j is refused', async (path, body, message) => {
  const auth = await testAuth(database);
  expect((await auth.ask(path, body)).body).toMatchObject({ code: 'validation_failed', message });
});
