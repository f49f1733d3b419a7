/**
 * What becomes of a user whose address has been proved to be theirs, however that was done.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { mergeMetadata } from '../metadata.ts';
import { type AuthContext, nowOf } from '../steps/auth-context.ts';
import { reloadUser } from '../steps/issue-session.ts';
import { verifyIdentityEmail } from '../store/identities.ts';
import { consumeToken } from '../store/one-time-tokens.ts';
import { updateUser } from '../store/users.ts';
import type { User } from '../user.ts';
import { type Proof, settleFirstProof } from './evict-strangers.ts';

/** The email address is the user's: also the identities with it say so, and nothing pending is left. @param given Locked. */
export async function confirmEmail(session: Queryable, context: AuthContext, given: User, proof: Proof): Promise<User> {
  const now = nowOf(context);
  const isFirst = given.emailConfirmedAt === null;
  const user = isFirst ? await settleFirstProof(session, context, given, { address: 'email', proof }) : given;
  await consumeToken(session, { user, type: 'confirmation_token' }, now);
  const userMetadata = mergeMetadata(user.userMetadata, { email_verified: true });
  await updateUser(session, user.id, { emailConfirmedAt: now, userMetadata }, now);
  await verifyIdentityEmail(session, user, now);
  return reloadUser(session, user.id);
}

/** The phone number is the user's, who is anonymous no longer. @param given Locked. */
export async function confirmPhone(session: Queryable, context: AuthContext, given: User, proof: Proof): Promise<User> {
  const now = nowOf(context);
  // An account with a proven email address is its owner's, who let the number in.
  const isFirst = given.emailConfirmedAt === null && given.phoneConfirmedAt === null;
  const user = isFirst ? await settleFirstProof(session, context, given, { address: 'phone', proof }) : given;
  await consumeToken(session, { user, type: 'confirmation_token' }, now);
  await updateUser(session, user.id, { phoneConfirmedAt: now, isAnonymous: false }, now);
  return reloadUser(session, user.id);
}
