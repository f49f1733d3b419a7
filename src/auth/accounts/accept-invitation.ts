/** Accepts an invitation by a sign-in with a provider instead of by opening the emailed link. */
import { AuthError, type AuthErrorCode } from '../model/auth-error.ts';
import { mergeWhatFits } from '../model/metadata.ts';
import type { User } from '../model/user.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { findIdentityOwner, syncProviders, updateIdentityData } from '../store/identities.ts';
import { emailTokenSeconds, presentTokenHash } from '../store/one-time-tokens.ts';
import { reloadUser, updateUser } from '../store/users.ts';
import { confirmEmail } from './confirm-user.ts';
import { addIdentity } from './external-account.ts';

/**
 * Finds the invited user and locks the row.
 *
 * @param unknown Error code if there is no such user or the invitation is too old.
 * @throws AuthError `unknown`, `user_banned`.
 */
export async function findInvited(
  tx: Transaction,
  token: string,
  unknown: Extract<AuthErrorCode, 'user_not_found' | 'invite_not_found'>,
): Promise<User> {
  const lifetimeSeconds = emailTokenSeconds(tx.config);
  try {
    const check = { types: ['confirmation_token'], now: nowOf(tx), lifetimeSeconds } as const;
    return (await presentTokenHash(tx, token, check)).user;
  } catch (error) {
    if (!(error instanceof AuthError) || error.code !== 'otp_expired') throw error;
    throw new AuthError(unknown, 'User identified by token not found', { cause: error });
  }
}

/**
 * Gives the invited user the identity and uses up the invitation. Holding the token proves access to the emails of the
 * address.
 *
 * @returns The invited user.
 * @throws AuthError `invite_not_found`, `validation_failed`, `identity_already_exists`, `user_banned`.
 */
export async function acceptInvitation(tx: Transaction, external: ExternalUser, token: string): Promise<string> {
  const user = await findInvited(tx, token, 'invite_not_found');
  const email = user.email?.toLowerCase() ?? '';
  if (!external.emails.includes(email)) {
    throw new AuthError('validation_failed', 'Invited email does not match emails from external provider');
  }
  const known = await findIdentityOwner(tx, external.provider, external.subject);
  if (known?.userId === user.id) await updateIdentityData(tx, known.id, external.identityData);
  else await addIdentity(tx, external, user.id);
  const userMetadata = mergeWhatFits(user.userMetadata, external.identityData);
  await updateUser(tx, user.id, { userMetadata });
  await auditUser(tx, 'invite_accepted', user, { provider: external.provider });
  await confirmEmail(tx, await reloadUser(tx, user.id), { by: 'provider', external, isOwn: false });
  await syncProviders(tx, user.id);
  return user.id;
}
