/**
 * Sessions and access tokens: what a sign-in gives, what log-out takes, and who a bearer is.
 */
import { createLocalJWKSet, decodeProtectedHeader, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import type { User } from '../../../src/auth/model/user.ts';
import {
  assertNotAnonymous,
  authenticateAdmin,
  authenticateUser,
  requestAudience,
} from '../../../src/auth/rules/bearer.ts';
import { accessTokenClaims, type SessionExtras, toSessionJson } from '../../../src/auth/secrets/access-token.ts';
import { createTokenSigner, publicKeySet } from '../../../src/auth/secrets/signing-keys.ts';
import {
  addAmr,
  endSessions,
  endSessionsBelow,
  type IssuedSession,
  loadSession,
} from '../../../src/auth/store/sessions.ts';
import { updateUser } from '../../../src/auth/store/users.ts';
import { defaultAuthConfig } from '../../../src/config/auth/auth-config.ts';
import { testAuth } from '../../support/auth.ts';

const auth = await testAuth();
const secret = 'a secret of more than thirty-two characters';
const signer = await createTokenSigner({ jwtSecret: secret, jwtKeys: [] });
const issuer = 'http://localhost:54321/auth/v1';

function context(changes: Partial<typeof defaultAuthConfig> = {}) {
  return { issuer, config: { ...defaultAuthConfig, ...changes }, now: auth.clock.now() };
}

/** Checks tokens as the gateway does. */
async function verify(token: string) {
  const currentDate = new Date(auth.clock.now());
  return (await jwtVerify(token, new TextEncoder().encode(secret), { algorithms: ['HS256'], currentDate })).payload;
}

function bearer(token: string) {
  const found = { verify, database: auth.pool, now: auth.clock.now() };
  return authenticateUser(`Bearer ${token}`, found, 'change');
}

function answer(user: User, issued: IssuedSession, extras?: SessionExtras) {
  const claims = accessTokenClaims(user, issued.session, context());
  return toSessionJson({ ...issued, user, claims, issuedAt: claims.iat }, signer, extras);
}

test('a sign-in is answered with tokens, times and the user as of now', async () => {
  const user = await auth.addUser('ana@mail.test');
  const issued = await auth.signIn(user);
  const json = JSON.parse(JSON.stringify(await answer(await auth.reload(user), issued)));
  const iat = Math.floor(auth.clock.now() / 1000);
  expect(Object.keys(json)).toEqual([
    'access_token',
    'token_type',
    'expires_in',
    'expires_at',
    'refresh_token',
    'user',
  ]);
  expect(json).toMatchObject({ token_type: 'bearer', expires_in: 3600, expires_at: iat + 3600 });
  expect(json.user.last_sign_in_at).toBe(new Date(auth.clock.now()).toISOString().replace('.000', ''));
  expect(await verify(json.access_token)).toEqual({
    iss: issuer,
    sub: user.id,
    aud: 'authenticated',
    exp: iat + 3600,
    iat,
    email: 'ana@mail.test',
    phone: '',
    app_metadata: { provider: 'email', providers: ['email'] },
    user_metadata: {},
    role: 'authenticated',
    aal: 'aal1',
    amr: [{ method: 'password', timestamp: iat }],
    session_id: issued.session.id,
    is_anonymous: false,
  });
  expect(decodeProtectedHeader(json.access_token)).toEqual({ alg: 'HS256', typ: 'JWT' });
});

test('the answer of the password grant says what is weak about the password, or null', async () => {
  const user = await auth.addUser('weak@mail.test');
  const issued = await auth.signIn(user);
  expect(await answer(user, issued, { weakPassword: null })).toHaveProperty('weak_password', null);
  const weakPassword = { message: 'Too short.', reasons: ['length'] as const };
  expect(await answer(user, issued, { weakPassword })).toMatchObject({ weak_password: weakPassword });
});

test.each(['RS256', 'ES256', 'EdDSA'])('a key for %s signs, and its public part verifies', async (alg) => {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kty: '', alg, kid: 'key-1', key_ops: ['sign', 'verify'] };
  const key = { ...jwk, kty: String((await exportJWK(privateKey)).kty) };
  const made = await createTokenSigner({ jwtSecret: secret, jwtKeys: [key] });
  const token = await made.sign({ sub: 'x' });
  expect(decodeProtectedHeader(token)).toEqual({ alg, typ: 'JWT', kid: 'key-1' });
  const set = publicKeySet([key, { kty: 'oct', k: 'c2VjcmV0', alg: 'HS256' }]);
  expect(set.keys).toHaveLength(1);
  expect(set.keys[0]).toMatchObject({ use: 'sig', key_ops: ['verify'], kid: 'key-1', alg });
  for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(set.keys[0]).not.toHaveProperty(member);
  expect((await jwtVerify(token, createLocalJWKSet(set as never))).payload.sub).toBe('x');
});

test('without a key that signs there is no signer', async () => {
  await expect(createTokenSigner({ jwtSecret: null, jwtKeys: [] })).rejects.toThrow('--jwt-secret');
});

test('a second factor raises the session, and its method comes first', async () => {
  const user = await auth.addUser('mfa@mail.test');
  const { session } = await auth.signIn(user);
  auth.clock.pass(30);
  await addAmr(auth.tx(), session, { method: 'totp', factorId: '33333333-3333-4333-8333-333333333333' });
  const raised = (await loadSession(auth.pool, session.id))!;
  expect(raised).toMatchObject({ aal: 'aal2', factorId: '33333333-3333-4333-8333-333333333333' });
  expect(raised.amr.map(({ method }) => method)).toEqual(['totp', 'password']);
  await auth.signIn(user);
  await endSessionsBelow(auth.pool, user.id, 'aal2');
  expect(await auth.database.query('select id from auth.sessions where user_id = $1', [user.id])).toEqual([
    { id: session.id },
  ]);
});

test('the token of a session that lacks the second factor ends with the limit on such sessions', async () => {
  const user = await auth.addUser('low@mail.test');
  const { session } = await auth.signIn(user);
  const factor = { status: 'verified' } as never;
  auth.clock.pass(3000);
  const withFactor = { ...user, factors: [factor] };
  const claims = accessTokenClaims(withFactor, session, context({ sessions_allow_low_aal: 1 }));
  expect(claims.exp - claims.iat).toBe(600);
  expect(accessTokenClaims(user, session, context({ sessions_allow_low_aal: 1 })).exp - claims.iat).toBe(3600);
});

describe('log-out', () => {
  test.each([
    ['global', 0],
    ['local', 2],
    ['others', 1],
  ] as const)('%s leaves %i of three sessions', async (scope, left) => {
    const user = await auth.addUser(`${scope}@mail.test`);
    const [first] = [await auth.signIn(user), await auth.signIn(user), await auth.signIn(user)];
    await endSessions(auth.pool, user.id, scope, first.session.id);
    const rows = await auth.database.query('select id from auth.sessions where user_id = $1', [user.id]);
    expect(rows).toHaveLength(left);
    expect(rows.some(({ id }) => id === first.session.id)).toBe(scope === 'others');
  });

  test('of a token without a session ends all', async () => {
    const user = await auth.addUser('nosession@mail.test');
    await auth.signIn(user);
    expect(await endSessions(auth.pool, user.id, 'local', null)).toBe(1);
  });
});

describe('a bearer', () => {
  const forbidden = { status: 403 };

  async function tokenFor(email: string, claims: Record<string, unknown> = {}) {
    const user = await auth.addUser(email);
    const { session } = await auth.signIn(user);
    const token = await signer.sign({ ...accessTokenClaims(user, session, context()), ...claims });
    return { user, session, token };
  }

  test('a bearer is the user and the session of the token', async () => {
    const { user, session, token } = await tokenFor('bearer@mail.test');
    const found = await bearer(token);
    expect([found.user.id, found.session?.id]).toEqual([user.id, session.id]);
  });

  test('without a session in the token is a user alone', async () => {
    const { token } = await tokenFor('alone@mail.test', { session_id: undefined });
    expect((await bearer(token)).session).toBeNull();
  });

  test.each([undefined, '', 'Basic x', 'Bearer', 'Bearer ', 'Bearer  two', 'Bearer a b'])(
    'a bearer is needed: "%s" is none',
    async (header) => {
      const asked = authenticateUser(header, { verify, database: auth.pool, now: auth.clock.now() }, 'read');
      await expect(asked).rejects.toMatchObject({ code: 'no_authorization', status: 401 });
    },
  );

  test('with a wrong signature is refused with a text that clients know', async () => {
    await expect(bearer('a.b.c')).rejects.toMatchObject({
      ...forbidden,
      code: 'bad_jwt',
      message: expect.stringMatching(/^invalid JWT: /),
    });
  });

  test.each([
    [{ sub: undefined }, 403, 'invalid claim: missing sub claim'],
    [{ sub: 'ana' }, 400, 'invalid claim: sub claim must be a UUID'],
    [{ session_id: 'x' }, 403, 'invalid claim: session_id claim must be a UUID'],
  ])('with the claims %j is refused', async (claims, status, message) => {
    const { token } = await tokenFor(`claims${status}${message.length}@mail.test`, claims);
    await expect(bearer(token)).rejects.toMatchObject({ code: 'bad_jwt', status, message });
  });

  test('a bearer is refused once the session has ended, the user is gone or banned', async () => {
    const ended = await tokenFor('ended@mail.test');
    await endSessions(auth.pool, ended.user.id, 'global', null);
    await expect(bearer(ended.token)).rejects.toMatchObject({ ...forbidden, code: 'session_not_found' });
    const { token } = await tokenFor('nobody@mail.test', { sub: '99999999-9999-4999-8999-999999999999' });
    await expect(bearer(token)).rejects.toMatchObject({ ...forbidden, code: 'user_not_found' });
    const banned = await tokenFor('bannedbearer@mail.test');
    await updateUser(auth.tx(), banned.user.id, { bannedUntil: auth.clock.now() + 1 });
    await expect(bearer(banned.token)).rejects.toMatchObject({ ...forbidden, code: 'user_banned' });
  });

  test('of one user cannot name the session of another', async () => {
    const theirs = await tokenFor('theirs@mail.test');
    const { token } = await tokenFor('mine@mail.test', { session_id: theirs.session.id });
    await expect(bearer(token)).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('a bearer is an admin by the role claim, with or without a session', async () => {
    const admin = (token: string) =>
      authenticateAdmin(`bearer ${token}`, { verify, database: auth.pool, now: auth.clock.now() }, defaultAuthConfig, [
        'service_role',
      ]);
    expect(await admin(await signer.sign({ role: 'service_role' }))).toEqual({ role: 'service_role' });
    const user = await tokenFor('noadmin@mail.test');
    await expect(admin(user.token)).rejects.toMatchObject({ code: 'not_admin', status: 403 });
    const over = await tokenFor('over@mail.test', { role: 'service_role' });
    await auth.database.query(`update auth.sessions set not_after = '2020-01-01' where id = $1`, [over.session.id]);
    await expect(admin(over.token)).rejects.toMatchObject({ code: 'session_expired', status: 403 });
  });

  test('of an anonymous user is kept from what needs an account', () => {
    expect(() => assertNotAnonymous({ is_anonymous: true })).toThrow('Anonymous user not allowed');
    expect(() => assertNotAnonymous({})).not.toThrow();
  });

  test('a bearer decides the audience, unless the header does or it is an admin', () => {
    const facts = { header: undefined, claims: null, adminRoles: ['service_role'], usual: 'authenticated' };
    expect(requestAudience(facts)).toBe('authenticated');
    expect(requestAudience({ ...facts, claims: { aud: 'shop', role: 'authenticated' } })).toBe('shop');
    expect(requestAudience({ ...facts, claims: { aud: 'shop', role: 'service_role' } })).toBe('authenticated');
    expect(requestAudience({ ...facts, header: 'app', claims: { aud: 'shop' } })).toBe('app');
  });
});
