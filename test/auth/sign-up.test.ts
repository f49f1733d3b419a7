/**
 * Sign-up by email: what is stored, what is sent, what the answer tells and what it does not.
 */
import { beforeAll, expect, test } from 'vitest';
import { fragmentOf, open, signedUp, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

test('a new user gets an email, has one identity and cannot sign in before the address is confirmed', async () => {
  const auth = await testAuth(database);
  const data = { plan: 'gold', sub: 'x', email: 'eve@x.test', nothing: null };
  const reply = await auth.ask('/signup', { email: 'Ana@X.test', password, data });
  expect(reply.status).toBe(200);
  expect(reply.body).toMatchObject({
    aud: 'authenticated',
    role: 'authenticated',
    email: 'ana@x.test',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: {
      plan: 'gold',
      email: 'ana@x.test',
      email_verified: false,
      phone_verified: false,
      sub: reply.body.id,
    },
    identities: [{ provider: 'email', user_id: reply.body.id, email: 'ana@x.test' }],
    is_anonymous: false,
  });
  expect(reply.body.user_metadata).not.toHaveProperty('nothing');
  expect(reply.body.confirmation_sent_at).toBeDefined();
  expect(reply.body.email_confirmed_at).toBeUndefined();
  const { link } = await auth.message('ana@x.test');
  expect(new URL(link).searchParams.get('type')).toBe('email');
  const refused = await auth.ask('/token?grant_type=password', { email: 'ana@x.test', password });
  expect(refused).toMatchObject({ status: 400, body: { code: 'email_not_confirmed', message: 'Email not confirmed' } });
});

test('the link of the email confirms the address and signs in, once', async () => {
  const auth = await testAuth(database, { uri_allow_list: 'https://app.test/**' });
  await auth.ask('/signup?redirect_to=https://app.test/cb?a=1', { email: 'link@x.test', password });
  const { link } = await auth.message('link@x.test');
  const first = await open(link);
  expect(first.status).toBe(303);
  expect(first.location).toMatch(/^https:\/\/app\.test\/cb\?a=1#access_token=/);
  const fragment = fragmentOf(first.location);
  expect(Object.keys(fragment)).toEqual([
    'access_token',
    'expires_at',
    'expires_in',
    'refresh_token',
    'sb',
    'token_type',
    'type',
  ]);
  expect(fragment).toMatchObject({ sb: '', token_type: 'bearer', type: 'signup', expires_in: '3600' });
  const user = await auth.ask('/user', undefined, { token: fragment.access_token! });
  expect(user.body).toMatchObject({ email: 'link@x.test', user_metadata: { email_verified: true } });
  expect(user.body.identities[0].identity_data.email_verified).toBe(true);
  const second = await open(link);
  expect(second).toEqual({
    status: 303,
    location:
      'https://app.test/cb?a=1#error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid+or+has+expired&sb=',
  });
});

test('a second sign-up has to wait, then sends a new link, and the password has to be the same', async () => {
  const auth = await testAuth(database);
  const email = 'again@x.test';
  await auth.ask('/signup', { email, password });
  const old = await auth.message(email);
  const soon = await auth.ask('/signup', { email, password });
  expect(soon).toMatchObject({
    status: 429,
    body: { code: 'over_email_send_rate_limit', message: expect.stringMatching(/only request this after 60 seconds/) },
  });
  expect(await auth.messages(email)).toHaveLength(1);
  auth.pass(61);
  expect((await auth.ask('/signup', { email, password })).status).toBe(200);
  expect(fragmentOf((await open(old.link)).location).error_code).toBe('otp_expired');
  await auth.ask('/verify', { type: 'email', email, token: (await auth.message(email)).code });
  const [right, wrong] = [password, 'another password'].map((given) =>
    auth.ask('/token?grant_type=password', { email, password: given }),
  );
  expect((await right)?.status).toBe(200);
  expect((await wrong)?.body.code).toBe('invalid_credentials');
});

test('the sign-up of a confirmed user is answered by a made-up user without identities, and changes nothing', async () => {
  const auth = await testAuth(database);
  const email = 'known@x.test';
  const { user } = await signedUp(auth, email);
  auth.pass(100);
  const before = (await auth.messages(email)).length;
  const made = await auth.ask('/signup', { email, password: 'another password', data: { a: 1 } });
  expect(made.status).toBe(200);
  expect(made.body).toEqual({
    id: expect.any(String),
    aud: 'authenticated',
    role: '',
    email,
    phone: '',
    is_anonymous: false,
    confirmation_sent_at: made.body.created_at,
    created_at: made.body.created_at,
    updated_at: made.body.created_at,
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { a: 1 },
    identities: [],
  });
  expect(made.body.id).not.toBe(user.id);
  expect(await auth.messages(email)).toHaveLength(before);
  const rows = await database.query('select raw_user_meta_data as data from auth.users where email = $1', [email]);
  expect(rows).toEqual([{ data: user.user_metadata }]);
});

test('where addresses count as confirmed, sign-up is sign-in, and a second one is refused', async () => {
  const auth = await testAuth(database, { mailer_autoconfirm: true });
  const email = 'auto@x.test';
  const first = await auth.ask('/signup', { email, password });
  expect(first.body).toMatchObject({ token_type: 'bearer', user: { email, user_metadata: { email_verified: true } } });
  expect(await auth.messages(email)).toEqual([]);
  const second = await auth.ask('/signup', { email, password });
  expect(second).toMatchObject({
    status: 422,
    body: { code: 'user_already_exists', message: 'User already registered' },
  });
});

test('of many simultaneous sign-ups with one address, one makes the user and none fails unexpectedly', async () => {
  const auth = await testAuth(database);
  const email = 'rush@x.test';
  const replies = await Promise.all(Array.from({ length: 8 }, () => auth.ask('/signup', { email, password })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(429)]);
  expect(await auth.messages(email)).toHaveLength(1);
});

test.each([
  [{ password }, 422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled'],
  [{ email: 'a b@c.test', password }, 400, 'validation_failed', 'Unable to validate email address: invalid format'],
  [{ email: `${'a'.repeat(250)}@x.test`, password }, 400, 'validation_failed', 'An email address is too long'],
  [{ email: 'a@x.test' }, 400, 'validation_failed', 'Signup requires a valid password'],
  [{ email: 'a@x.test', password: '12345' }, 422, 'weak_password', 'Password should be at least 6 characters.'],
  [
    { email: 'a@x.test', password: 'é'.repeat(40) },
    400,
    'validation_failed',
    'Password cannot be longer than 72 characters',
  ],
  [{ email: 'a@x.test', phone: '491', password }, 400, 'validation_failed', /^Only an email address or phone/],
  [{ phone: '49123456', password }, 400, 'phone_provider_disabled', 'Phone signups are disabled'],
  [
    { phone: '49123456', password, code_challenge: 'x' },
    400,
    'validation_failed',
    'PKCE not supported for phone signups',
  ],
  [{ email: 'a@x.test', password, code_challenge: 'x' }, 400, 'validation_failed', /^PKCE flow requires/],
  [{ email: 5, password }, 400, 'bad_json', /^Could not parse request body as JSON: /],
  [{ email: 'a@x.test', password, data: { a: '\0' } }, 400, 'validation_failed', /cannot be stored/],
])('%j is refused', async (body, status, code, message) => {
  const auth = await testAuth(database);
  const reply = await auth.ask('/signup', body);
  expect(reply).toMatchObject({ status, body: { code, message: expect.stringMatching(message) } });
});

test('null counts as absent', async () => {
  const auth = await testAuth(database);
  const nothing = { data: null, phone: null, code_challenge: null, code_challenge_method: null };
  expect((await auth.ask('/signup', { email: 'null@x.test', password, ...nothing })).status).toBe(200);
});

test('null within the data of a new user is no member', async () => {
  const auth = await testAuth(database);
  const data = { name: 'Ana', plan: null, address: { street: null } };
  const { body } = await auth.ask('/signup', { email: 'nulls@x.test', password, data });
  const stored = { name: 'Ana', address: { street: null } };
  for (const metadata of [body.user_metadata, body.identities[0].identity_data]) {
    expect(metadata).toMatchObject(stored);
    expect(metadata).not.toHaveProperty('plan');
  }
  const { body: made } = await auth.askAdmin('/admin/users', { email: 'nulls2@x.test', app_metadata: { plan: null } });
  expect(made.app_metadata).toEqual({ provider: 'email', providers: ['email'] });
});

test('sign-ups are refused where they are switched off', async () => {
  const auth = await testAuth(database, { disable_signup: true, external_anonymous_users_enabled: true });
  for (const body of [{ email: 'off@x.test', password }, {}]) {
    expect(await auth.ask('/signup', body)).toMatchObject({
      status: 422,
      body: { code: 'signup_disabled', message: 'Signups not allowed for this instance' },
    });
  }
  for (const path of ['/otp', '/magiclink']) {
    expect((await auth.ask(path, { email: 'off@x.test' })).body.code).toBe('signup_disabled');
  }
  expect(await database.query("select from auth.users where email = 'off@x.test'")).toEqual([]);
  // Who is there already, or is invited, is not meant.
  expect((await auth.askAdmin('/invite', { email: 'invited@x.test' })).status).toBe(200);
  const { location } = await open((await auth.message('invited@x.test')).link);
  expect(fragmentOf(location).access_token).toBeDefined();
  expect((await auth.ask('/otp', { email: 'invited@x.test' })).status).toBe(200);
});

test('where email is no way to sign in, every request that is about one says so', async () => {
  const off = await testAuth(database, { external_email_enabled: false });
  const email = 'no-email@x.test';
  for (const [path, status, message] of [
    ['/signup', 400, 'Email signups are disabled'],
    ['/token?grant_type=password', 422, 'Email logins are disabled'],
    ['/otp', 422, 'Email logins are disabled'],
    ['/magiclink', 422, 'Email logins are disabled'],
    ['/recover', 400, 'Email logins are disabled'],
    ['/resend', 400, 'Email logins are disabled'],
  ] as const) {
    const reply = await off.ask(path, { type: 'signup', email, password });
    const { code, message: text } = reply.body;
    expect([path, reply.status, code, text]).toEqual([path, status, 'email_provider_disabled', message]);
  }
  const noLinks = await testAuth(database, { external_email_magic_link_enabled: false });
  for (const path of ['/otp', '/magiclink']) {
    expect(await noLinks.ask(path, { email })).toMatchObject({
      status: 422,
      body: { code: 'email_provider_disabled', message: 'Login with magic link is disabled' },
    });
  }
  expect((await noLinks.ask('/signup', { email, password })).status).toBe(200);
});

test('an anonymous user has a session and no identity', async () => {
  const auth = await testAuth(database, { external_anonymous_users_enabled: true });
  const { body } = await auth.ask('/signup', { data: { color: 'red' } });
  expect(body.user).toMatchObject({ is_anonymous: true, identities: [], user_metadata: { color: 'red' }, email: '' });
  const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString());
  expect(claims).toMatchObject({
    is_anonymous: true,
    role: 'authenticated',
    aud: 'authenticated',
    email: '',
    phone: '',
  });
  expect(claims.amr).toEqual([{ method: 'anonymous', timestamp: Math.floor(auth.now() / 1000) }]);
});

test('a header chooses no audience unless the configuration says so', async () => {
  const auth = await testAuth(database);
  const headers = { 'x-jwt-aud': 'elsewhere' };
  const { body } = await auth.ask('/signup', { email: 'audience-header@x.test', password }, { headers });
  expect(body.aud).toBe('authenticated');
});

test('a trigger that cannot work refuses the sign-up in the words of Supabase Auth, and the log names its function', async () => {
  const own = await createAuthDatabase();
  // Without a search path of its own it does not find the table.
  await own.query(`create table public.profiles (id uuid primary key);
    create function public.welcome() returns trigger language plpgsql security definer as $$
    begin
      insert into profiles (id) values (new.id);
      return new;
    end $$;
    create trigger welcome after insert on auth.users for each row execute function public.welcome()`);
  const auth = await testAuth(own);
  const { status, body } = await auth.ask('/signup', { email: 'ana@x.test', password });
  expect([status, body]).toEqual([500, { code: 'unexpected_failure', message: 'Database error saving new user' }]);
  const masked = auth.observations.findLast((observation) => observation.kind === 'masked_error');
  expect(masked).toMatchObject({
    error: { cause: { message: 'relation "profiles" does not exist, in public.welcome() line 3' } },
  });
  expect(await own.query('select from auth.users')).toEqual([]);
});
