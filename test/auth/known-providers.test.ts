/**
 * What is different at single providers: GitHub and GitLab, whose users come from an API, and Apple, which sends a form.
 */
import { beforeAll, expect, test } from 'vitest';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { type GitHubServer, startGitHubServer } from '../support/github-server.ts';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { fragmentOf, goThrough, queryOf, userOf } from '../support/provider-sign-in.ts';

let database: TestDatabase;
let github: GitHubServer;
let provider: LyingProvider;

beforeAll(async () => {
  database = await createAuthDatabase();
  github = await startGitHubServer();
  provider = await startLyingProvider('us');
});

async function withGitHub(secret = github.clientSecret): Promise<TestAuth> {
  return testAuth(database, {
    external_github_enabled: true,
    external_github_url: github.site,
    external_github_client_id: github.clientId,
    external_github_secret: secret,
  });
}

const octocat = { id: 583231, login: 'octocat', name: null, avatar_url: 'https://x.test/octocat.png' };

test('GitHub: the user comes from the API, with the primary address', async () => {
  const auth = await withGitHub();
  github.user = {
    ...octocat,
    emails: [
      { email: 'old@x.test', primary: false, verified: true },
      { email: 'Octo@X.test', primary: true, verified: true },
    ],
  };
  const start = await auth.ask('/authorize?provider=github&scopes=repo', undefined, { key: null });
  const address = new URL(start.headers.get('location')!);
  expect(Object.fromEntries(address.searchParams)).toMatchObject({ scope: 'user:email repo', response_type: 'code' });
  expect(address.searchParams.has('nonce')).toBe(false);
  const stop = await goThrough(auth, address.href);
  expect(fragmentOf(stop).provider_token).toMatch(/^gho_/);
  const identity_data = {
    iss: `${github.site}/api/v3`,
    sub: '583231',
    provider_id: '583231',
    email: 'octo@x.test',
    email_verified: true,
    phone_verified: false,
    user_name: 'octocat',
    preferred_username: 'octocat',
    avatar_url: octocat.avatar_url,
  };
  const user = await userOf(auth, stop);
  expect(user).toMatchObject({ email: 'octo@x.test', identities: [{ provider: 'github', id: '583231' }] });
  expect(user.identities[0].identity_data).toEqual(identity_data);
});

test('GitHub: an invitation may be for any address of the user; an address that is not verified proves nothing', async () => {
  const auth = await withGitHub();
  const signIn = async (query = '') => {
    const { headers } = await auth.ask(`/authorize?provider=github${query}`, undefined, { key: null });
    return goThrough(auth, headers.get('location')!);
  };
  github.user = { ...octocat, id: 2, emails: [{ email: 'two@x.test', primary: true, verified: false }] };
  expect(queryOf(await signIn()).error_code).toBe('provider_email_needs_verification');
  github.user = {
    ...octocat,
    id: 3,
    emails: [
      { email: 'three@x.test', primary: true, verified: true },
      { email: 'Third@x.test', primary: false, verified: true },
    ],
  };
  await auth.askAdmin('/invite', { email: 'third@x.test' });
  const token = new URL((await auth.message('third@x.test')).link).searchParams.get('token');
  expect(await userOf(auth, await signIn(`&invite_token=${token}`))).toMatchObject({ email: 'third@x.test' });
  github.user = { ...octocat, id: 4, emails: [] };
  expect(queryOf(await signIn()).error_description).toBe('Error getting user email from external provider');
});

test('GitHub: a refusal is one although its status is 200', async () => {
  const auth = await withGitHub('not the secret');
  github.user = { ...octocat, emails: [] };
  const { headers } = await auth.ask('/authorize?provider=github', undefined, { key: null });
  const stop = await goThrough(auth, headers.get('location')!);
  expect(queryOf(stop).error_description).toMatch(/^Unable to exchange external code: /);
});

test('GitLab: the user comes from the API, and the address counts once it is confirmed there', async () => {
  const auth = await testAuth(database, {
    external_gitlab_enabled: true,
    external_gitlab_url: provider.issuer,
    external_gitlab_client_id: 'us',
    external_gitlab_secret: 'ours',
  });
  const signIn = async (user: object) => {
    const { headers } = await auth.ask('/authorize?provider=gitlab', undefined, { key: null });
    const start = new URL(headers.get('location')!);
    expect([start.pathname, start.searchParams.get('scope')]).toEqual(['/oauth/authorize', 'read_user']);
    provider.answers['/oauth/token'] = { access_token: 'glpat', token_type: 'Bearer', scope: 'read_user' };
    provider.answers['/api/v4/user'] = user;
    provider.answers['/api/v4/user/emails'] = [{ id: 1, email: 'more@x.test' }];
    const reply = await auth.ask(`/callback?state=${start.searchParams.get('state')}&code=good`, undefined, {
      key: null,
    });
    return { status: reply.status, location: new URL(reply.headers.get('location')!) };
  };
  const lab = { name: 'Lab', username: 'lab', avatar_url: 'https://x.test/lab.png', email: 'Lab@X.test' };
  const unproved = await signIn({ ...lab, id: 6, email: 'six@x.test', confirmed_at: null });
  expect(queryOf(unproved).error_code).toBe('provider_email_needs_verification');
  const user = await userOf(auth, await signIn({ ...lab, id: 7, confirmed_at: '2012-05-23T09:05:22Z' }));
  expect(user).toMatchObject({ email: 'lab@x.test', identities: [{ provider: 'gitlab', id: '7' }] });
  expect(user.identities[0].identity_data).toEqual({
    iss: provider.issuer,
    sub: '7',
    provider_id: '7',
    email: 'lab@x.test',
    email_verified: true,
    phone_verified: false,
    name: 'Lab',
    full_name: 'Lab',
    picture: lab.avatar_url,
    avatar_url: lab.avatar_url,
  });
});

/** The user of a sign-in at Apple, whose page sends `user` with its form. */
async function appleUser(sub: string, user: string) {
  const auth = await testAuth(database, {
    external_apple_enabled: true,
    external_apple_url: provider.issuer,
    external_apple_client_id: 'us',
    external_apple_secret: 'ours',
  });
  const { headers } = await auth.ask('/authorize?provider=apple', undefined, { key: null });
  const start = new URL(headers.get('location')!).searchParams;
  expect([start.get('response_mode'), start.get('scope')]).toEqual(['form_post', 'openid email name']);
  const id_token = await provider.sign({
    sub,
    email: `${sub}@x.test`,
    email_verified: 'true',
    nonce: start.get('nonce'),
  });
  provider.answers['/token'] = { access_token: 'x', token_type: 'bearer', id_token };
  const form = new URLSearchParams({ state: start.get('state')!, code: 'good', user });
  const reply = await auth.ask('/callback', form.toString(), {
    key: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://appleid.apple.com' },
  });
  expect(reply.status).toBe(302);
  return userOf(auth, { status: 302, location: new URL(reply.headers.get('location')!) });
}

test('Apple: the answer is a form, with the name of the user at the first time', async () => {
  const name = { firstName: 'Anna', lastName: 'Apple' };
  const user = await appleUser('apple', JSON.stringify({ name }));
  expect(user).toMatchObject({ email: 'apple@x.test', user_metadata: { full_name: 'Anna Apple' } });
});

test.each([
  ['no JSON', '{"name":'],
  ['no object', 'null'],
  ['no name', '{"name": {"firstName": 1, "lastName": ""}}'],
])('Apple: a form whose user is %s signs in without a name', async (what, text) => {
  const sub = `apple-${what.replace(' ', '-')}`.toLowerCase();
  const user = await appleUser(sub, text);
  expect(user.email).toBe(`${sub}@x.test`);
  expect(user.user_metadata).not.toHaveProperty('full_name');
});

test('/settings shows the providers that browsers are sent to', async () => {
  const auth = await testAuth(database, {
    external_google_enabled: true,
    external_gitlab_enabled: true,
    external_facebook_enabled: true,
  });
  const { external } = (await auth.ask('/settings')).body;
  expect(external).toMatchObject({ google: true, gitlab: true, github: false, facebook: false, azure: false });
});
