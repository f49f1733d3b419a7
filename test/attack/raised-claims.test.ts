/**
 * The server of the hook `custom_access_token` is broken into. The promise: it does not become an admin, and no session
 * passes for stronger, newer, longer or somebody else's. What counts is which rows the tokens read.
 */
import { decodeJwt } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';
import { anonKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(`
    create table secret (line text primary key, level text);
    insert into secret values ('strong', 'aal2'), ('weak', 'aal1');
    alter table secret enable row level security;
    grant select on secret to authenticated, service_role;`);
  await database.query(`create policy by_level on secret for select to authenticated
    using (level = auth.jwt() ->> 'aal' or auth.jwt() -> 'amr' @> '[{"method": "totp"}]')`);
});

const password = 'a good password';

/** What the rows of the table are for the token of the next sign-in, and the claims of it; the refusal without one. */
async function signIn(auth: TestAuth, email: string) {
  const { status, body } = await auth.ask('/token?grant_type=password', { email, password });
  if (status !== 200) return { refused: body.message as string };
  const reply = await fetch(`${auth.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, authorization: `Bearer ${body.access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ secretCollection { edges { node { line } } } }' }),
  });
  const { data } = (await reply.json()) as { data: { secretCollection: { edges: { node: { line: string } }[] } } };
  const lines = data.secretCollection.edges.map(({ node }) => node.line);
  return { lines, claims: decodeJwt(body.access_token), expiresIn: body.expires_in as number };
}

type Claims = Record<string, unknown> & { exp: number; iat: number; amr: { timestamp: number }[] };

/** A gateway whose hook changes the claims so. */
async function hookedAuth(change: (claims: Claims) => object, jwtRoleClaim = 'role') {
  const server = await startHookServer();
  server.answer(({ payload }) => ({ body: payload }));
  const values = {
    hook_custom_access_token_enabled: true,
    hook_custom_access_token_uri: server.url,
    hook_custom_access_token_secrets: hookSecret,
  };
  const auth = await testAuth(database, values, { jwtRoleClaim });
  const email = `${Math.random()}@x.test`;
  const { user } = await signedUp(auth, email);
  await auth.askAdmin(`/admin/users/${user.id}`, { app_metadata: { role: 'authenticated' } }, { method: 'PUT' });
  server.answer(({ payload }) => ({ body: { claims: { ...payload.claims, ...change(payload.claims) } } }));
  return { auth, email };
}

test.each([
  ['app_metadata.role', () => ({ app_metadata: { role: 'service_role' } })],
  ['app_metadata.role', () => ({ 'app_metadata.role': 'service_role' })],
  ['https://x.test/role', () => ({ 'https://x.test/role': 'service_role' })],
  ['role', () => ({ role: 'service_role' })],
  ['role', () => ({ role: 'supabase_admin' })],
] as const)('the claim %s, which the gateway reads, does not become that of an admin', async (name, change) => {
  const { auth, email } = await hookedAuth(change, name);
  expect(await signIn(auth, email)).toEqual({
    refused: `output claims do not conform to the expected schema: ${name} must not become that of an admin`,
  });
});

test.each<[string, (claims: Claims) => object]>([
  ['aal must be aal1', () => ({ aal: 'aal2' })],
  ['aal must be aal1', () => ({ aal: 'aal9' })],
  ['amr must not have a second factor that the session lacks', ({ amr }) => ({ amr: [{ method: 'totp' }, ...amr] })],
  ['amr must not have a second factor that the session lacks', () => ({ amr: ['password', 'totp'] })],
  ['amr must not have a second factor that the session lacks', () => ({ amr: ['mfa/webauthn'] })],
  ['amr must not be later than the sign-in', ({ iat }) => ({ amr: [{ method: 'password', timestamp: iat + 9 }] })],
  ['amr must be a list of methods', () => ({ amr: [{ method: { totp: true } }] })],
  ['iss must stay as it is', () => ({ iss: 'https://other.test' })],
  ['aud must stay as it is', () => ({ aud: 'other' })],
  ['aud must stay as it is', () => ({ aud: ['authenticated', 'other'] })],
  ['sub must stay as it is', () => ({ sub: '00000000-0000-4000-8000-000000000000' })],
  ['session_id must stay as it is', () => ({ session_id: '00000000-0000-4000-8000-000000000000' })],
])('%s', async (problem, change) => {
  const { auth, email } = await hookedAuth(change);
  expect(await signIn(auth, email)).toEqual({
    refused: `output claims do not conform to the expected schema: ${problem}`,
  });
  expect(auth.observations).toContainEqual({ kind: 'hook_failed', hook: 'custom_access_token', reason: problem });
});

test('a later end is the usual one, and the log says so once', async () => {
  const { auth, email } = await hookedAuth(({ exp }) => ({ exp: exp + 100 * 365 * 86_400 }));
  for (let time = 0; time < 2; time++) {
    const { claims, expiresIn } = await signIn(auth, email);
    expect([expiresIn, (claims?.exp ?? 0) - (claims?.iat ?? 0)]).toEqual([3600, 3600]);
  }
  expect(auth.observations.filter(({ kind }) => kind === 'warning')).toMatchObject([
    { message: expect.stringContaining('later `exp`'), hint: expect.stringContaining('--jwt-exp') },
  ]);
});

test('what hooks of applications do goes on: more claims, fewer, shorter and weaker ones', async () => {
  const { auth, email } = await hookedAuth(({ iat, amr }) => ({
    exp: iat + 900,
    aal: 'aal1',
    aud: ['authenticated'],
    role: 'authenticated',
    amr: ['password'],
    app_metadata: { org: 'acme', roles: ['service_role'] },
    user_metadata: undefined,
    user_role: 'admin',
    amr_count: amr.length,
  }));
  const { lines, claims, expiresIn } = await signIn(auth, email);
  expect(lines).toEqual(['weak']);
  expect(expiresIn).toBe(900);
  expect(claims).toMatchObject({ user_role: 'admin', app_metadata: { org: 'acme' }, amr: ['password'], amr_count: 1 });
});
