/** Sign-out: ends sessions of the user, with their refresh tokens. */
import { AuthError } from '../model/auth-error.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { type AuthContext, transact } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { endLinking } from '../store/flows.ts';
import { endChanges } from '../store/one-time-tokens.ts';
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
      // Lock the user before any session, as every request that ends several sessions does. Otherwise two could
      // deadlock.
      lockUser(database, user.id),
      auditUser(database, 'logout', user),
      endSessions(database, user.id, scope, session?.id ?? null),
      // Pending linking at a provider ends, too.
      endLinking(database, user.id),
      // So do changes of address and number: people sign out everywhere because they fear a thief.
      ...(scope === 'local' ? [] : [endChanges(database, user.id)]),
    ]),
  );
}
