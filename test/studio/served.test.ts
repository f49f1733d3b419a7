/**
 * How the studio is served: its pages and files, under which policy, and what its two own questions answer to whom.
 */

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from '../management/management.ts';
import { testAuth } from '../support/auth-service.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();
const token = await addToken(database);
const accessToken = 'sbp_0123456789012345678901234567890123456789';

const start = (given: Partial<Config> = {}): Promise<ManagedGateway> => managedGateway(database, token, given);

async function exchange({ gateway }: ManagedGateway, body: string): Promise<Response> {
  return fetch(`${gateway.url}/studio/session`, { method: 'POST', body });
}

/** The one-time token of an address, as the page reads it. */
function ticketOf(entry: string): string {
  return new URLSearchParams(entry.slice(entry.indexOf('#') + 1)).get('token') ?? '';
}

test.each([
  ['start', true],
  ['serve', false],
])(
  'with `%s` every address of a page gets the same page, under a policy without scripts in pages or made of text',
  async (_command, localProject) => {
    const { gateway } = await start({ localProject });
    const bodies = await Promise.all(
      ['/studio', '/studio/emails/recovery', '/studio/inbox', '/studio/inbox?id=1', '/studio/no-such-page'].map(
        async (path) => {
          const response = await fetch(gateway.url + path);
          expect(response.status).toBe(200);
          expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
          expect(response.headers.get('access-control-allow-origin')).toBeNull();
          const policy = response.headers.get('content-security-policy') ?? '';
          expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
          expect(policy).toContain("connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
          expect(policy).not.toContain('unsafe-eval');
          return response.text();
        },
      ),
    );
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).not.toMatch(/<script(?![^>]* src=)|\son\w+=/);
  },
);

test('files of the studio have names that change with them, so browsers keep them; other names are not there', async () => {
  const { gateway } = await start();
  const page = await (await fetch(`${gateway.url}/studio`)).text();
  const [script = ''] = /\/studio\/assets\/[\w-]+\.js/.exec(page) ?? [];
  const file = await fetch(gateway.url + script);
  expect(file.headers.get('content-type')).toMatch(/javascript; charset=utf-8$/);
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(file.headers.get('content-encoding')).toBe('gzip');
  const again = { 'if-none-match': file.headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
  expect((await fetch(gateway.url + script, { headers: again })).status).toBe(304);
  for (const name of ['none.js', '..%2f..%2f..%2fpackage.json', '%2e%2e/.made-of', '../index.html%00.js']) {
    const response = await fetch(`${gateway.url}/studio/assets/${name}`);
    expect(await response.text()).not.toMatch(/dependencies|^[0-9a-f]{64}$/);
  }
  expect((await fetch(`${gateway.url}/studio/assets/none.js`)).status).toBe(404);
});

test('pages are small: what all of them load, but GraphiQL, is less than 1.2 MB', () => {
  const assets = join(import.meta.dirname, '../../dist/studio-app/assets');
  const sent = readdirSync(assets).filter((name) => /\.(js|css|woff2)\.gz$/.test(name) && !name.startsWith('graphiql'));
  const bytes = sent.reduce((sum, name) => sum + statSync(join(assets, name)).size, 0);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(1_200_000);
});

test('a one-time token is refused after ten minutes', async () => {
  const auth = await testAuth(database, {}, { localProject: true, accessToken });
  const [early, late] = [ticketOf(auth.gateway.studioEntry()), ticketOf(auth.gateway.studioEntry())];
  const exchanged = (ticket: string) =>
    fetch(`${auth.url}/studio/session`, { method: 'POST', body: JSON.stringify({ token: ticket }) });
  auth.pass(9 * 60);
  expect(await (await exchanged(early)).json()).toEqual({ accessToken });
  auth.pass(61);
  const refused = await exchanged(late);
  expect({ status: refused.status, text: await refused.text() }).toEqual({
    status: 401,
    text: expect.not.stringContaining(accessToken),
  });
});

test('a one-time token is exchanged for the access token once; anything else is refused', async () => {
  const managed = await start({ accessToken });
  const ticket = ticketOf(managed.gateway.studioEntry());
  const first = await exchange(managed, JSON.stringify({ token: ticket }));
  expect({ status: first.status, body: await first.json() }).toEqual({ status: 200, body: { accessToken } });
  for (const body of [JSON.stringify({ token: ticket }), '{"token":""}', '{"token":5}', '[]', '', '{']) {
    const refused = await exchange(managed, body);
    expect(refused.status).toBe(401);
    expect(await refused.text()).not.toContain(accessToken);
  }
});

test('the project is told to holders of an access token; its keys only on a local project', async () => {
  const managed = await start({ anonKey, serviceKey });
  const project = (authorization: string | null, other = managed) =>
    other.call({ path: '/studio/project', token: authorization });
  for (const given of [null, 'Bearer wrong', `Bearer ${serviceKey}`]) expect((await project(given)).status).toBe(401);
  expect((await project(`Bearer ${token}`)).body).toMatchObject({
    ref,
    isLocal: false,
    shellCall: 'pgreflect',
    signing: { from: 'secret', keys: [{ id: null, algorithm: 'HS256', state: 'signs' }] },
    keys: null,
    scopes: ['auth_config:read', 'auth_config:write'],
  });

  const local = await start({ localProject: true, anonKey, serviceKey, accessToken });
  expect((await project(`Bearer ${accessToken}`, local)).body).toMatchObject({
    keys: { anon: anonKey, service: serviceKey },
    scopes: ['auth_config:read', 'auth_config:write', 'project:read', 'project:operate'],
  });
  const reader = await addToken(database, { scopes: ['auth_config:read'] });
  expect((await project(`Bearer ${reader}`, local)).body).toMatchObject({ keys: null, scopes: ['auth_config:read'] });
});

test('where commands are typed is told on the machine of a local project alone, and of a server no folder to anyone', async () => {
  const shellCall = 'cd /home/ada/shop && npx pgreflect';
  const asked = async ({ call }: ManagedGateway, headers: Readonly<Record<string, string>> = {}) =>
    (await call({ path: '/studio/entry', token: null, headers })).body;
  const local = await start({ localProject: true, shellCall });
  expect(await asked(local)).toEqual({ isLocal: true, shellCall });
  const others = [
    { 'x-forwarded-for': '192.0.2.1' },
    { origin: 'http://rebound.test' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of others) expect(await asked(local, headers)).toEqual({ isLocal: true, shellCall: null });
  expect(await asked(await start({ shellCall }))).toEqual({ isLocal: false, shellCall: null });
});

test('without a management API there are the pages, and nothing to sign in to', async () => {
  const { gateway } = await start({ managementApiEnabled: false });
  const page = await fetch(`${gateway.url}/studio`);
  const [script = ''] = /\/studio\/assets\/[\w-]+\.js/.exec(await page.text()) ?? [];
  expect((await fetch(gateway.url + script)).status).toBe(200);
  expect((await fetch(`${gateway.url}/studio/session`, { method: 'POST', body: '{}' })).status).toBe(404);
});

describe('what only operators may ask', () => {
  const operator = { accessToken, localProject: true, anonKey, serviceKey } as const;
  const ask = async ({ call }: ManagedGateway, path: string, body: unknown, bearer: string = accessToken) =>
    call({
      method: 'POST',
      path: `/v1/projects/${ref}/${path}`,
      token: `Bearer ${bearer}`,
      body: JSON.stringify(body),
    });

  test('the SQL of an operation and its plan under a role; it is not run', async () => {
    await database.query('create table note (id int primary key, body text); grant select, insert on note to anon');
    const managed = await start(operator);
    const query = 'mutation { insertIntonoteCollection(objects: [{ id: 1, body: "x" }]) { affectedCount } }';
    const { status, body } = await ask(managed, 'explain', { query, role: 'anon', claims: { role: 'anon' } });
    expect(status).toBe(200);
    expect(body.statements).toMatchObject([{ text: expect.stringContaining('insert into "public"."note"') }]);
    expect(body.statements[0].plan.join()).toContain('Insert on note');
    expect(await database.query('select 1 from note')).toEqual([]);
  });

  test('a token with which requests are those of a user, though nobody signed in', async () => {
    const managed = await start(operator);
    const user = await createUser(managed);
    const { body } = await ask(managed, 'act-as', { user });
    expect(body.expiresAt).toBeGreaterThan(Date.now() / 1000);
    const claims = JSON.parse(Buffer.from(body.accessToken.split('.')[1], 'base64url').toString());
    expect(claims).toMatchObject({ sub: user, role: 'authenticated', email: 'ada@mail.test' });
    expect(
      await managed.gateway.ask('{ __typename }', { headers: { authorization: `Bearer ${body.accessToken}` } }),
    ).toMatchObject({ status: 200 });
    expect(await database.query('select 1 from auth.sessions')).toEqual([]);
  });

  test('wrong requests are refused with the reason, and all requests of others than operators', async () => {
    const managed = await start(operator);
    const claims = {};
    const query = '{ __typename }';
    const cases: readonly [string, unknown, string][] = [
      ['explain', { query, claims, role: 'postgres' }, 'role must be one of'],
      ['explain', { query, claims: [], role: 'anon' }, 'field "claims" is not an object'],
      ['explain', { query: '{ nope }', claims, role: 'anon' }, 'nope'],
      ['explain', { query: '{', claims, role: 'anon' }, 'Syntax Error'],
      ['explain', [], 'must be an object'],
      ['act-as', { user: 'x' }, 'user must be the id of a user'],
      ['act-as', { user: '00000000-0000-4000-8000-000000000000' }, 'User not found'],
    ];
    for (const [path, body, message] of cases) {
      const reply = await ask(managed, path, body);
      expect(reply.body.message).toContain(message);
      expect(reply.status).toBeGreaterThanOrEqual(400);
    }
    for (const [path, body] of cases) {
      const reply = await ask(managed, path, body, token);
      expect(reply.status).toBe(403);
      expect((await ask(managed, path, body, serviceKey)).status).toBe(401);
    }
  });

  async function createUser({ gateway }: ManagedGateway): Promise<string> {
    const response = await fetch(`${gateway.url}/auth/v1/admin/users`, {
      method: 'POST',
      headers: { apikey: serviceKey, authorization: `Bearer ${serviceKey}` },
      body: JSON.stringify({ email: 'ada@mail.test', email_confirm: true }),
    });
    return ((await response.json()) as { id: string }).id;
  }
});
