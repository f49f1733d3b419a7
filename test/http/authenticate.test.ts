/** Who a request comes from: API keys, tokens, roles. Every refusal is tried with a request that would otherwise be answered. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportPKCS8, exportSPKI, generateKeyPair, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import type { JsonWebKeyMember } from '../../src/config/json-web-keys.ts';
import {
  anonKey,
  operation,
  type Reply,
  secret,
  serviceKey,
  type TestServer,
  testServer,
  token,
} from '../support/http.ts';

const otherSecret = 'another secret of more than thirty-two characters';
const user = { sub: 'd0f3b8a0-0000-4000-8000-000000000001', role: 'authenticated' };
const seconds = () => Math.floor(Date.now() / 1000);

/** Asks with a key and a Bearer token. */
function ask(server: TestServer, bearer: string | null, key: string | null = anonKey): Promise<Reply> {
  const headers: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
  return server.send({ key, headers, body: operation('{ hello }') });
}

/** The role that the database would see, or the status and message of the refusal. */
async function roleOf(server: TestServer, bearer: string | null, key: string | null = anonKey): Promise<string> {
  const reply = await ask(server, bearer, key);
  if (reply.status !== 200) return `${reply.status} ${reply.json().errors?.[0]?.message}`;
  return server.calls.at(-1)?.caller.role ?? 'nobody';
}

const unverified = '401 The token could not be verified.';

async function keyPair(
  alg: string,
  kid?: string,
): Promise<{
  sign: (claims: object, header?: object) => Promise<string>;
  jwk: JsonWebKeyMember;
  privateJwk: JsonWebKeyMember;
  pem: string;
}> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const named = (jwk: JWK) => ({ ...jwk, alg, ...(kid !== undefined && { kid }) }) as JsonWebKeyMember;
  return {
    sign: (claims, header = {}) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
        .sign(privateKey),
    jwk: named(await exportJWK(publicKey)),
    privateJwk: { ...named(await exportJWK(privateKey)), key_ops: ['sign'] },
    pem: await exportSPKI(publicKey),
  };
}

describe('the API key', () => {
  test('without one the answer is 401 with message and hint at top level, and as a GraphQL error', async () => {
    const reply = await ask(await testServer(), null, null);
    expect(reply.status).toBe(401);
    expect(reply.json()).toEqual({
      message: 'No API key found in request',
      hint: 'No `apikey` request header or url param was found. Send the anon key in the header `apikey`: keys in URLs are read for event streams alone.',
      errors: [{ message: 'No API key found in request', extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });

  test('one in the URL, which logs would keep, is refused, and the hint says where to send it', async () => {
    const { send } = await testServer();
    const url = `/graphql/v1?apikey=${anonKey}`;
    const reply = await send({ url, key: null, body: operation('{ hello }') });
    expect([reply.status, reply.json().hint]).toEqual([
      401,
      expect.stringContaining('keys in URLs are read for event streams alone'),
    ]);
  });

  test.each([
    ['nonsense', () => 'nonsense', null],
    ['an empty one', () => '', 'The header `apikey` is empty: the variable has no value.'],
    ['a variable without value', () => 'undefined', 'is the word "undefined": the variable has no value.'],
    ['a key as a token is sent', () => `Bearer ${token({ role: 'anon' })}`, 'without "Bearer" before it.'],
    ['an access token of the management API', () => 'sbp_0123', 'send the anon key as `apikey`'],
    [
      'a token of another secret',
      () => token({ role: 'anon' }, otherSecret),
      'It belongs to another project or an earlier secret',
    ],
    ["a user's token", () => token(user), "This is a user's token: send it as `Authorization: Bearer TOKEN`"],
    [
      'a token of another role',
      () => token({ role: 'authenticated' }),
      'It belongs to another project or an earlier secret',
    ],
    ['an expired key', () => token({ role: 'anon', exp: seconds() - 60 }), 'It has expired.'],
    ['a key with a subject', () => token({ role: 'service_role', sub: 'x' }), "This is a user's token"],
  ])('%s is refused, with what to send instead', async (_what, make, instead) => {
    const reply = await ask(await testServer(), null, await make());
    expect(reply.status).toBe(401);
    const { message, hint } = reply.json();
    expect(message).toBe('Invalid API key');
    if (instead === null) expect(hint).toBe('Double check your API key.');
    else expect(hint).toContain(instead);
  });

  test.each(['', 'undefined', 'null'])('the token "%s" says that there is none', async (word) => {
    const reply = await ask(await testServer(), word, anonKey);
    expect(reply.status).toBe(401);
    expect(reply.json().hint).toContain('the variable has no value: sign in first, or send no header Authorization.');
  });

  test('the anon key is the anon role, the service key the service role, with the claims of the key', async () => {
    const server = await testServer();
    expect(await roleOf(server, null, anonKey)).toBe('anon');
    expect(server.calls.at(-1)?.caller.claims).toBe('{"role":"anon"}');
    expect(await roleOf(server, null, serviceKey)).toBe('service_role');
  });

  test('the key sent once more as the token, as client libraries do, is that key', async () => {
    const server = await testServer();
    expect(await roleOf(server, anonKey, anonKey)).toBe('anon');
    expect(await roleOf(server, serviceKey, serviceKey)).toBe('service_role');
    expect(await roleOf(server, serviceKey, anonKey)).toBe('service_role');
  });

  test('configured keys may be opaque and are accepted as token too', async () => {
    const server = await testServer({ anonKey: 'sb_publishable_1', serviceKey: 'sb_secret_2' });
    expect(await roleOf(server, null, 'sb_publishable_1')).toBe('anon');
    expect(server.calls.at(-1)?.caller.claims).toBe('{"role":"anon"}');
    expect(await roleOf(server, 'sb_secret_2', 'sb_secret_2')).toBe('service_role');
    expect(await roleOf(server, 'sb_publishable_1', 'sb_secret_2')).toBe('anon');
    expect(await roleOf(server, null, 'sb_secret_3')).toBe('401 Invalid API key');
    expect(await roleOf(server, await token(user), 'sb_publishable_1')).toBe('authenticated');
  });

  test('where a key is configured for a role, other tokens of that role are no keys any more', async () => {
    const server = await testServer({ anonKey: 'sb_publishable_1' });
    expect(await roleOf(server, null, anonKey)).toBe('401 Invalid API key');
    expect(await roleOf(server, null, serviceKey)).toBe('service_role');
  });

  test('the API key may be left out where it is not required, but one that is sent must be right', async () => {
    const server = await testServer({ requireApiKey: false });
    expect(await roleOf(server, null, null)).toBe('anon');
    expect(await roleOf(server, await token(user), null)).toBe('authenticated');
    expect(await roleOf(server, null, 'wrong')).toBe('401 Invalid API key');
  });

  test('the API key is exempt from audience and issuer', async () => {
    const server = await testServer({ jwtAud: ['authenticated'], jwtIssuer: 'https://auth.test' });
    expect(await roleOf(server, anonKey)).toBe('anon');
  });

  test('the API key follows the configured role names', async () => {
    const server = await testServer({ anonRole: 'web_anon', allowedRoles: ['web_anon', 'authenticated'] });
    expect(await roleOf(server, null, anonKey)).toBe('401 Invalid API key');
    expect(await roleOf(server, null, await token({ role: 'web_anon' }))).toBe('web_anon');
  });
});

describe('the token', () => {
  test("the token decides the role, and its payload arrives as the database's claims, unchanged", async () => {
    const server = await testServer();
    const payload = '{"sub":"u1", "role":"authenticated","big":12345678901234567890,"text":"ü"}';
    const head = Buffer.from('{"alg":"HS256"}').toString('base64url');
    const { createHmac } = await import('node:crypto');
    const signed = `${head}.${Buffer.from(payload).toString('base64url')}`;
    const bearer = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    expect(await roleOf(server, bearer)).toBe('authenticated');
    expect(server.calls.at(-1)?.caller.claims).toBe(payload);
  });

  test('the token is refused when it has expired, with 30 seconds of leeway', async () => {
    const server = await testServer();
    expect(await roleOf(server, await token({ ...user, exp: seconds() - 20 }))).toBe('authenticated');
    expect(await roleOf(server, await token({ ...user, exp: seconds() - 40 }))).toBe('401 The token has expired.');
  });

  test('the token is remembered no longer than it is valid', async () => {
    let now = Date.now();
    const server = await testServer({}, { clock: { now: () => now } });
    const bearer = await token({ ...user, exp: Math.floor(now / 1000) + 60 });
    expect(await roleOf(server, bearer)).toBe('authenticated');
    now += 85_000;
    expect(await roleOf(server, bearer)).toBe('authenticated');
    now += 10_000;
    expect(await roleOf(server, bearer)).toBe('401 The token has expired.');
  });

  test('the token is refused before its time, with leeway', async () => {
    const server = await testServer();
    expect(await roleOf(server, await token({ ...user, nbf: seconds() + 20 }))).toBe('authenticated');
    expect(await roleOf(server, await token({ ...user, nbf: seconds() + 60 }))).toBe(
      '401 The token\'s claim "nbf" is not accepted.',
    );
  });

  test('the token needs no expiry', async () => {
    expect(await roleOf(await testServer(), await token(user))).toBe('authenticated');
  });

  test.each([
    ['no token at all', async () => ''],
    ['nonsense', async () => 'a.b.c'],
    ['two parts', async () => (await token(user)).split('.').slice(0, 2).join('.')],
    ['a wrong signature', async () => token(user, otherSecret)],
    ['a changed payload', async () => swapPayload(await token(user), { ...user, role: 'service_role' })],
    ['alg none', async () => new UnsecuredJWT(user).encode()],
    ['alg NONE', async () => `${encode({ alg: 'NONE' })}.${encode(user)}.`],
    [
      'alg HS512 with the secret',
      () => new SignJWT(user).setProtectedHeader({ alg: 'HS512' }).sign(new TextEncoder().encode(secret)),
    ],
    ['an unknown critical header', async () => swapHeader(await token(user), { alg: 'HS256', crit: ['x'], x: 1 })],
  ])('%s is refused', async (_what, make) => {
    expect(await roleOf(await testServer(), await make())).toBe(unverified);
  });

  test('"Bearer" may be written in any case; other schemes are not ours and are ignored', async () => {
    const server = await testServer();
    const send = async (authorization: string) => {
      const reply = await server.send({ headers: { authorization }, body: operation('{ hello }') });
      return reply.status === 200 ? server.calls.at(-1)?.caller.role : reply.status;
    };
    expect(await send(`bearer ${await token(user)}`)).toBe('authenticated');
    expect(await send(`BEARER   ${await token(user)}`)).toBe('authenticated');
    expect(await send('Basic dXNlcjpwYXNz')).toBe('anon');
    expect(await send('Bearer')).toBe(401);
    // Of whatever stands in front of the gateway, too.
    expect(await send('a.secret')).toBe('anon');
  });

  test('without "Bearer" is refused, not taken for nobody', async () => {
    const server = await testServer();
    const reply = await server.send({ headers: { authorization: await token(user) }, body: operation('{ hello }') });
    expect(reply.status).toBe(401);
    expect(reply.json()).toMatchObject({
      hint: 'Send the header Authorization as: Bearer TOKEN',
      errors: [{ message: 'The header Authorization has a token without "Bearer" before it.' }],
    });
    expect(server.calls).toEqual([]);
  });

  test('the token must be for the required audience and from the required issuer', async () => {
    const server = await testServer({ jwtAud: ['api', 'app'], jwtIssuer: 'https://auth.test' });
    const good = { ...user, aud: ['app'], iss: 'https://auth.test' };
    expect(await roleOf(server, await token(good))).toBe('authenticated');
    expect(await roleOf(server, await token({ ...good, aud: 'other' }))).toBe(
      '401 The token\'s claim "aud" is not accepted.',
    );
    expect(await roleOf(server, await token(user))).toMatch(/^401/);
    expect(await roleOf(server, await token({ ...good, iss: 'https://evil.test' }))).toBe(
      '401 The token\'s claim "iss" is not accepted.',
    );
  });
});

describe('the role claim', () => {
  test('missing or null is the anon role', async () => {
    const server = await testServer();
    expect(await roleOf(server, await token({ sub: 'x' }))).toBe('anon');
    expect(await roleOf(server, await token({ sub: 'x', role: null }))).toBe('anon');
  });

  test.each([
    ['', ''],
    ['none', 'none'],
    ['a list', ['anon']],
    ['a number', 7],
  ])('%s is no role', async (_what, role) => {
    for (const allowedRoles of ['*', ['anon', '', 'none']] as const) {
      const server = await testServer({ allowedRoles });
      expect(await roleOf(server, await token({ sub: 'x', role }))).toBe(
        '403 The token\'s claim "role" does not contain a role name.',
      );
    }
  });

  test('that is not allowed is 403 ROLE_NOT_ALLOWED', async () => {
    const server = await testServer();
    const reply = await ask(server, await token({ sub: 'x', role: 'postgres' }));
    expect(reply.status).toBe(403);
    expect(reply.json().errors?.[0]).toMatchObject({
      message: 'The token\'s role "postgres" is not allowed here.',
      extensions: { code: 'ROLE_NOT_ALLOWED' },
    });
  });

  test('the role claim may be any role where the configuration says *', async () => {
    expect(await roleOf(await testServer({ allowedRoles: '*' }), await token({ sub: 'x', role: 'editor' }))).toBe(
      'editor',
    );
  });

  test.each([
    ['app_role', { app_role: 'authenticated', role: 'postgres' }],
    ['https://example.test/role', { 'https://example.test/role': 'authenticated' }],
    ['app_metadata.role', { app_metadata: { role: 'authenticated' } }],
    ['.app_metadata.role', { app_metadata: { role: 'authenticated' } }],
    [
      'https://hasura.io/jwt/claims.x-hasura-default-role',
      { 'https://hasura.io/jwt/claims': { 'x-hasura-default-role': 'authenticated' } },
    ],
    ['a.b.c', { a: { b: { c: 'postgres' }, 'b.c': 'authenticated' } }],
  ])('the role claim may be called %s', async (jwtRoleClaim, claims) => {
    expect(await roleOf(await testServer({ jwtRoleClaim }), await token({ sub: 'x', ...claims }))).toBe(
      'authenticated',
    );
  });

  test('the role claim is never taken from what every object inherits', async () => {
    const server = await testServer({ jwtRoleClaim: 'constructor.name', allowedRoles: '*' });
    expect(await roleOf(server, await token({ sub: 'x' }))).toBe('anon');
  });
});

describe('asymmetric keys', () => {
  test.each(['RS256', 'ES256', 'EdDSA'])('%s tokens verify against the configured key', async (alg) => {
    const { sign, jwk } = await keyPair(alg, 'k1');
    const server = await testServer({ jwks: [jwk] });
    expect(await roleOf(server, await sign(user))).toBe('authenticated');
    const stranger = await keyPair(alg, 'k1');
    expect(await roleOf(server, await stranger.sign(user))).toBe(unverified);
  });

  test('HS256 signed with the text of the public key is refused', async () => {
    const { jwk, pem } = await keyPair('RS256', 'k1');
    const server = await testServer({ jwks: [jwk] });
    for (const text of [pem, pem.trim(), JSON.stringify(jwk), String(jwk.n)]) {
      const forged = new SignJWT(user).setProtectedHeader({ alg: 'HS256', kid: 'k1' });
      expect(await roleOf(server, await forged.sign(new TextEncoder().encode(text)))).toBe(unverified);
      expect(await roleOf(server, await token(user, text))).toBe(unverified);
    }
  });

  test('a key is pinned to its algorithm', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
    const { importPKCS8 } = await import('jose');
    const other = await importPKCS8(await exportPKCS8(privateKey), 'PS256');
    const jwk = { ...(await exportJWK(publicKey)), alg: 'RS256', kid: 'k1' } as JsonWebKeyMember;
    const server = await testServer({ jwks: [jwk] });
    const bearer = await new SignJWT(user).setProtectedHeader({ alg: 'PS256', kid: 'k1' }).sign(other);
    expect(await roleOf(server, bearer)).toBe(unverified);
  });

  test('a kid that names a key uses that key only; an unknown kid uses none of them', async () => {
    const first = await keyPair('ES256', 'first');
    const second = await keyPair('ES256', 'second');
    const server = await testServer({ jwks: [first.jwk, second.jwk] });
    expect(await roleOf(server, await second.sign(user))).toBe('authenticated');
    expect(await roleOf(server, await second.sign(user, { kid: 'first' }))).toBe(unverified);
    expect(await roleOf(server, await second.sign(user, { kid: 'third' }))).toBe(unverified);
    expect(await roleOf(server, await second.sign(user, { kid: undefined }))).toBe('authenticated');
  });

  test('an HS256 token with a foreign kid still verifies against the secret', async () => {
    const { jwk } = await keyPair('ES256', 'k1');
    const bearer = await new SignJWT(user)
      .setProtectedHeader({ alg: 'HS256', kid: 'old' })
      .sign(new TextEncoder().encode(secret));
    expect(await roleOf(await testServer({ jwks: [jwk] }), bearer)).toBe('authenticated');
  });

  test('own keys sign API keys, keys for verification only do not', async () => {
    const own = await keyPair('ES256', 'own');
    const foreign = await keyPair('ES256', 'foreign');
    const config: Partial<Config> = { jwtSecret: null, jwtKeys: [own.privateJwk], jwks: [foreign.jwk] };
    const server = await testServer(config);
    expect(await roleOf(server, null, await own.sign({ role: 'anon' }))).toBe('anon');
    expect(await roleOf(server, null, await foreign.sign({ role: 'service_role' }))).toBe('401 Invalid API key');
    expect(await roleOf(server, await foreign.sign(user), await own.sign({ role: 'anon' }))).toBe('authenticated');
  });
});

describe('keys of a URL', () => {
  async function keyServer(
    answer: () => { status: number; body: string },
  ): Promise<{ url: string; requests: () => number }> {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      const { status, body } = answer();
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`, requests: () => requests };
  }

  test('keys of a URL are fetched once, and again for an unknown kid, but not for every one', async () => {
    const { sign, jwk } = await keyPair('RS256', 'k1');
    const { alg: _alg, ...bare } = jwk;
    const { url, requests } = await keyServer(() => ({ status: 200, body: JSON.stringify({ keys: [bare] }) }));
    const server = await testServer({ jwksUrl: url });
    for (let n = 0; n < 5; n += 1) expect(await roleOf(server, await sign({ ...user, n }))).toBe('authenticated');
    expect(requests()).toBe(1);
    for (const kid of ['a', 'b', 'c']) expect(await roleOf(server, await sign(user, { kid }))).toBe(unverified);
    expect(requests()).toBe(1);
  });

  test('never serve for HS256 or none, and are not even asked', async () => {
    const oct = { kty: 'oct', k: Buffer.from('public'.repeat(8)).toString('base64url'), kid: 'k1', alg: 'HS256' };
    const { url, requests } = await keyServer(() => ({ status: 200, body: JSON.stringify({ keys: [oct] }) }));
    const server = await testServer({ jwksUrl: url });
    expect(await roleOf(server, await token(user, 'public'.repeat(8)))).toBe(unverified);
    expect(requests()).toBe(0);
  });

  test('that cannot be loaded are 503, and the URL is left in peace for a while', async () => {
    const { sign } = await keyPair('RS256', 'k1');
    const { url, requests } = await keyServer(() => ({ status: 500, body: 'down' }));
    const server = await testServer({ jwksUrl: url });
    for (let n = 0; n < 3; n += 1) {
      expect(await roleOf(server, await sign({ ...user, n }))).toBe(
        '503 The keys that verify tokens cannot be loaded. Try again.',
      );
    }
    expect(requests()).toBe(1);
    expect(server.observations.flatMap((one) => (one.kind === 'warning' ? [one.message] : []))).toEqual([
      'The keys of --jwks-url cannot be loaded: the address answers 500.',
    ]);
    expect(await roleOf(server, null)).toBe('anon');
    expect(await roleOf(server, await token(user))).toBe('authenticated');
  });
});

describe('what the database learns of the request', () => {
  test('headers in lower case without credentials, method and path', async () => {
    const server = await testServer();
    await server.send({
      headers: { authorization: `Bearer ${await token(user)}`, cookie: 'a=b', 'X-Custom': 'Ünïcode' },
      body: operation('{ hello }'),
    });
    const caller = server.calls[0]?.caller;
    const headers = JSON.parse(caller?.headers ?? '{}') as Record<string, string>;
    expect(headers['x-custom']).toBeDefined();
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['authorization']));
    for (const secretHeader of ['authorization', 'apikey', 'cookie']) expect(headers).not.toHaveProperty(secretHeader);
    expect([caller?.method, caller?.path]).toEqual(['POST', '/graphql/v1']);
  });

  test('the service role is free of limits unless the configuration limits it; hints are for it and for local projects', async () => {
    const context = async (config: Partial<Config>, key: string) => {
      const server = await testServer(config);
      await ask(server, null, key);
      const { unlimited, showHints } = server.calls[0]?.context ?? {};
      return { unlimited, showHints };
    };
    const { limits } = (await import('../support/http.ts')).testConfig();
    expect(await context({}, anonKey)).toEqual({ unlimited: false, showHints: false });
    expect(await context({}, serviceKey)).toEqual({ unlimited: true, showHints: true });
    expect(await context({ localProject: true }, anonKey)).toEqual({ unlimited: false, showHints: true });
    expect(await context({ limits: { ...limits, limitServiceRole: true } }, serviceKey)).toMatchObject({
      unlimited: false,
    });
  });
});

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function swapPayload(jwt: string, payload: object): string {
  const [header, , signature] = jwt.split('.');
  return [header, encode(payload), signature].join('.');
}

function swapHeader(jwt: string, header: object): string {
  const [, payload, signature] = jwt.split('.');
  return [encode(header), payload, signature].join('.');
}
