/**
 * Addresses that somebody claims at a provider without a proof: they must not keep the owner from having an account.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { googleValues, type LyingProvider, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let provider: LyingProvider;
let auth: TestAuth;

beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startLyingProvider('web');
});

beforeEach(async () => {
  auth = await testAuth(database, {
    ...googleValues(provider),
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
