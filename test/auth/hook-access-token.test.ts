/**
 * The hook `custom_access_token`: it decides what every access token says, wherever one is made, and a sign-in for which it
 * gives no claims has not happened.
 */
import { readFileSync } from 'node:fs';
import { decodeJwt } from 'jose';
import { beforeAll, expect, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { fragmentOf, open, queryOf, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { factorsOf } from '../support/factors.ts';
import { type HookServer, hookSecret, startHookServer } from '../support/hook-server.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import {
  callbackUrl,
  keycloakValues,
  fragmentOf as providerFragmentOf,
  signInAs,
} from '../support/provider-sign-in.ts';
import { supabaseClient } from '../support/supabase-js.ts';

/** Adds a claim from a table of the application, and notes who signed in how. */
const functions = `
  create schema app;
  create table app.plans (user_id uuid not null, plan text not null);
  create table app.asked (user_id uuid not null, method text not null);
  create function app.note_plan(event jsonb) returns jsonb language plpgsql as $$
  begin
    insert into app.asked values ((event ->> 'user_id')::uuid, event ->> 'authentication_method');
    return pg_catalog.jsonb_set(event, '{claims,plan}',
      coalesce((select to_jsonb(p.plan) from app.plans p where p.user_id = (event ->> 'user_id')::uuid), '"free"'));
  end $$;
  create function app.wait(event jsonb) returns jsonb language sql as $$
    select pg_catalog.jsonb_build_object('waited', pg_catalog.pg_sleep(60)::text)
  $$;
`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(functions);
});

const password = 'a good password';

function functionHook(name: string): AuthValues {
  return {
    hook_custom_access_token_enabled: true,
    hook_custom_access_token_uri: `pg-functions://postgres/app/${name}`,
  };
}

function webhook({ url }: HookServer): AuthValues {
  return {
    hook_custom_access_token_enabled: true,
    hook_custom_access_token_uri: url,
    hook_custom_access_token_secrets: hookSecret,
  };
}

const claimsOf = (token: string) => decodeJwt(token);

async function sessionsOf(auth: TestAuth, email: string): Promise<number> {
  const rows = await auth.database.query(
    'select s.id from auth.sessions s join auth.users u on u.id = s.user_id where u.email = $1',
    [email],
  );
  return rows.length;
}

test('a function adds a claim to the tokens of a client: at sign-up, sign-in and refresh', async () => {
  const auth = await testAuth(database, { ...functionHook('note_plan'), mailer_autoconfirm: true });
  const supabase = supabaseClient(auth.url);
  const { data } = await supabase.auth.signUp({ email: 'plan@x.test', password });
  expect(claimsOf(data.session.access_token)).toMatchObject({ plan: 'free', sub: data.user.id, role: 'authenticated' });
  await database.query(`insert into app.plans values ($1, 'team')`, [data.user.id]);
  const refreshed = await supabase.auth.refreshSession();
  expect(claimsOf(refreshed.data.session.access_token).plan).toBe('team');
  const again = await supabase.auth.signInWithPassword({ email: 'plan@x.test', password });
  expect(claimsOf(again.data.session.access_token).plan).toBe('team');
  expect((await supabase.auth.getUser()).data.user.id).toBe(data.user.id);
  const { claims } = (await supabase.auth.getClaims()).data;
  expect(claims.plan).toBe('team');
  expect(await database.query('select method from app.asked where user_id = $1', [data.user.id])).toEqual([
    { method: 'password' },
    { method: 'token_refresh' },
    { method: 'password' },
  ]);
});

test('the function of the manual adds its claim', async () => {
  const manual = readFileSync(new URL('../../docs/hooks.md', import.meta.url), 'utf8');
  const [statement = ''] = /create function app\.add_plan[\s\S]*?\n\$\$;/.exec(manual) ?? [];
  await database.query(statement);
  const auth = await testAuth(database, functionHook('add_plan'));
  const { access_token, user } = await signedUp(auth, 'readme@x.test');
  expect(claimsOf(access_token)).toMatchObject({ plan: 'free', sub: user.id });
});

test('the hook is asked wherever an access token is made, and told how the user signed in', async () => {
  const server = await startHookServer();
  server.answer(({ payload }) => ({ body: { claims: { ...payload.claims, plan: payload.authentication_method } } }));
  const values = { ...webhook(server), external_anonymous_users_enabled: true, smtp_max_frequency: 0 };
  const auth = await testAuth(database, values);
  const planOf = ({ body }: { body: { access_token: string } }) => claimsOf(body.access_token).plan;

  const email = 'everywhere@x.test';
  const verified = await signedUp(auth, email);
  expect(claimsOf(verified.access_token).plan).toBe('otp');
  expect(planOf(await auth.ask('/token?grant_type=password', { email, password }))).toBe('password');
  const { refresh_token } = verified;
  expect(planOf(await auth.ask('/token?grant_type=refresh_token', { refresh_token }))).toBe('token_refresh');
  expect(planOf(await auth.ask('/signup', { data: {} }))).toBe('anonymous');

  await auth.ask('/otp', { email });
  const { access_token } = fragmentOf((await open((await auth.message(email)).link)).location);
  expect(claimsOf(access_token ?? '').plan).toBe('otp');

  const verifier = 'v'.repeat(50);
  await auth.ask('/otp', { email, code_challenge: verifier, code_challenge_method: 'plain' });
  const { code } = queryOf((await open((await auth.message(email)).link)).location);
  const exchanged = await auth.ask('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
  expect(planOf(exchanged)).toBe('magiclink');

  const factors = factorsOf(auth, exchanged.body.access_token);
  const app = await factors.enrollApp();
  expect(planOf(await factors.answer(app.id, app.code()))).toBe('totp');
  expect(server.unsigned).toEqual([]);
});

test('the hook is asked about a sign-in with a provider', async () => {
  const provider = await startOidcProvider([callbackUrl], {});
  provider.users.ana = { email: 'ana@x.test', email_verified: true };
  const server = await startHookServer();
  server.answer(({ payload }) => ({ body: { claims: { ...payload.claims, plan: payload.authentication_method } } }));
  const auth = await testAuth(database, { ...webhook(server), ...keycloakValues(provider) });
  const { access_token } = providerFragmentOf(await signInAs(auth, 'ana'));
  expect(claimsOf(access_token ?? '').plan).toBe('oauth');
  server.answer({ body: { error: { http_code: 403, message: 'Not today' } } });
  expect(providerFragmentOf(await signInAs(auth, 'ana'))).toMatchObject({ error_description: 'Not today' });
  expect(await sessionsOf(auth, 'ana@x.test')).toBe(1);
});

test('times that it changes are those of the token, and of the answer', async () => {
  const server = await startHookServer();
  server.answer(({ payload }) => ({ body: { claims: { ...payload.claims, exp: payload.claims.exp - 3000 } } }));
  const auth = await testAuth(database, webhook(server));
  const { access_token, expires_in, expires_at } = await signedUp(auth, 'short@x.test');
  expect(expires_in).toBe(600);
  expect(claimsOf(access_token).exp).toBe(expires_at);
});

const wrongClaims = [
  [{ role: undefined }, 'role is missing'],
  [{ exp: '1' }, 'exp must be a whole number'],
  [{ aal: null }, 'aal must be a text'],
  [{ sub: '00000000-0000-4000-8000-000000000000' }, 'sub must stay as it is'],
  [{ session_id: 'other' }, 'session_id must stay as it is'],
  [{ role: 'service_role' }, 'role must not become that of an admin'],
  [{ app_metadata: [] }, 'app_metadata must be an object'],
  [null, 'claims must be an object'],
] as const;

test('no token is made where claims are missing, of another type, or say that it is somebody else', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, { ...webhook(server), external_anonymous_users_enabled: true });
  const count = () => database.query('select count(*)::int as sessions from auth.sessions');
  const before = await count();
  for (const [change, problem] of wrongClaims) {
    server.answer(({ payload }) => ({ body: change === null ? {} : { claims: { ...payload.claims, ...change } } }));
    const message = `output claims do not conform to the expected schema: ${problem}`;
    const reply = await auth.ask('/signup', {});
    expect(reply).toMatchObject({ status: 500, body: { code: 'unexpected_failure', message } });
  }
  expect(await count()).toEqual(before);
  const failed = auth.observations.flatMap((observed) => (observed.kind === 'hook_failed' ? [observed.reason] : []));
  expect(failed).toEqual(wrongClaims.map(([, problem]) => problem));
});

test('a role that the user has may stay, and become that of no admin', async () => {
  const server = await startHookServer();
  const auth = await testAuth(database, webhook(server));
  const email = 'roles@x.test';
  await auth.askAdmin('/admin/users', { email, password, email_confirm: true, role: 'service_role' });
  server.answer(({ payload }) => ({ body: payload }));
  const signIn = () => auth.ask('/token?grant_type=password', { email, password });
  expect(claimsOf((await signIn()).body.access_token).role).toBe('service_role');
  server.answer(({ payload }) => ({ body: { claims: { ...payload.claims, role: 'editor' } } }));
  expect(claimsOf((await signIn()).body.access_token).role).toBe('editor');
});

test('a refusal of the hook is answered with its message, and nothing of the sign-in is stored', async () => {
  const server = await startHookServer();
  server.answer(({ payload }) => ({ body: payload }));
  const auth = await testAuth(database, webhook(server));
  const email = 'refused@x.test';
  await auth.ask('/signup', { email, password });
  const { code } = await auth.message(email);
  server.answer({ body: { error: { http_code: 403, message: 'Your account waits for approval.' } } });
  const verify = () => auth.ask('/verify', { type: 'email', email, token: code });
  const refusal = { status: 403, body: { code: 'unknown', message: 'Your account waits for approval.' } };
  expect(await verify()).toMatchObject(refusal);
  expect(await sessionsOf(auth, email)).toBe(0);
  // The code is still good.
  server.answer(({ payload }) => ({ body: payload }));
  const { body } = await verify();
  server.answer({ body: { error: { http_code: 403, message: 'Your account waits for approval.' } } });
  const refresh = () => auth.ask('/token?grant_type=refresh_token', { refresh_token: body.refresh_token });
  expect(await refresh()).toMatchObject(refusal);
  server.answer(({ payload }) => ({ body: payload }));
  expect((await refresh()).status).toBe(200);
});

test('a link says in its fragment what the hook refused', async () => {
  const server = await startHookServer();
  server.answer({ body: { error: { http_code: 403, message: 'Not now' } } });
  const auth = await testAuth(database, webhook(server));
  await auth.ask('/signup', { email: 'link@x.test', password });
  const { location } = await open((await auth.message('link@x.test')).link);
  expect(fragmentOf(location)).toMatchObject({ error: 'access_denied', error_description: 'Not now' });
});

test('a function that takes too long fails its sign-in after two seconds, and no other sign-in', async () => {
  const auth = await testAuth(database, { ...functionHook('wait'), mailer_autoconfirm: true });
  expect(await auth.ask('/signup', { email: 'slow@x.test', password })).toMatchObject({
    status: 422,
    body: { code: 'hook_timeout', message: 'Failed to reach hook within maximum time of 2 seconds' },
  });
  expect(await sessionsOf(auth, 'slow@x.test')).toBe(0);
});

test('sign-ins that wait for a webhook hold up no others', async () => {
  const server = await startHookServer();
  let release = () => {};
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.answer(({ payload }) => ({ body: payload }));
  const auth = await testAuth(database, webhook(server), { authPoolSize: 4 });
  const emails = ['waiting1@x.test', 'waiting2@x.test'];
  const [user] = [await signedUp(auth, 'waiting1@x.test'), await signedUp(auth, 'waiting2@x.test')];
  server.answer(async ({ payload }) => {
    await until;
    return { body: payload };
  });
  const waiting = emails.map((email) => auth.ask('/token?grant_type=password', { email, password }));
  await vi.waitFor(() => expect(server.requests).toHaveLength(4));
  expect((await auth.ask('/user', undefined, { token: user.access_token })).status).toBe(200);
  release();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
});
