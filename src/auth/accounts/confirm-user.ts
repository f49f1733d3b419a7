/**
 * What becomes of a user whose address has been proved to be theirs, however that was done.
 */
import { mergeMetadata } from '../metadata.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { verifyIdentityEmail } from '../store/identities.ts';
import { consumeToken } from '../store/one-time-tokens.ts';
import { reloadUser, updateUser } from '../store/users.ts';
import type { User } from '../user.ts';
import { type Proof, settleFirstProof } from './claim-account.ts';

/** The email address is the user's: also the identities with it say so, and nothing pending is left. @param given Locked. */
export async function confirmEmail(tx: Transaction, given: User, proof: Proof): Promise<User> {
  const now = nowOf(tx);
  const isFirst = given.emailConfirmedAt === null;
  const user = isFirst ? await settleFirstProof(tx, given, { address: 'email', proof }) : given;
  await consumeToken(tx, { user, type: 'confirmation_token' });
  const userMetadata = mergeMetadata(user.userMetadata, { email_verified: true });
  await updateUser(tx, user.id, { emailConfirmedAt: now, userMetadata });
  await verifyIdentityEmail(tx, user);
  return reloadUser(tx, user.id);
}

/** The phone number is the user's, who is anonymous no longer. @param given Locked. */
export async function confirmPhone(tx: Transaction, given: User, proof: Proof): Promise<User> {
  const now = nowOf(tx);
  // An account with a proven email address is its owner's, who let the number in.
  const isFirst = given.emailConfirmedAt === null && given.phoneConfirmedAt === null;
  const user = isFirst ? await settleFirstProof(tx, given, { address: 'phone', proof }) : given;
  await consumeToken(tx, { user, type: 'confirmation_token' });
  await updateUser(tx, user.id, { phoneConfirmedAt: now, isAnonymous: false });
  return reloadUser(tx, user.id);
}
