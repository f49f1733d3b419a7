/**
 * Which account somebody gets who signs in with a provider: the one that has the identity, the one that has the address, or
 * a new one.
 *
 * An address alone opens an account only where the provider has seen a proof of it. Whoever made the account without such a
 * proof may be somebody else, so nothing that they left in it stays: no password, no identity, no session.
 */

import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import { AuthError } from '../auth-error.ts';
import { queueNotification } from '../messages/queue-notification.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import { mergeWhatFits } from '../metadata.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { randomUuid } from '../random.ts';
import { askBeforeUserCreated } from '../steps/ask-hook.ts';
import { type AuthContext, nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { noteEntry } from '../store/entries.ts';
import {
  findIdentityOwner,
  insertIdentity,
  syncProviders,
  touchIdentity,
  updateIdentityData,
} from '../store/identities.ts';
import { findEmailOwners, insertUser, isEmailTaken, lockKnownUser, reloadUser, updateUser } from '../store/users.ts';
import { isBanned, type User } from '../user.ts';
import { claimAccount } from './claim-account.ts';
import { confirmEmail } from './confirm-user.ts';

/** Whose account it is. With a refusal nobody gets in, and what was written stays: the email that was sent is good. */
export interface ExternalEntry {
  readonly userId: string;
  readonly refusal: AuthError | null;
}

/**
 * Finds or makes the account, in the transaction of the sign-in.
 *
 * @param isEmailOptional Accounts without an address are fine.
 * @throws AuthError `signup_disabled`, `user_banned`, and what sending can throw; nothing is stored then.
 *   `identity_already_exists` and `email_exists` where somebody else has just signed in: once more is right then.
 */
export async function enterExternally(
  tx: Transaction,
  external: ExternalUser,
  isEmailOptional: boolean,
): Promise<ExternalEntry> {
  const user = await findOrMakeAccount(tx, external);
  if (isBanned(user, nowOf(tx))) throw new AuthError('user_banned');
  const syncing = syncProviders(tx, user.id);
  const hasNone = isEmailOptional && external.email === null;
  if (user.emailConfirmedAt !== null || hasNone) {
    await Promise.all([syncing, auditUser(tx, 'login', user, { provider: external.provider })]);
    return { userId: user.id, refusal: null };
  }
  await syncing;
  return { userId: user.id, refusal: await proveEmail(tx, user, external) };
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

async function findOrMakeAccount(tx: Transaction, external: ExternalUser): Promise<User> {
  const known = await findIdentityOwner(tx, external.provider, external.subject);
  if (known !== null) return returnToAccount(tx, external, known);
  const owner = isProved(tx, external) ? await findProvedOwner(tx, external.email ?? '') : null;
  return owner === null ? makeAccount(tx, external) : joinAccount(tx, external, owner);
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

/** An identity that only claims the address makes no owner. */
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
  const id = randomUuid(services.random);
  const isFree = external.email !== null && !(await isEmailTaken(tx, external.email, audience));
  const facts = {
    ...{ id, audience, role: services.userRole, phone: null, passwordHash: null },
    email: isFree ? external.email : null,
    appMetadata: { provider: external.provider, providers: [external.provider] },
    userMetadata: mergeWhatFits({}, external.identityData),
  };
  await askBeforeUserCreated(tx, facts);
  // What may be refused is waited for alone: whatever followed it at once would fail first, and say nothing of the reason.
  await insertUser(tx, facts);
  await addIdentity(tx, external, id);
  await noteEntry(tx, id, 'code');
  return reloadUser(tx, id);
}

/** An account that was there before: its owner hears of the new way into it. */
async function joinAccount(tx: Transaction, external: ExternalUser, owner: { readonly id: string }): Promise<User> {
  const user = await lockKnownUser(tx, owner);
  const userMetadata = mergeWhatFits(user.userMetadata, external.identityData);
  await addIdentity(tx, external, user.id);
  const writes = [
    updateUser(tx, user.id, { userMetadata }),
    auditUser(tx, 'identity_linked', user, { provider: external.provider }),
  ];
  const [linked] = await Promise.all([reloadUser(tx, user.id), ...writes]);
  await queueNotification(tx, { kind: 'identity_linked', user: linked, provider: external.provider });
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

/** Goes on with an account whose address nobody has confirmed. @returns Why nobody gets in yet; null where they do. */
async function proveEmail(tx: Transaction, user: User, external: ExternalUser): Promise<AuthError | null> {
  if (isProved(tx, external)) {
    const owner = await takeEmail(tx, user, external.email ?? '');
    if (owner !== null) {
      await auditUser(tx, 'user_signedup', owner, { provider: external.provider });
      await confirmEmail(tx, owner, { by: 'provider', external });
      return null;
    }
  }
  const alone = await claimAccount(tx, user, external);
  if (alone.email !== null) {
    await sendTokenEmail(tx, 'confirmation', alone, { mayKnowOfAccount: true });
  }
  if (tx.config.mailer_allow_unverified_email_sign_ins) return null;
  return new AuthError('provider_email_needs_verification', askToVerify(alone, external));
}

/** The account must get the very address that was proved. Null where it is somebody else's. */
async function takeEmail(tx: Transaction, user: User, email: string): Promise<User | null> {
  if (user.email?.toLowerCase() === email) return user;
  if (await isEmailTaken(tx, email, tx.audience, user.id)) return null;
  await updateUser(tx, user.id, { email });
  return reloadUser(tx, user.id);
}

function askToVerify({ email }: User, { provider }: ExternalUser): string {
  return email === null
    ? `Unverified email with ${provider}. Verify the email with ${provider} in order to sign in`
    : `Unverified email with ${provider}. A confirmation email has been sent to your ${provider} email`;
}
