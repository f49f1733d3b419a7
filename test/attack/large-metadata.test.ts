/**
 * Metadata that users choose themselves are in every token, every row of the audit log and every list of users: whoever may
 * store a megabyte there makes all of them a megabyte.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';
import { anonKey } from '../support/http.ts';
import { googleValues, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const most = 16_384;
const password = 'a good password';
const large = { note: 'x'.repeat(500_000) };
const half = 'ü'.repeat(most / 4);
const refused = { status: 422, body: { code: 'validation_failed', message: expect.stringContaining('16 kB') } };

/** What the largest row has, as PostgreSQL writes it, with a blank after each colon and comma. */
async function largest(): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    'select coalesce(max(octet_length(raw_user_meta_data::text)), 0) as bytes from auth.users',
  );
  return row?.bytes ?? 0;
}

test('nobody signs up with more than 16 kB of metadata, in whatever way, whether the address is known or not', async () => {
  const auth = await testAuth(database, { external_anonymous_users_enabled: true });
  await signedUp(auth, 'known@x.test', password);
  const requests = [
    ['/signup', { data: large }],
    ['/signup', { email: 'new@x.test', password, data: large }],
    ['/signup', { email: 'known@x.test', password, data: large }],
    ['/otp', { email: 'new2@x.test', data: large }],
    ['/magiclink', { email: 'new3@x.test', data: large }],
  ] as const;
  for (const [path, body] of requests) expect(await auth.ask(path, body)).toMatchObject(refused);
  for (const path of ['/admin/users', '/admin/generate_link', '/invite']) {
    const body = { type: 'invite', email: 'new4@x.test', user_metadata: large, data: large };
    expect(await auth.askAdmin(path, body)).toMatchObject(refused);
  }
  expect(await largest()).toBeLessThan(1000);
});

test('small changes cannot add up to more than the limit', async () => {
  const auth = await testAuth(database);
  const { access_token: token, user } = await signedUp(auth, 'gathers@x.test', password);
  const change = (data: object) => auth.ask('/user', { data }, { method: 'PUT', token });
  expect((await change({ a: half })).status).toBe(200);
  expect(await change({ b: half })).toMatchObject(refused);
  const asAdmin = { user_metadata: { b: half } };
  expect(await auth.askAdmin(`/admin/users/${user.id}`, asAdmin, { method: 'PUT' })).toMatchObject(refused);
  expect(await largest()).toBeLessThanOrEqual(most);
  expect((await change({ a: null, b: half })).status).toBe(200);
});

test('users who already have more may remove metadata, and add none', async () => {
  const auth = await testAuth(database);
  const { access_token: token, user } = await signedUp(auth, 'earlier@x.test', password);
  await database.query('update auth.users set raw_user_meta_data = $2 where id = $1', [
    user.id,
    JSON.stringify({ a: half, b: half, c: half }),
  ]);
  const change = async (data: object) => (await auth.ask('/user', { data }, { method: 'PUT', token })).status;
  expect([await change({ d: 1 }), await change({ c: 1 }), await change({ b: 1 })]).toEqual([422, 200, 200]);
});

test('a name is copied to the audit log by 255 characters at most, and the log can be read', async () => {
  const auth = await testAuth(database);
  const { access_token: token } = await signedUp(auth, 'name@x.test', password);
  await auth.ask('/user', { data: { full_name: `a${'😀'.repeat(2000)}` } }, { method: 'PUT', token });
  await auth.ask('/logout', undefined, { method: 'POST', token });
  const names = await database.query<{ name: string }>(
    `select distinct payload ->> 'actor_name' as name from auth.audit_log_entries
    where payload ->> 'actor_username' = 'name@x.test' and payload ->> 'actor_name' is not null`,
  );
  expect(names).toEqual([{ name: `a${'😀'.repeat(254)}` }]);
});

test('an admin cannot store more app metadata than the limit', async () => {
  const auth = await testAuth(database);
  const made = await auth.askAdmin('/admin/users', { email: 'made@x.test', app_metadata: large });
  expect(made).toMatchObject(refused);
  const { user } = await signedUp(auth, 'managed@x.test', password);
  const change = (app_metadata: object) =>
    auth.askAdmin(`/admin/users/${user.id}`, { app_metadata }, { method: 'PUT' });
  expect((await change({ a: half })).status).toBe(200);
  expect(await change({ b: half })).toMatchObject(refused);
});

test('what a provider says beyond that is left out, and the rest is kept', async () => {
  const provider = await startLyingProvider('web');
  const auth = await testAuth(database, {
    ...googleValues(provider),
  });
  const signIn = async () => {
    const claims = { sub: 'one', email: 'told@x.test', email_verified: true, name: 'x'.repeat(20_000), picture: 'p' };
    return auth.ask('/token?grant_type=id_token', { provider: 'google', id_token: await provider.sign(claims) });
  };
  for (const { status, body } of [await signIn(), await signIn()]) {
    expect([status, Object.keys(body.user.user_metadata)]).toEqual([200, expect.arrayContaining(['email', 'picture'])]);
  }
  expect(await largest()).toBeLessThanOrEqual(most + 500);
});

test('names and addresses of a provider that are long in bytes are refused, and no account has them', async () => {
  const provider = await startLyingProvider('web');
  const auth = await testAuth(database, googleValues(provider));
  const long = 'あ'.repeat(2000);
  const claims = { sub: 'two', email: 'long@x.test', email_verified: true, name: long, picture: long };
  const body = { provider: 'google', id_token: await provider.sign({ ...claims, preferred_username: long }) };
  expect(await auth.ask('/token?grant_type=id_token', body)).toMatchObject(refused);
  expect(await database.query(`select id from auth.users where email = 'long@x.test'`)).toEqual([]);
  expect(
    (await auth.ask('/token?grant_type=id_token', { ...body, id_token: await provider.sign(claims) })).status,
  ).toBe(422);
});

test('a hook makes no token that is larger than the headers of a request, and its sign-in has not happened', async () => {
  const server = await startHookServer();
  let note = '';
  server.answer(({ payload }) => ({ body: { claims: { ...payload.claims, note } } }));
  const auth = await testAuth(database, {
    hook_custom_access_token_enabled: true,
    hook_custom_access_token_uri: server.url,
    hook_custom_access_token_secrets: hookSecret,
  });
  const email = 'claims@x.test';
  await signedUp(auth, email, password);
  const signIn = () => auth.ask('/token?grant_type=password', { email, password });
  const countSessions = () =>
    database.query(`select s.id from auth.sessions s join auth.users u on u.id = s.user_id where u.email = $1`, [
      email,
    ]);
  expect(await countSessions()).toHaveLength(1);
  note = 'x'.repeat(100_000);
  expect(await signIn()).toMatchObject({ status: 500, body: { message: expect.stringContaining('40 kB') } });
  expect(await countSessions()).toHaveLength(1);
  note = 'x'.repeat(38_000);
  const { status, body } = await signIn();
  expect(status).toBe(200);
  expect((await auth.ask('/user', undefined, { token: body.access_token })).status).toBe(200);
});

test('a user with as much as is allowed of both kinds is served everywhere with their token', async () => {
  const auth = await testAuth(database);
  const { access_token: first, user } = await signedUp(auth, 'full@x.test', password);
  const full = { a: half, b: 'x'.repeat(most / 2 - 500) };
  const app = await auth.askAdmin(`/admin/users/${user.id}`, { app_metadata: full }, { method: 'PUT' });
  const own = await auth.ask('/user', { data: full }, { method: 'PUT', token: first });
  expect([app.status, own.status]).toEqual([200, 200]);
  const { body } = await auth.ask('/token?grant_type=password', { email: 'full@x.test', password });
  const token = body.access_token as string;
  expect(token.length).toBeGreaterThan(40_000);
  expect(await auth.ask('/user', undefined, { token })).toMatchObject({ status: 200, body: { id: user.id } });
  const answer = await fetch(`${auth.url}/graphql/v1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, apikey: anonKey, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  expect([answer.status, await answer.json()]).toEqual([200, { data: { __typename: 'Query' } }]);
});
