/**
 * Somebody with many addresses guesses the password of somebody else.
 */
import { expect, test } from 'vitest';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

test('guesses at one password are limited across all networks, for known and unknown addresses', async () => {
  const database = await createAuthDatabase();
  const values = { security_sb_forwarded_for_enabled: true, rate_limit_verify: 1 };
  const auth = await testAuth(database, values, { trustedProxies: ['127.0.0.1'] });
  await signedUp(auth, 'victim@x.test');
  await signedUp(auth, 'other@x.test');
  let network = 0;
  const signIn = async (email: string, password: string) => {
    const headers = { 'sb-forwarded-for': `198.51.100.${++network}` };
    return (await auth.ask('/token?grant_type=password', { email, password }, { headers })).status;
  };
  for (const email of ['victim@x.test', 'nobody@x.test']) {
    const statuses: number[] = [];
    for (let guess = 0; guess < 32; guess++) {
      statuses.push(await signIn(guess % 2 === 0 ? email : email.toUpperCase(), `guess ${guess}`));
    }
    expect(statuses).toEqual([...Array(30).fill(400), 429, 429]);
  }
  expect(await signIn('victim@x.test', 'a good password')).toBe(429);
  expect(await signIn('other@x.test', 'a good password')).toBe(200);
  auth.pass(300);
  expect(await signIn('victim@x.test', 'a good password')).toBe(200);
});

test('guesses at the current password by whoever holds a session count with those at the sign-in', async () => {
  const database = await createAuthDatabase();
  const values = {
    ...{ security_sb_forwarded_for_enabled: true, rate_limit_verify: 1 },
    security_update_password_require_current_password: true,
  };
  const auth = await testAuth(database, values, { trustedProxies: ['127.0.0.1'] });
  await signedUp(auth, 'held@x.test');
  const signIn = { email: 'held@x.test', password: 'a good password' };
  const { access_token: token } = (await auth.ask('/token?grant_type=password', signIn)).body;
  const codes: string[] = [];
  for (let guess = 0; guess < 32; guess++) {
    const headers = { 'sb-forwarded-for': `198.51.100.${guess}` };
    const body = { password: 'the password of the thief', current_password: `guess ${guess}` };
    codes.push((await auth.ask('/user', body, { method: 'PUT', token, headers })).body.code);
  }
  expect(codes).toEqual([...Array(29).fill('current_password_invalid'), ...Array(3).fill('over_request_rate_limit')]);
  expect((await auth.ask('/token?grant_type=password', signIn)).status).toBe(429);
  auth.pass(300);
  expect((await auth.ask('/token?grant_type=password', signIn)).status).toBe(200);
});
