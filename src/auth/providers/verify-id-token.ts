/**
 * The ID token of a provider -> its claims, once signature, issuer and times are right. To whom it was issued is for the
 * caller to decide.
 */
import { createHash } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { algorithms } from '../../config/json-web-keys.ts';
import { sameText } from '../secrets/one-time-code.ts';
import type { Time } from '../times.ts';
import type { Issuer } from './issuers.ts';
import type { Claims } from './plain-provider.ts';
import { ProviderError } from './provider-error.ts';

/** Keys that only the provider has. With a shared secret whoever checks a token could make one. */
const publicAlgorithms = algorithms.filter((name) => !name.startsWith('HS'));

/** By how much the clock of a provider may differ from ours, in seconds. */
export const clockToleranceSeconds = 30;

/**
 * The claims.
 *
 * @param given The token, who must have issued it, and the access token that came with it; null for none.
 * @throws ProviderError `refused`
 */
export async function verifyIdToken(
  { keys }: Issuer,
  given: { readonly idToken: string; readonly issuer: string; readonly accessToken: string | null },
  now: Time,
): Promise<Claims> {
  try {
    const { payload } = await jwtVerify(given.idToken, keys, {
      ...{ issuer: given.issuer, algorithms: publicAlgorithms, requiredClaims: ['exp', 'iat'] },
      ...{ clockTolerance: clockToleranceSeconds, currentDate: new Date(now) },
    });
    const iat = payload.iat ?? 0;
    if (iat > now / 1000 + clockToleranceSeconds) throw new Error('The token is from the future.');
    if (given.accessToken) assertAccessToken(payload, given.idToken, given.accessToken);
    return payload;
  } catch (error) {
    throw new ProviderError('refused', error);
  }
}

/** A hash in the token is the first half of the digest that goes with the signature's algorithm. */
function assertAccessToken({ at_hash: expected }: Claims, idToken: string, accessToken: string): void {
  if (expected === undefined) return;
  const { alg = '' } = decodeProtectedHeader(idToken);
  const bits = /\d+$/.exec(alg)?.[0] ?? '512';
  const digest = createHash(alg === 'Ed25519' ? 'sha512' : `sha${bits}`)
    .update(accessToken)
    .digest();
  const computed = digest.subarray(0, digest.length / 2).toString('base64url');
  if (typeof expected !== 'string' || !sameText(computed, expected))
    throw new Error('The access token is another one.');
}
