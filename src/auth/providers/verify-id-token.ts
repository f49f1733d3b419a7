/**
 * The ID token of a provider -> its claims, once signature, issuer and times are right. To whom it was issued is for the
 * caller to decide.
 */
import { createHash } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { sameText } from '../secrets/one-time-code.ts';
import type { Time } from '../times.ts';
import type { Issuer } from './issuers.ts';
import type { Claims } from './plain-provider.ts';
import { ProviderError } from './provider-error.ts';

/** Keys that only the provider has. With a shared secret whoever checks a token could make one. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** By how much the clock of a provider may differ from ours, in seconds. */
export const clockToleranceSeconds = 30;

/** A token to check. */
export interface GivenIdToken {
  readonly idToken: string;
  /** Who must have issued it. */
  readonly issuer: string;
  /** Came with it; null for none. Where the token has a hash of it, it must be this one's. */
  readonly accessToken: string | null;
}

/** The claims. @throws ProviderError `refused` */
export async function verifyIdToken({ keys }: Issuer, given: GivenIdToken, now: Time): Promise<Claims> {
  try {
    const { payload } = await jwtVerify(given.idToken, keys, {
      ...{ issuer: given.issuer, algorithms, requiredClaims: ['exp', 'iat'] },
      ...{ clockTolerance: clockToleranceSeconds, currentDate: new Date(now) },
    });
    const iat = payload.iat ?? 0;
    if (iat > now / 1000 + clockToleranceSeconds) throw new Error('The token is from the future.');
    assertAccessToken(payload, given);
    return payload;
  } catch (error) {
    throw new ProviderError('refused', error);
  }
}

/** The first half of the digest that goes with the signature's algorithm. */
function assertAccessToken({ at_hash: expected }: Claims, { idToken, accessToken }: GivenIdToken): void {
  if (expected === undefined || !accessToken) return;
  const { alg = '' } = decodeProtectedHeader(idToken);
  const bits = /\d+$/.exec(alg)?.[0] ?? '512';
  const digest = createHash(alg === 'Ed25519' ? 'sha512' : `sha${bits}`)
    .update(accessToken)
    .digest();
  const computed = digest.subarray(0, digest.length / 2).toString('base64url');
  if (typeof expected !== 'string' || !sameText(computed, expected))
    throw new Error('The access token is another one.');
}
