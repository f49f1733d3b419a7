/**
 * Somebody asks which addresses have an account, where the configuration hides it.
 */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type AuthValues, checkAuthConfig, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { type AuthRequestOptions, signedUpBefore, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, goThrough, keycloakValues, queryOf, signInAs } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let provider: OidcProvider;
beforeAll(async () => {
  database = await createAuthDatabase(`
    create schema app;
    create function app.nobody(event jsonb) returns jsonb language sql as
      $$ select '{"error": {"http_code": 403, "message": "By invitation only."}}'::jsonb $$;`);
  provider = await startOidcProvider([callbackUrl], {});
});

const password = 'a good password';
const phones = { external_phone_enabled: true, sms_provider: 'capture' } as const;

const hiding = (values: AuthValues = {}, given: Parameters<typeof testAuth>[2] = {}) =>
  testAuth(database, { security_hide_accounts: true, ...phones, ...values }, given);

type Body = Readonly<Record<string, unknown>>;

/** What an answer says, without what differs between any two answers. */
async function answerOf(auth: TestAuth, path: string, body: Body, options: AuthRequestOptions = {}) {
  const { status, headers, text } = await auth.ask(path, body, options);
  const plain = [body.email, body.phone]
    .filter((address) => address !== undefined)
    .reduce<string>((left, address) => left.replaceAll(String(address), 'ADDRESS'), text)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  const named = [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length', 'etag'].includes(name));
  return { status, headers: named, body: plain };
}

const kinds = ['unknown', 'pending', 'confirmed', 'invited', 'banned'] as const;
type EveryKind = Readonly<Record<(typeof kinds)[number], { email: string; phone: string }>>;
let round = 0;

/** An address, and a number, of each kind. */
async function everyKind(): Promise<EveryKind> {
  round += 1;
  const open = await testAuth(database, phones);
  const entries = kinds.map(
    (kind, index) => [kind, { email: `${kind}.${round}@x.test`, phone: `4917${100 * round + index}` }] as const,
  );
  const known = Object.fromEntries(entries) as EveryKind;
  const { pending, confirmed, invited, banned } = known;
  for (const address of [{ email: pending.email }, { phone: pending.phone }]) {
    expect((await open.ask('/signup', { ...address, password })).status).toBe(200);
  }
  const make = (user: object) => open.askAdmin('/admin/users', { password, ...user });
  await make({ ...confirmed, email_confirm: true, phone_confirm: true });
  expect((await open.askAdmin('/invite', { email: invited.email })).status).toBe(200);
  await make({ ...banned, email_confirm: true, phone_confirm: true, ban_duration: '8760h' });
  await open.leave();
  return known;
}

const ways: readonly (readonly [string, 'email' | 'phone', Body])[] = [
  ['/signup', 'email', { password }],
  ['/signup', 'email', { password: 'another password', data: { a: 1 } }],
  ['/otp', 'email', {}],
  ['/otp', 'email', { create_user: false }],
  ['/magiclink', 'email', {}],
  ['/recover', 'email', {}],
  ['/resend', 'email', { type: 'signup' }],
  ['/resend', 'email', { type: 'email_change' }],
  ['/signup', 'phone', { password }],
  ['/otp', 'phone', {}],
  ['/otp', 'phone', { create_user: false }],
  ['/resend', 'phone', { type: 'sms' }],
  ['/resend', 'phone', { type: 'phone_change' }],
];

/** Accounts for all that only ask: whoever asks changes none of them but for the time of its last message. */
let asked: EveryKind | undefined;
let asking = 0;
const began = Date.now();

/** Asks about an address of each kind. @returns The answer, which is the same for all. */
async function askEach(auth: TestAuth, [path, kind, members]: (typeof ways)[number], options?: AuthRequestOptions) {
  asking += 1;
  const known = { ...asked!, unknown: { email: `unknown.asked.${asking}@x.test`, phone: `4918${1000 + asking}` } };
  // What was sent before is longer ago than any pause.
  auth.pass((began - auth.now()) / 1000 + 3600 * asking);
  const ask = (name: (typeof kinds)[number]) =>
    answerOf(auth, path, { ...members, [kind]: known[name][kind] }, options);
  const again = async () => {
    const expected = await ask('unknown');
    for (const name of kinds.slice(1)) expect([name, await ask(name)]).toEqual([name, expected]);
    return expected;
  };
  return { known, again, first: await again() };
}

beforeEach(async () => {
  asked ??= await everyKind();
});

/** Asks in every way. @returns Those whose answer has another status than is expected; and the addresses without an account. */
async function askInEveryWay(
  auth: TestAuth,
  statusOf: (way: (typeof ways)[number]) => number,
  options?: AuthRequestOptions,
) {
  const others: unknown[] = [];
  const unknown: EveryKind['unknown'][] = [];
  for (const way of ways) {
    const { known, first } = await askEach(auth, way, options);
    if (first.status !== statusOf(way)) others.push([...way, first.status]);
    unknown.push(known.unknown);
  }
  return { others, unknown };
}

test.each(ways)('%s by %s %j answers alike for all addresses, also the next time', async (...way) => {
  const auth = await hiding();
  const { first, again } = await askEach(auth, way);
  expect(first.status).toBe(200);
  const soon = await again();
  expect([soon.status, soon.body]).toEqual([429, expect.stringContaining('request this after 60 seconds')]);
  auth.pass(61);
  expect(await again()).toEqual(first);
});

test('each way answers alike where only some addresses get emails', async () => {
  const auth = await hiding({ external_email_authorized_addresses: 'me@x.test' });
  const { others } = await askInEveryWay(auth, ([, kind]) => (kind === 'email' ? 400 : 200));
  expect(others).toEqual([]);
});

test('each way answers alike while no message may be sent', async () => {
  const auth = await hiding({ rate_limit_email_sent: 0, rate_limit_sms_sent: 0 });
  expect((await askInEveryWay(auth, () => 429)).others).toEqual([]);
});

/** Addresses without an account that nobody may make one for. */
const refused: EveryKind['unknown'][] = [];

test('each way answers alike where a hook lets nobody sign up', async () => {
  const auth = await hiding({
    hook_before_user_created_enabled: true,
    hook_before_user_created_uri: 'pg-functions://postgres/app/nobody',
  });
  const { others, unknown } = await askInEveryWay(auth, () => 200);
  expect(others).toEqual([]);
  refused.push(...unknown);
});

test('each way answers alike where nobody may sign up', async () => {
  const auth = await hiding({ disable_signup: true });
  const { others, unknown } = await askInEveryWay(auth, ([path]) => (path === '/signup' ? 422 : 200));
  expect(others).toEqual([]);
  refused.push(...unknown);
});

test('someone who was refused has no account, once all that the answers began is done', async () => {
  // The gateway of the tests before: it stops when nothing is under way.
  const auth = await hiding({ disable_signup: true });
  await auth.gateway.stop();
  expect(refused).toHaveLength(2 * ways.length);
  const [emails, phones] = [refused.map(({ email }) => email), refused.map(({ phone }) => phone)];
  const made = 'select email, phone from auth.users where email = any ($1) or phone = any ($2)';
  expect(await database.query(made, [emails, phones])).toEqual([]);
});

test('each way answers alike to who asks in another audience', async () => {
  const auth = await hiding({ security_jwt_aud_header_enabled: true });
  const { others } = await askInEveryWay(auth, () => 200, { headers: { 'x-jwt-aud': 'other' } });
  expect(others).toEqual([]);
});

test('the mail server that fails is in the log, and not in the answer', async () => {
  const values = {
    mailer_delivery: 'direct',
    smtp_host: '127.0.0.1',
    smtp_port: '1',
    smtp_admin_email: 'a@x.test',
  } as const;
  const auth = await hiding(values);
  expect((await askEach(auth, ['/recover', 'email', {}])).first.status).toBe(200);
  await vi.waitFor(() =>
    expect(auth.observations).toContainEqual(expect.objectContaining({ kind: 'masked_error', requestId: null })),
  );
});

test('a new user has the id of the answer, and signs in with the code', async () => {
  const auth = await hiding();
  const email = 'new.hidden@x.test';
  const { body } = await auth.ask('/signup', { email, password, data: { plan: 'gold' } });
  const { code } = await vi.waitFor(() => auth.message(email));
  const session = await auth.ask('/verify', { type: 'email', email, token: code });
  expect(session.body.user).toMatchObject({ id: body.id, user_metadata: { plan: 'gold' } });
  expect((await auth.ask('/token?grant_type=password', { email, password })).status).toBe(200);
});

test.each([
  [true, 'magic_link'],
  [false, 'recovery'],
])(
  'someone who signs up again gets an email that signs in, whatever the page asks for (%s)',
  async (isEnabled, kind) => {
    const email = `forgotten.${kind}@x.test`;
    const { user } = await signedUpBefore(database, email);
    const auth = await hiding({ external_email_magic_link_enabled: isEnabled });
    auth.pass(3600);
    expect((await auth.ask('/signup', { email, password: 'of somebody else' })).body.id).not.toBe(user.id);
    const { code } = await vi.waitFor(async () => {
      const message = await auth.message(email);
      expect(message.kind).toBe(kind);
      return message;
    });
    const { body } = await auth.ask('/verify', { type: 'email', email, token: code });
    expect(body.user.id).toBe(user.id);
    const statuses = ['of somebody else', password].map(
      async (given) => (await auth.ask('/token?grant_type=password', { email, password: given })).status,
    );
    expect(await Promise.all(statuses)).toEqual([400, 200]);
  },
);

test('a number that signs up again gets a code that signs in', async () => {
  const auth = await hiding();
  const phone = '4916001';
  const { body: owner } = await auth.askAdmin('/admin/users', { phone, phone_confirm: true, password });
  await auth.ask('/signup', { phone, password: 'of somebody else' });
  const { code } = await vi.waitFor(() => auth.message(phone));
  const { body } = await auth.ask('/verify', { type: 'sms', phone, token: code });
  expect(body.user.id).toBe(owner.id);
});

test('nobody is written to where nobody has an account', async () => {
  const auth = await hiding();
  const emails = ['a', 'b', 'c'].map((name) => `${name}.silent@x.test`) as [string, string, string];
  await auth.ask('/recover', { email: emails[0] });
  await auth.ask('/resend', { type: 'signup', email: emails[1] });
  await auth.ask('/otp', { email: emails[2], create_user: false });
  await auth.gateway.stop();
  const sent = 'select recipient from auth.pgreflect_captured_email where recipient = any ($1::text[])';
  expect(await database.query(sent, [emails])).toEqual([]);
  expect(await database.query('select from auth.users where email = any ($1::text[])', [emails])).toEqual([]);
});

test('passwords are refused alike, right ones of unconfirmed users and unreadable ones too, after one time', async () => {
  const minRefusalMs = 300;
  const known = await everyKind();
  const broken = await signedUpBefore(database, 'broken.hidden@x.test');
  await database.query("update auth.users set encrypted_password = '{nonsense' where id = $1", [broken.user.id]);
  const auth = await hiding({}, { minRefusalMs });
  const guesses = [
    ...kinds.map((kind) => ({ email: known[kind].email, password: 'a wrong password' })),
    { email: known.pending.email, password },
    { phone: known.pending.phone, password },
    { email: 'broken.hidden@x.test', password },
  ];
  const answers = [];
  for (const guess of guesses) {
    const start = performance.now();
    answers.push(await answerOf(auth, '/token?grant_type=password', guess));
    expect(performance.now() - start).toBeGreaterThan(minRefusalMs - 2);
  }
  expect(answers).toEqual(Array(guesses.length).fill(answers[0]));
  expect(answers[0]?.body).toContain('invalid_credentials');
  // The operator learns of a hash that cannot be read.
  expect(auth.observations).toContainEqual(expect.objectContaining({ kind: 'masked_error', requestId: null }));
});

test('whoever signs up does not learn from the limit on passwords whether theirs was taken', async () => {
  const known = await everyKind();
  const auth = await hiding({ rate_limit_verify: 30 });
  const theirs = 'a password of their own';
  const codes: unknown[][] = [];
  for (const kind of ['unknown', 'confirmed'] as const) {
    const { email } = known[kind];
    await auth.ask('/signup', { email, password: theirs });
    if (kind === 'unknown') await vi.waitFor(() => auth.message(email));
    const guesses = Array.from({ length: 32 }, () =>
      auth.ask('/token?grant_type=password', { email, password: theirs }),
    );
    codes.push((await Promise.all(guesses)).map(({ body }) => body.code).sort());
  }
  expect(codes[0]).toEqual(codes[1]);
  expect(codes[0]?.slice(-2)).toEqual(Array(2).fill('over_request_rate_limit'));
});

test('the limit on messages to a number does not tell whether one was sent', async () => {
  const known = await everyKind();
  const auth = await hiding({ external_anonymous_users_enabled: true });
  auth.pass(3600);
  const codes: unknown[][] = [];
  for (const kind of ['unknown', 'confirmed'] as const) {
    const { phone } = known[kind];
    expect((await auth.ask('/otp', { phone, create_user: false })).status).toBe(200);
    if (kind === 'confirmed') await vi.waitFor(() => auth.message(phone));
    const seen: unknown[] = [];
    for (let asked = 0; asked < 4; asked += 1) {
      const { access_token: token } = (await auth.ask('/signup', {})).body;
      seen.push((await auth.ask('/user', { phone }, { method: 'PUT', token })).body.code);
    }
    codes.push(seen);
  }
  expect(codes[0]).toEqual(codes[1]);
});

test('codes are refused alike', async () => {
  const known = await everyKind();
  const auth = await hiding();
  for (const [member, types] of [
    ['email', ['email', 'signup', 'recovery', 'email_change']],
    ['phone', ['sms', 'phone_change']],
  ] as const) {
    for (const type of types) {
      const body = (kind: (typeof kinds)[number]) => ({ type, token: '000000', [member]: known[kind][member] });
      const expected = await answerOf(auth, '/verify', body('unknown'));
      expect(expected.status).toBe(403);
      for (const kind of kinds) expect(await answerOf(auth, '/verify', body(kind))).toEqual(expected);
    }
  }
});

test.each([
  ['email', 'known.change@x.test', 'never.change@x.test'],
  ['phone', '4917001', '4917002'],
])(
  'a change of %s answers alike whether or not somebody has it, and takes it from nobody',
  async (member, known, never) => {
    const auth = await hiding({ external_anonymous_users_enabled: true });
    const { body: owner } = await auth.askAdmin('/admin/users', { [member]: known, [`${member}_confirm`]: true });
    const answers = [];
    for (const wanted of [known, never]) {
      const { access_token: token } = (await auth.ask('/signup', {})).body;
      answers.push(await answerOf(auth, '/user', { [member]: wanted }, { method: 'PUT', token }));
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.status).toBe(200);
    expect((await auth.askAdmin(`/admin/users/${owner.id}`)).body[member]).toBe(known);
  },
);

test('a provider that verifies no addresses tells nothing of those that somebody claims there', async () => {
  const { confirmed, unknown } = await everyKind();
  const auth = await hiding(
    keycloakValues(provider, { security_manual_linking_enabled: true, external_anonymous_users_enabled: true }),
  );
  const claim = (name: string, email: string) => {
    provider.users[name] = { name, email, email_verified: false };
    return name;
  };
  const outcomes = async (enter: (kind: string, email: string) => Promise<unknown>, free = unknown.email) => {
    const [one, other] = [await enter('free', free), await enter('taken', confirmed.email)];
    expect(one).toEqual(other);
    return one;
  };
  const signIn = async (kind: string, email: string) => queryOf(await signInAs(auth, claim(`sign-in-${kind}`, email)));
  expect(await outcomes(signIn)).toMatchObject({
    error_code: 'provider_email_needs_verification',
    error_description: expect.stringContaining('A confirmation email has been sent'),
  });
  expect(await outcomes(signIn)).toMatchObject({ error_code: 'over_email_send_rate_limit' });
  auth.pass(61);
  expect(await outcomes(signIn)).toMatchObject({ error_code: 'provider_email_needs_verification' });
  const link = async (kind: string, email: string) => {
    const { access_token: token } = (await auth.ask('/signup', {})).body;
    const query = new URLSearchParams({
      provider: 'keycloak',
      login_hint: claim(`link-${kind}`, email),
      skip_http_redirect: 'true',
    });
    const { body } = await auth.ask(`/user/identities/authorize?${query}`, undefined, { token });
    const stop = await goThrough(auth, body.url);
    const { email: own } = (await auth.ask('/user', undefined, { token })).body;
    return [queryOf(stop), own];
  };
  expect(await outcomes(link, 'linked.free@x.test')).toEqual([{}, '']);
});

test.each(['mailer_autoconfirm', 'sms_autoconfirm', 'mailer_allow_unverified_email_sign_ins'] as const)(
  'a configuration with %s, which would tell, is refused',
  (name) => {
    const values = { security_hide_accounts: true, ...phones };
    expect(checkAuthConfig(layerAuthConfig(values))).toEqual([]);
    expect(checkAuthConfig(layerAuthConfig(values, { [name]: true }))).toEqual([
      `security_hide_accounts and ${name} cannot both be true`,
    ]);
  },
);
