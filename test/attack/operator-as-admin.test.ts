/**
 * Access tokens at the admin API of the auth service, in the hands of somebody who wants more than an operator may have: without
 * the scope, of another project, revoked, guessed, unseen, or for what is not an admin's.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { authRoutes } from '../../src/auth/routes/auth-route.ts';
import { addToken, ref } from '../management/management.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let operator: string;
let auth: TestAuth;
let id: string;

beforeAll(async () => {
  database =
    await createAuthDatabase(`create table secret (line text primary key); insert into secret values ('of nobody');
    alter table secret enable row level security; grant select on secret to authenticated, service_role;`);
});

beforeEach(async () => {
  await database.query(
    'delete from auth.users; delete from auth.audit_log_entries; delete from auth.pgreflect_rate_limits',
  );
  operator = await addToken(database, { scopes: ['project:operate'] });
  auth = await testAuth(database, {}, { projectRef: ref, managementRateLimit: null });
  id = (await signedUp(auth, 'victim@x.test')).user.id;
});

const ask = (path: string, token: string | undefined, more: Parameters<TestAuth['ask']>[2] = {}, body?: unknown) =>
  auth.ask(path, body, { key: null, ...(token !== undefined && { token }), ...more });
const revoke = (token: string) =>
  database.query(
    "update auth.pgreflect_access_tokens set revoked_at = now() where token_hash = sha256(convert_to($1, 'UTF8'))",
    [token],
  );

const adminRoutes = authRoutes.filter(({ access }) => access === 'admin');

test('no admin route answers an access token without the scope, revoked, expired, guessed or of another project', async () => {
  const past = new Date(Date.now() - 3_600_000);
  const revoked = await addToken(database, { scopes: ['project:operate'] });
  await revoke(revoked);
  const others = ['auth_config:read', 'auth_config:write', 'project:read'] as const;
  const tokens = [
    [403, 'not_admin', await addToken(database, { scopes: others })],
    [403, 'not_admin', await addToken(database, { scopes: ['project:operate'], projectRef: 'z'.repeat(20) })],
    [401, 'no_authorization', await addToken(database, { scopes: ['project:operate'], expiresAt: past })],
    [401, 'no_authorization', revoked],
    [401, 'no_authorization', `sbp_${'0'.repeat(40)}`],
  ] as const;
  const before = await database.query('select pg_catalog.to_jsonb(u) from auth.users u');
  expect(adminRoutes.length).toBeGreaterThan(14);
  for (const { method, path } of adminRoutes) {
    const url = path.replace(':id', id).replace(/:\w+/g, id);
    const body = method === 'POST' || method === 'PUT' ? { email: 'taken@x.test', type: 'recovery' } : undefined;
    // The service key makes no more of it.
    for (const key of [null, serviceKey]) {
      for (const [status, code, token] of tokens) {
        const answer = await ask(url, token, { method, key }, body);
        expect([method, url, answer.status, answer.body.code]).toEqual([method, url, status, code]);
        expect(answer.text).not.toContain('victim@');
      }
    }
  }
  expect(await database.query('select pg_catalog.to_jsonb(u) from auth.users u')).toEqual(before);
});

test('an access token that is revoked ends at once, and a wrong API key beside it is refused', async () => {
  expect((await ask('/admin/users', operator)).status).toBe(200);
  // As supabase-js sends it, made with the access token as its key.
  expect((await ask('/admin/users', operator, { key: operator })).status).toBe(200);
  expect((await ask('/admin/users', undefined, { key: operator })).status).toBe(200);
  expect((await ask('/admin/users', operator, { key: 'x.y.z' })).status).toBe(401);
  expect((await ask('/admin/users', undefined)).status).toBe(401);
  await revoke(operator);
  expect(await ask('/admin/users', operator)).toMatchObject({
    status: 401,
    body: { code: 'no_authorization', message: 'The access token is unknown, was revoked or has expired.' },
  });
});

test('an access token is no API key, no user and no admin anywhere else', async () => {
  for (const { method, path, access } of authRoutes.filter((route) => !['admin', 'anyone'].includes(route.access))) {
    const url = path.replace(/:\w+/g, id);
    const body = method === 'GET' || method === 'HEAD' ? undefined : { email: 'a@x.test', password: 'a good password' };
    const { status } = await ask(url, operator, { method, key: operator }, body);
    expect([method, url, access, status]).toEqual([method, url, access, 401]);
  }
  expect((await ask('/user', operator, { key: anonKey })).status).toBe(403);
});

test('the audit log names the access token for each change', async () => {
  const name = expect.stringMatching(/^test \([0-9a-f-]{36}\)$/);
  const change = (path: string, method: string, body?: unknown) => ask(path, operator, { method }, body);
  const { body: made } = await change('/admin/users', 'POST', { email: 'made@x.test', password: 'a good password' });
  await change(`/admin/users/${id}`, 'PUT', { ban_duration: '24h' });
  await change(`/admin/users/${id}/sessions`, 'DELETE');
  await change('/invite', 'POST', { email: 'guest@x.test' });
  await change(`/admin/users/${id}/recover`, 'POST');
  await change('/admin/generate_link', 'POST', { type: 'recovery', email: 'made@x.test' });
  await change('/admin/generate_link', 'POST', { type: 'signup', email: 'new@x.test', password: 'a good password' });
  await change(`/admin/users/${made.id}`, 'DELETE', {});
  const rows = await database.query<{ payload: { actor_username: string; action: string; traits: object } }>(
    "select payload from auth.audit_log_entries where payload -> 'traits' ->> 'access_token_id' is not null order by created_at, payload ->> 'action'",
  );
  expect(rows.map(({ payload }) => payload.action).sort()).toEqual([
    'logout',
    'user_confirmation_requested',
    'user_deleted',
    'user_invited',
    'user_modified',
    'user_recovery_requested',
    'user_recovery_requested',
    'user_signedup',
  ]);
  for (const { payload } of rows) expect(payload.actor_username).toEqual(name);
});

/** What the GraphQL API shows to whoever signs in with the password. */
async function readAs(of: TestAuth, email: string): Promise<readonly string[]> {
  const { status, body } = await of.ask('/token?grant_type=password', { email, password });
  if (status !== 200) return [];
  const reply = await fetch(`${of.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, authorization: `Bearer ${body.access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ secretCollection { edges { node { line } } } }' }),
  });
  const { data } = (await reply.json()) as { data?: { secretCollection: { edges: { node: { line: string } }[] } } };
  return data?.secretCollection.edges.map(({ node }) => node.line) ?? [];
}

const password = 'a good password';

test.each([
  ['role', { role: 'service_role' }],
  ['role', { role: 'supabase_admin' }],
  ['app_metadata.role', { app_metadata: { role: 'service_role' } }],
])('an access token, which ends, makes no admin, who would stay: by the claim %s, %j', async (jwtRoleClaim, as) => {
  await auth.leave();
  auth = await testAuth(database, {}, { projectRef: ref, managementRateLimit: null, jwtRoleClaim });
  const refusal = { status: 403, body: { code: 'not_admin' } };
  const own = { email: 'thief@x.test', password, email_confirm: true, ...as };
  expect(await ask('/admin/users', operator, {}, own)).toMatchObject(refusal);
  expect(await ask(`/admin/users/${id}`, operator, { method: 'PUT' }, { ...as, password })).toMatchObject(refusal);
  expect(await database.query('select email, role, raw_app_meta_data ->> $$role$$ as claimed from auth.users')).toEqual(
    [{ email: 'victim@x.test', role: 'authenticated', claimed: null }],
  );
  for (const email of ['thief@x.test', 'victim@x.test']) expect(await readAs(auth, email)).toEqual([]);
  // The service key is an admin itself.
  expect((await auth.askAdmin('/admin/users', own)).status).toBe(200);
});

test('an access token takes over no admin: by a password, an address, a link or as the user', async () => {
  await auth.askAdmin(`/admin/users/${id}`, { role: 'service_role' }, { method: 'PUT' });
  const before = await database.query('select pg_catalog.to_jsonb(u) from auth.users u');
  for (const change of [
    { password },
    { email: 'thief@x.test', email_confirm: true },
    { role: 'authenticated', password },
  ])
    expect((await ask(`/admin/users/${id}`, operator, { method: 'PUT' }, change)).status).toBe(403);
  for (const type of ['magiclink', 'recovery', 'email_change_new']) {
    const body = { type, email: 'victim@x.test', new_email: 'thief@x.test' };
    const { status, text } = await ask('/admin/generate_link', operator, {}, body);
    expect([type, status]).toEqual([type, 403]);
    expect(text).not.toContain('hashed_token');
  }
  const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/json' };
  const acting = await fetch(`${auth.url}/v1/projects/${ref}/act-as`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ user: id }),
  });
  expect([acting.status, await acting.text()]).toEqual([400, expect.not.stringMatching(/eyJ/)]);
  expect(await database.query('select pg_catalog.to_jsonb(u) from auth.users u')).toEqual(before);
});

test('guessing access tokens and asking without end are limited by address and by token', async () => {
  await auth.leave();
  auth = await testAuth(database, {}, { projectRef: ref, managementRateLimit: 2 });
  const statuses: number[] = [];
  for (let count = 0; count < 21; count += 1) statuses.push((await ask('/admin/users?per_page=1', operator)).status);
  expect(statuses).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
  const limited = await ask('/admin/users', operator);
  expect([limited.body.code, Number(limited.headers.get('retry-after')) > 0]).toEqual([
    'over_request_rate_limit',
    true,
  ]);
  const guesses: number[] = [];
  for (let count = 0; count < 8; count += 1) {
    guesses.push((await ask('/admin/users', `sbp_${String(count).padStart(40, '0')}`)).status);
  }
  expect(guesses.at(-1)).toBe(429);
  // The service key counts for itself.
  expect((await auth.askAdmin('/admin/users')).status).toBe(200);
});
