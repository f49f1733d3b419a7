/**
 * Which account somebody gets who signs in with a provider: the one that has the identity, the one that has the address, or
 * a new one.
 *
 * An address alone opens an account only where the provider has seen a proof of it. Whoever made the account without such a
 * proof may be somebody else, so nothing that they left in it stays: no password, no identity, no session.
 */
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import { queueNotification } from '../messages/queue-notification.ts';
import { assertMailNotTooFrequent } from '../messages/send-token.ts';
import { mergeWhatFits } from '../metadata.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { randomUuid } from '../random.ts';
import { sendConfirmation } from '../requests/sign-up.ts';
import { type AuthContext, nowOf } from '../steps/auth-context.ts';
import { askBeforeUserCreated } from '../steps/before-user-created.ts';
import { reloadUser } from '../steps/issue-session.ts';
import { type AuditAction, userActor, writeAudit } from '../store/audit.ts';
import { noteEntry } from '../store/entries.ts';
import {
  findIdentityOwner,
  insertIdentity,
  syncProviders,
  touchIdentity,
  updateIdentityData,
} from '../store/identities.ts';
import { insertUser, isEmailTaken, updateUser } from '../store/users.ts';
import { nilUuid } from '../tools.ts';
import { isBanned, type User } from '../user.ts';
import { confirmEmail } from './confirm-user.ts';
import { evictStrangers } from './evict-strangers.ts';
import { lockKnownUser } from './lock-known-user.ts';

/** Somebody who signs in. */
export interface ExternalVisit {
  readonly external: ExternalUser;
  /** Accounts without an address are fine. */
  readonly isEmailOptional: boolean;
}

/** Whose account it is. With a refusal nobody gets in, and what was written stays: the email that was sent is good. */
export interface ExternalEntry {
  readonly userId: string;
  readonly refusal: AuthError | null;
}

/**
 * Finds or makes the account, in the transaction of the sign-in.
 *
 * @throws AuthError `signup_disabled`, `user_banned`, and what sending can throw; nothing is stored then.
 *   `identity_already_exists` and `email_exists` where somebody else has just signed in: once more is right then.
 */
export async function enterExternally(
  session: Queryable,
  context: AuthContext,
  visit: ExternalVisit,
): Promise<ExternalEntry> {
  const { external, isEmailOptional } = visit;
  const user = await findOrMakeAccount(session, context, external);
  if (isBanned(user, nowOf(context))) throw new AuthError('user_banned');
  const syncing = syncProviders(session, user.id, nowOf(context));
  const hasNone = isEmailOptional && external.email === null;
  if (user.emailConfirmedAt !== null || hasNone) {
    await Promise.all([syncing, note(session, context, { action: 'login', user, external })]);
    return { userId: user.id, refusal: null };
  }
  await syncing;
  return { userId: user.id, refusal: await proveEmail(session, context, user, external) };
}

/** What a transaction for them may ask: an address that is not proved may have to get an email. */
export function askedFor(context: AuthContext, external: ExternalUser): readonly HookName[] {
  const isSending = external.email !== null && !isProved(context, external);
  return ['before_user_created', 'custom_access_token', ...(isSending ? (['send_email'] as const) : [])];
}

/** Whether the address counts as proved. */
export function isProved({ config }: AuthContext, { email, isEmailVerified }: ExternalUser): boolean {
  return email !== null && (isEmailVerified || config.mailer_autoconfirm);
}

async function findOrMakeAccount(session: Queryable, context: AuthContext, external: ExternalUser): Promise<User> {
  const known = await findIdentityOwner(session, external.provider, external.subject);
  if (known !== null) return returnToAccount(session, context, external, known);
  const owner = isProved(context, external) ? await findProvedOwner(session, context, external.email ?? '') : null;
  return owner === null ? makeAccount(session, context, external) : joinAccount(session, context, external, owner);
}

async function returnToAccount(
  session: Queryable,
  context: AuthContext,
  { identityData }: ExternalUser,
  identity: { readonly id: string; readonly userId: string },
): Promise<User> {
  const user = await lockKnownUser(session, { id: identity.userId });
  if (!user.identities.some(({ id }) => id === identity.id)) {
    throw new AuthError('conflict', 'The identity has just been unlinked');
  }
  const now = nowOf(context);
  const userMetadata = mergeWhatFits(user.userMetadata, identityData);
  const writes = [
    updateIdentityData(session, identity.id, identityData, now),
    touchIdentity(session, identity.id, now),
    updateUser(session, user.id, { userMetadata }, now),
  ];
  const [updated] = await Promise.all([reloadUser(session, user.id), ...writes]);
  return updated;
}

/** The user with the address, or with an identity for which it was proved. An identity that only claims it is none. */
async function findProvedOwner(
  session: Queryable,
  { audience }: AuthContext,
  email: string,
): Promise<{ id: string } | null> {
  const rows = await session.query(
    `select u.id from auth.users u
    where u.instance_id = '${nilUuid}' and u.aud = $2 and u.is_sso_user = false and (
      lower(u.email) = $1 or u.id in (
        select i.user_id from auth.identities i where i.email = $1 and i.identity_data -> 'email_verified' = 'true'
      )
    )
    limit 2`,
    [email, audience],
  );
  if (rows.length > 1) {
    const message = 'Multiple accounts with the same email address in the same linking domain detected: default';
    throw new AuthError('unexpected_failure', message);
  }
  return rows[0] === undefined ? null : { id: rows[0].id as string };
}

async function makeAccount(session: Queryable, context: AuthContext, external: ExternalUser): Promise<User> {
  const { services, config, audience } = context;
  if (config.disable_signup) throw new AuthError('signup_disabled');
  const id = randomUuid(services.random);
  const isFree = external.email !== null && !(await isEmailTaken(session, external.email, audience));
  const facts = {
    ...{ id, audience, role: services.userRole, phone: null, passwordHash: null },
    email: isFree ? external.email : null,
    appMetadata: { provider: external.provider, providers: [external.provider] },
    userMetadata: mergeWhatFits({}, external.identityData),
  };
  await askBeforeUserCreated(session, context, facts);
  // What may be refused is waited for alone: whatever followed it at once would fail first, and say nothing of the reason.
  await insertUser(session, facts, services);
  await addIdentity(session, context, external, id);
  await noteEntry(session, id, 'code');
  return reloadUser(session, id);
}

/** An account that was there before: its owner hears of the new way into it. */
async function joinAccount(
  session: Queryable,
  context: AuthContext,
  external: ExternalUser,
  owner: { readonly id: string },
): Promise<User> {
  const user = await lockKnownUser(session, owner);
  const userMetadata = mergeWhatFits(user.userMetadata, external.identityData);
  await addIdentity(session, context, external, user.id);
  const writes = [
    updateUser(session, user.id, { userMetadata }, nowOf(context)),
    note(session, context, { action: 'identity_linked', user, external }),
  ];
  const [linked] = await Promise.all([reloadUser(session, user.id), ...writes]);
  await queueNotification(session, context, { kind: 'identity_linked', user: linked, provider: external.provider });
  return linked;
}

/** @throws AuthError `identity_already_exists` */
export function addIdentity(
  session: Queryable,
  { services }: AuthContext,
  { provider, subject, identityData }: ExternalUser,
  userId: string,
): Promise<string> {
  return insertIdentity(session, { userId, provider, providerId: subject, identityData }, services);
}

/** Goes on with an account whose address nobody has confirmed. @returns Why nobody gets in yet; null where they do. */
async function proveEmail(
  session: Queryable,
  context: AuthContext,
  user: User,
  external: ExternalUser,
): Promise<AuthError | null> {
  if (isProved(context, external)) {
    const owner = await takeEmail(session, context, user, external.email ?? '');
    if (owner !== null) {
      await note(session, context, { action: 'user_signedup', user: owner, external });
      await confirmEmail(session, context, owner, { by: 'provider', external });
      return null;
    }
  }
  const alone = await evictStrangers(session, context, user, external);
  if (alone.email !== null) {
    assertMailNotTooFrequent(context, alone.confirmationSentAt);
    await sendConfirmation(session, context, alone, null);
  }
  if (context.config.mailer_allow_unverified_email_sign_ins) return null;
  return new AuthError('provider_email_needs_verification', askToVerify(alone, external));
}

/** The account must get the very address that was proved. Null where it is somebody else's. */
async function takeEmail(session: Queryable, context: AuthContext, user: User, email: string): Promise<User | null> {
  if (user.email?.toLowerCase() === email) return user;
  if (await isEmailTaken(session, email, context.audience, user.id)) return null;
  await updateUser(session, user.id, { email }, nowOf(context));
  return reloadUser(session, user.id);
}

function askToVerify({ email }: User, { provider }: ExternalUser): string {
  return email === null
    ? `Unverified email with ${provider}. Verify the email with ${provider} in order to sign in`
    : `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`;
}

interface ExternalEvent {
  readonly action: AuditAction;
  readonly user: User;
  readonly external: ExternalUser;
}

/** Writes what a provider had a part in. */
export function note(
  session: Queryable,
  { config, services, client }: AuthContext,
  { action, user, external }: ExternalEvent,
): Promise<void> {
  const ip = action === 'identity_linked' ? { ip: client.ip ?? '' } : {};
  const traits = { provider: external.provider };
  return writeAudit(session, { action, actor: userActor(user), traits, ...ip }, config, services);
}
