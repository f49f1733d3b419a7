/**
 * Changes that users make to themselves: password, metadata, email address, phone number. All of a request or nothing.
 *
 * The slow part (comparing passwords) runs before the transaction; the facts that decide are checked again in it.
 */
import { text } from '../../shared/schema.ts';
import { changePassword, type NewPassword, preparePassword } from '../accounts/change-password.ts';
import { applyEmailChange, askEmailChange } from '../accounts/email-change.ts';
import { lockCurrentUser } from '../accounts/lock-current-user.ts';
import { applyPhoneChange } from '../accounts/phone-change.ts';
import { toUserJson, type UserJson } from '../answers/user-json.ts';
import { sendCode } from '../messages/send-phone-code.ts';
import { parseEmail, parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import { enterMetadata, type Metadata } from '../model/metadata.ts';
import { lacksSecondFactor, type User } from '../model/user.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { assertStrong } from '../secrets/password-policy.ts';
import { type Channel, parseChannel } from '../sms/sms-provider.ts';
import { type AuthContext, type Transaction, transact } from '../steps/auth-context.ts';
import { bodySchema, metadata, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { type PkceChallenge, parsePkce } from '../store/flows.ts';
import { isAddressHeld, noteAsker } from '../store/pending-changes.ts';
import { reloadUser, updateUser } from '../store/users.ts';

interface Changes {
  /** Null: not given, or unchanged. */
  readonly email: string | null;
  readonly phone: string | null;
  readonly channel: Channel;
  readonly password: string | null;
  readonly currentPassword: string | null;
  readonly nonce: string | null;
  readonly data: Metadata | null;
  readonly appMetadata: Metadata | null;
  readonly pkce: PkceChallenge | null;
}

/** `PUT /user`. @returns The updated user. */
export async function updateOwnUser(context: AuthContext, bearer: UserBearer, body: unknown): Promise<UserJson> {
  const changes = await readChanges(context, bearer, body);
  await assertAllowed(context, bearer, changes);
  const { password, currentPassword, nonce } = changes;
  const given = password === null ? null : { password, currentPassword, nonce };
  const newPassword = given === null ? null : await preparePassword(context, bearer, given);
  const asks = [
    ...(changes.email === null ? [] : (['send_email'] as const)),
    ...(changes.phone === null ? [] : (['send_sms'] as const)),
  ];
  const user = await transact(context, asks, (tx) => apply(tx, bearer, changes, newPassword));
  return toUserJson(user);
}

/** Fields of the body. */
export const updateUserBody = bodySchema({
  email: text, phone: text, channel: text, password: text, current_password: text, nonce: text,
  data: metadata, app_metadata: metadata, code_challenge: text, code_challenge_method: text,
}); // biome-ignore format: a list of fields

async function readChanges(context: AuthContext, { user }: UserBearer, body: unknown): Promise<Changes> {
  const fields = readFields(body, updateUserBody);
  const email = fields.email ? parseEmail(fields.email) : null;
  const phone = fields.phone ? parsePhone(fields.phone) : null;
  if (fields.password !== null) await assertStrong(fields.password, context.config, context.services.isPwned);
  return {
    email: email === user.email?.toLowerCase() ? null : email,
    phone: phone === user.phone ? null : phone,
    channel: parseChannel(fields.channel, context.config),
    password: fields.password,
    currentPassword: fields.current_password,
    nonce: fields.nonce || null,
    data: fields.data,
    appMetadata: fields.app_metadata,
    pkce: parsePkce(fields.code_challenge, fields.code_challenge_method),
  };
}

async function assertAllowed(context: AuthContext, bearer: UserBearer, changes: Changes): Promise<void> {
  const { user, session, claims } = bearer;
  const { email, phone, password, nonce, appMetadata } = changes;
  const { config, services } = context;
  const { database, adminRoles } = services;
  if (appMetadata !== null && !adminRoles.includes(String(claims.role))) {
    throw new AuthError('not_admin', 'Updating app_metadata requires admin privileges');
  }
  assertSecondFactor({ user, session }, changes);
  if (user.isAnonymous && password !== null && email === null && phone === null) {
    const message = 'Updating password of an anonymous user without an email or phone is not allowed';
    throw new AuthError('validation_failed', message, { status: 422 });
  }
  if (user.isSsoUser && (isSensitive(changes) || nonce !== null)) {
    throw new AuthError('user_sso_managed', 'Updating email, phone, password of a SSO account only possible via SSO');
  }
  // Where accounts are hidden, a taken address is refused after its proof.
  if (config.security_hide_accounts) return;
  const own = { id: user.id, audience: context.audience };
  if (email !== null && (await isAddressHeld(database, 'email', email, own))) throw new AuthError('email_exists');
  if (phone !== null && (await isAddressHeld(database, 'phone', phone, own))) throw new AuthError('phone_exists');
}

/** Whether an anonymous user's new address counts as proved immediately. */
function countsAsProven({ config }: AuthContext, user: User): boolean {
  return user.isAnonymous && config.mailer_autoconfirm;
}

function isSensitive({ password, email, phone }: Changes): boolean {
  return password !== null || email !== null || phone !== null;
}

function assertSecondFactor({ user, session }: Pick<UserBearer, 'user' | 'session'>, changes: Changes): void {
  if (!isSensitive(changes) || !lacksSecondFactor(user, session)) return;
  const message = 'AAL2 session is required to update email or password when MFA is enabled.';
  throw new AuthError('insufficient_aal', message);
}

async function apply(
  tx: Transaction,
  bearer: UserBearer,
  changes: Changes,
  newPassword: NewPassword | null,
): Promise<User> {
  const { data, appMetadata, email, phone } = changes;
  const asking = await lockCurrentUser(tx, bearer);
  assertSecondFactor(asking, changes);
  let { user } = asking;
  if (newPassword !== null) {
    await changePassword(tx, user, bearer.session, newPassword);
    user = await reloadUser(tx, user.id);
  }
  if (data !== null || appMetadata !== null) {
    const metadata = {
      ...(data === null ? {} : { userMetadata: enterMetadata(user.userMetadata, data) }),
      ...(appMetadata === null ? {} : { appMetadata: enterMetadata(user.appMetadata, appMetadata) }),
    };
    await updateUser(tx, user.id, metadata);
    user = await reloadUser(tx, user.id);
  }
  if (email !== null) user = await changeEmail(tx, user, email, changes.pkce);
  if (phone !== null) user = await changePhone(tx, user, phone, changes.channel);
  if (email !== null || phone !== null) await noteAsker(tx, user.id, asking.session?.id ?? null);
  await auditUser(tx, 'user_modified', user);
  return reloadUser(tx, user.id);
}

async function changeEmail(tx: Transaction, user: User, email: string, pkce: PkceChallenge | null): Promise<User> {
  if (countsAsProven(tx, user)) {
    return applyEmailChange(tx, { ...user, emailChange: email }, { by: 'session' });
  }
  await askEmailChange(tx, user, { newEmail: email, pkce });
  return reloadUser(tx, user.id);
}

async function changePhone(tx: Transaction, user: User, phone: string, channel: Channel): Promise<User> {
  if (tx.config.sms_autoconfirm) return applyPhoneChange(tx, user, { phone, isProved: false });
  await updateUser(tx, user.id, { phoneChange: phone });
  await sendCode(tx, { purpose: 'phone_change', user, phone, channel });
  return reloadUser(tx, user.id);
}
