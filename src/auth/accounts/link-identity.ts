/**
 * An identity of a provider for a user who is signed in already. One who had no address gets that of the identity.
 */

import { AuthError } from '../auth-error.ts';
import { queueNotification } from '../messages/queue-notification.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { findIdentityOwner, syncProviders } from '../store/identities.ts';
import { lockUser, reloadUser, updateUser } from '../store/users.ts';
import { isBanned, type User } from '../user.ts';
import { confirmEmail } from './confirm-user.ts';
import { adoptEmail, deriveEmail } from './derive-email.ts';
import { addIdentity, type ExternalEntry, isProved } from './external-account.ts';

/**
 * Links, in the transaction of the sign-in at the provider.
 *
 * @returns With a refusal what was written stays, but nobody gets in.
 * @throws AuthError `user_not_found` (422), `user_banned`, `identity_already_exists`, `email_exists` (400).
 */
export async function linkIdentity(tx: Transaction, external: ExternalUser, userId: string): Promise<ExternalEntry> {
  const user = await lockTarget(tx, userId);
  const known = await findIdentityOwner(tx, external.provider, external.subject);
  if (known !== null) {
    const message = known.userId === user.id ? null : 'Identity is already linked to another user';
    throw new AuthError('identity_already_exists', message);
  }
  await addIdentity(tx, external, user.id);
  const noting = auditUser(tx, 'identity_linked', user, { provider: external.provider });
  const [linked] = await Promise.all([reloadUser(tx, user.id), noting]);
  const refusal = await settleEmail(tx, linked, external);
  const [, settled] = await Promise.all([syncProviders(tx, user.id), reloadUser(tx, user.id)]);
  // Whose address it is has to be proved first.
  if (refusal === null) {
    await queueNotification(tx, { kind: 'identity_linked', user: settled, provider: external.provider });
  }
  return { userId: user.id, refusal };
}

async function lockTarget(tx: Transaction, userId: string): Promise<User> {
  const user = await lockUser(tx, userId);
  if (user === null || user.deletedAt !== null) {
    throw new AuthError('user_not_found', 'Linking target user not found', { status: 422 });
  }
  if (isBanned(user, nowOf(tx))) throw new AuthError('user_banned');
  return user;
}

/** The address of a user who has one stays. @returns Why nobody gets in yet; null where they do. */
async function settleEmail(tx: Transaction, user: User, external: ExternalUser): Promise<AuthError | null> {
  if (user.email !== null) return null;
  const own = user.identities.filter(
    ({ provider, providerId }) => provider === external.provider && providerId === external.subject,
  );
  const derived = await deriveEmail(tx, user, own);
  if (derived === null) throw new AuthError('email_exists', null, { status: 400 });
  if (derived.email === null) {
    await updateUser(tx, user.id, { isAnonymous: false });
    return null;
  }
  const adopted = await adoptEmail(tx, user, derived);
  if (isProved(tx, external)) {
    await confirmEmail(tx, adopted, { by: 'session' });
    await updateUser(tx, user.id, { isAnonymous: false });
    return null;
  }
  await sendTokenEmail(tx, 'confirmation', adopted, { mayKnowOfAccount: true });
  const { provider } = external;
  const message = `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`;
  return new AuthError('email_not_confirmed', message, { status: 422 });
}
