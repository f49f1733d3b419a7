/**
 * Sign-in with a provider: the way there, the way back, and whose account it becomes. The provider is a real one.
 */
import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { open, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  callbackUrl,
  fragmentOf,
  goThrough,
  keycloakValues,
  queryOf,
  signInAs,
  userOf,
} from '../support/provider-sign-in.ts';
import { startSmtpServer } from '../support/smtp-server.ts';

let database: TestDatabase;
let provider: OidcProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl], {});
});

const password = 'a good password';
const verifier = 'v'.repeat(50);
const pkce = {
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 's256',
};

/** A user of the provider; the address is verified where nothing else is said. @returns The address as we write it. */
function person(name: string, more: Readonly<Record<string, unknown>> = {}): string {
  provider.users[name] = { name: `${name} Smith`, email: `${name}@X.test`, email_verified: true, ...more };
  return `${name}@x.test`;
}

function withProvider(values: AuthValues = {}): Promise<TestAuth> {
  return testAuth(database, keycloakValues(provider, values));
}

async function actions(userId: string): Promise<readonly string[]> {
  const rows = await database.query<{ action: string }>(
    `select payload ->> 'action' as action from auth.audit_log_entries
    where payload ->> 'actor_id' = $1 order by created_at, payload ->> 'action'`,
    [userId],
  );
  return rows.map(({ action }) => action);
}

test('a new user of the provider comes back with a session, with all claims of the provider, confirmed', async () => {
  const auth = await withProvider();
  const custom_claims = {
    picture: 'https://x.test/new.png',
    preferred_username: 'newbie',
    locale: 'de',
    department: 'sales',
    groups: ['staff', 'sales'],
  };
  const email = person('new', custom_claims);
  const stop = await signInAs(auth, 'new', { redirect_to: 'https://ok.test/in?a=1' });
  expect([stop.status, stop.location.href.split('#')[0]]).toEqual([302, 'https://ok.test/in?a=1']);
  expect(Object.keys(fragmentOf(stop))).toEqual([
    ...['access_token', 'expires_at', 'expires_in', 'provider_refresh_token', 'provider_token', 'refresh_token'],
    ...['sb', 'token_type'],
  ]);
  const user = await userOf(auth, stop);
  const identityData = {
    iss: provider.issuer,
    sub: 'new',
    provider_id: 'new',
    email,
    email_verified: true,
    phone_verified: false,
    name: 'new Smith',
    full_name: 'new Smith',
    custom_claims,
  };
  expect(user).toMatchObject({
    email,
    role: 'authenticated',
    email_confirmed_at: expect.any(String),
    user_metadata: identityData,
    app_metadata: { provider: 'keycloak', providers: ['keycloak'] },
    identities: [{ provider: 'keycloak', id: 'new', email }],
  });
  expect(user.identities[0].identity_data).toEqual(identityData);
  // The first identity of an account is no news to its owner.
  expect(await auth.messages(email)).toEqual([]);
  auth.pass(1);
  person('new', { name: 'Renamed', email: 'moved@x.test' });
  const again = await userOf(auth, await signInAs(auth, 'new'));
  expect(again).toMatchObject({
    id: user.id,
    email,
    user_metadata: { full_name: 'Renamed' },
    identities: [{ id: 'new' }],
  });
  expect(await actions(user.id)).toEqual(['user_signedup', 'login']);
});

test('in the PKCE flow a code comes back, which gives the session once', async () => {
  const auth = await withProvider();
  person('pkce');
  const stop = await signInAs(auth, 'pkce', { ...pkce, redirect_to: 'https://ok.test/in?b=1#here' });
  const { code, ...rest } = queryOf(stop);
  expect([stop.status, rest, stop.location.hash]).toEqual([302, { b: '1' }, '#here']);
  const exchange = () => auth.ask('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
  const { body } = await exchange();
  expect(body).toMatchObject({
    provider_token: expect.any(String),
    provider_refresh_token: expect.any(String),
    user: { email: 'pkce@x.test' },
  });
  const claims = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString());
  expect(claims.amr).toMatchObject([{ method: 'oauth' }]);
  expect((await exchange()).body.code).toBe('flow_state_not_found');
  auth.pass(120);
  const late = queryOf(await signInAs(auth, 'pkce', pkce));
  auth.pass(301);
  const reply = await auth.ask('/token?grant_type=pkce', { auth_code: late.code, code_verifier: verifier });
  expect(reply.body.code).toBe('flow_state_expired');
});

test('someone who has proved the address to the provider gets the account that has it, and its owner hears of it', async () => {
  const auth = await withProvider({ mailer_notifications_identity_linked_enabled: true });
  const email = person('owner', { email_verified: 'true' });
  const { user } = await signedUp(auth, email, password);
  const linked = await userOf(auth, await signInAs(auth, 'owner'));
  expect(linked).toMatchObject({
    id: user.id,
    user_metadata: { full_name: 'owner Smith' },
    app_metadata: { provider: 'email', providers: ['email', 'keycloak'] },
  });
  expect(await actions(user.id)).toContain('identity_linked');
  await expect.poll(async () => (await auth.messages(email))[0]?.kind).toBe('identity_linked_notification');
  expect((await auth.message(email)).text).toContain('keycloak');
  // The password is still good: the account had been confirmed.
  expect((await auth.ask('/token?grant_type=password', { email, password })).status).toBe(200);
  // Another user of the provider with that address is let in as well: it says that both have it.
  person('second', { email });
  expect(await userOf(auth, await signInAs(auth, 'second'))).toMatchObject({ id: user.id });
});

test('a user who took an address without confirming it loses the account when its owner signs in', async () => {
  const auth = await withProvider();
  const email = person('late');
  await auth.ask('/signup', { email, password, data: { role: 'thief' } });
  const { code } = await auth.message(email);
  const user = await userOf(auth, await signInAs(auth, 'late'));
  expect(user).toMatchObject({
    email_confirmed_at: expect.any(String),
    identities: [{ provider: 'keycloak' }],
    app_metadata: { provider: 'keycloak', providers: ['keycloak'] },
  });
  expect(user.user_metadata).not.toHaveProperty('role');
  expect((await auth.ask('/token?grant_type=password', { email, password })).body.code).toBe('invalid_credentials');
  expect((await auth.ask('/verify', { type: 'email', email, token: code })).body.code).toBe('otp_expired');
});

test('sessions, factors and pending changes of such a user end, too', async () => {
  const auth = await withProvider({ mailer_allow_unverified_email_sign_ins: true });
  const email = person('squat', { email_verified: false });
  const squatter = fragmentOf(await signInAs(auth, 'squat'));
  const token = squatter.access_token!;
  const { body: factor } = await auth.ask('/factors', { factor_type: 'totp' }, { token });
  expect(factor.totp.secret).toEqual(expect.any(String));
  await auth.ask('/user', { email: 'thief@x.test' }, { method: 'PUT', token });
  const { link } = await auth.message('thief@x.test');
  person('rightful', { email });
  const user = await userOf(auth, await signInAs(auth, 'rightful'));
  expect(user).toMatchObject({ email, identities: [{ id: 'rightful' }] });
  expect([user.factors, user.new_email]).toEqual([undefined, undefined]);
  expect((await auth.ask('/user', undefined, { token })).body.code).toBe('session_not_found');
  expect((await open(link)).location).toContain('error_code=otp_expired');
  const [tokens] = await database.query(
    `select u.confirmation_token, u.recovery_token, u.email_change_token_new, u.email_change, u.phone_change_token
    from auth.users u where u.id = $1::uuid`,
    [user.id],
  );
  expect(new Set(Object.values(tokens ?? {}))).toEqual(new Set(['']));
});

test('sign-ins of such a user that are under way at a provider are refused, too', async () => {
  const auth = await withProvider({
    mailer_allow_unverified_email_sign_ins: true,
    security_manual_linking_enabled: true,
    smtp_max_frequency: 0,
  });
  const email = person('squat2', { email_verified: false });
  const { access_token: token } = fragmentOf(await signInAs(auth, 'squat2'));
  const challenge = { code_challenge: 'v'.repeat(43), code_challenge_method: 'plain' };
  const { code } = queryOf(await signInAs(auth, 'squat2', challenge));
  person('accomplice', { email: 'accomplice@x.test' });
  const path = '/user/identities/authorize?provider=keycloak&skip_http_redirect=true&login_hint=accomplice';
  const { body } = await auth.ask(path, undefined, { token: token! });
  person('rightful2', { email });
  const { id } = await userOf(auth, await signInAs(auth, 'rightful2'));
  const exchange = { auth_code: code, code_verifier: 'v'.repeat(43) };
  expect((await auth.ask('/token?grant_type=pkce', exchange)).body.code).toBe('flow_state_not_found');
  expect(queryOf(await goThrough(auth, body.url)).error_code).toBe('bad_oauth_state');
  expect((await auth.askAdmin(`/admin/users/${id}`)).body.identities).toMatchObject([{ id: 'rightful2' }]);
});

test('an address that the provider has not verified has to be confirmed by email first', async () => {
  const auth = await withProvider();
  const email = person('unproved', { email_verified: false });
  const stop = await signInAs(auth, 'unproved', { redirect_to: 'https://ok.test/in' });
  const refusal = {
    error: 'access_denied',
    error_code: 'provider_email_needs_verification',
    error_description: 'Unverified email with keycloak. A confirmation email has been sent to your keycloak email',
  };
  expect([queryOf(stop), fragmentOf(stop)]).toEqual([refusal, { ...refusal, sb: '' }]);
  const { link, kind, code } = await auth.message(email);
  expect([kind, new URL(link).searchParams.get('redirect_to')]).toEqual(['confirmation', 'https://ok.test/in']);
  expect(queryOf(await signInAs(auth, 'unproved')).error_code).toBe('over_email_send_rate_limit');
  await auth.ask('/verify', { type: 'email', email, token: code });
  expect(await userOf(auth, await signInAs(auth, 'unproved'))).toMatchObject({ email });
});

test('an address that is not verified opens no account that has it, and gives none', async () => {
  const auth = await withProvider();
  const { user } = await signedUp(auth, 'victim@x.test', password);
  person('faker', { email: 'victim@x.test', email_verified: false });
  const stop = await signInAs(auth, 'faker');
  expect(queryOf(stop)).toMatchObject({
    error_code: 'provider_email_needs_verification',
    error_description: 'Unverified email with keycloak. Verify the email with keycloak in order to sign in',
  });
  const [account] = await database.query<{ id: string; email: string | null }>(
    `select u.id, u.email from auth.users u join auth.identities i on i.user_id = u.id where i.provider_id = 'faker'`,
  );
  expect([account?.email, account?.id === user.id]).toEqual([null, false]);
  // Nor is the identity that claims it in the way of its owner, or the owner's of a good one.
  person('victim', { email: 'victim@x.test' });
  expect(await userOf(auth, await signInAs(auth, 'victim'))).toMatchObject({ id: user.id });
  // Nor does the account get an address of somebody else by being told of it a second time, verified.
  person('faker', { email: 'victim@x.test' });
  expect(queryOf(await signInAs(auth, 'faker')).error_code).toBe('provider_email_needs_verification');
  // With an address that is verified by now the account is that address's.
  const email = person('faker', { email: 'faker@x.test' });
  expect(await userOf(auth, await signInAs(auth, 'faker'))).toMatchObject({ id: account?.id, email });
});

test('a verified address proves nothing for another one that the account has', async () => {
  const auth = await withProvider();
  person('swap', { email: 'target@x.test', email_verified: false });
  await signInAs(auth, 'swap');
  const email = person('swap', { email: 'own@x.test', email_verified: true }).replace('swap', 'own');
  const user = await userOf(auth, await signInAs(auth, 'swap'));
  expect(user.email).toBe(email);
  // The address that was only claimed is free again.
  expect((await auth.ask('/signup', { email: 'target@x.test', password })).body.identities).toHaveLength(1);
});

test('unverified addresses are enough where the configuration says so', async () => {
  const email = person('trusted', { email_verified: false });
  const allowing = await withProvider({ mailer_allow_unverified_email_sign_ins: true });
  const user = await userOf(allowing, await signInAs(allowing, 'trusted'));
  expect([user.email, user.email_confirmed_at]).toEqual([email, undefined]);
  expect((await allowing.message(email)).kind).toBe('confirmation');
  person('auto', { email_verified: undefined });
  const confirming = await withProvider({ mailer_autoconfirm: true });
  expect(await userOf(confirming, await signInAs(confirming, 'auto'))).toMatchObject({
    email_confirmed_at: expect.any(String),
  });
});

test('banned users and new ones while sign-ups are off are sent back with the reason, and nothing is stored', async () => {
  const auth = await withProvider({ disable_signup: true });
  person('banned');
  const { body: user } = await auth.askAdmin('/admin/users', { email: 'banned@x.test', email_confirm: true });
  await auth.askAdmin(`/admin/users/${user.id}`, { ban_duration: '1h' }, { method: 'PUT' });
  expect(fragmentOf(await signInAs(auth, 'banned'))).toMatchObject({
    error: 'access_denied',
    error_code: 'user_banned',
  });
  const { body: after } = await auth.askAdmin(`/admin/users/${user.id}`);
  expect(after.identities.map(({ provider }: { provider: string }) => provider)).toEqual(['email']);
  const email = person('stranger');
  expect(queryOf(await signInAs(auth, 'stranger'))).toMatchObject({
    error: 'access_denied',
    error_code: 'signup_disabled',
  });
  expect(await database.query('select from auth.identities i where i.email = $1', [email])).toEqual([]);
});

test('where two accounts have a proof of the address nobody gets in', async () => {
  const auth = await withProvider();
  const email = person('shared');
  const { user } = await signedUp(auth, 'other@x.test', password);
  await signedUp(auth, email, password);
  await database.query(
    `update auth.identities set identity_data = identity_data || pg_catalog.jsonb_build_object('email', $2::text)
    where user_id = $1::uuid`,
    [user.id, email],
  );
  expect(queryOf(await signInAs(auth, 'shared'))).toMatchObject({
    error: 'server_error',
    error_description: 'Multiple accounts with the same email address in the same linking domain detected: default',
  });
});

test('without an address there is no account, unless the configuration says that there may be', async () => {
  provider.users.nameless = { name: 'No Mail' };
  const strict = await withProvider();
  expect(queryOf(await signInAs(strict, 'nameless'))).toEqual({
    error: 'server_error',
    error_code: 'unexpected_failure',
    error_description: 'Error getting user email from external provider',
  });
  const open = await withProvider({ external_keycloak_email_optional: true });
  const user = await userOf(open, await signInAs(open, 'nameless'));
  expect(user).toMatchObject({ email: '', identities: [{ id: 'nameless' }] });
  expect(await userOf(open, await signInAs(open, 'nameless'))).toMatchObject({ id: user.id });
});

test('an invitation is accepted by signing in with the address that was invited, once and in time', async () => {
  const auth = await withProvider();
  const [email, other] = [person('guest'), person('notguest')];
  const invite = async (to: string) => {
    await auth.askAdmin('/invite', { email: to, data: { team: 'blue' } });
    return new URL((await auth.message(to)).link).searchParams.get('token')!;
  };
  const token = await invite(email);
  const stop = await signInAs(auth, 'notguest', { invite_token: token });
  expect(queryOf(stop).error_description).toBe('Invited email does not match emails from external provider');
  const user = await userOf(auth, await signInAs(auth, 'guest', { invite_token: token }));
  expect(user).toMatchObject({
    email,
    email_confirmed_at: expect.any(String),
    user_metadata: { team: 'blue', full_name: 'guest Smith' },
    app_metadata: { provider: 'keycloak', providers: ['keycloak'] },
    identities: [{ provider: 'keycloak' }],
  });
  expect(await actions(user.id)).toContain('invite_accepted');
  // The same without the token: the provider proves the address.
  const byAddress = person('guest2');
  await auth.askAdmin('/invite', { email: byAddress, data: { team: 'blue' } });
  expect(await userOf(auth, await signInAs(auth, 'guest2'))).toMatchObject({
    email: byAddress,
    user_metadata: { team: 'blue' },
    identities: [{ provider: 'keycloak' }],
    app_metadata: { provider: 'keycloak', providers: ['keycloak'] },
  });
  const authorize = (invitation: string) =>
    auth.ask(`/authorize?provider=keycloak&invite_token=${invitation}`, undefined, { key: null });
  const unknown = { status: 404, body: { code: 'user_not_found', message: 'User identified by token not found' } };
  expect(await authorize(token)).toMatchObject(unknown);
  expect(await authorize('nonsense')).toMatchObject(unknown);
  const late = await invite(other);
  auth.pass(3601);
  expect(await authorize(late)).toMatchObject(unknown);
});

test('an invitation that is withdrawn during the sign-in ends it with invite_not_found', async () => {
  const auth = await withProvider();
  const email = person('uninvited');
  await auth.askAdmin('/invite', { email });
  const token = new URL((await auth.message(email)).link).searchParams.get('token');
  const { headers } = await auth.ask(`/authorize?provider=keycloak&login_hint=uninvited&invite_token=${token}`);
  await database.query('delete from auth.one_time_tokens t where t.token_hash = $1', [token]);
  const stop = await goThrough(auth, headers.get('location')!);
  expect(queryOf(stop)).toMatchObject({ error: 'access_denied', error_code: 'invite_not_found' });
});

test('two first sign-ins at the same moment make one account', async () => {
  const auth = await withProvider();
  person('twice');
  const stops = await Promise.all([signInAs(auth, 'twice'), signInAs(auth, 'twice'), signInAs(auth, 'twice')]);
  const users = await Promise.all(stops.map((stop) => userOf(auth, stop)));
  expect(new Set(users.map(({ id }) => id)).size).toBe(1);
});

test('a slow mail server does not delay sign-ins with a verified address', async () => {
  const smtp = await startSmtpServer({ tls: 'none' });
  const held = Promise.withResolvers<void>();
  smtp.behave({ kind: 'wait', until: held.promise });
  const mailServer = { smtp_host: '127.0.0.1', smtp_port: String(smtp.port), smtp_admin_email: 'no-reply@app.test' };
  const auth = await testAuth(database, keycloakValues(provider, mailServer), { authPoolSize: 2 });
  person('waiting', { email_verified: false });
  person('quick');
  const waiting = signInAs(auth, 'waiting');
  await expect.poll(smtp.connections).toBeGreaterThan(0);
  expect(await userOf(auth, await signInAs(auth, 'quick'))).toMatchObject({ email: 'quick@x.test' });
  held.resolve();
  expect(queryOf(await waiting).error_code).toBe('provider_email_needs_verification');
});
