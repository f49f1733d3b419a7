/**
 * Sign-in with a password, refresh and sign-out; what access tokens say and where they open doors.
 */
import { beforeAll, expect, test } from 'vitest';
import { createPasswordHasher } from '../../src/auth/secrets/passwords.ts';
import { installAuthTables, send, signedUp, testAuth } from '../support/auth-service.ts';
import { testGateway } from '../support/gateway.ts';
import { serviceKey } from '../support/http.ts';
import { createAuthDatabase, createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(`
    create table note (id int primary key, owner uuid not null, body text not null);
    grant select on note to anon, authenticated;
    alter table note enable row level security;`);
  await database.query(`create policy own on note for select using (owner = auth.uid())`);
});

const password = 'a good password';

test('a sign-in answers a session, and its token reads the rows of its user at the GraphQL API', async () => {
  const auth = await testAuth(database);
  const { user } = await signedUp(auth, 'rows@x.test');
  await database.query('insert into note values (1, $1, $2), (2, gen_random_uuid(), $2)', [user.id, 'hello']);
  const { body } = await auth.ask('/token?grant_type=password', { email: 'Rows@X.test', password });
  expect(body).toMatchObject({ token_type: 'bearer', expires_in: 3600, weak_password: null, user: { id: user.id } });
  const ask = async (token: string | null) => {
    const response = await fetch(`${auth.url}/graphql/v1`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        apikey: (await import('../support/http.ts')).anonKey,
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query: '{ noteCollection { edges { node { id } } } }' }),
    });
    return (await response.json()) as { data: { noteCollection: { edges: { node: { id: number } }[] } } };
  };
  expect((await ask(body.access_token)).data.noteCollection.edges).toEqual([{ node: { id: 1 } }]);
  expect((await ask(null)).data.noteCollection.edges).toEqual([]);
});

test('unknown users, wrong passwords and users without password get the same answer', async () => {
  const auth = await testAuth(database);
  await signedUp(auth, 'there@x.test');
  await auth.askAdmin('/invite', { email: 'invited@x.test' });
  await auth.ask('/signup', { email: 'unconfirmed@x.test', password });
  const sign = (email: string) => auth.ask('/token?grant_type=password', { email, password: 'wrong password' });
  const replies = [
    await sign('there@x.test'),
    await sign('nobody@x.test'),
    await sign('invited@x.test'),
    await sign('unconfirmed@x.test'),
    await sign('x'),
  ];
  for (const { status, text } of replies) {
    expect([status, text]).toEqual([400, '{"code":"invalid_credentials","message":"Invalid login credentials"}']);
  }
});

test.each([
  ['', {}, 400, 'invalid_credentials', 'unsupported_grant_type'],
  ['?grant_type=toString', {}, 400, 'invalid_credentials', 'unsupported_grant_type'],
  ['?grant_type=password', {}, 400, 'validation_failed', 'missing email or phone'],
  ['?grant_type=password', { phone: '491' }, 422, 'phone_provider_disabled', 'Phone logins are disabled'],
  ['?grant_type=refresh_token', { refresh_token: 'short' }, 400, 'validation_failed', 'Refresh token is not valid'],
  ['?grant_type=refresh_token', { refresh_token: 'aaaaaaaaaaaa' }, 400, 'refresh_token_not_found', /Not Found$/],
  ['?grant_type=pkce', { auth_code: 'x' }, 400, 'validation_failed', /should be non-empty$/],
  [
    '?grant_type=pkce',
    { auth_code: 'x', code_verifier: 'y' },
    404,
    'flow_state_not_found',
    /no valid flow state found$/,
  ],
  ['?grant_type=web3', {}, 422, 'web3_provider_disabled', 'Web3 provider is disabled'],
  ['?grant_type=id_token', { provider: 'google', id_token: 'x' }, 400, 'provider_disabled', /is not enabled$/],
])('POST /token%s with %j is refused', async (query, body, status, code, message) => {
  const auth = await testAuth(database);
  const reply = await auth.ask(`/token${query}`, body);
  expect(reply).toMatchObject({ status, body: { code, message: expect.stringMatching(message) } });
});

test('a password that the policy of today refuses still signs in, and the session says so', async () => {
  const before = await testAuth(database);
  await signedUp(before, 'weak@x.test', 'simple');
  const auth = await testAuth(database, { password_min_length: 10 });
  const { body } = await auth.ask('/token?grant_type=password', { email: 'weak@x.test', password: 'simple' });
  expect(body.weak_password).toEqual({ message: 'Password should be at least 10 characters.', reasons: ['length'] });
});

test('a refresh replaces the token; the old one gives the new one again, an older one ends the family', async () => {
  const auth = await testAuth(database);
  const { refresh_token: first } = await signedUp(auth, 'refresh@x.test');
  const refresh = (token: string) => auth.ask('/token?grant_type=refresh_token', { refresh_token: token });
  const replies = await Promise.all([refresh(first), refresh(first)]);
  const [second] = replies.map(({ body }) => body.refresh_token);
  expect(replies.map(({ status, body }) => [status, body.refresh_token])).toEqual([
    [200, second],
    [200, second],
  ]);
  auth.pass(3600);
  expect((await refresh(first)).body.refresh_token).toBe(second);
  const { refresh_token: third } = (await refresh(second)).body;
  auth.pass(11);
  expect((await refresh(first)).body.code).toBe('refresh_token_already_used');
  expect((await refresh(third)).body.code).toBe('refresh_token_already_used');
});

test('a sign-out ends this session, the others or all of them', async () => {
  const auth = await testAuth(database);
  const email = 'out@x.test';
  const one = await signedUp(auth, email);
  const signIn = async () => (await auth.ask('/token?grant_type=password', { email, password })).body;
  const two = await signIn();
  const status = async (token: string) => (await auth.ask('/user', undefined, { token })).status;
  const out = (token: string, scope: string) =>
    auth.ask(`/logout?scope=${scope}`, undefined, { method: 'POST', token });
  expect((await out(two.access_token, 'x')).body.message).toBe('Unsupported logout scope "x"');
  expect(await out(two.access_token, 'others')).toMatchObject({ status: 204, text: '' });
  expect([await status(one.access_token), await status(two.access_token)]).toEqual([403, 200]);
  const three = await signIn();
  await out(two.access_token, 'local');
  expect([await status(two.access_token), await status(three.access_token)]).toEqual([403, 200]);
  await out(three.access_token, 'global');
  const gone = await auth.ask('/user', undefined, { token: three.access_token });
  expect(gone).toMatchObject({ status: 403, body: { code: 'session_not_found' } });
});

test('a banned user cannot sign in, refresh or use a live token', async () => {
  const auth = await testAuth(database);
  const email = 'ban@x.test';
  const { access_token: token, refresh_token, user } = await signedUp(auth, email);
  await auth.askAdmin(`/admin/users/${user.id}`, { ban_duration: '1h' }, { method: 'PUT' });
  const banned = { body: { code: 'user_banned' } };
  expect(await auth.ask('/token?grant_type=password', { email, password })).toMatchObject({ status: 400, ...banned });
  expect(await auth.ask('/token?grant_type=refresh_token', { refresh_token })).toMatchObject({
    status: 400,
    ...banned,
  });
  expect(await auth.ask('/user', undefined, { token })).toMatchObject({ status: 403, ...banned });
  auth.pass(3601);
  expect((await auth.ask('/token?grant_type=password', { email, password })).status).toBe(200);
});

test('the refresh token of a deleted user is unknown, however the user was deleted', async () => {
  const auth = await testAuth(database);
  for (const should_soft_delete of [false, true]) {
    const { user, refresh_token } = await signedUp(auth, `deleted-${should_soft_delete}@x.test`);
    await auth.askAdmin(`/admin/users/${user.id}`, { should_soft_delete }, { method: 'DELETE' });
    const reply = await auth.ask('/token?grant_type=refresh_token', { refresh_token });
    expect(reply).toMatchObject({ status: 400, body: { code: 'refresh_token_not_found' } });
  }
});

test('a user, a session and a link of Supabase Auth are accepted as they are', async () => {
  const original = await createDatabase(fixture('auth-original.sql'));
  await installAuthTables(original);
  const auth = await testAuth(original);
  const email = 'ana@mail.test';
  const refreshed = await auth.ask('/token?grant_type=refresh_token', { refresh_token: 'abcdefghijkl' });
  expect(refreshed).toMatchObject({ status: 200, body: { user: { email } } });
  await original.query('update auth.users set recovery_sent_at = $1', [new Date(auth.now()).toISOString()]);
  const linked = await auth.ask('/verify', { type: 'recovery', email, token: '012345' });
  expect(linked).toMatchObject({ status: 200, body: { user: { email } } });
  const signedIn = await auth.ask('/token?grant_type=password', { email, password: 'correct horse' });
  expect(signedIn).toMatchObject({ status: 200, body: { user: { email, user_metadata: { full_name: 'Ana' } } } });
});

test('a gateway that is given no other hasher stores bcrypt hashes of 2^10 rounds', async () => {
  const { url } = await testGateway(database);
  const admin = { key: serviceKey, token: serviceKey };
  expect((await send(url, '/admin/users', { email: 'strong@x.test', password }, admin)).status).toBe(200);
  const rows = await database.query(`select encrypted_password from auth.users where email = 'strong@x.test'`);
  expect(rows).toEqual([{ encrypted_password: expect.stringMatching(/^\$2b\$10\$/) }]);
});

test('a hash of Supabase Auth with another cost is accepted and replaced', async () => {
  const auth = await testAuth(database, {}, { hasher: createPasswordHasher() });
  const { user } = await signedUp(auth, 'cost@x.test');
  // Of "a good password", with cost 4.
  const { hash } = await import('@node-rs/bcrypt');
  await database.query('update auth.users set encrypted_password = $2 where id = $1', [
    user.id,
    await hash(password, { cost: 4 }),
  ]);
  expect((await auth.ask('/token?grant_type=password', { email: 'cost@x.test', password })).status).toBe(200);
  const [row] = await database.query<{ encrypted_password: string }>(
    'select encrypted_password from auth.users where id = $1',
    [user.id],
  );
  expect(row?.encrypted_password).toMatch(/^\$2[aby]\$10\$/);
});
