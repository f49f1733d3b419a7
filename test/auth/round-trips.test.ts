/**
 * The requests that users send most take few round trips to the database, counted by a proxy between the two.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';

let database: TestDatabase;
let proxy: RecordingProxy;

beforeAll(async () => {
  database = await createAuthDatabase();
  proxy = await startRecordingProxy(database.url);
});

afterAll(() => proxy.stop());

/** Without the queue, whose worker has round trips of its own. */
const start = () =>
  testAuth(database, { rate_limit_verify: 30, mailer_delivery: 'direct' }, { adminDatabaseUrl: proxy.url });

/** Round trips of one request that succeeds. */
async function roundTripsOf(auth: TestAuth, path: string, body: object): Promise<number> {
  proxy.reset();
  const { status } = await auth.ask(path, body);
  expect(status).toBe(200);
  return proxy.roundTrips();
}

test('a refresh: configuration, state with lock, everything written, commit', async () => {
  const auth = await start();
  const session = await signedUp(auth, 'refresh@x.test');
  const body = { refresh_token: session.refresh_token };
  expect(await roundTripsOf(auth, '/token?grant_type=refresh_token', body)).toBe(4);
});

test('a sign-in with a code: configuration and limit, user with lock, guess, everything written, commit', async () => {
  const auth = await start();
  const email = 'code@x.test';
  await signedUp(auth, email);
  await auth.ask('/otp', { email });
  const { code } = await auth.message(email);
  expect(await roundTripsOf(auth, '/verify', { type: 'email', email, token: code })).toBe(5);
});

test('a sign-in with a password: configuration, user and attempts, user with lock, everything written, commit', async () => {
  const auth = await start();
  const email = 'password@x.test';
  await signedUp(auth, email);
  expect(await roundTripsOf(auth, '/token?grant_type=password', { email, password: 'a good password' })).toBe(5);
});
