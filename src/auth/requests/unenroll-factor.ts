/**
 * The end of a second factor. Sessions that it had raised fall back; tokens that were issued before say so at their next
 * refresh.
 */

import { lockAsking } from '../accounts/lock-asking.ts';
import { type AnswerJson, answerShape, uuid } from '../answer-shape.ts';
import { AuthError } from '../auth-error.ts';
import type { UserBearer } from '../bearer.ts';
import { queueNotification } from '../messages/queue-notification.ts';
import { type AuthContext, nowOf, transact } from '../steps/auth-context.ts';
import { assertFactorBearer, requireFactor, writeFactorAudit } from '../steps/own-factor.ts';
import { userActor } from '../store/audit.ts';
import { deleteFactor } from '../store/factors.ts';
import { lowerSessions } from '../store/sessions.ts';
import type { Factor } from '../user.ts';

/** The answer. */
export const unenrolledShape = answerShape<Factor>('AuthUnenrolledFactor', { id: uuid(({ id }) => id) });

/** `DELETE /factors/{id}`. */
export async function unenrollFactor(context: AuthContext, bearer: UserBearer, factorId: string): Promise<AnswerJson> {
  const asking = assertFactorBearer(bearer);
  requireFactor(asking.user, factorId);
  const removed = await transact(context, [], async (session) => {
    // The level is read under the lock: the factor that gave it may just have been removed.
    const { user, session: own } = await lockAsking(session, asking);
    const factor = requireFactor(user, factorId);
    if (factor.status === 'verified' && own.aal === 'aal1') {
      throw new AuthError('insufficient_aal', 'AAL2 required to unenroll verified factor', { status: 422 });
    }
    const traits = { factor_id: factor.id, factor_status: factor.status, session_id: own.id };
    await Promise.all([
      deleteFactor(session, factor.id),
      lowerSessions(session, factor.id, nowOf(context)),
      writeFactorAudit(session, context, { action: 'factor_unenrolled', actor: userActor(user), traits }),
    ]);
    if (factor.status === 'verified') {
      await queueNotification(session, context, { kind: 'mfa_factor_unenrolled', user, factorType: factor.factorType });
    }
    return factor;
  });
  return unenrolledShape.toJson(removed);
}
