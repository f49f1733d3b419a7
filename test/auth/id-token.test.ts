/**
 * Sign-in with the ID token that a program has got from a provider, and linking in the same way.
 */
import { createHash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let provider: LyingProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startLyingProvider('web');
});

function withGoogle(values: AuthValues = {}): Promise<TestAuth> {
  return testAuth(database, {
    external_google_enabled: true,
    external_google_url: provider.issuer,
    external_google_client_id: 'web',
    external_google_additional_client_ids: 'ios, android',
    security_manual_linking_enabled: true,
    ...values,
  });
}

function person(name: string, more: JWTPayload = {}): Promise<string> {
  return provider.sign({ sub: name, name: `${name} Smith`, email: `${name}@X.test`, email_verified: true, ...more });
}

function ask(auth: TestAuth, body: object, token?: string) {
  return auth.ask('/token?grant_type=id_token', body, token === undefined ? {} : { token });
}

test('a token for one of our clients signs in; the nonce is its digest, the access token that which it names', async () => {
  const auth = await withGoogle();
  const nonce = createHash('sha256').update('random').digest('hex');
  const at_hash = createHash('sha256').update('access').digest().subarray(0, 16).toString('base64url');
  const id_token = await person('ana', { nonce, at_hash, aud: ['them', 'android'], azp: 'android', hd: 'x.test' });
  const reply = await ask(auth, { provider: 'google', id_token, nonce: 'random', access_token: 'access' });
  expect(reply).toMatchObject({
    status: 200,
    body: {
      token_type: 'bearer',
      refresh_token: expect.any(String),
      user: {
        email: 'ana@x.test',
        app_metadata: { provider: 'google', providers: ['google'] },
        user_metadata: { full_name: 'ana Smith', custom_claims: { hd: 'x.test' } },
      },
    },
  });
  expect(reply.body).not.toHaveProperty('provider_token');
  const claims = JSON.parse(Buffer.from(reply.body.access_token.split('.')[1], 'base64url').toString());
  expect(claims.amr).toMatchObject([{ method: 'oauth' }]);
  const again = await ask(auth, { provider: 'google', id_token: await person('ana') });
  expect(again.body.user.id).toBe(reply.body.user.id);
});

test('the provider may be named by its issuer, and the nonce be switched off', async () => {
  const auth = await withGoogle({ external_google_skip_nonce_check: true });
  const id_token = await person('byissuer', { nonce: 'of somebody else' });
  const { body } = await ask(auth, { issuer: provider.issuer, client_id: 'web', id_token });
  expect(body.user.app_metadata).toEqual({ provider: 'google', providers: ['google'] });
});

test('other issuers are accepted from a list, for the clients that the list names', async () => {
  const other = await startLyingProvider('native');
  const auth = await withGoogle({ external_allowed_id_token_issuers: `https://x.test, ${other.issuer} native web` });
  const id_token = await other.sign({ sub: '7', email: 'listed@x.test', email_verified: true });
  const request = { issuer: other.issuer, client_id: 'native', id_token };
  const { body } = await ask(auth, request);
  expect(body.user).toMatchObject({ email: 'listed@x.test', identities: [{ provider: other.issuer, id: '7' }] });
  expect((await ask(auth, { ...request, client_id: 'web' })).body.error_description).toMatch(/^Unacceptable audience/);
  const strict = await withGoogle();
  expect(await ask(strict, request)).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', message: `Custom OIDC provider "${other.issuer}" not allowed` },
  });
});

test('requests that name no provider, one that is off or one without ID tokens are refused', async () => {
  const auth = await withGoogle({ external_github_enabled: true, external_keycloak_enabled: true });
  const id_token = await person('nobody');
  const refusals = [
    [{}, { error: 'invalid request', error_description: 'id_token required' }],
    [{ id_token }, { error_description: 'provider or client_id and issuer required' }],
    [{ id_token, issuer: 'x' }, { error_description: 'provider or client_id and issuer required' }],
    [{ id_token, provider: 'apple' }, { message: 'Provider (issuer "https://appleid.apple.com") is not enabled' }],
    [{ id_token, provider: 'github' }, { message: 'Custom OIDC provider "github" not allowed' }],
    [{ id_token, provider: 'keycloak' }, { message: 'Custom OIDC provider "keycloak" not allowed' }],
    [
      { id_token, provider: 'x' },
      { code: 'validation_failed', message: 'Custom OIDC provider "x" not allowed' },
    ],
    [{ id_token: 5, provider: 'google' }, { code: 'bad_json' }],
  ] as const;
  for (const [request, body] of refusals) expect(await ask(auth, request)).toMatchObject({ status: 400, body });
});

test('tenants are issuers of their own, and only those of the provider are asked', async () => {
  const base = provider.issuer;
  const issuer = `${base}/v2.0`;
  const document = provider.answers['/.well-known/openid-configuration'] as object;
  provider.answers['/v2.0/.well-known/openid-configuration'] = { ...document, issuer };
  const auth = await withGoogle({
    external_azure_enabled: true,
    external_azure_client_id: 'web',
    external_azure_url: base,
  });
  const sign = (claims: JWTPayload) => person('tenant', { iss: issuer, ...claims });
  const bad = { status: 400, body: { error: 'invalid request', error_description: 'Bad ID token' } };
  const before = provider.asked.length;
  for (const iss of [`${base}/elsewhere`, 'https://login.microsoftonline.com.evil.test/x', 'x', undefined]) {
    expect(await ask(auth, { provider: 'azure', id_token: await sign({ iss } as JWTPayload) })).toMatchObject(bad);
  }
  expect(provider.asked.length).toBe(before);
  const unowned = await ask(auth, { provider: 'azure', id_token: await sign({ xms_edov: false }) });
  expect(unowned.body.code).toBe('provider_email_needs_verification');
  const owned = await ask(auth, { provider: 'azure', id_token: await sign({ xms_edov: true }) });
  expect(owned.body.user).toMatchObject({ email: 'tenant@x.test', app_metadata: { provider: 'azure' } });
});

test('some providers cannot repeat a nonce, so none is asked for', async () => {
  const auth = await withGoogle({
    external_facebook_enabled: true,
    external_facebook_client_id: 'web',
    external_facebook_url: provider.issuer,
    external_google_url: null,
  });
  const id_token = await person('faceless', { nonce: 'random' });
  expect((await ask(auth, { provider: 'facebook', id_token })).status).toBe(200);
});

test('a user who is signed in gets the identity of the token', async () => {
  const auth = await withGoogle();
  const { user, access_token } = await signedUp(auth, 'linking@x.test');
  const link = async (token?: string) => {
    const id_token = await person('linked', { email: 'elsewhere@x.test', email_verified: false });
    return ask(auth, { provider: 'google', id_token, link_identity: true }, token);
  };
  expect(await link()).toMatchObject({
    status: 400,
    body: {
      error: 'invalid request',
      error_description: 'Linking requires a valid user access token in Authorization',
    },
  });
  expect((await link('nonsense')).body.code).toBe('bad_jwt');
  const { body } = await link(access_token);
  expect(body.user).toMatchObject({
    id: user.id,
    email: 'linking@x.test',
    app_metadata: { providers: ['email', 'google'] },
  });
  expect(await link(access_token)).toMatchObject({ status: 422, body: { code: 'identity_already_exists' } });
  const strict = await withGoogle({ security_manual_linking_enabled: false });
  const id_token = await person('other');
  const refused = await ask(strict, { provider: 'google', id_token, link_identity: true }, access_token);
  expect(refused).toMatchObject({ status: 404, body: { code: 'manual_linking_disabled' } });
});

describe('a token that another application has got', () => {
  /** Signs in to another application of the same issuer, whose owner brings the token here. */
  async function stolen(issuer: LyingProvider, claims: JWTPayload): Promise<string> {
    return issuer.sign({ sub: 'thief', email: 'rich@x.test', email_verified: true, ...claims });
  }

  test.each([
    ['for another client', { aud: 'their app' }],
    ['for several, of which another one asked', { aud: ['web', 'their app'], azp: 'their app' }],
    ['for several, and nobody says who asked', { aud: ['web', 'their app'] }],
    ['for nobody', { aud: [] }],
    ['for a list that only looks like ours', { aud: 'web,ios' }],
    ['for a client whose name begins as ours', { aud: 'web2' }],
  ])('a token that another application has got signs nobody in: %s', async (_what, claims) => {
    const listed = { external_allowed_id_token_issuers: `${provider.issuer}/ web, ${provider.issuer} web` };
    const auth = await withGoogle();
    const { user } = await signedUp(auth, 'rich@x.test');
    const id_token = await stolen(provider, claims);
    const aud = [claims.aud].flat()[0] ?? '';
    for (const body of [{ provider: 'google' }, { issuer: provider.issuer, client_id: aud }]) {
      expect((await ask(auth, { ...body, id_token })).status).toBe(400);
    }
    const other = await withGoogle({ ...listed, external_google_enabled: false, external_google_url: null });
    for (const client_id of [aud, 'web', 'their app', 'web their app', ' ']) {
      expect((await ask(other, { issuer: provider.issuer, client_id, id_token })).status).toBe(400);
    }
    expect(await identitiesOf(user.id)).toEqual(['email']);
    await database.query('delete from auth.users');
  });

  test('a token that another application has got signs nobody in where the list names an issuer without our clients there', async () => {
    const auth = await withGoogle({
      external_allowed_id_token_issuers: provider.issuer,
      external_google_url: 'https://google.test',
    });
    const { user } = await signedUp(auth, 'rich@x.test');
    const id_token = await stolen(provider, { aud: 'their app' });
    const reply = await ask(auth, { issuer: provider.issuer, client_id: 'their app', id_token });
    expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(await identitiesOf(user.id)).toEqual(['email']);
    await database.query('delete from auth.users');
  });

  async function identitiesOf(id: string): Promise<readonly string[]> {
    const rows = await database.query<{ provider: string }>('select provider from auth.identities where user_id = $1', [
      id,
    ]);
    return rows.map((row) => row.provider);
  }
});

test('no address is asked that the configuration does not name, whatever request and token say', async () => {
  const auth = await withGoogle({ external_allowed_id_token_issuers: 'https://x.test web' });
  const other = await startLyingProvider('web');
  const id_token = await other.sign({ sub: '1', email: 'a@x.test', email_verified: true });
  const issuers = [other.issuer, `${other.issuer}#https://x.test`, `https://x.test@${other.issuer.slice(7)}`, ''];
  for (const issuer of issuers) {
    for (const name of ['google', 'azure', 'apple', 'x', issuer]) {
      expect((await ask(auth, { provider: name, issuer, client_id: 'web', id_token })).status).toBe(400);
    }
  }
  expect(other.asked).toEqual([]);
});

test('where the configuration names one tenant by its id, tokens of other tenants are not looked at', async () => {
  const tenant = '11111111-2222-4333-8444-555555555555';
  const base = `${provider.issuer}/${tenant}`;
  const document = provider.answers['/.well-known/openid-configuration'] as object;
  provider.answers[`/${tenant}/v2.0/.well-known/openid-configuration`] = { ...document, issuer: `${base}/v2.0` };
  const auth = await withGoogle({
    external_azure_enabled: true,
    external_azure_client_id: 'web',
    external_azure_url: base,
  });
  const bad = { status: 400, body: { error: 'invalid request', error_description: 'Bad ID token' } };
  const before = provider.asked.length;
  for (const prefix of ['https://login.microsoftonline.com/', 'https://sts.windows.net/']) {
    for (const path of ['', '99999999-2222-4333-8444-555555555555/v2.0', `${tenant}x/v2.0`, `x/${tenant}/`]) {
      const id_token = await person('foreign', { iss: prefix + path });
      expect(await ask(auth, { provider: 'azure', id_token })).toMatchObject(bad);
    }
  }
  expect(provider.asked.length).toBe(before);
  const own = await ask(auth, { provider: 'azure', id_token: await person('home', { iss: `${base}/v2.0` }) });
  expect(own.status).toBe(200);
});

test.each(['HS256', 'HS384', 'HS512'])('a token that is signed by %s with the public keys is refused', async (alg) => {
  const auth = await withGoogle();
  const id_token = await provider.sign({ sub: 'forged', email: 'forged@x.test', email_verified: true }, { alg });
  expect((await ask(auth, { provider: 'google', id_token })).body.error_description).toBe('Bad ID token');
  const bare = provider.pretend({ sub: 'forged' });
  expect((await ask(auth, { provider: 'google', id_token: bare })).body.error_description).toBe('Bad ID token');
  expect(await database.query(`select from auth.users where email = 'forged@x.test'`)).toEqual([]);
});
