/**
 * Verifies the Bearer token of a request and returns its claims. Clients without a token send their API key instead,
 * and an opaque key stands for a token of its role. Only tokens of our own keys count: the holder of a further key may
 * name any caller at the GraphQL API, but must not become an admin or a user here.
 */
import type { Config } from '../../config/config.ts';
import { findKey, refuseWithdrawnKey } from '../../server/caller/authenticate.ts';
import type { VerifyToken } from '../../server/caller/verify-token.ts';
import type { Clock } from '../../shared/clock.ts';
import type { VerifyClaims } from './bearer.ts';

/** @param options Their values may be replaced, together with the keys of `verify`. */
export function createClaimsVerifier(options: Config, verify: VerifyToken, clock: Clock): VerifyClaims {
  return async (token) => {
    const key = await findKey(token, { options, verify, clock });
    if (key !== null) return JSON.parse(key.identity.claims);
    const verified = await verify(token, { ownKeysOnly: true, checkAudience: true });
    refuseWithdrawnKey(verified, options);
    return verified.claims;
  };
}
