/**
 * The key that signs access tokens, and the public keys that others verify them with.
 *
 * The one of the configured keys whose `key_ops` has `sign` signs; without one, the project's secret does (HS256).
 */
import { type CryptoKey, importJWK, type JWK, SignJWT } from 'jose';
import type { Config, JsonWebKeyMember } from '../config/config.ts';
import { findSigningKey, toPublicKey } from '../config/keys.ts';

/** Signs claims. */
export interface TokenSigner {
  readonly algorithm: string;
  /** @param claims Complete: nothing is added. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
}

/** @throws Error where there is neither a key that signs nor a secret, or a key is malformed. */
export async function createTokenSigner(config: Pick<Config, 'jwtSecret' | 'jwtKeys'>): Promise<TokenSigner> {
  const jwk = findSigningKey(config.jwtKeys);
  if (jwk === null && config.jwtSecret === null) {
    throw new Error('No key signs tokens: give --jwt-secret, or a key with `sign` in key_ops in --jwt-keys.');
  }
  const algorithm = jwk?.alg ?? 'HS256';
  const key: CryptoKey | Uint8Array =
    jwk === null
      ? new TextEncoder().encode(config.jwtSecret ?? '')
      : await importJWK({ ...jwk, key_ops: ['sign'] } as JWK, algorithm);
  const header = { alg: algorithm, typ: 'JWT', ...(jwk?.kid === undefined ? {} : { kid: jwk.kid }) };
  return { algorithm, sign: (claims) => new SignJWT({ ...claims }).setProtectedHeader(header).sign(key) };
}

/** The public part of all asymmetric keys, as `/.well-known/jwks.json` shows it; empty where a secret signs. */
export function publicKeySet(keys: readonly JsonWebKeyMember[]): { readonly keys: readonly JsonWebKeyMember[] } {
  const asymmetric = keys.filter(({ kty }) => kty !== 'oct');
  return { keys: asymmetric.map((key) => ({ ...withoutPrivateParts(toPublicKey(key)), use: 'sig' })) };
}

/** What a verifier needs, and no member that somebody may have put beside it. */
function withoutPrivateParts(key: JsonWebKeyMember): JsonWebKeyMember {
  const members = ['kty', 'kid', 'alg', 'crv', 'x', 'y', 'n', 'e', 'key_ops'];
  return Object.fromEntries(Object.entries(key).filter(([member]) => members.includes(member))) as JsonWebKeyMember;
}
