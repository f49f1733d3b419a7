/**
 * The requests that users send most take few round trips to the database, counted by a proxy between the two.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
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

/**
 * Expects so many round trips of a request that succeeds. The gateway opens connections and looks for emails by itself, at any
 * moment: one quiet request is enough.
 */
async function expectRoundTrips(count: number, auth: TestAuth, path: string, makeBody: () => Promise<object>) {
  await vi.waitFor(async () => {
    const body = await makeBody();
    proxy.reset();
    const { status } = await auth.ask(path, body);
    expect([status, proxy.roundTrips()]).toEqual([200, count]);
  });
}

let users = 0;
/** A new user, by email address. */
async function newUser(auth: TestAuth): Promise<{ readonly email: string; readonly refreshToken: string }> {
  users += 1;
  const email = `user${users}@x.test`;
  const { refresh_token: refreshToken } = await signedUp(auth, email);
  return { email, refreshToken };
}

test('a refresh: configuration, state with lock, everything written, commit', async () => {
  const auth = await start();
  await expectRoundTrips(4, auth, '/token?grant_type=refresh_token', async () => ({
    refresh_token: (await newUser(auth)).refreshToken,
  }));
});

test('a sign-in with a code: configuration, limit, user with lock, guess, everything written, commit', async () => {
  const auth = await start();
  await expectRoundTrips(6, auth, '/verify', async () => {
    const { email } = await newUser(auth);
    await auth.ask('/otp', { email });
    const { code } = await auth.message(email);
    return { type: 'email', email, token: code };
  });
});

test('a sign-in with a password: configuration, user beside attempts, user with lock, everything written, commit', async () => {
  const auth = await start();
  await expectRoundTrips(6, auth, '/token?grant_type=password', async () => ({
    email: (await newUser(auth)).email,
    password: 'a good password',
  }));
});

test('a list of the users of a provider counts the identities of the provider once', async () => {
  const auth = await start();
  const { id } = (await auth.askAdmin('/admin/users', { email: 'of-google@x.test' })).body;
  await database.query(
    "insert into auth.identities (user_id, provider, provider_id, identity_data) values ($1, 'google', 'g', '{}')",
    [id],
  );
  await vi.waitFor(async () => {
    proxy.reset();
    const { status, body } = await auth.askAdmin('/admin/users?provider=google');
    expect([status, body.total, proxy.roundTrips()]).toEqual([200, 1, 6]);
  });
});
