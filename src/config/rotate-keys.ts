/**
 * The life of signing keys in `--jwt-keys`: a standby key verifies and does not sign yet, one key signs, and the keys
 * before it verify what they have signed. The order says which is which: standby keys stand before the one that signs.
 */
import { randomUUID } from 'node:crypto';
import { lastTokenEnds } from './auth/token-seconds.ts';
import { isSigner, type JsonWebKeyMember } from './json-web-keys.ts';
import { findSigningKey, makeSecret, makeSigningKey, toPublicKey } from './keys.ts';

/** Keys, the one that signs first or behind its standby. */
export type SigningKeys = readonly JsonWebKeyMember[];

/** An HS256 secret as a key. Without a `kid`, as the tokens that it has signed. */
export function secretKey(secret: string): JsonWebKeyMember {
  return { kty: 'oct', alg: 'HS256', k: Buffer.from(secret).toString('base64url'), key_ops: ['sign', 'verify'] };
}

/** Adds a key that verifies and does not sign yet: of the kind of the present one, or ES256. */
export async function addStandby(keys: SigningKeys, isAsymmetric: boolean): Promise<SigningKeys> {
  const isSecret = findSigningKey(keys)?.kty === 'oct' && !isAsymmetric;
  const made = isSecret ? { ...secretKey(makeSecret()), kid: randomUUID(), use: 'sig' } : await makeSigningKey();
  return [{ ...made, key_ops: ['verify'] }, ...keys];
}

/** Whether a key waits to sign. */
export function hasStandby(keys: SigningKeys): boolean {
  const [first] = keys;
  return first !== undefined && !isSigner(first) && canSign(first) && findSigningKey(keys) !== null;
}

/** Lets the standby key sign; the one before verifies from now on, loses its private part, and keeps when that was. */
export function promoteStandby([standby, ...others]: SigningKeys): SigningKeys {
  if (standby === undefined) return others;
  const now = new Date().toISOString();
  return [
    { ...standby, key_ops: ['sign', 'verify'] },
    ...others.map((key) => (isSigner(key) ? { ...toPublicKey(key), signed_until: now } : key)),
  ];
}

/** When another key was told to sign instead, in milliseconds since the epoch; null: unknown. */
export function signedUntil({ signed_until: text }: JsonWebKeyMember): number | null {
  const at = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/**
 * When the last access token that a key has signed expires, in milliseconds since the epoch; null: unknown.
 *
 * @param seconds Lifetime of access tokens.
 */
export function tokensEnd(key: JsonWebKeyMember, seconds: number): number | null {
  const at = signedUntil(key);
  return at === null ? null : lastTokenEnds(at, seconds);
}

/** Removes the keys that only verify what they have signed. */
export function retireOld(keys: SigningKeys): SigningKeys {
  return keys.slice(0, keys.findIndex(isSigner) + 1);
}

function canSign({ d, k }: JsonWebKeyMember): boolean {
  return typeof (d ?? k) === 'string';
}
