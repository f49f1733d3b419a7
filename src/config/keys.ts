/**
 * Makes signing secrets, signing keys and API keys. Works offline.
 *
 * API keys signed by a secret are always the same text, because their times are fixed: they can be made again wherever
 * the secret is known, and need not be stored. ECDSA signatures are random, so API keys of an ES256 pair differ each
 * time.
 */
import { createPrivateKey, generateKeyPairSync, hkdfSync, randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT } from 'jose';
import type { Config } from './config.ts';
import type { JsonWebKeyMember } from './json-web-keys.ts';
import { isSigner } from './json-web-keys.ts';

/** Issuer of our API keys. */
const keyIssuer = 'pgreflect';

// 2025-01-01 and 2100-01-01, in seconds. Fixed, see the header.
const issuedAtSeconds = 1_735_689_600;
const expiresAtSeconds = 4_102_444_800;

/** A signing key: an HS256 secret, or a private JSON Web Key with `alg`. */
export type Signer = string | JsonWebKeyMember;

/** The two API keys of a project. */
export interface ApiKeys {
  readonly anonKey: string;
  readonly serviceKey: string;
}

/** A new HS256 secret: 43 letters, digits, `-` and `_`, 256 random bits. */
export function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A new ES256 private key, marked for signing, with its thumbprint as `kid`. */
export async function makeSigningKey(): Promise<JsonWebKeyMember> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = privateKey.export({ format: 'jwk' }) as { kty: 'EC'; crv: string; x: string; y: string; d: string };
  const kid = await calculateJwkThumbprint(jwk);
  return { ...jwk, kid, alg: 'ES256', use: 'sig', key_ops: ['sign', 'verify'] };
}

/** The key that signs; null for none. */
export function findSigningKey(keys: readonly JsonWebKeyMember[]): JsonWebKeyMember | null {
  return keys.find(isSigner) ?? null;
}

/**
 * A 32-byte key for one purpose, the same in every process of a project. Derived from the signing key, so it changes
 * with that; without one, from the admin login's connection string.
 */
export function deriveKey(
  { jwtKeys, jwtSecret, adminDatabaseUrl }: Pick<Config, 'jwtKeys' | 'jwtSecret' | 'adminDatabaseUrl'>,
  purpose: string,
): Buffer {
  const signing = findSigningKey(jwtKeys);
  const secret = signing === null ? (jwtSecret ?? adminDatabaseUrl) : String(signing.d ?? signing.k);
  return Buffer.from(hkdfSync('sha256', secret, '', `pgreflect ${purpose}`, 32));
}

/** The same of the present key, then of all others that sign or have signed: for reading what was made with one. */
export function deriveKeys(config: Parameters<typeof deriveKey>[0], purpose: string): readonly [Buffer, ...Buffer[]] {
  const { jwtKeys, jwtSecret, adminDatabaseUrl } = config;
  const others = jwtKeys.filter((key) => typeof (key.d ?? key.k) === 'string' && !isSigner(key));
  const ofOthers = others.map((key) =>
    deriveKey({ jwtKeys: [{ ...key, key_ops: ['sign'] }], jwtSecret: null, adminDatabaseUrl }, purpose),
  );
  const ofSecret = jwtSecret === null ? [] : [deriveKey({ jwtKeys: [], jwtSecret, adminDatabaseUrl }, purpose)];
  return [deriveKey(config, purpose), ...ofOthers, ...ofSecret];
}

/** The public part of a private key. */
export function toPublicKey(key: JsonWebKeyMember): JsonWebKeyMember {
  const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...rest } = key;
  return { ...rest, key_ops: ['verify'] } as JsonWebKeyMember;
}

/** Signs an API key of each of the two roles. */
export async function makeApiKeys(signer: Signer, anonRole: string, serviceRole: string): Promise<ApiKeys> {
  return { anonKey: await makeApiKey(signer, anonRole), serviceKey: await makeApiKey(signer, serviceRole) };
}

/** A token with the role and without `sub`: it identifies no user. */
export async function makeApiKey(signer: Signer, role: string): Promise<string> {
  const token = new SignJWT({ role, iss: keyIssuer, iat: issuedAtSeconds, exp: expiresAtSeconds });
  const key =
    typeof signer === 'string' ? { kty: 'oct', alg: 'HS256', k: Buffer.from(signer).toString('base64url') } : signer;
  const { alg = 'ES256', kid } = key as JsonWebKeyMember;
  return token.setProtectedHeader({ alg, ...(kid !== undefined && { kid }), typ: 'JWT' }).sign(signingKey(key));
}

function signingKey(key: JsonWebKeyMember) {
  if (key.kty === 'oct') return Buffer.from(String(key.k), 'base64url');
  return createPrivateKey({ key: key as never, format: 'jwk' });
}
