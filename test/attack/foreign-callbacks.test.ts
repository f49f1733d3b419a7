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

const challenge = { code_challenge: 'v'.repeat(43), code_challenge_method: 'plain' };

/** A stranger begins to link an identity, and sends the address to the victim. @returns That address, at this gateway. */
async function begin(auth: TestAuth, name: string, more: Readonly<Record<string, string>> = {}) {
  const { user, access_token: token } = await signedUp(auth, `${name}@x.test`);
  const query = new URLSearchParams({
    provider: 'keycloak',
    skip_http_redirect: 'true',
    login_hint: 'victim',
    ...more,
  });
  const { body } = await auth.ask(`/user/identities/authorize?${query}`, undefined, { token });
  const own = new URL(body.url);
  expect(`${own.origin}${own.pathname}`).toBe('http://localhost:54321/auth/v1/authorize');
  const sent = new URL(`${auth.url}${own.pathname}${own.search}`);
  return { user, token: token as string, sent, flow: own.searchParams.get('flow')! };
}

/** Nobody has the identity of the victim, who has no account and no session. */
async function expectNothingLinked(auth: TestAuth, id: string): Promise<void> {
  expect((await auth.askAdmin(`/admin/users/${id}`)).body.identities).toMatchObject([{ provider: 'email' }]);
  const victims = await database.query(
    `select i.user_id from auth.identities i where i.provider_id = 'victim'
    union all select u.id from auth.users u where u.email = 'victim@x.test'`,
  );
  const sessions = await database.query(
    `select s.id from auth.sessions s join auth.mfa_amr_claims a on a.session_id = s.id
    where s.user_id = $1::uuid and a.authentication_method = 'oauth'`,
    [id],
  );
  expect([victims, sessions]).toEqual([[], []]);
}

test("a person who opens somebody else's linking links nothing: PKCE, whoever has the code has no verifier", async () => {
  const auth = await serve();
  await database.query('delete from auth.users');
  const { user, sent } = await begin(auth, 'pkce', challenge);
  // The victim's browser goes the whole way, without a question: the provider knows the victim.
  const toProvider = await fetch(sent, { redirect: 'manual' });
  const cookie = toProvider.headers.get('set-cookie')!.split(';')[0]!;
  const answer = await answerTo(toProvider.headers.get('location')!);
  const atApplication = await comeBack(auth, answer, cookie);
  expect(atApplication.hash).not.toContain('access_token');
  const auth_code = atApplication.searchParams.get('code');
  await expectNothingLinked(auth, user.id);
  // What the client of the victim does with the code: it has no verifier of this sign-in.
  const exchange = (code_verifier: string) => auth.ask('/token?grant_type=pkce', { auth_code, code_verifier });
  expect((await exchange('w'.repeat(43))).body.code).toBe('bad_code_verifier');
  await expectNothingLinked(auth, user.id);
  auth.pass(301);
  expect((await exchange('v'.repeat(43))).body.code).toBe('flow_state_expired');
  await expectNothingLinked(auth, user.id);
});

test("a person who opens somebody else's linking links nothing: a page names the account, and only its button goes on", async () => {
  const auth = await serve();
  await database.query('delete from auth.users');
  const { user, token, sent, flow } = await begin(auth, 'thief');
  const opened = await fetch(sent, { redirect: 'manual' });
  expect([opened.status, opened.headers.get('location')]).toEqual([200, null]);
  expect(await opened.text()).toContain('thief@x.test');
  const cookie = opened.headers.get('set-cookie')!;
  expect(cookie).toMatch(/^pgreflect-page-[^;]+; Path=\/; Max-Age=300; HttpOnly; SameSite=Strict$/);
  expect(opened.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  // A page of the thief can send the form, with a button of the thief's own page, and with cookies that it makes appear.
  const ownPage = /name="page_secret" value="([^"]+)"/.exec(await (await fetch(sent)).text())?.[1] ?? '';
  const other = await begin(auth, 'accomplice', challenge);
  const planted = (await fetch(other.sent, { redirect: 'manual' })).headers.get('set-cookie')!.split(';')[0]!;
  for (const pageSecret of [ownPage, flow, other.flow, '']) {
    for (const cookies of [cookie.split(';')[0]!, planted, `${cookie.split(';')[0]}; ${planted}`, '']) {
      const body = new URLSearchParams({ provider: 'keycloak', flow, login_hint: 'victim', page_secret: pageSecret });
      const headers = { cookie: cookies, origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
      const sentForm = await fetch(`${auth.url}/auth/v1/authorize`, {
        method: 'POST',
        body,
        headers,
        redirect: 'manual',
      });
      expect([sentForm.status, sentForm.headers.get('location')]).toEqual([200, null]);
    }
  }
  // Nor may a page elsewhere ask with the thief's token and keep the cookie of the answer.
  const preflight = await fetch(`${auth.url}/auth/v1/user/identities/authorize?provider=keycloak`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://evil.test',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  });
  expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
  // The state is no secret of the thief's: at the provider and back without the cookie is not enough either.
  expect((await comeBack(auth, `?state=${flow}&code=good`, planted)).searchParams.get('error_code')).toBe(
    'bad_oauth_state',
  );
  await expectNothingLinked(auth, user.id);
  // Nor does it go on once the session that began it has ended.
  await auth.ask('/logout?scope=local', undefined, { method: 'POST', token });
  const late = await fetch(sent, { redirect: 'manual', headers: { cookie: flowCookie(flow) } });
  expect(new URL(late.headers.get('location')!).searchParams.get('error_code')).toBe('bad_oauth_state');
  await expectNothingLinked(auth, user.id);
});

test('with https the cookie is of this host alone, and comes back with a form of the provider where it sends one', async () => {
  const auth = await testAuth(
    database,
    keycloakValues(provider, {
      external_apple_enabled: true,
      external_apple_url: provider.issuer,
      external_apple_client_id: 'us',
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
