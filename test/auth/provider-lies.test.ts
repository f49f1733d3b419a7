/**
 * Providers that lie: what a sign-in and an ID token must not be believed, and what no answer may do to us. Nobody gets in
 * with any of it, and nothing is stored.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JWTPayload } from 'jose';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { fragmentOf, keycloakValues, queryOf, userOf } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let provider: LyingProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startLyingProvider('us');
});

function withLiar(values: AuthValues = {}, issuer: string = provider.issuer): Promise<TestAuth> {
  return testAuth(database, keycloakValues({ issuer, clientId: 'us', clientSecret: 'ours' }, values));
}

const claims = { sub: 'eve', name: 'Eve', email: 'eve@x.test', email_verified: true };

/** Signs in with what the provider answers; `make` gets the nonce of the sign-in. */
async function signIn(auth: TestAuth, make: (nonce: string) => Promise<unknown>) {
  const { headers } = await auth.ask('/authorize?provider=keycloak', undefined, { key: null });
  const start = new URL(headers.get('location')!).searchParams;
  provider.answers['/token'] = await make(start.get('nonce')!);
  return come(auth, start.get('state')!);
}

async function come(auth: TestAuth, state: string, more = '') {
  const reply = await auth.ask(`/callback?state=${state}&code=good${more}`, undefined, { key: null });
  return { status: reply.status, location: new URL(reply.headers.get('location')!) };
}

/** A good answer with that ID token. */
function tokens(idToken: string, more: object = {}) {
  return { access_token: 'of the provider', token_type: 'Bearer', expires_in: 60, id_token: idToken, ...more };
}

function withClaims(auth: TestAuth, change: JWTPayload) {
  return signIn(auth, async (nonce) => tokens(await provider.sign({ ...claims, nonce, ...change })));
}

async function users(): Promise<number> {
  const [row] = await database.query<{ count: number }>('select pg_catalog.count(*)::int as count from auth.users');
  return row?.count ?? 0;
}

const now = () => Math.floor(Date.now() / 1000);
const half = (text: string) => createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url');

test('an ID token with another issuer, audience, nonce, key or time is not believed', async () => {
  const auth = await withLiar();
  const lies: Readonly<Record<string, (nonce: string) => Promise<unknown>>> = {
    issuer: async (nonce) => tokens(await provider.sign({ ...claims, nonce, iss: 'https://accounts.google.com' })),
    audience: async (nonce) => tokens(await provider.sign({ ...claims, nonce, aud: 'them' })),
    'party of several audiences': async (nonce) =>
      tokens(await provider.sign({ ...claims, nonce, aud: ['us', 'them'], azp: 'them' })),
    nonce: async () => tokens(await provider.sign({ ...claims, nonce: 'of another sign-in' })),
    'no nonce': async () => tokens(await provider.sign(claims)),
    'no signature': async (nonce) => tokens(provider.pretend({ ...claims, nonce })),
    'a shared secret': async (nonce) => tokens(await provider.sign({ ...claims, nonce }, { alg: 'HS256' })),
    'an unknown key': async (nonce) => tokens(await provider.sign({ ...claims, nonce }, { kid: 'two' })),
    'another access token': async (nonce) =>
      tokens(await provider.sign({ ...claims, nonce, at_hash: half('another access token') })),
    expired: async (nonce) => tokens(await provider.sign({ ...claims, nonce, exp: now() - 3600 })),
    'from the future': async (nonce) => tokens(await provider.sign({ ...claims, nonce, iat: now() + 3600 })),
    'not yet good': async (nonce) => tokens(await provider.sign({ ...claims, nonce, nbf: now() + 3600 })),
    'no ID token': async () => ({ access_token: 'x', token_type: 'Bearer' }),
    'changed after it was signed': async (nonce) => {
      const [header, , signature] = (await provider.sign({ ...claims, nonce })).split('.');
      const payload = { iss: provider.issuer, aud: 'us', iat: now(), exp: now() + 60, ...claims, nonce, sub: 'root' };
      return tokens(`${header}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${signature}`);
    },
    'no JSON': async () => '<html>',
    'no object': async () => [1],
  };
  for (const [name, lie] of Object.entries(lies)) {
    const stop = await signIn(auth, lie);
    expect([name, queryOf(stop)]).toEqual([
      name,
      {
        error: 'server_error',
        error_code: 'unexpected_failure',
        error_description: 'Unable to exchange external code: good',
      },
    ]);
  }
  expect(await users()).toBe(0);
  // The log says which claim it was, not what was in it.
  const logged = auth.observations.flatMap((seen) =>
    seen.kind === 'masked_error' ? [(seen.error as Error).cause] : [],
  );
  const reasons = logged.map((cause) => (cause as Error).message);
  expect(reasons).toHaveLength(Object.keys(lies).length);
  for (const claim of ['iss', 'aud', 'nonce', 'exp']) expect(reasons.join()).toMatch(new RegExp(`\\b${claim}\\b`));
  expect(reasons.join()).not.toMatch(/accounts\.google|them|another/);
  const outcomes = () => auth.observations.flatMap((seen) => (seen.kind === 'external_call' ? [seen.outcome] : []));
  // What a working provider does not answer.
  const nonsense = ['no nonce', 'no signature', 'a shared secret', 'no ID token', 'no JSON', 'no object'];
  expect(outcomes()).toEqual(Object.keys(lies).map((name) => (nonsense.includes(name) ? 'failed' : 'distrusted')));
  // What is not a lie gets in: all of the above would be nothing if that failed, too.
  const stop = await withClaims(auth, { at_hash: half('of the provider') });
  expect(await userOf(auth, stop)).toMatchObject({ email: 'eve@x.test' });
});

test('an error of the provider counts as refused where it is about the code, and otherwise as failed', async () => {
  const auth = await withLiar();
  const counted: Record<string, string | undefined> = {};
  for (const error of ['invalid_grant', 'invalid_client', 'unauthorized_client', 'server_error']) {
    await signIn(auth, async () => ({ status: error === 'server_error' ? 500 : 400, body: { error } }));
    const calls = auth.observations.flatMap((seen) => (seen.kind === 'external_call' ? [seen.outcome] : []));
    counted[error] = calls.at(-1);
  }
  const failed = { invalid_client: 'failed', unauthorized_client: 'failed', server_error: 'failed' };
  expect(counted).toEqual({ invalid_grant: 'refused', ...failed });
  // Claims that cannot be stored are valid, and of no use.
  await withClaims(auth, { sub: 'nul\0' });
  const last = auth.observations.findLast((seen) => seen.kind === 'external_call');
  expect(last).toMatchObject({ service: 'provider', name: 'keycloak', outcome: 'distrusted' });
});

test('clocks may differ by seconds, not by minutes', async () => {
  const auth = await withLiar();
  for (const close of [{ exp: now() - 15 }, { iat: now() + 15 }, { nbf: now() + 15 }]) {
    expect(fragmentOf(await withClaims(auth, close))).toHaveProperty('access_token');
  }
  for (const far of [{ exp: now() - 60 }, { iat: now() + 60 }, { nbf: now() + 60 }]) {
    expect(queryOf(await withClaims(auth, far)).error).toBe('server_error');
  }
});

test('an answer that names another provider is refused', async () => {
  const auth = await withLiar();
  const { headers } = await auth.ask('/authorize?provider=keycloak', undefined, { key: null });
  const start = new URL(headers.get('location')!).searchParams;
  provider.answers['/token'] = tokens(await provider.sign({ ...claims, nonce: start.get('nonce') }));
  const stop = await come(auth, start.get('state')!, '&iss=https%3A%2F%2Fevil.test');
  expect(queryOf(stop).error).toBe('server_error');
});

test('claims that are too large or cannot be stored are left out, or refused where they identify the user', async () => {
  const auth = await withLiar();
  const long = 'x'.repeat(20_000);
  const kept = await userOf(
    auth,
    await withClaims(auth, { sub: 'long', email: 'long@x.test', name: long, picture: 'data:\0', nickname: long }),
  );
  expect(Object.keys(kept.user_metadata).sort()).toEqual([
    ...['custom_claims', 'email', 'email_verified', 'iss', 'phone_verified', 'provider_id', 'sub'],
  ]);
  const before = await users();
  for (const unusable of [
    { sub: 'x'.repeat(256) },
    { sub: 'nul\0' },
    { email: `${'x'.repeat(250)}@x.test` },
    { email: 'eve@x.test\r\nBcc: all@x.test' },
    { email: '"<script>"@x.test' },
  ]) {
    const stop = await withClaims(auth, { sub: 'unusable', ...unusable });
    expect(queryOf(stop)).toMatchObject({ error: 'invalid_request', error_code: 'validation_failed' });
  }
  const huge = await signIn(auth, async (nonce) =>
    tokens(await provider.sign({ ...claims, nonce }), { padding: 'x'.repeat(300_000) }),
  );
  expect(queryOf(huge).error_description).toBe('Unable to exchange external code: good');
  expect(await users()).toBe(before);
});

test('the second answer about a user has to be about the same user', async () => {
  const usual = provider;
  onTestFinished(() => {
    provider = usual;
  });
  // What a provider says of itself is remembered.
  provider = await startLyingProvider('us');
  const document = provider.answers['/.well-known/openid-configuration'] as object;
  provider.answers['/.well-known/openid-configuration'] = { ...document, userinfo_endpoint: `${provider.issuer}/me` };
  const auth = await withLiar();
  const bare = (sub: string, more: JWTPayload = {}) =>
    signIn(auth, async (nonce) => tokens(await provider.sign({ sub, nonce, ...more })));
  provider.answers['/me'] = { sub: 'bob', name: 'Bob', email: 'bob@x.test', email_verified: true };
  expect(queryOf(await bare('carl')).error_description).toBe('Unable to exchange external code: good');
  expect(await userOf(auth, await bare('bob'))).toMatchObject({ email: 'bob@x.test', user_metadata: { name: 'Bob' } });
  // Whether an address is verified is said of that address alone.
  const mixed = await bare('bob', { email: 'victim@x.test' });
  expect(await userOf(auth, mixed)).toMatchObject({
    email: 'bob@x.test',
    identities: [{ identity_data: { email: 'victim@x.test', email_verified: false } }],
  });
});

test('a provider that describes itself as another one, or leads to another, is not asked', async () => {
  const other = await startLyingProvider('us');
  const document = other.answers['/.well-known/openid-configuration'] as object;
  const auth = await withLiar({}, other.issuer);
  const start = () => auth.ask('/authorize?provider=keycloak', undefined, { key: null });
  for (const lie of [{ issuer: provider.issuer }, { jwks_uri: 'file:///etc/passwd' }, { jwks_uri: undefined }]) {
    other.answers['/.well-known/openid-configuration'] = { ...document, ...lie };
    expect(await start()).toMatchObject({
      status: 503,
      body: { code: 'unexpected_failure', message: 'The provider keycloak cannot be reached at the moment.' },
    });
  }
  other.answers['/.well-known/openid-configuration'] = 'x'.repeat(300_000);
  expect((await start()).status).toBe(503);
  // What failed is asked for again, what was good is remembered.
  other.answers['/.well-known/openid-configuration'] = document;
  const before = other.asked.length;
  expect([(await start()).status, (await start()).status, other.asked.length - before]).toEqual([302, 302, 1]);
});

test('no redirect of a provider is followed, and a provider that does not answer fails at the time limit', async () => {
  const server = createServer((request, response) => {
    if (request.url === '/away/.well-known/openid-configuration') {
      response.writeHead(302, { location: `${provider.issuer}/.well-known/openid-configuration` }).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const before = provider.asked.length;
  const sentAway = await withLiar({}, `${address}/away`);
  expect((await sentAway.ask('/authorize?provider=keycloak', undefined, { key: null })).status).toBe(503);
  expect(provider.asked.length).toBe(before);
  const silent = await withLiar({ api_max_request_duration: 1 }, `${address}/silent`);
  const reply = await silent.ask('/authorize?provider=keycloak', undefined, { key: null });
  expect([reply.status, reply.body.code]).toEqual([504, 'request_timeout']);
});

const idTokenPath = '/token?grant_type=id_token';

test('an ID token that a program brings is checked in the same way', async () => {
  const auth = await withLiar();
  const ask = (id_token: string, more: object = {}) =>
    auth.ask(idTokenPath, { provider: 'keycloak', id_token, ...more });
  const before = await users();
  const bad = { error: 'invalid request', error_description: 'Bad ID token' };
  for (const lie of [
    await provider.sign({ ...claims, iss: 'https://accounts.google.com' }),
    await provider.sign({ ...claims, exp: now() - 60 }),
    await provider.sign({ ...claims, iat: now() + 60 }),
    await provider.sign(claims, { alg: 'HS256' }),
    await provider.sign(claims, { kid: 'two' }),
    provider.pretend(claims),
    'nonsense',
    'a.b.c',
  ]) {
    expect(await ask(lie)).toMatchObject({ status: 400, body: bad });
  }
  const foreign = await provider.sign({ ...claims, at_hash: half('one') });
  expect((await ask(foreign, { access_token: 'another' })).body).toEqual(bad);
  for (const [change, error_description] of [
    [{ sub: undefined }, 'Missing sub claim in id_token'],
    [{ aud: ['them', 'others'] }, 'Unacceptable audience in id_token: [them others]'],
    [{ aud: undefined }, 'Unacceptable audience in id_token: []'],
    [{ nonce: 'x' }, 'Passed nonce and nonce in id_token should either both exist or not.'],
  ] as const) {
    const reply = await ask(await provider.sign({ ...claims, ...change } as JWTPayload));
    expect(reply).toMatchObject({ status: 400, body: { error: 'invalid request', error_description } });
  }
  const nonce = createHash('sha256').update('secret').digest('hex');
  expect((await ask(await provider.sign({ ...claims, nonce }), { nonce: 'other' })).body).toEqual({
    error: 'invalid nonce',
    error_description: 'Nonces mismatch',
  });
  expect((await ask(await provider.sign(claims), { nonce: 'secret' })).body.error_description).toMatch(/^Passed nonce/);
  expect(await users()).toBe(before);
});

test('an ID token of another subject with the address of a user, not verified, is not that user', async () => {
  const auth = await withLiar();
  const { user } = await signedUp(auth, 'target@x.test');
  const id_token = await provider.sign({ sub: 'impostor', email: 'target@x.test', email_verified: false });
  const reply = await auth.ask(idTokenPath, { provider: 'keycloak', id_token });
  expect(reply).toMatchObject({ status: 422, body: { code: 'provider_email_needs_verification' } });
  const { body } = await auth.askAdmin(`/admin/users/${user.id}`);
  expect(body.identities).toHaveLength(1);
});
