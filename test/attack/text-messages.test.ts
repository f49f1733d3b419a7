/**
 * Text messages to a number that is not the sender's: they annoy its owner, cost the operator, and use up what all may send.
 */
import { beforeAll, expect, test } from 'vitest';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

/** Messages that a number may get at once. */
const burst = 3;

const texting = { sms_provider: 'capture', external_phone_enabled: true, mfa_phone_enroll_enabled: true, mfa_phone_verify_enabled: true } as const; // biome-ignore format: one configuration

const received = async (auth: TestAuth, phone: string) => (await auth.messages(phone)).length;

test('enrolling a number again and again sends it no more messages than enrolling it once', async () => {
  const auth = await testAuth(database, texting);
  const { access_token: token } = await signedUp(auth, 'factor@x.test');
  const { enroll, challenge } = factorsOf(auth, token);
  const phone = '15550001111';
  const again = async () => {
    const { body } = await enroll({ factor_type: 'phone', phone });
    return challenge(body.id);
  };
  for (let time = 0; time < burst; time++) expect((await again()).status).toBe(200);
  expect(await again()).toMatchObject({ status: 429, body: { code: 'over_sms_send_rate_limit' } });
  expect(await received(auth, phone)).toBe(burst);
  auth.pass(burst * 60);
  for (let time = 0; time < burst; time++) expect((await again()).status).toBe(200);
  expect((await again()).status).toBe(429);
  expect(await received(auth, phone)).toBe(2 * burst);
});

test('nobody keeps messages from a number in other networks by asking for more than it gets', async () => {
  const auth = await testAuth(database, texting, { trustedProxies: ['127.0.0.1'] });
  const phone = '15550003333';
  await auth.askAdmin('/admin/users', { phone, phone_confirm: true, password: 'a good password' });
  const { access_token: token } = await signedUp(auth, 'shutter@x.test');
  const from = (network: number) => ({ 'x-forwarded-for': `198.51.100.${network}` });
  const text = async () => {
    const given = { token, headers: from(1) };
    const { body } = await auth.ask('/factors', { factor_type: 'phone', phone }, given);
    return (await auth.ask(`/factors/${body.id}/challenge`, {}, given)).status;
  };
  const seen: number[] = [];
  for (let minute = 0; minute < 12; minute += 1) {
    for (let time = 0; time <= burst; time += 1) await text();
    if (minute % 3 === 1) seen.push((await auth.ask('/otp', { phone }, { headers: from(2) })).status);
    auth.pass(60);
  }
  expect(seen).toEqual([200, 200, 200, 200]);
  expect(await received(auth, phone)).toBeLessThanOrEqual(4 * (burst + 2));
});

test('any number of users together send no more to one number', async () => {
  const auth = await testAuth(database, { ...texting, external_anonymous_users_enabled: true });
  const phone = '15550002222';
  const statuses: number[] = [];
  for (let user = 0; user < burst + 2; user++) {
    const { body } = await auth.ask('/signup', {});
    const asked = await auth.ask('/user', { phone }, { method: 'PUT', token: body.access_token });
    statuses.push(asked.status);
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect(await received(auth, phone)).toBe(burst);
});
