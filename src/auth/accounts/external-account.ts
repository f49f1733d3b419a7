/**
 * Finds the account for a sign-in with a provider: the account that has the identity, the account that has the address,
 * or a new one.
 *
 * An address alone gives access only if the provider verified it. If the account's address was never proved,
 * another person may have created it. Its password, identities and sessions are then removed, unless the account was
 * entered with this identity.
 */
import { randomUUID } from 'node:crypto';
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import { countMessage } from '../messages/answer-first.ts';
import { notifyUser } from '../messages/notify-user.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import { AuthError } from '../model/auth-error.ts';
import { mergeWhatFits } from '../model/metadata.ts';
import { isBanned, type User } from '../model/user.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { askBeforeUserCreated } from '../steps/ask-hook.ts';
import { type AuthContext, nowOf, type Transaction } from '../steps/auth-context.ts';
import { withLocale } from '../steps/keep-locale.ts';
import { auditUser } from '../store/audit.ts';
import {
  findIdentityOwner,
  insertIdentity,
  syncProviders,
  touchIdentity,
  updateIdentityData,
} from '../store/identities.ts';
import { findEmailOwners, insertUser, isEmailTaken, lockKnownUser, reloadUser, updateUser } from '../store/users.ts';
import { confirmEmail } from './confirm-user.ts';
import { takeAddress } from './take-address.ts';

/** The account. If `refusal` is set, no session starts, but the changes are committed, because the email was sent. */
export interface ExternalEntry {
  readonly userId: string;
  readonly refusal: AuthError | null;
}

/**
 * Finds or creates the account, in the transaction of the sign-in.
 *
 * @param isEmailOptional Accept accounts without an address.
 * @throws AuthError `signup_disabled`, `user_banned`, and errors of sending; nothing is stored then.
 *   `identity_already_exists` and `email_exists` if another request signed in at the same time: retry.
 */
export async function enterExternally(
  tx: Transaction,
  external: ExternalUser,
  isEmailOptional: boolean,
): Promise<ExternalEntry> {
  const { user, isOwn } = await findOrMakeAccount(tx, external);
  if (isBanned(user, nowOf(tx))) throw new AuthError('user_banned');
  const syncing = syncProviders(tx, user.id);
  const hasNone = isEmailOptional && external.email === null;
  if (user.emailConfirmedAt !== null || hasNone) {
    await Promise.all([syncing, auditUser(tx, 'login', user, { provider: external.provider })]);
    return { userId: user.id, refusal: null };
  }
  await syncing;
  return { userId: user.id, refusal: await proveEmail(tx, user, external, isOwn) };
}

/** Hooks that the transaction may call: an unproved address may have to get an email. */
export function askedFor(context: AuthContext, external: ExternalUser): readonly HookName[] {
  const isSending = external.email !== null && !isProved(context, external);
  return ['before_user_created', 'custom_access_token', ...(isSending ? (['send_email'] as const) : [])];
}

/** Whether the address counts as proved. */
export function isProved({ config }: AuthContext, { email, isEmailVerified }: ExternalUser): boolean {
  return email !== null && (isEmailVerified || config.mailer_autoconfirm);
}

interface Account {
  readonly user: User;
  /** The account had the identity before, or was made for it. */
  readonly isOwn: boolean;
}

async function findOrMakeAccount(tx: Transaction, external: ExternalUser): Promise<Account> {
  const known = await findIdentityOwner(tx, external.provider, external.subject);
  if (known !== null) return { user: await returnToAccount(tx, external, known), isOwn: true };
  // With autoconfirm, an address needs no proof for a new account. For the account of somebody else it does.
  const owner = external.isEmailVerified ? await findProvedOwner(tx, external.email ?? '') : null;
  return owner === null
    ? { user: await makeAccount(tx, external), isOwn: true }
    : { user: await joinAccount(tx, external, owner), isOwn: false };
}

async function returnToAccount(
  tx: Transaction,
  { identityData }: ExternalUser,
  identity: { readonly id: string; readonly userId: string },
): Promise<User> {
  const user = await lockKnownUser(tx, { id: identity.userId });
  if (!user.identities.some(({ id }) => id === identity.id)) {
    throw new AuthError('conflict', 'The identity has just been unlinked');
  }
  const userMetadata = mergeWhatFits(user.userMetadata, identityData);
  const writes = [
    updateIdentityData(tx, identity.id, identityData),
    touchIdentity(tx, identity.id),
    updateUser(tx, user.id, { userMetadata }),
  ];
  const [updated] = await Promise.all([reloadUser(tx, user.id), ...writes]);
  return updated;
}

/** An identity with an unverified address does not own it. */
async function findProvedOwner(tx: Transaction, email: string): Promise<{ readonly id: string } | null> {
  const [id, another] = await findEmailOwners(tx, email, tx.audience);
  if (another !== undefined) {
    const message = 'Multiple accounts with the same email address in the same linking domain detected: default';
    throw new AuthError('unexpected_failure', message);
  }
  return id === undefined ? null : { id };
}

async function makeAccount(tx: Transaction, external: ExternalUser): Promise<User> {
  const { services, config, audience } = tx;
  if (config.disable_signup) throw new AuthError('signup_disabled');
  const id = randomUUID();
  const isFree = external.email !== null && !(await isEmailTaken(tx, external.email, audience));
  const facts = {
    id,
    audience,
    role: services.userRole,
    phone: null,
    passwordHash: null,
    email: isFree ? external.email : null,
    appMetadata: { provider: external.provider, providers: [external.provider] },
    userMetadata: withLocale(tx, mergeWhatFits({}, external.identityData)),
  };
  await askBeforeUserCreated(tx, facts);
  // Await the insert alone, because it may be refused. A statement sent right behind it would fail first and hide the
  // reason.
  await insertUser(tx, facts);
  await addIdentity(tx, external, id);
  return reloadUser(tx, id);
}

/** Adds the identity to an existing account and notifies its owner. */
async function joinAccount(tx: Transaction, external: ExternalUser, owner: { readonly id: string }): Promise<User> {
  const user = await lockKnownUser(tx, owner);
  const userMetadata = mergeWhatFits(user.userMetadata, external.identityData);
  await addIdentity(tx, external, user.id);
  const writes = [
    updateUser(tx, user.id, { userMetadata }),
    auditUser(tx, 'identity_linked', user, { provider: external.provider }),
  ];
  const [linked] = await Promise.all([reloadUser(tx, user.id), ...writes]);
  await notifyUser(tx, { kind: 'identity_linked', user: linked, provider: external.provider });
  return linked;
}

/** @throws AuthError `identity_already_exists` */
export function addIdentity(
  tx: Transaction,
  { provider, subject, identityData }: ExternalUser,
  userId: string,
): Promise<string> {
  return insertIdentity(tx, { userId, provider, providerId: subject, identityData });
}

/** Continues with an account whose address is unconfirmed. @returns Why no session starts yet; null if one may. */
async function proveEmail(
  tx: Transaction,
  user: User,
  external: ExternalUser,
  isOwn: boolean,
): Promise<AuthError | null> {
  if (isProved(tx, external)) {
    const owner = await takeEmail(tx, user, external);
    if (owner !== null) {
      await auditUser(tx, 'user_signedup', owner, { provider: external.provider });
      await confirmEmail(tx, owner, { by: 'provider', external, isOwn });
      return null;
    }
  }
  const { email } = external;
  const isHidden = tx.config.security_hide_accounts && email !== null;
  if (isHidden) await countMessage(tx, { kind: 'email', address: email }, user.email !== null);
  if (user.email !== null) await sendTokenEmail(tx, 'confirmation', user);
  if (tx.config.mailer_allow_unverified_email_sign_ins) return null;
  return new AuthError('provider_email_needs_verification', askToVerify(user.email !== null || isHidden, external));
}

/** Sets the account's address to the one that counts as proved. Returns null if another user has it. */
async function takeEmail(tx: Transaction, user: User, external: ExternalUser): Promise<User | null> {
  const { isEmailVerified: isProved } = external;
  const email = external.email ?? '';
  if (user.email?.toLowerCase() === email) return user;
  if (!(await takeAddress(tx, user, { kind: 'email', address: email, isProved }))) return null;
  if (await isEmailTaken(tx, email, tx.audience, user.id)) return null;
  await updateUser(tx, user.id, { email });
  return reloadUser(tx, user.id);
}

function askToVerify(isSent: boolean, { provider }: ExternalUser): string {
  return isSent
    ? `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`
    : `Unverified email with ${provider}. Verify the email with ${provider} in order to sign in`;
}
