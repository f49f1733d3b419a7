/**
 * Tokens of others at the auth service: those of a third party whose keys the GraphQL API accepts, those made for another
 * service, and API keys that were replaced. The damage would be the whole list of users, or an account.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Config, JsonWebKeyMember } from '../../src/config/config.ts';
import { makeApiKeys, makeSigningKey } from '../../src/config/keys.ts';
import { createAuthDatabase, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { anonKey, secret, serviceKey, token } from '../support/http.ts';
import type { TestDatabase } from '../support/postgres.ts';

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
  test('is accepted at the GraphQL API, and is neither an admin nor a user of the auth service', async () => {
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

  test('cannot sign an API key', async () => {
    const { given, sign } = await thirdParty(source);
    const auth = await testAuth(database, {}, given);
    const key = await sign({ role: 'service_role' });
    for (const header of [{}, { kid: undefined }]) {
      const bare = await sign({ role: 'service_role' }, header);
      expect((await auth.ask('/admin/users', undefined, { key: bare, token: bare })).status).toBe(401);
    }
    expect(await whoami(auth, key, key)).toBe('Invalid API key');
  });

  test('gains nothing by a kid of ours', async () => {
    const own = await makeSigningKey();
    const { given, sign } = await thirdParty(source, own.kid);
    const keys = await makeApiKeys({ kind: 'key', key: own }, 'anon', 'service_role');
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
  ])('a well-signed token with %s is nobody at the auth service', async (_what, claims) => {
    const auth = await testAuth(database, {}, required);
    const victim = await victimOf(auth);
    expect(await attackAsUser(auth, await token({ sub: victim.id, role: 'authenticated', ...claims }))).toEqual([403]);
    const admin = await token({ sub: 'a server', role: 'service_role', ...claims });
    expect(await attackAsAdmin(auth, victim.id, admin)).toEqual({ statuses: [403], made: 0 });
    expect(await passwordOf(victim.id)).toBe(victim.hash);
  });

  test('the tokens of the auth service itself and the API keys go on to work', async () => {
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
    expect(await whoami(auth, serviceKey)).toBe('The token is an API key that was replaced.');
    expect(await whoami(auth, serviceKey, serviceKey)).toBe('Invalid API key');
  });

  test('does not take away the tokens that a server signs for itself with a subject', async () => {
    const auth = await testAuth(database, {}, { serviceKey: 'sb_secret_new' });
    const own = await token({ role: 'service_role', sub: 'nightly job' }, secret);
    expect(await whoami(auth, own)).toBe('service_role nightly job');
    expect((await auth.ask('/admin/users', undefined, { token: own })).status).toBe(200);
  });
});
