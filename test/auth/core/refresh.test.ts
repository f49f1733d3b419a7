/**
 * Refresh tokens: each gives the next one; a stolen one ends the session for thief and owner alike.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { loadSession } from '../../../src/auth/store/sessions.ts';
import { updateUser } from '../../../src/auth/store/users.ts';
import { testAuth } from '../../support/auth.ts';
import { fixture } from '../../support/postgres.ts';

const auth = await testAuth(20);
let names = 0;

const { refresh } = auth;

async function signedIn(changes: Parameters<typeof auth.addUser>[1] = {}) {
  const user = await auth.addUser(`user${names++}@mail.test`, changes);
  const { session, refreshToken } = await auth.signIn(user);
  return { user, session, token: refreshToken };
}

const alreadyUsed = {
  code: 'refresh_token_already_used',
  status: 400,
  message: 'Invalid Refresh Token: Already Used',
};

beforeEach(() => auth.clock.pass(3600));

test('a refresh token gives the next one, and the session notes when and from where', async () => {
  const { session, token } = await signedIn();
  auth.clock.pass(60);
  const refreshed = await refresh(token);
  expect(refreshed.refreshToken).toMatch(/^[a-z2-7]{12}$/);
  expect(refreshed.refreshToken).not.toBe(token);
  expect(await loadSession(auth.pool, session.id)).toMatchObject({
    refreshedAt: auth.clock.now(),
    userAgent: 'browser',
    ip: '192.0.2.7',
  });
  const rows = await auth.database.query(
    'select token, parent, revoked from auth.refresh_tokens where session_id = $1 order by id',
    [session.id],
  );
  expect(rows).toEqual([
    { token, parent: null, revoked: true },
    { token: refreshed.refreshToken, parent: token, revoked: false },
  ]);
});

test('a refresh is in the audit log', async () => {
  const { user, token } = await signedIn();
  await refresh(token);
  const rows = await auth.database.query(
    `select payload ->> 'action' as action, payload ->> 'log_type' as type from auth.audit_log_entries
    where payload ->> 'actor_id' = $1 order by 1`,
    [user.id],
  );
  expect(rows).toEqual([
    { action: 'token_refreshed', type: 'token' },
    { action: 'token_revoked', type: 'token' },
  ]);
});

test('twenty parallel refreshes with the same token all get the same next one', async () => {
  const { token } = await signedIn();
  const all = await Promise.all(Array.from({ length: 20 }, () => refresh(token)));
  expect(new Set(all.map(({ refreshToken }) => refreshToken)).size).toBe(1);
});

test('a token whose answer was lost gives the active one again, days later too', async () => {
  const { token } = await signedIn();
  const { refreshToken } = await refresh(token);
  auth.clock.pass(3 * 86_400);
  expect((await refresh(token)).refreshToken).toBe(refreshToken);
});

describe('a token of before the last one', () => {
  test('revokes all refresh tokens of its session after the interval, the active one as well', async () => {
    const { session, token } = await signedIn();
    const second = (await refresh(token)).refreshToken;
    const third = (await refresh(second)).refreshToken;
    auth.clock.pass(11);
    await expect(refresh(token)).rejects.toMatchObject(alreadyUsed);
    await expect(refresh(third)).rejects.toMatchObject(alreadyUsed);
    await expect(refresh(second)).rejects.toMatchObject(alreadyUsed);
    // Access tokens issued before still find it.
    expect(await loadSession(auth.pool, session.id)).not.toBeNull();
  });

  test('a token of before the last one gives a further token within the interval', async () => {
    const { token } = await signedIn();
    const second = (await refresh(token)).refreshToken;
    const third = (await refresh(second)).refreshToken;
    auth.clock.pass(9);
    const further = (await refresh(token)).refreshToken;
    expect([token, second, third]).not.toContain(further);
    expect((await refresh(further)).refreshToken).toMatch(/^[a-z2-7]{12}$/);
  });

  test('a token of before the last one is refused with rotation off, and the active token stays valid', async () => {
    const { token } = await signedIn();
    const config = { refresh_token_rotation_enabled: false };
    const second = (await refresh(token, config)).refreshToken;
    const third = (await refresh(second, config)).refreshToken;
    auth.clock.pass(11);
    await expect(refresh(token, config)).rejects.toMatchObject(alreadyUsed);
    expect((await refresh(third, config)).refreshToken).not.toBe(third);
  });
});

describe('a refresh is refused', () => {
  test.each(['k3vaaaaaaa', 'K3VAAAAAAAAA', 'k3v!aaaaaaaa', 'k3vaaaaaaaaaa', ''])(
    'for "%s", which is no token',
    async (token) => {
      const message = 'Refresh token is not valid';
      await expect(refresh(token)).rejects.toMatchObject({ code: 'validation_failed', status: 400, message });
    },
  );

  test('for a token that nobody has', async () => {
    const message = 'Invalid Refresh Token: Refresh Token Not Found';
    await expect(refresh('zzzzzzzzzzzz')).rejects.toMatchObject({
      code: 'refresh_token_not_found',
      status: 400,
      message,
    });
  });

  test('for a banned user', async () => {
    const { user, token } = await signedIn();
    await updateUser(auth.tx(), user.id, { bannedUntil: auth.clock.now() + 1000 });
    const message = 'Invalid Refresh Token: User Banned';
    await expect(refresh(token)).rejects.toMatchObject({ code: 'user_banned', status: 400, message });
  });

  test('for a token without a session, which is deleted then', async () => {
    const { token } = await signedIn();
    await auth.database.query('update auth.refresh_tokens set session_id = null where token = $1', [token]);
    const message = 'Invalid Refresh Token: No Valid Session Found';
    await expect(refresh(token)).rejects.toMatchObject({ code: 'session_not_found', status: 400, message });
    expect(await auth.database.query('select from auth.refresh_tokens where token = $1', [token])).toEqual([]);
  });

  test('after the time box, after inactivity, after the end', async () => {
    const { session, token } = await signedIn();
    auth.clock.pass(2 * 3600 + 1);
    const code = 'session_expired';
    await expect(refresh(token, { sessions_timebox: 2 })).rejects.toMatchObject({
      code,
      message: 'Invalid Refresh Token: Session Expired',
    });
    await expect(refresh(token, { sessions_inactivity_timeout: 2 })).rejects.toMatchObject({
      code,
      message: 'Invalid Refresh Token: Session Expired (Inactivity)',
    });
    await auth.database.query('update auth.sessions set not_after = $2::timestamptz where id = $1', [
      session.id,
      '2020-01-01',
    ]);
    await expect(refresh(token)).rejects.toMatchObject({ code, status: 400 });
  });

  test('without the second factor that the user has, when that is limited', async () => {
    const { user, token } = await signedIn();
    await auth.database.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
      values (gen_random_uuid(), $1, 'totp', 'verified', now(), now())`,
      [user.id],
    );
    auth.clock.pass(3601);
    const message = 'Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)';
    await expect(refresh(token, { sessions_allow_low_aal: 1 })).rejects.toMatchObject({
      code: 'session_expired',
      message,
    });
    expect((await refresh(token)).user.factors).toHaveLength(1);
  });

  test('to the older session where a user may have one', async () => {
    const { user, token } = await signedIn();
    auth.clock.pass(60);
    const newer = await auth.signIn(user);
    const message = 'Invalid Refresh Token: Session Expired (Revoked by Newer Login)';
    const config = { sessions_single_per_user: true };
    await expect(refresh(token, config)).rejects.toMatchObject({ code: 'session_expired', message });
    expect((await refresh(newer.refreshToken, config)).session.id).toBe(newer.session.id);
  });

  test('while another transaction locks the session for longer than five seconds', async () => {
    const { session, token } = await signedIn();
    await auth.pool.transaction(async (holder) => {
      await holder.query('select from auth.sessions where id = $1 for update', [session.id]);
      await expect(refresh(token)).rejects.toMatchObject({ code: 'conflict', status: 409 });
    });
    expect((await refresh(token)).session.id).toBe(session.id);
  });
});

test('a session that Supabase Auth began can be refreshed here', async () => {
  const original = await testAuth(2, fixture('auth-original.sql'));
  original.clock.time = Date.parse('2026-01-03T00:00:00Z');
  const refreshed = await original.refresh('abcdefghijkl');
  expect(refreshed.user.email).toBe('ana@mail.test');
  expect(refreshed.session.amr).toEqual([{ method: 'password', at: Date.parse('2026-01-02T09:00:00Z') }]);
});
