/** The last requests of a gateway, read by somebody who may not, or who looks for what clients have sent. */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { accessScopes } from '../../src/management/tokens/access-tokens.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from '../management/management.ts';
import { anonKey, serviceKey, token as signed } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let operator: string;
let managed: ManagedGateway;

beforeAll(async () => {
  database = await createAuthDatabase();
  await database.query(`create table public.note (id int primary key, body text); grant all on public.note to anon`);
  operator = await addToken(database, { scopes: ['project:operate'] });
});

beforeEach(async () => {
  managed = await managedGateway(database, operator, { managementRateLimit: null, accessToken: null });
});

const read = (what: string, as: string | null, of = ref) =>
  managed.call({ path: `/v1/projects/${of}/${what}`, token: as === null ? null : `Bearer ${as}` });

test('the last requests, the last hour, the health and the findings of check are for tokens of the project with the scope project:operate alone', async () => {
  const lesser = await addToken(database, { scopes: accessScopes.filter((scope) => scope !== 'project:operate') });
  const elsewhere = await addToken(database, { scopes: accessScopes, projectRef: 'z'.repeat(20) });
  const expired = await addToken(database, { scopes: accessScopes, expiresAt: new Date(Date.now() - 1000) });
  const user = await signed({ sub: 'a', role: 'authenticated' });
  for (const what of ['requests', 'usage', 'health', 'check']) {
    const refusals = [
      [null, 401],
      ['', 401],
      [anonKey, 401],
      [serviceKey, 401],
      [user, 401],
      [expired, 401],
      [lesser, 403],
      [elsewhere, 403],
    ] as const;
    for (const [as, status] of refusals) {
      const answer = await read(what, as);
      expect([answer.status, Object.keys(answer.body)], `${what} ${status}`).toEqual([status, ['message', 'code']]);
    }
    expect((await read(what, operator, 'z'.repeat(20))).status).toBe(404);
    expect((await read(what, operator)).status).toBe(200);
  }
});

test('the last requests have nothing that clients sent: no value, document, address, key or token', async () => {
  const { url } = managed.gateway;
  const key = await signed({ sub: 'secret-subject', role: 'authenticated', email: 'secret@x.test' });
  const headers = { apikey: anonKey, 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.77' };
  const post = (path: string, body: unknown, more = {}) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
  await post('/graphql/v1', {
    query: 'query Named($v: String) { noteCollection(filter: { body: { eq: $v } }) { edges { node { id } } } }',
    variables: { v: 'secret-variable' },
  });
  await post('/graphql/v1', { query: '{ noteCollection(filter: { body: { eq: "secret-literal" } }) { none } }' });
  await post('/graphql/v1?secret-query', { query: '{ __typename }' }, { authorization: `Bearer ${key}` });
  await post('/graphql/v1', { query: '{ __typename }', operationName: 'secret name\u001b[31m' });
  await post('/graphql/v1', { query: '{ __typename }' }, { 'x-request-id': 'secret id\u00e9 with spaces' });
  await post('/auth/v1/signup', { email: 'secret@x.test', password: 'secret-password' });
  await post('/auth/v1/token?grant_type=password', { email: 'secret@x.test', password: 'secret-wrong' });
  await fetch(`${url}/auth/v1/verify?token=secret-token&type=signup`, { redirect: 'manual' });
  await fetch(`${url}/secret-path/${key}`);
  await fetch(`${url}/auth/v1/admin/users/secret-user`, { headers: { authorization: `Bearer ${serviceKey}` } });
  const { text, count } = await vi.waitFor(async () => {
    const { body } = await read('requests?limit=500', operator);
    expect(body.requests.filter(({ path }: { path: string }) => path === '/auth/v1/admin/users/:id')).not.toEqual([]);
    return {
      text: JSON.stringify(body) + JSON.stringify((await read('usage', operator)).body),
      count: body.requests.length,
    };
  });
  expect(count).toBeGreaterThanOrEqual(10);
  expect(text).toContain('"operation":"Named"');
  expect(text).not.toMatch(/secret|203\.0\.113|127\.0\.0\.1|::1|eyJ|sbp_|noteCollection|body":"|\\u001b/);
});

test('requests that claim to be of the studio, or flood the list, do not hide that somebody tries passwords', async () => {
  const { url } = managed.gateway;
  const guess = (path: string) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json', 'x-pgreflect-studio': '1' },
      body: JSON.stringify({ email: 'ana@x.test', password: 'guessed' }),
    });
  const failures = async () => {
    const { body } = await read('usage', operator);
    return body.minutes.reduce((sum: number, { authFailures }: { authFailures: number }) => sum + authFailures, 0);
  };
  const before = await failures();
  await guess('/auth/v1/token?grant_type=password');
  for (let sent = 0; sent < 510; sent += 1) await fetch(`${url}/nowhere`);
  await vi.waitFor(async () => expect(await failures()).toBe(before + 1));
});
