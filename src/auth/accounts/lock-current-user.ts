/**
 * Who asks for a change of themselves, as they are now: between the look at the token and the lock on the user the session may
 * have been ended, because it was stolen, or a second factor may have come into use.
 */

import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import type { Session } from '../session.ts';
import type { AuthContext } from '../steps/auth-context.ts';
import { loadSession } from '../store/sessions.ts';
import { lockKnownUser } from '../store/users.ts';
import { lacksSecondFactor, type User } from '../user.ts';

/** A user, and the session of their token; null for a token that names none. */
export interface CurrentUser<S extends Session | null> {
  readonly user: User;
  readonly session: S;
}

/**
 * Locks the user for this transaction, and reads both anew. Whoever ends the session has the same lock.
 *
 * @throws AuthError `conflict` where the user has just been deleted, `session_not_found` where the session has just been ended.
 */
export async function lockCurrentUser<S extends Session | null>(
  database: Queryable,
  { user, session }: CurrentUser<S>,
): Promise<CurrentUser<S>> {
  const [now, own] = await Promise.all([
    lockKnownUser(database, user),
    session === null ? null : loadSession(database, session.id),
  ]);
  if (session !== null && own === null) throw new AuthError('session_not_found');
  return { user: now, session: own as S };
}

/** @throws AuthError `manual_linking_disabled` */
export function assertManualLinking({ config }: AuthContext): void {
  if (!config.security_manual_linking_enabled) throw new AuthError('manual_linking_disabled');
}

/** An identity outlives the next password, so it takes the second factor that a new password takes. @throws AuthError `insufficient_aal` */
export function assertMayLink<A extends CurrentUser<Session | null>>(asking: A): A {
  const { user, session } = asking;
  if (!lacksSecondFactor(user, session)) return asking;
  const message = 'AAL2 session is required to link or unlink an identity when MFA is enabled.';
  throw new AuthError('insufficient_aal', message);
}
