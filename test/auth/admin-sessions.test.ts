/**
 * What admins may do with sessions, identities and the audit log of one user, beyond Supabase Auth.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

test('an admin sees the sessions of a user, ends one and then all', async () => {
  const auth = await testAuth(database);
  const email = 'sessions@x.test';
  const first = await signedUp(auth, email);
  auth.pass(60);
  const second = (await auth.ask('/token?grant_type=password', { email, password })).body;
  const other = await signedUp(auth, 'other@x.test');
  const path = `/admin/users/${first.user.id}/sessions`;
  const { body } = await auth.askAdmin(path);
  expect(body.map(({ methods }: { methods: unknown }) => methods)).toEqual([['password'], ['otp']]);
  expect(body[0]).toMatchObject({ aal: 'aal1', user_agent: 'test', ip: '127.0.0.1', not_after: null });
  const end = (path: string) => auth.askAdmin(path, undefined, { method: 'DELETE' });
  const [{ id: ended }, { id: left }] = body;
  expect((await end(`${path}/${ended}`)).status).toBe(200);
  expect((await auth.ask('/user', undefined, { token: second.access_token })).body.code).toBe('session_not_found');
  expect((await auth.ask('/user', undefined, { token: first.access_token })).status).toBe(200);
  for (const [wrong, message] of [
    [ended, 'The user has no such session'],
    ['x', 'session_id must be an UUID'],
  ]) {
    expect(await end(`${path}/${wrong}`)).toMatchObject({ status: 404, body: { message } });
  }
  // That of another user is none of theirs.
  expect((await end(`/admin/users/${other.user.id}/sessions/${left}`)).status).toBe(404);
  expect((await end(path)).status).toBe(200);
  expect((await auth.askAdmin(path)).body).toEqual([]);
  expect((await auth.ask('/user', undefined, { token: other.access_token })).status).toBe(200);
});

test('an admin unlinks an identity, which ends the sessions, but never the last one', async () => {
  const auth = await testAuth(database);
  const { user, access_token: token } = await signedUp(auth, 'linked@x.test');
  const [row] = await database.query<{ id: string }>(
    `insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
    values (gen_random_uuid(), $1, 'github', '42', '{"sub": "42", "email": "linked@x.test"}', now(), now()) returning id`,
    [user.id],
  );
  const path = `/admin/users/${user.id}/identities`;
  const unlink = (id: string) => auth.askAdmin(`${path}/${id}`, undefined, { method: 'DELETE' });
  expect((await unlink('x')).status).toBe(404);
  expect((await unlink(user.id)).body.code).toBe('identity_not_found');
  expect((await unlink(row!.id)).status).toBe(200);
  expect((await auth.askAdmin(`/admin/users/${user.id}`)).body.identities).toMatchObject([{ provider: 'email' }]);
  expect((await auth.ask('/user', undefined, { token })).body.code).toBe('session_not_found');
  const [last] = (await auth.askAdmin(`/admin/users/${user.id}`)).body.identities;
  expect((await unlink(last.identity_id)).body.code).toBe('single_identity_not_deletable');
  expect((await auth.askAdmin(`/admin/users/${user.id}`)).body.app_metadata.providers).toEqual(['email']);
});

test('the audit log of a user has what the user did and what admins did to the user, and no more', async () => {
  const auth = await testAuth(database);
  const { user } = await signedUp(auth, 'watched@x.test');
  auth.pass(1);
  await auth.askAdmin(`/admin/users/${user.id}`, { ban_duration: '1h' }, { method: 'PUT' });
  await signedUp(auth, 'unwatched@x.test');
  const { body, headers } = await auth.askAdmin(`/admin/audit?user=${user.id.toUpperCase()}&per_page=2`);
  const actions = body.map(({ payload }: { payload: { action: string } }) => payload.action);
  expect([actions.length, actions[0], headers.get('x-total-count')]).toEqual([2, 'user_modified', '3']);
  const some = await auth.askAdmin(`/admin/audit?user=${user.id}&query=action:signedup`);
  expect(some.body).toHaveLength(1);
  expect((await auth.askAdmin('/admin/audit?user=x')).body.message).toBe('user must be the id of a user');
});

test('a change that names the time at which the user was read is refused if the user has changed since', async () => {
  const auth = await testAuth(database);
  const { user } = await signedUp(auth, 'edited@x.test');
  const path = `/admin/users/${user.id}`;
  const change = (read: string, body: unknown) =>
    auth.askAdmin(path, body, { method: 'PUT', headers: { 'if-match': `"${read}"` } });
  const { updated_at: read } = (await auth.askAdmin(path)).body;
  auth.pass(1);
  expect((await change(read, { user_metadata: { a: 1 } })).body.user_metadata).toMatchObject({ a: 1 });
  expect(await change(read, { user_metadata: { a: 2 } })).toMatchObject({ status: 412, body: { code: 'conflict' } });
  expect((await auth.askAdmin(path)).body.user_metadata).toMatchObject({ a: 1 });
});
