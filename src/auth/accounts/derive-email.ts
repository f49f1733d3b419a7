/** Derives the email address of a user from their identities, if they have none or lost the one they had. */
import { mergeMetadata } from '../model/metadata.ts';
import type { Identity, User } from '../model/user.ts';
import type { Transaction } from '../steps/auth-context.ts';
import { clearPending } from '../store/one-time-tokens.ts';
import { isAddressHeld, releaseAddress } from '../store/pending-changes.ts';
import { takeUnverifiedInput } from '../store/unverified-input.ts';
import { isEmailTaken, reloadUser, updateUser } from '../store/users.ts';

/** What the identities say about an address. */
interface DerivedEmail {
  /** In lower case; null where the identity has none. */
  readonly email: string | null;
  /** Whether the address is proved to be the user's. */
  readonly isVerified: boolean;
}

/**
 * Returns the first address that no other user has. Verified addresses come first, then those of older identities. An
 * identity without an address comes last and means that the user has none.
 *
 * @param identities The identities to consider.
 * @returns Null if other users have all of the addresses.
 */
export async function deriveEmail(
  tx: Transaction,
  user: User,
  identities: readonly Identity[],
): Promise<DerivedEmail | null> {
  for (const { email: given, identityData } of [...identities].sort(byPrecedence)) {
    // Anybody may claim an unverified address at a provider, and would learn whether another user has it.
    const email = tx.config.security_hide_accounts && !isVerified(identityData) ? null : given;
    if (email && (await isKeptByOther(tx, user, { email, isVerified: isVerified(identityData) }))) continue;
    return { email: email || null, isVerified: isVerified(identityData) };
  }
  return null;
}

/** Whether another account keeps the address from the user. One that never proved it gives a verified one up. */
export function isKeptByOther(tx: Transaction, { id }: User, derived: DerivedEmail): Promise<boolean> {
  const { audience } = tx;
  const { email, isVerified } = derived;
  if (email === null) return Promise.resolve(false);
  return isVerified ? isAddressHeld(tx, 'email', email, { id, audience }) : isEmailTaken(tx, email, audience, id);
}

/**
 * Sets the address. Ends pending changes and tokens; an unverified address must be confirmed again.
 *
 * @param user Locked.
 * @throws AuthError `email_exists` if another user took the address meanwhile.
 */
export async function adoptEmail(tx: Transaction, user: User, { email, isVerified }: DerivedEmail): Promise<User> {
  const isConfirmed = email !== null && (isVerified || tx.config.mailer_autoconfirm);
  const unconfirmed = {
    emailConfirmedAt: null,
    userMetadata: mergeMetadata(user.userMetadata, { email_verified: false }),
  };
  if (email !== null && isVerified) await releaseAddress(tx, 'email', email, user);
  // What was noted is about another address, which an admin may have entered.
  await takeUnverifiedInput(tx, user.id);
  await Promise.all([
    clearPending(tx, user.id),
    updateUser(tx, user.id, { email, ...(isConfirmed ? {} : unconfirmed) }),
  ]);
  return reloadUser(tx, user.id);
}

function byPrecedence(a: Identity, b: Identity): number {
  return rank(a) - rank(b) || (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : 1);
}

function rank({ email, identityData }: Identity): number {
  if (!email) return 2;
  return isVerified(identityData) ? 0 : 1;
}

function isVerified(identityData: Identity['identityData']): boolean {
  return identityData.email_verified === true;
}
