/**
 * Somebody guesses the password of somebody else: from many networks, or from one, to lock the owner out.
 */
import { beforeEach, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase();
beforeEach(() => database.query('truncate auth.pgreflect_rate_limits'));

const serve = (values: AuthValues) => testAuth(database, values, { trustedProxies: ['127.0.0.1'] });

test('guesses at one password are limited across all networks, for known and unknown addresses', async () => {
  const values = { security_sb_forwarded_for_enabled: true, rate_limit_verify: 1 };
  const auth = await serve(values);
  await signedUp(auth, 'victim@x.test');
  await signedUp(auth, 'other@x.test');
  let network = 0;
  const signIn = async (email: string, password: string) => {
    const headers = { 'sb-forwarded-for': `198.51.100.${++network}` };
    return (await auth.ask('/token?grant_type=password', { email, password }, { headers })).status;
  };
  for (const email of ['victim@x.test', 'nobody@x.test']) {
    const statuses: number[] = [];
    for (let guess = 0; guess < 47; guess++) {
      statuses.push(await signIn(guess % 2 === 0 ? email : email.toUpperCase(), `guess ${guess}`));
    }
    // 30, and half as many for the networks that have not used these.
    expect(statuses).toEqual([...Array(45).fill(400), 429, 429]);
  }
  expect(await signIn('victim@x.test', 'a good password')).toBe(429);
  expect(await signIn('other@x.test', 'a good password')).toBe(200);
  // Thirty guesses in as many times five minutes.
  auth.pass(30 * 300);
  expect(await signIn('victim@x.test', 'a good password')).toBe(200);
});

test('one network cannot use the guesses up, and the networks of the owner have as many again', async () => {
  const auth = await serve({ rate_limit_verify: 30 });
  const email = 'locked.out@x.test';
  const signIn = async (network: number, password = 'a good password') => {
    const headers = { 'x-forwarded-for': `198.51.100.${network}` };
    return (await auth.ask('/token?grant_type=password', { email, password }, { headers })).status;
  };
  const guess = async (network: number, count: number) => {
    const statuses: number[] = [];
    for (let guesses = 0; guesses < count; guesses += 1) statuses.push(await signIn(network, `guess ${guesses}`));
    return statuses.filter((status) => status === 400).length;
  };
  await signedUp(auth, email);
  const home = 250;
  expect(await signIn(home)).toBe(200);
  expect(await guess(1, 40)).toBe(30);
  // A new network of the owner: the stranger has left some guesses.
  expect([await signIn(1), await signIn(2)]).toEqual([429, 200]);
  // The owner was right twice.
  expect(await guess(3, 40)).toBe(14);
  expect([await signIn(4), await signIn(home)]).toEqual([429, 200]);
  expect(await guess(home, 40)).toBe(29);
  expect(await signIn(home)).toBe(429);
  auth.pass(300);
  expect([await signIn(4), await signIn(home)]).toEqual([200, 200]);
});

test('right passwords do not count: an account may sign in fifty times at once', async () => {
  const auth = await serve({ rate_limit_verify: 30 });
  await signedUp(auth, 'busy@x.test');
  const body = { email: 'busy@x.test', password: 'a good password' };
  for (let times = 0; times < 50; times += 1) {
    expect((await auth.ask('/token?grant_type=password', body)).status).toBe(200);
  }
});

test('guesses at the current password by whoever holds a session count with those at the sign-in', async () => {
  const values = {
    security_sb_forwarded_for_enabled: true,
    rate_limit_verify: 1,
    security_update_password_require_current_password: true,
  };
  const auth = await serve(values);
  await signedUp(auth, 'held@x.test');
  const signIn = { email: 'held@x.test', password: 'a good password' };
  const { access_token: token } = (await auth.ask('/token?grant_type=password', signIn)).body;
  const codes: string[] = [];
  for (let guess = 0; guess < 47; guess++) {
    const headers = { 'sb-forwarded-for': `198.51.100.${guess}` };
    const body = { password: 'the password of the thief', current_password: `guess ${guess}` };
    codes.push((await auth.ask('/user', body, { method: 'PUT', token, headers })).body.code);
  }
  expect(codes).toEqual([...Array(44).fill('current_password_invalid'), ...Array(3).fill('over_request_rate_limit')]);
  auth.pass(30 * 300);
  expect((await auth.ask('/token?grant_type=password', signIn)).status).toBe(200);
});

test('a session does not guess the password with changes that fail for another reason', async () => {
  const auth = await serve({ rate_limit_verify: 30 });
  const { access_token: token } = await signedUp(auth, 'owner@x.test');
  await auth.ask('/user', { data: { much: 'x'.repeat(12_000) } }, { method: 'PUT', token });
  const data = { more: 'x'.repeat(12_000) };
  const put = async (body: object) => (await auth.ask('/user', body, { method: 'PUT', token })).body.code;
  // Who tries the password that they have is told so, as often as they like.
  for (let time = 0; time < 25; time++) expect(await put({ password: 'a good password' })).toBe('same_password');
  const codes: string[] = [];
  for (let guess = 0; guess < 40; guess++) codes.push(await put({ password: `guess ${guess}`, data }));
  const refused = codes.filter((code) => code === 'over_request_rate_limit').length;
  expect(codes.length - refused).toBeLessThanOrEqual(30);
  expect(await put({ password: 'a good password', data })).toBe('over_request_rate_limit');
  auth.pass(300);
  expect((await auth.ask('/user', { password: 'another good one' }, { method: 'PUT', token })).status).toBe(200);
});
