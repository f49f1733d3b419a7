/**
 * Users and identities: written so that Supabase Auth finds them, read whatever somebody put there by hand.
 */
import { expect, test } from 'vitest';
import { toUserJson } from '../../../src/auth/answers/user-json.ts';
import { auditUser } from '../../../src/auth/store/audit.ts';
import { insertIdentity, syncProviders, verifyIdentityEmail } from '../../../src/auth/store/identities.ts';
import {
  deleteUser,
  findUserByEmail,
  findUserByPhone,
  insertUser,
  isEmailTaken,
  loadUser,
  updateUser,
} from '../../../src/auth/store/users.ts';
import { testAuth } from '../../support/auth.ts';
import { fixture } from '../../support/postgres.ts';

const auth = await testAuth(10);
const plain = {
  audience: 'authenticated',
  role: 'authenticated',
  email: null,
  phone: null,
  passwordHash: null,
  appMetadata: {},
  userMetadata: {},
};

test('a new user has the nil instance, empty token columns and null for an absent address', async () => {
  const user = await insertUser(auth.tx(), { ...plain, phone: '4915112345' });
  const [row] = await auth.database.query(
    `select instance_id::text, email, confirmation_token, recovery_token, email_change, email_change_token_new,
      email_change_token_current, phone_change, phone_change_token, reauthentication_token from auth.users where id = $1`,
    [user.id],
  );
  expect(row).toEqual({
    instance_id: '00000000-0000-0000-0000-000000000000',
    email: null,
    confirmation_token: '',
    recovery_token: '',
    email_change: '',
    email_change_token_new: '',
    email_change_token_current: '',
    phone_change: '',
    phone_change_token: '',
    reauthentication_token: '',
  });
});

test('of ten sign-ups with one address at the same instant one makes the user', async () => {
  const tries = Array.from({ length: 10 }, () => insertUser(auth.tx(), { ...plain, email: 'race@mail.test' }));
  const results = await Promise.allSettled(tries);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'email_exists', status: 422 });
  }
});

test('a taken number and a taken id are refused by name', async () => {
  const user = await insertUser(auth.tx(), { ...plain, phone: '4915100000' });
  await expect(insertUser(auth.tx(), { ...plain, phone: '4915100000' })).rejects.toMatchObject({
    code: 'phone_exists',
  });
  await expect(insertUser(auth.tx(), { ...plain, id: user.id })).rejects.toMatchObject({
    code: 'conflict',
    status: 422,
  });
});

test('addresses are found in any case, within their audience', async () => {
  const user = await auth.addUser('case@mail.test');
  expect((await findUserByEmail(auth.pool, 'CASE@mail.test', 'authenticated'))?.id).toBe(user.id);
  expect(await findUserByEmail(auth.pool, 'case@mail.test', 'other')).toBeNull();
  expect(await findUserByPhone(auth.pool, '1', 'authenticated')).toBeNull();
});

test('an address belongs to a user who has it or an identity that has verified it, not to one that only names it', async () => {
  const user = await auth.addUser('owner@mail.test');
  const identity = {
    userId: user.id,
    provider: 'github',
    providerId: '42',
    identityData: { sub: '42', email: 'Other@Mail.test', email_verified: true },
  };
  await insertIdentity(auth.tx(), identity);
  const claimed = { sub: '44', email: 'claimed@mail.test', email_verified: false };
  await insertIdentity(auth.tx(), { ...identity, providerId: '44', identityData: claimed });
  const isTaken = (email: string, except: string | null = null) =>
    isEmailTaken(auth.pool, email, 'authenticated', except);
  expect(await isTaken('owner@mail.test')).toBe(true);
  expect(await isTaken('other@mail.test')).toBe(true);
  expect(await isTaken('other@mail.test', user.id)).toBe(false);
  expect(await isTaken('claimed@mail.test')).toBe(false);
  expect(await isTaken('free@mail.test')).toBe(false);
});

test('an identity can be linked once', async () => {
  const user = await auth.addUser('linked@mail.test');
  const identity = { userId: user.id, provider: 'github', providerId: '43', identityData: { sub: '43' } };
  await insertIdentity(auth.tx(), identity);
  await expect(insertIdentity(auth.tx(), identity)).rejects.toMatchObject({
    code: 'identity_already_exists',
  });
});

test('the app metadata names the providers, oldest first, and keeps what else is there', async () => {
  const user = await auth.addUser('providers@mail.test', { appMetadata: { plan: 'gold', provider: 'wrong' } });
  auth.clock.pass(60);
  await insertIdentity(auth.tx(), { userId: user.id, provider: 'azure', providerId: '1', identityData: { sub: '1' } });
  await syncProviders(auth.tx(), user.id);
  expect((await auth.reload(user)).appMetadata).toEqual({
    plan: 'gold',
    provider: 'email',
    providers: ['email', 'azure'],
  });
  const row = () => auth.database.query('select ctid, xmin from auth.users where id = $1', [user.id]);
  const before = await row();
  await syncProviders(auth.tx(), user.id);
  expect(await row()).toEqual(before);
});

test('confirming an address marks it in the identities that have it', async () => {
  const user = await auth.addUser('verified@mail.test');
  await verifyIdentityEmail(auth.tx(), user);
  expect((await auth.reload(user)).identities[0]?.identityData).toMatchObject({ email_verified: true, sub: user.id });
});

test('an update writes what it is given and nothing else', async () => {
  const user = await auth.addUser('update@mail.test', { userMetadata: { a: 1 } });
  auth.clock.pass(1);
  await updateUser(auth.tx(), user.id, { bannedUntil: Number.POSITIVE_INFINITY, emailConfirmedAt: null });
  const updated = await auth.reload(user);
  expect(updated).toEqual({
    ...user,
    bannedUntil: Number.POSITIVE_INFINITY,
    emailConfirmedAt: null,
    confirmedAt: null,
    updatedAt: auth.clock.now(),
  });
  expect(toUserJson(updated).banned_until).toBe('9999-12-31T23:59:59.999Z');
});

test('metadata with a NUL character is refused, and nothing of the user changes', async () => {
  const user = await auth.addUser('nul@mail.test');
  const change = updateUser(auth.tx(), user.id, { userMetadata: { a: '\0' } });
  await expect(change).rejects.toMatchObject({ sqlstate: '22P05' });
});

test('a deleted user is gone with everything, a second time there is none', async () => {
  const user = await auth.addUser('gone@mail.test');
  await auth.signIn(user);
  expect(await deleteUser(auth.pool, user.id)).toBe(true);
  expect(await deleteUser(auth.pool, user.id)).toBe(false);
  expect(await auth.database.query('select from auth.sessions where user_id = $1', [user.id])).toEqual([]);
});

test('the JSON of a user has the members and the order of Supabase Auth', async () => {
  const original = await testAuth(2, fixture('auth-original.sql'));
  const user = (await loadUser(original.pool, '11111111-1111-4111-8111-111111111111'))!;
  const json = JSON.parse(JSON.stringify(toUserJson(user)));
  expect(json).toEqual({
    id: '11111111-1111-4111-8111-111111111111',
    aud: 'authenticated',
    role: 'authenticated',
    email: 'ana@mail.test',
    email_confirmed_at: '2026-01-01T10:00:00.123456Z',
    phone: '',
    confirmed_at: '2026-01-01T10:00:00.123456Z',
    recovery_sent_at: '2026-01-02T10:00:00Z',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: { full_name: 'Ana' },
    identities: [
      {
        identity_id: user.identities[0]?.id,
        id: '11111111-1111-4111-8111-111111111111',
        user_id: '11111111-1111-4111-8111-111111111111',
        identity_data: { sub: '11111111-1111-4111-8111-111111111111', email: 'ana@mail.test' },
        provider: 'email',
        last_sign_in_at: null,
        created_at: '2026-01-01T10:00:00Z',
        updated_at: '2026-01-01T10:00:00Z',
        email: 'ana@mail.test',
      },
    ],
    created_at: '2026-01-01T10:00:00Z',
    updated_at: '2026-01-01T10:00:00Z',
    is_anonymous: false,
  });
  expect(Object.keys(json).slice(0, 6)).toEqual(['id', 'aud', 'role', 'email', 'email_confirmed_at', 'phone']);
});

test('neither hash nor token of a user is ever in its JSON', async () => {
  const user = await auth.addUser('secret@mail.test', { passwordHash: 'the-hash', recoveryToken: 'the-token' });
  expect(JSON.stringify(toUserJson(await auth.reload(user)))).not.toMatch(/the-hash|the-token/);
});

test('an event is written with who did it, and not at all where the log is off', async () => {
  const user = await auth.addUser('audit@mail.test', { userMetadata: { full_name: 'Ana' } });
  for (const audit_log_disable_postgres of [true, false]) {
    const tx = { ...auth.tx(), config: { audit_log_disable_postgres }, client: { ip: '192.0.2.1' } };
    await auditUser(tx, 'login', user, { provider: 'email' });
  }
  const rows = await auth.database.query(
    `select payload, ip_address, instance_id::text from auth.audit_log_entries where payload ->> 'actor_id' = $1`,
    [user.id],
  );
  expect(rows).toEqual([
    {
      instance_id: '00000000-0000-0000-0000-000000000000',
      ip_address: '',
      payload: {
        action: 'login',
        actor_id: user.id,
        actor_name: 'Ana',
        actor_username: 'audit@mail.test',
        actor_via_sso: false,
        log_type: 'account',
        traits: { provider: 'email' },
      },
    },
  ]);
});
