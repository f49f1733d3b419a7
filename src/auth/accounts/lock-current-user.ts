/**
 * Locks the user who asks for a change of their account, and reads user and session again. Since the token was checked,
 * the session may have been ended because it was stolen, or the user may have verified a second factor.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Session } from '../model/session.ts';
import { lacksSecondFactor, type User } from '../model/user.ts';
import type { AuthContext } from '../steps/auth-context.ts';
import { loadSession } from '../store/sessions.ts';
import { lockKnownUser } from '../store/users.ts';

/** A user, and the session of their token; null for a token that names none. */
export interface CurrentUser<S extends Session | null> {
  readonly user: User;
  readonly session: S;
}

/**
 * Locks the user for this transaction, and reads both anew. Requests that end sessions take the same lock.
 *
 * @throws AuthError `conflict` if the user was deleted meanwhile, `session_not_found` if the session was ended
 *   meanwhile.
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

/** Requires the second factor: an identity outlives the next password. @throws AuthError `insufficient_aal` */
export function assertMayLink<A extends CurrentUser<Session | null>>(asking: A): A {
  const { user, session } = asking;
  if (!lacksSecondFactor(user, session)) return asking;
  const message = 'AAL2 session is required to link or unlink an identity when MFA is enabled.';
  throw new AuthError('insufficient_aal', message);
}
