/**
 * Codes by text message through providers: each is a real server here that wants what the provider's documentation says,
 * and answers as it does, in good days and in bad ones.
 */
import { beforeAll, expect, test } from 'vitest';
import { webhookLimits } from '../../src/auth/hooks/post-webhook.ts';
import { createSendText } from '../../src/auth/sms/send-text.ts';
import { TextError } from '../../src/auth/sms/sms-provider.ts';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { type HookReply, type HookRequest, hookSecret, startHookServer } from '../support/hook-server.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const phones: AuthValues = { external_phone_enabled: true, sms_max_frequency: 0 };
const formOf = ({ payload }: HookRequest) => Object.fromEntries(new URLSearchParams(payload));

const account = 'AC0123456789abcdef0123456789abcdef';
const service = 'MGfedcba9876543210fedcba9876543210';
const twilioValues: AuthValues = {
  ...phones,
  sms_provider: 'twilio',
  sms_template: 'Shop: {{ .Code }}',
  sms_twilio_account_sid: account,
  sms_twilio_auth_token: 'twilio token',
  sms_twilio_message_service_sid: service,
};

/** Takes what its documentation says, and refuses the rest as it does. */
function answerAsTwilio(request: HookRequest): HookReply {
  const refuse = (status: number, code: number, message: string) => ({
    status,
    body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
  });
  if (request.path !== `/2010-04-01/Accounts/${account}/Messages.json`) return refuse(404, 20404, 'Not found');
  const login = Buffer.from(`${account}:twilio token`).toString('base64');
  if (request.headers.authorization !== `Basic ${login}`) return refuse(401, 20003, `Authenticate ${login}`);
  if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') return refuse(400, 21602, 'Body');
  const { To = '', From, MessagingServiceSid, Body, ContentSid } = formOf(request);
  if (!/^(whatsapp:)?\+[1-9][0-9]{6,14}$/.test(To)) return refuse(400, 21211, `The 'To' number ${To} is not valid.`);
  if (!From && !MessagingServiceSid) return refuse(400, 21603, "A 'From' phone number is required.");
  if (!Body && !ContentSid) return refuse(400, 21602, 'Message body is required.');
  return { status: 201, body: { sid: `SM${'0'.repeat(32)}`, status: 'queued', error_code: null, error_message: null } };
}

async function startTwilio(values: AuthValues = {}) {
  const server = await startHookServer(null);
  server.answer(answerAsTwilio);
  const auth = await testAuth(database, { ...twilioValues, sms_provider_url: server.url, ...values });
  return { server, auth, forms: () => server.requests.map(formOf) };
}

const usersWith = (auth: TestAuth, phone: string) =>
  auth.database.query('select u.id, u.phone_change from auth.users u where $1 in (u.phone, u.phone_change)', [phone]);

test('a client signs up, in and over to another number with codes that Twilio sends', async () => {
  const { auth, forms } = await startTwilio();
  const supabase = supabaseClient(auth.url);
  const lastCode = () => forms().at(-1)?.Body?.replace('Shop: ', '') ?? '';
  expect((await supabase.auth.signUp({ phone: '+49150100001', password })).error).toBeNull();
  const verified = await supabase.auth.verifyOtp({ phone: '+49150100001', token: lastCode(), type: 'sms' });
  expect(verified.data.user).toMatchObject({ phone: '49150100001' });
  const asked = await supabase.auth.signInWithOtp({ phone: '+49150100001' });
  expect(asked).toMatchObject({ error: null, data: { messageId: `SM${'0'.repeat(32)}` } });
  const signedIn = await supabase.auth.verifyOtp({ phone: '+49150100001', token: lastCode(), type: 'sms' });
  expect(signedIn.error).toBeNull();
  expect((await supabase.auth.updateUser({ phone: '+49150100002' })).error).toBeNull();
  const moved = await supabase.auth.verifyOtp({ phone: '+49150100002', token: lastCode(), type: 'phone_change' });
  expect(moved.data.user.phone).toBe('49150100002');
  expect(forms().map(({ To, MessagingServiceSid }) => [To, MessagingServiceSid])).toEqual([
    ['+49150100001', service],
    ['+49150100001', service],
    ['+49150100002', service],
  ]);
});

test('a second factor gets its code from Twilio', async () => {
  const { auth, forms } = await startTwilio({
    mailer_autoconfirm: true,
    mfa_phone_enroll_enabled: true,
    mfa_phone_verify_enabled: true,
    mfa_phone_template: 'Second: {{ .Code }}',
  });
  const { body } = await auth.ask('/signup', { email: 'factor@x.test', password });
  const { enroll, challenge, verify } = factorsOf(auth, body.access_token);
  const { id } = (await enroll({ factor_type: 'phone', phone: '49150100003' })).body;
  const challenged = await challenge(id);
  const code = forms()[0]?.Body?.replace('Second: ', '');
  expect((await verify(id, challenged.body.id, code)).status).toBe(200);
});

const senders = [
  ['a number', '49150100', 'sms', { From: '+49150100', Body: 'Shop: CODE' }],
  ['a name', 'Shop', 'sms', { From: 'Shop', Body: 'Shop: CODE' }],
  ['a number, by WhatsApp', '+49150100', 'whatsapp', { From: 'whatsapp:+49150100', Body: 'Shop: CODE' }],
  ['a service, by WhatsApp', service, 'whatsapp', { MessagingServiceSid: service, Body: 'Shop: CODE' }],
] as const;

test.each(senders)('Twilio shows %s as the sender', async (_, sender, channel, form) => {
  const { auth, forms } = await startTwilio({ sms_twilio_message_service_sid: sender });
  expect((await auth.ask('/otp', { phone: '49150100004', channel })).status).toBe(200);
  const To = channel === 'whatsapp' ? 'whatsapp:+49150100004' : '+49150100004';
  expect(forms().map((sent) => ({ ...sent, Body: sent.Body?.replace(/\d{6}/, 'CODE') }))).toEqual([{ ...form, To }]);
});

test('WhatsApp has the code in an approved template, where there is one, and no other provider has WhatsApp', async () => {
  const { auth, forms } = await startTwilio({ sms_twilio_content_sid: 'HX01' });
  await auth.ask('/otp', { phone: '49150100005', channel: 'whatsapp' });
  const [form] = forms();
  expect(form).toMatchObject({ ContentSid: 'HX01', ContentVariables: expect.stringMatching(/^\{"1":"\d{6}"\}$/) });
  expect(form).not.toHaveProperty('Body');
  const other = await testAuth(database, { ...phones, sms_provider: 'capture' });
  expect(await other.ask('/otp', { phone: '49150100005', channel: 'whatsapp' })).toMatchObject({
    status: 400,
    body: { message: expect.stringMatching(/^Invalid channel/) },
  });
});

const troubles: readonly (readonly [HookReply, string])[] = [
  [{ status: 400, body: { code: 21211, status: 400 } }, 'twilio rejected the message (21211)'],
  [{ status: 201, body: { sid: 'SM1', status: 'failed', error_code: 30008 } }, 'twilio rejected the message (30008)'],
  [{ status: 502, body: '<h1>twilio token</h1>' }, 'twilio rejected the message (HTTP 502)'],
  [{ status: 200, body: {} }, 'twilio rejected the message (HTTP 200)'],
  [{ status: 400, body: { code: 'twilio token, and more' } }, 'twilio rejected the message (HTTP 400)'],
  [{ status: 201, body: 'x'.repeat(204_801) }, 'the response of the provider is too large'],
  [{ status: 307, headers: { location: '/' } }, 'twilio rejected the message (HTTP 307)'],
]; // biome-ignore format: a table

const phoneInTrouble = '49150100006';

async function expectRefused(auth: TestAuth, reason: string): Promise<void> {
  const signUp = await auth.ask('/signup', { phone: phoneInTrouble, password });
  expect(signUp).toMatchObject({
    status: 422,
    body: { code: 'sms_send_failed', message: `Error sending confirmation OTP to provider: ${reason}` },
  });
  expect(await usersWith(auth, phoneInTrouble)).toEqual([]);
  expect(auth.observations).toContainEqual({ kind: 'text_not_sent', provider: 'twilio', reason });
  expect(JSON.stringify([auth.observations, signUp.text])).not.toMatch(/t[a-z]+ token|49150100006/);
}

test('a message that is not taken fails the request, stores nothing and tells no secret', async () => {
  const { auth, server } = await startTwilio();
  for (const [reply, reason] of troubles) {
    server.answer(reply);
    await expectRefused(auth, reason);
  }
});

test('a wrong login at the provider fails the request, too', async () => {
  const { auth } = await startTwilio({ sms_twilio_auth_token: 'old token' });
  await expectRefused(auth, 'twilio rejected the message (20003)');
});

test('while the provider is down no number is changed, and the earlier code stays valid', async () => {
  const { auth, server, forms } = await startTwilio({ mailer_autoconfirm: true });
  const { body } = await auth.ask('/signup', { email: 'away@x.test', password });
  const change = () => auth.ask('/user', { phone: '49150100007' }, { method: 'PUT', token: body.access_token });
  expect((await change()).status).toBe(200);
  server.answer({ status: 503 });
  expect(await change()).toMatchObject({
    status: 422,
    body: { message: 'Error sending phone_change OTP to provider: twilio rejected the message (HTTP 503)' },
  });
  const token = forms()[0]?.Body?.slice(-6);
  expect((await auth.ask('/verify', { type: 'phone_change', phone: '49150100007', token })).status).toBe(200);
});

test('a provider that is unreachable, or never answers, fails the request at the time limit', async () => {
  const server = await startHookServer(null);
  server.answer(null);
  const observations: Observation[] = [];
  const ask = (sms_provider_url: string, timeoutMs: number) => {
    const send = createSendText({
      clock: systemClock,
      database: { query: () => Promise.reject(new Error('no message is kept')) },
      observe: (observation) => observations.push(observation),
      limits: { ...webhookLimits, timeoutMs },
    });
    const config = layerAuthConfig({ ...twilioValues, sms_provider_url });
    return send({ to: '49150100008', code: '123456', channel: 'sms', template: '{{ .Code }}', config });
  };
  await expect(ask(server.url, 100)).rejects.toThrow(new TextError('the provider did not answer in time'));
  await server.stop();
  await expect(ask(server.url, 60_000)).rejects.toThrow(new TextError('the provider is unreachable'));
  const failed = { kind: 'external_call', service: 'text', name: 'twilio', outcome: 'failed' };
  const told = [failed, { kind: 'text_not_sent' }];
  expect(observations).toMatchObject([...told, ...told]);
});

test('messages an hour are counted for all users together', async () => {
  const { auth, forms } = await startTwilio({ rate_limit_sms_sent: '2/1h' });
  const statuses: number[] = [];
  for (const phone of ['49150100011', '49150100012', '49150100013']) {
    statuses.push((await auth.ask('/otp', { phone })).status);
  }
  expect([statuses, forms().length]).toEqual([[200, 200, 429], 2]);
});

const others = [
  [
    'messagebird',
    { sms_messagebird_access_key: 'key', sms_messagebird_originator: 'Shop' },
    { path: '/messages', authorization: 'AccessKey key' },
    { originator: 'Shop', recipients: 'PHONE', body: 'TEXT', type: 'sms', datacoding: 'auto' },
    { status: 201, body: { id: 'mb1', recipients: { totalSentCount: 1 } } },
    { status: 422, body: { errors: [{ code: 9, description: 'no (correct) recipients found', parameter: 'recipient' }] } },
    '9',
  ],
  [
    'textlocal',
    { sms_textlocal_api_key: 'key', sms_textlocal_sender: 'Shop' },
    { path: '/send/', authorization: undefined },
    { apikey: 'key', sender: 'Shop', numbers: 'PHONE', message: 'TEXT' },
    { status: 200, body: { status: 'success', messages: [{ id: 17, recipient: 49 }] } },
    { status: 200, body: { status: 'failure', errors: [{ code: 51, message: 'No valid numbers' }] } },
    '51',
  ],
  [
    'vonage',
    { sms_vonage_api_key: 'key', sms_vonage_api_secret: 'hush', sms_vonage_from: 'Shop' },
    { path: '/sms/json', authorization: undefined },
    { api_key: 'key', api_secret: 'hush', from: 'Shop', to: 'PHONE', text: 'TEXT', type: 'unicode' },
    { status: 200, body: { 'message-count': '1', messages: [{ status: '0', 'message-id': 'v1' }] } },
    { status: 200, body: { 'message-count': '1', messages: [{ status: '4', 'error-text': 'Bad Credentials' }] } },
    '4',
  ],
] as const; // biome-ignore format: a table

test.each(others)(
  '%s gets the form of its documentation',
  async (name, values, request, form, taken, refused, code) => {
    const server = await startHookServer(null);
    server.answer(taken);
    const template = { sms_template: 'Für dich: {{ .Code }}' };
    const usual = { ...phones, ...template, sms_provider: name, sms_provider_url: `${server.url}/` };
    const auth = await testAuth(database, { ...usual, ...values });
    const phone = '49150100021';
    const { body } = await auth.ask('/otp', { phone });
    expect(body.message_id).toMatch(/^(mb1|17|v1)$/);
    const [sent] = server.requests;
    expect([sent?.path, sent?.headers.authorization]).toEqual([request.path, request.authorization]);
    const shown = Object.entries(formOf(sent!)).map(([key, value]) => [
      key,
      value.replace(phone, 'PHONE').replace(/^Für dich: \d{6}$/, 'TEXT'),
    ]);
    expect(Object.fromEntries(shown)).toEqual(form);
    server.answer(refused);
    expect((await auth.ask('/otp', { phone })).body).toMatchObject({
      code: 'sms_send_failed',
      message: `Error sending confirmation OTP to provider: ${name} rejected the message (${code})`,
    });
  },
);

test('a webhook gets signed JSON, and may give the message an id', async () => {
  const server = await startHookServer();
  const webhook: AuthValues = {
    sms_provider: 'webhook',
    sms_webhook_url: `${server.url}/texts`,
    sms_webhook_secrets: hookSecret,
  };
  const auth = await testAuth(database, { ...phones, ...webhook });
  const phone = '49150100031';
  expect((await auth.ask('/otp', { phone })).body.message_id).toMatch(/^msg_/);
  const [{ payload, path }] = server.requests as [HookRequest];
  expect([path, payload]).toEqual([
    '/texts',
    {
      type: 'text_message.requested',
      timestamp: new Date(auth.now()).toISOString().replace(/\.?0*Z$/, 'Z'),
      data: { to: `+${phone}`, message: `Your code is ${payload.data.code}`, code: payload.data.code, channel: 'sms' },
    },
  ]);
  expect((await auth.ask('/verify', { type: 'sms', phone, token: payload.data.code })).status).toBe(200);
  server.answer({ status: 202, body: { message_id: 'mine' } });
  expect((await auth.ask('/otp', { phone })).body.message_id).toBe('mine');
  server.answer({ status: 500 });
  expect((await auth.ask('/otp', { phone })).body.message).toBe(
    'Error sending confirmation OTP to provider: the webhook rejected the message (HTTP 500)',
  );
});

const incomplete: readonly (readonly [AuthValues, string])[] = [
  [{ sms_provider: 'twilio', sms_twilio_account_sid: 'AC1' }, 'sms_provider twilio needs sms_twilio_auth_token, sms_twilio_message_service_sid'],
  [{ sms_provider: 'webhook', sms_webhook_url: 'https://x.test/', sms_webhook_secrets: 'hush' }, 'sms_webhook_secrets must be secrets of the form v1,whsec_BASE64 (24 to 66 bytes), separated by |'],
  [{ sms_provider: 'twilio_verify' }, 'sms_provider twilio_verify is not supported, because it creates its own codes; use twilio'],
]; // biome-ignore format: a table

test.each(incomplete)(
  'a provider that cannot send as it is configured (%j) is told to the operator alone',
  async (values, problem) => {
    const auth = await testAuth(database, { ...phones, ...values });
    const { status, body } = await auth.ask('/otp', { phone: '49150100041' });
    expect([status, body.message]).toEqual([500, 'Unable to get SMS provider']);
    const masked = auth.observations.flatMap((observed) => (observed.kind === 'masked_error' ? [observed.error] : []));
    expect(masked).toMatchObject([{ cause: { message: problem } }]);
  },
);
