/**
 * A thief who has the password guesses the codes of the second factor: every day, from many networks, or only to use the guesses up.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const values = { smtp_max_frequency: 0, mfa_rate_limit_challenge_and_verify: 0 };
const serve = (more: AuthValues = {}) => testAuth(database, { ...values, ...more }, { trustedProxies: ['127.0.0.1'] });
const password = 'a good password';

/** The service as clients of a network reach it. */
const inNetwork = (auth: TestAuth, network: number) => ({
  now: auth.now,
  ask: ((path, body, options) =>
    auth.ask(path, body, {
      ...options,
      headers: { 'x-forwarded-for': `198.51.100.${network}` },
    })) satisfies TestAuth['ask'] as TestAuth['ask'],
});

/** Signs in with the password. */
async function enter(auth: TestAuth, email: string, network: number) {
  const own = inNetwork(auth, network);
  const { body } = await own.ask('/token?grant_type=password', { email, password });
  return factorsOf(own, body.access_token);
}

/** A user with an app, signed in with both factors in network 250. */
async function withApp(auth: TestAuth, email: string) {
  await signedUp(auth, email);
  const own = await enter(auth, email, 250);
  const app = await own.enrollApp();
  expect((await own.answer(app.id, app.code())).status).toBe(200);
  return app;
}

/** Of one challenge, which dies after ten of them. */
const guessesOfOne = 9;

/** Guesses with new challenges, before the one that there is dies. @returns How many guesses were looked at. */
async function guess(auth: TestAuth, email: string, id: string, network: number, count: number): Promise<number> {
  const thief = await enter(auth, email, network);
  let checked = 0;
  let challenge = '';
  for (let guesses = 0; guesses < count; guesses += 1) {
    if (guesses % guessesOfOne === 0) challenge = (await thief.challenge(id)).body.id;
    checked += (await thief.verify(id, challenge, '000000')).body.code === 'mfa_verification_failed' ? 1 : 0;
  }
  return checked;
}

test('ninety guesses a day are looked at, from all networks together, and the owner signs in where they are signed in', async () => {
  const auth = await serve();
  const email = 'many@x.test';
  const app = await withApp(auth, email);
  auth.pass(30);
  const counts: number[] = [];
  for (let network = 1; network <= 4; network += 1) counts.push(await guess(auth, email, app.id, network, 30));
  expect(counts).toEqual([30, 30, 29, 0]);
  auth.pass(3600);
  expect(await guess(auth, email, app.id, 5, 3)).toBe(0);
  const owner = await enter(auth, email, 250);
  expect((await owner.answer(app.id, app.code())).status).toBe(200);
  auth.pass(86_400);
  expect(await guess(auth, email, app.id, 5, 3)).toBe(3);
});

test('one network cannot use the guesses up: the owner signs in from another one', async () => {
  const auth = await serve();
  const email = 'one@x.test';
  const app = await withApp(auth, email);
  expect(await guess(auth, email, app.id, 1, 70)).toBe(60);
  auth.pass(30);
  const owner = await enter(auth, email, 2);
  expect((await owner.answer(app.id, app.code())).status).toBe(200);
});

test('one network cannot use up the attempts either: the owner signs in at once', async () => {
  const auth = await serve({ mfa_rate_limit_challenge_and_verify: 15 });
  const email = 'attempts@x.test';
  const app = await withApp(auth, email);
  auth.pass(30);
  const thief = await enter(auth, email, 1);
  const { body } = await thief.challenge(app.id);
  const codes: string[] = [];
  for (let tries = 0; tries < 40; tries += 1) codes.push((await thief.verify(app.id, body.id, '000000')).body.code);
  expect(codes.at(-1)).toBe('over_request_rate_limit');
  const owner = await enter(auth, email, 250);
  expect((await owner.answer(app.id, app.code())).status).toBe(200);
});

test('codes that a thief asks a phone for keep none from its owner', async () => {
  const phone = '15550004444';
  const auth = await serve({ sms_provider: 'capture', mfa_phone_enroll_enabled: true, mfa_phone_verify_enabled: true });
  const email = 'texted@x.test';
  await signedUp(auth, email);
  const own = await enter(auth, email, 250);
  const { id } = (await own.enroll({ factor_type: 'phone', phone })).body;
  const { body } = await own.challenge(id);
  expect((await own.verify(id, body.id, (await auth.message(phone)).code)).status).toBe(200);
  const thief = await enter(auth, email, 1);
  for (let minute = 0; minute < 6; minute += 1) {
    auth.pass(60);
    await thief.challenge(id);
  }
  const owner = await enter(auth, email, 2);
  const asked = await owner.challenge(id);
  expect(asked.status).toBe(200);
  expect((await owner.verify(id, asked.body.id, (await auth.message(phone)).code)).status).toBe(200);
});

test('the owner is told by email of ten wrong codes, once a day, whoever enters them; fewer tell nothing', async () => {
  const auth = await serve({ mailer_notifications_mfa_factor_guessed_enabled: true });
  const email = 'told@x.test';
  const app = await withApp(auth, email);
  const told = async () =>
    (await auth.messages(email)).filter(({ kind }) => kind === 'mfa_factor_guessed_notification').length;
  auth.pass(30);
  expect(await guess(auth, email, app.id, 1, 5)).toBe(5);
  expect(await guess(auth, email, app.id, 2, 4)).toBe(4);
  expect(await told()).toBe(0);
  expect(await guess(auth, email, app.id, 3, 30)).toBe(30);
  expect(await told()).toBe(1);
  auth.pass(86_400);
  expect(await guess(auth, email, app.id, 4, 12)).toBe(12);
  expect(await told()).toBe(2);
});

test('a challenge dies after ten wrong codes', async () => {
  const auth = await serve();
  const app = await withApp(auth, 'challenge@x.test');
  const thief = await enter(auth, 'challenge@x.test', 1);
  const { body } = await thief.challenge(app.id);
  const codes: string[] = [];
  for (let guesses = 0; guesses < 12; guesses += 1) {
    codes.push((await thief.verify(app.id, body.id, '000000')).body.code);
  }
  expect(codes.slice(9)).toEqual(['mfa_verification_failed', 'over_request_rate_limit', 'mfa_factor_not_found']);
});

test('right codes do not count: whoever signs in a hundred times a day still can', async () => {
  const auth = await serve();
  const email = 'often@x.test';
  const app = await withApp(auth, email);
  const owner = await enter(auth, email, 250);
  for (let times = 0; times < 100; times += 1) {
    auth.pass(30);
    expect((await owner.answer(app.id, app.code())).status).toBe(200);
  }
});
