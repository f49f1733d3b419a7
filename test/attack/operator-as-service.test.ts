/**
 * The service role of the studio, in the hands of somebody who wants more of it than an operator may have: without the scope, from
 * another page, after the access token was revoked, without a row in the audit log, or for longer than they are signed in.
 */
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { addToken, type ManagedGateway, managedGateway, ref } from '../management/management.ts';
import { anonKey, secret, serviceKey } from '../support/http.ts';
import { readEvents } from '../support/live.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let operator: string;
let managed: ManagedGateway;

beforeAll(async () => {
  database = await createAuthDatabase(
    `create table secret (id int primary key, body text);
     alter table secret enable row level security;
     create function told() returns text stable language sql return
       concat(current_setting('request.jwt.claims'), current_setting('request.headers'));
     grant select, insert, update on secret to service_role;`,
  );
});

beforeEach(async () => {
  await database.query('truncate secret, auth.audit_log_entries');
  await database.query("insert into secret values (1, 'of nobody else')");
  operator = await addToken(database, { scopes: ['project:operate'] });
  managed = await managedGateway(database, operator, { anonKey, serviceKey, jwtSecret: secret });
});

const takeOver = 'mutation { updatesecretCollection(set: {body: "taken"}) { affectedCount } }';
const send = (query: string, more: Parameters<ManagedGateway['call']>[0] = {}) =>
  managed.call({ method: 'POST', path: '/studio/graphql', body: JSON.stringify({ query }), ...more });
const bodies = async () => (await database.query<{ body: string }>('select body from secret')).map(({ body }) => body);
const audited = () =>
  database.query<{ payload: { traits: Record<string, string> } }>(
    "select payload from auth.audit_log_entries where payload ->> 'action' = 'service_role_used'",
  );
const idOf = async (token: string) =>
  (
    await database.query<{ id: string }>(
      "select id from auth.pgreflect_access_tokens where token_hash = sha256(convert_to($1, 'UTF8'))",
      [token],
    )
  )[0]?.id;

const atProjects = [
  ['explain', '{"query":"{ __typename }","role":"service_role","claims":{}}'],
  ['live-queries', null],
  ['live-queries/end', '{"operation":null,"document":null,"role":"anon"}'],
  ['act-as', '{"user":"11111111-1111-4111-8111-111111111111"}'],
] as const;

test('nobody but a holder of the scope runs anything', async () => {
  const scopes = ['auth_config:read', 'auth_config:write'] as const;
  const past = new Date(Date.now() - 1000);
  const tokens = [
    [403, await addToken(database, { scopes: ['auth_config:read'] })],
    [403, await addToken(database, { scopes })],
    [401, await addToken(database, { scopes: ['project:operate'], expiresAt: past })],
    [401, await addToken(database, { scopes: ['project:operate'], projectRef: 'z'.repeat(20) }), 403],
    [401, anonKey],
    [401, serviceKey],
    [401, 'sbp_0000000000000000000000000000000000000000'],
    [401, null],
  ] as const;
  for (const [status, token, atProject = status] of tokens) {
    const more = { token: token === null ? null : `Bearer ${token}`, headers: { apikey: serviceKey } };
    expect((await send(takeOver, more)).status).toBe(status);
    for (const [path, body] of atProjects) {
      const request = { ...more, path: `/v1/projects/${ref}/${path}`, ...(body !== null && { method: 'POST', body }) };
      expect([path, token, (await managed.call(request)).status]).toEqual([path, token, atProject]);
    }
  }
  expect(await bodies()).toEqual(['of nobody else']);
  expect(await database.query('select payload from auth.audit_log_entries')).toEqual([]);
});

test('an operator runs operations as the service role, and each leaves a row that names the operator', async () => {
  expect((await send('{ secretCollection { edges { node { body } } } }')).body).toEqual({
    data: { secretCollection: { edges: [{ node: { body: 'of nobody else' } }] } },
  });
  expect((await send(takeOver)).body).toEqual({ data: { updatesecretCollection: { affectedCount: 1 } } });
  const id = await idOf(operator);
  expect((await audited()).map((row) => row.payload)).toEqual(
    [1, 2].map(() =>
      expect.objectContaining({
        actor_username: `test (${id})`,
        log_type: 'team',
        traits: { access_token_id: id, request_id: expect.any(String) },
      }),
    ),
  );
});

test('the role of users runs without a user, leaves a row of its own, and no other role can be named', async () => {
  const as = (role: string) => send('{ told }', { path: `/studio/graphql?${role}` });
  const rows = () =>
    database.query<{ action: string }>("select payload ->> 'action' as action from auth.audit_log_entries");
  for (const role of ['role=anon', 'role=postgres', 'role=', 'role=authenticated&role=service_role'])
    expect((await as(role)).status).toBe(400);
  expect(await rows()).toEqual([]);
  const { told } = (await as('role=authenticated')).body.data;
  expect(told).toMatch(/"role":"authenticated"/);
  // That of the claim `act`.
  expect(told.match(/"sub"/g)).toHaveLength(1);
  expect(await rows()).toEqual([{ action: 'authenticated_role_used' }]);
  expect((await send(takeOver, { path: '/studio/graphql?role=authenticated' })).body.errors).toHaveLength(1);
  expect(await bodies()).toEqual(['of nobody else']);
});

test('a plan as the service role leaves a row, and one as a visitor none; without the row nothing is planned', async () => {
  const ask = (role: string) => {
    const body = JSON.stringify({ query: '{ secretCollection { edges { node { body } } } }', role, claims: { role } });
    return managed.call({ method: 'POST', path: `/v1/projects/${ref}/explain`, body });
  };
  expect((await ask('service_role')).body.statements).toHaveLength(1);
  await ask('anon');
  expect((await audited()).map((row) => row.payload.traits.access_token_id)).toEqual([await idOf(operator)]);
  await database.query('alter table auth.audit_log_entries rename to moved');
  try {
    expect((await ask('service_role')).status).toBeGreaterThanOrEqual(500);
  } finally {
    await database.query('alter table auth.moved rename to audit_log_entries');
  }
});

test('an operation runs only if the audit log can record it', async () => {
  await database.query('alter table auth.audit_log_entries rename to moved');
  try {
    expect((await send(takeOver)).status).toBeGreaterThanOrEqual(500);
  } finally {
    await database.query('alter table auth.moved rename to audit_log_entries');
  }
  expect(await bodies()).toEqual(['of nobody else']);
});

test('an operation leaves its row although a token that may change the configuration has switched the audit log off', async () => {
  const both = await addToken(database, { scopes: ['auth_config:write', 'project:operate'] });
  const off = await addToken(database, { scopes: ['auth_config:write'] });
  const change = (audit_log_disable_postgres: boolean | null) =>
    managed.call({
      method: 'PATCH',
      path: `/v1/projects/${ref}/config/auth`,
      token: `Bearer ${off}`,
      body: JSON.stringify({ audit_log_disable_postgres }),
    });
  expect((await change(true)).status).toBe(200);
  onTestFinished(async () => void (await change(false)));
  expect((await send('{ __typename }', { token: `Bearer ${both}` })).status).toBe(200);
  expect(await audited()).toHaveLength(1);
});

test('revoking the access token ends this at once', async () => {
  expect((await send('{ __typename }')).status).toBe(200);
  await database.query('update auth.pgreflect_access_tokens set revoked_at = now() where id = $1', [
    await idOf(operator),
  ]);
  expect((await send(takeOver)).status).toBe(401);
  expect(await bodies()).toEqual(['of nobody else']);
});

test('a subscription ends with its access token, leaves a row, and is for pages of this origin alone', async () => {
  const subscribe = () =>
    fetch(`${managed.gateway.url}/studio/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${operator}`,
        accept: 'text/event-stream',
        'content-type': 'application/json',
        origin: 'https://evil.test',
      },
      body: JSON.stringify({ query: 'subscription { secretCollection { nodes { body } } }' }),
    });
  const response = await subscribe();
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  expect(response.headers.get('cross-origin-resource-policy')).toBe('same-origin');
  expect(await audited()).toHaveLength(1);
  const events = readEvents(response.body!);
  const next = async () => (await events.next()).value;
  expect((await next())?.data).toContain('of nobody else');
  await database.query("update secret set body = 'changed'");
  expect((await next())?.data).toContain('changed');
  await database.query('update auth.pgreflect_access_tokens set revoked_at = now() where id = $1', [
    await idOf(operator),
  ]);
  expect((await next())?.data).toContain('UNAUTHENTICATED');
  expect((await next())?.event).toBe('complete');
  expect(managed.gateway.graphql.live.state().subscriptions).toBe(0);
  expect((await subscribe()).status).toBe(401);
});

test('no token leaves the server: not in answers, in the log or in what functions of the database are told', async () => {
  const asked = await send('{ told }');
  const replies = [asked, await managed.call({ path: '/auth/v1/admin/users' })];
  expect(asked.body.data.told).toContain(`"act":{"sub":"${await idOf(operator)}"}`);
  const seen = [
    ...replies.map(({ body, headers }) => JSON.stringify([body, [...headers]])),
    JSON.stringify(managed.gateway.observations),
    JSON.stringify(await database.query('select payload from auth.audit_log_entries')),
  ].join();
  expect(seen).not.toContain(operator);
  expect(seen).not.toContain(serviceKey);
  expect(seen).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
});

test('a page of another origin, and a form, reach nothing', async () => {
  const origin = 'https://evil.test';
  const { headers } = await send('{ __typename }', { headers: { origin } });
  expect(headers.get('access-control-allow-origin')).toBeNull();
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const sent = { origin, 'content-type': type, cookie: `access_token=${operator}` };
    for (const path of ['/studio/graphql', ...['explain', 'act-as'].map((name) => `/v1/projects/${ref}/${name}`)])
      expect((await send(takeOver, { path, token: null, headers: sent })).status).toBe(401);
  }
  expect(await bodies()).toEqual(['of nobody else']);
});

test('the API of applications does not accept the access token', async () => {
  for (const path of ['/graphql/v1', '/auth/v1/user']) {
    for (const headers of [{ apikey: anonKey }, { apikey: operator }]) {
      const method = path === '/graphql/v1' ? 'POST' : 'GET';
      const body = method === 'POST' ? { body: JSON.stringify({ query: takeOver }) } : {};
      expect((await managed.call({ method, path, headers, ...body })).status).toBeGreaterThanOrEqual(401);
    }
  }
  expect(await bodies()).toEqual(['of nobody else']);
});
