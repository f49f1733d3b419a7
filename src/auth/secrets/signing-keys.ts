/**
 * The key that signs access tokens, and the public keys that verify them.
 *
 * The configured key whose `key_ops` has `sign` signs. Without one, the project's secret does (HS256).
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { importJWK, type JWK, SignJWT } from 'jose';
import type { Config } from '../../config/config.ts';
import type { JsonWebKeyMember } from '../../config/json-web-keys.ts';
import { findSigningKey, toPublicKey } from '../../config/keys.ts';

/** Signs claims. */
export interface TokenSigner {
  readonly algorithm: string;
  /** @param claims Complete: nothing is added. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
}

/** @throws Error if there is neither a signing key nor a secret, or a key is malformed. */
export async function createTokenSigner(config: Pick<Config, 'jwtSecret' | 'jwtKeys'>): Promise<TokenSigner> {
  const jwk = findSigningKey(config.jwtKeys);
  if (jwk === null && config.jwtSecret === null) {
    throw new Error('No key signs tokens: give --jwt-secret, or a key with `sign` in key_ops in --jwt-keys.');
  }
  if (jwk === null) return secretSigner(createSecretKey(config.jwtSecret ?? '', 'utf8'));
  const algorithm = jwk.alg ?? 'HS256';
  const key = await importJWK({ ...jwk, key_ops: ['sign'] } as JWK, algorithm);
  const header = { alg: algorithm, typ: 'JWT', ...(jwk.kid === undefined ? {} : { kid: jwk.kid }) };
  return { algorithm, sign: (claims) => new SignJWT({ ...claims }).setProtectedHeader(header).sign(key) };
}

/** Signs on this thread: a digest of a few hundred bytes takes a tenth of the time of handing it to another thread. */
function secretSigner(secret: KeyObject): TokenSigner {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');
  return {
    algorithm: 'HS256',
    async sign(claims) {
      const content = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
      return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
    },
  };
}

/** The public part of all asymmetric keys, as `/.well-known/jwks.json` shows it; empty if a secret signs. */
export function publicKeySet(keys: readonly JsonWebKeyMember[]): { readonly keys: readonly JsonWebKeyMember[] } {
  const asymmetric = keys.filter(({ kty }) => kty !== 'oct');
  return { keys: asymmetric.map((key) => ({ ...withoutPrivateParts(toPublicKey(key)), use: 'sig' })) };
}

/** Copies only the members that a verifier needs, so that no other member is published. */
function withoutPrivateParts(key: JsonWebKeyMember): JsonWebKeyMember {
  const members = ['kty', 'kid', 'alg', 'crv', 'x', 'y', 'n', 'e', 'key_ops'];
  return Object.fromEntries(Object.entries(key).filter(([member]) => members.includes(member))) as JsonWebKeyMember;
}
