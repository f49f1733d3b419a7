/**
 * The rules that hold for all auth routes: keys, bearers, bodies, methods, errors in two formats, limits, CORS.
 */
import { beforeAll, expect, test, vi } from 'vitest';
import { signedUp, testAuth } from '../support/auth-service.ts';
import { anonKey, secret, serviceKey, token as sign } from '../support/http.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createAuthDatabase();
});

const password = 'a good password';

test('health, keys and the OpenID document need neither key nor database', async () => {
  const auth = await testAuth(database);
  const read = async (path: string) => auth.ask(path, undefined, { key: null });
  expect((await read('/health')).body).toMatchObject({ name: 'GoTrue', version: expect.any(String) });
  const keys = await read('/.well-known/jwks.json');
  expect([keys.body, keys.headers.get('cache-control')]).toEqual([{ keys: [] }, 'public, max-age=600']);
  expect((await read('/.well-known/openid-configuration')).body).toMatchObject({
    issuer: 'http://localhost:54321/auth/v1',
    jwks_uri: 'http://localhost:54321/auth/v1/.well-known/jwks.json',
  });
});

test('the settings say which ways of signing in there are', async () => {
  const auth = await testAuth(database, { external_phone_enabled: true, sms_provider: 'capture' });
  const { body } = await auth.ask('/settings');
  expect(body).toMatchObject({ disable_signup: false, sms_provider: 'capture', saml_enabled: false });
  const on = Object.entries(body.external).filter(([, value]) => value);
  expect(on.map(([name]) => name)).toEqual(['email', 'phone']);
});

test('all other routes need a key, in the header or as a parameter', async () => {
  const auth = await testAuth(database);
  expect(await auth.ask('/settings', undefined, { key: null })).toMatchObject({
    status: 401,
    body: { message: 'No API key found in request', code: 'no_authorization' },
  });
  expect((await auth.ask('/settings', undefined, { key: 'x' })).body.message).toBe('Invalid API key');
  expect((await auth.ask(`/settings?apikey=${serviceKey}`, undefined, { key: null })).status).toBe(200);
  const open = await testAuth(database, {}, { requireApiKey: false });
  expect((await open.ask('/settings', undefined, { key: null })).status).toBe(200);
  expect((await open.ask('/settings', undefined, { key: 'x' })).status).toBe(401);
  expect(await open.ask('/user', undefined, { key: null })).toMatchObject({
    status: 401,
    body: { code: 'no_authorization', message: 'This endpoint requires a valid Bearer token' },
  });
});

test('opaque keys stand for tokens of their roles', async () => {
  const keys = { anonKey: 'sb_publishable_abc', serviceKey: 'sb_secret_abc' };
  const auth = await testAuth(database, {}, keys);
  const list = (key: string) => auth.ask('/admin/users', undefined, { key, token: key });
  expect((await list(keys.serviceKey)).status).toBe(200);
  expect((await list(keys.anonKey)).body.code).toBe('not_admin');
});

test('a key that is a token does not stand in for one: without Authorization nobody is asked for', async () => {
  const auth = await testAuth(database);
  const user = [
    ['GET', '/user'],
    ['PUT', '/user'],
    ['POST', '/logout'],
    ['GET', '/reauthenticate'],
    ['POST', '/factors'],
  ] as const;
  const admin = [
    ['GET', '/admin/users'],
    ['POST', '/invite'],
    ['GET', '/admin/audit'],
  ] as const;
  const refused = {
    status: 401,
    body: { code: 'no_authorization', message: 'This endpoint requires a valid Bearer token' },
  };
  const ask = (method: string, path: string, key: string | null) =>
    auth.ask(path, method === 'GET' ? undefined : {}, { method, key });
  for (const [method, path] of user) {
    expect(await ask(method, path, anonKey)).toMatchObject(refused);
    expect(await ask(method, `${path}?apikey=${anonKey}`, null)).toMatchObject(refused);
  }
  for (const [method, path] of admin) expect(await ask(method, path, serviceKey)).toMatchObject(refused);
  const keys = { anonKey: 'sb_publishable_abc', serviceKey: 'sb_secret_abc' };
  const opaque = await testAuth(database, {}, keys);
  expect((await opaque.ask('/admin/users', undefined, { key: keys.serviceKey })).status).toBe(200);
  expect((await opaque.ask('/user', undefined, { key: keys.anonKey })).body.code).toBe('bad_jwt');
});

test('a bearer is checked step by step', async () => {
  const auth = await testAuth(database);
  const { access_token: good, user } = await signedUp(auth, 'bearer@x.test');
  const ask = (authorization: string) => auth.ask('/user', undefined, { headers: { authorization } });
  const claims = { sub: user.id, aud: 'authenticated', role: 'authenticated' };
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`;
  const nobody = '6f1d5f3e-9d4b-4a8e-9a1e-000000000000';
  expect((await ask(`bearer ${good}`)).status).toBe(200);
  expect((await ask(`Bearer ${await sign(claims)}`)).status).toBe(200);
  const refusals = [
    [`Bearer  ${good}`, 401, 'no_authorization', 'This endpoint requires a valid Bearer token'],
    [`Bearer ${anonKey}`, 403, 'bad_jwt', 'invalid claim: missing sub claim'],
    [`Bearer ${serviceKey}`, 403, 'bad_jwt', 'invalid claim: missing sub claim'],
    [`Bearer x`, 403, 'bad_jwt', /^invalid JWT: unable to parse or verify signature, /],
    [`Bearer ${none}`, 403, 'bad_jwt', /^invalid JWT: /],
    [`Bearer ${await sign(claims, `${secret} of another`)}`, 403, 'bad_jwt', /^invalid JWT: /],
    [`Bearer ${await sign({ ...claims, exp: 1 })}`, 403, 'bad_jwt', /^invalid JWT: .*expired/],
    [`Bearer ${await sign({ ...claims, sub: 'x' })}`, 400, 'bad_jwt', 'invalid claim: sub claim must be a UUID'],
    [
      `Bearer ${await sign({ ...claims, sub: nobody })}`,
      403,
      'user_not_found',
      'User from sub claim in JWT does not exist',
    ],
    [
      `Bearer ${await sign({ ...claims, session_id: 'x' })}`,
      403,
      'bad_jwt',
      'invalid claim: session_id claim must be a UUID',
    ],
    [`Bearer ${await sign({ ...claims, session_id: nobody })}`, 403, 'session_not_found', /does not exist$/],
  ] as const;
  for (const [authorization, status, code, message] of refusals) {
    expect(await ask(authorization)).toMatchObject({ status, body: { code, message: expect.stringMatching(message) } });
  }
});

test('routes that need no token ignore an expired one', async () => {
  const auth = await testAuth(database);
  const token = await sign({ sub: 'x', exp: 1 });
  expect((await auth.ask('/otp', { email: 'expired@x.test' }, { token })).status).toBe(200);
});

test('errors have the format that the version of the client reads', async () => {
  const auth = await testAuth(database);
  const ask = (version: string) =>
    auth.ask('/signup', { email: 'a@x.test', password: 'short' }, { headers: { 'x-supabase-api-version': version } });
  const old = { code: 422, error_code: 'weak_password', msg: 'Password should be at least 6 characters.' };
  const weak_password = { reasons: ['length'] };
  for (const version of ['', '2023-12-31', 'nonsense']) {
    const reply = await ask(version);
    expect([reply.body, reply.headers.get('x-supabase-api-version')]).toEqual([{ ...old, weak_password }, null]);
  }
  for (const version of ['2024-01-01', '2030-01-01']) {
    const reply = await ask(version);
    expect(reply.body).toEqual({ code: 'weak_password', message: old.msg, weak_password });
    expect(reply.headers.get('x-supabase-api-version')).toBe('2024-01-01');
    expect(reply.headers.get('x-sb-error-code')).toBe('weak_password');
  }
  // Without the header the client does not look for a code: whatever refuses has to send it.
  const refusals = await Promise.all([
    auth.ask('/settings', undefined, { key: null }),
    auth.ask('/settings', undefined, { key: 'x' }),
    auth.ask('/nothing'),
    auth.ask('/settings', undefined, { method: 'DELETE' }),
    auth.ask('/sso', {}),
    auth.ask('/recover', `{"email":"${'a'.repeat(1_048_576)}"}`),
  ]);
  expect(refusals.map(({ status, headers }) => [status, headers.get('x-supabase-api-version')])).toEqual(
    [401, 401, 404, 405, 404, 413].map((status) => [status, '2024-01-01']),
  );
});

test('a banned user is refused by every route for users', async () => {
  const auth = await testAuth(database, { security_manual_linking_enabled: true });
  const { access_token: token, user } = await signedUp(auth, 'banned@x.test');
  const id = user.identities[0].identity_id;
  await auth.askAdmin(`/admin/users/${user.id}`, { ban_duration: '1h' }, { method: 'PUT' });
  for (const [method, path, body] of [
    ['GET', '/user'],
    ['PUT', '/user', { data: {} }],
    ['GET', '/reauthenticate'],
    ['POST', '/logout'],
    ['DELETE', `/user/identities/${id}`],
    ['POST', '/factors', { factor_type: 'totp' }],
    ['POST', `/factors/${id}/challenge`, {}],
    ['POST', `/factors/${id}/verify`, {}],
    ['DELETE', `/factors/${id}`],
  ] as const) {
    const reply = await auth.ask(path, body, { method, token });
    expect([path, reply.status, reply.body.code]).toEqual([path, 403, 'user_banned']);
  }
});

test('a body is JSON whatever the content type says, an object, and not too large', async () => {
  const auth = await testAuth(database, { smtp_max_frequency: 0 });
  const send = (body: string, type = 'text/plain') => auth.ask('/recover', body, { headers: { 'content-type': type } });
  expect((await send('{"email":"nobody@x.test","x":1}')).status).toBe(200);
  expect((await send('{"email":"nobody@x.test"}', 'application/x-www-form-urlencoded')).status).toBe(200);
  for (const body of ['[]', '"x"', '', '{', 'null', '{"email":5}', '{"email":["a@x.test"]}']) {
    expect(await send(body)).toMatchObject({ status: 400, body: { code: 'bad_json' } });
  }
  const large = await send(`{"email":"${'a'.repeat(1_048_576)}"}`);
  expect(large).toMatchObject({
    status: 413,
    body: { code: 'request_entity_too_large', message: 'Request body too large (max 1048576 bytes)' },
  });
  expect((await auth.ask('/magiclink', '{')).body.message).toMatch(/^Could not read verification params: /);
});

test('unknown paths and methods are answered with JSON, and parts that are not there as if switched off', async () => {
  const auth = await testAuth(database);
  expect(await auth.ask('/nothing')).toMatchObject({
    status: 404,
    body: { message: 'Nothing is served at this path.' },
  });
  const method = await auth.ask('/signup');
  expect(method).toMatchObject({ status: 405, body: { message: 'The path does not support this method.' } });
  expect(method.headers.get('allow')).toBe('POST, OPTIONS');
  const ofUser = await auth.ask('/%61dmin/users/x?a=b', {});
  expect([ofUser.status, ofUser.headers.get('allow')]).toEqual([405, 'GET, PUT, DELETE, OPTIONS']);
  const nobody = [
    await auth.ask('/admin/users/x/y'),
    await auth.ask('/'),
    await auth.ask(''),
    await auth.ask('/sso-x'),
  ];
  expect(nobody.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect((await auth.ask('/sso', {})).body).toEqual({
    code: 'saml_provider_disabled',
    message: 'SAML 2.0 is disabled',
  });
  expect((await auth.ask('/passkeys/x')).body.code).toBe('passkey_disabled');
  expect((await auth.ask('/authorize?provider=x', undefined, { key: null })).body.message).toMatch(
    /^Unsupported provider: /,
  );
});

test('the requests of an address are limited', async () => {
  const auth = await testAuth(database, {
    rate_limit_otp: 30,
    smtp_max_frequency: 0,
    rate_limit_anonymous_users: 1,
    external_anonymous_users_enabled: true,
  });
  const ask = () => auth.ask('/recover', { email: 'nobody@x.test' });
  const replies = await Promise.all(Array.from({ length: 31 }, ask));
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused).toMatchObject([
    { status: 429, body: { code: 'over_request_rate_limit', message: 'Request rate limit reached' } },
  ]);
  expect(Number(refused[0]?.headers.get('retry-after'))).toBe(10);
  auth.pass(10);
  expect((await ask()).status).toBe(200);
  expect([(await auth.ask('/signup', {})).status, (await auth.ask('/signup', {})).status]).toEqual([200, 429]);
});

test('only so many emails leave in an hour, to all users together', async () => {
  const own = await createAuthDatabase();
  const auth = await testAuth(own, { rate_limit_email_sent: 1 });
  expect((await auth.ask('/signup', { email: 'first@x.test', password })).status).toBe(200);
  const second = await auth.ask('/signup', { email: 'second@x.test', password });
  expect(second).toMatchObject({
    status: 429,
    body: { code: 'over_email_send_rate_limit', message: 'email rate limit exceeded' },
  });
  expect(await own.query("select 1 from auth.users where email = 'second@x.test'")).toEqual([]);
  auth.pass(3600);
  expect((await auth.ask('/signup', { email: 'second@x.test', password })).status).toBe(200);
});

test('where no emails may leave, none is sent, and where addresses count as confirmed none is needed to sign up', async () => {
  const auth = await testAuth(database, {
    rate_limit_email_sent: '0/1h',
    mailer_autoconfirm: true,
  });
  const email = 'no-mail@x.test';
  expect((await auth.ask('/signup', { email, password })).status).toBe(200);
  expect(await auth.ask('/recover', { email })).toMatchObject({
    status: 429,
    body: { code: 'over_email_send_rate_limit', message: 'email rate limit exceeded' },
  });
});

test('a list of authorised addresses keeps email from all others', async () => {
  const auth = await testAuth(database, { external_email_authorized_addresses: 'Me@X.test' });
  expect((await auth.ask('/signup', { email: 'me+label@x.test', password })).status).toBe(200);
  expect((await auth.ask('/signup', { email: 'you@x.test', password })).body).toEqual({
    code: 'email_address_not_authorized',
    message: 'Email address "you@x.test" cannot be used as it is not authorized',
  });
});

test('browsers of other origins may send the headers of the clients and read the code of an error', async () => {
  const auth = await testAuth(database);
  const response = await fetch(`${auth.url}/auth/v1/signup`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'apikey, x-jwt-aud',
    },
  });
  expect(response.status).toBe(204);
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  expect(response.headers.get('access-control-allow-headers')).toBe('apikey, x-jwt-aud');
  const reply = await auth.ask('/signup', {}, { headers: { origin: 'https://app.test' } });
  expect(reply.headers.get('access-control-expose-headers')).toMatch(/x-total-count, link, x-supabase-api-version/);
});

test('the log has the code of every refusal, also of one that a browser is sent away with', async () => {
  const auth = await testAuth(database);
  await auth.ask('/token?grant_type=password', { email: 'nobody@x.test', password });
  await auth.ask('/verify?type=email&token=abc');
  await auth.ask('/settings');
  await fetch(`${auth.url}/v1/projects/${'a'.repeat(20)}/config/auth`);
  const logged = () => auth.observations.filter((seen) => seen.kind === 'request');
  await vi.waitFor(() => expect(logged()).toHaveLength(4));
  expect(logged().map(({ status, codes }) => [status, codes])).toEqual([
    [400, ['invalid_credentials']],
    [303, ['otp_expired']],
    [200, []],
    [401, ['unauthorized']],
  ]);
});

test('behind a trusted proxy limits and sessions go by the address that it names', async () => {
  const given = { trustedProxies: ['127.0.0.1'] };
  const auth = await testAuth(
    database,
    { rate_limit_anonymous_users: 1, external_anonymous_users_enabled: true },
    given,
  );
  const from = (address: string) => auth.ask('/signup', {}, { headers: { 'x-forwarded-for': address } });
  const [first, second] = [await from('198.51.100.7'), await from('198.51.100.8')];
  expect([first.status, second.status, (await from('198.51.100.7')).status]).toEqual([200, 200, 429]);
  const network = [await from('2001:db8::1'), await from('2001:db8::2'), await from('2001:db8:0:1::1')];
  expect(network.map(({ status }) => status)).toEqual([200, 429, 200]);
  const rows = await database.query('select host(ip) as ip from auth.sessions where user_id = $1', [
    first.body.user.id,
  ]);
  expect(rows).toEqual([{ ip: '198.51.100.7' }]);
});

test('links name the public address, or another host that the configuration allows', async () => {
  const auth = await testAuth(database, { mailer_external_hosts: 'other.test, open.test:8443', smtp_max_frequency: 0 });
  const linkFor = async (host: string) => {
    await auth.ask('/signup', { email: 'host@x.test', password }, { headers: { 'x-forwarded-host': host } });
    return /href="([^?"]*)/.exec((await auth.message('host@x.test')).html)?.[1];
  };
  expect(await linkFor('evil.test')).toBe('http://localhost:54321/auth/v1/verify');
  expect(await linkFor('other.test')).toBe('https://other.test/auth/v1/verify');
  expect(await linkFor('OTHER.test:443')).toBe('https://other.test/auth/v1/verify');
  // Who listens at another port of the host may be somebody else.
  expect(await linkFor('other.test:8443')).toBe('http://localhost:54321/auth/v1/verify');
  expect(await linkFor('open.test:8443')).toBe('https://open.test:8443/auth/v1/verify');
});

test('without the tables the routes say how to make them', async () => {
  const auth = await testAuth(await createDatabase());
  expect(await auth.ask('/settings')).toMatchObject({
    status: 404,
    body: { code: 'feature_disabled', message: expect.stringContaining('pgreflect init --auth') },
  });
  expect((await auth.ask('/health', undefined, { key: null })).status).toBe(200);
});

test('a login that may not use the tables is told of the owner', async () => {
  const auth = await testAuth(database, {}, { adminDatabaseUrl: database.urlAs('authenticator', 'test') });
  const reply = await auth.ask('/settings');
  expect(reply).toMatchObject({ status: 404, body: { message: expect.stringContaining('--admin-database-url') } });
});

test('a request that takes too long is answered so and changes nothing', async () => {
  const patient = await testAuth(database);
  const { user, access_token: token } = await signedUp(patient, 'slow@x.test');
  const auth = await testAuth(database, { api_max_request_duration: 1 });
  const { Client } = (await import('pg')).default;
  const blocker = new Client({ connectionString: database.url });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query('select 1 from auth.users where id = $1 for update', [user.id]);
  const reply = await auth.ask('/user', { data: { late: true } }, { method: 'PUT', token });
  await blocker.query('rollback');
  await blocker.end();
  expect(reply).toMatchObject({
    status: 504,
    body: {
      code: 'request_timeout',
      message: 'Processing this request timed out, please retry after a moment.',
    },
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await patient.ask('/user', undefined, { token })).body.user_metadata).not.toHaveProperty('late');
});

test('a body with contradictory or unknown values is refused with the reason', async () => {
  const auth = await testAuth(database);
  const { access_token: token, user } = await signedUp(auth, 'contradicts@x.test');
  const hash = '$2a$04$N9qo8uLOickgx2ZMRZoMye.IjZ4wVnZZnmIcSYXDUzXn/7GgIhbK2';
  const put = { method: 'PUT' };
  const replies = [
    await auth.ask('/otp', { email: 'a@x.test', phone: '4915112345678' }),
    await auth.ask('/logout?scope=some', undefined, { method: 'POST', token }),
    await auth.askAdmin('/admin/users', { email: 'hash@x.test', password_hash: 'md5:5f4dcc3b' }),
    await auth.askAdmin(`/admin/users/${user.id}`, { password, password_hash: hash }, put),
    await auth.askAdmin('/admin/users', { email: 'two@x.test', password, password_hash: hash }),
  ];
  expect(replies.map(({ status, body }) => [status, body.message])).toEqual([
    [400, 'Only an email address or phone number should be provided'],
    [400, 'Unsupported logout scope "some"'],
    [400, 'The password hash is of an unknown kind, so it cannot be checked.'],
    [400, 'Only a password or a password hash should be provided'],
    [400, 'Only a password or a password hash should be provided'],
  ]);
});
