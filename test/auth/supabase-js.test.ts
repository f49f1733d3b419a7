/**
 * The published client, unmodified, against a listening gateway: from the sign-up over the email to rows under row security.
 */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { open, type TestAuth, testAuth } from '../support/auth-service.ts';
import { openBrowser } from '../support/browser.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { clientScript, supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createAuthDatabase();
  await database.query(`
    create table note (id int generated always as identity primary key, owner uuid not null default auth.uid(), body text not null);
    alter table note enable row level security;
    create policy own on note using (owner = auth.uid());
    grant all on note to authenticated;`);
});

const password = 'a good password';

const clientOf = (auth: TestAuth, options?: object, key?: string) => supabaseClient(auth.url, options, key);

async function graphql(auth: TestAuth, token: string, query: string) {
  const headers = { apikey: anonKey, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const response = await fetch(`${auth.url}/graphql/v1`, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await response.json()) as { data?: unknown; errors?: unknown };
}

test('what else a client of Supabase asks for says that it is not here, and where GraphQL is', async () => {
  const supabase = clientOf(await testAuth(database));
  const notHere = expect.stringMatching(
    / of Supabase is not part of pgreflect\. Ask the GraphQL API at "\/graphql\/v1"\.$/,
  );
  const rows = await supabase.from('note').select();
  expect([rows.status, rows.error.message]).toEqual([404, notHere]);
  const called = await supabase.rpc('anything');
  expect([called.status, called.error.message]).toEqual([404, notHere]);
  expect((await supabase.storage.from('photos').list()).error.message).toEqual(notHere);
  const { error } = await supabase.functions.invoke('hello');
  expect((await error.context.json()).message).toEqual(notHere);
});

test('sign-up, email, code, a row under row security, refresh, sign-out', async () => {
  const auth = await testAuth(database);
  const supabase = clientOf(auth);
  const email = 'ana@x.test';
  const signedUp = await supabase.auth.signUp({ email, password, options: { data: { plan: 'gold' } } });
  expect(signedUp).toMatchObject({ error: null, data: { session: null, user: { email } } });
  const early = await supabase.auth.signInWithPassword({ email, password });
  expect(early.error).toMatchObject({ code: 'email_not_confirmed', status: 400 });
  const wrong = await supabase.auth.verifyOtp({ type: 'email', email, token: '000000' });
  expect(wrong.error).toMatchObject({ code: 'otp_expired' });
  const { code } = await auth.message(email);
  const { data, error } = await supabase.auth.verifyOtp({ type: 'email', email, token: code });
  expect(error).toBeNull();
  const token = data.session.access_token;
  await graphql(auth, token, 'mutation { insertIntonoteCollection(objects: [{ body: "mine" }]) { affectedCount } }');
  await database.query("insert into note (owner, body) values (gen_random_uuid(), 'of another')");
  const rows = await graphql(auth, token, '{ noteCollection { edges { node { body } } } }');
  expect(rows).toEqual({ data: { noteCollection: { edges: [{ node: { body: 'mine' } }] } } });
  const refreshed = await supabase.auth.refreshSession();
  expect(refreshed.data.session.refresh_token).not.toBe(data.session.refresh_token);
  expect((await supabase.auth.getUser()).data.user.user_metadata.plan).toBe('gold');
  expect((await supabase.auth.getClaims()).data.claims).toMatchObject({ email, role: 'authenticated', aal: 'aal1' });
  expect((await supabase.auth.signOut()).error).toBeNull();
  expect((await supabase.auth.getUser(refreshed.data.session.access_token)).error.name).toBe('AuthSessionMissingError');
});

test('in the PKCE flow the code of the link becomes a session, and a recovery is known as one', async () => {
  const auth = await testAuth(database);
  const supabase = clientOf(auth, { flowType: 'pkce' });
  const events: string[] = [];
  supabase.auth.onAuthStateChange((event: string) => events.push(event));
  const email = 'pkce@x.test';
  await supabase.auth.signUp({ email, password });
  const follow = async () => new URL((await open((await auth.message(email)).link)).location).searchParams.get('code');
  expect((await supabase.auth.exchangeCodeForSession(await follow())).data.user.email).toBe(email);
  await supabase.auth.resetPasswordForEmail(email);
  expect((await supabase.auth.exchangeCodeForSession(await follow())).error).toBeNull();
  expect(events).toContain('PASSWORD_RECOVERY');
  expect((await supabase.auth.updateUser({ password: 'another password' })).error).toBeNull();
  expect((await supabase.auth.signInWithPassword({ email, password: 'another password' })).error).toBeNull();
});

test('a user whom another email confirmed has no password: the log says why the sign-in is refused, and updateUser sets one', async () => {
  const auth = await testAuth(database);
  const supabase = clientOf(auth);
  const email = 'opened@x.test';
  await supabase.auth.signUp({ email, password });
  await supabase.auth.resetPasswordForEmail(email);
  const opened = await open((await auth.message(email)).link);
  const refused = await supabase.auth.signInWithPassword({ email, password });
  expect(refused.error).toMatchObject({ code: 'invalid_credentials', message: 'Invalid login credentials' });
  const [{ id }] = (await database.query('select id from auth.users where email = $1', [email])) as [{ id: string }];
  expect(auth.observations).toContainEqual({ kind: 'password_absent', userId: id });

  const tokens = new URLSearchParams(new URL(opened.location).hash.slice(1));
  const [access_token, refresh_token] = [tokens.get('access_token'), tokens.get('refresh_token')];
  expect((await supabase.auth.setSession({ access_token, refresh_token })).error).toBeNull();
  expect((await supabase.auth.updateUser({ password })).error).toBeNull();
  expect((await supabase.auth.signInWithPassword({ email, password })).error).toBeNull();
});

test('one-time sign-in, change of the address, weak passwords and anonymous users', async () => {
  const auth = await testAuth(database, { external_anonymous_users_enabled: true, smtp_max_frequency: 0 });
  const supabase = clientOf(auth);
  const weak = await supabase.auth.signUp({ email: 'weak@x.test', password: 'abc' });
  expect(weak.error).toMatchObject({ name: 'AuthWeakPasswordError', reasons: ['length'] });
  expect((await supabase.auth.signInWithOtp({ email: 'otp@x.test' })).error).toBeNull();
  const { code } = await auth.message('otp@x.test');
  await supabase.auth.verifyOtp({ type: 'email', email: 'otp@x.test', token: code });
  await supabase.auth.updateUser({ email: 'otp2@x.test', data: { a: 1 } });
  const first = await supabase.auth.verifyOtp({
    type: 'email_change',
    email: 'otp@x.test',
    token: (await auth.message('otp@x.test')).code,
  });
  expect(first).toMatchObject({ error: null, data: { user: null, session: null } });
  const second = await supabase.auth.verifyOtp({
    type: 'email_change',
    email: 'otp2@x.test',
    token: (await auth.message('otp2@x.test')).code,
  });
  expect(second.data.user).toMatchObject({ email: 'otp2@x.test', user_metadata: { a: 1 } });
  expect((await supabase.auth.reauthenticate()).error).toBeNull();
  expect((await supabase.auth.signInAnonymously()).data.user.is_anonymous).toBe(true);
});

test('the admin functions accept the service key', async () => {
  const auth = await testAuth(database);
  const { admin } = clientOf(auth, {}, serviceKey).auth;
  const created = await admin.createUser({ email: 'made@x.test', password, email_confirm: true });
  const { id } = created.data.user;
  expect((await admin.updateUserById(id, { user_metadata: { a: 1 } })).data.user.user_metadata.a).toBe(1);
  expect((await admin.getUserById(id)).data.user.email).toBe('made@x.test');
  expect((await admin.inviteUserByEmail('guest@x.test')).data.user.invited_at).toBeDefined();
  const link = await admin.generateLink({ type: 'magiclink', email: 'made@x.test' });
  expect(link.data.properties).toMatchObject({ verification_type: 'magiclink', redirect_to: 'https://app.test' });
  const list = await admin.listUsers({ page: 1, perPage: 1 });
  expect([list.data.users.length, list.data.total > 1, list.data.nextPage]).toEqual([1, true, 2]);
  expect((await admin.deleteUser(id)).error).toBeNull();
  expect((await admin.getUserById(id)).error).toMatchObject({ code: 'user_not_found', status: 404 });
});

test('a browser that follows the link of the email ends on the application, signed in', async () => {
  const script = readFileSync(clientScript, 'utf8');
  const app = createServer((request, response) => {
    const isScript = request.url === '/supabase.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><script src="/supabase.js"></script>');
  });
  await new Promise<void>((done) => app.listen(0, '127.0.0.1', done));
  onTestFinished(() => void app.close());
  const site = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
  const auth = await testAuth(database, { site_url: site });
  const browser = await openBrowser();
  const page = await browser.newPage();
  await page.goto(site);
  const email = 'browser@x.test';
  const start = `supabase.createClient(${JSON.stringify(auth.url)}, ${JSON.stringify(anonKey)})`;
  const error = await page.evaluate(
    `${start}.auth.signUp(${JSON.stringify({ email, password })}).then(({ error }) => error)`,
  );
  expect(error).toBeNull();
  await page.goto((await auth.message(email)).link);
  expect(page.url()).toMatch(new RegExp(`^${site}/`));
  const signedIn = await page.evaluate(`${start}.auth.getUser().then(({ data }) => data.user.email)`);
  expect(signedIn).toBe(email);
});
