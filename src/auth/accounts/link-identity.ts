/**
 * An identity of a provider for a user who is signed in already. One who had no address gets that of the identity.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import { queueNotification } from '../messages/queue-notification.ts';
import { assertMailNotTooFrequent } from '../messages/send-token.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { sendConfirmation } from '../requests/sign-up.ts';
import { type AuthContext, nowOf } from '../steps/auth-context.ts';
import { reloadUser } from '../steps/issue-session.ts';
import { findIdentityOwner, syncProviders } from '../store/identities.ts';
import { lockUser, updateUser } from '../store/users.ts';
import { isBanned, type User } from '../user.ts';
import { confirmEmail } from './confirm-user.ts';
import { adoptEmail, deriveEmail } from './derive-email.ts';
import { addIdentity, type ExternalEntry, isProved, note } from './external-account.ts';

/**
 * Links, in the transaction of the sign-in at the provider.
 *
 * @returns With a refusal what was written stays, but nobody gets in.
 * @throws AuthError `user_not_found` (422), `user_banned`, `identity_already_exists`, `email_exists` (400).
 */
export async function linkIdentity(
  session: Queryable,
  context: AuthContext,
  external: ExternalUser,
  userId: string,
): Promise<ExternalEntry> {
  const user = await lockTarget(session, context, userId);
  await refuseKnown(session, external, user);
  await addIdentity(session, context, external, user.id);
  const noting = note(session, context, { action: 'identity_linked', user, external });
  const [linked] = await Promise.all([reloadUser(session, user.id), noting]);
  const refusal = await settleEmail(session, context, linked, external);
  const [, settled] = await Promise.all([
    syncProviders(session, user.id, nowOf(context)),
    reloadUser(session, user.id),
  ]);
  // Whose address it is has to be proved first.
  if (refusal === null) {
    await queueNotification(session, context, { kind: 'identity_linked', user: settled, provider: external.provider });
  }
  return { userId: user.id, refusal };
}

async function lockTarget(session: Queryable, context: AuthContext, userId: string): Promise<User> {
  const user = await lockUser(session, userId);
  if (user === null || user.deletedAt !== null) {
    throw new AuthError('user_not_found', 'Linking target user not found', { status: 422 });
  }
  if (isBanned(user, nowOf(context))) throw new AuthError('user_banned');
  return user;
}

async function refuseKnown(session: Queryable, { provider, subject }: ExternalUser, { id }: User): Promise<void> {
  const known = await findIdentityOwner(session, provider, subject);
  if (known === null) return;
  throw new AuthError(
    'identity_already_exists',
    known.userId === id ? null : 'Identity is already linked to another user',
  );
}

/** The address of a user who has one stays. @returns Why nobody gets in yet; null where they do. */
async function settleEmail(
  session: Queryable,
  context: AuthContext,
  user: User,
  external: ExternalUser,
): Promise<AuthError | null> {
  if (user.email !== null) return null;
  const own = user.identities.filter(
    ({ provider, providerId }) => provider === external.provider && providerId === external.subject,
  );
  const derived = await deriveEmail(session, context, user, own);
  if (derived === null) throw new AuthError('email_exists', null, { status: 400 });
  if (derived.email === null) {
    await updateUser(session, user.id, { isAnonymous: false }, nowOf(context));
    return null;
  }
  const adopted = await adoptEmail(session, context, user, derived);
  if (isProved(context, external)) {
    await confirmEmail(session, context, adopted, { by: 'session' });
    await updateUser(session, user.id, { isAnonymous: false }, nowOf(context));
    return null;
  }
  assertMailNotTooFrequent(context, adopted.confirmationSentAt);
  await sendConfirmation(session, context, adopted, null);
  const { provider } = external;
  const message = `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`;
  return new AuthError('email_not_confirmed', message, { status: 422 });
}
