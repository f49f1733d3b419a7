/**
 * Invitation: a user without password, and an email whose link signs in and lets them choose one.
 */
import type { Queryable } from '../../../postgres/system/queryable.ts';
import { settleFirstProof } from '../../accounts/evict-strangers.ts';
import { findEmailOwner } from '../../accounts/find-user.ts';
import { lockKnownUser } from '../../accounts/lock-known-user.ts';
import { parseEmail } from '../../addresses.ts';
import { AuthError } from '../../auth-error.ts';
import type { AdminBearer } from '../../bearer.ts';
import { sendTokens } from '../../messages/send-token.ts';
import { enterMetadata, type Metadata } from '../../metadata.ts';
import { randomUuid } from '../../random.ts';
import { type AuthContext, nowOf, transact } from '../../steps/auth-context.ts';
import { reloadUser } from '../../steps/issue-session.ts';
import { type BodyShape, readMembers } from '../../steps/members.ts';
import { adminActor, writeAudit } from '../../store/audit.ts';
import { noteEntry, readEntry } from '../../store/entries.ts';
import { emailIdentityData, insertIdentity } from '../../store/identities.ts';
import { insertUser, updateUser } from '../../store/users.ts';
import type { User } from '../../user.ts';
import { toUserJson, type UserJson } from '../../user-json.ts';

/** Members of the body. */
export const inviteBody = { email: 'text', data: 'metadata' } as const satisfies BodyShape;

/** `POST /invite`. */
export async function invite(context: AuthContext, { role }: AdminBearer, body: unknown): Promise<UserJson> {
  const members = readMembers(body, inviteBody);
  const email = parseEmail(members.email ?? '');
  const { config, services } = context;
  return transact(context, ['send_email'], async (session) => {
    const user = await prepareInvited(session, context, email, members.data ?? {});
    const traits = { user_id: user.id, user_email: email };
    await writeAudit(session, { action: 'user_invited', actor: adminActor(role), traits }, config, services);
    await sendTokens(session, context, {
      kind: 'invite',
      user,
      to: email,
      tokenType: 'confirmation_token',
      isPkce: false,
    });
    await updateUser(session, user.id, { invitedAt: nowOf(context) }, nowOf(context));
    return toUserJson(await reloadUser(session, user.id));
  });
}

/**
 * The user to invite, made where there is none. Of one who never confirmed nothing stays but what an admin has entered:
 * whoever accepts the invitation is somebody else.
 *
 * @throws AuthError `email_exists` where the user has confirmed already.
 */
export async function prepareInvited(
  session: Queryable,
  context: AuthContext,
  email: string,
  data: Metadata,
): Promise<User> {
  const found = await findEmailOwner(session, email, context.audience);
  if (found === null) return insertWithoutPassword(session, context, email, data);
  const user = await lockKnownUser(session, found);
  if (user.emailConfirmedAt !== null || user.email?.toLowerCase() !== email) throw new AuthError('email_exists');
  return takeOver(session, context, user, data);
}

async function insertWithoutPassword(
  session: Queryable,
  context: AuthContext,
  email: string,
  data: Metadata,
): Promise<User> {
  const { services, audience } = context;
  const id = randomUuid(services.random);
  const appMetadata = { provider: 'email', providers: ['email'] };
  const facts = { id, audience, role: services.userRole, email, phone: null, passwordHash: null };
  await insertUser(session, { ...facts, appMetadata, userMetadata: data }, services);
  const identityData = emailIdentityData(id, email, {});
  await insertIdentity(session, { userId: id, provider: 'email', providerId: id, identityData }, services);
  await noteEntry(session, id, 'admin');
  return reloadUser(session, id);
}

/** An admin begins anew with an account that nobody has confirmed. What an admin has entered before stays. */
export async function takeOver(session: Queryable, context: AuthContext, user: User, data: Metadata): Promise<User> {
  const isOurs = (await readEntry(session, user.id)) === 'admin';
  if (isOurs) return user;
  const alone = await settleFirstProof(session, context, user, { address: 'email', proof: { by: 'admin' } });
  await updateUser(session, user.id, { userMetadata: enterMetadata(alone.userMetadata, data) }, nowOf(context));
  await noteEntry(session, user.id, 'admin');
  return reloadUser(session, user.id);
}
