/**
 * How long sessions last, and how many a user may have, as an application with the published client meets it: the session
 * ends at the next refresh, with the reason.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';
const hour = 3600;

const start = (values: AuthValues) => testAuth(database, { mailer_autoconfirm: true, ...values });

/** A client with a session of a user, who is made where there is none. */
async function signedIn(auth: TestAuth, email: string): Promise<SupabaseClient> {
  const supabase = supabaseClient(auth.url);
  await supabase.auth.signUp({ email, password });
  expect((await supabase.auth.signInWithPassword({ email, password })).error).toBeNull();
  return supabase;
}

const refreshError = async (supabase: SupabaseClient) => (await supabase.auth.refreshSession()).error;
const expired = (reason: string) => ({
  status: 400,
  code: 'session_expired',
  message: `Invalid Refresh Token: Session Expired${reason}`,
});

test('where a user may have one session, a newer sign-in ends the older one', async () => {
  const auth = await start({ sessions_single_per_user: true });
  const older = await signedIn(auth, 'single@x.test');
  auth.pass(1);
  const other = await signedIn(auth, 'somebody-else@x.test');
  expect(await refreshError(older)).toBeNull();
  auth.pass(1);
  const newer = await signedIn(auth, 'single@x.test');
  expect((await older.auth.getUser()).data.user.email).toBe('single@x.test');
  auth.pass(1);
  expect(await refreshError(older)).toMatchObject(expired(' (Revoked by Newer Login)'));
  expect([await refreshError(newer), await refreshError(other)]).toEqual([null, null]);
});

test('a session ends with its time box, however often it is refreshed', async () => {
  const auth = await start({ sessions_timebox: 2 });
  const supabase = await signedIn(auth, 'timebox@x.test');
  for (const seconds of [hour, hour]) {
    auth.pass(seconds);
    expect(await refreshError(supabase)).toBeNull();
  }
  auth.pass(1);
  expect(await refreshError(supabase)).toMatchObject(expired(''));
  expect(await refreshError(await signedIn(auth, 'timebox@x.test'))).toBeNull();
});

test('a session ends when it is left alone for too long; every refresh counts anew', async () => {
  const auth = await start({ sessions_inactivity_timeout: 2 });
  const supabase = await signedIn(auth, 'inactive@x.test');
  for (const seconds of [2 * hour, 2 * hour]) {
    auth.pass(seconds);
    expect(await refreshError(supabase)).toBeNull();
  }
  auth.pass(2 * hour + 1);
  expect(await refreshError(supabase)).toMatchObject(expired(' (Inactivity)'));
});

test('a new limit holds for earlier sessions, and without it they go on', async () => {
  const unlimited = await start({});
  const supabase = await signedIn(unlimited, 'before@x.test');
  unlimited.pass(1000 * hour);
  expect(await refreshError(supabase)).toBeNull();
  const { refresh_token } = (await supabase.auth.getSession()).data.session;
  const limited = await start({ sessions_timebox: 24 });
  limited.pass(1000 * hour);
  const { error } = await supabaseClient(limited.url).auth.refreshSession({ refresh_token });
  expect(error).toMatchObject(expired(''));
});
