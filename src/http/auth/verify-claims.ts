/**
 * The Bearer token of a request to the auth service -> its claims. Clients send their API key as well where they have no
 * token, and an opaque key stands for a token of its role.
 *
 * Only tokens of our own keys count: whoever signs with a further key may say who asks at the GraphQL API, but must not be
 * an admin here, nor one of our users.
 */
import type { VerifyClaims } from '../../auth/bearer.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../shared/clock.ts';
import { findKey, refuseWithdrawnKey } from '../server/authenticate.ts';
import { createTokenVerifier } from '../server/verify-token.ts';

/** Imports the keys. Rejects where one is malformed. */
export async function createClaimsVerifier(options: Config, clock: Clock): Promise<VerifyClaims> {
  const verify = await createTokenVerifier({ ...options, jwks: [], jwksUrl: null }, clock);
  return async (token) => {
    const key = await findKey(token, { options, verify, clock });
    if (key !== null) return JSON.parse(key.identity.claims);
    const verified = await verify(token, { ownKeysOnly: true, checkAudience: true });
    refuseWithdrawnKey(verified, options);
    return verified.claims;
  };
}
