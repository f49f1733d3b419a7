/**
 * Somebody begins a sign-in at a provider and has somebody else finish it, or the other way round.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { flowCookie, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { browse } from '../support/browse.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, keycloakValues } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let provider: OidcProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl, 'https://db.test/auth/v1/callback'], {
    victim: { name: 'Victim', email: 'victim@x.test', email_verified: true },
  });
});

const serve = (values: AuthValues = {}) =>
  testAuth(database, keycloakValues(provider, { security_manual_linking_enabled: true, ...values }));

/** What the provider answers after somebody has signed in there. */
async function answerTo(start: string): Promise<string> {
  const { location } = await browse(start, (url) => !url.href.startsWith(callbackUrl));
  return location.search;
}

/** Comes back in a browser with these cookies. */
async function comeBack(auth: TestAuth, answer: string, cookie: string) {
  const { headers } = await auth.ask(`/callback${answer}`, undefined, { key: null, headers: { cookie } });
  return new URL(headers.get('location')!);
}

test('a sign-in cannot be finished in another browser, and its own browser can still finish it', async () => {
  const auth = await serve();
  const begun = await auth.ask('/authorize?provider=keycloak&login_hint=victim', undefined, { key: null });
  const cookie = begun.headers.get('set-cookie')!;
  expect(cookie).toMatch(/^pgreflect-flow-[\w-]{16}=[\w-]{43}; Path=\/; Max-Age=300; HttpOnly; SameSite=Lax$/);
  const answer = await answerTo(begun.headers.get('location')!);
  for (const other of ['', flowCookie('5f7b4a39-1b8f-4f6e-8a4c-0c6c5a7d9e21')]) {
    const refused = await comeBack(auth, answer, other);
    expect(refused.searchParams.get('error_code')).toBe('bad_oauth_state');
    expect(refused.hash).not.toContain('access_token');
  }
  expect((await comeBack(auth, answer, cookie.split(';')[0]!)).hash).toContain('access_token');
});

test("a person led to the callback of somebody else's linking links no identity", async () => {
  const auth = await serve();
  const { user, access_token: token } = await signedUp(auth, 'thief@x.test');
  const path = '/user/identities/authorize?provider=keycloak&skip_http_redirect=true&login_hint=victim';
  const { body } = await auth.ask(path, undefined, { token });
  const own = new URL(body.url);
  expect(`${own.origin}${own.pathname}`).toBe('http://localhost:54321/auth/v1/authorize');
  const onTheWay = await fetch(`${auth.url}${own.pathname}${own.search}`, { redirect: 'manual' });
  const answer = await answerTo(onTheWay.headers.get('location')!);
  expect((await comeBack(auth, answer, '')).searchParams.get('error_code')).toBe('bad_oauth_state');
  const identities = async () => (await auth.askAdmin(`/admin/users/${user.id}`)).body.identities;
  expect(await identities()).toHaveLength(1);
  // Nor does it go on once the session that began it has ended.
  await auth.ask('/logout?scope=local', undefined, { method: 'POST', token });
  const cookie = onTheWay.headers.get('set-cookie')!.split(';')[0]!;
  expect((await comeBack(auth, answer, cookie)).searchParams.get('error_code')).toBe('bad_oauth_state');
  expect(await identities()).toHaveLength(1);
});

test('with https the cookie is of this host alone, and comes back with a form of the provider where it sends one', async () => {
  const auth = await testAuth(
    database,
    keycloakValues(provider, {
      ...{ external_apple_enabled: true, external_apple_url: provider.issuer, external_apple_client_id: 'us' },
      external_apple_secret: 'ours',
    }),
    { externalUrl: 'https://db.test' },
  );
  const cookieOf = async (name: string) =>
    (await auth.ask(`/authorize?provider=${name}`, undefined, { key: null })).headers.get('set-cookie');
  expect(await cookieOf('keycloak')).toMatch(/^__Host-pgreflect-flow-[^;]+; Path=\/; .*SameSite=Lax; Secure$/);
  expect(await cookieOf('apple')).toMatch(/^__Host-pgreflect-flow-[^;]+; Path=\/; .*SameSite=None; Secure$/);
});

test('one address can start a limited number of sign-ins', async () => {
  const auth = await serve({ rate_limit_token_refresh: 10 });
  const ask = () => auth.ask('/authorize?provider=keycloak', undefined, { key: null });
  const statuses = (await Promise.all(Array.from({ length: 35 }, ask))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 302)).toHaveLength(30);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
});
