/**
 * Further identities of a provider for a user who is signed in.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { flowCookie, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, fragmentOf, goThrough, keycloakValues, queryOf, userOf } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let provider: OidcProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl], {});
});

function person(name: string, more: Readonly<Record<string, unknown>> = {}): string {
  provider.users[name] = { name: `${name} Smith`, email: `${name}@x.test`, email_verified: true, ...more };
  return `${name}@x.test`;
}

function withLinking(values: AuthValues = {}): Promise<TestAuth> {
  return testAuth(database, {
    ...keycloakValues(provider),
    security_manual_linking_enabled: true,
    external_anonymous_users_enabled: true,
    ...values,
  });
}

const linkPath = '/user/identities/authorize?provider=keycloak&skip_http_redirect=true';

/** Links as a user with the token. */
async function link(auth: TestAuth, token: string, name: string) {
  const { body } = await auth.ask(`${linkPath}&login_hint=${name}`, undefined, { token });
  return goThrough(auth, body.url);
}

function names(identities: readonly { readonly provider: string; readonly id: string }[]): readonly string[] {
  return identities.map(({ provider }) => provider);
}

test('an identity is linked whatever its address, its owner hears of it, and it signs in from then on', async () => {
  const auth = await withLinking({ mailer_notifications_identity_linked_enabled: true });
  const { user, access_token: token } = await signedUp(auth, 'linker@x.test');
  person('elsewhere', { email: 'elsewhere@y.test', email_verified: false });
  const linked = await userOf(auth, await link(auth, token, 'elsewhere'));
  expect(linked).toMatchObject({
    id: user.id,
    email: 'linker@x.test',
    app_metadata: { provider: 'email', providers: ['email', 'keycloak'] },
    identities: [{ provider: 'email' }, { provider: 'keycloak', email: 'elsewhere@y.test' }],
  });
  const kinds = async () => (await auth.messages()).filter(({ to }) => to.startsWith('linker')).map(({ kind }) => kind);
  await expect.poll(kinds).toEqual(['identity_linked_notification', 'confirmation']);
  expect((await auth.message('linker@x.test')).text).toContain('keycloak');
  const [event] = await database.query<{ ip_address: string }>(
    `select ip_address from auth.audit_log_entries
    where payload ->> 'action' = 'identity_linked' and payload ->> 'actor_id' = $1`,
    [user.id],
  );
  expect(event?.ip_address).toBe('127.0.0.1');
  const { headers } = await auth.ask('/authorize?provider=keycloak&login_hint=elsewhere', undefined, { key: null });
  expect(await userOf(auth, await goThrough(auth, headers.get('location')!))).toMatchObject({ id: user.id });
});

test('linking needs a user, and the configuration has to allow it', async () => {
  const auth = await withLinking();
  expect((await auth.ask(linkPath)).body.code).toBe('no_authorization');
  const { access_token: token } = await signedUp(auth, 'asks@x.test');
  // Without the parameter the browser itself is sent on.
  const redirect = await auth.ask('/user/identities/authorize?provider=keycloak', undefined, { token });
  expect([
    redirect.status,
    redirect.headers.get('location')?.startsWith(callbackUrl.replace('callback', 'authorize')),
  ]).toEqual([302, true]);
  const strict = await withLinking({ security_manual_linking_enabled: false });
  const refused = await strict.ask(linkPath, undefined, { token });
  expect(refused).toMatchObject({ status: 404, body: { code: 'manual_linking_disabled' } });
});

test('a linking that began at one provider cannot be finished at another', async () => {
  const auth = await withLinking({
    external_google_enabled: true,
    external_google_client_id: 'us',
    external_google_secret: 'ours',
    external_google_url: provider.issuer,
  });
  const { access_token: token } = await signedUp(auth, 'elsewhere@x.test');
  const address = new URL((await auth.ask(linkPath, undefined, { token })).body.url);
  const start = (name: string) => {
    address.searchParams.set('provider', name);
    const cookie = flowCookie(address.searchParams.get('flow') ?? '');
    return auth.ask(`/authorize${address.search}`, undefined, { key: null, headers: { cookie } });
  };
  const refused = new URL((await start('google')).headers.get('location') ?? '');
  expect([refused.origin, refused.searchParams.get('error_code')]).toEqual(['https://app.test', 'bad_oauth_state']);
  expect((await start('keycloak')).headers.get('location')).toMatch(new RegExp(`^${provider.issuer}`));
});

test('a linking that began with a session that a new password has ended is refused', async () => {
  const auth = await withLinking();
  const { access_token: stolen } = await signedUp(auth, 'robbed@x.test');
  const { body: again } = await auth.ask('/token?grant_type=password', {
    email: 'robbed@x.test',
    password: 'a good password',
  });
  person('thief');
  const { body } = await auth.ask(`${linkPath}&login_hint=thief`, undefined, { token: stolen });
  const changed = { password: 'another password' };
  await auth.ask('/user', changed, { method: 'PUT', token: again.access_token });
  expect(queryOf(await goThrough(auth, body.url)).error_code).toBe('bad_oauth_state');
  const { body: user } = await auth.ask('/user', undefined, { token: again.access_token });
  expect(names(user.identities)).toHaveLength(1);
});

test('a linking that began before the user had a second factor is refused afterwards', async () => {
  const auth = await withLinking();
  const { access_token: stolen } = await signedUp(auth, 'careful@x.test');
  const signIn = { email: 'careful@x.test', password: 'a good password' };
  const { body: own } = await auth.ask('/token?grant_type=password', signIn);
  person('thief2');
  const { body } = await auth.ask(`${linkPath}&login_hint=thief2`, undefined, { token: stolen });
  const factors = factorsOf(auth, own.access_token);
  const app = await factors.enrollApp('phone');
  const { body: raised } = await factors.answer(app.id, app.code());
  const stop = await goThrough(auth, body.url);
  const { body: user } = await auth.ask('/user', undefined, { token: raised.access_token });
  expect(names(user.identities)).toEqual(['email']);
  expect(queryOf(stop).error_code).toBe('bad_oauth_state');
});

test('a new password can be set without the tables for linkings', async () => {
  const own = await createAuthDatabase();
  await own.query('alter table auth.flow_state drop column linking_target_id');
  const auth = await testAuth(own);
  const { access_token: token } = await signedUp(auth, 'earlier@x.test');
  expect((await auth.ask('/user', { password: 'another password' }, { method: 'PUT', token })).status).toBe(200);
});

const verifier = 'v'.repeat(43);
const challenge = `&code_challenge=${verifier}&code_challenge_method=plain`;

/** The code of a linking in the PKCE flow. */
async function linkingCode(auth: TestAuth, token: string, name: string) {
  const { body } = await auth.ask(`${linkPath}${challenge}&login_hint=${name}`, undefined, { token });
  return queryOf(await goThrough(auth, body.url));
}

const exchange = (auth: TestAuth, auth_code: string | undefined) =>
  auth.ask('/token?grant_type=pkce', { auth_code, code_verifier: verifier });

test('in the PKCE flow the exchange of the code links, once, and only while the session that asked lasts', async () => {
  const auth = await withLinking();
  const { user, access_token: token } = await signedUp(auth, 'exchanger@x.test');
  person('exchanged');
  const { code } = await linkingCode(auth, token, 'exchanged');
  expect((await auth.ask('/user', undefined, { token })).body.identities).toHaveLength(1);
  const { body } = await exchange(auth, code);
  expect(body).toMatchObject({
    provider_token: expect.any(String),
    provider_refresh_token: expect.any(String),
    user: { id: user.id, identities: [{ provider: 'email' }, { provider: 'keycloak', id: 'exchanged' }] },
  });
  expect((await exchange(auth, code)).body.code).toBe('flow_state_not_found');
  // What can be known before is told by the redirect.
  expect((await linkingCode(auth, token, 'exchanged')).error_code).toBe('identity_already_exists');
  person('meanwhile');
  const [first, second] = [await linkingCode(auth, token, 'meanwhile'), await linkingCode(auth, token, 'meanwhile')];
  expect((await exchange(auth, first.code)).status).toBe(200);
  expect(await exchange(auth, second.code)).toMatchObject({ status: 422, body: { code: 'identity_already_exists' } });
  person('toolate');
  const late = await linkingCode(auth, token, 'toolate');
  await auth.ask('/logout?scope=local', undefined, { method: 'POST', token });
  expect((await exchange(auth, late.code)).body.code).toBe('flow_state_not_found');
  expect(await database.query(`select from auth.identities where provider_id = 'toolate'`)).toEqual([]);
  expect(await database.query('select from auth.pgreflect_pending_identities')).toEqual([]);
});

test('in the PKCE flow an address that is not verified is linked by the exchange, and has to be confirmed', async () => {
  for (const mailer_delivery of ['queue', 'direct'] as const) {
    const auth = await withLinking({ mailer_delivery });
    const { body: session } = await auth.ask('/signup', {});
    const email = person(`doubtful-${mailer_delivery}`, { email_verified: false });
    const { code } = await linkingCode(auth, session.access_token, `doubtful-${mailer_delivery}`);
    expect(await auth.messages(email)).toEqual([]);
    expect(await exchange(auth, code)).toMatchObject({ status: 422, body: { code: 'email_not_confirmed' } });
    const { body: pending } = await auth.ask('/user', undefined, { token: session.access_token });
    expect([pending.email, pending.email_confirmed_at, names(pending.identities)]).toEqual([
      ...[email, undefined],
      ['keycloak'],
    ]);
    expect((await auth.messages(email)).map(({ kind }) => kind)).toEqual(['confirmation']);
  }
});

/** What a browser without cookies gets for the address. */
async function look(auth: TestAuth, url: string, headers: Readonly<Record<string, string>> = {}) {
  const { pathname, search } = new URL(url);
  const reply = await fetch(`${auth.url}${pathname}${search}`, { redirect: 'manual', headers });
  const text = await reply.text();
  const fields = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
  return { reply, text, fields: new URLSearchParams(fields.map(([, name = '', value = '']) => [name, value])) };
}

test('a page asks a browser that may be of somebody else, and its button goes on as the address would', async () => {
  const auth = await withLinking();
  const { user, access_token: token } = await signedUp(auth, 'asked@x.test');
  person('pressed');
  const { body } = await auth.ask(`${linkPath}&login_hint=pressed&scopes=calendar`, undefined, { token });
  const { reply, text, fields } = await look(auth, body.url);
  expect(reply.status).toBe(200);
  expect(text).toContain('<h1>Link your keycloak account?</h1>');
  expect(text).toContain('sign in with it to https://app.test as asked@x.test.');
  expect(text.match(/<button|<script|<form/g)).toEqual(['<form', '<button']);
  expect(reply.headers.get('content-security-policy')).toMatch(/default-src 'none'.*form-action 'self' http: https:;/);
  const cookie = reply.headers.get('set-cookie')!.split(';')[0]!;
  const pressed = await fetch(`${auth.url}/auth/v1/authorize?`, {
    method: 'POST',
    body: fields,
    headers: { cookie },
    redirect: 'manual',
  });
  const there = new URL(pressed.headers.get('location')!);
  expect([pressed.status, there.origin, there.searchParams.get('scope')]).toEqual([
    ...[303, provider.issuer, 'openid email profile calendar'],
  ]);
  expect(pressed.headers.get('set-cookie')).toMatch(/^pgreflect-flow-/);
  const linked = await userOf(auth, await goThrough(auth, there.href));
  expect([linked.id, names(linked.identities)]).toEqual([user.id, ['email', 'keycloak']]);
});

test('no page asks the browser that got the answer to the request of the session', async () => {
  const auth = await withLinking();
  const { access_token: token } = await signedUp(auth, 'samesite@x.test');
  const { body, headers } = await auth.ask(linkPath, undefined, { token });
  const cookie = headers.get('set-cookie')!.split(';')[0]!;
  const { reply } = await look(auth, body.url, { cookie });
  expect([reply.status, reply.headers.get('location')?.startsWith(provider.issuer)]).toEqual([302, true]);
});

test('the page is in the language of the browser, names a guest as one, and contains nothing of the address as markup', async () => {
  const auth = await withLinking();
  const { body: session } = await auth.ask('/signup', {});
  const { body } = await auth.ask(linkPath, undefined, { token: session.access_token });
  const hostile = encodeURIComponent('"><script>alert(1)</script>');
  const { text } = await look(auth, `${body.url}&prompt=${hostile}&${hostile}=1`, { 'accept-language': 'de-CH, en' });
  expect(text).toContain('als Gast ohne E-Mail-Adresse anmelden.');
  expect(text).toContain('<html lang="de">');
  expect(text).not.toContain('<script');
  const unknown = await look(auth, body.url.replace(/flow=[^&]*/, 'flow=5f7b4a39-1b8f-4f6e-8a4c-0c6c5a7d9e21'));
  expect(unknown.reply.headers.get('location')).toContain('error_code=bad_oauth_state');
});

test('an identity that is linked already is refused, to this user or to another', async () => {
  const auth = await withLinking();
  const { access_token: token } = await signedUp(auth, 'first@x.test');
  person('taken');
  expect(fragmentOf(await link(auth, token, 'taken'))).toHaveProperty('access_token');
  const again = await link(auth, token, 'taken');
  const refusal = { error: 'access_denied', error_code: 'identity_already_exists' };
  expect([queryOf(again), fragmentOf(again)]).toMatchObject([
    { ...refusal, error_description: 'Identity is already linked' },
    { ...refusal, sb: '' },
  ]);
  const { access_token: other } = await signedUp(auth, 'second@x.test');
  expect(queryOf(await link(auth, other, 'taken'))).toMatchObject({
    ...refusal,
    error_description: 'Identity is already linked to another user',
  });
});

test('an anonymous user who links has the address of the identity, and is anonymous no longer', async () => {
  const auth = await withLinking();
  const { body: session } = await auth.ask('/signup', { data: { cart: 3 } });
  const email = person('grown');
  const user = await userOf(auth, await link(auth, session.access_token, 'grown'));
  expect(user).toMatchObject({
    id: session.user.id,
    email,
    is_anonymous: false,
    email_confirmed_at: expect.any(String),
    user_metadata: { cart: 3 },
    app_metadata: { provider: 'keycloak', providers: ['keycloak'] },
  });
});

test('an identity without an address is enough not to be anonymous, where the configuration says so', async () => {
  const auth = await withLinking({ external_keycloak_email_optional: true });
  const { body: session } = await auth.ask('/signup', {});
  person('mute', { email: undefined });
  const user = await userOf(auth, await link(auth, session.access_token, 'mute'));
  expect(user).toMatchObject({ id: session.user.id, email: '', is_anonymous: false, identities: [{ id: 'mute' }] });
});

test('an address that is not verified has to be confirmed before the user is let in with it', async () => {
  const auth = await withLinking({ mailer_notifications_identity_linked_enabled: true });
  const { body: session } = await auth.ask('/signup', {});
  const email = person('unsure', { email_verified: false });
  expect(queryOf(await link(auth, session.access_token, 'unsure'))).toMatchObject({
    error: 'access_denied',
    error_code: 'email_not_confirmed',
    error_description: 'Unverified email with keycloak. A confirmation email has been sent to your keycloak email',
  });
  const { body: pending } = await auth.ask('/user', undefined, { token: session.access_token });
  expect([pending.email, pending.email_confirmed_at, names(pending.identities)]).toEqual([
    email,
    undefined,
    ['keycloak'],
  ]);
  expect((await auth.messages(email)).map(({ kind }) => kind)).toEqual(['confirmation']);
  await auth.ask('/verify', { type: 'email', email, token: (await auth.message(email)).code });
  const { body: user } = await auth.ask('/user', undefined, { token: session.access_token });
  expect(user.email_confirmed_at).toEqual(expect.any(String));
});

test('an address that somebody else has cannot come with an identity', async () => {
  const auth = await withLinking();
  const email = person('occupied');
  await signedUp(auth, email);
  const { body: session } = await auth.ask('/signup', {});
  expect(queryOf(await link(auth, session.access_token, 'occupied'))).toMatchObject({
    error: 'invalid_request',
    error_code: 'email_exists',
  });
  const { body: user } = await auth.ask('/user', undefined, { token: session.access_token });
  expect([user.identities, user.is_anonymous]).toEqual([[], true]);
});

test('a user who is gone or banned by the time of the answer gets nothing', async () => {
  const auth = await withLinking();
  for (const [email, change, code] of [
    ['gone@x.test', { method: 'DELETE' }, 'user_not_found'],
    ['banned@x.test', { method: 'PUT', body: { ban_duration: '1h' } }, 'user_banned'],
  ] as const) {
    const { user, access_token: token } = await signedUp(auth, email);
    const name = `late-${code}`;
    person(name);
    const { body } = await auth.ask(`${linkPath}&login_hint=${name}`, undefined, { token });
    await auth.askAdmin(`/admin/users/${user.id}`, 'body' in change ? change.body : undefined, {
      method: change.method,
    });
    expect(queryOf(await goThrough(auth, body.url)).error_code).toBe(code);
    expect(await database.query('select from auth.identities i where i.provider_id = $1', [name])).toEqual([]);
  }
});
