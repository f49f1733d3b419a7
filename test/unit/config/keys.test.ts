import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { parseJsonWebKeys } from '../../../src/config/json-web-keys.ts';
import { findSigningKey, makeApiKeys, makeSecret, makeSigningKey, toPublicKey } from '../../../src/config/keys.ts';

const secret = 'a-secret-of-at-least-thirty-two-characters';

describe('API keys', () => {
  test('the keys of one secret are always the same text', async () => {
    const first = await makeApiKeys(secret, 'anon', 'service_role');
    expect(await makeApiKeys(secret, 'anon', 'service_role')).toEqual(first);
  });

  test('a key names its role and nobody', async () => {
    const { anonKey, serviceKey } = await makeApiKeys(secret, 'guest', 'robot');
    const times = { iat: 1_735_689_600, exp: 4_102_444_800 };
    expect(decodeJwt(anonKey)).toEqual({ role: 'guest', iss: 'pgreflect', ...times });
    expect(decodeJwt(serviceKey)).toEqual({ role: 'robot', iss: 'pgreflect', ...times });
  });

  test('the secret verifies them, with HS256', async () => {
    const { anonKey } = await makeApiKeys(secret, 'anon', 'service_role');
    const { protectedHeader } = await jwtVerify(anonKey, Buffer.from(secret));
    expect(protectedHeader.alg).toBe('HS256');
  });

  test('the public part of a key pair verifies what the private part signed', async () => {
    const key = await makeSigningKey();
    const { serviceKey } = await makeApiKeys(key, 'anon', 'service_role');
    const published = { keys: [toPublicKey(key)] };
    expect(JSON.stringify(published)).not.toContain(String(key.d));
    const { payload } = await jwtVerify(serviceKey, createLocalJWKSet(published as unknown as JSONWebKeySet));
    expect(payload.role).toBe('service_role');
  });

  test('secrets are long and never the same', () => {
    expect(makeSecret()).toMatch(/^[\w-]{43}$/);
    expect(makeSecret()).not.toBe(makeSecret());
  });
});

describe('JSON Web Keys', () => {
  const point = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };

  test('an array, a set and a single key are all read, and each is pinned to one algorithm', () => {
    const pinned = [{ ...point, alg: 'ES256' }];
    expect(parseJsonWebKeys(JSON.stringify([point]))).toEqual(pinned);
    expect(parseJsonWebKeys(JSON.stringify({ keys: [point] }))).toEqual(pinned);
    expect(parseJsonWebKeys(JSON.stringify(point))).toEqual(pinned);
  });

  test('the key with sign in key_ops signs', () => {
    const signer = { ...point, d: 'd', kid: 'now', key_ops: ['sign', 'verify'] };
    const keys = parseJsonWebKeys(JSON.stringify([point, signer]));
    expect(findSigningKey(keys)?.kid).toBe('now');
  });

  test.each([
    ['no JSON', 'secret', 'must be JSON'],
    ['nothing in it', '[]', 'holds no key'],
    [
      'an RSA key that may be used with several algorithms',
      '{"kty":"RSA","n":"n","e":"AQAB"}',
      'does not say which algorithm',
    ],
    ['the algorithm none', '{"kty":"oct","k":"k","alg":"none"}', '"alg" of key 1 must be one of'],
    ['a signing key without its private part', JSON.stringify({ ...point, key_ops: ['sign'] }), 'no private part'],
    [
      'two signing keys',
      JSON.stringify([1, 2].map(() => ({ ...point, d: 'd', key_ops: ['sign'] }))),
      'more than one key',
    ],
    ['a key without its material', '{"kty":"EC","crv":"P-256"}', 'has no "x"'],
    ['an unknown type', '{"kty":"lock"}', 'unknown type'],
  ])('%s is refused', (_name, text, message) => {
    expect(() => parseJsonWebKeys(text)).toThrow(message);
  });
});
