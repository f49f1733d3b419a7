/**
 * Requests of somebody whose session ends while they are under way: whoever has stolen a session sends as many of them as they
 * like, so one always waits at the moment in which the owner ends it.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import { openSystemPool } from '../support/auth.ts';
import { type AuthReply, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { googleValues, startLyingProvider } from '../support/lying-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

/** An owner who signs in again, in a session that nobody has stolen. */
async function ownerOf(auth: TestAuth, email: string) {
  const stolen = await signedUp(auth, email, password);
  const { body: own } = await auth.ask('/token?grant_type=password', { email, password });
  return { id: stolen.user.id as string, stolen: stolen.access_token as string, own: own.access_token as string };
}

const waiting = `select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

/** Sends one request after the other while somebody else holds the user, who then lets go of them. */
async function inTurn(id: string, ...requests: readonly (() => Promise<AuthReply>)[]): Promise<readonly AuthReply[]> {
  const asked: Promise<AuthReply>[] = [];
  await openSystemPool(database.url, 1).transaction(async (held) => {
    await held.query('select from auth.users where id = $1::uuid for update', [id]);
    for (const [index, request] of requests.entries()) {
      asked.push(request());
      await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(index + 1));
    }
  });
  return Promise.all(asked);
}

const refused = { status: 403, body: { code: 'session_not_found' } };

test('a change of the address that waited for the end of its session changes nothing', async () => {
  const auth = await testAuth(database, { mailer_secure_email_change_enabled: false });
  const { id, stolen, own } = await ownerOf(auth, 'owner@x.test');
  const [ended, changed] = await inTurn(
    id,
    () => auth.ask('/user', { password: 'another good password' }, { method: 'PUT', token: own }),
    () => auth.ask('/user', { email: 'thief@x.test', data: { thief: true } }, { method: 'PUT', token: stolen }),
  );
  expect(ended).toMatchObject({ status: 200 });
  expect(await auth.messages('thief@x.test')).toEqual([]);
  const [row] = await database.query('select email, email_change, raw_user_meta_data from auth.users where id = $1', [
    id,
  ]);
  expect(row).toMatchObject({ email: 'owner@x.test', email_change: '' });
  expect(row?.raw_user_meta_data).not.toHaveProperty('thief');
  expect(changed).toMatchObject(refused);
});

test('an address is not changed without the second factor that came into use meanwhile', async () => {
  const auth = await testAuth(database, { mailer_secure_email_change_enabled: false });
  const { id, own } = await ownerOf(auth, 'factor@x.test');
  const { enrollApp, challenge, verify } = factorsOf(auth, own);
  const app = await enrollApp('phone');
  const { body } = await challenge(app.id);
  const { body: other } = await auth.ask('/token?grant_type=password', { email: 'factor@x.test', password });
  const [verified, changed] = await inTurn(
    id,
    () => verify(app.id, body.id, app.code()),
    () => auth.ask('/user', { email: 'thief2@x.test' }, { method: 'PUT', token: other.access_token }),
  );
  expect(verified).toMatchObject({ status: 200 });
  expect(await auth.messages('thief2@x.test')).toEqual([]);
  expect(changed).toMatchObject(refused);
});

test('an ended session adds no factor, and gives up no identity', async () => {
  const auth = await testAuth(database, { security_manual_linking_enabled: true });
  const { id, stolen, own } = await ownerOf(auth, 'factors@x.test');
  const [identity] = await database.query<{ id: string }>(
    `insert into auth.identities (provider_id, user_id, provider, identity_data, created_at, updated_at)
    values (gen_random_uuid()::text, $1, 'github', '{"sub": "1"}', now(), now()) returning id`,
    [id],
  );
  const [, enrolled, unlinked] = await inTurn(
    id,
    () => auth.ask('/logout?scope=global', undefined, { method: 'POST', token: own }),
    () => factorsOf(auth, stolen).enroll({ factor_type: 'totp', friendly_name: 'thief' }),
    () => auth.ask(`/user/identities/${identity?.id}`, undefined, { method: 'DELETE', token: stolen }),
  );
  expect(await database.query('select from auth.mfa_factors where user_id = $1', [id])).toEqual([]);
  expect(await database.query('select from auth.identities where user_id = $1', [id])).toHaveLength(2);
  expect([enrolled, unlinked]).toMatchObject([refused, refused]);
});

test('an identity that its user unlinked meanwhile signs nobody in', async () => {
  const provider = await startLyingProvider('web');
  const auth = await testAuth(database, {
    ...googleValues(provider),
    security_manual_linking_enabled: true,
  });
  const { id, own } = await ownerOf(auth, 'gives-up@x.test');
  const id_token = await provider.sign({ sub: 'former', email: 'former@x.test', email_verified: true });
  const enter = () => auth.ask('/token?grant_type=id_token', { provider: 'google', id_token });
  const link = { provider: 'google', id_token, link_identity: true };
  expect(await auth.ask('/token?grant_type=id_token', link, { token: own })).toMatchObject({ status: 200 });
  const [identity] = await database.query<{ id: string }>(
    "select id from auth.identities where user_id = $1 and provider = 'google'",
    [id],
  );
  const [unlinked, entered] = await inTurn(
    id,
    () => auth.ask(`/user/identities/${identity?.id}`, undefined, { method: 'DELETE', token: own }),
    enter,
  );
  expect(unlinked).toMatchObject({ status: 200 });
  expect(entered).toMatchObject({ status: 409, body: { code: 'conflict' } });
  const sessions = await database.query('select from auth.sessions where user_id = $1', [id]);
  expect(sessions).toHaveLength(1);
});

test('an ended session links no identity', async () => {
  const provider = await startLyingProvider('web');
  const auth = await testAuth(database, {
    ...googleValues(provider),
    security_manual_linking_enabled: true,
  });
  const { id, stolen, own } = await ownerOf(auth, 'linked@x.test');
  const id_token = await provider.sign({ sub: 'thief', email: 'thief3@x.test', email_verified: true });
  const [, linked] = await inTurn(
    id,
    () => auth.ask('/user', { password: 'another good password' }, { method: 'PUT', token: own }),
    () =>
      auth.ask('/token?grant_type=id_token', { provider: 'google', id_token, link_identity: true }, { token: stolen }),
  );
  const { body: thief } = await auth.ask('/token?grant_type=id_token', { provider: 'google', id_token });
  expect(thief.user.id).not.toBe(id);
  expect(linked).toMatchObject(refused);
});
