/**
 * /openapi.json and the auth service: a valid document, and every request and answer of a walk through all routes is as it says.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeAll, expect, test } from 'vitest';
import { type AuthReply, type AuthRequestOptions, signedUp, type TestAuth, testAuth } from '../support/auth-service.ts';
import { appOf, factorsOf } from '../support/factors.ts';
import { serviceKey } from '../support/http.ts';
import { startLyingProvider } from '../support/lying-provider.ts';
import { type Conformance, createConformance } from '../support/openapi.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Json = any;

/** A form as an object. */
function toSent(body: unknown, options: AuthRequestOptions = {}): unknown {
  const isForm = options.headers?.['content-type'] === 'application/x-www-form-urlencoded';
  return isForm ? Object.fromEntries(new URLSearchParams(String(body))) : body;
}

async function documentOf(auth: TestAuth): Promise<Json> {
  return (await fetch(`${auth.url}/openapi.json`)).json();
}

test('the document is valid by the schema of OpenAPI 3.1, and all its references resolve', async () => {
  const auth = await testAuth(database);
  const document = await documentOf(auth);
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  expect([result.valid, result.errors]).toEqual([true, undefined]);
  expect(validator.version).toBe('3.1');
  const names = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(names.filter((name) => !Object.hasOwn(document.components.schemas, name ?? ''))).toEqual([]);
  // A document that says nothing would be valid too.
  const broken = { ...document, paths: { 'no-slash': {} } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

/** Bodies and parameters that an operation takes, one after the other. */
function partsOf({ requestBody, parameters = [] }: Json): readonly Json[] {
  const schema = Object.values<Json>(requestBody?.content ?? {})[0]?.schema;
  const query = parameters.filter((parameter: Json) => parameter.in === 'query');
  const asObject = {
    properties: Object.fromEntries(query.map((parameter: Json) => [parameter.name, parameter.schema])),
    required: query.filter((parameter: Json) => parameter.required).map((parameter: Json) => parameter.name),
  };
  return [...(schema === undefined ? [] : (schema.anyOf ?? [schema])), ...(query.length > 0 ? [asObject] : [])];
}

test('requests say which members they need, and which words and formats texts have', async () => {
  const { paths } = await documentOf(await testAuth(database));
  const said: Record<string, readonly string[]> = {};
  for (const [path, methods] of Object.entries<Json>(paths).filter(([name]) => name.startsWith('/auth/v1')))
    for (const [method, operation] of Object.entries<Json>(methods)) {
      const parts = partsOf(operation);
      const facts = parts.flatMap(({ properties, required = [] }) => [
        ...required.map((name: string) => `${name} is needed`),
        ...Object.entries<Json>(properties).flatMap(([name, { enum: words, format }]) => [
          ...(words ? [`${name}: ${words.filter((word: unknown) => word !== null).join(' ')}`] : []),
          ...(format ? [`${name}: ${format}`] : []),
        ]),
      ]);
      if (facts.length > 0) said[`${method} ${path.slice('/auth/v1'.length)}`] = [...new Set(facts)].sort();
    }
  expect(said).toMatchInlineSnapshot(`
    {
      "get /admin/users": [
        "order: created_at.desc created_at.asc last_sign_in_at.desc last_sign_in_at.asc email.desc email.asc",
        "state: deleted banned anonymous confirmed invited unconfirmed",
      ],
      "get /verify": [
        "type: signup invite magiclink recovery email email_change sms phone_change",
      ],
      "head /verify": [
        "type: signup invite magiclink recovery email email_change sms phone_change",
      ],
      "post /admin/generate_link": [
        "email is needed",
        "email: email",
        "new_email: email",
        "password: password",
        "redirect_to: uri",
        "type is needed",
        "type: signup invite magiclink recovery email_change_current email_change_new",
      ],
      "post /admin/users": [
        "email: email",
        "id: uuid",
        "password: password",
      ],
      "post /factors": [
        "factor_type is needed",
        "factor_type: totp phone",
      ],
      "post /factors/{id}/challenge": [
        "channel: sms whatsapp",
      ],
      "post /factors/{id}/verify": [
        "challenge_id is needed",
        "challenge_id: uuid",
        "code is needed",
      ],
      "post /invite": [
        "email is needed",
        "email: email",
      ],
      "post /logout": [
        "scope: global local others",
      ],
      "post /magiclink": [
        "code_challenge_method: s256 S256 plain",
        "email is needed",
        "email: email",
      ],
      "post /otp": [
        "channel: sms whatsapp",
        "code_challenge_method: s256 S256 plain",
        "email: email",
      ],
      "post /recover": [
        "code_challenge_method: s256 S256 plain",
        "email is needed",
        "email: email",
      ],
      "post /resend": [
        "code_challenge_method: s256 S256 plain",
        "email: email",
        "type is needed",
        "type: signup email_change sms phone_change",
      ],
      "post /signup": [
        "channel: sms whatsapp",
        "code_challenge_method: s256 S256 plain",
        "email: email",
        "password is needed",
        "password: password",
      ],
      "post /token": [
        "auth_code is needed",
        "code_verifier is needed",
        "email: email",
        "grant_type is needed",
        "grant_type: password refresh_token pkce id_token",
        "id_token is needed",
        "password is needed",
        "password: password",
        "refresh_token is needed",
      ],
      "post /verify": [
        "email: email",
        "redirect_to: uri",
        "type is needed",
        "type: signup invite magiclink recovery email email_change sms phone_change",
      ],
      "put /admin/users/{id}": [
        "email: email",
        "id: uuid",
        "password: password",
      ],
      "put /user": [
        "channel: sms whatsapp",
        "code_challenge_method: s256 S256 plain",
        "current_password: password",
        "email: email",
        "password: password",
      ],
    }
  `);
});

test('required members are required, and values outside an enum are refused', async () => {
  const auth = await testAuth(database, { sms_provider: 'capture', external_phone_enabled: true });
  const { access_token: token } = await signedUp(auth, 'words@mail.test');
  const email = 'words@mail.test';
  const refused: readonly (readonly [string, object, AuthRequestOptions?])[] = [
    ['/signup', { email }],
    ['/token?grant_type=nonsense', {}],
    ['/token?grant_type=password', { email }],
    ['/token?grant_type=refresh_token', {}],
    ['/token?grant_type=pkce', { auth_code: 'x' }],
    ['/token?grant_type=pkce', { code_verifier: 'y' }],
    ['/token?grant_type=id_token', { provider: 'google' }],
    ['/verify', { token_hash: 'x' }],
    ['/verify', { type: 'nonsense', token_hash: 'x' }],
    ['/magiclink', {}],
    ['/recover', {}],
    ['/resend', { email }],
    ['/resend', { type: 'nonsense', email }],
    ['/otp', { email, code_challenge: 'x'.repeat(43), code_challenge_method: 'nonsense' }],
    ['/otp', { phone: '4915100000009', channel: 'nonsense' }],
    ['/otp', { email: 'no address' }],
    ['/factors', {}, { token }],
    ['/factors', { factor_type: 'nonsense' }, { token }],
    ['/logout?scope=nonsense', {}, { token }],
    ['/invite', {}, { key: serviceKey, token: serviceKey }],
    ['/admin/generate_link', { email }, { key: serviceKey, token: serviceKey }],
    ['/admin/generate_link', { type: 'invite' }, { key: serviceKey, token: serviceKey }],
    ['/admin/generate_link', { type: 'nonsense', email }, { key: serviceKey, token: serviceKey }],
  ];
  for (const [path, body, options] of refused) {
    const { status } = await auth.ask(path, body, { method: 'POST', ...options });
    expect([path, body, status >= 400 && status < 500]).toEqual([path, body, true]);
  }
});

interface Walk {
  readonly auth: TestAuth;
  readonly conformance: Conformance;
  /** As `auth.ask`, and the exchange has to be as described. */
  ask(path: string, body?: unknown, options?: AuthRequestOptions): Promise<AuthReply>;
  askAdmin(path: string, body?: unknown, options?: AuthRequestOptions): Promise<AuthReply>;
  /** Other requests, which have to be as described. */
  checked(ask: TestAuth['ask']): TestAuth['ask'];
}

async function startWalk(): Promise<Walk> {
  const auth = await testAuth(database, {
    external_anonymous_users_enabled: true,
    external_phone_enabled: true,
    sms_provider: 'capture',
    mfa_phone_enroll_enabled: true,
    security_update_password_require_reauthentication: true,
    security_manual_linking_enabled: true,
    sms_autoconfirm: true,
    external_keycloak_enabled: true,
    external_keycloak_url: (await startLyingProvider('us')).issuer,
    external_keycloak_client_id: 'us',
    external_keycloak_secret: 'ours',
  });
  const conformance = createConformance(await documentOf(auth));
  const checked =
    (ask: TestAuth['ask']): TestAuth['ask'] =>
    async (path, body, options) => {
      const reply = await ask(path, body, options);
      const method = (options?.method ?? (body === undefined ? 'GET' : 'POST')).toLowerCase();
      const answer = reply.text === '' ? null : (reply.body ?? reply.text);
      const problems = conformance.check({
        method,
        path: `/auth/v1${path.replace(/\?.*/, '')}`,
        body: toSent(body, options),
        answer,
        status: reply.status,
      });
      expect([`${method} ${path} ${reply.status}`, ...problems]).toEqual([`${method} ${path} ${reply.status}`]);
      return reply;
    };
  return { auth, conformance, ask: checked(auth.ask), askAdmin: checked(auth.askAdmin), checked };
}

test('every operation answers as described: sign-up, sign-in, messages, links, the own user, second factors, administration', async () => {
  const walk = await startWalk();
  await walkThroughSignIn(walk);
  await walkThroughIdentities(walk);
  await walkThroughProviders(walk);
  await walkThroughFactors(walk);
  await walkThroughAdministration(walk);
  await walkThroughPage(walk);
  const { described, seen } = walk.conformance;
  const auth = described.filter((name) => name.includes(' /auth/v1/'));
  expect(auth.filter((name) => !seen.has(name))).toEqual([]);
});

async function walkThroughSignIn({ auth, ask }: Walk): Promise<void> {
  const [email, password] = ['walker@mail.test', 'a good password'];
  for (const path of ['/health', '/.well-known/jwks.json', '/.well-known/openid-configuration'])
    await ask(path, undefined, { key: null });
  await ask('/settings');
  await ask('/signup', { email, password, data: { plan: 'pro' }, code_challenge: null });
  await ask('/token?grant_type=password', { email, password });
  const { code } = await auth.message(email);
  const { body: session } = await ask('/verify', { type: 'email', email, token: code });
  // A second sign-up is answered as if there were no such user.
  await ask('/signup', { email, password });
  const token = session.access_token;
  await ask('/user', undefined, { token });
  await ask('/token?grant_type=password', { email, password });
  await ask('/token?grant_type=refresh_token', { refresh_token: session.refresh_token });
  await ask('/signup', { data: { anonymous: true } });
  await ask('/signup', { phone: '4915100000001', password });
  auth.pass(120);
  await ask('/otp', { email, create_user: false });
  auth.pass(120);
  await ask('/magiclink', { email });
  auth.pass(120);
  await ask('/recover', { email });
  const { link } = await auth.message(email);
  await ask(link.slice(link.indexOf('/verify')), undefined, { key: null });
  auth.pass(120);
  await ask('/reauthenticate', undefined, { token });
  await ask('/user', { email: 'walker2@mail.test', data: { plan: null } }, { method: 'PUT', token });
  auth.pass(120);
  await ask('/resend', { type: 'email_change', email });
  const { code: change } = await auth.message(email);
  await ask('/verify', { type: 'email_change', email, token: change });
  await ask('/logout?scope=local', undefined, { method: 'POST', token });
  await walkIntoRefusals({ ask });
}

/** The page that asks before a link is used. */
async function walkThroughPage({ checked }: Walk): Promise<void> {
  const auth = await testAuth(database, { mailer_link_confirmation: 'page' });
  const [ask, link] = [checked(auth.ask), '/verify?token=x&type=recovery'];
  await ask(link, undefined, { key: null });
  await ask(link, undefined, { key: null, method: 'HEAD' });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  await ask('/verify', 'token=x&type=recovery', { key: null, headers });
}

async function walkThroughIdentities({ auth, ask }: Walk): Promise<void> {
  const { user, access_token: token } = await signedUp(auth, 'identities@mail.test');
  const unlink = () =>
    ask(`/user/identities/${user.identities[0].identity_id}`, undefined, { method: 'DELETE', token });
  await unlink();
  await ask('/user', { phone: '4915100000004' }, { method: 'PUT', token });
  await unlink();
}

async function walkThroughProviders({ auth, ask }: Walk): Promise<void> {
  const { access_token: token } = await signedUp(auth, 'providers@mail.test');
  const form = { key: null, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
  for (const send of [
    (answer: string) => ask(`/callback?${answer}`, undefined, { key: null }),
    (answer: string) => ask('/callback', answer, form),
  ]) {
    await send('code=x');
    const { headers } = await ask('/authorize?provider=keycloak&scopes=a', undefined, { key: null });
    const state = new URL(headers.get('location') ?? '').searchParams.get('state');
    await send(`state=${state}&error=access_denied`);
  }
  const link = '/user/identities/authorize?provider=keycloak';
  await ask(link, undefined, { token });
  const { body } = await ask(`${link}&skip_http_redirect=true`, undefined, { token });
  const { search } = new URL(body.url);
  const page = await ask(`/authorize${search}`, undefined, { key: null });
  const [, secret = ''] = /name="page_secret" value="([^"]+)"/.exec(page.text) ?? [];
  const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
  for (const cookies of [{}, { cookie }]) {
    await ask('/authorize', `${search.slice(1)}&page_secret=${secret}`, {
      ...form,
      headers: { ...form.headers, ...cookies },
    });
  }
}

async function walkThroughFactors({ auth, ask, askAdmin }: Walk): Promise<void> {
  const { user, access_token } = await signedUp(auth, 'factors@mail.test');
  const { enroll, challenge, verify } = factorsOf({ ask, now: auth.now }, access_token);
  await enroll({ factor_type: 'phone', phone: '4915100000003', friendly_name: null });
  const { body } = await enroll({ factor_type: 'totp', friendly_name: 'app', issuer: 'shop' });
  const app = appOf(auth, body.id, body.totp.secret);
  const { id } = (await challenge(app.id)).body;
  await verify(app.id, id, '');
  const raised = factorsOf({ ask, now: auth.now }, (await verify(app.id, id, app.code())).body.access_token);
  await raised.list();
  const admin = `/admin/users/${user.id}/factors`;
  const phone = (await askAdmin(admin)).body.find(({ id }: { id: string }) => id !== app.id);
  await askAdmin(`${admin}/${phone.id}`, { friendly_name: 'telephone' }, { method: 'PUT' });
  await askAdmin(`${admin}/${phone.id}`, undefined, { method: 'DELETE' });
  await raised.unenroll(app.id);
  await raised.unenroll(app.id);
}

async function walkIntoRefusals({ ask }: Pick<Walk, 'ask'>): Promise<void> {
  const old = { headers: { 'x-supabase-api-version': '2023-01-01' } };
  for (const options of [{}, old]) {
    await ask('/signup', { email: 5 }, options);
    await ask('/signup', { email: 'weak@mail.test', password: 'x' }, options);
    await ask('/signup', '{', options);
    await ask('/user', undefined, options);
    await ask('/user', undefined, { key: null, ...options });
    await ask('/token?grant_type=none', {}, options);
    await ask('/token?grant_type=id_token', {}, options);
    await ask('/verify', { type: 'email', email: 'nobody@mail.test', token: '000000' }, options);
    await ask('/verify?token=', undefined, { key: null, ...options });
    await ask('/authorize?provider=github', undefined, { key: null, ...options });
  }
}

async function walkThroughAdministration({ auth, ask, askAdmin }: Walk): Promise<void> {
  const { body: user } = await askAdmin('/admin/users', {
    email: 'made@mail.test',
    email_confirm: true,
    ban_duration: 'none',
  });
  await askAdmin('/admin/users', { email: 'made@mail.test' });
  await askAdmin('/invite', { email: 'invited@mail.test', data: {} });
  await askAdmin(`/admin/users/${user.id}`);
  await askAdmin(`/admin/users/${user.id}/recover`, undefined, { method: 'POST' });
  await askAdmin(`/admin/users/${user.id}`, { user_metadata: { a: 1 }, phone: '4915100000002' }, { method: 'PUT' });
  await askAdmin('/admin/users?page=1&per_page=2&sort=created_at+asc');
  for (const type of ['signup', 'invite', 'magiclink', 'recovery']) {
    await askAdmin('/admin/generate_link', { type, email: `${type}@mail.test`, password: 'a good password' });
  }
  await askAdmin('/admin/generate_link', {
    type: 'magiclink',
    email: 'made@mail.test',
    redirect_to: 'https://app.test/x',
  });
  await askAdmin('/admin/users?order=email.asc&state=confirmed&provider=email&per_page=1');
  await askAdmin('/admin/users?search=mail');
  await askAdmin('/admin/audit?query=action:user');
  await askAdmin(`/admin/audit?user=${user.id}`);
  const member = (await signedUp(auth, 'member@mail.test')).user;
  const [{ id: session }] = (await askAdmin(`/admin/users/${member.id}/sessions`)).body;
  for (const path of [`sessions/${session}`, `sessions/${session}`, 'sessions']) {
    await askAdmin(`/admin/users/${member.id}/${path}`, undefined, { method: 'DELETE' });
  }
  await auth.database.query(
    `insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
    values ($1, $1, 'github', '42', '{"sub": "42", "email": "member@mail.test"}', now(), now())`,
    [member.id],
  );
  await askAdmin(`/admin/users/${member.id}/identities/${member.id}`, undefined, { method: 'DELETE' });
  await askAdmin(`/admin/users/${user.id}`, { should_soft_delete: true }, { method: 'DELETE' });
  await askAdmin(`/admin/users/${user.id}`, undefined, { method: 'DELETE' });
  await askAdmin(`/admin/users/${user.id}`);
  await ask('/admin/users');
}
