/**
 * The ways in which a user can sign in: listed and given up through the published client, and what becomes of the address of
 * a user who gives up the identity that it belongs to.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { AuthValues } from '../../src/config/auth/auth-config.ts';
import { fragmentOf, open, queryOf, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { callbackUrl, goThrough, keycloakValues, signInAs, userOf } from '../support/provider-sign-in.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { type SupabaseClient, supabaseClient } from '../support/supabase-js.ts';

let database: TestDatabase;
let provider: OidcProvider;
beforeAll(async () => {
  database = await createAuthDatabase();
  provider = await startOidcProvider([callbackUrl], {});
});

const linking: AuthValues = { security_manual_linking_enabled: true };
const unknownId = '11111111-1111-4111-8111-111111111111';
const password = 'a good password';

/** What a provider said of a user. */
interface Link {
  readonly provider: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  /** Days before now. */
  readonly age?: number;
}

/** Gives a user an identity as a sign-in with a provider does. @returns Its row id. */
async function link(userId: string, { provider, age = 0, ...data }: Link): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    `insert into auth.identities (provider_id, user_id, provider, identity_data, created_at, updated_at)
    values (gen_random_uuid()::text, $1, $2, $3::jsonb || '{"sub": "1"}', now() - $4::int * interval '1 day', now())
    returning id`,
    [userId, provider, JSON.stringify(data), age],
  );
  return row!.id;
}

/** A user with a session, an email identity of today, and the given ones. */
async function userWith(auth: TestAuth, email: string, ...links: readonly Link[]) {
  const { user, access_token: token } = await signedUp(auth, email);
  const ids: string[] = [];
  for (const given of links) ids.push(await link(user.id, given));
  const me = async () => (await auth.ask('/user', undefined, { token })).body;
  const unlink = (id: string) => auth.ask(`/user/identities/${id}`, undefined, { method: 'DELETE', token });
  const emailIdentity: string = user.identities[0].identity_id;
  return { id: user.id as string, token, ids, me, unlink, emailIdentity };
}

const refusal = (status: number, code: string, message?: string) => ({
  status,
  body: message === undefined ? { code } : { code, message },
});

describe('through supabase-js', () => {
  async function signedIn(auth: TestAuth, email: string): Promise<SupabaseClient> {
    const supabase = supabaseClient(auth.url);
    expect((await supabase.auth.signUp({ email, password })).error).toBeNull();
    return supabase;
  }

  test('a user lists their identities, gives one up, and is told so at the address from before', async () => {
    const smtp = await startSmtpServer({ tls: 'none' });
    const auth = await testAuth(database, {
      ...linking,
      mailer_autoconfirm: true,
      smtp_host: '127.0.0.1',
      smtp_port: String(smtp.port),
      smtp_admin_email: 'no-reply@app.test',
      mailer_notifications_identity_unlinked_enabled: true,
      mailer_templates_identity_unlinked_notification_content: '<p>{{ .Email }} lost {{ .Provider }}</p>',
    });
    const supabase = await signedIn(auth, 'ana@x.test');
    const { data: before } = await supabase.auth.getUser();
    await link(before.user.id, { provider: 'github', email: 'ana@hub.test', email_verified: true });
    const { identities } = (await supabase.auth.getUserIdentities()).data;
    expect(identities).toMatchObject([
      { provider: 'email', user_id: before.user.id, email: 'ana@x.test' },
      { provider: 'github', user_id: before.user.id, email: 'ana@hub.test' },
    ]);
    expect(await supabase.auth.unlinkIdentity(identities[0])).toEqual({ data: {}, error: null });
    const { data: after } = await supabase.auth.getUser();
    expect(after.user).toMatchObject({
      email: 'ana@hub.test',
      email_confirmed_at: before.user.email_confirmed_at,
      app_metadata: { provider: 'github', providers: ['github'] },
      identities: [{ provider: 'github' }],
    });
    await vi.waitFor(() => expect(smtp.messages).toHaveLength(1));
    expect(smtp.messages[0]?.recipients).toEqual(['ana@x.test']);
    expect(smtp.messages[0]?.parsed.html?.trim()).toBe('<p>ana@x.test lost email</p>');
  });

  test('a user who linked a provider may unlink the email identity, and signs in with the provider', async () => {
    provider.users.cleo = { name: 'Cleo Smith', email: 'cleo@provider.test', email_verified: true };
    const auth = await testAuth(database, { ...linking, ...keycloakValues(provider), mailer_autoconfirm: true });
    const supabase = await signedIn(auth, 'cleo@x.test');
    const { data: begun } = await supabase.auth.linkIdentity({
      provider: 'keycloak',
      options: { skipBrowserRedirect: true, queryParams: { login_hint: 'cleo' } },
    });
    await goThrough(auth, begun.url);
    const { identities } = (await supabase.auth.getUserIdentities()).data;
    expect(identities.map((identity: Link) => identity.provider)).toEqual(['email', 'keycloak']);
    expect((await supabase.auth.unlinkIdentity(identities[0])).error).toBeNull();
    const { user } = (await supabase.auth.getUser()).data;
    expect(user).toMatchObject({ email: 'cleo@provider.test', app_metadata: { providers: ['keycloak'] } });
    const { headers } = await auth.ask('/authorize?provider=keycloak&login_hint=cleo', undefined, { key: null });
    const entered = await userOf(auth, await goThrough(auth, headers.get('location') ?? ''));
    expect(entered).toMatchObject({ id: user.id, email: 'cleo@provider.test' });
    // The password is that of the user, whose address it is now.
    const { error } = await supabase.auth.signInWithPassword({ email: 'cleo@provider.test', password });
    expect(error).toBeNull();
  });

  test('the last identity stays', async () => {
    const auth = await testAuth(database, { ...linking, mailer_autoconfirm: true });
    const supabase = await signedIn(auth, 'only@x.test');
    const { identities } = (await supabase.auth.getUserIdentities()).data;
    const { error } = await supabase.auth.unlinkIdentity(identities[0]);
    const message = 'User must have at least 1 identity after unlinking';
    expect(error).toMatchObject({ status: 422, code: 'single_identity_not_deletable', message });
    expect((await supabase.auth.getUserIdentities()).data.identities).toEqual(identities);
  });
});

describe('an identity that cannot be given up', () => {
  test('while the configuration does not let users change their identities', async () => {
    const auth = await testAuth(database);
    const user = await userWith(auth, 'off@x.test', { provider: 'github' });
    expect(await user.unlink(user.ids[0]!)).toMatchObject(
      refusal(404, 'manual_linking_disabled', 'Manual linking is disabled'),
    );
  });

  test('of somebody else, or of nobody, or without a proper id', async () => {
    const auth = await testAuth(database, linking);
    const [ana, bo] = [
      await userWith(auth, 'ana1@x.test', { provider: 'github' }),
      await userWith(auth, 'bo1@x.test', { provider: 'github' }),
    ];
    const notFound = refusal(422, 'identity_not_found', "Identity doesn't exist");
    for (const id of [bo.ids[0]!, unknownId]) expect(await ana.unlink(id)).toMatchObject(notFound);
    expect(await ana.unlink('github')).toMatchObject(refusal(404, 'validation_failed', 'identity_id must be an UUID'));
    expect((await bo.me()).identities).toHaveLength(2);
  });

  test('with a token for another audience, or without any', async () => {
    const auth = await testAuth(database, { ...linking, security_jwt_aud_header_enabled: true });
    const { ids, token } = await userWith(auth, 'audience@x.test', { provider: 'github' });
    const path = `/user/identities/${ids[0]}`;
    const elsewhere = { method: 'DELETE', token, headers: { 'x-jwt-aud': 'other' } };
    expect(await auth.ask(path, undefined, elsewhere)).toMatchObject(
      refusal(403, 'unexpected_audience', "Token audience doesn't match request audience"),
    );
    expect(await auth.ask(path, undefined, { method: 'DELETE' })).toMatchObject(refusal(401, 'no_authorization'));
  });

  test('when two requests at the same time want to take the last two', async () => {
    const auth = await testAuth(database, linking);
    const user = await userWith(auth, 'both@x.test', { provider: 'github', email: 'both@hub.test' });
    const replies = await Promise.all([user.emailIdentity, user.ids[0]!].map((id) => user.unlink(id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect((await user.me()).identities).toHaveLength(1);
  });
});

describe('the address of a user', () => {
  test('the address of a user stays while another identity has it', async () => {
    const auth = await testAuth(database, linking);
    const email = 'kept@x.test';
    const user = await userWith(
      auth,
      email,
      { provider: 'github', email: 'other@hub.test', email_verified: true, age: 1 },
      { provider: 'gitlab', email: 'Kept@X.test' },
    );
    // As somebody may have written it by hand.
    await database.query(`update auth.users set email = 'KEPT@x.test' where id = $1`, [user.id]);
    const { email_confirmed_at } = await user.me();
    const id = user.emailIdentity.toUpperCase();
    expect(await user.unlink(id)).toMatchObject({ status: 200, body: {} });
    expect(await user.me()).toMatchObject({
      email: 'KEPT@x.test',
      email_confirmed_at,
      app_metadata: { provider: 'github' },
    });
  });

  test.each([
    [
      'that of the oldest verified identity',
      [
        { provider: 'github', email: 'unverified@1.test', age: 3 },
        { provider: 'gitlab', email: 'young@1.test', email_verified: true, age: 1 },
        { provider: 'google', email: 'old@1.test', email_verified: true, age: 2 },
        { provider: 'azure', age: 9 },
      ],
      { email: 'old@1.test', isConfirmed: true },
    ],
    [
      'that of the oldest other one where none is verified, and has to be confirmed',
      [
        { provider: 'github', email: 'young@2.test', age: 1 },
        { provider: 'gitlab', email: 'old@2.test', email_verified: false, age: 2 },
        { provider: 'azure', age: 9 },
      ],
      { email: 'old@2.test', isConfirmed: false },
    ],
    ['none where no identity has one', [{ provider: 'azure' }], { email: '', isConfirmed: false }],
    [
      'never that of another user',
      [
        { provider: 'github', email: 'taken@x.test', email_verified: true },
        { provider: 'gitlab', email: 'hers@hub.test', email_verified: true },
        { provider: 'google', email: 'free@4.test' },
      ],
      { email: 'free@4.test', isConfirmed: false },
    ],
  ] as const)('the address of a user becomes %s', async (_title, links, { email, isConfirmed }) => {
    const auth = await testAuth(database, linking);
    if (links.some((given) => 'email' in given && given.email === 'taken@x.test')) {
      await userWith(auth, 'taken@x.test', { provider: 'github', email: 'hers@hub.test', email_verified: true });
    }
    const user = await userWith(auth, `${links.length}-${isConfirmed}@x.test`, ...links);
    expect(await user.unlink(user.emailIdentity)).toMatchObject({ status: 200 });
    const { email_confirmed_at = null, ...after } = await user.me();
    expect([after.email, email_confirmed_at !== null]).toEqual([email, isConfirmed]);
    expect(after.user_metadata.email_verified).toBe(isConfirmed);
  });

  test('that only others have keeps the identity', async () => {
    const auth = await testAuth(database, linking);
    await userWith(auth, 'owner@x.test');
    const user = await userWith(auth, 'wants@x.test', { provider: 'github', email: 'owner@x.test' });
    expect(await user.unlink(user.emailIdentity)).toMatchObject(
      refusal(422, 'email_conflict_identity_not_deletable', 'Unable to unlink identity due to email conflict'),
    );
    expect(await user.me()).toMatchObject({ email: 'wants@x.test', identities: [{}, {}] });
  });

  test('that a user of another audience has is refused by the table, and nothing is changed', async () => {
    const auth = await testAuth(database, linking);
    const email = 'audiences@hub.test';
    await database.query(
      `insert into auth.users (instance_id, id, aud, email)
      values ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'other', $1)`,
      [email],
    );
    const user = await userWith(auth, 'audiences@x.test', { provider: 'github', email, email_verified: true });
    expect(await user.unlink(user.emailIdentity)).toMatchObject(refusal(422, 'email_exists'));
    expect(await user.me()).toMatchObject({ email: 'audiences@x.test', identities: [{}, {}] });
  });

  test('that was not verified is confirmed at once where the configuration confirms all', async () => {
    const auth = await testAuth(database, { ...linking, mailer_autoconfirm: true });
    const email = 'auto@x.test';
    const { user, access_token: token } = (await auth.ask('/signup', { email, password })).body;
    await link(user.id, { provider: 'github', email: 'auto@hub.test' });
    const path = `/user/identities/${user.identities[0].identity_id}`;
    await auth.ask(path, undefined, { method: 'DELETE', token });
    const { email_confirmed_at } = user;
    const { body } = await auth.ask('/user', undefined, { token });
    expect(body).toMatchObject({ email: 'auto@hub.test', email_confirmed_at });
  });

  test('the address of a user is removed together with pending changes, codes and links', async () => {
    const phones = { external_phone_enabled: true, sms_provider: 'capture' } as const;
    const auth = await testAuth(database, { ...linking, ...phones, smtp_max_frequency: 0 });
    const [email, next] = ['pending@x.test', 'next@x.test'];
    const user = await userWith(auth, email, { provider: 'github', email: 'pending@hub.test', email_verified: true });
    await auth.ask('/user', { email: next, phone: '4915100000012' }, { method: 'PUT', token: user.token });
    await auth.ask('/reauthenticate', undefined, { token: user.token });
    await auth.ask('/recover', { email });
    const links = [(await auth.message(email)).link, (await auth.message(next)).link];
    expect(await user.me()).toMatchObject({ new_email: next, new_phone: '4915100000012' });
    await user.unlink(user.emailIdentity);
    for (const link of links) expect(fragmentOf((await open(link)).location).error_code).toBe('otp_expired');
    const after = await user.me();
    const pending = ['new_email', 'email_change_sent_at', 'new_phone', 'phone_change_sent_at', 'recovery_sent_at'];
    for (const name of [...pending, 'reauthentication_sent_at']) expect(after).not.toHaveProperty(name);
  });
});

test('the phone number goes with its identity, and the email address stays', async () => {
  const auth = await testAuth(database, { ...linking, sms_autoconfirm: true });
  const email = 'phone@x.test';
  const user = await userWith(auth, email);
  await auth.ask('/user', { phone: '4915100000011' }, { method: 'PUT', token: user.token });
  const { identities, phone } = await user.me();
  expect(phone).toBe('4915100000011');
  const { identity_id } = identities.find(({ provider }: Link) => provider === 'phone');
  expect(await user.unlink(identity_id)).toMatchObject({ status: 200 });
  const after = await user.me();
  expect(after).toMatchObject({ email, phone: '', identities: [{ provider: 'email' }] });
  expect(after).not.toHaveProperty('phone_confirmed_at');
});

test('the audit log says which identity was given up, and from where', async () => {
  const auth = await testAuth(database, linking);
  const user = await userWith(auth, 'audit@x.test', { provider: 'github' });
  await user.unlink(user.ids[0]!);
  const [row] = await database.query<{ payload: unknown; ip_address: string }>(
    `select payload, ip_address from auth.audit_log_entries
    where payload->>'action' = 'identity_unlinked' and payload->>'actor_id' = $1`,
    [user.id],
  );
  expect(row).toMatchObject({
    payload: {
      log_type: 'user',
      actor_username: 'audit@x.test',
      traits: { identity_id: user.ids[0], provider: 'github', provider_id: expect.any(String) },
    },
    ip_address: '127.0.0.1',
  });
});

test('unlinking an identity ends the sessions and codes of sign-ins with it', async () => {
  provider.users.thief = { name: 'Thief', email: 'thief@provider.test', email_verified: true };
  const auth = await testAuth(database, { ...linking, ...keycloakValues(provider) });
  const owner = await userWith(auth, 'rid-of-thief@x.test');
  const [row] = await database.query<{ id: string }>(
    `insert into auth.identities (provider_id, user_id, provider, identity_data, created_at, updated_at)
    values ('thief', $1, 'keycloak', '{"sub": "thief"}', now(), now()) returning id`,
    [owner.id],
  );
  const thief = fragmentOf((await signInAs(auth, 'thief')).location.href);
  const verifier = 'v'.repeat(43);
  const pkce = { code_challenge: verifier, code_challenge_method: 'plain' };
  const { code } = queryOf((await signInAs(auth, 'thief', pkce)).location.href);
  expect((await auth.ask('/user', undefined, { token: thief.access_token! })).body.id).toBe(owner.id);
  expect((await owner.unlink(row!.id)).status).toBe(200);
  const refreshed = await auth.ask('/token?grant_type=refresh_token', { refresh_token: thief.refresh_token });
  const exchanged = await auth.ask('/token?grant_type=pkce', { auth_code: code, code_verifier: verifier });
  expect([refreshed.body, exchanged.body]).toMatchObject([
    { code: 'refresh_token_not_found' },
    { code: 'flow_state_not_found' },
  ]);
  expect(await auth.ask('/user', undefined, { token: thief.access_token! })).toMatchObject({
    body: { code: 'session_not_found' },
  });
  expect(await database.query('select from auth.sessions where user_id = $1', [owner.id])).toHaveLength(1);
  expect(await owner.me()).toMatchObject({ id: owner.id, identities: [{ provider: 'email' }] });
});
