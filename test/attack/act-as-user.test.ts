/**
 * The token with which an operator acts as a user, in the hands of somebody who wants the account: it reads what the user
 * sees, says whose hands it is in, and changes nothing.
 */
import { beforeAll, expect, test } from 'vitest';
import { authRoutes } from '../../src/auth/routes/auth-route.ts';
import type { Config } from '../../src/config/config.ts';
import { ref } from '../management/management.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { anonKey, token as signed } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

const accessToken = 'sbp_0123456789012345678901234567890123456789';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(`create function claims() returns text stable language sql
    return pg_catalog.current_setting('request.jwt.claims');`);
});

interface Victim {
  readonly auth: TestAuth;
  readonly id: string;
  readonly refreshToken: string;
  /** In the hands of the attacker. */
  readonly token: string;
}

async function actAs(auth: TestAuth, user: string): Promise<string> {
  const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
  const url = `${auth.url}/v1/projects/${ref}/act-as`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ user }) });
  return ((await response.json()) as { accessToken: string }).accessToken;
}

async function victim(values: object = {}, given: Partial<Config> = {}): Promise<Victim> {
  await database.query('delete from auth.users; delete from auth.audit_log_entries');
  const all = { security_manual_linking_enabled: true, mfa_phone_enroll_enabled: true, ...values };
  const auth = await testAuth(database, all, { accessToken, projectRef: ref, ...given });
  const { user, refresh_token: refreshToken } = await signedUp(auth, 'victim@x.test');
  const token = await actAs(auth, user.id);
  return { auth, id: user.id, refreshToken, token };
}

/** Everything that the auth service knows of its users, as text. */
async function everything(): Promise<string> {
  const tables = [
    'users',
    'identities',
    'sessions',
    'refresh_tokens',
    'mfa_factors',
    'mfa_challenges',
    'one_time_tokens',
  ];
  const rows = await Promise.all(
    tables.map((name) => database.query(`select pg_catalog.to_jsonb(t) as row from auth.${name} t order by 1`)),
  );
  return JSON.stringify(rows);
}

function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

const bodies: Readonly<Record<string, readonly object[]>> = {
  'PUT /user': [
    { password: 'taken over now' },
    { email: 'thief@x.test' },
    { phone: '4915112345678' },
    { data: { name: 'thief' } },
    { nonce: '000000', password: 'taken over now' },
  ],
  'POST /factors': [
    { factor_type: 'totp', friendly_name: 'thief' },
    { factor_type: 'phone', phone: '4915112345678' },
  ],
  'PUT /admin/users/:id': [{ password: 'taken over now' }, { email: 'thief@x.test', email_confirm: true }],
  'POST /admin/users': [{ email: 'thief@x.test', role: 'service_role' }],
  'POST /admin/generate_link': [{ type: 'recovery', email: 'victim@x.test' }],
  'POST /invite': [{ email: 'thief@x.test' }],
};

/** All routes that ask who is there, so that one that is added tomorrow is tried as well. */
const routes = authRoutes.filter(
  ({ access, method, path }) => (access === 'user' || access === 'admin') && !(method === 'GET' && path === '/user'),
);

test.each(['authenticated', 'service_role'])(
  'the token with which an operator acts as a user of role %s changes nothing at any route that asks who is there',
  async (role) => {
    const { auth, id, token: given } = await victim();
    // No operator gets one for an admin.
    const token = role === 'authenticated' ? given : await signed({ ...claimsOf(given), role });
    const [identity] = await database.query<{ id: string }>('select id from auth.identities');
    const before = await everything();
    const tried: string[] = [];
    for (const { method, path } of routes) {
      const of = path.includes('identities') ? (identity?.id ?? '') : id;
      const query = path.endsWith('/authorize') ? '?provider=github&skip_http_redirect=true' : '';
      for (const body of bodies[`${method} ${path}`] ?? [undefined]) {
        const reply = await auth.ask(path.replace(':id', of).replace(':factor', id) + query, body, { method, token });
        expect([method, path, reply.status, reply.body.code]).toEqual([method, path, 403, 'no_authorization']);
      }
      tried.push(`${method} ${path}`);
    }
    expect(await everything()).toBe(before);
    expect(tried).toEqual(
      expect.arrayContaining(['PUT /user', 'POST /logout', 'POST /factors', 'GET /admin/users', 'GET /reauthenticate']),
    );
  },
);

test('an identity cannot be linked with it, by an id token or at a provider', async () => {
  const { auth, token } = await victim({ external_google_enabled: true, external_google_client_id: 'app' });
  const before = await everything();
  const body = { provider: 'google', id_token: 'x.y.z', link_identity: true };
  expect(await auth.ask('/token?grant_type=id_token', body, { token })).toMatchObject({ status: 403 });
  expect(await auth.ask('/user/identities/authorize?provider=google', undefined, { token })).toMatchObject({
    status: 403,
  });
  expect(await everything()).toBe(before);
});

test('an operator reads the user and, at the GraphQL API, what the user sees; the database is told who acts', async () => {
  const { auth, id, token } = await victim();
  expect((await auth.ask('/user', undefined, { token })).body.id).toBe(id);
  const response = await fetch(`${auth.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: '{"query":"{ claims }"}',
  });
  const { data } = (await response.json()) as { data: { claims: string } };
  expect(JSON.parse(data.claims)).toMatchObject({ sub: id, act: { sub: 'fixed' }, amr: [{ method: 'operator' }] });
});

test('neither a hook nor a long token lifetime removes the mark or lets the token live longer than an hour', async () => {
  await database.query(`create or replace function public.no_mark(event jsonb) returns jsonb language sql
    return jsonb_build_object('claims', event -> 'claims' || '{"amr": [], "act": null}')`);
  const { auth, token } = await victim({
    jwt_exp: 604_800,
    hook_custom_access_token_enabled: true,
    hook_custom_access_token_uri: 'pg-functions://postgres/public/no_mark',
  });
  const { act, exp } = claimsOf(token);
  expect({ act, life: exp - Math.floor(auth.now() / 1000) }).toEqual({ act: { sub: 'fixed' }, life: 3600 });
  const reply = await auth.ask('/user', { password: 'taken over now' }, { method: 'PUT', token });
  expect(reply.status).toBe(403);
});

test('every such token leaves a row in the audit log that names operator and user', async () => {
  const { auth, id } = await victim();
  const rows = await database.query(
    `select payload from auth.audit_log_entries where payload ->> 'action' = 'user_impersonated'`,
  );
  const by = 'the access token of the project (--access-token)';
  expect(rows).toMatchObject([
    { payload: { actor_username: by, log_type: 'team', traits: { user_id: id, access_token_id: 'fixed' } } },
  ]);
  const { body } = await auth.askAdmin('/admin/audit?query=action:user_impersonated');
  expect(body).toHaveLength(1);
});
