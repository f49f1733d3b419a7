/**
 * Tokens of others at the auth service: those of a third party whose keys the GraphQL API accepts, those made for another
 * service, and API keys that were replaced. The damage would be the whole list of users, or an account.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { JsonWebKeyMember } from '../../src/config/json-web-keys.ts';
import { makeApiKeys, makeSigningKey } from '../../src/config/keys.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { anonKey, secret, serviceKey, token } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(`create function whoami() returns text stable language sql
    return current_user || ' ' || coalesce(current_setting('request.jwt.claims')::jsonb ->> 'sub', '');`);
});

/** Where the keys of the third party come from. */
type Source = 'jwks' | 'jwksUrl';

interface ThirdParty {
  readonly given: Partial<Config>;
  sign(claims: object, header?: object): Promise<string>;
}

async function thirdParty(source: Source, kid = 'theirs'): Promise<ThirdParty> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } as JsonWebKeyMember;
  return {
    given: source === 'jwks' ? { jwks: [jwk] } : { jwksUrl: await serveKeys([jwk]) },
    sign: (claims, header = {}) =>
      new SignJWT({ exp: Math.floor(Date.now() / 1000) + 600, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid, ...header })
        .sign(privateKey),
  };
}

async function serveKeys(keys: readonly JsonWebKeyMember[]): Promise<string> {
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
}

async function whoami(auth: TestAuth, bearer: string, key = anonKey): Promise<string> {
  const response = await fetch(`${auth.url}/graphql/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', apikey: key, authorization: `Bearer ${bearer}` },
    body: '{"query":"{ whoami }"}',
  });
  const { data, message } = (await response.json()) as { data?: { whoami: string }; message?: string };
  return data?.whoami ?? message ?? '';
}

async function passwordOf(id: string): Promise<string | undefined> {
  const [row] = await database.query<{ hash: string }>(
    'select encrypted_password as hash from auth.users where id = $1',
    [id],
  );
  return row?.hash;
}

/** Tries what an admin may; answers what came of it. */
async function attackAsAdmin(auth: TestAuth, victim: string, bearer: string) {
  const ask = (path: string, body?: unknown, method?: string) =>
    auth.ask(path, body, { token: bearer, ...(method === undefined ? {} : { method }) });
  const replies = [
    await ask('/admin/users'),
    await ask(`/admin/users/${victim}`),
    await ask(`/admin/users/${victim}`, { password: 'taken over' }, 'PUT'),
    await ask('/admin/generate_link', { type: 'recovery', email: 'victim@x.test' }),
    await ask('/invite', { email: 'invited-by-stranger@x.test' }),
    await ask('/admin/audit'),
    await ask(`/admin/users/${victim}`, undefined, 'DELETE'),
  ];
  const made = await database.query(`select from auth.users where email = 'invited-by-stranger@x.test'`);
  return { statuses: [...new Set(replies.map(({ status }) => status))], made: made.length };
}

/** Tries what a user may; answers what came of it. */
async function attackAsUser(auth: TestAuth, bearer: string): Promise<readonly number[]> {
  const options = { token: bearer };
  const replies = [
    await auth.ask('/user', undefined, options),
    await auth.ask('/user', { password: 'taken over' }, { ...options, method: 'PUT' }),
    await auth.ask('/user', { email: 'thief@x.test' }, { ...options, method: 'PUT' }),
    await auth.ask('/factors', { factor_type: 'totp', friendly_name: 'thief' }, options),
    await auth.ask('/logout?scope=global', undefined, { ...options, method: 'POST' }),
    await auth.ask('/reauthenticate', undefined, options),
  ];
  return [...new Set(replies.map(({ status }) => status))];
}

async function victimOf(auth: TestAuth): Promise<{ id: string; hash: string | undefined; token: string }> {
  await database.query(`delete from auth.users where email = 'victim@x.test'`);
  const { user, access_token: own } = await signedUp(auth, 'victim@x.test');
  return { id: user.id, hash: await passwordOf(user.id), token: own };
}

describe.each(['jwks', 'jwksUrl'] as const)('a third party whose keys are given by %s', (source) => {
  test('a third-party token is accepted at the GraphQL API, and is neither an admin nor a user of the auth service', async () => {
    const { given, sign } = await thirdParty(source);
    const auth = await testAuth(database, {}, given);
    const victim = await victimOf(auth);
    expect(await whoami(auth, await sign({ sub: victim.id, role: 'authenticated' }))).toBe(
      `authenticated ${victim.id}`,
    );
    for (const claims of [{ role: 'service_role' }, { role: 'supabase_admin', sub: victim.id }]) {
      expect(await attackAsAdmin(auth, victim.id, await sign(claims))).toEqual({ statuses: [403], made: 0 });
    }
    const asVictim = { sub: victim.id, role: 'authenticated', aud: 'authenticated' };
    expect(await attackAsUser(auth, await sign(asVictim))).toEqual([403]);
    expect(await passwordOf(victim.id)).toBe(victim.hash);
    expect((await auth.ask('/user', undefined, { token: victim.token })).body.factors ?? []).toEqual([]);
  });

  test('a third party cannot sign an API key', async () => {
    const { given, sign } = await thirdParty(source);
    const auth = await testAuth(database, {}, given);
    const key = await sign({ role: 'service_role' });
    for (const header of [{}, { kid: undefined }]) {
      const bare = await sign({ role: 'service_role' }, header);
      expect((await auth.ask('/admin/users', undefined, { key: bare, token: bare })).status).toBe(401);
    }
    expect(await whoami(auth, key, key)).toBe('Invalid API key');
  });

  test('a third party gains nothing by a kid of ours', async () => {
    const own = await makeSigningKey();
    const { given, sign } = await thirdParty(source, own.kid);
    const keys = await makeApiKeys(own, 'anon', 'service_role');
    const auth = await testAuth(database, {}, { ...given, jwtSecret: null, jwtKeys: [own] });
    const ask = (bearer: string) => auth.ask('/admin/users', undefined, { key: keys.anonKey, token: bearer });
    expect((await ask(keys.serviceKey)).status).toBe(200);
    expect((await ask(await sign({ role: 'service_role' }))).status).toBe(403);
    const asKey = await sign({ role: 'service_role' });
    expect((await auth.ask('/admin/users', undefined, { key: asKey, token: keys.serviceKey })).status).toBe(401);
  });
});

describe('where an audience and an issuer are required', () => {
  const required = { jwtAud: ['app'], jwtIssuer: 'https://auth.test' };

  test.each([
    ['another audience', { aud: 'other', iss: 'https://auth.test' }],
    ['no audience', { iss: 'https://auth.test' }],
    ['another issuer', { aud: 'app', iss: 'https://other.test' }],
    ['no issuer', { aud: 'app' }],
  ])('the auth service refuses a well-signed token with %s', async (_what, claims) => {
    const auth = await testAuth(database, {}, required);
    const victim = await victimOf(auth);
    expect(await attackAsUser(auth, await token({ sub: victim.id, role: 'authenticated', ...claims }))).toEqual([403]);
    const admin = await token({ sub: 'a server', role: 'service_role', ...claims });
    expect(await attackAsAdmin(auth, victim.id, admin)).toEqual({ statuses: [403], made: 0 });
    expect(await passwordOf(victim.id)).toBe(victim.hash);
  });

  test('the tokens of the auth service itself and the API keys are still accepted', async () => {
    const auth = await testAuth(database, {}, required);
    const victim = await victimOf(auth);
    expect((await auth.ask('/user', undefined, { token: victim.token })).body.id).toBe(victim.id);
    expect((await auth.askAdmin(`/admin/users/${victim.id}`)).body.id).toBe(victim.id);
  });
});

const newerKey = await token({ role: 'service_role', iat: 1 });

describe('a service key that was replaced', () => {
  test.each([
    ['by an opaque key', 'sb_secret_new'],
    ['by another token', newerKey],
  ])('%s opens neither API, as key or as token, although it is still well signed', async (_how, current) => {
    const auth = await testAuth(database, {}, { serviceKey: current });
    const victim = await victimOf(auth);
    expect((await auth.ask('/admin/users', undefined, { token: current })).status).toBe(200);
    expect(await attackAsAdmin(auth, victim.id, serviceKey)).toEqual({ statuses: [403], made: 0 });
    expect((await auth.ask('/admin/users', undefined, { key: serviceKey, token: current })).status).toBe(401);
    expect(await whoami(auth, current)).toBe('service_role ');
    expect(await whoami(auth, serviceKey)).toBe('This API key was replaced.');
    expect(await whoami(auth, serviceKey, serviceKey)).toBe('Invalid API key');
  });

  test('a service key that was replaced does not take away the tokens that a server signs for itself with a subject', async () => {
    const auth = await testAuth(database, {}, { serviceKey: 'sb_secret_new' });
    const own = await token({ role: 'service_role', sub: 'nightly job' }, secret);
    expect(await whoami(auth, own)).toBe('service_role nightly job');
    expect((await auth.ask('/admin/users', undefined, { token: own })).status).toBe(200);
  });
});

describe('the header of a token', () => {
  /** Asks both APIs; answers what the database and the auth service took the caller for. */
  async function knock(auth: TestAuth, bearer: string) {
    const { status } = await auth.ask('/admin/users', undefined, { token: bearer });
    return { graphql: await whoami(auth, bearer), admin: status };
  }

  const refused = { graphql: 'The token could not be verified.', admin: 403 };

  test('the header of a token supplies no key and causes no request for one', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end(JSON.stringify({ keys: [{ ...jwk, kid: 'mine', alg: 'ES256' }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    const own = await makeSigningKey();
    const { given } = await thirdParty('jwks');
    const auth = await testAuth(database, {}, { ...given, jwtKeys: [own] });
    for (const header of [{ jwk }, { jku: url }, { x5u: url }, { jku: url, kid: 'mine' }, { kid: url }]) {
      const forged = new SignJWT({ role: 'service_role', sub: 'x' }).setProtectedHeader({ alg: 'ES256', ...header });
      expect(await knock(auth, await forged.sign(privateKey))).toEqual(refused);
    }
    expect(asked).toBe(0);
  });

  let severalKeys: Partial<Config>;
  beforeAll(async () => {
    const { given } = await thirdParty('jwks');
    severalKeys = { ...given, jwtSecret: null, jwtKeys: [await makeSigningKey()] };
  });

  test.each([
    ['a path', '../../../../dev/null'],
    ['SQL', "x' or '1'='1"],
    ['a name that every object has', '__proto__'],
    ['a function', 'toString'],
    ['nothing', ''],
    ['a long text', 'k'.repeat(2500)],
    ['a list', ['theirs']],
    ['a number', 0],
    ['null', null],
  ])('the header of a token names no key by %s as kid', async (_what, kid) => {
    const auth = await testAuth(database, {}, severalKeys);
    const keys = await makeApiKeys(await makeSigningKey(), 'anon', 'service_role');
    for (const alg of ['HS256', 'none', 'ES256']) {
      const [, payload] = keys.serviceKey.split('.');
      const content = `${encode({ alg, kid })}.${payload}`;
      for (const secretText of ['', ' ', 'null', 'undefined']) {
        const signature = createHmac('sha256', secretText).update(content).digest('base64url');
        for (const forged of [`${content}.${signature}`, `${content}.`]) {
          expect((await auth.ask('/admin/users', undefined, { key: forged, token: forged })).status).toBe(401);
        }
      }
    }
  });

  test('the header of a token changes no rule: what is critical or not encoded, encrypted or of another form is no token', async () => {
    const auth = await testAuth(database);
    const claims = { role: 'service_role', sub: 'x' };
    const sign = (header: object, payload = encode(claims)) => {
      const content = `${encode(header)}.${payload}`;
      return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
    };
    expect(await knock(auth, sign({ alg: 'HS256' }))).toEqual({ graphql: 'service_role x', admin: 200 });
    const forged = [
      sign({ alg: 'HS256', crit: ['exp'], exp: 1 }),
      sign({ alg: 'HS256', b64: false, crit: ['b64'] }),
      sign({ alg: 'HS256', b64: false, crit: ['b64'] }, JSON.stringify(claims).replaceAll('.', '')),
      sign({ alg: 'HS256', crit: [] }),
      sign({ alg: 'hs256' }),
      sign({ alg: ['HS256'] }),
      sign({}),
      sign({ alg: 'HS256' }, encode([claims])),
      sign({ alg: 'HS256' }, Buffer.from('{"role":"service_role"').toString('base64url')),
      sign({ alg: 'HS256' }, encode({ ...claims, exp: 'never' })),
      sign({ alg: 'HS256' }, encode({ ...claims, nbf: '0' })),
      `${sign({ alg: 'HS256' })}.${encode(claims)}.x`,
      sign({ alg: 'dir', enc: 'A256GCM' }),
    ];
    for (const bearer of forged) {
      const { graphql, admin } = await knock(auth, bearer);
      expect([graphql.startsWith('service_role'), admin]).toEqual([false, 403]);
    }
  });

  test('a token as long as a header may be is refused as fast as any other', async () => {
    const auth = await testAuth(database);
    const bearer = await token({ role: 'service_role', sub: 'x', pad: 'p'.repeat(9000) }, 'x'.repeat(40));
    expect(await knock(auth, bearer)).toEqual(refused);
  });
});

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('what was made for one purpose serves no other', () => {
  const accessToken = 'sbp_0123456789012345678901234567890123456789';

  test('each key, token, code and ticket opens its own API alone', async () => {
    const given = { accessToken, projectRef: 'abcdefghijklmnopqrst', anonKey, serviceKey };
    const auth = await testAuth(database, { external_google_enabled: true }, given);
    await database.query('delete from auth.users');
    const { access_token: user, refresh_token: refresh } = await signedUp(auth, 'doors@x.test');
    await auth.ask('/recover', { email: 'doors@x.test' });
    const [{ hash } = { hash: '' }] = await database.query<{ hash: string }>(
      'select token_hash as hash from auth.one_time_tokens',
    );
    const ticket = new URLSearchParams(auth.gateway.studioEntry().split('#')[1]).get('token') ?? '';
    const credentials = { anonKey, serviceKey, user, refresh, accessToken, hash, ticket };
    const get = async (path: string, headers: Record<string, string>) =>
      (await fetch(auth.url + path, { headers: { 'x-forwarded-for': '203.0.113.7', ...headers } })).status;
    const apis: Record<string, (text: string) => Promise<number>> = {
      key: (text) => get('/auth/v1/settings', { apikey: text }),
      bearer: async (text) => (/^(anon|authenticated|service_role) /.test(await whoami(auth, text)) ? 200 : 401),
      user: async (text) => (await auth.ask('/user', undefined, { token: text })).status,
      admin: async (text) => (await auth.ask('/admin/users', undefined, { token: text })).status,
      management: (text) => get(`/v1/projects/${given.projectRef}/config/auth`, { authorization: `Bearer ${text}` }),
      inbox: (text) => get('/studio/inbox.json', { authorization: `Bearer ${text}` }),
      studio: (text) => get('/studio/project', { authorization: `Bearer ${text}` }),
      refresh: async (text) => (await auth.ask('/token?grant_type=refresh_token', { refresh_token: text })).status,
      link: async (text) => (await auth.ask('/verify', { type: 'recovery', token_hash: text })).status,
      ticket: async (text) =>
        (await fetch(`${auth.url}/studio/session`, { method: 'POST', body: JSON.stringify({ token: text }) })).status,
    };
    const opened: string[] = [];
    for (const [api, ask] of Object.entries(apis)) {
      for (const [name, text] of Object.entries(credentials))
        if ((await ask(text)) === 200) opened.push(`${api} ${name}`);
    }
    expect(opened).toEqual([
      ...['key anonKey', 'key serviceKey', 'bearer anonKey', 'bearer serviceKey', 'bearer user', 'user user'],
      ...['admin serviceKey', 'admin accessToken', 'management accessToken', 'inbox accessToken', 'studio accessToken'],
      ...['refresh refresh', 'link hash', 'ticket ticket'],
    ]);
  });
});

test('A third party whose list of keys does not end fills no memory, and keys of our own go on', async () => {
  let sent = 0;
  const piece = Buffer.alloc(65_536, 'x');
  const server = createServer((_request, response) => {
    response.write('{"keys": [{"kty": "');
    const more = (): void => {
      // More would end the test's process, where all of it is kept.
      while (sent < 200 * 1024 * 1024 && !response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once('drain', more);
      }
    };
    more();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  const auth = await testAuth(database, {}, { jwksUrl });
  const { sign } = await thirdParty('jwks');
  expect(await whoami(auth, await sign({ role: 'authenticated' }))).toBe('');
  expect(sent).toBeLessThan(20 * 1024 * 1024);
  expect(await whoami(auth, await token({ role: 'authenticated', sub: 'a' }))).toBe('authenticated a');
});
