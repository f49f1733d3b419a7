/**
 * An invitation that is accepted by signing in with a provider, in place of opening its link.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError, type AuthErrorCode } from '../auth-error.ts';
import { mergeWhatFits } from '../metadata.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { type AuthContext, nowOf } from '../steps/auth-context.ts';
import { reloadUser } from '../steps/issue-session.ts';
import { findIdentityOwner, syncProviders, updateIdentityData } from '../store/identities.ts';
import { emailTokenSeconds, presentTokenHash } from '../store/one-time-tokens.ts';
import { updateUser } from '../store/users.ts';
import type { User } from '../user.ts';
import { confirmEmail } from './confirm-user.ts';
import { addIdentity, note } from './external-account.ts';

/**
 * Finds whom an invitation is for, and locks them.
 *
 * @param unknown What is said where there is nobody, or the invitation is too old.
 * @throws AuthError `unknown`, `user_banned`.
 */
export async function findInvited(
  session: Queryable,
  context: AuthContext,
  token: string,
  unknown: Extract<AuthErrorCode, 'user_not_found' | 'invite_not_found'>,
): Promise<User> {
  const lifetimeSeconds = emailTokenSeconds(context.config);
  try {
    const check = { types: ['confirmation_token'], now: nowOf(context), lifetimeSeconds } as const;
    return (await presentTokenHash(session, token, check)).user;
  } catch (error) {
    if (!(error instanceof AuthError) || error.code !== 'otp_expired') throw error;
    throw new AuthError(unknown, 'User identified by token not found', { cause: error });
  }
}

/**
 * Gives the invited user the identity, and uses the invitation up. Whoever has it reads the mail of the address.
 *
 * @returns Whose it was.
 * @throws AuthError `invite_not_found`, `validation_failed`, `identity_already_exists`, `user_banned`.
 */
export async function acceptInvitation(
  session: Queryable,
  context: AuthContext,
  external: ExternalUser,
  token: string,
): Promise<string> {
  const user = await findInvited(session, context, token, 'invite_not_found');
  const email = user.email?.toLowerCase() ?? '';
  if (!external.emails.includes(email)) {
    throw new AuthError('validation_failed', 'Invited email does not match emails from external provider');
  }
  await giveIdentity(session, context, external, user);
  const userMetadata = mergeWhatFits(user.userMetadata, external.identityData);
  await updateUser(session, user.id, { userMetadata }, nowOf(context));
  await note(session, context, { action: 'invite_accepted', user, external });
  await confirmEmail(session, context, await reloadUser(session, user.id), { by: 'provider', external });
  await syncProviders(session, user.id, nowOf(context));
  return user.id;
}

async function giveIdentity(
  session: Queryable,
  context: AuthContext,
  external: ExternalUser,
  user: User,
): Promise<void> {
  const known = await findIdentityOwner(session, external.provider, external.subject);
  if (known?.userId === user.id) {
    return updateIdentityData(session, known.id, external.identityData, nowOf(context));
  }
  await addIdentity(session, context, external, user.id);
}
