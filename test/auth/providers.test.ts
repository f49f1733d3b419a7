/**
 * Sign-in with a provider: the way there, the way back, and whose account it becomes. The provider is a real one.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth-config.ts';
import { createAuthDatabase, type TestAuth, testAuth } from '../support/auth-service.ts';
import { browse, type LastStop } from '../support/browse.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import type { TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let provider: OidcProvider;

/** The public address of the gateways under test; requests to it go to the one that listens. */
const publicUrl = 'http://localhost:54321';

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([`${publicUrl}/auth/v1/callback`], {});
});

/** A user of the provider with an address of that name. */
function person(name: string, more: Readonly<Record<string, unknown>> = {}) {
  provider.users[name] = { name: `${name} Smith`, email: `${name}@X.test`, email_verified: true, ...more };
  return { email: `${name}@x.test` };
}

function withProvider(values: AuthValues = {}): Promise<TestAuth> {
  return testAuth(database, {
    external_keycloak_enabled: true,
    external_keycloak_url: provider.issuer,
    external_keycloak_client_id: provider.clientId,
    external_keycloak_secret: provider.clientSecret,
    uri_allow_list: 'https://ok.test/**',
    ...values,
  });
}

/** Signs in as somebody at the provider, with the redirects of a browser. @param query Of the first address. */
async function signIn(auth: TestAuth, name: string, query: Readonly<Record<string, string>> = {}): Promise<LastStop> {
  const parameters = new URLSearchParams({ provider: 'keycloak', login_hint: name, ...query });
  return goThrough(auth, `${auth.url}/auth/v1/authorize?${parameters}`);
}

async function goThrough(auth: TestAuth, start: string): Promise<LastStop> {
  const stop = await browse(start, ({ origin }) => [auth.url, provider.issuer].includes(origin));
  if (stop.location.origin !== publicUrl) return stop;
  const { pathname, search } = stop.location;
  return browse(`${auth.url}${pathname}${search}`, () => false);
}

function fragment({ location }: LastStop): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

test('a new user of the provider comes back with a session, with the claims of the provider, confirmed', async () => {
  const auth = await withProvider();
  const { email } = person('new', { picture: 'https://x.test/new.png', preferred_username: 'newbie' });
  const stop = await signIn(auth, 'new', { redirect_to: 'https://ok.test/in?a=1' });
  expect([stop.status, stop.location.href.split('#')[0]]).toEqual([302, 'https://ok.test/in?a=1']);
  const session = fragment(stop);
  expect(Object.keys(session)).toEqual([
    ...['access_token', 'expires_at', 'expires_in', 'provider_refresh_token', 'provider_token', 'refresh_token'],
    ...['sb', 'token_type'],
  ]);
  const { body: user } = await auth.ask('/user', undefined, { token: session.access_token! });
  const identityData = {
    ...{ iss: provider.issuer, sub: 'new', provider_id: 'new', email, email_verified: true, phone_verified: false },
    ...{ name: 'new Smith', full_name: 'new Smith', preferred_username: 'newbie', user_name: 'newbie' },
    ...{ picture: 'https://x.test/new.png', avatar_url: 'https://x.test/new.png', custom_claims: {} },
  };
  expect(user).toMatchObject({
    ...{ email, role: 'authenticated', email_confirmed_at: expect.any(String), user_metadata: identityData },
    app_metadata: { provider: 'keycloak', providers: ['keycloak'] },
    identities: [{ provider: 'keycloak', id: 'new', email, identity_data: identityData }],
  });
  const again = fragment(await signIn(auth, 'new'));
  const { body: same } = await auth.ask('/user', undefined, { token: again.access_token! });
  expect(same).toMatchObject({ id: user.id, identities: [{ id: 'new' }] });
  expect(await auth.mails(email)).toEqual([]);
});
