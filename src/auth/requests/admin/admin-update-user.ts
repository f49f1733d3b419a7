/**
 * What admins change of users: at once, without proof, and without telling the user where the configuration does not ask for it.
 */
import type { Queryable } from '../../../postgres/system/queryable.ts';
import { confirmEmail, confirmPhone } from '../../accounts/confirm-user.ts';
import { setEmailIdentity } from '../../accounts/email-change.ts';
import { queuePhoneNotifications, setPhoneIdentity } from '../../accounts/phone-change.ts';
import { AuthError } from '../../auth-error.ts';
import type { AdminBearer } from '../../bearer.ts';
import { queueAdminNotification } from '../../messages/queue-notification.ts';
import { enterMetadata } from '../../metadata.ts';
import { assertStrong } from '../../secrets/password-policy.ts';
import {
  type AdminUserFacts,
  assertKnownHash,
  bannedUntil,
  readAdminUser,
  requireUser,
} from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, transact } from '../../steps/auth-context.ts';
import { reloadUser } from '../../steps/issue-session.ts';
import { adminActor, writeAudit } from '../../store/audit.ts';
import { clearTokens } from '../../store/one-time-tokens.ts';
import { endFlows } from '../../store/pkce.ts';
import { endSessions } from '../../store/sessions.ts';
import { findUserByPhone, isEmailTaken, updateUser } from '../../store/users.ts';
import type { User } from '../../user.ts';
import { toUserJson, type UserJson } from '../../user-json.ts';

/** `PUT /admin/users/{id}`. @returns The user as it now is. */
export async function updateAnyUser(
  context: AuthContext,
  { role }: AdminBearer,
  id: string,
  body: unknown,
): Promise<UserJson> {
  const { services, config } = context;
  const known = await requireUser(services.database, id);
  const facts = readAdminUser(body);
  const passwordHash = await hashOf(context, facts);
  return transact(context, [], async (session) => {
    const user = await requireUser(session, known.id, 'lock');
    await apply(session, context, { user, facts, passwordHash });
    const traits = { user_id: user.id, user_email: user.email ?? '', user_phone: user.phone ?? '' };
    await writeAudit(session, { action: 'user_modified', actor: adminActor(role), traits }, config, services);
    return toUserJson(await reloadUser(session, user.id));
  });
}

/** The new hash; null where the password stays. */
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

interface Application {
  readonly user: User;
  readonly facts: AdminUserFacts;
  readonly passwordHash: string | null;
}

async function apply(
  session: Queryable,
  context: AuthContext,
  { user, facts, passwordHash }: Application,
): Promise<void> {
  const { id } = user;
  const now = nowOf(context);
  const { audience, role, appMetadata, userMetadata } = facts;
  const own = { ...(audience === null ? {} : { audience }), ...(role === null ? {} : { role }) };
  await updateUser(session, id, { ...own, ...bannedUntil(facts, now) }, now);
  // First of all, because what somebody else has entered may go with it; what the admin enters stays.
  await applyEmail(session, context, await reloadUser(session, id), facts);
  await applyPhone(session, context, await reloadUser(session, id), facts);
  const proven = await reloadUser(session, id);
  const metadata = {
    ...(appMetadata === null ? {} : { appMetadata: enterMetadata(proven.appMetadata, appMetadata) }),
    ...(userMetadata === null ? {} : { userMetadata: enterMetadata(proven.userMetadata, userMetadata) }),
  };
  await updateUser(session, id, metadata, now);
  if (passwordHash !== null) {
    await updateUser(session, id, { passwordHash }, now);
    await clearTokens(session, id, now);
    await endFlows(session, id, now);
    await endSessions(session, id, 'global', null);
    await queueAdminNotification(session, context, { kind: 'password_changed', user });
  }
}

async function applyEmail(session: Queryable, context: AuthContext, user: User, facts: AdminUserFacts): Promise<void> {
  const { email, isEmailConfirmed } = facts;
  if (email !== null && email !== user.email) {
    if (await isEmailTaken(session, email, user.audience ?? context.audience, user.id))
      throw new AuthError('email_exists');
    await setEmailIdentity(session, context, { user, email, isVerified: isEmailConfirmed });
    await updateUser(session, user.id, { email }, nowOf(context));
  }
  const now = await reloadUser(session, user.id);
  await queueAdminNotification(session, context, { kind: 'email_changed', user: now, oldEmail: user.email });
  if (isEmailConfirmed && now.email !== null) await confirmEmail(session, context, now, { by: 'admin' });
}

async function applyPhone(session: Queryable, context: AuthContext, user: User, facts: AdminUserFacts): Promise<void> {
  const { phone, isPhoneConfirmed } = facts;
  if (phone !== null && phone !== user.phone) {
    const owner = await findUserByPhone(session, phone, user.audience ?? context.audience);
    if (owner !== null && owner.id !== user.id) throw new AuthError('phone_exists');
    await setPhoneIdentity(session, context, { user, phone, isVerified: isPhoneConfirmed });
    await updateUser(session, user.id, { phone }, nowOf(context));
  }
  const now = await reloadUser(session, user.id);
  await queuePhoneNotifications(session, context, { before: user, after: now }, queueAdminNotification);
  if (isPhoneConfirmed && now.phone !== null) await confirmPhone(session, context, now, { by: 'admin' });
}
