/**
 * A new phone number for a user: applied once it is proved to be theirs.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { queueNotification } from '../messages/queue-notification.ts';
import { type AuthContext, nowOf } from '../steps/auth-context.ts';
import { reloadUser } from '../steps/issue-session.ts';
import { userActor, writeAudit } from '../store/audit.ts';
import { insertIdentity, phoneIdentityData, updateIdentityData } from '../store/identities.ts';
import { consumeToken } from '../store/one-time-tokens.ts';
import { updateUser } from '../store/users.ts';
import type { User } from '../user.ts';

/** Makes the number the user's, confirmed, in the phone identity as well. @throws AuthError `phone_exists` */
export async function applyPhoneChange(
  session: Queryable,
  context: AuthContext,
  user: User,
  phone: string,
): Promise<User> {
  const { services, config } = context;
  const now = nowOf(context);
  await writeAudit(session, { action: 'user_modified', actor: userActor(user) }, config, services);
  await setPhoneIdentity(session, context, { user, phone, isVerified: true });
  await consumeToken(session, { user, type: 'phone_change_token' }, now);
  const changes = { phone, phoneChange: '', phoneConfirmedAt: now, isAnonymous: false };
  await updateUser(session, user.id, changes, now);
  const changed = await reloadUser(session, user.id);
  await queuePhoneNotifications(session, context, { before: user, after: changed }, queueNotification);
  return changed;
}

/** Tells of the new number, and of the identity that came with a first one. @param queue What the emails go to. */
export async function queuePhoneNotifications(
  session: Queryable,
  context: AuthContext,
  { before, after }: { readonly before: User; readonly after: User },
  queue: typeof queueNotification,
): Promise<void> {
  await queue(session, context, { kind: 'phone_changed', user: after, oldPhone: before.phone });
  if (findPhoneIdentity(before) !== null || findPhoneIdentity(after) === null) return;
  await queue(session, context, { kind: 'identity_linked', user: after, provider: 'phone' });
}

function findPhoneIdentity(user: User): User['identities'][number] | null {
  return user.identities.find(({ provider, providerId }) => provider === 'phone' && providerId === user.id) ?? null;
}

/** Gives the phone identity of the user that number; makes one where there is none. */
export async function setPhoneIdentity(
  session: Queryable,
  context: AuthContext,
  { user, phone, isVerified }: { readonly user: User; readonly phone: string; readonly isVerified: boolean },
): Promise<void> {
  const known = findPhoneIdentity(user);
  const facts = { phone, phone_verified: isVerified };
  if (known !== null) return updateIdentityData(session, known.id, { ...known.identityData, ...facts }, nowOf(context));
  const identityData = { ...phoneIdentityData(user.id, {}), ...facts };
  await insertIdentity(
    session,
    { userId: user.id, provider: 'phone', providerId: user.id, identityData },
    context.services,
  );
}
