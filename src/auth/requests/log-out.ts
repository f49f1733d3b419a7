/**
 * Sign-out: ends sessions of the user, with their refresh tokens.
 */

import { AuthError } from '../auth-error.ts';
import type { UserBearer } from '../bearer.ts';
import { type AuthContext, transact } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { endLinking } from '../store/flows.ts';
import { endSessions, type LogoutScope } from '../store/sessions.ts';
import { lockUser } from '../store/users.ts';

const scopes = ['global', 'local', 'others'] as const satisfies readonly LogoutScope[];

/** `POST /logout`. @param scopeName Parameter `scope`; null or empty: all sessions. */
export async function logOut(
  context: AuthContext,
  { user, session }: UserBearer,
  scopeName: string | null,
): Promise<void> {
  const scope = scopeName ? scopes.find((name) => name === scopeName) : 'global';
  if (scope === undefined) {
    throw new AuthError('validation_failed', `Unsupported logout scope "${scopeName?.slice(0, 100)}"`);
  }
  await transact(context, [], (database) =>
    Promise.all([
      // Before any session, as all who end several of a user have it: else two of them could wait for each other.
      lockUser(database, user.id),
      auditUser(database, 'logout', user),
      endSessions(database, user.id, scope, session?.id ?? null),
      // What it has under way at a provider ends with it.
      endLinking(database, user.id),
    ]),
  );
}
