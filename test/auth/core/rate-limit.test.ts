/**
 * Rate limits: shared by all processes of a deployment, refilled as time passes.
 */
import { expect, test } from 'vitest';
import {
  assertRequestAllowed,
  assertSendAllowed,
  createRateLimiter,
  findTooFrequent,
  requestAllowance,
  sendAllowance,
} from '../../../src/auth/store/rate-limit.ts';
import { heldClock, openSystemPool, testAuth } from '../../support/auth.ts';

const auth = await testAuth(10);
const limiter = createRateLimiter(auth.pool, () => auth.clock.now());

test('an address may do as much at once as the burst, and then waits for the refill', async () => {
  const allowance = requestAllowance(30, 300, 5);
  for (let count = 0; count < 5; count++) await assertRequestAllowed(limiter, 'otp:192.0.2.1', allowance);
  const refused = {
    code: 'over_request_rate_limit',
    status: 429,
    message: 'Request rate limit reached',
    retryAfterSeconds: 10,
  };
  await expect(assertRequestAllowed(limiter, 'otp:192.0.2.1', allowance)).rejects.toMatchObject(refused);
  await assertRequestAllowed(limiter, 'otp:192.0.2.2', allowance);
  auth.clock.pass(10);
  await assertRequestAllowed(limiter, 'otp:192.0.2.1', allowance);
  await expect(assertRequestAllowed(limiter, 'otp:192.0.2.1', allowance)).rejects.toMatchObject(refused);
});

test('two processes count together, and parallel requests cannot overdraw', async () => {
  const other = createRateLimiter(openSystemPool(auth.database.url, 10), () => auth.clock.now());
  const allowance = requestAllowance(1, 3600, 7)!;
  const taken = await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 2 ? limiter : other).take('verify:shared', allowance)),
  );
  expect(taken.filter((waitMs) => waitMs === null)).toHaveLength(7);
});

test('0 in the configuration is no limit', () => {
  expect(requestAllowance(0, 300)).toBeNull();
});

test('messages are counted by the hour, all users together', async () => {
  const clock = heldClock();
  const own = createRateLimiter(auth.pool, () => clock.now());
  for (let count = 0; count < 3; count++) await assertSendAllowed(own, 'email', 3);
  clock.pass(3599);
  const refused = { code: 'over_email_send_rate_limit', status: 429, message: 'email rate limit exceeded' };
  await expect(assertSendAllowed(own, 'email', 3)).rejects.toMatchObject({ ...refused, retryAfterSeconds: 1 });
  clock.pass(1);
  await assertSendAllowed(own, 'email', 3);
  expect(sendAllowance('10/5m')).toEqual({ kind: 'bucket', burst: 10, perMs: 10 / 300_000 });
});

test('a limit that is changed within the hour counts at once, and what was sent before counts with it', async () => {
  const take = async (limit: number) => (await limiter.take('changed', sendAllowance(limit))) === null;
  expect([await take(2), await take(2), await take(2)]).toEqual([true, true, false]);
  expect([await take(5), await take(5), await take(5), await take(5)]).toEqual([true, true, true, false]);
  expect(await take(3)).toBe(false);
  expect(await limiter.take('changed', sendAllowance('3/1h'))).toBeNull();
});

test('a limit of 0 messages refuses every one', async () => {
  await expect(assertSendAllowed(limiter, 'sms', 0)).rejects.toMatchObject({ code: 'over_sms_send_rate_limit' });
  await expect(assertSendAllowed(limiter, 'sms', '0/1h')).rejects.toMatchObject({ code: 'over_sms_send_rate_limit' });
});

test('the same user gets a second message only after the configured time', () => {
  const now = Date.parse('2026-11-21T12:00:00Z');
  const message = 'For security purposes, you can only request this after 59 seconds.';
  const check = (sentAt: number | null, frequencySeconds = 60) =>
    findTooFrequent('email', sentAt, frequencySeconds, now)?.message;
  expect(check(now - 500)).toBe(message);
  expect([check(now - 60_000), check(null), check(now, 0)]).toEqual([undefined, undefined, undefined]);
});

test('what cannot be counted is not allowed', async () => {
  const away = openSystemPool('postgresql://nobody@127.0.0.1:1/none', 1);
  const own = createRateLimiter(away, () => auth.clock.now());
  await expect(own.take('x', sendAllowance(1))).rejects.toMatchObject({ kind: 'unavailable' });
});
