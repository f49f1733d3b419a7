/** Changes the phone number of a user, once the number is proved. */
import { notifyUser } from '../messages/notify-user.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import { nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { insertIdentity, phoneIdentityData, updateIdentityData } from '../store/identities.ts';
import { consumeToken } from '../store/one-time-tokens.ts';
import { reloadUser, updateUser } from '../store/users.ts';
import { takeAddress } from './take-address.ts';

/**
 * Makes the number the user's confirmed number, in the phone identity as well.
 *
 * @param isProved False: numbers need no proof. @throws AuthError `phone_exists`
 */
export async function applyPhoneChange(
  tx: Transaction,
  user: User,
  { phone, isProved }: { readonly phone: string; readonly isProved: boolean },
): Promise<User> {
  const now = nowOf(tx);
  if (!(await takeAddress(tx, user, { kind: 'phone', address: phone, isProved }))) throw new AuthError('phone_exists');
  await auditUser(tx, 'user_modified', user);
  await setPhoneIdentity(tx, user, phone, true);
  await consumeToken(tx, { user, type: 'phone_change_token' });
  const changes = { phone, phoneChange: '', phoneConfirmedAt: now, isAnonymous: false };
  await updateUser(tx, user.id, changes);
  const changed = await reloadUser(tx, user.id);
  await notifyOfPhone(tx, { before: user, after: changed }, notifyUser);
  return changed;
}

/**
 * Notifies the user of the new number, and of the identity that a first number creates.
 *
 * @param notify `notifyUser`, or `notifyOfAdminChange` for the change of an admin.
 */
export async function notifyOfPhone(
  tx: Transaction,
  { before, after }: { readonly before: User; readonly after: User },
  notify: typeof notifyUser,
): Promise<void> {
  await notify(tx, { kind: 'phone_changed', user: after, oldPhone: before.phone });
  if (findPhoneIdentity(before) !== null || findPhoneIdentity(after) === null) return;
  await notify(tx, { kind: 'identity_linked', user: after, provider: 'phone' });
}

function findPhoneIdentity(user: User): User['identities'][number] | null {
  return user.identities.find(({ provider, providerId }) => provider === 'phone' && providerId === user.id) ?? null;
}

/** Sets the number of the user's phone identity. Creates the identity if there is none. */
export async function setPhoneIdentity(tx: Transaction, user: User, phone: string, isVerified: boolean): Promise<void> {
  const known = findPhoneIdentity(user);
  const facts = { phone, phone_verified: isVerified };
  if (known !== null) return updateIdentityData(tx, known.id, { ...known.identityData, ...facts });
  const identityData = { ...phoneIdentityData(user.id, {}), ...facts };
  await insertIdentity(tx, { userId: user.id, provider: 'phone', providerId: user.id, identityData });
}
