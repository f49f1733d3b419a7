/**
 * Sign-in with a provider as a browser does it, redirect by redirect, and what the application reads from the last one.
 */
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { flowCookie, type TestAuth } from './auth-service.ts';
import { browse, type LastStop } from './browse.ts';
import type { OidcProvider } from './oidc-provider.ts';

/** The public address of the gateways under test; requests to it go to the one that listens. */
const publicUrl = 'http://localhost:54321';

/** Where providers send browsers back to. */
export const callbackUrl = `${publicUrl}/auth/v1/callback`;

/** The configuration that makes a provider of OpenID Connect ours. */
export function keycloakValues(
  { issuer, clientId, clientSecret }: Pick<OidcProvider, 'issuer' | 'clientId' | 'clientSecret'>,
  values: AuthValues = {},
): AuthValues {
  return {
    external_keycloak_enabled: true,
    external_keycloak_url: issuer,
    external_keycloak_client_id: clientId,
    external_keycloak_secret: clientSecret,
    uri_allow_list: 'https://ok.test/**',
    ...values,
  };
}

/** Follows redirects among gateway and providers until they lead to an application. */
export async function goThrough(auth: TestAuth, start: string): Promise<LastStop> {
  const atHome = (url: URL) => url.href.startsWith(callbackUrl);
  // The second step of linking is ours.
  const first = start.startsWith(publicUrl) ? `${auth.url}${start.slice(publicUrl.length)}` : start;
  // The browser that has asked for the linking.
  const flow = new URL(first).searchParams.get('flow');
  const stop = await browse(
    first,
    (url) => url.hostname !== 'app.test' && url.hostname !== 'ok.test' && !atHome(url),
    new Map(flow === null ? [] : [pairOf(flowCookie(flow))]),
  );
  if (!atHome(stop.location)) return stop;
  const cookie = pairOf(flowCookie(stop.location.searchParams.get('state') ?? ''));
  return browse(`${auth.url}${stop.location.href.slice(publicUrl.length)}`, () => false, new Map([cookie]));
}

function pairOf(cookie: string): [string, string] {
  return cookie.split('=') as [string, string];
}

/** Signs in as somebody at the provider. @param query Further parameters of the first address. */
export function signInAs(
  auth: TestAuth,
  name: string,
  query: Readonly<Record<string, string>> = {},
): Promise<LastStop> {
  const parameters = new URLSearchParams({ provider: 'keycloak', login_hint: name, ...query });
  return goThrough(auth, `${auth.url}/auth/v1/authorize?${parameters}`);
}

/** What stands behind `#`. */
export function fragmentOf({ location }: LastStop): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** What stands behind `?`. */
export function queryOf({ location }: LastStop): Record<string, string> {
  return Object.fromEntries(location.searchParams);
}

/** The user of a session that came with a redirect. */
export async function userOf(auth: TestAuth, stop: LastStop) {
  const { access_token: token, ...rest } = fragmentOf(stop);
  if (token === undefined) throw new Error(`There is no session: ${JSON.stringify(rest)}`);
  return (await auth.ask('/user', undefined, { token })).body;
}
