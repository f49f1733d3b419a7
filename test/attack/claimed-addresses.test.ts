/**
 * Addresses that somebody claims at a provider without a proof: they must not keep the owner from having an account, nor
 * open the rows of the owner.
 */
import { decodeJwt } from 'jose';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { anonKey } from '../support/http.ts';
import { googleValues, type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let provider: LyingProvider;
let auth: TestAuth;

beforeAll(async () => {
  database = await createAuthDatabase(`
    create table letter (recipient text primary key);
    grant select on letter to authenticated;
    alter table letter enable row level security;`);
  await database.query('create policy own on letter for select using (recipient = auth.email())');
  provider = await startLyingProvider('web');
});

beforeEach(async () => {
  auth = await testAuth(database, {
    ...googleValues(provider),
    security_manual_linking_enabled: true,
    external_anonymous_users_enabled: true,
    smtp_max_frequency: 0,
  });
});

const password = 'a good password';

/** Has an account, and then says to have another address. */
async function claim(name: string, email: string, isVerified = false): Promise<string> {
  const say = async (claims: object) =>
    auth.ask('/token?grant_type=id_token', {
      provider: 'google',
      id_token: await provider.sign({ sub: name, ...claims }),
    });
  await say({ email: `${name}@thief.test`, email_verified: true });
  const { body } = await say({ email, email_verified: isVerified });
  expect(body.user.identities).toMatchObject([{ email }]);
  return body.user.id;
}

test('nobody reads rows by an unproved address, where sign-ins with one are allowed, either', async () => {
  const email = 'ceo@x.test';
  const lenient = await testAuth(database, {
    ...googleValues(provider),
    mailer_allow_unverified_email_sign_ins: true,
  });
  await database.query('insert into letter values ($1)', [email]);
  const id_token = await provider.sign({ sub: 'lenient', email, email_verified: false });
  const { body } = await lenient.ask('/token?grant_type=id_token', { provider: 'google', id_token });
  const reply = await fetch(`${lenient.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, authorization: `Bearer ${body.access_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ letterCollection { edges { node { recipient } } } }' }),
  });
  expect(await reply.json()).toEqual({ data: { letterCollection: { edges: [] } } });
  expect([body.user.email, decodeJwt(body.access_token).email]).toEqual([email, '']);
});

test('a person whose address somebody else claims can still sign up, with an account of their own', async () => {
  const email = 'owner@x.test';
  const thief = await claim('one', email);
  expect((await auth.ask('/signup', { email, password })).status).toBe(200);
  const { code } = await auth.message(email);
  const { status, body } = await auth.ask('/verify', { type: 'email', email, token: code });
  expect({ status, email: body.user.email }).toEqual({ status: 200, email });
  expect(body.user.id).not.toBe(thief);
});

test('such a person can be invited, be created by an admin, and change to the address', async () => {
  await claim('two', 'invited@x.test');
  expect((await auth.askAdmin('/invite', { email: 'invited@x.test' })).status).toBe(200);
  await claim('three', 'made@x.test');
  const made = await auth.askAdmin('/admin/users', { email: 'made@x.test', password, email_confirm: true });
  expect(made.status).toBe(200);
  await claim('four', 'changed@x.test');
  const { body } = await auth.ask('/token?grant_type=password', { email: 'made@x.test', password });
  const changed = await auth.ask('/user', { email: 'changed@x.test' }, { method: 'PUT', token: body.access_token });
  expect(changed.status).toBe(200);
  expect(await auth.messages('changed@x.test')).toHaveLength(1);
});

test('an address that a provider has verified cannot be used by a second account', async () => {
  await claim('five', 'proved@x.test', true);
  const made = await auth.askAdmin('/admin/users', { email: 'proved@x.test', password });
  expect(made).toMatchObject({ status: 422, body: { code: 'email_exists' } });
  await auth.ask('/signup', { email: 'proved@x.test', password });
  expect(await auth.messages('proved@x.test')).toEqual([]);
});

test('an account is not opened by who claims its address, also where addresses of sign-ups need no proof', async () => {
  const open = await testAuth(database, { ...googleValues(provider), mailer_autoconfirm: true });
  const enter = async (claims: object) => {
    const id_token = await provider.sign({ ...claims });
    return open.ask('/token?grant_type=id_token', { provider: 'google', id_token });
  };
  const email = 'automatic@x.test';
  const { body: owner } = await open.ask('/signup', { email, password });
  const claimed = await enter({ sub: 'seven', email, email_verified: false });
  const identities = 'select from auth.identities where user_id = $1';
  expect(await database.query(identities, [owner.user.id])).toHaveLength(1);
  expect(claimed).toMatchObject({ status: 422, body: { code: 'provider_email_needs_verification' } });
  const free = { sub: 'eight', email: 'free@x.test', email_verified: false };
  expect(await enter(free)).toMatchObject({ status: 200, body: { user: { email: 'free@x.test' } } });
  expect((await enter({ sub: 'nine', email, email_verified: true })).body.user.id).toBe(owner.user.id);
});

const google = async (claims: object) => ({ provider: 'google', id_token: await provider.sign({ ...claims }) });

/** Each has a session, and then a user with an address that nobody has proved. */
const ways = {
  'links the identity': async (email: string) => {
    const { body: session } = await auth.ask('/signup', {});
    const identity = await google({ sub: email, email, email_verified: false });
    const link = { ...identity, link_identity: true };
    const refused = await auth.ask('/token?grant_type=id_token', link, { token: session.access_token });
    expect(refused).toMatchObject({ status: 422, body: { code: 'email_not_confirmed' } });
    return session;
  },
  'gives up the proved address': async (email: string) => {
    const session = await signedUp(auth, `former.${email}`);
    const { access_token: token, user } = session;
    const identity = await google({ sub: email, email, email_verified: false });
    const link = { ...identity, link_identity: true };
    expect((await auth.ask('/token?grant_type=id_token', link, { token })).status).toBe(200);
    const path = `/user/identities/${user.identities[0].identity_id}`;
    expect((await auth.ask(path, undefined, { method: 'DELETE', token })).status).toBe(200);
    return session;
  },
};

test.each(Object.keys(ways) as (keyof typeof ways)[])(
  'a user who %s reads no rows of an address that is still to be confirmed',
  async (way) => {
    const email = `letters.${Object.keys(ways).indexOf(way)}@x.test`;
    await database.query('insert into letter values ($1)', [email]);
    const session = await ways[way](email);
    const refresh = async (refresh_token: string) =>
      (await auth.ask('/token?grant_type=refresh_token', { refresh_token })).body;
    const read = async (token: string) => {
      const response = await fetch(`${auth.url}/graphql/v1`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', apikey: anonKey, authorization: `Bearer ${token}` },
        body: JSON.stringify({ query: '{ letterCollection { edges { node { recipient } } } }' }),
      });
      const { data } = (await response.json()) as { data: { letterCollection: { edges: unknown[] } } };
      return data.letterCollection.edges;
    };
    const unproved = await refresh(session.refresh_token);
    expect(await read(unproved.access_token)).toEqual([]);
    if (way !== 'links the identity') return;
    await auth.ask('/verify', { type: 'email', email, token: (await auth.message(email)).code });
    const proved = await refresh(unproved.refresh_token);
    expect(await read(proved.access_token)).toEqual([{ node: { recipient: email } }]);
  },
);

const everywhere = (name: string) => `${name.replace(/\W+/g, '-')}@x.test`;

/** How a stranger holds an account with somebody's address; each returns a session. */
const squats: Readonly<Record<string, (email: string) => Promise<{ readonly access_token: string }>>> = {
  'an anonymous user who links an identity': async (email) => ways['links the identity'](email),
  'a user who gives up the proved address': async (email) => ways['gives up the proved address'](email),
};

test.each(
  Object.keys(squats).flatMap(
    (squat) =>
      [
        [squat, 'a code'],
        [squat, 'a sign-up'],
      ] as const,
  ),
)('%s and looks like the owner is not in the account that the owner gets by %s', async (squat, way) => {
  const email = everywhere(`${squat} ${way}`);
  const session = await squats[squat]!(email);
  const token = session.access_token;
  const { body: user } = await auth.ask('/user', undefined, { token });
  const blank = Object.fromEntries(Object.keys(user.user_metadata).map((name) => [name, null]));
  const looks = { ...blank, sub: user.id, email, email_verified: false, phone_verified: false };
  expect((await auth.ask('/user', { data: looks }, { method: 'PUT', token })).status).toBe(200);
  await (way === 'a code' ? auth.ask('/otp', { email }) : auth.ask('/signup', { email, password }));
  const { code } = await auth.message(email);
  // Between the email and the code.
  await auth.ask('/user', { email: `evil-${email}` }, { method: 'PUT', token });
  const owner = await auth.ask('/verify', { type: 'email', email, token: code });
  expect(owner).toMatchObject({ status: 200, body: { user: { email, identities: [{ provider: 'email' }] } } });
  expect((await auth.ask('/user', undefined, { token })).status).toBe(403);
  const { refresh_token } = session as unknown as { refresh_token: string };
  expect((await auth.ask('/token?grant_type=refresh_token', { refresh_token })).status).toBe(400);
  const sessions = await database.query('select from auth.sessions where user_id = $1', [owner.body.user.id]);
  expect(sessions).toHaveLength(1);
  const again = await auth.ask(
    '/token?grant_type=id_token',
    await google({ sub: email, email, email_verified: false }),
  );
  expect(again.body.user?.id).not.toBe(owner.body.user.id);
  if (way !== 'a sign-up') return;
  expect((await auth.ask('/token?grant_type=password', { email, password })).status).toBe(200);
});
