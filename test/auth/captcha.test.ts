/**
 * Captchas: a real server here takes what hCaptcha and Turnstile document, each token once, and answers as they do.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import { captchaLimits, createCaptchaCheck } from '../../src/auth/rules/captcha.ts';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { unrestrictedEgress } from '../../src/shared/egress/egress.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { addToken, managedGateway } from '../management/management.ts';
import { open, signedUpBefore, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type HookReply, type HookRequest, startHookServer } from '../support/hook-server.ts';
import { serviceKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const secret = 'the secret of the site';
const password = 'a good password';
const formOf = ({ payload }: HookRequest) => Object.fromEntries(new URLSearchParams(payload));

/** The codes for a token that was used before. */
const again = { hcaptcha: 'already-seen-response', turnstile: 'timeout-or-duplicate' } as const;

/** Solved captchas are `solved 1`, `solved 2` and so on. */
async function startCaptcha(provider: 'hcaptcha' | 'turnstile') {
  const server = await startHookServer(null);
  const used = new Set<string>();
  const refuse = (...codes: string[]): HookReply => ({ body: { success: false, 'error-codes': codes } });
  server.answer((request) => {
    if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') return refuse('bad-request');
    const { secret: given, response = '', remoteip } = formOf(request);
    if (given !== secret) return refuse('invalid-input-secret');
    if (remoteip !== '127.0.0.1') return refuse('invalid-remoteip');
    if (!/^solved \d+$/.test(response)) return refuse('invalid-input-response');
    if (used.has(response)) return refuse(again[provider]);
    used.add(response);
    return { body: { success: true, challenge_ts: '2026-01-01T00:00:00.000Z', hostname: 'app.test' } };
  });
  const values: AuthValues = {
    security_captcha_enabled: true,
    security_captcha_provider: provider,
    security_captcha_secret: secret,
    security_captcha_url: `${server.url}/siteverify`,
  };
  let count = 0;
  const solve = () => {
    count += 1;
    return `solved ${count}`;
  };
  return { server, values, solve, proof: () => ({ gotrue_meta_security: { captcha_token: solve() } }) };
}

const people = (name: string) => database.query('select u.id from auth.users u where u.email like $1', [`${name}%`]);

test.each(['hcaptcha', 'turnstile'] as const)('a person signs up, in and recovers with %s', async (provider) => {
  const { values, solve } = await startCaptcha(provider);
  const auth = await testAuth(database, {
    ...values,
    mailer_autoconfirm: true,
    smtp_max_frequency: 0,
    external_anonymous_users_enabled: true,
  });
  const { auth: client } = supabaseClient(auth.url);
  const email = `${provider}@x.test`;
  const options = () => ({ captchaToken: solve() });
  expect((await client.signUp({ email, password, options: options() })).error).toBeNull();
  expect((await client.signInWithPassword({ email, password, options: options() })).error).toBeNull();
  expect((await client.refreshSession()).error).toBeNull();
  expect((await client.signInWithOtp({ email, options: options() })).error).toBeNull();
  expect((await client.resetPasswordForEmail(email, options())).error).toBeNull();
  expect((await client.resend({ type: 'signup', email, options: options() })).error).toBeNull();
  expect((await client.signInAnonymously({ options: options() })).error).toBeNull();
});

const wanting: readonly (readonly [string, object])[] = [
  ['/signup', { email: 'robot@x.test', password }],
  ['/signup', {}],
  ['/token?grant_type=password', { email: 'known@x.test', password }],
  ['/token?grant_type=password&grant_type=refresh_token', { email: 'known@x.test', password }],
  ['/otp', { email: 'robot@x.test' }],
  ['/otp', { phone: '491550001' }],
  ['/magiclink', { email: 'robot@x.test' }],
  ['/recover', { email: 'known@x.test' }],
  ['/resend', { type: 'signup', email: 'known@x.test' }],
];

test('without a captcha, and with one that is wrong or was used, nothing happens at any of these routes', async () => {
  const { server, values, proof } = await startCaptcha('turnstile');
  await signedUpBefore(database, 'known@x.test');
  const auth = await testAuth(database, { ...values, external_anonymous_users_enabled: true });
  const used = proof();
  await auth.ask('/recover', { email: 'nobody@x.test', ...used });
  const before = (await auth.messages()).length;
  const tokens: readonly (readonly [object, string])[] = [
    [{}, 'no captcha_token found'],
    [{ gotrue_meta_security: null }, 'no captcha_token found'],
    [{ gotrue_meta_security: { captcha_token: ' ' } }, 'no captcha_token found'],
    [{ gotrue_meta_security: { captcha_token: 'x'.repeat(20_000) } }, 'invalid-input-response'],
    [{ gotrue_meta_security: { captcha_token: 'made up' } }, 'invalid-input-response'],
    [used, 'timeout-or-duplicate'],
  ];
  for (const [path, body] of wanting) {
    for (const [token, reason] of tokens) {
      const { status, body: answer } = await auth.ask(path, { ...body, ...token });
      expect([path, status, answer.code]).toEqual([path, 400, 'captcha_failed']);
      expect(answer.message).toBe(`captcha protection: request disallowed (${reason})`);
    }
  }
  expect((await auth.messages()).length).toBe(before);
  expect(await people('robot')).toEqual([]);
  expect(server.requests.every((request) => (formOf(request).response?.length ?? 0) < 20_000)).toBe(true);
});

test('a token of another type is a bad body', async () => {
  const { values } = await startCaptcha('hcaptcha');
  const auth = await testAuth(database, values);
  for (const gotrue_meta_security of ['solved 1', { captcha_token: 1 }, []]) {
    const { body } = await auth.ask('/otp', { email: 'typed@x.test', gotrue_meta_security });
    expect(body.code).toBe('bad_json');
  }
});

test('no captcha is asked of admins, of users in their session, of a code or a link', async () => {
  const { server, values } = await startCaptcha('hcaptcha');
  const { access_token: token, refresh_token } = await signedUpBefore(database, 'session@x.test');
  const auth = await testAuth(database, { ...values, smtp_max_frequency: 0 });
  expect((await auth.askAdmin('/signup', { email: 'by.admin@x.test', password })).status).toBe(200);
  expect((await auth.askAdmin('/otp', { email: 'session@x.test' })).status).toBe(200);
  const { code } = await auth.message('session@x.test');
  const verified = await auth.ask('/verify', { type: 'email', email: 'session@x.test', token: code });
  expect(verified.status).toBe(200);
  expect((await auth.ask('/user', { data: { a: 1 } }, { method: 'PUT', token })).status).toBe(200);
  expect((await auth.ask('/token?grant_type=refresh_token', { refresh_token })).status).toBe(200);
  expect(server.requests).toEqual([]);
  const asUser = await auth.ask('/otp', { email: 'session@x.test' }, { token });
  const asKey = await auth.ask('/otp', { email: 'session@x.test' }, { key: serviceKey });
  expect([asUser.body.code, asKey.body.code]).toEqual(['captcha_failed', 'captcha_failed']);
});

test('an admin emails a user a link for a new password without a captcha, and hears what is in the way', async () => {
  const { server, values } = await startCaptcha('turnstile');
  const { user } = await signedUpBefore(database, 'forgetful@x.test');
  const auth = await testAuth(database, {
    ...values,
    site_url: 'https://app.test',
    uri_allow_list: 'https://app.test/new',
    smtp_max_frequency: 60,
  });
  const recover = (id: string, query = '') =>
    auth.askAdmin(`/admin/users/${id}/recover${query}`, undefined, { method: 'POST' });
  const sent = await recover(user.id, '?redirect_to=https://app.test/new');
  expect([sent.status, sent.body]).toEqual([200, {}]);
  const { link } = await auth.message('forgetful@x.test');
  expect(new URL(link).searchParams.get('redirect_to')).toBe('https://app.test/new');
  expect((await open(link)).location).toMatch(/^https:\/\/app\.test\/new#access_token=/);
  expect((await recover(user.id)).body.code).toBe('over_email_send_rate_limit');
  expect((await recover(crypto.randomUUID())).body.code).toBe('user_not_found');
  expect((await recover('x')).status).toBe(404);
  expect(server.requests).toEqual([]);
});

test.each([
  ['a number alone', `email = null, phone = '491550077'`],
  ['single sign-on', 'is_sso_user = true'],
  ['an account that was deleted', 'deleted_at = now()'],
])('no link for a new password goes to %s', async (_what, change) => {
  const { user } = await signedUpBefore(database, 'other-ways@x.test');
  await database.query(`update auth.users set ${change} where id = $1`, [user.id]);
  const auth = await testAuth(database);
  const before = (await auth.messages()).length;
  const { status, body } = await auth.askAdmin(`/admin/users/${user.id}/recover`, undefined, { method: 'POST' });
  expect([status, body.code]).toEqual([400, 'validation_failed']);
  expect((await auth.messages()).length).toBe(before);
  expect(await database.query('select recovery_token from auth.users where id = $1', [user.id])).toEqual([
    { recovery_token: '' },
  ]);
  await database.query('delete from auth.users where id = $1', [user.id]);
});

const nonsense: readonly (readonly [string, HookReply])[] = [
  ['an error page', { status: 502, body: '<html>' }],
  ['a redirect to success', { status: 302, headers: { location: '/ok' }, body: { success: true } }],
  ['success as a text', { body: { success: 'true' } }],
  ['a list', { body: '[true]' }],
  ['success with an error status', { status: 500, body: { success: true } }],
  ['too much', { body: `{"success":true,"padding":"${'x'.repeat(100_000)}"}` }],
];

test.each(nonsense)('%s from the service lets nobody pass', async (_what, reply) => {
  const { server, values, proof } = await startCaptcha('turnstile');
  server.answer(reply);
  const auth = await testAuth(database, values);
  const { status, text } = await auth.ask('/signup', { email: 'robot@x.test', password, ...proof() });
  expect([400, 500]).toContain(status);
  expect(text).toContain('captcha');
  expect(await people('robot')).toEqual([]);
});

test('an unreachable service lets nobody pass', async () => {
  const { server, values, proof } = await startCaptcha('turnstile');
  await server.stop();
  const auth = await testAuth(database, values);
  const { status, body } = await auth.ask('/signup', { email: 'robot@x.test', password, ...proof() });
  expect([status, body.code, body.message]).toEqual([500, 'unexpected_failure', 'captcha verification process failed']);
});

/** A check that asks a service which never answers. */
async function hangingCheck(limits: Partial<typeof captchaLimits>) {
  const { server, values, solve } = await startCaptcha('turnstile');
  server.answer(null);
  const parts = { egress: unrestrictedEgress, observe: () => {}, limits: { ...captchaLimits, ...limits } };
  const check = createCaptchaCheck(parts);
  const config = layerAuthConfig(values);
  return { server, ask: () => check(config, { token: solve(), ip: '127.0.0.1' }) };
}

test('a service that hangs holds few connections', async () => {
  const { server, ask } = await hangingCheck({ timeoutMs: 60_000, concurrency: 3 });
  const ends = Promise.allSettled(Array.from({ length: 20 }, ask));
  await vi.waitFor(() => expect(server.requests).toHaveLength(3));
  // The others are refused: whatever they had sent earlier would have been counted.
  await server.stop();
  expect((await ends).map(({ status }) => status)).toEqual(Array(20).fill('rejected'));
  expect(server.requests).toHaveLength(3);
});

test('requests to a service that hangs end in time, also those that wait for their turn', async () => {
  const { ask } = await hangingCheck({ timeoutMs: 200, concurrency: 1 });
  const ends = await Promise.allSettled(Array.from({ length: 5 }, ask));
  expect(ends.map(({ status }) => status)).toEqual(Array(5).fill('rejected'));
});

test('the log says that the secret is wrong, and neither it nor the token', async () => {
  const { values, proof } = await startCaptcha('hcaptcha');
  const auth: TestAuth = await testAuth(database, { ...values, security_captcha_secret: 'another secret' });
  const { body } = await auth.ask('/otp', { email: 'robot@x.test', ...proof() });
  expect(body.message).toBe('captcha protection: request disallowed (invalid-input-secret)');
  const warnings = auth.observations.filter(
    (seen): seen is Observation & { kind: 'warning' } => seen.kind === 'warning',
  );
  expect(warnings).toContainEqual({
    kind: 'warning',
    message: 'The captcha service refuses requests: invalid-input-secret.',
    hint: 'Check security_captcha_secret and security_captcha_provider.',
  });
  expect(JSON.stringify(auth.observations)).not.toMatch(/another secret|solved \d/);
});

test('the management API takes a secret with the switch, and shows its digest', async () => {
  const { server, values } = await startCaptcha('turnstile');
  const managed = await managedGateway(database, await addToken(database), { allowPrivateNetworks: true });
  const { status, body } = await managed.patch({ security_captcha_enabled: true });
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('security_captcha_secret')]);
  expect((await managed.patch({ ...values, security_captcha_url: null })).body.security_captcha_secret).toMatch(
    /^hmac-sha256:/,
  );
  const elsewhere = await managed.patch({ security_captcha_url: server.url });
  expect(JSON.stringify(elsewhere.body)).toContain('send the secret itself with it');
  await managed.patch({ security_captcha_enabled: null, security_captcha_secret: null });
});
