/**
 * The hooks `send_email` and `send_sms`: they get the facts of every message, and send it in place of the mail server and the
 * provider of text messages.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { open, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { type HookServer, hookSecret, startHookServer } from '../support/hook-server.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { supabaseClient } from '../support/supabase-js.ts';

/** A queue of the application's own, which some other program empties. */
const functions = `
  create schema app;
  create table app.queue (event jsonb not null);
  create function app.enqueue(event jsonb) returns jsonb language plpgsql as $$
  begin
    insert into app.queue values (event);
    return '{}';
  end $$;
  create function app.repeat(event jsonb) returns jsonb language plpgsql as
    $$ begin raise exception 'repeated: %', event; end $$;
`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(functions);
});

const password = 'a good password';
/** The hook is asked during the request, where a test says nothing else. */
const often: AuthValues = { smtp_max_frequency: 0, sms_max_frequency: 0, mailer_delivery: 'direct' };

function webhookFor(name: 'send_email' | 'send_sms', { url }: HookServer): AuthValues {
  return {
    ...often,
    [`hook_${name}_enabled`]: true,
    [`hook_${name}_uri`]: url,
    [`hook_${name}_secrets`]: hookSecret,
  };
}

function functionFor(name: 'send_email' | 'send_sms'): AuthValues {
  return { ...often, [`hook_${name}_enabled`]: true, [`hook_${name}_uri`]: 'pg-functions://postgres/app/enqueue' };
}

const emailOf = (server: HookServer) => server.requests.at(-1)?.payload.email_data;
const queued = async () =>
  (await database.query<{ event: never }>('delete from app.queue returning event')).map(({ event }) => event);

test('a function queues emails in the transaction of what they are about', async () => {
  const auth = await testAuth(database, functionFor('send_email'));
  const supabase = supabaseClient(auth.url);
  const { data } = await supabase.auth.signUp({
    email: 'queue@x.test',
    password,
    options: { data: { language: 'de' }, emailRedirectTo: 'https://app.test/welcome' },
  });
  const [{ user, email_data }] = (await queued()) as unknown as [{ user: object; email_data: Record<string, string> }];
  expect(user).toMatchObject({ id: data.user.id, email: 'queue@x.test', user_metadata: { language: 'de' } });
  expect(email_data).toEqual({
    token: expect.stringMatching(/^\d{6}$/),
    token_hash: expect.stringMatching(/^[0-9a-f]{56}$/),
    redirect_to: 'https://app.test/welcome',
    email_action_type: 'signup',
    site_url: 'http://localhost:54321/auth/v1',
    token_new: '',
    token_hash_new: '',
    old_email: '',
    old_phone: '',
    provider: '',
    factor_type: '',
  });
  expect(await auth.messages()).toEqual([]);
  const verified = await supabase.auth.verifyOtp({ email: 'queue@x.test', token: email_data.token, type: 'email' });
  expect(verified.data.user.id).toBe(data.user.id);
});

test('every email with a token has the facts to send it, and its tokens are good', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, webhookFor('send_email', server));
  const email = 'every@x.test';
  const verifyHash = (type: string) => auth.ask('/verify', { type, token_hash: emailOf(server).token_hash });

  await auth.ask('/signup', { email, password });
  expect(emailOf(server).email_action_type).toBe('signup');
  const { access_token: token } = (await verifyHash('email')).body;
  await auth.ask('/recover', { email });
  expect(emailOf(server).email_action_type).toBe('recovery');
  expect((await verifyHash('recovery')).status).toBe(200);
  await auth.ask('/otp', { email, code_challenge: 'c'.repeat(50), code_challenge_method: 'plain' });
  const { email_action_type: type, token_hash: hash, redirect_to: to } = emailOf(server);
  expect([type, hash.slice(0, 5)]).toEqual(['magiclink', 'pkce_']);
  const link = `${auth.url}/auth/v1/verify?token=${hash}&type=${type}&redirect_to=${encodeURIComponent(to)}`;
  expect((await open(link)).location).toMatch(/^https:\/\/app\.test\?code=/);
  await auth.ask('/reauthenticate', undefined, { token });
  expect(emailOf(server)).toMatchObject({
    email_action_type: 'reauthentication',
    token: expect.stringMatching(/^\d{6}$/),
  });
  await auth.askAdmin('/invite', { email: 'invited@x.test' });
  expect(emailOf(server).email_action_type).toBe('invite');
  expect((await verifyHash('invite')).body.user).toMatchObject({ email: 'invited@x.test' });
  expect([await auth.messages(), server.unsigned]).toEqual([[], []]);
});

test('a change at both addresses is one call, with codes and hashes crosswise', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, webhookFor('send_email', server));
  const email = 'old@x.test';
  await auth.ask('/signup', { email, password });
  const { token: code } = emailOf(server);
  const { access_token: token } = (await auth.ask('/verify', { type: 'email', email, token: code })).body;
  const change = (next: string) => auth.ask('/user', { email: next }, { method: 'PUT', token });
  const asked = server.requests.length;

  await change('new@x.test');
  expect(server.requests).toHaveLength(asked + 1);
  expect(server.requests.at(-1)?.payload.user).toMatchObject({ email, new_email: 'new@x.test' });
  const codes = emailOf(server);
  const byCode = (address: string, given: string) =>
    auth.ask('/verify', { type: 'email_change', email: address, token: given });
  expect((await byCode(email, codes.token)).body.code).toBe('200');
  expect((await byCode('new@x.test', codes.token_new)).body.user.email).toBe('new@x.test');

  await change('newer@x.test');
  const hashes = emailOf(server);
  const byHash = (token_hash: string) => auth.ask('/verify', { type: 'email_change', token_hash });
  expect((await byHash(hashes.token_hash_new)).body.code).toBe('200');
  expect((await byHash(hashes.token_hash)).body.user.email).toBe('newer@x.test');
});

test('a change at the new address alone has one code and one hash', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, {
    ...webhookFor('send_email', server),
    mailer_secure_email_change_enabled: false,
  });
  const email = 'one@x.test';
  await auth.ask('/signup', { email, password });
  const signedIn = await auth.ask('/verify', { type: 'email', email, token: emailOf(server).token });
  await auth.ask('/user', { email: 'two@x.test' }, { method: 'PUT', token: signedIn.body.access_token });
  const { token, token_new, token_hash_new } = emailOf(server);
  expect([token_new, token_hash_new]).toEqual(['', '']);
  const changed = await auth.ask('/verify', { type: 'email_change', email: 'two@x.test', token });
  expect(changed.body.user.email).toBe('two@x.test');
});

test('a sign-up whose email the hook does not send fails and leaves no user', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, webhookFor('send_email', server));
  const signUp = () => auth.ask('/signup', { email: 'unsent@x.test', password });
  server.answer({ body: { error: { http_code: 400, message: 'No emails to x.test' } } });
  expect(await signUp()).toMatchObject({ status: 400, body: { message: 'No emails to x.test' } });
  server.answer({ status: 500 });
  expect(await signUp()).toMatchObject({ status: 500, body: { code: 'unexpected_failure' } });
  expect(await database.query("select 1 from auth.users where email = 'unsent@x.test'")).toEqual([]);
});

test('emails of the queue wait for the hook, and are given up where it does not want them', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, { ...webhookFor('send_email', server), mailer_delivery: 'queue' });
  const seen = (kind: string) => auth.observations.filter((observed) => observed.kind === kind);
  server.answer({ status: 500 });
  expect((await auth.ask('/signup', { email: 'later@x.test', password })).status).toBe(200);
  await vi.waitFor(() => expect(seen('email_delayed')).toHaveLength(1));
  expect(seen('email_delayed')).toMatchObject([{ email: 'confirmation', reason: 'the hook failed: it answered 500' }]);
  server.answer({});
  auth.pass(10);
  // What is stored next makes the worker look at what waits, too.
  await auth.ask('/signup', { email: 'next@x.test', password });
  await vi.waitFor(() => expect(server.requests).toHaveLength(3));
  const [first] = server.requests;
  const arrived = server.requests.slice(1).find(({ payload }) => payload.user.email === 'later@x.test');
  expect(arrived?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  const token = arrived?.payload.email_data.token;
  expect((await auth.ask('/verify', { type: 'email', email: 'later@x.test', token })).status).toBe(200);
  server.answer({ body: { error: { http_code: 403, message: 'No' } } });
  await auth.ask('/recover', { email: 'later@x.test' });
  await vi.waitFor(() => expect(seen('email_given_up')).toHaveLength(1));
  expect(seen('email_given_up')).toMatchObject([{ email: 'recovery', reason: 'the hook refused it' }]);
  expect(await database.query('select 1 from pgreflect_queue.emails')).toEqual([]);
});

test('notifications go to the hook after the commit, with what they are about', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, {
    ...webhookFor('send_email', server),
    mailer_autoconfirm: true,
    mailer_secure_email_change_enabled: false,
    mailer_notifications_password_changed_enabled: true,
    mailer_notifications_email_changed_enabled: true,
  });
  const { body } = await auth.ask('/signup', { email: 'before@x.test', password });
  const token = body.access_token;
  const told = () => server.requests.map(({ payload }) => payload.email_data.email_action_type);
  await auth.ask('/user', { password: 'another good one' }, { method: 'PUT', token });
  await vi.waitFor(() => expect(told()).toEqual(['password_changed_notification']));
  await auth.ask('/user', { email: 'after@x.test' }, { method: 'PUT', token });
  await auth.ask('/verify', { type: 'email_change', email: 'after@x.test', token: emailOf(server).token });
  await vi.waitFor(() => expect(told()).toHaveLength(3));
  const { user, email_data } = server.requests.at(-1)?.payload ?? {};
  expect(email_data).toMatchObject({ email_action_type: 'email_changed_notification', old_email: 'before@x.test' });
  expect(user.email).toBe('after@x.test');
});

test('an email that waits for a hook which is switched off meanwhile is given up', async () => {
  const server = await startHookServer();
  const values = { ...webhookFor('send_email', server), mailer_delivery: 'queue' } as const;
  const first = await testAuth(database, values);
  server.answer({ status: 500 });
  await first.ask('/signup', { email: 'switched@x.test', password });
  await vi.waitFor(() => expect(server.requests).toHaveLength(1));
  await first.gateway.stop();
  await database.query("update pgreflect_queue.emails set due_at = now() - interval '1 minute'");
  const second = await testAuth(database, { ...values, hook_send_email_enabled: false });
  const givenUp = () => second.observations.filter(({ kind }) => kind === 'email_given_up');
  await vi.waitFor(() => expect(givenUp()).toHaveLength(1));
  expect(givenUp()).toMatchObject([{ reason: expect.stringContaining('off by now') }]);
});

test('text messages go to the hook, those of second factors too, and none to a provider', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, {
    ...webhookFor('send_sms', server),
    external_phone_enabled: true,
    mfa_phone_enroll_enabled: true,
    mfa_phone_verify_enabled: true,
    mfa_phone_otp_length: 8,
  });
  const phone = '49150200001';
  await auth.ask('/signup', { phone, password, channel: 'whatsapp' });
  const [first] = server.requests;
  expect(first?.payload).toMatchObject({ user: { phone } });
  expect(first?.payload.sms).toEqual({ phone, otp: expect.stringMatching(/^\d{6}$/), channel: 'whatsapp' });
  const { body } = await auth.ask('/verify', { type: 'sms', phone, token: first?.payload.sms.otp });
  const { enroll, challenge, verify } = factorsOf(auth, body.access_token);
  const { id } = (await enroll({ factor_type: 'phone', phone: '49150200002' })).body;
  const challenged = await challenge(id);
  const { sms, user } = server.requests[1]?.payload ?? {};
  expect([sms.phone, user.phone]).toEqual(['49150200002', phone]);
  expect(sms).toMatchObject({ channel: 'sms', sms_type: 'mfa' });
  expect((await verify(id, challenged.body.id, sms.otp)).status).toBe(200);
});

test('the user of a text message has the number that it goes to, also while another one is pending', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, { ...webhookFor('send_sms', server), external_phone_enabled: true });
  const phone = '49150200011';
  await auth.ask('/signup', { phone, password });
  const { otp: token } = server.requests[0]?.payload.sms ?? {};
  const { body } = await auth.ask('/verify', { type: 'sms', phone, token });
  for (const next of ['49150200012', '49150200013']) {
    await auth.ask('/user', { phone: next }, { method: 'PUT', token: body.access_token });
    const { sms, user } = server.requests.at(-1)?.payload ?? {};
    expect([sms.phone, user.phone, user.new_phone]).toEqual([next, phone, next]);
  }
});

test('a text message that the hook does not send leaves nothing behind', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, { ...webhookFor('send_sms', server), external_phone_enabled: true });
  server.answer({ body: { error: { http_code: 429, message: 'Enough for today' } } });
  expect(await auth.ask('/otp', { phone: '49150200003' })).toMatchObject({
    status: 429,
    body: { message: 'Enough for today' },
  });
  expect(await database.query("select 1 from auth.users where phone = '49150200003'")).toEqual([]);
});

test('a function sends text messages too, and numbers for tests need none', async () => {
  const auth = await testAuth(database, {
    ...functionFor('send_sms'),
    external_phone_enabled: true,
    sms_test_otp: '49150200005=123456',
  });
  const supabase = supabaseClient(auth.url);
  expect((await supabase.auth.signInWithOtp({ phone: '+49150200004' })).error).toBeNull();
  const [{ sms }] = (await queued()) as unknown as [{ sms: { otp: string } }];
  const verified = await supabase.auth.verifyOtp({ phone: '+49150200004', token: sms.otp, type: 'sms' });
  expect(verified.data.user.phone).toBe('49150200004');
  await auth.ask('/otp', { phone: '49150200005' });
  expect(await queued()).toEqual([]);
});

test('messages that a hook sends count as those that a server sends', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, { ...webhookFor('send_email', server), rate_limit_email_sent: '1/1h' });
  const statuses = [];
  for (const email of ['one-of@x.test', 'two-of@x.test']) statuses.push((await auth.ask('/otp', { email })).status);
  expect([statuses, server.requests.length]).toEqual([[200, 429], 1]);
});

test('answers and log say that a message failed and why, and nothing of the message', async () => {
  const server = await startHookServer();
  server.answer(({ payload }) => ({ status: 500, body: payload }));
  const phones: AuthValues = { external_phone_enabled: true };
  const webhook = await testAuth(database, { ...phones, ...webhookFor('send_sms', server) });
  const raising = await testAuth(database, {
    ...phones,
    ...functionFor('send_sms'),
    hook_send_sms_uri: 'pg-functions://postgres/app/repeat',
  });
  const provider = await testAuth(database, {
    ...phones,
    sms_provider: 'webhook',
    sms_webhook_url: `${server.url}/?key=hush`,
    sms_webhook_secrets: hookSecret,
  });
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const logger = await createLogger({ level: 'info', format: 'json', slowMs: 60_000, stream });
  for (const auth of [webhook, raising, provider]) {
    const { status, text } = await auth.ask('/otp', { phone: '49150200009' });
    expect([500, 422]).toContain(status);
    lines.push(text);
    for (const observation of auth.observations) logger.observe(observation);
  }
  const all = lines.join('');
  expect(all).toContain('"hook":"send_sms","reason":"it answered 500","msg":"hook failed"');
  expect(all).toContain('"hook":"send_sms","reason":"SQLSTATE P0001","msg":"hook failed"');
  expect(all).toContain('"provider":"webhook","reason":"the webhook rejected the message (HTTP 500)"');
  const codes = server.requests.map(({ payload }) => payload.sms?.otp ?? payload.data.code);
  expect(codes).toHaveLength(2);
  for (const secret of [...codes, '49150200009', 'whsec', hookSecret.slice(9), 'hush', 'repeated']) {
    expect(all).not.toContain(secret);
  }
});
