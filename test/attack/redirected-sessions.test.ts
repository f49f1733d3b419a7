/**
 * A stranger names where the session of somebody else is sent. The promise: to an address of the project alone. What
 * counts is where the opened link, and the way back from a provider, end with tokens.
 */
import { expect, test } from 'vitest';
import { fragmentOf, open, signedUp, testAuth } from '../support/auth-service.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { callbackUrl, keycloakValues, signInAs } from '../support/provider-sign-in.ts';

const database = await createAuthDatabase();
const site = 'https://app.test';
const allowed = 'https://ok.test/mine/**,com.acme.app://**';

const tricks = [
  'evilapp://127.0.0.1/',
  'evilapp://[::1]/cb',
  'intent://127.0.0.1/',
  'https://ok.test/mine/../evil/',
  'https://ok.test/mine/%2e%2e/evil/',
  'https://ok.test/mine/.%2E/evil/',
  'https://ok.test/mine/..%2fevil/',
];

test.each(tricks)('the link of an email does not bring a session to %s', async (trick) => {
  const auth = await testAuth(database, { uri_allow_list: allowed, smtp_max_frequency: 0 });
  const email = `${tricks.indexOf(trick)}@victim.test`;
  await signedUp(auth, email);
  await auth.ask(`/otp?redirect_to=${encodeURIComponent(trick)}`, { email });
  const { link } = await auth.message(email);
  const { location } = await open(link);
  expect(location).toMatch(/^https:\/\/app\.test\/?#access_token=/);
  // Neither does the link with another address in it.
  await auth.ask('/otp', { email });
  const forged = new URL((await auth.message(email)).link);
  forged.searchParams.set('redirect_to', trick);
  expect((await open(forged.href)).location.startsWith(site)).toBe(true);
});

test('a provider does not bring a session and its own tokens there', async () => {
  const provider = await startOidcProvider([callbackUrl], {});
  provider.users.vera = { email: 'vera@victim.test', email_verified: true };
  const auth = await testAuth(database, keycloakValues(provider, { uri_allow_list: allowed }));
  for (const trick of tricks) {
    const { location } = await signInAs(auth, 'vera', { redirect_to: trick });
    expect(location.origin).toBe(site);
  }
});

test('a listed app, a path below a listed one and a web server on loopback get it', async () => {
  const auth = await testAuth(database, { uri_allow_list: allowed, smtp_max_frequency: 0 });
  const email = 'own@victim.test';
  await signedUp(auth, email);
  for (const redirect of ['com.acme.app://cb', 'https://ok.test/mine/x/../y', 'http://127.0.0.1:4567/cb']) {
    await auth.ask(`/otp?redirect_to=${encodeURIComponent(redirect)}`, { email });
    const { location } = await open((await auth.message(email)).link);
    expect(location.startsWith(`${redirect}#`)).toBe(true);
    expect(fragmentOf(location).access_token).toBeDefined();
  }
});
