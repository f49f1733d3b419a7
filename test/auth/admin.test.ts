/**
 * What servers with the service key may do: users, invitations, links, the audit log.
 */
import { hash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { fragmentOf, open, queryOf, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { anonKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const change = (auth: TestAuth, id: string, body: unknown) =>
  auth.askAdmin(`/admin/users/${id}`, body, { method: 'PUT' });
const remove = (auth: TestAuth, id: string, body?: unknown) =>
  auth.askAdmin(`/admin/users/${id}`, body, { method: 'DELETE' });

test('the admin routes are for the service key, not for users and not for the anon key', async () => {
  const auth = await testAuth(database);
  const { access_token: token } = await signedUp(auth, 'noadmin@x.test');
  const paths = ['/admin/users', '/admin/audit'];
  for (const path of paths) {
    expect(await auth.ask(path, undefined, { token })).toMatchObject({ status: 403, body: { code: 'not_admin' } });
    expect(await auth.ask(path, undefined, { token: anonKey })).toMatchObject({
      status: 403,
      body: { code: 'not_admin', message: 'User not allowed' },
    });
  }
  for (const path of ['/invite', '/admin/generate_link', '/admin/users']) {
    expect((await auth.ask(path, {}, { token })).body.code).toBe('not_admin');
  }
});

test('an invited user follows the link, signs in with it and sets a password', async () => {
  const auth = await testAuth(database, { security_update_password_require_current_password: true });
  const email = 'guest@x.test';
  const invited = await auth.askAdmin('/invite', { email, data: { team: 'a' } });
  expect(invited.body).toMatchObject({ email, user_metadata: { team: 'a' } });
  expect(invited.body.invited_at).toBeDefined();
  const old = await auth.message(email);
  // Sends a link to sign in; that of the invitation stays.
  expect((await auth.ask('/resend', { type: 'signup', email })).status).toBe(200);
  await auth.askAdmin('/invite', { email });
  expect(fragmentOf((await open(old.link)).location).error_code).toBe('otp_expired');
  const { location } = await open((await auth.message(email)).link);
  const { access_token: token, type } = fragmentOf(location);
  expect(type).toBe('invite');
  expect((await auth.ask('/user', { password }, { method: 'PUT', token: token! })).status).toBe(200);
  expect((await auth.ask('/token?grant_type=password', { email, password })).status).toBe(200);
  expect((await auth.askAdmin('/invite', { email })).body.code).toBe('email_exists');
});

test('the sign-up of an invited user shows nothing of what the invitation says', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  await auth.askAdmin('/invite', { email: 'secret@x.test', data: { salary: 1 } });
  const { body } = await auth.ask('/signup', { email: 'secret@x.test', password });
  expect(body.user_metadata).not.toHaveProperty('salary');
  expect(body).not.toHaveProperty('invited_at');
  const { kind, code } = await auth.message('secret@x.test');
  // A confirmation would take the place of the invitation.
  expect(kind).toBe('magic_link');
  // Somebody else may have asked: their password is not that of the one who has the address.
  expect((await auth.ask('/verify', { type: 'email', email: 'secret@x.test', token: code })).status).toBe(200);
  const signIn = await auth.ask('/token?grant_type=password', { email: 'secret@x.test', password });
  expect(signIn.body.code).toBe('invalid_credentials');
});

test('an admin makes users as told, without any email', async () => {
  const auth = await testAuth(database);
  const id = '6f1d5f3e-9d4b-4a8e-9a1e-0d6d0d9f1a11';
  const facts = {
    id,
    email: 'made@x.test',
    phone: '4917',
    password,
    email_confirm: true,
    user_metadata: { a: 1 },
    app_metadata: { plan: 'x' },
  };
  const { body } = await auth.askAdmin('/admin/users', facts);
  expect(body).toMatchObject({
    id,
    email: 'made@x.test',
    phone: '4917',
    user_metadata: { a: 1, email_verified: true },
    app_metadata: { plan: 'x', provider: 'email', providers: ['email', 'phone'] },
  });
  expect(body.phone_confirmed_at).toBeUndefined();
  expect(await auth.messages('made@x.test')).toEqual([]);
  expect((await auth.ask('/token?grant_type=password', { email: 'made@x.test', password })).status).toBe(200);
  await auth.askAdmin('/admin/users', { email: 'unproved@x.test', password });
  expect((await auth.ask('/token?grant_type=password', { email: 'unproved@x.test', password })).body.code).toBe(
    'email_not_confirmed',
  );
  expect(await auth.messages('unproved@x.test')).toEqual([]);
  const hash = '$2b$10$j8Tgma25oWeaOQoOgf5I8OT/IoEPAyOSo9Oo9JZr/kzjBut.W0HTG';
  expect((await auth.askAdmin('/admin/users', { email: 'hash@x.test', password_hash: hash })).status).toBe(200);
  expect((await auth.ask('/token?grant_type=password', { email: 'hash@x.test', password: 'x' })).status).toBe(400);
  const refusals = [
    [{}, 400, 'Cannot create a user without either an email or phone'],
    [{ email: 'Made@x.test' }, 422, 'A user with this email address has already been registered'],
    [{ phone: '4917' }, 422, 'Phone number already registered by another user'],
    [
      { email: 'a@x.test', password, password_hash: hash },
      400,
      'Only a password or a password hash should be provided',
    ],
    [{ email: 'a@x.test', id: 'x' }, 400, 'ID must conform to the uuid v4 format'],
    [{ email: 'a@x.test', id: '00000000-0000-0000-0000-000000000000' }, 400, 'ID cannot be a nil uuid'],
    [{ email: 'a@x.test', id }, 422, 'A user with this id exists'],
    [{ email: 'a@x.test', ban_duration: 'xyz' }, 400, expect.stringMatching(/^invalid format for ban duration: /)],
    [{ email: 'a@x.test', password: 'x'.repeat(73) }, 400, 'Password cannot be longer than 72 characters'],
  ] as const;
  for (const [given, status, message] of refusals) {
    expect(await auth.askAdmin('/admin/users', given)).toMatchObject({ status, body: { message } });
  }
});

test('an admin changes users at once, and a new password ends all their sessions', async () => {
  const auth = await testAuth(database);
  const { user, access_token: token } = await signedUp(auth, 'changed@x.test');
  const changes = {
    email: 'changed-too@x.test',
    role: 'service_role',
    app_metadata: { a: 1 },
    user_metadata: { email_verified: null },
  };
  const { body } = await change(auth, user.id, changes);
  expect(body).toMatchObject({
    email: 'changed-too@x.test',
    role: 'service_role',
    app_metadata: { a: 1, provider: 'email' },
    identities: [{ email: 'changed-too@x.test' }],
  });
  expect(body.user_metadata).not.toHaveProperty('email_verified');
  expect((await change(auth, user.id, { password: 'another password' })).status).toBe(200);
  expect((await auth.ask('/user', undefined, { token })).body.code).toBe('session_not_found');
  await signedUp(auth, 'owner@x.test');
  expect((await change(auth, user.id, { email: 'owner@x.test' })).body.code).toBe('email_exists');
  expect((await change(auth, user.id, { ban_duration: 'none' })).body).not.toHaveProperty('banned_until');
  expect(await change(auth, 'x', {})).toMatchObject({ status: 404, body: { message: 'user_id must be an UUID' } });
  const nobody = await change(auth, '6f1d5f3e-9d4b-4a8e-9a1e-000000000000', {});
  expect(nobody).toMatchObject({ status: 404, body: { code: 'user_not_found' } });
});

test('a link that went to an address which an admin has replaced proves nothing of the new one', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const { body: user } = await auth.ask('/signup', { email: 'typo@x.test', password });
  const { link } = await auth.message('typo@x.test');
  expect((await change(auth, user.id, { email: 'righted@x.test' })).status).toBe(200);
  expect(fragmentOf((await open(link)).location).error_code).toBe('otp_expired');
  expect((await auth.askAdmin(`/admin/users/${user.id}`)).body).not.toHaveProperty('email_confirmed_at');
  await auth.ask('/resend', { type: 'signup', email: 'righted@x.test' });
  expect(fragmentOf((await open((await auth.message('righted@x.test')).link)).location).type).toBe('signup');
});

test('an invitation goes to an address whatever its case in the database', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const { body: user } = await auth.ask('/signup', { email: 'byhand@x.test', password });
  await database.query(`update auth.users set email = 'ByHand@x.test' where id = $1::uuid`, [user.id]);
  expect((await auth.askAdmin('/invite', { email: 'byhand@x.test' })).status).toBe(200);
  expect((await auth.message('byhand@x.test')).kind).toBe('invite');
});

test('text that is too long for the database is the fault of the request', async () => {
  const auth = await testAuth(database, { security_jwt_aud_header_enabled: true });
  const long = 'x'.repeat(256);
  const made = await auth.askAdmin('/admin/users', { email: 'long@x.test', role: long });
  expect(made).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  const headers = { 'x-jwt-aud': long };
  const signedUp = await auth.ask('/signup', { email: 'long@x.test', password }, { headers });
  expect(signedUp).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
});

test('a deleted user is gone; a soft deletion keeps the id and frees the address', async () => {
  const auth = await testAuth(database);
  const hard = await signedUp(auth, 'hard@x.test');
  expect(await remove(auth, hard.user.id)).toMatchObject({ status: 200, body: {} });
  expect((await auth.askAdmin(`/admin/users/${hard.user.id}`)).status).toBe(404);
  expect((await auth.ask('/user', undefined, { token: hard.access_token })).body.code).toBe('user_not_found');
  const soft = await signedUp(auth, 'soft@x.test');
  for (const _time of ['once', 'twice']) {
    expect((await remove(auth, soft.user.id, { should_soft_delete: true })).status).toBe(200);
  }
  expect((await auth.ask('/user', undefined, { token: soft.access_token })).body.code).toBe('session_not_found');
  const { body } = await auth.askAdmin(`/admin/users/${soft.user.id}`);
  expect(body).toMatchObject({ id: soft.user.id, user_metadata: {}, identities: [{ identity_data: {} }] });
  expect(JSON.stringify(body)).not.toContain('soft@x.test');
  const kept = JSON.stringify([
    body,
    await database.query('select * from auth.identities where user_id = $1', [body.id]),
  ]);
  for (const text of ['soft@x.test', `email:${body.id}`, body.id]) {
    for (const guess of [text, `${body.id}${text}`]) {
      for (const form of ['hex', 'base64url'] as const) expect(kept).not.toContain(hash('sha256', guess, form));
    }
  }
  expect((await auth.ask('/signup', { email: 'soft@x.test', password })).status).toBe(200);
});

test('a link that was opened before a soft deletion signs nobody in after it', async () => {
  const auth = await testAuth(database);
  const { user } = await signedUp(auth, 'opened@x.test');
  const code_challenge = 'v'.repeat(43);
  await auth.ask('/otp', { email: 'opened@x.test', code_challenge, code_challenge_method: 'plain' });
  const { location } = await open((await auth.message('opened@x.test')).link);
  await remove(auth, user.id, { should_soft_delete: true });
  const exchange = { auth_code: queryOf(location).code, code_verifier: code_challenge };
  expect((await auth.ask('/token?grant_type=pkce', exchange)).body.code).toBe('flow_state_not_found');
});

test('users come in pages with a total and links to the others', async () => {
  const own = await createAuthDatabase();
  const auth = await testAuth(own);
  for (const name of ['a', 'b', 'c']) {
    await auth.askAdmin('/admin/users', { email: `${name}@x.test`, user_metadata: { full_name: `Mr ${name}` } });
    auth.pass(1);
  }
  const first = await auth.askAdmin('/admin/users?page=&per_page=2');
  const emails = ({ body }: { body: { users: { email: string }[] } }) => body.users.map(({ email }) => email);
  expect(emails(first)).toEqual(['c@x.test', 'b@x.test']);
  expect(first.headers.get('x-total-count')).toBe('3');
  expect(first.headers.get('link')).toBe(
    '<http://localhost:54321/auth/v1/admin/users?page=2&per_page=2>; rel="next", <http://localhost:54321/auth/v1/admin/users?page=2&per_page=2>; rel="last"',
  );
  expect(emails(await auth.askAdmin('/admin/users?page=2&per_page=2&sort=created_at%20asc'))).toEqual(['c@x.test']);
  expect(emails(await auth.askAdmin('/admin/users?filter=mr%20B'))).toEqual(['b@x.test']);
  const beyond = await auth.askAdmin('/admin/users?page=9');
  expect([emails(beyond), beyond.headers.get('link')?.includes('next')]).toEqual([[], false]);
  for (const query of ['page=x', 'per_page=0', 'per_page=-1', 'sort=email']) {
    expect((await auth.askAdmin(`/admin/users?${query}`)).body.message).toMatch(/^Bad (Pagination|Sort) Parameters: /);
  }
});

test('a generated link signs in like that of an email, as link, as code and as hash', async () => {
  const auth = await testAuth(database);
  const email = 'generated@x.test';
  const generate = async (type: string, more: object = {}) =>
    (await auth.askAdmin('/admin/generate_link', { type, email, ...more })).body;
  const link = await generate('signup', { password, data: { a: 1 }, redirect_to: 'https://app.test/deep' });
  expect(link).toMatchObject({ email, verification_type: 'signup', redirect_to: 'https://app.test/deep' });
  // As for every user that an admin makes: what the identity has is its own.
  expect(link.user_metadata).toEqual({ a: 1 });
  expect(link.identities[0].identity_data).toMatchObject({ sub: link.id, email, email_verified: false });
  expect(link.action_link).toBe(
    `http://localhost:54321/auth/v1/verify?token=${link.hashed_token}&type=signup&redirect_to=https://app.test/deep`,
  );
  const opened = await open(link.action_link.replace('http://localhost:54321', auth.url));
  expect(opened.location).toMatch(/^https:\/\/app\.test\/deep#access_token=/);
  const magic = await generate('magiclink');
  expect((await auth.ask('/verify', { type: 'magiclink', email, token: magic.email_otp })).status).toBe(200);
  const recovery = await generate('recovery');
  expect((await auth.ask('/verify', { type: 'recovery', token_hash: recovery.hashed_token })).status).toBe(200);
  const parts = [];
  for (const type of ['email_change_current', 'email_change_new'])
    parts.push(await generate(type, { new_email: 'moved@x.test' }));
  for (const { hashed_token } of parts) {
    expect((await auth.ask('/verify', { type: 'email_change', token_hash: hashed_token })).status).toBe(200);
  }
  expect((await generate('signup', { password, email: 'moved@x.test' })).code).toBe('email_exists');
  expect((await generate('magiclink', { email: 'unknown@x.test' })).verification_type).toBe('signup');
  expect((await generate('recovery', { email: 'nobody@x.test' })).message).toBe('User with this email not found');
  expect((await generate('x')).message).toBe('Invalid email action link type requested: x');
  expect(await auth.messages(email)).toEqual([]);
});

test('where the new address alone confirms a change, there is no link for the one before', async () => {
  const auth = await testAuth(database, { mailer_secure_email_change_enabled: false });
  const [email, new_email] = ['alone@x.test', 'alone-new@x.test'];
  await signedUp(auth, email);
  const generate = (type: string) => auth.askAdmin('/admin/generate_link', { type, email, new_email });
  const { code, message } = (await generate('email_change_current')).body;
  expect([code, message]).toEqual([
    'validation_failed',
    'Enable secure email change to generate link for current email',
  ]);
  const { hashed_token } = (await generate('email_change_new')).body;
  const { body } = await auth.ask('/verify', { type: 'email_change', token_hash: hashed_token });
  expect(body.user.email).toBe(new_email);
});

test('the audit log tells who did what, and can be searched', async () => {
  const auth = await testAuth(database);
  await signedUp(auth, 'audited@x.test');
  const { body } = await auth.askAdmin('/admin/audit?query=author:audited');
  const actions = body.map(({ payload }: { payload: { action: string } }) => payload.action);
  expect(actions.sort()).toEqual(['user_confirmation_requested', 'user_signedup']);
  expect(body[0].payload).toMatchObject({ actor_username: 'audited@x.test', actor_via_sso: false });
  expect((await auth.askAdmin('/admin/audit?query=x:y')).body.message).toBe('Invalid query scope: x');
});
