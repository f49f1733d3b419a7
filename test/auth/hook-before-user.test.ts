/**
 * The hook `before_user_created`: asked before somebody signs up, whichever way, and never about what admins do.
 */
import { beforeAll, expect, test } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { type TestAuth, testAuth } from '../support/auth-service.ts';
import { type HookServer, hookSecret, startHookServer } from '../support/hook-server.ts';
import { startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, fragmentOf, keycloakValues, signInAs, userOf } from '../support/provider-sign-in.ts';
import { supabaseClient } from '../support/supabase-js.ts';

/** Lets in whoever has an address of the company, and keeps a list of those that it has let in. */
const functions = `
  create schema app;
  create table app.let_in (id uuid not null);
  create function app.only_company(event jsonb) returns jsonb language plpgsql as $$
  begin
    if event -> 'user' ->> 'email' not like '%@company.test' then
      return '{"error": {"http_code": 403, "message": "Ask your company for an account."}}';
    end if;
    insert into app.let_in values ((event -> 'user' ->> 'id')::uuid);
    return '{}';
  end $$;
`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase(functions);
});

const password = 'a good password';
const everyWay: AuthValues = {
  external_anonymous_users_enabled: true,
  external_phone_enabled: true,
  sms_provider: 'capture',
  smtp_max_frequency: 0,
  sms_max_frequency: 0,
};

function startWith({ url }: HookServer, values: AuthValues = {}): Promise<TestAuth> {
  return testAuth(database, {
    ...everyWay,
    ...values,
    hook_before_user_created_enabled: true,
    hook_before_user_created_uri: url,
    hook_before_user_created_secrets: hookSecret,
  });
}

const countUsers = async () => (await database.query('select id from auth.users')).length;

test('a function decides who may become a user, and what it writes is undone with the sign-up', async () => {
  const auth = await testAuth(database, {
    hook_before_user_created_enabled: true,
    hook_before_user_created_uri: 'pg-functions://postgres/app/only_company',
  });
  const supabase = supabaseClient(auth.url);
  const stranger = await supabase.auth.signUp({ email: 'ana@elsewhere.test', password });
  expect(stranger.error).toMatchObject({ status: 403, message: 'Ask your company for an account.' });
  const { data, error } = await supabase.auth.signUp({ email: 'ana@company.test', password });
  expect(error).toBeNull();
  expect(await database.query('select id from app.let_in')).toEqual([{ id: data.user.id }]);
  expect(await database.query('select email from auth.users')).toEqual([{ email: 'ana@company.test' }]);
});

const ways = [
  ['email and password', '/signup', { email: 'way1@x.test', password, data: { a: 1 } }, { email: 'way1@x.test' }],
  ['phone and password', '/signup', { phone: '4915001', password }, { phone: '4915001', email: '' }],
  ['a link by email', '/otp', { email: 'way2@x.test' }, { email: 'way2@x.test' }],
  ['a code by text message', '/otp', { phone: '4915002' }, { phone: '4915002' }],
  ['nothing', '/signup', { data: { b: 1 } }, { is_anonymous: true, user_metadata: { b: 1 } }],
] as const; // biome-ignore format: a table

test.each(ways)(
  'the hook is asked about a sign-up with %s, and its refusal leaves nothing behind',
  async (_, path, body, user) => {
    const server = await startHookServer();
    const auth = await startWith(server);
    const countMessages = async () => (await auth.messages()).length;
    const before = [await countUsers(), await countMessages()];
    server.answer({ body: { error: { http_code: 422, message: 'Closed on Sundays' } } });
    expect(await auth.ask(path, body)).toMatchObject({ status: 422, body: { message: 'Closed on Sundays' } });
    expect([await countUsers(), await countMessages()]).toEqual(before);
    server.answer({ status: 204 });
    expect((await auth.ask(path, body)).status).toBe(200);
    expect(await countUsers()).toBe((before[0] ?? 0) + 1);
    const { metadata, user: asked } = server.requests[1]?.payload ?? {};
    expect(metadata).toMatchObject({ name: 'before-user-created', ip_address: '127.0.0.1' });
    expect(asked).toMatchObject({ aud: 'authenticated', role: 'authenticated', identities: [], ...user });
    expect(await database.query('select 1 as one from auth.users where id = $1', [asked.id])).toEqual([{ one: 1 }]);
    expect(JSON.stringify(server.requests)).not.toContain(password);
  },
);

test('the hook is not asked about users that are there, nor about what admins do', async () => {
  const server = await startHookServer();
  server.answer({ body: { error: { message: 'No' } } });
  const auth = await startWith(server);
  const made = await auth.askAdmin('/admin/users', { email: 'made@x.test', password, email_confirm: true });
  const invited = await auth.askAdmin('/invite', { email: 'invited@x.test' });
  const linked = await auth.askAdmin('/admin/generate_link', { type: 'signup', email: 'linked@x.test', password });
  const again = await auth.ask('/otp', { email: 'made@x.test' });
  const repeated = await auth.ask('/signup', { email: 'made@x.test', password });
  expect([made, invited, linked, again, repeated].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(server.requests).toEqual([]);
});

test('the hook is asked about whoever comes from a provider for the first time, and about nobody who comes again', async () => {
  const provider = await startOidcProvider([callbackUrl], {});
  provider.users.first = { name: 'First', email: 'first@x.test', email_verified: true };
  const server = await startHookServer();
  server.answer({ body: { error: { http_code: 403, message: 'Not from there' } } });
  const auth = await startWith(server, keycloakValues(provider));
  const before = await countUsers();
  const refused = fragmentOf(await signInAs(auth, 'first'));
  expect(refused).toMatchObject({ error: 'access_denied', error_description: 'Not from there' });
  expect(await countUsers()).toBe(before);
  server.answer({});
  const user = await userOf(auth, await signInAs(auth, 'first'));
  expect(server.requests.at(-1)?.payload.user).toMatchObject({
    id: user.id,
    email: 'first@x.test',
    app_metadata: { provider: 'keycloak' },
    user_metadata: { full_name: 'First' },
  });
  const asked = server.requests.length;
  expect((await userOf(auth, await signInAs(auth, 'first'))).id).toBe(user.id);
  expect(server.requests).toHaveLength(asked);
});

test('nobody signs up while the hook fails, and the log has the reason', async () => {
  const server = await startHookServer();
  server.answer({ status: 500 });
  const auth = await startWith(server);
  const before = await countUsers();
  expect(await auth.ask('/signup', { email: 'down@x.test', password })).toMatchObject({
    status: 500,
    body: { code: 'unexpected_failure', message: 'Unexpected status code returned from hook: 500' },
  });
  expect(await countUsers()).toBe(before);
  expect(auth.observations).toContainEqual({
    kind: 'hook_failed',
    hook: 'before_user_created',
    reason: 'it answered 500',
  });
});
