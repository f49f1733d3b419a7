/**
 * The two routes of a sign-in with a provider, taken apart: what goes to the provider and what may come back.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { type AuthReply, type TestAuth, testAuth } from '../support/auth-service.ts';
import { browse } from '../support/browse.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, fragmentOf, goThrough, keycloakValues, queryOf, signInAs } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let provider: OidcProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl], {
    ana: { name: 'Ana', email: 'ana@x.test', email_verified: true },
  });
});

function withProvider(values: AuthValues = {}): Promise<TestAuth> {
  return testAuth(database, keycloakValues(provider, values));
}

const noKey = { key: null };

async function authorize(auth: TestAuth, parameters: Readonly<Record<string, string>> = {}): Promise<AuthReply> {
  return auth.ask(`/authorize?${new URLSearchParams({ provider: 'keycloak', ...parameters })}`, undefined, noKey);
}

/** The address at the provider. */
async function startOf(auth: TestAuth, parameters: Readonly<Record<string, string>> = {}): Promise<URL> {
  return new URL((await authorize(auth, parameters)).headers.get('location')!);
}

async function come(auth: TestAuth, answer: Readonly<Record<string, string>>) {
  const { status, headers } = await auth.ask(`/callback?${new URLSearchParams(answer)}`, undefined, noKey);
  return { status, location: new URL(headers.get('location')!) };
}

test('the address at the provider has our client, our callback, a state, PKCE and a nonce of its own', async () => {
  const auth = await withProvider();
  const [one, two] = [await startOf(auth), await startOf(auth)];
  expect(`${one.origin}${one.pathname}`).toBe(`${provider.issuer}/auth`);
  const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const random = expect.stringMatching(/^[\w-]{43}$/);
  expect(Object.fromEntries(one.searchParams)).toEqual({
    client_id: provider.clientId,
    redirect_uri: callbackUrl,
    response_type: 'code',
    scope: 'openid email profile',
    state: uuid,
    code_challenge: random,
    code_challenge_method: 'S256',
    nonce: random,
  });
  for (const name of ['state', 'code_challenge', 'nonce']) {
    expect(one.searchParams.get(name)).not.toBe(two.searchParams.get(name));
  }
});

test('scopes are added, parameters for the provider get through, and those that are ours do not', async () => {
  const auth = await withProvider();
  const { searchParams } = await startOf(auth, {
    scopes: 'calendar email',
    prompt: 'login',
    login_hint: 'ana',
    nonce: 'of the application',
    client_id: 'evil',
    client_secret: 'x',
    redirect_uri: 'https://evil.test',
    response_type: 'token',
    state: 'x',
    Code_Verifier: 'x',
    request: 'x',
    request_uri: 'https://evil.test',
    apikey: 'x',
    skip_http_redirect: 'true',
    redirect_to: 'https://ok.test/x',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'plain',
  });
  expect(Object.fromEntries(searchParams)).toMatchObject({
    client_id: provider.clientId,
    redirect_uri: callbackUrl,
    response_type: 'code',
    code_challenge_method: 'S256',
    scope: 'openid email profile calendar',
    prompt: 'login',
    login_hint: 'ana',
    nonce: 'of the application',
  });
  expect([...searchParams.keys()].sort()).toEqual([
    ...['client_id', 'code_challenge', 'code_challenge_method', 'login_hint', 'nonce', 'prompt', 'redirect_uri'],
    ...['response_type', 'scope', 'state'],
  ]);
  // The nonce of an application is checked like one of ours.
  expect(fragmentOf(await signInAs(auth, 'ana', { nonce: 'of the application' }))).toHaveProperty('access_token');
});

test('providers that are unknown, switched off or half configured are refused with JSON', async () => {
  const auth = await withProvider({
    external_gitlab_enabled: true,
    external_apple_enabled: true,
    external_apple_client_id: 'us',
    external_keycloak_url: null,
  });
  const unsupported = [
    ['', 'provider "" could not be found'],
    ['custom:x', 'provider "custom:x" could not be found'],
    ['toString', 'provider "toString" could not be found'],
    ['facebook', 'provider "facebook" could not be found'],
    ['google', 'provider is not enabled'],
    ['gitlab', 'missing OAuth client ID'],
    ['apple', 'missing OAuth secret'],
    ['keycloak', 'missing URL of the provider'],
  ];
  for (const [name = '', reason] of unsupported) {
    expect(await authorize(auth, { provider: name })).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', message: `Unsupported provider: ${reason}` },
    });
  }
  const halfPkce = await authorize(await withProvider(), { code_challenge: 'x' });
  expect(halfPkce).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', message: expect.stringMatching(/^PKCE flow requires/) },
  });
});

test('a state is good for one answer, for five minutes, and for no other sign-in', async () => {
  const auth = await withProvider();
  const begin = await startOf(auth, { login_hint: 'ana' });
  const { location } = await browse(begin.href, (url) => !url.href.startsWith(callbackUrl));
  const answer = Object.fromEntries(location.searchParams);
  const [first, ...others] = await Promise.all([come(auth, answer), come(auth, answer), come(auth, answer)]);
  const all = [first!, ...others].map((stop) => queryOf(stop).error_code ?? 'good').sort();
  expect(all.filter((code) => code === 'good')).toHaveLength(1);
  expect((await come(auth, answer)).location.origin).toBe('https://app.test');
  const bad = { error: 'invalid_request', error_code: 'bad_oauth_state' };
  const replay = await come(auth, answer);
  expect([replay.status, queryOf(replay), replay.location.hash]).toMatchObject([303, bad, '']);
  const old = await startOf(auth);
  auth.pass(301);
  const late = await come(auth, { state: old.searchParams.get('state')!, code: 'x' });
  expect([late.status, queryOf(late)]).toMatchObject([303, { ...bad, error_description: 'OAuth state has expired' }]);
});

test('a state is good for one try: whoever guesses a code cannot go on guessing', async () => {
  const auth = await withProvider();
  const begin = await startOf(auth, { login_hint: 'ana' });
  const { location } = await browse(begin.href, (url) => !url.href.startsWith(callbackUrl));
  const answer = Object.fromEntries(location.searchParams);
  expect(queryOf(await come(auth, { ...answer, code: 'guessed' })).error).toBe('server_error');
  expect(queryOf(await come(auth, answer))).toMatchObject({
    error: 'access_denied',
    error_code: 'oauth_client_state_not_found',
  });
});

test('in the PKCE flow a state that has given a code is used up, too', async () => {
  const auth = await withProvider();
  const pkce = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' };
  const begin = await startOf(auth, { login_hint: 'ana', ...pkce });
  const { location } = await browse(begin.href, (url) => !url.href.startsWith(callbackUrl));
  const answer = Object.fromEntries(location.searchParams);
  expect(queryOf(await come(auth, answer))).toHaveProperty('code');
  const again = await come(auth, answer);
  expect([again.status, queryOf(again)]).toMatchObject([303, { error_code: 'flow_state_already_used' }]);
});

test('without a state that we know the browser goes to the site, with the reason in the query', async () => {
  const auth = await withProvider();
  for (const [state, error_code] of [
    ['', 'bad_oauth_callback'],
    ['nonsense', 'bad_oauth_state'],
    ['00000000-0000-4000-8000-000000000000', 'bad_oauth_state'],
  ] as const) {
    const stop = await come(auth, { code: 'x', redirect_to: 'https://ok.test/x', ...(state && { state }) });
    expect([stop.status, stop.location.origin, stop.location.hash]).toEqual([303, 'https://app.test', '']);
    expect(queryOf(stop)).toEqual({ error: 'invalid_request', error_code, error_description: expect.any(String) });
  }
});

test('what the provider refuses the application hears in its words', async () => {
  const auth = await withProvider();
  const stop = await signInAs(auth, 'nobody', { redirect_to: 'https://ok.test/x?a=1#old' });
  const told = { error: 'access_denied', error_description: 'There is no nobody: go away' };
  expect([stop.status, queryOf(stop), fragmentOf(stop)]).toEqual([302, { a: '1', ...told }, { ...told, sb: '' }]);
  const state = (await startOf(auth)).searchParams.get('state')!;
  const huge = await come(auth, { state, error: 'e'.repeat(3000), error_description: 'd'.repeat(9000) });
  expect(huge.location.href.length).toBeLessThan(5000);
});

test('an answer without a code, or from a provider that is no longer served, leads back with the reason', async () => {
  const auth = await withProvider();
  const redirect_to = 'https://ok.test/x';
  const state = async () => (await startOf(auth, { redirect_to })).searchParams.get('state')!;
  const empty = await come(auth, { state: await state() });
  expect([empty.status, `${empty.location.origin}${empty.location.pathname}`]).toEqual([302, redirect_to]);
  expect(queryOf(empty)).toMatchObject({ error: 'invalid_request', error_code: 'bad_oauth_callback' });
  const begun = await state();
  const later = await withProvider({ external_keycloak_enabled: false });
  expect(queryOf(await come(later, { state: begun, code: 'x' }))).toMatchObject({
    error: 'invalid_request',
    error_code: 'oauth_provider_not_supported',
  });
});

test('what another program stored is refused where something is missing, old or of another provider', async () => {
  const auth = await withProvider();
  const ofState = 'where id = (select f.oauth_client_state_id from auth.flow_state f where f.id = $1::uuid)';
  for (const [change, code] of [
    ['update auth.flow_state set oauth_client_state_id = null where id = $1::uuid', 'oauth_invalid_state'],
    [`update auth.oauth_client_states set provider_type = 'google' ${ofState}`, 'oauth_invalid_state'],
    [
      `update auth.oauth_client_states set created_at = created_at - interval '6 minutes' ${ofState}`,
      'oauth_client_state_expired',
    ],
    [`delete from auth.oauth_client_states ${ofState}`, 'oauth_client_state_not_found'],
  ] as const) {
    const state = (await startOf(auth)).searchParams.get('state')!;
    await database.query(change, [state]);
    expect(queryOf(await come(auth, { state, code: 'x' })).error_code).toBe(code);
  }
});

test('a sign-in leads only where the configuration allows it, at its beginning and at its end', async () => {
  const auth = await withProvider();
  for (const trick of ['https://evil.test/', 'https://app.test@evil.test/', '//evil.test', 'javascript:alert(1)']) {
    const stop = await signInAs(auth, 'ana', { redirect_to: trick });
    expect(stop.location.origin).toBe('https://app.test');
  }
  const begin = await startOf(auth, { login_hint: 'ana', redirect_to: 'https://ok.test/x' });
  const stricter = await withProvider({ uri_allow_list: '' });
  expect((await goThrough(stricter, begin.href)).location.origin).toBe('https://app.test');
  // Where the callback is told to go makes no difference.
  const state = (await startOf(auth, { redirect_to: 'https://ok.test/x' })).searchParams.get('state')!;
  const told = await come(auth, { state, error: 'x', redirect_to: 'https://ok.test/other' });
  expect(told.location.pathname).toBe('/x');
});

test('answers to browsers are not cached and send no referrer', async () => {
  const auth = await withProvider();
  const start = await authorize(auth);
  const state = new URL(start.headers.get('location')!).searchParams.get('state');
  const back = await auth.ask(`/callback?state=${state}&error=x`, undefined, noKey);
  for (const { headers } of [start, back]) {
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
  }
});

test('no secret, no token and no code of a provider reaches the log', async () => {
  const auth = await withProvider();
  const begin = await startOf(auth, { login_hint: 'ana' });
  const { location } = await browse(begin.href, (url) => !url.href.startsWith(callbackUrl));
  const session = fragmentOf(await come(auth, Object.fromEntries(location.searchParams)));
  // A code that the provider does not know is logged as a failure.
  const state = (await startOf(auth)).searchParams.get('state')!;
  const failed = await come(auth, { state, code: 'a code that nobody gave', iss: provider.issuer });
  expect(queryOf(failed)).toEqual({
    error: 'server_error',
    error_code: 'unexpected_failure',
    error_description: 'Unable to exchange external code: a co',
  });
  const log = auth.observations.map((observation) =>
    observation.kind === 'masked_error' ? describe(observation.error) : JSON.stringify(observation),
  );
  expect(log.join()).toContain('invalid_grant');
  const { access_token, refresh_token, provider_token, provider_refresh_token } = session;
  const { clientSecret } = provider;
  for (const secret of [
    ...[access_token!, refresh_token!, provider_token!, provider_refresh_token!, clientSecret, 'ana@x.test'],
    ...[location.searchParams.get('code')!, 'a code that nobody gave', state],
  ]) {
    expect(log.join()).not.toContain(secret);
  }
});

/** All that a logger could find in an error. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return [error.stack, JSON.stringify(error, Object.getOwnPropertyNames(error)), describe(error.cause ?? '')].join();
}
