/**
 * Accounts that are in use, with an address that nobody has proved: from an admin, or from a provider that does not verify
 * addresses. Strangers send requests with that address, which prove nothing, and a scanner opens what arrives.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { fragmentOf, open, queryOf, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, goThrough, keycloakValues, signInAs } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let provider: OidcProvider;
beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl], {});
});

const thief = 'the password of the thief';
const own = 'the password of the owner';
const verifier = 'v'.repeat(43);
const pkce = { code_challenge: verifier, code_challenge_method: 'plain' };
const phones = { external_phone_enabled: true, sms_test_otp: '4915560001=123456', sms_provider: 'twilio' } as const;

const serve = (values: AuthValues = {}): Promise<TestAuth> =>
  testAuth(database, keycloakValues(provider, { smtp_max_frequency: 0, sms_max_frequency: 0, ...phones, ...values }));

let count = 0;
const newAddress = () => `used-${++count}@x.test`;
const newPhone = () => `4915570${1000 + ++count}`;

const signIn = async (auth: TestAuth, address: object, password: string) =>
  (await auth.ask('/token?grant_type=password', { ...address, password })).status;

/** Signs in with a provider that has not verified the address. @returns The access token; undefined for none. */
async function claim(auth: TestAuth, email: string, who = 'owner'): Promise<string | undefined> {
  provider.users[`${who} of ${email}`] = { name: 'Claim', email, email_verified: false };
  const { location } = await signInAs(auth, `${who} of ${email}`);
  return fragmentOf(location.href).access_token;
}

const openLast = async (auth: TestAuth, email: string) => open((await auth.message(email)).link);

test('a sign-up whose link is opened gives nobody a password in an account that is in use', async () => {
  const auth = await serve({ mailer_allow_unverified_email_sign_ins: true });
  const email = newAddress();
  const token = (await claim(auth, email))!;
  await auth.ask('/user', { data: { iban: 'DE02' } }, { method: 'PUT', token });
  const { id } = (await auth.ask('/user', undefined, { token })).body;
  await auth.ask('/signup', { email, password: thief });
  expect(fragmentOf((await openLast(auth, email)).location).type).toBe('signup');
  const [user] = await database.query('select email_confirmed_at is not null as proved from auth.users where id = $1', [
    id,
  ]);
  expect([user, await signIn(auth, { email }, thief)]).toEqual([{ proved: true }, 400]);
});

test.each(['a code', 'a verifier'])(
  'with %s of their own, an owner keeps the password of their sign-up',
  async (by) => {
    const auth = await serve({ mailer_allow_unverified_email_sign_ins: true });
    const email = newAddress();
    await claim(auth, email);
    await auth.ask('/signup', { email, password: own, ...(by === 'a code' ? {} : pkce) });
    if (by === 'a code') {
      const { code } = await auth.message(email);
      expect((await auth.ask('/verify', { type: 'signup', email, token: code })).status).toBe(200);
    } else {
      const { code } = queryOf((await openLast(auth, email)).location);
      expect(await signIn(auth, { email }, own)).toBe(400);
      await auth.ask('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
    }
    expect(await signIn(auth, { email }, own)).toBe(200);
    const [{ identities }] = (await database.query(
      `select array_agg(i.provider) as identities from auth.identities i join auth.users u on u.id = i.user_id
    where u.email = $1`,
      [email],
    )) as [{ identities: readonly string[] }];
    expect(identities).toEqual(['email']);
  },
);

/** Accounts that are used by phone, and whose email address is an admin's. */
const prepared = {
  'made with a confirmed number': async (auth: TestAuth, email: string) => {
    const phone = newPhone();
    const facts = { email, phone, password: own, phone_confirm: true };
    return { phone, id: (await auth.askAdmin('/admin/users', facts)).body.id };
  },
  'made with a number that its user has proved': async (auth: TestAuth, email: string) => {
    const phone = '4915560001';
    await database.query('delete from auth.users where phone = $1', [phone]);
    const { id } = (await auth.askAdmin('/admin/users', { email, phone, password: own })).body;
    await auth.ask('/otp', { phone });
    expect((await auth.ask('/verify', { type: 'sms', phone, token: '123456' })).status).toBe(200);
    return { phone, id };
  },
  'given an address later': async (auth: TestAuth, email: string) => {
    const phone = newPhone();
    const { id } = (await auth.askAdmin('/admin/users', { phone, password: own, phone_confirm: true })).body;
    await auth.askAdmin(`/admin/users/${id}`, { email }, { method: 'PUT' });
    return { phone, id };
  },
} as const;

const asks = {
  'a sign-up': (auth: TestAuth, email: string) =>
    auth.ask('/signup', { email, password: thief, data: { team: 'blue' } }),
  'a sign-in by email': (auth: TestAuth, email: string) => auth.ask('/otp', { email }),
  'a recovery': (auth: TestAuth, email: string) => auth.ask('/recover', { email }),
  'a confirmation that is sent again': (auth: TestAuth, email: string) =>
    auth.ask('/resend', { type: 'signup', email }),
};

test.each(Object.keys(prepared).flatMap((made) => Object.keys(asks).map((asked) => [made, asked] as const)))(
  'an account %s stays as it is after %s, whoever opens the link',
  async (made, asked) => {
    const auth = await serve();
    const email = newAddress();
    const { phone, id } = await prepared[made as keyof typeof prepared](auth, email);
    const facts = { user_metadata: { team: 'red' }, app_metadata: { is_manager: true } };
    await auth.askAdmin(`/admin/users/${id}`, facts, { method: 'PUT' });
    expect((await asks[asked as keyof typeof asks](auth, email)).status).toBe(200);
    await openLast(auth, email);
    const user = (await auth.askAdmin(`/admin/users/${id}`)).body;
    expect(user).toMatchObject({ phone, user_metadata: { team: 'red' }, app_metadata: { is_manager: true } });
    expect(user.email_confirmed_at).toEqual(expect.any(String));
    expect([await signIn(auth, { phone }, own), await signIn(auth, { email }, thief)]).toEqual([200, 400]);
  },
);

const taking = {
  'an anonymous user': async (auth: TestAuth, email: string) => {
    const { access_token: token } = (await auth.ask('/signup', {})).body;
    return (await auth.ask('/user', { email }, { method: 'PUT', token })).body.code;
  },
  'a sign-up': async (auth: TestAuth, email: string) =>
    (await auth.ask('/signup', { email, password: thief })).body.code,
  'a sign-in by email': async (auth: TestAuth, email: string) => (await auth.ask('/otp', { email })).body.code,
  'a provider that has not verified it': (auth: TestAuth, email: string) => claim(auth, email, 'thief'),
};

test.each(Object.entries(taking))(
  'where addresses need no proof, %s takes none from an account that is in use',
  async (_by, take) => {
    const email = newAddress();
    const unproved = await serve({ mailer_allow_unverified_email_sign_ins: true });
    await claim(unproved, email);
    const madeFor = newAddress();
    await prepared['made with a confirmed number'](unproved, madeFor);
    const before = await database.query('select id, email, email_confirmed_at from auth.users order by id');
    const auth = await serve({ mailer_autoconfirm: true, external_anonymous_users_enabled: true });
    for (const address of [email, madeFor]) await take(auth, address);
    const now = await database.query(
      'select id, email, email_confirmed_at from auth.users where id = any ($1) order by id',
      [before.map(({ id }) => id)],
    );
    expect(now).toEqual(before);
    const taken = await database.query(
      'select id from auth.users where email = any ($1) and email_confirmed_at is not null',
      [[email, madeFor]],
    );
    expect(taken).toEqual([]);
  },
);

test('whoever proves the address of an anonymous account is not anonymous', async () => {
  const values = { security_manual_linking_enabled: true, external_anonymous_users_enabled: true };
  const auth = await serve(values);
  const email = newAddress();
  const { access_token: token } = (await auth.ask('/signup', {})).body;
  provider.users[`link of ${email}`] = { name: 'Thief', email, email_verified: false };
  const query = new URLSearchParams({
    provider: 'keycloak',
    skip_http_redirect: 'true',
    login_hint: `link of ${email}`,
  });
  const { body } = await auth.ask(`/user/identities/authorize?${query}`, undefined, { token });
  await goThrough(auth, body.url);
  await auth.ask('/otp', { email });
  const { code } = await auth.message(email);
  const { user, access_token: own } = (await auth.ask('/verify', { type: 'email', email, token: code })).body;
  expect([user.email, user.is_anonymous]).toEqual([email, false]);
  expect((await auth.ask('/factors', { factor_type: 'totp' }, { token: own })).status).toBe(200);
});

test('where numbers need no proof, nobody takes one from an account that is in use', async () => {
  const phone = newPhone();
  const { id } = (await (await serve()).askAdmin('/admin/users', { phone, password: own })).body;
  await database.query(
    `insert into auth.identities (id, user_id, provider, provider_id, identity_data)
    values (gen_random_uuid(), $1, 'keycloak', 'owner of ' || $2, '{"sub": "owner"}')`,
    [id, phone],
  );
  await database.query('delete from auth.pgreflect_unverified_inputs where user_id = $1', [id]);
  const auth = await serve({ sms_autoconfirm: true, external_anonymous_users_enabled: true });
  const { access_token: token } = (await auth.ask('/signup', {})).body;
  const changed = await auth.ask('/user', { phone }, { method: 'PUT', token });
  expect(await database.query('select id from auth.users where phone = $1', [phone])).toEqual([{ id }]);
  expect(changed.body.code).toBe('phone_exists');
});

test('what an admin has entered keeps no account whose user has claimed another address since', async () => {
  const auth = await serve({ security_manual_linking_enabled: true });
  const [email, victim] = [newAddress(), newAddress()];
  const { phone } = await prepared['made with a confirmed number'](auth, email);
  const { access_token: token } = (await auth.ask('/token?grant_type=password', { phone, password: own })).body;
  const user = (await auth.ask('/user', undefined, { token })).body;
  await database.query(
    `insert into auth.identities (id, user_id, provider, provider_id, identity_data)
    values (gen_random_uuid(), $1, 'keycloak', 'claim of ' || $2, jsonb_build_object('sub', 'thief', 'email', $2::text))`,
    [user.id, victim],
  );
  const { identity_id: id } = user.identities.find(({ provider }: { provider: string }) => provider === 'email');
  await auth.ask(`/user/identities/${id}`, undefined, { method: 'DELETE', token });
  await auth.ask('/otp', { email: victim });
  const { code } = await auth.message(victim);
  const entered = await auth.ask('/verify', { type: 'email', email: victim, token: code });
  expect(entered.body.user).toMatchObject({ email: victim, phone: '', identities: [{ provider: 'email' }] });
  expect((await auth.ask('/user', undefined, { token })).body.code).toBe('session_not_found');
});
