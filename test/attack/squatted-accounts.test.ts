/**
 * Somebody signs up with the address of somebody else, puts into the account whatever may open it later, and waits for the
 * owner to prove the address.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { fragmentOf, open, queryOf, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, goThrough, keycloakValues, signInAs } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let provider: OidcProvider;
const thief = 'the password of the thief';
const own = 'the password of the owner';
const verifier = 'v'.repeat(43);
const pkce = { code_challenge: verifier, code_challenge_method: 'plain' };

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl], {});
});

const serve = (values: AuthValues = {}): Promise<TestAuth> =>
  testAuth(database, keycloakValues(provider, { smtp_max_frequency: 0, sms_max_frequency: 0, ...values }));

let furnished = 0;

/** What the thief has in the account beside a password: rows as earlier sign-ins, linkings and enrolments leave them. */
async function furnish(email: string): Promise<{ readonly refreshToken: string; readonly phone: string }> {
  furnished += 1;
  const [refreshToken, phone] = [`thief${furnished}`.padEnd(12, 'x'), `49${1e9 + furnished}`];
  await database.query(
    `with u as (
      update auth.users set phone = $2, phone_confirmed_at = now(), email_change = 'thief@x.test',
        email_change_token_new = 'thief', email_change_sent_at = now()
      where email = $1 returning id
    ), s as (
      insert into auth.sessions (id, user_id, created_at, updated_at, aal)
      select gen_random_uuid(), u.id, now(), now(), 'aal1' from u returning id, user_id
    ), t as (
      insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, session_id)
      select '00000000-0000-0000-0000-000000000000', $3, s.user_id, false, now(), now(), s.id from s
    ), i as (
      insert into auth.identities (id, user_id, provider, provider_id, identity_data)
      select gen_random_uuid(), u.id, 'keycloak', 'thief of ' || $1, '{"sub": "x"}' from u
    ), o as (
      insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
      select gen_random_uuid(), u.id, 'email_change_token_new', 'thief', 'thief@x.test' from u
    )
    insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
    select gen_random_uuid(), u.id, 'thief', 'totp', 'verified', 'JBSWY3DPEHPK3PXP', now(), now() from u`,
    [email, phone, refreshToken],
  );
  provider.users[`thief of ${email}`] = { name: 'Thief', email: `thief.of.${email}`, email_verified: true };
  return { refreshToken, phone };
}

/** The code for typing, in the newest email. */
const codeTo = async (auth: TestAuth, email: string) => (await auth.message(email)).code;
const linkTo = async (auth: TestAuth, email: string) => (await auth.message(email)).link;
const hashOf = (link: string) => new URL(link).searchParams.get('token');
const verifyCode = async (auth: TestAuth, email: string, type: string) =>
  expect((await auth.ask('/verify', { type, email, token: await codeTo(auth, email) })).status).toBe(200);

type Way = (auth: TestAuth, email: string, link: string) => Promise<unknown>;

/** Whoever opens the link of the sign-up, perhaps a mail scanner. */
const openings: Readonly<Record<string, Way>> = {
  'a program that opens the link of the sign-up': async (_auth, _email, link) => open(link),
  'an application that is given the link of the sign-up': async (auth, _email, link) =>
    expect((await auth.ask('/verify', { type: 'email', token_hash: hashOf(link) })).status).toBe(200),
};

/** The ways in which an owner comes who knows nothing of the thief. */
const ways: Readonly<Record<string, Way>> = {
  'an invitation': async (auth, email) => {
    expect((await auth.askAdmin('/invite', { email })).status).toBe(200);
    await open(await linkTo(auth, email));
  },
  'an invitation that is accepted at a provider': async (auth, email) => {
    await auth.askAdmin('/invite', { email });
    provider.users[email] = { name: 'Owner', email, email_verified: true };
    await signInAs(auth, email, { invite_token: hashOf(await linkTo(auth, email))! });
  },
  'a link that an admin makes': async (auth, email) => {
    const { body } = await auth.askAdmin('/admin/generate_link', { type: 'magiclink', email });
    await open(`${auth.url}${new URL(body.action_link).pathname}${new URL(body.action_link).search}`);
  },
  'a sign-up link that an admin makes': async (auth, email) => {
    const { body } = await auth.askAdmin('/admin/generate_link', { type: 'signup', email, password: own });
    await open(`${auth.url}${new URL(body.action_link).pathname}${new URL(body.action_link).search}`);
  },
  'a sign-up with another password': async (auth, email) => {
    expect((await auth.ask('/signup', { email, password: own })).status).toBe(200);
    await verifyCode(auth, email, 'email');
  },
  'a sign-up with another password, after which the thief signs up once more': async (auth, email) => {
    await auth.ask('/signup', { email, password: own });
    await auth.ask('/signup', { email, password: thief });
    await verifyCode(auth, email, 'email');
  },
  'a code to sign in with': async (auth, email) => {
    expect((await auth.ask('/otp', { email })).status).toBe(200);
    await verifyCode(auth, email, 'email');
  },
  'a link to sign in with': async (auth, email) => {
    await auth.ask('/magiclink', { email });
    await open(await linkTo(auth, email));
  },
  'a recovery by code': async (auth, email) => {
    await auth.ask('/recover', { email });
    await verifyCode(auth, email, 'recovery');
  },
  'a recovery by link': async (auth, email) => {
    await auth.ask('/recover', { email });
    await open(await linkTo(auth, email));
  },
  'a recovery with a verifier of their own': async (auth, email) => {
    await auth.ask('/recover', { email, ...pkce });
    const { code } = queryOf((await open(await linkTo(auth, email))).location);
    const exchange = { auth_code: code, code_verifier: verifier };
    expect((await auth.ask('/token?grant_type=pkce', exchange)).status).toBe(200);
  },
  'a sign-in with a provider': async (auth, email) => {
    provider.users[email] = { name: 'Owner', email, email_verified: true };
    await signInAs(auth, email);
  },
  'a confirmation that is sent again, by code': async (auth, email) => {
    expect((await auth.ask('/resend', { type: 'signup', email })).status).toBe(200);
    await verifyCode(auth, email, 'email');
  },
  'a confirmation that is sent again, by link': async (auth, email) => {
    await auth.ask('/resend', { type: 'signup', email });
    await open(await linkTo(auth, email));
  },
  'a confirmation that is sent again, with a verifier of their own': async (auth, email) => {
    await auth.ask('/resend', { type: 'signup', email, ...pkce });
    const { code } = queryOf((await open(await linkTo(auth, email))).location);
    const exchange = { auth_code: code, code_verifier: verifier };
    expect((await auth.ask('/token?grant_type=pkce', exchange)).status).toBe(200);
  },
};

async function userWith(auth: TestAuth, email: string) {
  const [row] = await database.query<{ id: string }>('select id from auth.users where email = $1', [email]);
  return (await auth.askAdmin(`/admin/users/${row!.id}`)).body;
}

let owners = 0;

async function expectNothingLeft(auth: TestAuth, way: Way, challenge: object): Promise<void> {
  const email = `owner-${++owners}@x.test`;
  await auth.ask('/signup', { email, password: thief, data: { role: 'thief' }, ...challenge });
  const link = await linkTo(auth, email);
  const { refreshToken, phone } = await furnish(email);
  await way(auth, email, link);
  const user = await userWith(auth, email);
  expect(user.email_confirmed_at).toEqual(expect.any(String));
  expect((await auth.ask('/token?grant_type=password', { email, password: thief })).body.code).toBe(
    'invalid_credentials',
  );
  const byPhone = await auth.ask('/token?grant_type=password', { phone, password: thief });
  expect(byPhone.body.code).not.toBeUndefined();
  expect(JSON.stringify(user)).not.toMatch(/thief/);
  expect([user.phone, user.factors, user.new_email]).toEqual(['', undefined, undefined]);
  const refreshed = await auth.ask('/token?grant_type=refresh_token', { refresh_token: refreshToken });
  expect(refreshed).toMatchObject({ status: 400, body: { code: 'refresh_token_not_found' } });
  const entered = await signInAs(auth, `thief of ${email}`);
  expect(JSON.stringify(await userWith(auth, email))).not.toMatch(/thief/);
  expect(entered.location.hash).not.toContain(user.id);
  const pending = await open(`${auth.url}/auth/v1/verify?type=email_change&token=thief`);
  expect(pending.location).toContain('otp_expired');
}

// With a challenge, the stranger has left a flow, too.
test.each(Object.keys(ways))('nothing that a stranger left in an account outlives %s', async (name) =>
  expectNothingLeft(await serve(), ways[name]!, pkce),
);

test.each(
  Object.keys(openings).flatMap(
    (opening) =>
      [
        [opening, 'a challenge', pkce],
        [opening, 'none', {}],
      ] as const,
  ),
)(
  'where links keep no password, nothing that a stranger left in an account outlives %s, which has %s',
  async (opening, _has, challenge) => {
    const auth = await serve({ security_link_keeps_password: false });
    await expectNothingLeft(auth, openings[opening]!, challenge);
  },
);

test('with a page that asks first, a program that opens the link of a stranger proves nothing', async () => {
  const auth = await serve({ mailer_link_confirmation: 'page' });
  const email = 'asked-first@x.test';
  await auth.ask('/signup', { email, password: thief });
  await fetch(await linkTo(auth, email));
  expect((await userWith(auth, email)).email_confirmed_at).toBeUndefined();
  const signIn = await auth.ask('/token?grant_type=password', { email, password: thief });
  expect(signIn.body.code).toBe('email_not_confirmed');
});

test('the code of the email keeps password and data of the sign-up', async () => {
  const auth = await serve();
  const email = 'own-code@x.test';
  await auth.ask('/signup', { email, password: own, data: { name: 'Ana' } });
  await auth.ask('/signup', { email, password: own });
  await verifyCode(auth, email, 'email');
  const { status, body } = await auth.ask('/token?grant_type=password', { email, password: own });
  expect([status, body.user?.user_metadata.name]).toEqual([200, 'Ana']);
});

test('where links keep no password, the verifier keeps it, however often a program has opened the link', async () => {
  const auth = await serve({ security_link_keeps_password: false });
  const email = 'own-verifier@x.test';
  await auth.ask('/signup', { email, password: own, data: { name: 'Ana' }, ...pkce });
  const { code } = queryOf((await open(await linkTo(auth, email))).location);
  const signIn = () => auth.ask('/token?grant_type=password', { email, password: own });
  expect((await signIn()).body.code).toBe('invalid_credentials');
  const exchange = (code_verifier: string) => auth.ask('/token?grant_type=pkce', { auth_code: code, code_verifier });
  expect((await exchange('w'.repeat(43))).body.code).toBe('bad_code_verifier');
  expect((await signIn()).body.code).toBe('invalid_credentials');
  const { user } = (await exchange(verifier)).body;
  expect(user.user_metadata).toMatchObject({ name: 'Ana', email_verified: true });
  expect(user.identities[0].identity_data).toMatchObject({ name: 'Ana', email_verified: true });
  expect((await signIn()).status).toBe(200);
});

test('a password that the owner has set meanwhile is not undone by the verifier of the sign-up', async () => {
  const auth = await serve({ security_link_keeps_password: false });
  const email = 'meanwhile@x.test';
  await auth.ask('/signup', { email, password: thief, ...pkce });
  const { code } = queryOf((await open(await linkTo(auth, email))).location);
  await auth.ask('/otp', { email });
  const signedIn = await auth.ask('/verify', { type: 'email', email, token: await codeTo(auth, email) });
  await auth.ask('/user', { password: own }, { method: 'PUT', token: signedIn.body.access_token });
  const exchanged = await auth.ask('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
  expect(exchanged.body.code).toBe('flow_state_not_found');
  expect((await auth.ask('/token?grant_type=password', { email, password: own })).status).toBe(200);
});

test('a session that began before the proof changes nothing after it, not even with a request that was under way', async () => {
  const auth = await serve({ mailer_allow_unverified_email_sign_ins: true });
  const email = 'race@x.test';
  provider.users.racer = { name: 'Racer', email, email_verified: false };
  const { location } = await signInAs(auth, 'racer');
  const token = new URLSearchParams(location.hash.slice(1)).get('access_token')!;
  const askForLink = async () => {
    await auth.ask('/recover', { email });
    return linkTo(auth, email);
  };
  const link = await askForLink();
  const put = (body: object) => auth.ask('/user', body, { method: 'PUT', token });
  const enroll = () => auth.ask('/factors', { factor_type: 'totp' }, { token });
  const under = [put({ password: thief }), put({ data: { role: 'thief' } }), enroll(), enroll()];
  const [{ location: opened }] = await Promise.all([open(link), ...under]);
  // A password that is set before kills the link, and the owner asks for another one.
  if (fragmentOf(opened).error_code !== undefined) await open(await askForLink());
  const user = await userWith(auth, email);
  expect([user.factors, user.user_metadata.role, user.identities.length]).toEqual([undefined, undefined, 1]);
  expect((await auth.ask('/token?grant_type=password', { email, password: thief })).body.code).toBe(
    'invalid_credentials',
  );
});

test('an identity that a stranger was linking when the owner signed in is not linked', async () => {
  const values = { mailer_allow_unverified_email_sign_ins: true, security_manual_linking_enabled: true };
  const auth = await serve(values);
  const email = 'linking@x.test';
  provider.users.linker = { name: 'Linker', email, email_verified: false };
  provider.users.second = { name: 'Second', email: 'second@x.test', email_verified: true };
  const { location } = await signInAs(auth, 'linker');
  const token = new URLSearchParams(location.hash.slice(1)).get('access_token')!;
  const path = '/user/identities/authorize?provider=keycloak&skip_http_redirect=true&login_hint=second';
  const { body } = await auth.ask(path, undefined, { token });
  await auth.ask('/recover', { email });
  await open(await linkTo(auth, email));
  await goThrough(auth, body.url);
  expect((await userWith(auth, email)).identities).toMatchObject([{ provider: 'email' }]);
});

test('where links keep no password, an anonymous user’s new address belongs to the reader of the email alone', async () => {
  const auth = await serve({ external_anonymous_users_enabled: true, security_link_keeps_password: false });
  const { access_token: token } = (await auth.ask('/signup', { data: { role: 'thief' } })).body;
  await auth.ask('/user', { email: 'upgraded@x.test', password: thief }, { method: 'PUT', token });
  await open(await linkTo(auth, 'upgraded@x.test'));
  expect((await auth.ask('/user', undefined, { token })).body.code).toBe('session_not_found');
  const signIn = await auth.ask('/token?grant_type=password', { email: 'upgraded@x.test', password: thief });
  expect(signIn.body.code).toBe('invalid_credentials');
  expect((await userWith(auth, 'upgraded@x.test')).user_metadata.role).toBeUndefined();
});

test("a stranger who signed up with somebody's number cannot sign in once its owner has confirmed it", async () => {
  const auth = await serve({
    external_phone_enabled: true,
    sms_test_otp: '4915550001=123456',
    sms_test_otp_valid_until: '2099-01-01T00:00:00Z',
    sms_provider: 'twilio',
  });
  const phone = '4915550001';
  expect((await auth.ask('/signup', { phone, password: thief, data: { role: 'thief' } })).status).toBe(200);
  expect((await auth.ask('/signup', { phone, password: own })).status).toBe(200);
  const { body } = await auth.ask('/verify', { type: 'sms', phone, token: '123456' });
  expect(body.user.user_metadata.role).toBeUndefined();
  const signIn = await auth.ask('/token?grant_type=password', { phone, password: thief });
  expect(signIn.body.code).toBe('invalid_credentials');
});

test('what an admin has entered stays, whoever asks for a code meanwhile', async () => {
  const auth = await serve();
  const email = 'made@x.test';
  await auth.askAdmin('/admin/users', { email, password: own, user_metadata: { team: 'red' } });
  await auth.ask('/signup', { email, password: thief, data: { team: 'blue' } });
  await auth.ask('/otp', { email });
  await open(await linkTo(auth, email));
  const { status, body } = await auth.ask('/token?grant_type=password', { email, password: own });
  expect([status, body.user?.user_metadata.team]).toEqual([200, 'red']);
});

test('where addresses need no proof, a second sign-up takes the account of a first one that waits', async () => {
  const email = 'automatic@x.test';
  await (await serve()).ask('/signup', { email, password: thief, data: { role: 'thief' } });
  const auth = await serve({ mailer_autoconfirm: true });
  const { body } = await auth.ask('/signup', { email, password: own, data: { name: 'Ana' } });
  expect(body.user.user_metadata).toMatchObject({ name: 'Ana' });
  expect(body.user.user_metadata.role).toBeUndefined();
  expect((await auth.ask('/token?grant_type=password', { email, password: thief })).status).toBe(400);
  expect((await auth.ask('/token?grant_type=password', { email, password: own })).status).toBe(200);
});

test('an account that an admin has prepared is not for who signs up with its address where no proof is needed', async () => {
  const auth = await serve({ mailer_autoconfirm: true });
  const [made, invited] = ['made.for@x.test', 'invited.for@x.test'];
  const app_metadata = { is_manager: true };
  expect((await auth.askAdmin('/admin/users', { email: made, password: own, app_metadata })).status).toBe(200);
  expect((await auth.askAdmin('/invite', { email: invited })).status).toBe(200);
  const signUp = (email: string, password: string) => auth.ask('/signup', { email, password });
  const answers = [await signUp(made, thief), await signUp(invited, thief)];
  const opened = 'select from auth.sessions s join auth.users u on u.id = s.user_id where u.email = any ($1)';
  expect(await database.query(opened, [[made, invited]])).toEqual([]);
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([422, 'user_already_exists']));
  expect((await signUp(made, own)).body.user).toMatchObject({ app_metadata });
  expect((await open(await linkTo(auth, invited))).location).toContain('access_token=');
});

const signInWith = async (auth: TestAuth, email: string, password: string) =>
  (await auth.ask('/token?grant_type=password', { email, password })).status;

test.each(['code', 'link'] as const)(
  'of two sign-ups, the one whose %s is used keeps its password and data',
  async (by) => {
    const auth = await serve();
    const email = `second-by-${by}@x.test`;
    await auth.ask('/signup', { email, password: thief, data: { role: 'thief' } });
    await auth.ask('/signup', { email, password: own, data: { name: 'Ana' } });
    if (by === 'code') await verifyCode(auth, email, 'signup');
    else await open(await linkTo(auth, email));
    expect([await signInWith(auth, email, thief), await signInWith(auth, email, own)]).toEqual([400, 200]);
    const { user_metadata, identities } = await userWith(auth, email);
    for (const data of [user_metadata, identities[0].identity_data]) {
      expect(data).toMatchObject({ name: 'Ana', email, email_verified: true });
      expect(data.role).toBeUndefined();
    }
  },
);

test('a sign-up that is repeated before its email is opened keeps its password, also after another person came', async () => {
  const auth = await serve();
  const email = 'repeated@x.test';
  await auth.ask('/signup', { email, password: thief });
  for (const _time of [1, 2]) await auth.ask('/signup', { email, password: own, data: { name: 'Ana' } });
  await verifyCode(auth, email, 'signup');
  expect([await signInWith(auth, email, thief), await signInWith(auth, email, own)]).toEqual([400, 200]);
});

test('of a sign-up and one whose email is not sent for a limit, the email enters neither password', async () => {
  const auth = await serve({ rate_limit_email_recipient: 1 });
  const email = 'limited@x.test';
  await auth.ask('/signup', { email, password: own, data: { name: 'Ana' } });
  await auth.ask('/signup', { email, password: thief, data: { role: 'thief' } });
  await verifyCode(auth, email, 'signup');
  expect([await signInWith(auth, email, thief), await signInWith(auth, email, own)]).toEqual([400, 400]);
});

test('a sign-up whose number is confirmed with a code that was sent again keeps no password', async () => {
  const auth = await serve({
    external_phone_enabled: true,
    sms_test_otp: '4915550002=123456',
    sms_test_otp_valid_until: '2099-01-01T00:00:00Z',
    sms_provider: 'twilio',
  });
  const phone = '4915550002';
  await auth.ask('/signup', { phone, password: thief, data: { role: 'thief' } });
  await auth.ask('/resend', { type: 'sms', phone });
  const { body } = await auth.ask('/verify', { type: 'sms', phone, token: '123456' });
  expect(body.user.user_metadata.role).toBeUndefined();
  expect((await auth.ask('/token?grant_type=password', { phone, password: thief })).status).toBe(400);
});

test('the link that an admin makes for a second sign-up enters the password of that one', async () => {
  const auth = await serve();
  const email = 'own-mailer@x.test';
  const make = async (password: string, data: object) =>
    (await auth.askAdmin('/admin/generate_link', { type: 'signup', email, password, data })).body;
  await make(thief, { role: 'thief' });
  const { hashed_token: token_hash } = await make(own, { name: 'Ana' });
  expect((await auth.ask('/verify', { type: 'signup', token_hash })).status).toBe(200);
  expect([await signInWith(auth, email, thief), await signInWith(auth, email, own)]).toEqual([400, 200]);
  expect((await userWith(auth, email)).user_metadata.role).toBeUndefined();
});

test('where addresses need no proof, nobody gets the account of a user whose number is confirmed by its address', async () => {
  const email = 'has-a-phone@x.test';
  await (await serve()).ask('/signup', { email, password: own, data: { name: 'Ana' } });
  const { refreshToken } = await furnish(email);
  const auth = await serve({ mailer_autoconfirm: true });
  const refused = await auth.ask('/signup', { email, password: thief });
  expect(refused).toMatchObject({ status: 422, body: { code: 'user_already_exists' } });
  await auth.ask('/otp', { email });
  const { phone, email_confirmed_at, factors } = await userWith(auth, email);
  expect([phone.length, email_confirmed_at, factors.length]).toEqual([12, undefined, 1]);
  expect((await auth.ask('/token?grant_type=refresh_token', { refresh_token: refreshToken })).status).toBe(200);
});

let again = 0;

test.each([
  ['the network of the sign-up', '93.184.216.34', '93.184.216.34', 200],
  ['another network', '93.184.216.34', '93.184.217.34', 400],
  ['a proxy, from behind which the sign-up came', '10.0.0.7', '10.0.0.7', 400],
  ['this machine, from which the sign-up came', '127.0.0.1', '127.0.0.1', 400],
] as const)(
  'a confirmation that is sent again for %s keeps the password only there',
  async (_name, first, ip, status) => {
    const auth = await testAuth(database, { smtp_max_frequency: 0 }, { trustedProxies: ['127.0.0.1'] });
    const email = `again-${++again}@x.test`;
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    await auth.ask('/signup', { email, password: thief, data: { role: 'thief' } }, from(first));
    await auth.ask('/resend', { type: 'signup', email }, from(ip));
    await open(await linkTo(auth, email));
    expect(await signInWith(auth, email, thief)).toBe(status);
    expect((await userWith(auth, email)).user_metadata.role).toBe(status === 200 ? 'thief' : undefined);
  },
);
