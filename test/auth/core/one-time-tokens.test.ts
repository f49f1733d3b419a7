/**
 * One-time tokens: a link or a code works once, for a while, until the next one of its kind.
 */
import { expect, test } from 'vitest';
import type { User } from '../../../src/auth/model/user.ts';
import { hashCode } from '../../../src/auth/secrets/one-time-code.ts';
import {
  checkCode,
  clearPending,
  consumeToken,
  findUserIdByCode,
  type OneTimeTokenType,
  presentTokenHash,
  storeToken,
} from '../../../src/auth/store/one-time-tokens.ts';
import { loadUser, lockUser } from '../../../src/auth/store/users.ts';
import { testAuth } from '../../support/auth.ts';
import { fixture } from '../../support/postgres.ts';

const auth = await testAuth(20);
const expired = { code: 'otp_expired', status: 403, message: 'Token has expired or is invalid' };
const linkExpired = { ...expired, message: 'Email link is invalid or has expired' };

/** Stores a token of the user and returns its hash. */
async function store(user: User, type: OneTimeTokenType, code = '123456', prefix = ''): Promise<string> {
  const tokenHash = `${prefix}${hashCode(user.email!, code)}`;
  await storeToken(auth.tx(), { userId: user.id, type, codeHash: tokenHash, address: user.email! });
  return tokenHash;
}

function check(...types: OneTimeTokenType[]) {
  return { types, now: auth.clock.now(), lifetimeSeconds: 3600 };
}

/** Opens a link as an endpoint does: present and consume in one transaction. */
function open(tokenHash: string, ...types: OneTimeTokenType[]) {
  return auth.pool.transaction(async (connection) => {
    const presented = await presentTokenHash(connection, tokenHash, check(...types));
    await consumeToken(auth.tx(connection), presented);
    return presented;
  });
}

function type(user: User, code: string, ...types: OneTimeTokenType[]) {
  return auth.pool.transaction(async (connection) => {
    const presented = checkCode(await lockUser(connection, user.id), { address: user.email!, code }, check(...types));
    await consumeToken(auth.tx(connection), presented);
    return presented;
  });
}

test('a link works once', async () => {
  const user = await auth.addUser('once@mail.test');
  const hash = await store(user, 'recovery_token');
  expect((await open(hash, 'recovery_token')).user.id).toBe(user.id);
  await expect(open(hash, 'recovery_token')).rejects.toMatchObject(linkExpired);
});

test('of twenty clients that open a link at the same instant one is let in', async () => {
  const user = await auth.addUser('twenty@mail.test');
  const hash = await store(user, 'confirmation_token');
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => open(hash, 'confirmation_token')));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(linkExpired);
});

test('of twenty clients of whom half open the link and half type its code one is let in', async () => {
  const user = await auth.addUser('both@mail.test');
  const hash = await store(user, 'recovery_token', '004711');
  const tries = Array.from({ length: 20 }, (_, index) =>
    index % 2 === 0 ? open(hash, 'recovery_token') : type(user, '004711', 'recovery_token'),
  );
  const results = await Promise.allSettled(tries);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a code keeps its leading zeros and works for the address in any case', async () => {
  const user = await auth.addUser('zeros@mail.test');
  await store(user, 'confirmation_token', '000042');
  const found = checkCode(
    await auth.reload(user),
    { address: 'Zeros@Mail.Test', code: '000042' },
    check('confirmation_token'),
  );
  expect(found.type).toBe('confirmation_token');
});

test('a code of a PKCE email can be typed', async () => {
  const user = await auth.addUser('pkce@mail.test');
  await store(user, 'recovery_token', '123456', 'pkce_');
  expect((await type(user, '123456', 'confirmation_token', 'recovery_token')).type).toBe('recovery_token');
});

test('wrong, unknown, used, replaced and expired tokens get the same answer', async () => {
  const user = await auth.addUser('same@mail.test');
  const old = await store(user, 'recovery_token', '111111');
  const current = await store(user, 'recovery_token', '222222');
  await expect(open(old, 'recovery_token')).rejects.toMatchObject(linkExpired);
  await expect(open('0'.repeat(56), 'recovery_token')).rejects.toMatchObject(linkExpired);
  await expect(open(current, 'confirmation_token')).rejects.toMatchObject(linkExpired);
  await expect(type(user, '111111', 'recovery_token')).rejects.toMatchObject(expired);
  auth.clock.pass(3601);
  await expect(open(current, 'recovery_token')).rejects.toMatchObject(linkExpired);
  await expect(type(user, '222222', 'recovery_token')).rejects.toMatchObject(expired);
});

test('a token without the time it was sent at counts as expired', async () => {
  const user = await auth.addUser('undated@mail.test');
  const hash = await store(user, 'recovery_token');
  await auth.database.query('update auth.users set recovery_sent_at = null where id = $1', [user.id]);
  await expect(open(hash, 'recovery_token')).rejects.toMatchObject(linkExpired);
});

test('a user made by hand, whose token columns are null, can be read and has no token', async () => {
  const [row] = await auth.database.query<{ id: string }>(
    `insert into auth.users (instance_id, id, aud, email) values
    ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'hand@mail.test') returning id`,
  );
  const user = await loadUser(auth.pool, row!.id);
  const given = { address: 'hand@mail.test', code: '123456' };
  expect(() => checkCode(user, given, check('confirmation_token', 'recovery_token'))).toThrow(expired.message);
});

test('a transaction that is rolled back leaves the token valid', async () => {
  const user = await auth.addUser('again@mail.test');
  const hash = await store(user, 'recovery_token');
  const failed = auth.pool.transaction(async (connection) => {
    await consumeToken(auth.tx(connection), await presentTokenHash(connection, hash, check('recovery_token')));
    throw new Error('something later failed');
  });
  await expect(failed).rejects.toThrow('something later failed');
  expect((await open(hash, 'recovery_token')).user.id).toBe(user.id);
});

test('a banned user is told so, and the token stays', async () => {
  const user = await auth.addUser('banned@mail.test', { bannedUntil: Number.POSITIVE_INFINITY });
  const hash = await store(user, 'recovery_token');
  await expect(open(hash, 'recovery_token')).rejects.toMatchObject({ code: 'user_banned', status: 403 });
  expect((await auth.reload(user)).recoveryToken).toBe(hash);
});

test('accepting one token invalidates the links of all others', async () => {
  const user = await auth.addUser('all@mail.test');
  const recovery = await store(user, 'recovery_token', '111111');
  const confirmation = await store(user, 'confirmation_token', '222222');
  await open(confirmation, 'confirmation_token');
  await expect(open(recovery, 'recovery_token')).rejects.toMatchObject(linkExpired);
});

test('the first of two confirmations of an email change leaves the other link', async () => {
  const user = await auth.addUser('change@mail.test', { emailChange: 'change@mail.test' });
  const current = await store(user, 'email_change_token_current', '111111');
  const next = await store(user, 'email_change_token_new', '222222');
  await auth.pool.transaction(async (connection) => {
    const presented = await presentTokenHash(
      connection,
      current,
      check('email_change_token_current', 'email_change_token_new'),
    );
    await consumeToken(auth.tx(connection), presented, 'own');
  });
  await expect(open(current, 'email_change_token_current')).rejects.toMatchObject(linkExpired);
  expect((await open(next, 'email_change_token_new')).type).toBe('email_change_token_new');
});

test('the code of an email change finds its user by the address it was sent to', async () => {
  const user = await auth.addUser('old@mail.test');
  const codeHash = `pkce_${hashCode('new@mail.test', '123456')}`;
  const token = { userId: user.id, type: 'email_change_token_new', codeHash, address: 'new@mail.test' } as const;
  await storeToken(auth.tx(), token);
  const types = ['email_change_token_current', 'email_change_token_new'] as const;
  expect(await findUserIdByCode(auth.pool, { address: 'New@mail.test', code: '123456' }, types)).toBe(user.id);
  expect(await findUserIdByCode(auth.pool, { address: 'old@mail.test', code: '123456' }, types)).toBeNull();
});

test('a new password ends every pending token and change', async () => {
  const user = await auth.addUser('cleared@mail.test', { emailChange: 'next@mail.test' });
  const hash = await store(user, 'email_change_token_new');
  await clearPending(auth.tx(), user.id);
  await expect(open(hash, 'email_change_token_new')).rejects.toMatchObject(linkExpired);
  expect(await auth.reload(user)).toMatchObject({
    emailChangeTokenNew: '',
    emailChangeSentAt: null,
    emailChange: '',
  });
});

test('a link that Supabase Auth sent works here', async () => {
  const original = await testAuth(2, fixture('auth-original.sql'));
  const now = Date.parse('2026-01-02T10:30:00Z');
  const hash = hashCode('ana@mail.test', '012345');
  const found = await presentTokenHash(original.pool, hash, { types: ['recovery_token'], now, lifetimeSeconds: 3600 });
  expect(found.user.email).toBe('ana@mail.test');
});
