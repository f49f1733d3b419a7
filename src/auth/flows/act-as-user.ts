/**
 * A token with which an operator sees what a user sees: the studio's. It belongs to no session, so nothing of the user changes,
 * and it cannot be refreshed.
 */
import { AuthError } from '../auth-error.ts';
import { nilUuid } from '../tools.ts';
import { loadUser } from '../users.ts';
import { type Flow, nowOf } from './flow.ts';
import { completeSignIn } from './issue-session.ts';

/** The token. */
export interface OperatorToken {
  readonly accessToken: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** @throws AuthError `user_not_found`, or what the hook `custom_access_token` refused or failed with. */
export async function actAsUser(flow: Flow, userId: string): Promise<OperatorToken> {
  const { services } = flow;
  const user = await loadUser(services.database, userId);
  if (user === null) throw new AuthError('user_not_found');
  const now = nowOf(flow);
  const none = { refreshedAt: null, notAfter: null, factorId: null, userAgent: null, ip: null, tag: null };
  // What every reader of tokens takes for no session.
  const session = { ...none, id: nilUuid, userId, createdAt: now, aal: 'aal1', amr: [{ method, at: now }] } as const;
  const { claims } = await completeSignIn(null, flow, { session, refreshToken: '', user }, method);
  return { accessToken: await services.signer.sign(claims), expiresAt: claims.exp };
}

/** In the claim `amr`. */
const method = 'operator';
