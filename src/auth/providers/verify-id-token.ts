/** Verifies an ID token (signature, issuer, times) and returns its claims. The caller checks the audience. */
import { createHash } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { algorithms } from '../../config/json-web-keys.ts';
import { sameText } from '../../shared/same-text.ts';
import type { Time } from '../../shared/times.ts';
import type { Issuer } from './issuers.ts';
import type { Claims } from './plain-provider.ts';
import { ProviderError } from './provider-error.ts';

/** Public-key algorithms only. With a shared secret, every verifier of a token could also make one. */
const publicAlgorithms = algorithms.filter((name) => !name.startsWith('HS'));

/** Allowed difference between a provider's clock and ours, in seconds. */
const clockToleranceSeconds = 30;

/**
 * The verified claims.
 *
 * @param given The token, its expected issuer, and the access token that came with it; null for none.
 * @throws ProviderError `refused`
 */
export async function verifyIdToken(
  { keys }: Issuer,
  given: { readonly idToken: string; readonly issuer: string; readonly accessToken: string | null },
  now: Time,
): Promise<Claims> {
  try {
    const { payload } = await jwtVerify(given.idToken, keys, {
      issuer: given.issuer,
      algorithms: publicAlgorithms,
      requiredClaims: ['exp', 'iat'],
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(now),
    });
    const iat = payload.iat ?? 0;
    if (iat > now / 1000 + clockToleranceSeconds)
      throw new errors.JWTClaimValidationFailed('from the future', payload, 'iat');
    if (given.accessToken) assertAccessToken(payload, given.idToken, given.accessToken);
    return payload;
  } catch (error) {
    throw new ProviderError('refused', error);
  }
}

/** `at_hash` is the first half of the digest of the signature's algorithm. */
function assertAccessToken(claims: JWTPayload, idToken: string, accessToken: string): void {
  const { at_hash: expected } = claims;
  if (expected === undefined) return;
  const { alg = '' } = decodeProtectedHeader(idToken);
  const bits = /\d{3}$/.exec(alg)?.[0] ?? '512';
  const digest = createHash(alg === 'Ed25519' ? 'sha512' : `sha${bits}`)
    .update(accessToken)
    .digest();
  const computed = digest.subarray(0, digest.length / 2).toString('base64url');
  if (typeof expected !== 'string' || !sameText(computed, expected))
    throw new errors.JWTClaimValidationFailed('of another access token', claims, 'at_hash');
}
