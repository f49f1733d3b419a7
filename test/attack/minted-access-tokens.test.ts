/**
 * Access tokens made through the management API, by somebody who wants more than they have: more scopes, a longer life, another
 * project, or a token that outlives the one it was made with.
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  type AccessScope,
  accessScopes,
  createAccessToken,
  lockAccessToken,
  usualScopes,
} from '../../src/management/tokens/access-tokens.ts';
import {
  addToken,
  type ManagedGateway,
  type ManagementReply,
  managedGateway,
  ref,
  usePool,
} from '../management/management.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

const fixedToken = 'sbp_0123456789012345678901234567890123456789';
const path = `/v1/projects/${ref}/access-tokens`;
const hourMs = 3_600_000;

let database: TestDatabase;
let managed: ManagedGateway;

beforeAll(async () => {
  database = await createAuthDatabase();
});

beforeEach(async () => {
  await database.query('truncate auth.pgreflect_access_tokens, auth.audit_log_entries, auth.pgreflect_rate_limits');
  managed = await managedGateway(database, fixedToken, { accessToken: fixedToken, anonKey, serviceKey });
});

const wanted = { name: 'mine', scopes: ['auth_config:read'], expiresAt: null };
const ask = (token: string, method: string, body?: unknown, id?: string): Promise<ManagementReply> =>
  managed.call({
    method,
    path: id === undefined ? path : `${path}/${id}`,
    token: `Bearer ${token}`,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const stored = () =>
  database.query<{
    id: string;
    name: string;
    scopes: AccessScope[];
    project_ref: string | null;
    revoked_at: Date | null;
  }>('select * from auth.pgreflect_access_tokens order by created_at, name');

/** Everything that is not the token's own row: what an attack must leave as it was. */
const idOf = async (token: string): Promise<string> => {
  const [row] = await database.query<{ id: string }>(
    "select id from auth.pgreflect_access_tokens where token_hash = sha256(convert_to($1, 'UTF8'))",
    [token],
  );
  return row!.id;
};

test('callers who are not operators cannot list, create or revoke tokens', async () => {
  const reader = await addToken(database, { scopes: ['auth_config:read'] });
  const writer = await addToken(database);
  const before = await stored();
  for (const token of [reader, writer]) {
    const replies = [
      await ask(token, 'GET'),
      await ask(token, 'POST', wanted),
      await ask(token, 'DELETE', undefined, await idOf(reader)),
    ];
    expect(replies.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([403, 'forbidden']));
  }
  for (const token of [anonKey, serviceKey, 'sbp_0000000000000000000000000000000000000000']) {
    expect((await ask(token, 'POST', wanted)).status).toBe(401);
  }
  expect(await stored()).toEqual(before);
});

test.each([
  ['operators', ['project:operate'], ['auth_config:write']],
  ['operators who may read', ['project:operate', 'auth_config:read'], ['auth_config:read', 'auth_config:write']],
] as const)('%s give no scope that they lack', async (_, own, asked) => {
  const operator = await addToken(database, { scopes: own });
  const reply = await ask(operator, 'POST', { ...wanted, scopes: asked });
  expect(reply).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(reply.body.message).toContain('auth_config:write');
  expect(await stored()).toHaveLength(1);
  const { body } = await ask(operator, 'POST', { ...wanted, scopes: own });
  expect(body.scopes).toEqual(accessScopes.filter((scope) => own.some((name) => name === scope)));
});

test('no token lives longer than the one that it was made with', async () => {
  const expiresAt = new Date(Date.now() + hourMs);
  const operator = await addToken(database, { scopes: accessScopes, expiresAt });
  for (const late of [null, new Date(expiresAt.getTime() + 1000).toISOString()]) {
    expect(await ask(operator, 'POST', { ...wanted, expiresAt: late })).toMatchObject({ status: 403 });
  }
  expect(await stored()).toHaveLength(1);
  expect(await ask(operator, 'POST', { ...wanted, expiresAt: expiresAt.toISOString() })).toMatchObject({ status: 200 });
});

test('a token is made for this project alone, whatever the one that it was made with is for', async () => {
  const everywhere = await addToken(database, { scopes: accessScopes });
  for (const token of [fixedToken, everywhere]) await ask(token, 'POST', wanted);
  expect(await ask(everywhere, 'POST', { ...wanted, projectRef: null })).toMatchObject({ status: 400 });
  const made = (await stored()).filter(({ name }) => name === 'mine');
  expect(made.map(({ project_ref }) => project_ref)).toEqual([ref, ref]);
});

test('operators of one project can neither list nor revoke tokens of another, nor revoke tokens for all projects', async () => {
  const here = await addToken(database, { scopes: accessScopes, projectRef: ref });
  const everywhere = await addToken(database, { scopes: ['auth_config:read'] });
  const elsewhere = await addToken(database, { scopes: ['auth_config:read'], projectRef: 'z'.repeat(20) });
  const { body: list } = await ask(here, 'GET');
  const [hereId, everywhereId, elsewhereId] = [await idOf(here), await idOf(everywhere), await idOf(elsewhere)];
  expect(list.map(({ id }: { id: string }) => id).sort()).toEqual([hereId, everywhereId].sort());
  expect(await ask(here, 'DELETE', undefined, elsewhereId)).toMatchObject({ status: 404 });
  expect(await ask(here, 'DELETE', undefined, everywhereId)).toMatchObject({ status: 403 });
  // The command takes the beginning of an id; a request names one token.
  for (const id of [hereId.slice(0, 8), '%25', "x'", elsewhereId]) {
    expect((await ask(fixedToken, 'DELETE', undefined, id)).status).toBe(404);
  }
  expect((await stored()).filter(({ revoked_at }) => revoked_at !== null)).toEqual([]);
  expect(await ask(fixedToken, 'DELETE', undefined, everywhereId)).toMatchObject({ status: 200 });
});

test('a token that is revoked while a request waits creates no token', async () => {
  const operator = await addToken(database, { scopes: accessScopes });
  const id = await idOf(operator);
  let asked: Promise<ManagementReply> | null = null;
  await usePool(database, (pool) =>
    pool.transaction(async (held) => {
      await held.query('update auth.pgreflect_access_tokens set revoked_at = now() where id = $1::uuid', [id]);
      asked = ask(operator, 'POST', wanted);
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1));
    }),
  );
  expect(await asked).toMatchObject({ status: 401 });
  expect(await stored()).toHaveLength(1);
});

const statusOf = async (token: string) => (await managed.call({ token: `Bearer ${token}` })).status;

test('with a token, all die that were made with it, and with those; the list names who made them', async () => {
  const mint = async (maker: string) => (await ask(maker, 'POST', { ...wanted, scopes: usualScopes })).body;
  const stolen = await addToken(database, { scopes: accessScopes });
  const child = await mint(stolen);
  const grandchild = await mint(child.token);
  const other = await mint(fixedToken);
  const { body: list } = await ask(fixedToken, 'GET');
  const makers = Object.fromEntries(list.map(({ id, createdBy }: Record<string, string>) => [id, createdBy]));
  expect(makers).toEqual({
    [await idOf(stolen)]: null,
    [child.id]: await idOf(stolen),
    [grandchild.id]: child.id,
    [other.id]: 'fixed',
  });
  expect(await ask(fixedToken, 'DELETE', undefined, await idOf(stolen))).toMatchObject({ status: 200 });
  const texts = [stolen, child.token, grandchild.token, other.token];
  expect(await Promise.all(texts.map(statusOf))).toEqual([401, 401, 401, 200]);
  expect((await ask(grandchild.token, 'POST', wanted)).status).toBe(401);
  const rows = await database.query<{ id: string }>(
    `select payload -> 'traits' ->> 'revoked_token_id' as id from auth.audit_log_entries
    where payload ->> 'action' = 'access_token_revoked'`,
  );
  expect(rows.map(({ id }) => id).sort()).toEqual([await idOf(stolen), child.id, grandchild.id].sort());
});

test('a token that is being made while its maker is revoked is revoked, too', async () => {
  const operator = await addToken(database, { scopes: accessScopes });
  const id = await idOf(operator);
  await usePool(database, async (pool) => {
    let revoked: Promise<ManagementReply> | null = null;
    await pool.transaction(async (making) => {
      // What a request for a new token does before it is committed.
      await lockAccessToken(making, id, new Date());
      const values = { name: 'late', scopes: accessScopes, projectRef: ref, createdBy: id };
      await createAccessToken(making, { ...values, createdAt: new Date(), expiresAt: null });
      revoked = ask(fixedToken, 'DELETE', undefined, id);
      const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1));
    });
    expect(await revoked).toMatchObject({ status: 200 });
  });
  expect((await stored()).map(({ revoked_at }) => revoked_at === null)).toEqual([false, false]);
});

test('a page of another site creates no token with the credentials that a browser sends by itself', async () => {
  const body = JSON.stringify(wanted);
  const basic = `Basic ${Buffer.from(`x:${fixedToken}`).toString('base64')}`;
  const headers = { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
  const forms = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
  for (const type of forms) {
    for (const token of [null, basic]) {
      const cookie = `access_token=${fixedToken}; token=${fixedToken}`;
      const more = { ...headers, cookie, 'content-type': type };
      expect((await managed.call({ method: 'POST', path, token, headers: more, body })).status).toBe(401);
    }
    const more = { ...headers, 'content-type': type };
    expect((await managed.call({ method: 'POST', path, headers: more, body })).status).toBe(415);
  }
  const named = await managed.call({ method: 'POST', path: `${path}?access_token=${fixedToken}`, token: null, body });
  expect(named.status).toBe(401);
  expect(await stored()).toEqual([]);
});

test('the token is in its answer and nowhere else; the audit log names who created it and who revoked it', async () => {
  const operator = await addToken(database, { scopes: accessScopes });
  const made = await ask(operator, 'POST', wanted);
  const { token, id } = made.body;
  expect(token).toMatch(/^sbp_[0-9a-f]{40}$/);
  expect(made.headers.get('cache-control')).toBe('no-store');
  expect(await ask(token, 'GET')).toMatchObject({ status: 403 });
  expect((await managed.call({ token: `Bearer ${token}` })).status).toBe(200);
  expect(await ask(fixedToken, 'DELETE', undefined, id)).toMatchObject({ status: 200 });
  expect((await managed.call({ token: `Bearer ${token}` })).status).toBe(401);
  const [kept] = await database.query<{ text: string }>(
    `select (select string_agg(t::text, ' ') from auth.pgreflect_access_tokens t)
      || (select string_agg(a::text, ' ') from auth.audit_log_entries a) as text`,
  );
  const seen =
    kept?.text + JSON.stringify((await ask(operator, 'GET')).body) + JSON.stringify(managed.gateway.observations);
  expect(seen).not.toContain(token);
  expect(seen).not.toContain(token.slice(4));
  const rows = await database.query<{ payload: Record<string, unknown> }>(
    "select payload from auth.audit_log_entries order by created_at, payload ->> 'action'",
  );
  expect(rows.map(({ payload }) => payload)).toMatchObject([
    {
      action: 'access_token_created',
      log_type: 'token',
      actor_username: `test (${await idOf(operator)})`,
      traits: { access_token_id: await idOf(operator), created_token_id: id, scopes: wanted.scopes, name: 'mine' },
    },
    {
      action: 'access_token_revoked',
      actor_username: 'the access token of the project (--access-token)',
      traits: { access_token_id: 'fixed', revoked_token_id: id, name: 'mine' },
    },
  ]);
});

test.each([
  [{ ...wanted, name: '' }, 'name'],
  [{ ...wanted, name: 'two\nlines' }, 'name'],
  [{ ...wanted, name: 'x'.repeat(201) }, 'name'],
  [{ ...wanted, name: 5 }, 'name'],
  [{ ...wanted, scopes: [] }, 'scopes'],
  [{ ...wanted, scopes: 'auth_config:read' }, 'scopes'],
  [{ ...wanted, scopes: ['everything'] }, 'scopes'],
  [{ ...wanted, expiresAt: 'soon' }, 'expiresAt'],
  [{ ...wanted, expiresAt: '2020-01-31T00:00:00Z' }, 'expiresAt'],
  [{ ...wanted, expiresAt: '+275000-01-31T00:00:00Z' }, 'expiresAt'],
  [{ name: 'x', scopes: ['auth_config:read'] }, 'expiresAt'],
  [{ ...wanted, id: 'mine' }, 'id'],
  [[], 'The body must be a JSON object'],
])('%j is refused', async (body, message) => {
  const reply = await ask(fixedToken, 'POST', body);
  expect(reply).toMatchObject({ status: 400 });
  expect(reply.body.message).toContain(message);
  expect(await stored()).toEqual([]);
});

test('a refusal is short, however many unknown members a request has', async () => {
  const junk = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${n}${'x'.repeat(100)}`, 1]));
  const { status, body } = await ask(fixedToken, 'POST', { ...wanted, ...junk });
  expect(status).toBe(400);
  expect(JSON.stringify(body).length).toBeLessThan(4000);
  expect(await stored()).toEqual([]);
});
