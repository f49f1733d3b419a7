/**
 * An invitation that is accepted by signing in with a provider, in place of opening its link.
 */

import { AuthError, type AuthErrorCode } from '../auth-error.ts';
import { mergeWhatFits } from '../metadata.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { findIdentityOwner, syncProviders, updateIdentityData } from '../store/identities.ts';
import { emailTokenSeconds, presentTokenHash } from '../store/one-time-tokens.ts';
import { reloadUser, updateUser } from '../store/users.ts';
import type { User } from '../user.ts';
import { confirmEmail } from './confirm-user.ts';
import { addIdentity } from './external-account.ts';

/**
 * Finds whom an invitation is for, and locks them.
 *
 * @param unknown What is said where there is nobody, or the invitation is too old.
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
 * Gives the invited user the identity, and uses the invitation up. Whoever has it reads the emails of the address.
 *
 * @returns Whose it was.
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
  await confirmEmail(tx, await reloadUser(tx, user.id), { by: 'provider', external });
  await syncProviders(tx, user.id);
  return user.id;
}
