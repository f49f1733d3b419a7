/**
 * Second factors: enrolled, challenged, verified and removed; what they are asked for, and what nobody gets past.
 */
import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { openSystemPool } from '../support/auth.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { token as sign } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const unlimited: AuthValues = { mfa_rate_limit_challenge_and_verify: 0 };
const unknownId = '11111111-1111-4111-8111-111111111111';

/** A user with a session of level aal1. */
async function user(auth: TestAuth, email: string) {
  const session = await signedUp(auth, email);
  return { email, session, id: session.user.id as string, ...factorsOf(auth, session.access_token) };
}

/** A user with a verified app; the second session has the level aal2, the first is gone. */
async function userWithApp(auth: TestAuth, email: string) {
  const plain = await user(auth, email);
  const app = await plain.enrollApp('app');
  const { body: session } = await plain.answer(app.id, app.code());
  // The code is used up, and the next one is another.
  auth.pass(30);
  return { ...plain, app, session, ...factorsOf(auth, session.access_token) };
}

/** A further sign-in of the user, of level aal1. */
async function signInAgain(auth: TestAuth, email: string) {
  const { body: session } = await auth.ask('/token?grant_type=password', { email, password });
  return { session, ...factorsOf(auth, session.access_token) };
}

const refusal = (status: number, code: string, message?: string) => ({
  status,
  body: message === undefined ? { code } : { code, message },
});

describe('an app', () => {
  test('an app is enrolled, gets its secret once, and counts when its first code was verified', async () => {
    const auth = await testAuth(database, { ...unlimited, site_url: 'http://localhost:3000' });
    const ana = await user(auth, 'ana@x.test');
    const enrolled = await ana.enroll({ factor_type: 'totp', friendly_name: 'phone of Ana' });
    const { id, totp } = enrolled.body;
    expect(enrolled).toMatchObject({ status: 200, body: { type: 'totp', friendly_name: 'phone of Ana' } });
    expect(Object.keys(enrolled.body)).toEqual(['id', 'type', 'friendly_name', 'totp']);
    expect(totp.secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(totp.uri).toBe(
      `otpauth://totp/localhost:3000:ana@x.test?algorithm=SHA1&digits=6&issuer=localhost:3000&period=30&secret=${totp.secret}`,
    );
    expect(await ana.list()).toMatchObject([
      {
        id,
        status: 'unverified',
        factor_type: 'totp',
        friendly_name: 'phone of Ana',
        phone: '',
        last_challenged_at: null,
      },
    ]);
    const challenge = await ana.challenge(id);
    expect(challenge.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'totp',
      expires_at: Math.floor(auth.now() / 1000) + 300,
    });
    const { status, body } = await ana.verify(id, challenge.body.id, (await ana.enrollApp('other')).code());
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'mfa_verification_failed' });
    expect(await ana.list()).toMatchObject([{ status: 'unverified' }, { status: 'unverified' }]);
  });

  test('an app raises the session with its code: new tokens, aal2, both methods; lesser sessions and other attempts end', async () => {
    const auth = await testAuth(database, unlimited);
    const bob = await user(auth, 'bob@x.test');
    const other = await signInAgain(auth, bob.email);
    const [app] = [await bob.enrollApp('first'), await bob.enrollApp('second')];
    auth.pass(5);
    const { status, body } = await bob.answer(app.id, app.code());
    expect([status, body.user.factors]).toMatchObject([200, [{ id: app.id, status: 'verified' }]]);
    expect(decodeJwt(body.access_token)).toMatchObject({
      aal: 'aal2',
      amr: [{ method: 'totp', timestamp: Math.floor(auth.now() / 1000) }, { method: 'otp' }],
      session_id: decodeJwt(bob.session.access_token).session_id,
    });
    const ended = await auth.ask('/user', undefined, { token: other.session.access_token });
    expect(ended.body.code).toBe('session_not_found');
    const refresh = (token: string) => auth.ask('/token?grant_type=refresh_token', { refresh_token: token });
    // The answer with the new token may be lost, so the old one still gives it.
    expect((await refresh(bob.session.refresh_token)).body.refresh_token).toBe(body.refresh_token);
    const refreshed = await refresh(body.refresh_token);
    expect(decodeJwt(refreshed.body.access_token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'totp' }, {}] });
  });

  test('of a user without email is named by number or id, and issuers by what the request says', async () => {
    const auth = await testAuth(database, {
      ...unlimited,
      site_url: 'shop://',
      external_phone_enabled: true,
      sms_autoconfirm: true,
    });
    const { body } = await auth.ask('/signup', { phone: '491711', password });
    const { enroll } = factorsOf(auth, body.access_token);
    const uriOf = async (request: object) => (await enroll({ factor_type: 'totp', ...request })).body.totp.uri;
    expect(await uriOf({})).toMatch(/^otpauth:\/\/totp\/shop:491711\?/);
    expect(await uriOf({ friendly_name: 'b', issuer: 'The shop' })).toMatch(/^otpauth:\/\/totp\/The%20shop:491711\?/);
  });

  test('an app is asked again at the next sign-in', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, email } = await userWithApp(auth, 'again@x.test');
    const again = await signInAgain(auth, email);
    expect(decodeJwt(again.session.access_token).aal).toBe('aal1');
    expect((await again.answer(app.id, app.code())).status).toBe(200);
  });
});

describe('a code', () => {
  test('a code holds one step earlier and later, and no step further', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, answer } = await userWithApp(auth, 'steps@x.test');
    auth.pass(300);
    expect((await answer(app.id, app.code(-2))).body.code).toBe('mfa_verification_failed');
    expect((await answer(app.id, app.code(2))).body.code).toBe('mfa_verification_failed');
    expect((await answer(app.id, app.code(-1))).status).toBe(200);
    auth.pass(300);
    expect((await answer(app.id, app.code(1))).status).toBe(200);
  });

  test('a code is accepted once, also through another challenge and of eight requests at once to two processes; nor is an older one afterwards', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, session, answer, challenge, verify } = await userWithApp(auth, 'replay@x.test');
    const challenges = await Promise.all(Array.from({ length: 8 }, () => challenge(app.id)));
    const code = app.code();
    const other = factorsOf(await testAuth(database, unlimited), session.access_token);
    const attempts = challenges.map(({ body }, index) => (index % 2 ? verify : other.verify)(app.id, body.id, code));
    const replies = await Promise.all(attempts);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ body }) => body.code === 'mfa_verification_failed')).toHaveLength(7);
    expect(await answer(app.id, app.code(-1))).toMatchObject(
      refusal(422, 'mfa_verification_failed', 'Invalid TOTP code entered'),
    );
    const steps = await database.query('select 1 from auth.pgreflect_totp_steps where factor_id = $1', [app.id]);
    expect(steps).toHaveLength(1);
    expect((await answer(app.id, app.code(1))).status).toBe(200);
  });

  test('a code answers a challenge once: of eight equal requests one verifies', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, challenge, verify } = await userWithApp(auth, 'equal@x.test');
    const { body } = await challenge(app.id);
    const replies = await Promise.all(Array.from({ length: 8 }, () => verify(app.id, body.id, app.code())));
    const codes = replies.map((reply) => reply.body.code ?? reply.status).sort();
    expect(codes).toEqual([200, ...Array.from({ length: 7 }, () => 'mfa_ip_address_mismatch')]);
  });

  test('that is malformed is refused', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, challenge, verify } = await userWithApp(auth, 'codes@x.test');
    const { body } = await challenge(app.id);
    const empty = refusal(400, 'validation_failed', 'Code needs to be non-empty');
    for (const code of ['', null, undefined]) expect(await verify(app.id, body.id, code)).toMatchObject(empty);
    const reason = 'Could not parse request body as JSON: field "code" is not a string';
    expect(await verify(app.id, body.id, 123_456)).toMatchObject(refusal(400, 'bad_json', reason));
    const wrong = refusal(422, 'mfa_verification_failed', 'Invalid TOTP code entered');
    for (const code of ['12345', '１２３４５６', `${app.code()} `, `0${app.code()}`]) {
      expect(await verify(app.id, body.id, code)).toMatchObject(wrong);
    }
    expect((await verify(app.id, body.id, app.code())).status).toBe(200);
  });
});

describe('a challenge', () => {
  test('a challenge is for one answer, one factor and five minutes', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, challenge, verify, enrollApp } = await userWithApp(auth, 'challenge@x.test');
    const { body } = await challenge(app.id);
    expect((await verify(app.id, body.id, app.code())).status).toBe(200);
    auth.pass(30);
    expect(await verify(app.id, body.id, app.code())).toMatchObject(
      refusal(422, 'mfa_ip_address_mismatch', 'Challenge and verify IP addresses mismatch.'),
    );
    const second = await enrollApp('second');
    const ofSecond = (await challenge(second.id)).body.id;
    expect(await verify(app.id, ofSecond, app.code())).toMatchObject(
      refusal(422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found'),
    );
    const old = (await challenge(app.id)).body.id;
    auth.pass(301);
    expect(await verify(app.id, old, app.code())).toMatchObject(
      refusal(
        422,
        'mfa_challenge_expired',
        `MFA challenge ${old} has expired, verify against another challenge or create a new challenge.`,
      ),
    );
    // It is gone, and the code was not used up.
    expect((await verify(app.id, old, app.code())).body.code).toBe('mfa_factor_not_found');
    const fresh = (await challenge(app.id)).body.id;
    expect((await verify(app.id, fresh, app.code())).status).toBe(200);
  });

  test('a challenge is answered from the address that it was given to', async () => {
    const auth = await testAuth(
      database,
      { ...unlimited, security_sb_forwarded_for_enabled: true },
      { trustedProxies: ['127.0.0.1'] },
    );
    const { app, session } = await userWithApp(auth, 'address@x.test');
    const from = (address: string) => ({ token: session.access_token, headers: { 'sb-forwarded-for': address } });
    const { body } = await auth.ask(`/factors/${app.id}/challenge`, {}, from('2001:db8::1'));
    const verify = (address: string) =>
      auth.ask(`/factors/${app.id}/verify`, { challenge_id: body.id, code: app.code() }, from(address));
    expect((await verify('192.0.2.7')).body.code).toBe('mfa_ip_address_mismatch');
    expect((await verify('2001:0db8:0::1')).status).toBe(200);
  });

  test('with an unknown id is refused', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, verify } = await userWithApp(auth, 'no-challenge@x.test');
    const unknown = refusal(422, 'mfa_factor_not_found', 'MFA factor with the provided challenge ID not found');
    for (const id of [undefined, '', unknownId]) expect(await verify(app.id, id, app.code())).toMatchObject(unknown);
    const reason = 'Could not parse request body as JSON: field "challenge_id" is not a UUID';
    expect(await verify(app.id, 'x', app.code())).toMatchObject(refusal(400, 'bad_json', reason));
  });

  test('a challenge may be made at the same instant as many others', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, challenge } = await userWithApp(auth, 'instant@x.test');
    const { id } = await user(auth, 'crowd@x.test');
    // Half of the microseconds before now are taken; the column is unique.
    await database.query(
      `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, last_challenged_at)
      select gen_random_uuid(), $1, n::text, 'totp', 'verified', now(), now(), $2::timestamptz - n * interval '2 microseconds'
      from generate_series(0, 499) n`,
      [id, new Date(auth.now()).toISOString()],
    );
    for (let count = 0; count < 12; count++) expect((await challenge(app.id)).status).toBe(200);
    await database.query('delete from auth.mfa_factors where user_id = $1', [id]);
  });
});

describe('enrolling', () => {
  test('enrolling needs a name of its own, the empty one included, also of requests at once', async () => {
    const auth = await testAuth(database, unlimited);
    const { enroll, list } = await user(auth, 'names@x.test');
    expect((await enroll({ factor_type: 'totp' })).body.friendly_name).toBe('');
    expect(await enroll({ factor_type: 'totp', friendly_name: '' })).toMatchObject(
      refusal(422, 'mfa_factor_name_conflict', 'A factor with the friendly name "" for this user already exists'),
    );
    const requests = Array.from({ length: 8 }, () => enroll({ factor_type: 'totp', friendly_name: 'same' }));
    const statuses = (await Promise.all(requests)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 422, 422, 422, 422, 422, 422, 422]);
    expect(await list()).toHaveLength(2);
    const long = await enroll({ factor_type: 'totp', friendly_name: 'x'.repeat(256) });
    expect(long).toMatchObject(refusal(400, 'validation_failed', 'friendly_name can be at most 255 characters long'));
    // As long as it may be and hard to compress, it still fits into the index of the table.
    const widest = Array.from({ length: 255 }, (_, n) => String.fromCharCode(0x4e00 + 37 * n)).join('');
    expect((await enroll({ factor_type: 'totp', friendly_name: widest, issuer: '€'.repeat(33) })).status).toBe(200);
  });

  test('enrolling has a limit, which requests at once do not get past', async () => {
    const auth = await testAuth(database, { ...unlimited, mfa_max_enrolled_factors: 3 });
    const { enrollApp, enroll, list } = await user(auth, 'many@x.test');
    await enrollApp('0');
    const requests = ['1', '2', '3', '4'].map((name) => enroll({ factor_type: 'totp', friendly_name: name }));
    const codes = (await Promise.all(requests)).map(({ status, body }) => body.code ?? status).sort();
    expect(codes).toEqual([200, 200, 'too_many_enrolled_mfa_factors', 'too_many_enrolled_mfa_factors']);
    expect(await list()).toHaveLength(3);
  });

  test('a second one needs the first', async () => {
    const auth = await testAuth(database, unlimited);
    const { email, app } = await userWithApp(auth, 'second@x.test');
    const again = await signInAgain(auth, email);
    expect(await again.enroll({ factor_type: 'totp', friendly_name: 'b' })).toMatchObject(
      refusal(403, 'insufficient_aal', 'AAL2 required to enroll a new factor'),
    );
    const { body } = await again.answer(app.id, app.code());
    const raised = factorsOf(auth, body.access_token);
    expect((await raised.enroll({ factor_type: 'totp', friendly_name: 'b' })).status).toBe(200);
  });

  test('that was not finished is deleted after five minutes, when the user enrolls again; a challenge keeps it', async () => {
    const auth = await testAuth(database, unlimited);
    const { enrollApp, challenge, list } = await user(auth, 'abandoned@x.test');
    const [, kept] = [await enrollApp('left'), await enrollApp('challenged')];
    await challenge(kept.id);
    auth.pass(301);
    await (await user(auth, 'somebody@x.test')).enrollApp();
    expect(await list()).toMatchObject([{ friendly_name: 'challenged' }]);
  });

  const bad: readonly (readonly [body: object, status: number, code: string, message: string])[] = [
    [{}, 400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn'],
    [{ factor_type: 'sms' }, 400, 'validation_failed', 'factor_type needs to be totp, phone, or webauthn'],
    [{ factor_type: 5 }, 400, 'bad_json', 'Could not parse request body as JSON: field "factor_type" is not a string'],
    [{ factor_type: 'webauthn' }, 422, 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn'],
    [{ factor_type: 'phone' }, 422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone'],
    [{ factor_type: 'totp', issuer: 'x'.repeat(101) }, 400, 'validation_failed', 'issuer can be at most 100 bytes long'],
    [{ factor_type: 'totp', friendly_name: 'a\0b' }, 400, 'validation_failed', 'The value of "friendly_name" has text that cannot be stored.'],
  ]; // biome-ignore format: one row per refusal

  test('enrolling is refused with the reason', async () => {
    const auth = await testAuth(database, unlimited);
    const { enroll, list } = await user(auth, 'bad@x.test');
    for (const [body, status, code, message] of bad) {
      expect(await enroll(body)).toMatchObject(refusal(status, code, message));
    }
    expect(await list()).toEqual([]);
  });
});

describe('removing', () => {
  test('a verified factor needs it; its sessions fall back, and the codes with it', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, email, session, unenroll, list } = await userWithApp(auth, 'remove@x.test');
    const again = await signInAgain(auth, email);
    expect(await again.unenroll(app.id)).toMatchObject(
      refusal(422, 'insufficient_aal', 'AAL2 required to unenroll verified factor'),
    );
    expect(await unenroll(app.id)).toMatchObject({ status: 200, body: { id: app.id } });
    expect(await list()).toEqual([]);
    const { body } = await auth.ask('/token?grant_type=refresh_token', { refresh_token: session.refresh_token });
    expect(decodeJwt(body.access_token)).toMatchObject({ aal: 'aal1', amr: [{ method: 'otp' }] });
    expect(decodeJwt(body.access_token).amr).toHaveLength(1);
    expect((await unenroll(app.id)).body.code).toBe('mfa_factor_not_found');
    expect(await database.query('select 1 from auth.pgreflect_totp_steps where factor_id = $1', [app.id])).toEqual([]);
  });

  test('an unverified factor needs nothing', async () => {
    const auth = await testAuth(database, unlimited);
    const { enrollApp, unenroll } = await user(auth, 'unverified@x.test');
    expect((await unenroll((await enrollApp()).id)).status).toBe(200);
  });

  test('one of two factors lowers the sessions that it raised, and no others', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, email, session, enrollApp, answer, unenroll } = await userWithApp(auth, 'two@x.test');
    const second = await enrollApp('second');
    await answer(second.id, second.code());
    const again = await signInAgain(auth, email);
    await again.answer(app.id, app.code());
    expect((await unenroll(app.id)).status).toBe(200);
    const levels = await database.query<{ id: string; aal: string }>(
      'select id, aal from auth.sessions where user_id = $1 order by created_at',
      [session.user.id],
    );
    expect(levels.map(({ aal }) => aal)).toEqual(['aal2', 'aal1']);
    // The level is the session's, whatever a token says that was issued before.
    const { body } = await auth.ask('/token?grant_type=refresh_token', { refresh_token: again.session.refresh_token });
    expect((await factorsOf(auth, body.access_token).unenroll(second.id)).body.code).toBe('insufficient_aal');
  });
});

describe('a factor', () => {
  test('of another user does not exist', async () => {
    const auth = await testAuth(database, unlimited);
    const [own, victim] = [await user(auth, 'mallory@x.test'), await user(auth, 'victim@x.test')];
    const app = await victim.enrollApp();
    const { body } = await victim.challenge(app.id);
    const requests = [own.challenge, (id: string) => own.verify(id, body.id, app.code()), own.unenroll];
    for (const ask of requests) {
      expect(await ask(app.id)).toMatchObject(refusal(404, 'mfa_factor_not_found', 'Factor not found'));
      expect(await ask(unknownId)).toMatchObject(refusal(404, 'mfa_factor_not_found', 'Factor not found'));
      expect(await ask('x')).toMatchObject(refusal(404, 'validation_failed', 'factor_id must be an UUID'));
    }
    expect(await victim.list()).toMatchObject([{ id: app.id, status: 'unverified' }]);
  });

  test('a factor is refused to anonymous users, and to tokens without a session', async () => {
    const auth = await testAuth(database, { ...unlimited, external_anonymous_users_enabled: true });
    const anonymous = factorsOf(auth, (await auth.ask('/signup', {})).body.access_token);
    const forbidden = refusal(403, 'no_authorization', 'Anonymous user not allowed to perform these actions');
    expect(await anonymous.enroll({ factor_type: 'totp' })).toMatchObject(forbidden);
    expect(await anonymous.challenge(unknownId)).toMatchObject(forbidden);
    expect(await anonymous.verify(unknownId, unknownId, '123456')).toMatchObject(forbidden);
    expect(await anonymous.unenroll(unknownId)).toMatchObject(forbidden);
    const { id } = await user(auth, 'no-session@x.test');
    const token = await sign({ sub: id, aud: 'authenticated', role: 'authenticated' });
    const reply = await factorsOf(auth, token).enroll({ factor_type: 'totp' });
    expect(reply).toMatchObject(refusal(403, 'session_not_found', 'Second factors need a token with a session'));
  });

  test('that was enrolled for a passkey elsewhere can be removed, not verified', async () => {
    const auth = await testAuth(database, unlimited);
    const { id, challenge, unenroll } = await user(auth, 'passkey@x.test');
    await database.query(
      `insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at)
      values ($1, $2, 'webauthn', 'unverified', now(), now())`,
      [unknownId, id],
    );
    expect(await challenge(unknownId)).toMatchObject(refusal(422, 'mfa_webauthn_enroll_not_enabled'));
    expect((await unenroll(unknownId)).status).toBe(200);
  });

  test('whose secret is encrypted is no text to compare with, and the answer does not quote it', async () => {
    const auth = await testAuth(database, unlimited);
    const { app, answer } = await userWithApp(auth, 'encrypted@x.test');
    const secret = '{"key_id":"k","alg":"aes-gcm-hkdf","data":"c2VjcmV0","nonce":"bm9uY2U="}';
    await database.query('update auth.mfa_factors set secret = $2 where id = $1', [app.id, secret]);
    expect(await answer(app.id, app.code())).toMatchObject(refusal(500, 'unexpected_failure'));
    expect(JSON.stringify(auth.observations)).not.toContain('c2VjcmV0');
  });
});

describe('the configuration', () => {
  test('the configuration switches enrolling and verifying off, each for itself', async () => {
    const on = await testAuth(database, unlimited);
    const { app, email } = await userWithApp(on, 'switches@x.test');
    const off = await testAuth(database, {
      ...unlimited,
      mfa_totp_enroll_enabled: false,
      mfa_totp_verify_enabled: false,
    });
    const { enroll, challenge, verify } = await signInAgain(off, email);
    expect(await enroll({ factor_type: 'totp' })).toMatchObject(
      refusal(422, 'mfa_totp_enroll_not_enabled', 'MFA enroll is disabled for TOTP'),
    );
    const closed = refusal(422, 'mfa_totp_verify_not_enabled', 'MFA verification is disabled for TOTP');
    expect(await challenge(app.id)).toMatchObject(closed);
    expect(await verify(app.id, unknownId, app.code())).toMatchObject(closed);
  });

  test('limits challenges and attempts of an address, and of no other one', async () => {
    const auth = await testAuth(
      database,
      { security_sb_forwarded_for_enabled: true },
      { trustedProxies: ['127.0.0.1'] },
    );
    const { session, enrollApp } = await user(auth, 'limits@x.test');
    const app = await enrollApp();
    let count = 0;
    const attempt = (path: string, address?: string) =>
      auth.ask(
        `/factors/${app.id}/${path}`,
        { challenge_id: unknownId, code: '000000' },
        {
          token: session.access_token,
          headers: { 'sb-forwarded-for': address ?? `198.51.100.${++count}` },
        },
      );
    const statusesOf = async (path: string, address?: string) => {
      const seen: unknown[] = [];
      for (let tries = 0; tries < 32; tries++) {
        const { status, body } = await attempt(path, address);
        seen.push(status === 200 ? 200 : body.code);
      }
      return [...new Set(seen)].map((name) => [name, seen.filter((one) => one === name).length]);
    };
    expect(await statusesOf('challenge', '192.0.2.1')).toEqual([
      [200, 30],
      ['over_request_rate_limit', 2],
    ]);
    expect(await statusesOf('verify', '192.0.2.1')).toEqual([
      ['mfa_factor_not_found', 30],
      ['over_request_rate_limit', 2],
    ]);
    const reply = await attempt('verify', '192.0.2.1');
    expect([reply.status, Number(reply.headers.get('retry-after'))]).toEqual([429, 4]);
    auth.pass(4);
    expect((await attempt('verify', '192.0.2.1')).body.code).toBe('mfa_factor_not_found');
    expect(await statusesOf('verify')).toEqual([['mfa_factor_not_found', 32]]);
  });

  test('the configuration lets a session without the second factor of its user live for so long', async () => {
    const auth = await testAuth(database, { ...unlimited, sessions_allow_low_aal: 1 });
    const { email } = await userWithApp(auth, 'low@x.test');
    const { session } = await signInAgain(auth, email);
    auth.pass(3601);
    const { body } = await auth.ask('/token?grant_type=refresh_token', { refresh_token: session.refresh_token });
    expect(body.message).toBe('Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)');
  });
});

test('a user with a second factor needs it to change password, address or number', async () => {
  const auth = await testAuth(database, unlimited);
  const { app, email } = await userWithApp(auth, 'sensitive@x.test');
  const { session, answer } = await signInAgain(auth, email);
  const update = (token: string, body: unknown) => auth.ask('/user', body, { method: 'PUT', token });
  for (const change of [{ password: 'another password' }, { email: 'elsewhere@x.test' }]) {
    const message = 'AAL2 session is required to update email or password when MFA is enabled.';
    expect(await update(session.access_token, change)).toMatchObject(refusal(401, 'insufficient_aal', message));
  }
  expect((await update(session.access_token, { data: { a: 1 } })).status).toBe(200);
  const { body } = await answer(app.id, app.code());
  expect((await update(body.access_token, { password: 'another password' })).status).toBe(200);
});

describe('a phone', () => {
  const phones: AuthValues = {
    ...unlimited,
    mfa_phone_enroll_enabled: true,
    mfa_phone_verify_enabled: true,
    mfa_phone_otp_length: 8,
    mfa_phone_template: 'Second factor: {{ .Code }}',
    sms_provider: 'capture',
  };

  test('a phone gets a code by text message, and raises the session with it', async () => {
    const auth = await testAuth(database, phones);
    const { enroll, challenge, verify, list } = await user(auth, 'phone-factor@x.test');
    const enrolled = await enroll({ factor_type: 'phone', friendly_name: 'mine', phone: '+49 170 21' });
    expect(enrolled.body).toEqual({ id: expect.any(String), type: 'phone', friendly_name: 'mine', phone: '4917021' });
    const { id } = enrolled.body;
    const { body } = await challenge(id, { channel: 'sms' });
    expect(body).toMatchObject({ type: 'phone', expires_at: Math.floor(auth.now() / 1000) + 300 });
    const { text } = await auth.message('4917021');
    expect(text).toMatch(/^Second factor: \d{8}$/);
    const code = text.slice(-8);
    expect(await verify(id, body.id, code === '00000000' ? '11111111' : '00000000')).toMatchObject(
      refusal(422, 'mfa_verification_failed', 'Invalid MFA Phone code entered'),
    );
    const verified = await verify(id, body.id, code);
    expect(decodeJwt(verified.body.access_token)).toMatchObject({ aal: 'aal2', amr: [{ method: 'mfa/phone' }, {}] });
    expect((await verify(id, body.id, code)).body.code).toBe('mfa_ip_address_mismatch');
    expect(await list()).toMatchObject([{ factor_type: 'phone', phone: '4917021', status: 'verified' }]);
  });

  test('a phone gets a code once in so many seconds', async () => {
    const auth = await testAuth(database, phones);
    const { enroll, challenge } = await user(auth, 'often@x.test');
    const { body } = await enroll({ factor_type: 'phone', phone: '4917022' });
    expect((await challenge(body.id)).status).toBe(200);
    auth.pass(20);
    expect(await challenge(body.id)).toMatchObject({
      status: 429,
      body: {
        code: 'over_sms_send_rate_limit',
        message: expect.stringMatching(/^For security purposes, you can only request this after (39|40) seconds\.$/),
      },
    });
    expect(await auth.messages('4917022')).toHaveLength(1);
    auth.pass(40);
    expect((await challenge(body.id)).status).toBe(200);
  });

  test('a phone takes the place of an earlier attempt with the number, not of a verified one', async () => {
    const auth = await testAuth(database, phones);
    const dora = await user(auth, 'dora@x.test');
    await dora.enroll({ factor_type: 'phone', phone: '4917023' });
    const { id } = (await dora.enroll({ factor_type: 'phone', phone: '+4917023' })).body;
    expect(await dora.list()).toMatchObject([{ id }]);
    const challenge = (await dora.challenge(id)).body.id;
    const code = (await auth.message('4917023')).text.slice(-8);
    const { body } = await dora.verify(id, challenge, code);
    const raised = factorsOf(auth, body.access_token);
    const again = await raised.enroll({ factor_type: 'phone', friendly_name: 'b', phone: '4917023' });
    expect(again).toMatchObject(
      refusal(
        422,
        'mfa_verified_factor_exists',
        'A verified phone factor already exists, unenroll the existing factor to continue',
      ),
    );
  });

  test('that was enrolled before an app was in use does not get around the app', async () => {
    const auth = await testAuth(database, phones);
    const eve = await user(auth, 'eve@x.test');
    const { id } = (await eve.enroll({ factor_type: 'phone', friendly_name: 'planted', phone: '4917028' })).body;
    const app = await eve.enrollApp('app');
    const raised = factorsOf(auth, (await eve.answer(app.id, app.code())).body.access_token);
    const again = await signInAgain(auth, eve.email);
    const challenge = (await again.challenge(id)).body.id;
    const code = (await auth.message('4917028')).text.slice(-8);
    expect(await again.verify(id, challenge, code)).toMatchObject(
      refusal(403, 'insufficient_aal', 'AAL2 required to enroll a new factor'),
    );
    expect((await raised.verify(id, challenge, code)).status).toBe(200);
  });

  test('a phone needs a number, a channel that there is, and somebody who sends; else nothing is stored', async () => {
    const auth = await testAuth(database, { ...phones, sms_provider: null });
    const { enroll, challenge, list } = await user(auth, 'nobody-sends@x.test');
    expect(await enroll({ factor_type: 'phone' })).toMatchObject(
      refusal(400, 'validation_failed', 'Phone number required to enroll Phone factor'),
    );
    expect(await enroll({ factor_type: 'phone', phone: 'x' })).toMatchObject(
      refusal(400, 'validation_failed', 'Invalid phone number format (E.164 required)'),
    );
    const { body } = await enroll({ factor_type: 'phone', phone: '4917024' });
    expect((await challenge(body.id, { channel: 'pigeon' })).body.message).toMatch(/^Invalid channel/);
    expect(await challenge(body.id)).toMatchObject(refusal(500, 'unexpected_failure', 'Unable to get SMS provider'));
    expect(await list()).toMatchObject([{ last_challenged_at: null }]);
    expect(await database.query('select 1 from auth.mfa_challenges where factor_id = $1', [body.id])).toEqual([]);
  });

  test('for tests has a fixed code and gets no message; enough messages are enough', async () => {
    const auth = await testAuth(database, { ...phones, sms_test_otp: '4917025=123456', rate_limit_sms_sent: 0 });
    const { enroll, challenge, verify } = await user(auth, 'fixed@x.test');
    const other = (await enroll({ factor_type: 'phone', friendly_name: 'b', phone: '4917026' })).body.id;
    expect(await challenge(other)).toMatchObject(refusal(429, 'over_sms_send_rate_limit', 'SMS rate limit exceeded'));
    const { id } = (await enroll({ factor_type: 'phone', phone: '4917025' })).body;
    const { body } = await challenge(id);
    expect(await auth.messages('4917025')).toEqual([]);
    expect((await verify(id, body.id, '123456')).status).toBe(200);
  });

  test('a phone can be switched off for verifying as well', async () => {
    const auth = await testAuth(database, { ...phones, mfa_phone_verify_enabled: false });
    const { enroll, challenge } = await user(auth, 'phone-off@x.test');
    const { body } = await enroll({ factor_type: 'phone', phone: '4917027' });
    expect(await challenge(body.id)).toMatchObject(
      refusal(422, 'mfa_phone_verify_not_enabled', 'MFA verification is disabled for Phone'),
    );
  });
});

describe('admins', () => {
  test('list, rename and remove the factors of a user; what the factor raised falls back', async () => {
    const auth = await testAuth(database, { ...unlimited, mfa_phone_enroll_enabled: true });
    const { id, app, session, enroll } = await userWithApp(auth, 'administered@x.test');
    const { body: phone } = await enroll({ factor_type: 'phone', friendly_name: 'p', phone: '4917030' });
    const path = `/admin/users/${id}/factors`;
    expect((await auth.askAdmin(path)).body).toMatchObject([{ id: app.id }, { id: phone.id, phone: '4917030' }]);
    const put = (factor: string, body: unknown) => auth.askAdmin(`${path}/${factor}`, body, { method: 'PUT' });
    expect((await put(app.id, { friendly_name: 'renamed' })).body).toMatchObject({
      id: app.id,
      friendly_name: 'renamed',
    });
    expect((await put(phone.id, { phone: '+4917031' })).body).toMatchObject({ phone: '4917031', friendly_name: 'p' });
    expect((await put(app.id, { friendly_name: 'p' })).body.code).toBe('mfa_factor_name_conflict');
    expect(await put(app.id, { phone: '4917032' })).toMatchObject(
      refusal(400, 'validation_failed', 'Only a factor of the type phone has a phone number'),
    );
    const other = (await enroll({ factor_type: 'phone', friendly_name: 'q', phone: '4917033' })).body.id;
    expect((await put(other, { phone: '4917031' })).body.code).toBe('mfa_verified_factor_exists');
    const remove = () => auth.askAdmin(`${path}/${app.id}`, undefined, { method: 'DELETE' });
    expect(await remove()).toMatchObject({ status: 200, body: { id: app.id, status: 'verified' } });
    expect(await remove()).toMatchObject(refusal(404, 'mfa_factor_not_found'));
    const { body } = await auth.ask('/token?grant_type=refresh_token', { refresh_token: session.refresh_token });
    expect(decodeJwt(body.access_token).aal).toBe('aal1');
  });

  test('admins are told what is wrong with an id, and users are no admins', async () => {
    const auth = await testAuth(database, unlimited);
    const { id, session } = await user(auth, 'no-factors@x.test');
    expect((await auth.askAdmin(`/admin/users/${id}/factors`)).body).toEqual([]);
    expect(await auth.askAdmin('/admin/users/x/factors')).toMatchObject(refusal(404, 'validation_failed'));
    expect(await auth.askAdmin(`/admin/users/${unknownId}/factors`)).toMatchObject(refusal(404, 'user_not_found'));
    const removed = await auth.askAdmin(`/admin/users/${id}/factors/x`, undefined, { method: 'DELETE' });
    expect(removed).toMatchObject(refusal(404, 'validation_failed', 'factor_id must be an UUID'));
    const asked = await auth.ask(`/admin/users/${id}/factors`, undefined, { token: session.access_token });
    expect(asked).toMatchObject(refusal(403, 'not_admin'));
  });
});

test('sign-out waits for a verification of the same user, so that neither ends sessions that the other has locked', async () => {
  const auth = await testAuth(database, unlimited);
  const { id, session } = await user(auth, 'in-turn@x.test');
  const logOut = () => auth.ask('/logout?scope=others', undefined, { method: 'POST', token: session.access_token });
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const reply = await openSystemPool(database.url, 1).transaction(async (held) => {
    await held.query('select from auth.users where id = $1::uuid for update', [id]);
    const asked = logOut();
    await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1));
    // None of them is locked.
    await held.query('select from auth.sessions where user_id = $1::uuid for update nowait', [id]);
    return { asked };
  });
  expect((await reply.asked).status).toBe(204);
});

test('the audit log has every step, with the address; no secret is answered twice, logged or audited', async () => {
  const auth = await testAuth(database, unlimited);
  const { id, app, email, unenroll } = await userWithApp(auth, 'audited@x.test');
  const again = await signInAgain(auth, email);
  await again.verify(app.id, (await again.challenge(app.id)).body.id, app.code());
  await again.list();
  await auth.askAdmin(`/admin/users/${id}/factors`);
  await auth.askAdmin(`/admin/users/${id}/factors/${app.id}`, { friendly_name: 'x' }, { method: 'PUT' });
  await unenroll(app.id);
  const rows = await database.query<{ payload: { action: string }; ip_address: string }>(
    `select payload, ip_address from auth.audit_log_entries
    where payload ->> 'log_type' = 'factor' and payload -> 'traits' ->> 'factor_id' = $1 order by created_at`,
    [app.id],
  );
  expect(rows.map(({ payload }) => payload.action).sort()).toEqual([
    'challenge_created',
    'challenge_created',
    'factor_in_progress',
    'factor_unenrolled',
    'factor_updated',
    'verification_attempted',
    'verification_attempted',
  ]);
  expect(rows.every(({ ip_address }) => ip_address === '127.0.0.1')).toBe(true);
  const answers = [
    await auth.ask('/user', undefined, { token: again.session.access_token }),
    await auth.askAdmin('/admin/audit'),
  ];
  for (const text of [JSON.stringify(auth.observations), JSON.stringify(rows), ...answers.map((reply) => reply.text)]) {
    expect(text).not.toContain(app.secret);
  }
});
