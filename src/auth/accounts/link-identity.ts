/** Links an identity of a provider to a user who is signed in. A user without an address gets the identity's. */
import { notifyUser } from '../messages/notify-user.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import { AuthError } from '../model/auth-error.ts';
import { isBanned, type User } from '../model/user.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { findIdentityOwner, syncProviders } from '../store/identities.ts';
import { lockUser, reloadUser, updateUser } from '../store/users.ts';
import { confirmEmail } from './confirm-user.ts';
import { adoptEmail, isKeptByOther } from './derive-email.ts';
import { addIdentity, type ExternalEntry, isProved } from './external-account.ts';

/**
 * Checks whether the identity can be linked, and locks the user.
 *
 * @throws AuthError `user_not_found` (422), `user_banned`, `identity_already_exists`, `email_exists` (400).
 */
export async function assertLinkable(tx: Transaction, external: ExternalUser, userId: string): Promise<User> {
  const user = await lockTarget(tx, userId);
  const known = await findIdentityOwner(tx, external.provider, external.subject);
  if (known !== null) {
    const message = known.userId === user.id ? null : 'Identity is already linked to another user';
    throw new AuthError('identity_already_exists', message);
  }
  const email = user.email === null ? adoptedEmail(tx, external) : null;
  if (await isKeptByOther(tx, user, { email, isVerified: external.isEmailVerified })) {
    throw new AuthError('email_exists', null, { status: 400 });
  }
  return user;
}

/**
 * Links the identity, for the session that asked: in its request, with the verifier of its PKCE flow, or in its browser.
 *
 * @returns If `refusal` is set, the changes are committed, but no session starts.
 * @throws AuthError as `assertLinkable`.
 */
export async function linkIdentity(tx: Transaction, external: ExternalUser, userId: string): Promise<ExternalEntry> {
  const user = await assertLinkable(tx, external, userId);
  await addIdentity(tx, external, user.id);
  const noting = auditUser(tx, 'identity_linked', user, { provider: external.provider });
  const [linked] = await Promise.all([reloadUser(tx, user.id), noting]);
  const refusal = await settleEmail(tx, linked, external);
  const [, settled] = await Promise.all([syncProviders(tx, user.id), reloadUser(tx, user.id)]);
  // The user must first prove the address.
  if (refusal === null) {
    await notifyUser(tx, { kind: 'identity_linked', user: settled, provider: external.provider });
  }
  return { userId: user.id, refusal };
}

async function lockTarget(tx: Transaction, userId: string): Promise<User> {
  const user = await lockUser(tx, userId);
  if (user === null || user.deletedAt !== null) {
    throw targetNotFound();
  }
  if (isBanned(user, nowOf(tx))) throw new AuthError('user_banned');
  return user;
}

/** The user who asked for the identity is gone. */
export function targetNotFound(): AuthError {
  return new AuthError('user_not_found', 'Linking target user not found', { status: 422 });
}

/** The address for a user without one. An unverified one would tell anybody whether another user has it. */
function adoptedEmail({ config }: Transaction, { email, isEmailVerified }: ExternalUser): string | null {
  return config.security_hide_accounts && !isEmailVerified ? null : email;
}

/** Keeps the address of a user who has one. @returns Why no session starts yet; null if one may. */
async function settleEmail(tx: Transaction, user: User, external: ExternalUser): Promise<AuthError | null> {
  if (user.email !== null) return null;
  const { isEmailVerified: isVerified, provider } = external;
  const email = adoptedEmail(tx, external);
  if (email === null) {
    await updateUser(tx, user.id, { isAnonymous: false });
    return null;
  }
  const adopted = await adoptEmail(tx, user, { email, isVerified });
  if (isProved(tx, external)) {
    await confirmEmail(tx, adopted, { by: 'session' });
    return null;
  }
  await sendTokenEmail(tx, 'confirmation', adopted);
  const message = `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`;
  return new AuthError('email_not_confirmed', message, { status: 422 });
}
