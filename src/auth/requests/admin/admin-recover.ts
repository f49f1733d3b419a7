/**
 * Emails a user a link to set a new password, for an admin. Supabase Auth has only `/recover`, which asks for a captcha and
 * does not tell what came of it.
 */
import { type AnswerJson, serializerOf } from '../../../shared/schema.ts';
import { sendTokenEmail } from '../../messages/send-token.ts';
import { AuthError } from '../../model/auth-error.ts';
import { requireUser } from '../../steps/admin-user.ts';
import { type AuthContext, transact } from '../../steps/auth-context.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';

/** The answer: an empty object. */
export const recoverySentSerializer = serializerOf<null>('AuthRecoverySent', {});

/**
 * `POST /admin/users/{id}/recover`.
 *
 * @throws AuthError as `sendTokenEmail`; `validation_failed` for a user whom no password signs in by email.
 */
export async function recoverUser(context: AuthContext, admin: Admin, userId: string): Promise<AnswerJson> {
  if (!context.config.external_email_enabled) throw new AuthError('email_provider_disabled', null, { status: 400 });
  await transact(context, ['send_email'], async (tx) => {
    const user = await requireUser(tx, userId, 'lock');
    const { id, email, isSsoUser, deletedAt } = user;
    if (email === null || isSsoUser || deletedAt !== null) {
      throw new AuthError('validation_failed', 'The user does not sign in with an email address and a password');
    }
    await sendTokenEmail(tx, 'recovery', user);
    await auditAdmin(tx, 'user_recovery_requested', admin, { user_id: id, user_email: email });
  });
  return recoverySentSerializer.print(null);
}
