/**
 * A member signs up, proves the address in one of the ways in which stock clients do, and comes back the next day: nobody
 * else has come, so the account is as it was entered.
 */
import { beforeAll, expect, test } from 'vitest';
import { open, queryOf, type TestAuth, testAuth } from '../support/auth-service.ts';
import { serviceKey } from '../support/http.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, fragmentOf, keycloakValues, signInAs } from '../support/provider-sign-in.ts';
import { type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
let provider: OidcProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl], {});
});

const serve = () =>
  testAuth(database, keycloakValues(provider, { smtp_max_frequency: 0, external_anonymous_users_enabled: true }));

const password = 'a good password';
const data = { full_name: 'Ana', plan: 'gold' };
const hashOf = (link: string) => new URL(link).searchParams.get('token');

interface Member {
  readonly auth: TestAuth;
  readonly client: SupabaseClient;
  readonly email: string;
  /** Of the email. */
  readonly link: string;
  readonly code: string;
}

/** What the member, an admin or an application does with the email; `flow`: of the client that signed up. */
const proofs: Readonly<
  Record<string, { readonly flow: 'implicit' | 'pkce'; readonly prove: (member: Member) => unknown }>
> = {
  'opens the link': {
    flow: 'implicit',
    prove: ({ link }) => open(link),
  },
  'types the code': {
    flow: 'implicit',
    prove: ({ client, email, code }) => client.auth.verifyOtp({ type: 'email', email, token: code }),
  },
  'opens a page that sends the hash of the token': {
    flow: 'implicit',
    prove: ({ client, link }) => client.auth.verifyOtp({ type: 'email', token_hash: hashOf(link) }),
  },
  'opens a page of a server with a PKCE client, which sends the hash': {
    flow: 'pkce',
    prove: ({ client, link }) => client.auth.verifyOtp({ type: 'email', token_hash: hashOf(link) }),
  },
  'opens the link in the browser of the sign-up, with PKCE': {
    flow: 'pkce',
    prove: async ({ client, link }) => client.auth.exchangeCodeForSession(queryOf((await open(link)).location).code),
  },
  'opens the link of a PKCE sign-up in another browser': { flow: 'pkce', prove: ({ link }) => open(link) },
  'is confirmed by an admin': {
    flow: 'implicit',
    prove: async ({ auth, email }) => {
      const admin = supabaseClient(auth.url, {}, serviceKey).auth.admin;
      const { users } = (await admin.listUsers()).data;
      await admin.updateUserById(users.find((user: { email: string }) => user.email === email).id, {
        email_confirm: true,
      });
    },
  },
};

let members = 0;

test.each(Object.keys(proofs))('a member who signs up and %s signs in with the password the next day', async (name) => {
  const { flow, prove } = proofs[name]!;
  const auth = await serve();
  const client = supabaseClient(auth.url, { flowType: flow });
  const email = `member-${++members}@x.test`;
  // As people type it.
  const typed = email.replace('member', 'Member');
  expect((await client.auth.signUp({ email: typed, password, options: { data } })).error).toBeNull();
  const { link, code, text } = await auth.message(email);
  expect(text).toContain('A password was chosen for this account.');
  const proved = (await prove({ auth, client, email, link, code })) as { error?: unknown } | undefined;
  expect(proved?.error ?? null).toBeNull();
  auth.pass(86_400);
  const { data: next, error } = await supabaseClient(auth.url).auth.signInWithPassword({ email, password });
  expect(error).toBeNull();
  expect(next.user.user_metadata).toMatchObject({ ...data, email_verified: true });
  expect(next.user.identities[0].identity_data).toMatchObject({ ...data, email_verified: true });
});

test.each(['link', 'hash', 'code'] as const)(
  'a user who signs up by email alone keeps what they entered when they use the %s',
  async (by) => {
    const auth = await serve();
    const client = supabaseClient(auth.url);
    const email = `by-${by}@x.test`;
    expect((await client.auth.signInWithOtp({ email, options: { data } })).error).toBeNull();
    // The button that sends the email again.
    expect((await client.auth.signInWithOtp({ email })).error).toBeNull();
    const { link, code, text } = await auth.message(email);
    expect(text).not.toContain('password');
    if (by === 'link') await open(link);
    if (by === 'hash') await client.auth.verifyOtp({ type: 'email', token_hash: hashOf(link) });
    if (by === 'code') await client.auth.verifyOtp({ type: 'email', email, token: code });
    const [row] = await database.query('select raw_user_meta_data as data from auth.users where email = $1', [email]);
    expect(row!.data).toMatchObject({ ...data, email_verified: true });
  },
);

test('a user of a provider that does not verify addresses signs in with it again after the email', async () => {
  const auth = await serve();
  const email = 'unverified@x.test';
  provider.users.unverified = { name: 'Ana', email, email_verified: false };
  const refused = fragmentOf(await signInAs(auth, 'unverified'));
  expect(refused.error_code).toBe('provider_email_needs_verification');
  await open((await auth.message(email)).link);
  const again = fragmentOf(await signInAs(auth, 'unverified'));
  const { body: user } = await auth.ask('/user', undefined, { token: again.access_token! });
  expect([user.email, user.app_metadata.provider, user.user_metadata.name]).toEqual([email, 'keycloak', 'Ana']);
});

test('an anonymous user who names an address keeps session and data, wherever the link is opened', async () => {
  const auth = await serve();
  const guest = supabaseClient(auth.url);
  await guest.auth.signInAnonymously({ options: { data: { cart: [1] } } });
  expect((await guest.auth.updateUser({ email: 'guest@x.test', data: { theme: 'dark' } })).error).toBeNull();
  await open((await auth.message('guest@x.test')).link);
  expect((await guest.auth.refreshSession()).error).toBeNull();
  expect((await guest.auth.updateUser({ password })).error).toBeNull();
  const signedIn = await supabaseClient(auth.url).auth.signInWithPassword({ email: 'guest@x.test', password });
  expect(signedIn.data.user).toMatchObject({ is_anonymous: false, user_metadata: { cart: [1], theme: 'dark' } });
});

test('an owner who comes by a recovery gets the account without what its sign-up entered', async () => {
  const auth = await serve();
  const client = supabaseClient(auth.url);
  const email = 'recovering@x.test';
  await client.auth.signUp({ email, password, options: { data } });
  await client.auth.resetPasswordForEmail(email);
  await open((await auth.message(email)).link);
  const { error } = await client.auth.signInWithPassword({ email, password });
  expect(error.code).toBe('invalid_credentials');
});
