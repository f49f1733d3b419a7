/** Changes a user for an admin: immediately, without proof. Notifies the user only if the configuration says so. */

import { toRfc3339 } from '../../../shared/times.ts';
import { confirmEmail, confirmPhone } from '../../accounts/confirm-user.ts';
import { setEmailIdentity } from '../../accounts/email-change.ts';
import { notifyOfPhone, setPhoneIdentity } from '../../accounts/phone-change.ts';
import { toUserJson, type UserJson } from '../../answers/user-json.ts';
import { notifyOfAdminChange } from '../../messages/notify-user.ts';
import { AuthError } from '../../model/auth-error.ts';
import { enterMetadata } from '../../model/metadata.ts';
import type { User } from '../../model/user.ts';
import { assertStrong } from '../../secrets/password-policy.ts';
import {
  type AdminUserFacts,
  assertKnownHash,
  assertNoAdmin,
  bannedUntil,
  readAdminUser,
  requireUser,
} from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, type Transaction, transact } from '../../steps/auth-context.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';
import { endFlows } from '../../store/flows.ts';
import { clearPending, endChanges } from '../../store/one-time-tokens.ts';
import { endSessions } from '../../store/sessions.ts';
import { noteAdmin } from '../../store/unverified-input.ts';
import { findUserByPhone, isEmailTaken, reloadUser, updateUser } from '../../store/users.ts';

/** `PUT /admin/users/{id}`. @returns The updated user. */
export async function updateAnyUser(
  context: AuthContext,
  admin: Admin,
  id: string,
  { body, ifMatch }: { readonly body: unknown; readonly ifMatch: string | null },
): Promise<UserJson> {
  const { services } = context;
  const known = await requireUser(services.database, id);
  const facts = readAdminUser(body);
  const passwordHash = await hashOf(context, facts);
  return transact(context, [], async (tx) => {
    const user = await requireUser(tx, known.id, 'lock');
    assertUnchanged(user, ifMatch);
    assertNoAdmin(tx, admin, user);
    await apply(tx, user, facts, passwordHash);
    const changed = await reloadUser(tx, user.id);
    assertNoAdmin(tx, admin, changed);
    const traits = { user_id: user.id, user_email: user.email ?? '', user_phone: user.phone ?? '' };
    await auditAdmin(tx, 'user_modified', admin, traits);
    return toUserJson(changed);
  });
}

/** @param ifMatch `updated_at` as it was read; null: any. @throws AuthError `conflict` (412) */
function assertUnchanged({ updatedAt }: User, ifMatch: string | null): void {
  const read = ifMatch?.replaceAll('"', '');
  if (read === undefined || updatedAt === null || read === toRfc3339(updatedAt)) return;
  throw new AuthError('conflict', 'The user has changed since you read it. Read it again.', { status: 412 });
}

/** The new hash; null if the password stays. */
async function hashOf(
  { config, services, deadline }: AuthContext,
  { password, passwordHash }: AdminUserFacts,
): Promise<string | null> {
  if (password && passwordHash !== null) {
    throw new AuthError('validation_failed', 'Only a password or a password hash should be provided');
  }
  assertKnownHash(passwordHash);
  if (password === null) return passwordHash;
  await assertStrong(password, config, services.isPwned);
  return services.hasher.hash(password, deadline);
}

async function apply(tx: Transaction, user: User, facts: AdminUserFacts, passwordHash: string | null): Promise<void> {
  const { id } = user;
  const now = nowOf(tx);
  const { audience, role, appMetadata, userMetadata } = facts;
  const own = { ...(audience === null ? {} : { audience }), ...(role === null ? {} : { role }) };
  await updateUser(tx, id, { ...own, ...bannedUntil(facts, now) });
  // Confirm the address first: that may remove data that another person entered. The admin's data must stay.
  await applyEmail(tx, await reloadUser(tx, id), facts);
  await applyPhone(tx, await reloadUser(tx, id), facts);
  const proven = await reloadUser(tx, id);
  const metadata = {
    ...(appMetadata === null ? {} : { appMetadata: enterMetadata(proven.appMetadata, appMetadata) }),
    ...(userMetadata === null ? {} : { userMetadata: enterMetadata(proven.userMetadata, userMetadata) }),
  };
  await updateUser(tx, id, metadata);
  if (passwordHash !== null) {
    await updateUser(tx, id, { passwordHash });
    await clearPending(tx, id);
    await endFlows(tx, id);
    await endSessions(tx, id, 'global', null);
    await notifyOfAdminChange(tx, { kind: 'password_changed', user });
  }
}

// What the admin sets ends the changes that were asked for before, perhaps by whoever held a session. Where the account had
// no address, it is in use: whoever proves the admin's address leaves it as it is.
async function applyEmail(tx: Transaction, user: User, facts: AdminUserFacts): Promise<void> {
  const { email, isEmailConfirmed } = facts;
  if (email !== null && email !== user.email) {
    if (await isEmailTaken(tx, email, user.audience ?? tx.audience, user.id)) throw new AuthError('email_exists');
    await setEmailIdentity(tx, user, email, isEmailConfirmed);
    await updateUser(tx, user.id, { email });
    await endChanges(tx, user.id);
    const isInUse = user.phone === null || user.phoneConfirmedAt !== null;
    if (user.email === null && isInUse) await noteAdmin(tx, user.id);
  }
  const now = await reloadUser(tx, user.id);
  await notifyOfAdminChange(tx, { kind: 'email_changed', user: now, oldEmail: user.email });
  if (isEmailConfirmed && now.email !== null) await confirmEmail(tx, now, { by: 'admin' });
}

async function applyPhone(tx: Transaction, user: User, facts: AdminUserFacts): Promise<void> {
  const { phone, isPhoneConfirmed } = facts;
  if (phone !== null && phone !== user.phone) {
    const owner = await findUserByPhone(tx, phone, user.audience ?? tx.audience);
    if (owner !== null && owner.id !== user.id) throw new AuthError('phone_exists');
    await setPhoneIdentity(tx, user, phone, isPhoneConfirmed);
    await updateUser(tx, user.id, { phone });
    await endChanges(tx, user.id);
    if (user.phone === null && user.email === null) await noteAdmin(tx, user.id);
  }
  const now = await reloadUser(tx, user.id);
  await notifyOfPhone(tx, { before: user, after: now }, notifyOfAdminChange);
  if (isPhoneConfirmed && now.phone !== null) await confirmPhone(tx, now, { by: 'admin' });
}
