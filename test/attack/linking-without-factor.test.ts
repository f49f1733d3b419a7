/**
 * Somebody who has the password but not the second factor, and wants a way in that outlives the next password.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { googleValues, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

test('identities are neither linked nor unlinked without the second factor', async () => {
  const provider = await startLyingProvider('web');
  const auth = await testAuth(database, {
    ...googleValues(provider),
    security_manual_linking_enabled: true,
  });
  const [email, password] = ['careful@x.test', 'a good password'];
  const { access_token: first, user } = await signedUp(auth, email, password);
  const link = async (sub: string, token: string) => {
    const id_token = await provider.sign({ sub, email: `${sub}@x.test`, email_verified: true });
    return auth.ask('/token?grant_type=id_token', { provider: 'google', id_token, link_identity: true }, { token });
  };
  expect(await link('owner', first)).toMatchObject({ status: 200 });
  const app = await factorsOf(auth, first).enrollApp('phone');
  const { body: owner } = await factorsOf(auth, first).answer(app.id, app.code());
  const { body: thief } = await auth.ask('/token?grant_type=password', { email, password });
  const identities = () =>
    database.query<{ id: string; provider_id: string }>(
      "select id, provider_id from auth.identities where user_id = $1 and provider = 'google'",
      [user.id],
    );
  const [known] = await identities();

  const refused = { status: 401, body: { code: 'insufficient_aal' } };
  expect(await link('thief', thief.access_token)).toMatchObject(refused);
  const authorize = '/user/identities/authorize?provider=google&skip_http_redirect=true';
  const get = (token: string) => auth.ask(authorize, undefined, { method: 'GET', token });
  expect(await get(thief.access_token)).toMatchObject(refused);
  const unlink = (token: string) => auth.ask(`/user/identities/${known?.id}`, undefined, { method: 'DELETE', token });
  expect(await unlink(thief.access_token)).toMatchObject(refused);
  expect(await identities()).toEqual([known]);

  expect(await get(owner.access_token)).toMatchObject({ status: 200 });
  expect(await unlink(owner.access_token)).toMatchObject({ status: 200 });
});
