/**
 * Who asks for a change of themselves, as they are now: between the look at the token and the lock on the user the session may
 * have been ended, because it was stolen, or a second factor may have come into use.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import type { Session } from '../session.ts';
import { loadSession } from '../store/sessions.ts';
import type { User } from '../user.ts';
import { lockKnownUser } from './lock-known-user.ts';

/** A user, and the session of their token; null for a token that names none. */
export interface Asking<S extends Session | null> {
  readonly user: User;
  readonly session: S;
}

/**
 * Locks the user for this transaction, and reads both anew. Whoever ends the session has the same lock.
 *
 * @throws AuthError `conflict` where the user has just been deleted, `session_not_found` where the session has just been ended.
 */
export async function lockAsking<S extends Session | null>(
  database: Queryable,
  { user, session }: Asking<S>,
): Promise<Asking<S>> {
  const [now, own] = await Promise.all([
    lockKnownUser(database, user),
    session === null ? null : loadSession(database, session.id),
  ]);
  if (session !== null && own === null) throw new AuthError('session_not_found');
  return { user: now, session: own as S };
}
