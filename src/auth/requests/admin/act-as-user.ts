/**
 * What operators do in the name of a user or of the service role: the studio's. Each leaves a row in the audit log that names the
 * operator.
 *
 * The token of a user shows what the user sees. It belongs to no session, so nothing of the user changes and it cannot be refreshed,
 * and its claim `act` (RFC 8693) says that somebody else acts: the auth service lets it read the user, and nothing more.
 */

import { AuthError } from '../../auth-error.ts';
import { type AuthContext, nowOf, transact } from '../../steps/auth-context.ts';
import { completeSignIn } from '../../steps/issue-session.ts';
import { auditOperator, type Operator } from '../../store/audit.ts';
import { endSessions } from '../../store/sessions.ts';
import { loadUser, lockUser } from '../../store/users.ts';
import { toSeconds } from '../../times.ts';
import { nilUuid } from '../../tools.ts';

/** The token. */
export interface OperatorToken {
  readonly accessToken: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

/** Longest life of the token in seconds: nobody can end it before. */
const maxSeconds = 3600;

/** @throws AuthError `user_not_found`, or what the hook `custom_access_token` refused or failed with. */
export async function actAsUser(context: AuthContext, operator: Operator, userId: string): Promise<OperatorToken> {
  const { services } = context;
  const user = await loadUser(services.database, userId);
  if (user === null) throw new AuthError('user_not_found');
  const now = nowOf(context);
  const none = { refreshedAt: null, notAfter: null, factorId: null, userAgent: null, ip: null, tag: null };
  // What every reader of tokens takes for no session.
  const session = { ...none, id: nilUuid, userId, createdAt: now, aal: 'aal1', amr: [{ method, at: now }] } as const;
  const { claims } = await completeSignIn(context, { session, refreshToken: '', user }, method);
  const exp = Math.min(claims.exp, toSeconds(now) + maxSeconds);
  // After the hook, which must not take the mark away.
  const accessToken = await services.signer.sign({ ...claims, exp, act: { sub: operator.tokenId } });
  await transact(context, [], (tx) => auditOperator(tx, 'user_impersonated', operator, { user_id: userId }));
  return { accessToken, expiresAt: exp };
}

/** In the claim `amr`. */
const method = 'operator';

/**
 * The claims of one request as the service role, which the operator sends with their access token: nobody gets a token of the role,
 * so it ends with theirs. Rejects where the row cannot be written.
 */
export async function actAsService(context: AuthContext, operator: Operator, role: string, requestId: string) {
  await transact(context, [], (tx) => auditOperator(tx, 'service_role_used', operator, { request_id: requestId }));
  return { role, act: { sub: operator.tokenId } };
}

/** Ends all sessions of a user. @throws AuthError `user_not_found` */
export async function signOutUser(context: AuthContext, operator: Operator, userId: string): Promise<void> {
  await transact(context, [], async (tx) => {
    if ((await lockUser(tx, userId)) === null) throw new AuthError('user_not_found');
    await endSessions(tx, userId, 'global', null);
    await auditOperator(tx, 'logout', operator, { user_id: userId });
  });
}
