/** Confirms an address: the changes to a user once an address is proved, by any method. */
import { mergeMetadata } from '../model/metadata.ts';
import type { User } from '../model/user.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { deleteIdentity, syncProviders, verifyIdentityEmail } from '../store/identities.ts';
import { consumeToken } from '../store/one-time-tokens.ts';
import { reloadUser, updateUser } from '../store/users.ts';
import { type Proof, settleFirstProof } from './claim-account.ts';

/** Confirms the email address, in its identities too, and clears tokens; ends anonymity. @param given Locked. */
export async function confirmEmail(tx: Transaction, given: User, proof: Proof): Promise<User> {
  const now = nowOf(tx);
  const isFirst = given.emailConfirmedAt === null;
  const user = isFirst ? await settleFirstProof(tx, given, { address: 'email', proof }) : given;
  if (isFirst && proof.by === 'provider') await dropEmailIdentity(tx, user);
  await consumeToken(tx, { user, type: 'confirmation_token' });
  const userMetadata = mergeMetadata(user.userMetadata, { email_verified: true });
  await updateUser(tx, user.id, { emailConfirmedAt: now, userMetadata, isAnonymous: false });
  await verifyIdentityEmail(tx, user);
  return reloadUser(tx, user.id);
}

/** As with Supabase Auth: an invited user who signs in with a provider has its identity alone. */
async function dropEmailIdentity(tx: Transaction, { id, passwordHash, identities }: User): Promise<void> {
  if (passwordHash) return;
  const unproved = identities.filter(({ provider }) => provider === 'email');
  await Promise.all([...unproved.map((identity) => deleteIdentity(tx, identity.id)), syncProviders(tx, id)]);
}

/** Confirms the phone number. The user is no longer anonymous. @param given Locked. */
export async function confirmPhone(tx: Transaction, given: User, proof: Proof): Promise<User> {
  const now = nowOf(tx);
  // If the email address is confirmed already, its owner added the number, so nothing is evicted.
  const isFirst = given.emailConfirmedAt === null && given.phoneConfirmedAt === null;
  const user = isFirst ? await settleFirstProof(tx, given, { address: 'phone', proof }) : given;
  await consumeToken(tx, { user, type: 'confirmation_token' });
  await updateUser(tx, user.id, { phoneConfirmedAt: now, isAnonymous: false });
  return reloadUser(tx, user.id);
}
