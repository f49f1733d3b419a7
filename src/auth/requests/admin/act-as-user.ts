/**
 * The token with which an operator (the studio) acts as a user. The audit log gets a row that names the operator.
 *
 * The token of a user shows what the user sees. It belongs to no session, so it changes nothing of the user and cannot
 * be refreshed. Its claim `act` (RFC 8693) marks it as the operator's: the auth service lets it only read the user.
 */
import { toSeconds } from '../../../shared/times.ts';
import { nilUuid } from '../../../shared/uuid.ts';
import type { OperatorToken } from '../../answers/operator-token.ts';
import { AuthError } from '../../model/auth-error.ts';
import { assertNoAdmin } from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, transact } from '../../steps/auth-context.ts';
import { completeSignIn } from '../../steps/issue-session.ts';
import { auditOperator, type Operator } from '../../store/audit.ts';
import { loadUser } from '../../store/users.ts';

/** Longest lifetime of the token in seconds, because it cannot be revoked. */
const maxSeconds = 3600;

/** @throws AuthError `user_not_found`, `not_admin`, or the refusal or failure of the hook `custom_access_token`. */
export async function actAsUser(context: AuthContext, operator: Operator, userId: string): Promise<OperatorToken> {
  const { services } = context;
  const user = await loadUser(services.database, userId);
  if (user === null) throw new AuthError('user_not_found');
  assertNoAdmin(context, operator, user);
  const now = nowOf(context);
  const none = { refreshedAt: null, notAfter: null, factorId: null, userAgent: null, ip: null, tag: null };
  // The nil UUID, which every reader of tokens treats as no session.
  const session = { ...none, id: nilUuid, userId, createdAt: now, aal: 'aal1', amr: [{ method, at: now }] } as const;
  const { claims } = await completeSignIn(context, { session, refreshToken: '', user }, method);
  const exp = Math.min(claims.exp, toSeconds(now) + maxSeconds);
  // Set `act` after the hook, which must not remove it.
  const accessToken = await services.signer.sign({ ...claims, exp, act: { sub: operator.tokenId } });
  await transact(context, [], (tx) => auditOperator(tx, 'user_impersonated', operator, { user_id: userId }));
  return { accessToken, expiresAt: exp };
}

/** In the claim `amr`. */
const method = 'operator';
