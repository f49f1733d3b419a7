/** Unlinks an identity of a user for an admin, with what the user's own request ends. Supabase Auth has no such request. */

import type { AnswerJson } from '../../../shared/schema.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { notifyOfAdminChange } from '../../messages/notify-user.ts';
import { AuthError } from '../../model/auth-error.ts';
import { requireUser } from '../../steps/admin-user.ts';
import { type AuthContext, transact } from '../../steps/auth-context.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';
import { endSessions } from '../../store/sessions.ts';
import { removeIdentity, unlinkedSerializer } from '../unlink-identity.ts';

/** `DELETE /admin/users/{id}/identities/{identity_id}`. @throws AuthError as the user's own request */
export async function unlinkAnyIdentity(
  context: AuthContext,
  admin: Admin,
  { userId, identityId }: { readonly userId: string; readonly identityId: string },
): Promise<AnswerJson> {
  if (!isUuid(identityId)) throw new AuthError('validation_failed', 'identity_id must be an UUID', { status: 404 });
  await transact(context, [], async (tx) => {
    const user = await requireUser(tx, userId, 'lock');
    const { provider, traits } = await removeIdentity(tx, user, identityId);
    await auditAdmin(tx, 'identity_unlinked', admin, { user_id: user.id, ...traits });
    await endSessions(tx, user.id, 'global', null);
    await notifyOfAdminChange(tx, { kind: 'identity_unlinked', user, provider });
  });
  return unlinkedSerializer.print(null);
}
