/**
 * Sign-in with a provider as people do it: an application with the published client, in a browser, and a provider that asks
 * them who they are.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { openBrowser } from '../support/browser.ts';
import { type Forwarder, startForwarder } from '../support/forwarder.ts';
import { anonKey } from '../support/http.ts';
import { startLyingProvider } from '../support/lying-provider.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { keycloakValues } from '../support/provider-sign-in.ts';
import { clientScript, supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
let forwarder: Forwarder;
let gatewayUrl: string;
let provider: OidcProvider;
let appUrl: string;
let browser: Browser;

beforeAll(async () => {
  database = await createAuthDatabase();
  forwarder = await startForwarder();
  gatewayUrl = `http://localhost:${forwarder.port}`;
  provider = await startOidcProvider([`${gatewayUrl}/auth/v1/callback`], {
    ana: { name: 'Ana', email: 'ana@x.test', email_verified: true },
    ben: { name: 'Ben', email: 'ben@x.test', email_verified: true },
  });
  appUrl = await serveApp();
  browser = await openBrowser();
});

/** A page that has nothing but the client; the flow stands in its address. */
async function serveApp(): Promise<string> {
  const library = readFileSync(clientScript);
  const page = `<!doctype html><title>App</title><script src="/supabase.js"></script><script>
    const flowType = new URLSearchParams(location.search).get('flow') ?? 'implicit';
    window.client = supabase.createClient('${gatewayUrl}', '${anonKey}', { auth: { flowType } });
  </script>`;
  const server = createServer((request, response) => {
    response.end(request.url === '/supabase.js' ? library : page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close().closeAllConnections());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

async function startGateway(): Promise<TestAuth> {
  const values = keycloakValues(provider, { site_url: appUrl, security_manual_linking_enabled: true });
  const more = { external_anonymous_users_enabled: true };
  const auth = await testAuth(database, { ...values, ...more }, { externalUrl: gatewayUrl });
  forwarder.target = new URL(auth.url);
  return auth;
}

// biome-ignore lint/suspicious/noExplicitAny: the client in the page has no types here
declare const window: { client: any };

async function openApp(flow: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${appUrl}/?flow=${flow}`);
  return page;
}

/** The person at the provider. */
async function signInThere(page: Page, name: string): Promise<void> {
  await page.waitForURL(`${provider.issuer}/**`);
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** What the client in the page has, once it has read the address. */
async function sessionIn(page: Page) {
  await page.waitForURL(`${appUrl}/**`);
  const { data } = await page.evaluate(() => window.client.auth.getSession());
  return data.session;
}

test.each(['implicit', 'pkce'])(
  'signInWithOAuth, %s: from the application to the provider and back, with a session',
  async (flow) => {
    await startGateway();
    const page = await openApp(flow);
    await page.evaluate(
      (redirectTo) =>
        window.client.auth.signInWithOAuth({ provider: 'keycloak', options: { redirectTo, scopes: 'calendar' } }),
      `${appUrl}/?flow=${flow}`,
    );
    await signInThere(page, 'ana');
    expect(await sessionIn(page)).toMatchObject({
      provider_token: expect.any(String),
      provider_refresh_token: expect.any(String),
      user: { email: 'ana@x.test', app_metadata: { provider: 'keycloak' }, user_metadata: { full_name: 'Ana' } },
    });
    expect(page.url()).not.toContain('access_token');
    const { data } = await page.evaluate(() => window.client.auth.getUser());
    expect(data.user.email).toBe('ana@x.test');
  },
);

test('signInWithOAuth: what the provider refuses the client reads from the address', async () => {
  await startGateway();
  const page = await openApp('implicit');
  await page.evaluate(() => window.client.auth.signInWithOAuth({ provider: 'keycloak' }));
  await signInThere(page, 'nobody');
  await page.waitForURL(`${appUrl}/**`);
  const { error } = await page.evaluate(async () => {
    const { error } = await window.client.auth.initialize();
    return { error: { message: error.message, details: error.details } };
  });
  expect(error).toMatchObject({ message: 'There is no nobody: go away', details: { error: 'access_denied' } });
});

test('linkIdentity: an anonymous user becomes one with a provider', async () => {
  await startGateway();
  const page = await openApp('pkce');
  const { data: before } = await page.evaluate(() => window.client.auth.signInAnonymously());
  await page.evaluate(
    (redirectTo) => window.client.auth.linkIdentity({ provider: 'keycloak', options: { redirectTo } }),
    `${appUrl}/?flow=pkce`,
  );
  await signInThere(page, 'ben');
  await page.waitForURL(`${appUrl}/**`);
  await page.evaluate(() => window.client.auth.initialize());
  const { user } = await sessionIn(page);
  expect(user).toMatchObject({ id: before.user.id, email: 'ben@x.test', is_anonymous: false });
  const { data } = await page.evaluate(() => window.client.auth.getUserIdentities());
  expect(data.identities).toMatchObject([{ provider: 'keycloak', id: 'ben' }]);
});

test('linkIdentity, implicit: one press on the page that names the account', async () => {
  await startGateway();
  provider.users.cleo = { name: 'Cleo', email: 'cleo@x.test', email_verified: true };
  const page = await openApp('implicit');
  const { data: before } = await page.evaluate(() => window.client.auth.signInAnonymously());
  await page.evaluate(
    (redirectTo) => window.client.auth.linkIdentity({ provider: 'keycloak', options: { redirectTo } }),
    `${appUrl}/?flow=implicit`,
  );
  await page.waitForURL(`${gatewayUrl}/**`);
  expect(await page.getByRole('main').textContent()).toContain('a guest without an email address');
  await page.getByRole('button', { name: 'Link' }).click();
  await signInThere(page, 'cleo');
  const { user } = await sessionIn(page);
  expect(user).toMatchObject({ id: before.user.id, email: 'cleo@x.test', identities: [{ provider: 'keycloak' }] });
});

test('signInWithIdToken and linkIdentity with a token: without a browser', async () => {
  const issuer = await startLyingProvider('ios');
  const auth = await testAuth(database, {
    external_google_enabled: true,
    external_google_url: issuer.issuer,
    external_google_client_id: 'ios',
    security_manual_linking_enabled: true,
  });
  const supabase = supabaseClient(auth.url);
  const sign = (sub: string) => issuer.sign({ sub, email: `${sub}@native.test`, email_verified: true });
  const signedIn = await supabase.auth.signInWithIdToken({ provider: 'google', token: await sign('one') });
  expect(signedIn).toMatchObject({ error: null, data: { user: { email: 'one@native.test' } } });
  auth.pass(1);
  const linked = await supabase.auth.linkIdentity({ provider: 'google', token: await sign('two') });
  expect([linked.error, linked.data.user?.identities.map(({ id }: { id: string }) => id)]).toEqual([
    null,
    ['one', 'two'],
  ]);
  const refused = await supabase.auth.signInWithIdToken({ provider: 'google', token: issuer.pretend({ sub: 'one' }) });
  expect(refused.error).toMatchObject({ message: 'Bad ID token', status: 400 });
});
