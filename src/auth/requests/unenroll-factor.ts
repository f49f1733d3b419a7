/**
 * Removes a second factor. Sessions that it raised lose their level; issued tokens show this after their next refresh.
 */
import { type AnswerJson, from, serializerOf, uuid } from '../../shared/schema.ts';
import { lockCurrentUser } from '../accounts/lock-current-user.ts';
import { notifyUser } from '../messages/notify-user.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Factor } from '../model/user.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { type AuthContext, transact } from '../steps/auth-context.ts';
import { assertFactorBearer, requireFactor } from '../steps/own-factor.ts';
import { auditUser } from '../store/audit.ts';
import { deleteFactor } from '../store/factors.ts';
import { lowerSessions } from '../store/sessions.ts';

/** The answer. */
export const unenrolledSerializer = serializerOf<Factor>('AuthUnenrolledFactor', { id: from(uuid, ({ id }) => id) });

/** `DELETE /factors/{id}`. */
export async function unenrollFactor(context: AuthContext, bearer: UserBearer, factorId: string): Promise<AnswerJson> {
  const asking = assertFactorBearer(bearer);
  requireFactor(asking.user, factorId);
  const removed = await transact(context, [], async (tx) => {
    // Check the level under the lock: the factor behind it may have been removed meanwhile.
    const { user, session: own } = await lockCurrentUser(tx, asking);
    const factor = requireFactor(user, factorId);
    if (factor.status === 'verified' && own.aal === 'aal1') {
      throw new AuthError('insufficient_aal', 'AAL2 required to unenroll verified factor', { status: 422 });
    }
    const traits = { factor_id: factor.id, factor_status: factor.status, session_id: own.id };
    await Promise.all([
      deleteFactor(tx, factor.id),
      lowerSessions(tx, factor.id),
      auditUser(tx, 'factor_unenrolled', user, traits),
    ]);
    if (factor.status === 'verified') {
      await notifyUser(tx, { kind: 'mfa_factor_unenrolled', user, factorType: factor.factorType });
    }
    return factor;
  });
  return unenrolledSerializer.print(removed);
}
