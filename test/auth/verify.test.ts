/**
 * Verification: links and codes, in the implicit and in the PKCE flow; each works once, and errors lead to the application.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { fragmentOf, open, queryOf, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const verifier = 'v'.repeat(64);
const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
};
const expired = { status: 403, body: { code: 'otp_expired', message: 'Token has expired or is invalid' } };
const linkExpired = { status: 403, body: { code: 'otp_expired', message: 'Email link is invalid or has expired' } };

async function requested(auth: TestAuth, path: string, email: string, more: object = {}) {
  const reply = await auth.ask(path, { email, ...more });
  expect(reply.status).toBe(200);
  return auth.message(email);
}

const hashOf = (link: string) => new URL(link).searchParams.get('token') ?? '';

test.each(['new', 'confirmed'])(
  'of twenty clients that present the same token of a %s user at once, one gets a session',
  async (kind) => {
    const auth = await testAuth(database, {}, { authPoolSize: 8 });
    const email = `${kind}@x.test`;
    if (kind === 'confirmed') {
      await signedUp(auth, email);
      await database.query('delete from auth.sessions');
    }
    const [path, more] = kind === 'new' ? ['/signup', { password }] : ['/otp', {}];
    const { code, link } = await requested(auth, path as string, email, more as object);
    const [codes, hashes] = [10, 10].map((length) => Array.from({ length }, (_, index) => index));
    const replies = await Promise.all([
      ...codes!.map(() => auth.ask('/verify', { type: 'email', email, token: code })),
      ...hashes!.map(() => auth.ask('/verify', { type: 'email', token_hash: hashOf(link) })),
    ]);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 200)) expect(reply.body.code).toBe('otp_expired');
    expect(
      await database.query('select 1 from auth.sessions s join auth.users u on u.id = s.user_id where u.email = $1', [
        email,
      ]),
    ).toHaveLength(1);
  },
);

test('a confirmed user who signs in is answered as the database has them, by code and by hash', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const email = 'answered@x.test';
  await signedUp(auth, email);
  for (const by of ['code', 'hash']) {
    const { code, link } = await requested(auth, '/otp', email);
    auth.pass(7);
    const given = by === 'code' ? { email, token: code } : { token_hash: hashOf(link) };
    const { status, body } = await auth.ask('/verify', { type: 'email', ...given });
    expect(status).toBe(200);
    expect((await auth.ask('/user', undefined, { token: body.access_token })).body).toEqual(body.user);
    expect(await auth.ask('/verify', { type: 'email', ...given })).toMatchObject(by === 'code' ? expired : linkExpired);
  }
  const events = await database.query(
    `select payload ->> 'action' as action from auth.audit_log_entries where payload ->> 'actor_username' = $1
    order by created_at desc, 1 limit 4`,
    [email],
  );
  expect(events.filter(({ action }) => action === 'login')).toHaveLength(2);
});

test('a sign-in waits for a change of the user that is under way, and sees it', async () => {
  const auth = await testAuth(database);
  const email = 'under-way@x.test';
  await signedUp(auth, email);
  const { code } = await requested(auth, '/otp', email);
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('begin');
  await other.query('update auth.users set raw_user_meta_data = \'{"changed": true}\' where email = $1', [email]);
  const reply = auth.ask('/verify', { type: 'email', email, token: code });
  await vi.waitFor(async () => {
    const waiting = await database.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    expect(waiting).toHaveLength(1);
  }, 10_000);
  await other.query('commit');
  await other.end();
  const { status, body } = await reply;
  expect(status).toBe(200);
  expect(body.user.user_metadata).toEqual({ changed: true });
});

test('a code works for the address it was sent to, in any case, and for no other', async () => {
  const auth = await testAuth(database);
  const { code } = await requested(auth, '/signup', 'code@x.test', { password });
  await requested(auth, '/signup', 'other@x.test', { password });
  expect(await auth.ask('/verify', { type: 'signup', email: 'other@x.test', token: code })).toMatchObject(expired);
  const right = await auth.ask('/verify', { type: 'signup', email: 'Code@X.test', token: code });
  expect(right).toMatchObject({ status: 200, body: { token_type: 'bearer', user: { email: 'code@x.test' } } });
});

test('a token is good for as long as the configuration says, counted from when it was sent', async () => {
  const auth = await testAuth(database, { mailer_otp_exp: 600 });
  const first = await requested(auth, '/signup', 'late@x.test', { password });
  auth.pass(601);
  expect(fragmentOf((await open(first.link)).location).error_code).toBe('otp_expired');
  expect(await auth.ask('/verify', { type: 'email', email: 'late@x.test', token: first.code })).toMatchObject(expired);
  const second = await requested(auth, '/resend', 'late@x.test', { type: 'signup' });
  auth.pass(599);
  expect((await open(second.link)).location).toContain('access_token=');
});

test('a life that the configuration shortens holds for what was sent before, too', async () => {
  const before = await testAuth(database);
  const { link } = await requested(before, '/signup', 'shortened@x.test', { password });
  const auth = await testAuth(database, { mailer_otp_exp: 1 });
  auth.pass(5);
  const { search } = new URL(link);
  expect(fragmentOf((await open(`${auth.url}/auth/v1/verify${search}`)).location).error_code).toBe('otp_expired');
  expect((await open(link)).location).toContain('access_token=');
});

test('in the PKCE flow the link gives a code, which the verifier exchanges once', async () => {
  const auth = await testAuth(database);
  const { link } = await requested(auth, '/signup', 'pkce@x.test', { password, ...pkce });
  expect(hashOf(link)).toMatch(/^pkce_[0-9a-f]{56}$/);
  auth.pass(3500);
  const { location } = await open(link);
  expect(location).not.toContain('access_token');
  const { code: auth_code } = queryOf(location);
  const exchange = (code_verifier: string) => auth.ask('/token?grant_type=pkce', { auth_code, code_verifier });
  expect(await exchange('w'.repeat(64))).toMatchObject({ status: 400, body: { code: 'bad_code_verifier' } });
  auth.pass(290);
  const replies = await Promise.all([exchange(verifier), exchange(verifier)]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
  const good = replies.find(({ status }) => status === 200)!;
  const claims = JSON.parse(Buffer.from(good.body.access_token.split('.')[1], 'base64url').toString());
  expect(claims.amr).toMatchObject([{ method: 'email/signup' }]);
  expect((await open(link)).location).toMatch(/\?error=access_denied&error_code=otp_expired&.*#error=access_denied/);
});

test('the hash and the code of a PKCE email are good for a program, which needs no code of a flow', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const email = 'pkce-hash@x.test';
  const { code } = await requested(auth, '/signup', email, { password, ...pkce });
  expect((await auth.ask('/verify', { type: 'email', email, token: code })).body).toHaveProperty('access_token');
  const { link } = await requested(auth, '/otp', email, pkce);
  const { body } = await auth.ask('/verify', { type: 'email', token_hash: hashOf(link) });
  expect(body).toHaveProperty('access_token');
  const flows = await database.query('select authentication_method as method from auth.flow_state where user_id = $1', [
    body.user.id,
  ]);
  expect(flows.map(({ method }) => method).sort()).toEqual(['email/signup', 'magiclink']);
});

test("the application's address keeps its query, and its fragment makes way for the tokens", async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const email = 'fragments@x.test';
  await signedUp(auth, email);
  const opened = async (redirect: string, more: object = {}) => {
    const { link } = await requested(auth, `/otp?redirect_to=${encodeURIComponent(redirect)}`, email, more);
    return (await open(link)).location;
  };
  expect(await opened('https://app.test/cb?b=2&a=1', pkce)).toMatch(
    /^https:\/\/app\.test\/cb\?a=1&b=2&code=[0-9a-f-]{36}$/,
  );
  expect(await opened('https://app.test/cb?a=1#old')).toMatch(/^https:\/\/app\.test\/cb\?a=1#access_token=/);
  expect(await opened('https://app.test/#/route')).toMatch(/^https:\/\/app\.test\/#\/route#access_token=/);
  const { link } = await requested(auth, '/otp?redirect_to=https://app.test/%23old', email);
  await open(link);
  expect((await open(link)).location).toMatch(/^https:\/\/app\.test\/#error=access_denied&error_code=otp_expired&/);
});

test('a code of a PKCE link is too old five minutes after the click', async () => {
  const auth = await testAuth(database);
  const { link } = await requested(auth, '/signup', 'pkce-late@x.test', { password, ...pkce });
  const { code: auth_code } = queryOf((await open(link)).location);
  auth.pass(301);
  const reply = await auth.ask('/token?grant_type=pkce', { auth_code, code_verifier: verifier });
  expect(reply).toMatchObject({ status: 422, body: { code: 'flow_state_expired' } });
});

test('a PKCE link whose flow is gone says so and is not used up', async () => {
  const auth = await testAuth(database);
  const { link, code } = await requested(auth, '/signup', 'gone@x.test', { password, ...pkce });
  await database.query('delete from auth.flow_state');
  const { location } = await open(link);
  expect(queryOf(location)).toMatchObject({ error: 'invalid_request', error_code: 'flow_state_not_found' });
  expect((await auth.ask('/verify', { type: 'email', email: 'gone@x.test', token: code })).status).toBe(200);
});

test('a magic link is for confirmed users, others get the sign-up email; the newer link invalidates the older', async () => {
  const auth = await testAuth(database);
  const email = 'magic@x.test';
  expect((await requested(auth, '/otp', email, { data: { a: 1 } })).kind).toBe('confirmation');
  await open((await auth.message(email)).link);
  const recovery = await requested(auth, '/recover', email);
  expect(recovery.kind).toBe('recovery');
  auth.pass(61);
  const magic = await requested(auth, '/otp', email);
  expect(magic.kind).toBe('magic_link');
  expect(fragmentOf((await open(recovery.link)).location).error_code).toBe('otp_expired');
  expect(fragmentOf((await open(magic.link)).location).type).toBe('magiclink');
});

test('a recovery link of a user who never confirmed confirms the address', async () => {
  const auth = await testAuth(database);
  const email = 'recover@x.test';
  await requested(auth, '/signup', email, { password });
  const { link } = await requested(auth, '/recover', email);
  const { location } = await open(link);
  expect(fragmentOf(location).type).toBe('recovery');
  const { body } = await auth.ask('/user', undefined, { token: fragmentOf(location).access_token! });
  expect(body.email_confirmed_at).toBeDefined();
  expect(body.identities[0].identity_data.email_verified).toBe(true);
});

test('a hash is accepted under the types of its token only', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const email = 'types@x.test';
  await signedUp(auth, email);
  const use = async (type: string) => {
    const { link } = await requested(auth, '/otp', email);
    return auth.ask('/verify', { type, token_hash: hashOf(link) });
  };
  for (const type of ['signup', 'invite', 'email_change']) expect(await use(type)).toMatchObject(linkExpired);
  for (const type of ['magiclink', 'recovery', 'email']) expect((await use(type)).status).toBe(200);
  const { link } = await requested(auth, '/otp', email);
  const { location } = await open(link.replace('type=magiclink', 'type=recovery'));
  expect(fragmentOf(location).type).toBe('recovery');
  await auth.askAdmin('/invite', { email: 'types-invited@x.test' });
  const invitation = hashOf((await auth.message('types-invited@x.test')).link);
  expect((await auth.ask('/verify', { type: 'signup', token_hash: invitation })).status).toBe(200);
});

test('a scanner that opens the link uses up its code, too', async () => {
  const auth = await testAuth(database);
  const { link, code } = await requested(auth, '/signup', 'scanned@x.test', { password });
  expect((await open(link)).location).toContain('access_token=');
  expect(fragmentOf((await open(link)).location).error_code).toBe('otp_expired');
  expect(await auth.ask('/verify', { type: 'email', email: 'scanned@x.test', token: code })).toMatchObject(expired);
});

test('a banned user is told so by link and by code', async () => {
  const auth = await testAuth(database);
  const email = 'banned@x.test';
  const { user } = await signedUp(auth, email);
  const { link, code } = await requested(auth, '/otp', email);
  await auth.askAdmin(`/admin/users/${user.id}`, { ban_duration: '24h' }, { method: 'PUT' });
  const banned = { error: 'access_denied', error_code: 'user_banned', error_description: 'User is banned', sb: '' };
  expect(fragmentOf((await open(link)).location)).toEqual(banned);
  const reply = await auth.ask('/verify', { type: 'magiclink', email, token: code });
  expect(reply).toMatchObject({ status: 403, body: { code: 'user_banned' } });
  // Not to whoever only knows the address.
  expect(await auth.ask('/verify', { type: 'magiclink', email, token: 'guess' })).toMatchObject(expired);
  const guess = { email, password: 'guessed password' };
  expect((await auth.ask('/token?grant_type=password', guess)).body.code).toBe('invalid_credentials');
  const known = await auth.ask('/token?grant_type=password', { ...guess, password });
  expect(known).toMatchObject({ status: 400, body: { code: 'user_banned' } });
});

test.each([
  [{ type: 'email' }, 400, 'Verify requires either a token or a token hash'],
  [{ token: '1', email: 'a@x.test' }, 400, 'Verify requires a verification type'],
  [{ type: 'email', token: '1', token_hash: 'x' }, 400, 'Verify requires either a token or a token hash'],
  [{ type: 'email', token_hash: 'x', email: 'a@x.test' }, 400, 'Only the token_hash and type should be provided'],
  [{ type: 'sms', token_hash: 'x' }, 400, 'Invalid email verification type'],
  [{ type: 'email', token: '1' }, 400, 'Only an email address or phone number should be provided on verify'],
  [
    { type: 'sms', token: '1', email: 'a@x.test' },
    400,
    'Only an email address or phone number should be provided on verify',
  ],
  [{ type: 'email', token: '1', email: 'a' }, 422, 'Invalid email format'],
  [{ type: 'sms', token: '1', phone: 'a' }, 400, 'Invalid phone number format (E.164 required)'],
  [{ type: 'x', token: '1', email: 'a@x.test' }, 400, 'Unsupported verification type'],
])('POST %j is refused', async (body, status, message) => {
  const auth = await testAuth(database);
  expect(await auth.ask('/verify', body)).toMatchObject({ status, body: { code: 'validation_failed', message } });
});

test('a link without its parameters is answered directly, one of a wrong type leads to the application', async () => {
  const auth = await testAuth(database);
  const direct = { key: null };
  expect((await auth.ask('/verify?type=email', undefined, direct)).body.message).toBe(
    'Verify requires a token or a token hash',
  );
  expect((await auth.ask('/verify?token=x', undefined, direct)).body.message).toBe(
    'Verify requires a verification type',
  );
  const reply = await auth.ask('/verify?token=x&type=sms', undefined, direct);
  expect(reply.headers.get('location')).toMatch(
    /^https:\/\/app\.test#error=invalid_request&error_code=validation_failed/,
  );
});

test('a browser reads a page where a link is cut off, and programs read JSON', async () => {
  const auth = await testAuth(database);
  const look = async (path: string, accept = 'text/html,application/xhtml+xml,*/*;q=0.8') => {
    const reply = await fetch(`${auth.url}/auth/v1${path}`, { redirect: 'manual', headers: { accept } });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };
  for (const path of ['/verify?token=abc<script>', '/verify?type=email', '/verify']) {
    const { status, headers, text } = await look(path);
    expect([status, headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
    expect(text).toContain('<h1 style="font-size: 24px">This link is incomplete</h1>');
    expect(text).toContain('<a href="https://app.test/">Go to app.test</a>');
    expect(text).not.toContain('script');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect(headers.get('cache-control')).toBe('no-store');
  }
  for (const accept of ['*/*', 'application/json', 'text/html;q=0'])
    expect((await look('/verify?token=abc', accept)).headers.get('content-type')).toMatch(/^application\/json/);
});

test('the link of a test email leads to the application and says there that it is one', async () => {
  const auth = await testAuth(database);
  const { status, location } = await open(
    `${auth.url}/auth/v1/verify?token=test-email&type=recovery&redirect_to=https://app.test/`,
  );
  const fragment = 'error=access_denied&error_code=otp_expired&error_description=This+is+the+link+of+a+test+email&sb=';
  expect([status, location]).toEqual([303, `https://app.test/#${fragment}`]);
});

test('a look at a link with HEAD does not use it up', async () => {
  const auth = await testAuth(database);
  const { link } = await requested(auth, '/signup', 'head@x.test', { password });
  expect((await fetch(link, { method: 'HEAD', redirect: 'manual' })).status).toBe(405);
  expect((await open(link)).location).toContain('access_token=');
});

test('a user row made by hand, with nulls for tokens, is expired and not an error', async () => {
  const auth = await testAuth(database);
  await database.query(`insert into auth.users (instance_id, id, aud, role, email) values
    ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'authenticated', 'hand@x.test')`);
  const reply = await auth.ask('/verify', { type: 'email', email: 'hand@x.test', token: '123456' });
  expect(reply).toMatchObject(expired);
});

test('the redirect of a link is held against the allow list again when the link is opened', async () => {
  const auth = await testAuth(database);
  const { link } = await requested(auth, '/signup', 'redirect@x.test', { password });
  const elsewhere = link.replace(/redirect_to=.*/, 'redirect_to=https://evil.test/');
  expect((await open(elsewhere)).location).toMatch(/^https:\/\/app\.test#access_token=/);
});
