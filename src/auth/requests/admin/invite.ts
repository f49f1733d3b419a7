/** Invites a user: creates one without a password, and sends an email whose link signs in, to choose a password. */
import { randomUUID } from 'node:crypto';
import { text } from '../../../shared/schema.ts';
import { clearAccount } from '../../accounts/claim-account.ts';
import { toUserJson, type UserJson } from '../../answers/user-json.ts';
import { sendTokens } from '../../messages/send-token.ts';
import { parseEmail } from '../../model/addresses.ts';
import { AuthError } from '../../model/auth-error.ts';
import { enterMetadata, type Metadata } from '../../model/metadata.ts';
import type { User } from '../../model/user.ts';
import { type AuthContext, nowOf, type Transaction, transact } from '../../steps/auth-context.ts';
import { bodySchema, metadata, needed, readFields } from '../../steps/request-body.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';
import { emailIdentityData, insertIdentity } from '../../store/identities.ts';
import { noteAdmin, readUnverifiedInput } from '../../store/unverified-input.ts';
import { findEmailOwner, insertUser, lockKnownUser, reloadUser, updateUser } from '../../store/users.ts';

/** Fields of the body. */
export const inviteBody = bodySchema({ email: needed(text), data: metadata });

/** `POST /invite`. */
export async function invite(context: AuthContext, admin: Admin, body: unknown): Promise<UserJson> {
  const fields = readFields(body, inviteBody);
  const email = parseEmail(fields.email ?? '');
  return transact(context, ['send_email'], async (tx) => {
    const user = await prepareInvited(tx, email, fields.data ?? {});
    const traits = { user_id: user.id, user_email: email };
    await auditAdmin(tx, 'user_invited', admin, traits);
    await sendTokens(tx, null, { kind: 'invite', user, to: email, tokenType: 'confirmation_token' });
    await updateUser(tx, user.id, { invitedAt: nowOf(context) });
    return toUserJson(await reloadUser(tx, user.id));
  });
}

/**
 * The user to invite, created if there is none. From an unconfirmed account, only data entered by admins stays: the
 * invited person may not be the one who signed up.
 *
 * @throws AuthError `email_exists` if the user is confirmed.
 */
export async function prepareInvited(tx: Transaction, email: string, data: Metadata): Promise<User> {
  const found = await findEmailOwner(tx, email, tx.audience);
  if (found === null) return noteAndReload(tx, await insertEmailUser(tx, email, data, null));
  const user = await lockKnownUser(tx, found);
  if (user.emailConfirmedAt !== null || user.email?.toLowerCase() !== email) throw new AuthError('email_exists');
  return takeOver(tx, user, data);
}

/** Creates a user with an email identity. */
export async function insertEmailUser(
  tx: Transaction,
  email: string,
  data: Metadata,
  passwordHash: string | null,
): Promise<User> {
  const { services, audience } = tx;
  const id = randomUUID();
  const appMetadata = { provider: 'email', providers: ['email'] };
  const facts = { id, audience, role: services.userRole, email, phone: null, passwordHash };
  await insertUser(tx, { ...facts, appMetadata, userMetadata: data });
  const identityData = emailIdentityData(id, email, {});
  await insertIdentity(tx, { userId: id, provider: 'email', providerId: id, identityData });
  return reloadUser(tx, id);
}

/** Resets an unconfirmed account for an admin. Keeps the data that admins entered. */
async function takeOver(tx: Transaction, user: User, data: Metadata): Promise<User> {
  const isOurs = (await readUnverifiedInput(tx, user.id))?.enteredBy === 'admin';
  if (isOurs) return user;
  const alone = await clearAccount(tx, user, 'email');
  await updateUser(tx, user.id, { userMetadata: enterMetadata(alone.userMetadata, data) });
  return noteAndReload(tx, user);
}

async function noteAndReload(tx: Transaction, { id }: User): Promise<User> {
  await noteAdmin(tx, id);
  return reloadUser(tx, id);
}
