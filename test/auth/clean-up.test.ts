/**
 * What the auth service deletes of itself: rows that nobody can use any more, and never one that somebody can.
 */
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CleanUpOptions, cleanUp, createCleanUpWork } from '../../src/auth/store/clean-up.ts';
import { assertSendAllowed, createRateLimiter } from '../../src/auth/store/rate-limit.ts';
import { loadSession } from '../../src/auth/store/sessions.ts';
import { defaultAuthConfig } from '../../src/config/auth/auth-config.ts';
import { beginUnpaused, endUnpaused } from '../../src/postgres/wire/unpaused-clock.ts';
import { type TestAuth, testAuth } from '../support/auth.ts';
import { signedUp, testAuth as startGateway } from '../support/auth-service.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const hour = 3600;
const patience = { timeout: 10_000 };
const auth: TestAuth = await testAuth();
const { database, clock, pool } = auth;
let names = 0;
beforeEach(() =>
  database.query('truncate auth.users, auth.flow_state, auth.oauth_client_states, auth.pgreflect_rate_limits cascade'),
);

async function signedIn() {
  const user = await auth.addUser(`user${names++}@mail.test`);
  return { user, ...(await auth.signIn(user)) };
}

const { refresh } = auth;

/** Rows that one round took, of the kinds of which it took any. */
async function clean(options: Partial<CleanUpOptions> = {}): Promise<Record<string, number>> {
  const usual = { config: defaultAuthConfig, now: clock.now(), deleteAnonymousUsers: false };
  const counts = await cleanUp(pool, { ...usual, ...options });
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** Cleans a second before and a second after a number of hours has passed. */
async function around(hours: number, options: Partial<CleanUpOptions> = {}) {
  clock.pass(hours * hour - 1);
  const before = await clean(options);
  clock.pass(2);
  return [before, await clean(options)];
}

const at = () => new Date(clock.now()).toISOString();

describe('a refresh token', () => {
  test('a refresh token goes a day after it was used, but not while it may give the active one again', async () => {
    const { refreshToken: first } = await signedIn();
    const { refreshToken: second } = await refresh(first);
    const { refreshToken: active } = await refresh(second);
    expect(await around(24)).toEqual([{}, { revokedTokens: 1 }]);
    clock.pass(30 * 24 * hour);
    expect(await clean()).toEqual({});
    expect((await refresh(second)).refreshToken).toBe(active);
    await expect(refresh(first)).rejects.toMatchObject({ code: 'refresh_token_not_found' });
  });

  test('a refresh token goes with its family when that was ended', async () => {
    const { refreshToken: first } = await signedIn();
    await refresh((await refresh(first)).refreshToken);
    clock.pass(60);
    await expect(refresh(first)).rejects.toMatchObject({ code: 'refresh_token_already_used' });
    clock.pass(24 * hour + 1);
    expect(await clean()).toEqual({ revokedTokens: 3 });
  });
});

describe('a session', () => {
  test('a session goes three days after its end, its tokens are revoked after one', async () => {
    const { session } = await signedIn();
    await database.query('update auth.sessions set not_after = $2 where id = $1', [session.id, at()]);
    expect(await around(24)).toEqual([{}, { tokensOfEndedSessions: 1 }]);
    expect(await around(48)).toEqual([{ revokedTokens: 1 }, { endedSessions: 1 }]);
  });

  test.each([
    ['sessions_timebox', 'olderThanTimebox'],
    ['sessions_inactivity_timeout', 'idleSessions'],
  ] as const)('a session goes a day after %s has ended it', async (field, kind) => {
    const { session } = await signedIn();
    const options = { config: { ...defaultAuthConfig, [field]: 2 } };
    expect(await around(26, options)).toEqual([{}, { [kind]: 1 }]);
    expect(await loadSession(pool, session.id)).toBeNull();
  });

  test('that is used stays', async () => {
    const { refreshToken } = await signedIn();
    clock.pass(25 * hour);
    await refresh(refreshToken);
    clock.pass(25 * hour);
    expect(await clean({ config: { ...defaultAuthConfig, sessions_inactivity_timeout: 2 } })).toEqual({});
  });

  test('without a limit stays for years', async () => {
    await signedIn();
    clock.pass(3 * 365 * 24 * hour);
    expect(await clean()).toEqual({});
  });
});

test('sign-ins, challenges and factors that nobody has finished, and counts, go after a day', async () => {
  const { user } = await signedIn();
  const [factor, verified] = await database.query<{ id: string }>(
    `insert into auth.mfa_factors (id, user_id, factor_type, status, friendly_name, created_at, updated_at)
    select gen_random_uuid(), $1, 'totp', status::auth.factor_status, status, $2, $2
    from unnest(array['unverified', 'verified']) as status returning id`,
    [user.id, at()],
  );
  for (const { id } of [factor!, verified!]) {
    await database.query(
      `insert into auth.mfa_challenges (id, factor_id, created_at, ip_address)
      values (gen_random_uuid(), $1, $2, '::1')`,
      [id, at()],
    );
  }
  await database.query(
    `insert into auth.flow_state (id, provider_type, authentication_method, created_at)
    values (gen_random_uuid(), 'email', 'magiclink', $1)`,
    [at()],
  );
  await database.query(
    `insert into auth.oauth_client_states (id, provider_type, created_at) values (gen_random_uuid(), 'github', $1)`,
    [at()],
  );
  await database.query(`insert into auth.pgreflect_rate_limits (name, tokens, updated_at) values ('a', 1, $1)`, [at()]);
  expect(await around(24)).toEqual([
    {},
    { flows: 1, clientStates: 1, challenges: 2, unverifiedFactors: 1, rateLimits: 1 },
  ]);
  expect(await database.query('select id from auth.mfa_factors')).toEqual([{ id: verified!.id }]);
});

test('the count of messages stays, because its limit may be for longer than a day', async () => {
  await database.query('truncate auth.pgreflect_rate_limits');
  const limiter = createRateLimiter(pool, () => clock.now());
  for (const _message of ['first', 'second']) await assertSendAllowed(limiter, 'email', '2/240h');
  clock.pass(48 * hour);
  expect(await clean()).toEqual({});
  await expect(assertSendAllowed(limiter, 'email', '2/240h')).rejects.toMatchObject({
    code: 'over_email_send_rate_limit',
  });
});

test('anonymous users go after 30 days, and only where an operator wants it', async () => {
  await auth.addUser('anonymous@mail.test', { isAnonymous: true });
  const { id } = await auth.addUser('other@mail.test');
  clock.pass(31 * 24 * hour);
  expect(await clean()).toEqual({});
  expect(await clean({ deleteAnonymousUsers: true })).toEqual({ anonymousUsers: 1 });
  expect(await database.query('select id from auth.users')).toEqual([{ id }]);
});

test('a round takes a hundred rows, passes over those that somebody holds, and waits for nobody', async () => {
  await database.query(
    `insert into auth.flow_state (id, provider_type, authentication_method, created_at)
    select gen_random_uuid(), 'email', 'magiclink', $1 from generate_series(1, 150)`,
    [at()],
  );
  clock.pass(25 * hour);
  await pool.transaction(async (holder) => {
    await holder.query('select from auth.flow_state limit 20 for update');
    expect([await clean(), await clean(), await clean()]).toEqual([{ flows: 100 }, { flows: 30 }, {}]);
  });
  expect(await clean()).toEqual({ flows: 20 });
});

test('a worker goes on until there is nothing left, and then waits', async () => {
  await database.query(
    `insert into auth.flow_state (id, provider_type, authentication_method, created_at)
    select gen_random_uuid(), 'email', 'magiclink', '2020-01-01' from generate_series(1, 250)`,
  );
  // The clock of all waits keeps the real timer that it has now. A fake one would stand still for the files that follow.
  beginUnpaused();
  onTestFinished(endUnpaused);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let rounds = 0;
  const worker = createCleanUpWork({
    database: pool,
    clock,
    everyMs: 1000,
    deleteAnonymousUsers: false,
    observe: () => {},
    isInstalled: async () => true,
    currentConfig: async () => {
      rounds += 1;
      return defaultAuthConfig;
    },
  });
  worker.start();
  vi.advanceTimersByTime(999);
  expect(rounds).toBe(0);
  vi.advanceTimersByTime(1);
  // A hundred, a hundred, fifty, none.
  await expect.poll(() => rounds, patience).toBe(4);
  expect(await database.query('select from auth.flow_state')).toEqual([]);
  await worker.stop();
  vi.advanceTimersByTime(10_000);
  expect(rounds).toBe(4);
});

describe('a gateway', () => {
  test('cleans up while it serves, until there is nothing left', async () => {
    const own = await createAuthDatabase();
    const auth = await startGateway(own, { sessions_timebox: 1 }, { cleanUpMs: 20, cleanUpAnonymousUsers: true });
    await signedUp(auth, 'ended@x.test');
    const sessions = () => own.query('select from auth.sessions');
    const flows = () => own.query('select from auth.flow_state');
    await own.query(
      `insert into auth.flow_state (id, provider_type, authentication_method, created_at)
      select gen_random_uuid(), 'email', 'magiclink', $1 from generate_series(1, 250)`,
      [new Date(auth.now()).toISOString()],
    );
    await own.query(
      `insert into auth.users (id, is_anonymous, created_at) values (gen_random_uuid(), true, '2020-01-01')`,
    );
    await vi.waitFor(async () => expect(await own.query('select from auth.users')).toHaveLength(1), patience);
    expect([await sessions(), await flows()]).toEqual([[{}], Array(250).fill({})]);
    auth.pass(26 * hour);
    await vi.waitFor(async () => expect([await sessions(), await flows()]).toEqual([[], []]), patience);
  });

  test('a gateway logs the reason of a failed clean-up once', async () => {
    const own = await createAuthDatabase();
    const auth = await startGateway(own, {}, { cleanUpMs: 20 });
    await own.query('drop table auth.oauth_client_states cascade');
    const warnings = () => auth.observations.filter(({ kind }) => kind === 'warning');
    await vi.waitFor(() => expect(warnings()).toHaveLength(1), patience);
    await own.query('create table auth.oauth_client_states (id uuid, created_at timestamptz)');
    await own.query(`insert into auth.flow_state (id, provider_type, authentication_method, created_at)
      values (gen_random_uuid(), 'email', 'magiclink', '2020-01-01')`);
    await vi.waitFor(async () => expect(await own.query('select from auth.flow_state')).toEqual([]), patience);
    expect(warnings()).toMatchObject([{ message: expect.stringContaining('oauth_client_states') }]);
  });
});
