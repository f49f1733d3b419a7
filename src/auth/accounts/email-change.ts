/** Changes the email address of a user: the request, and the confirmed change. */
import { notifyUser } from '../messages/notify-user.ts';
import { assertPause, sendTokens } from '../messages/send-token.ts';
import { AuthError } from '../model/auth-error.ts';
import { mergeMetadata } from '../model/metadata.ts';
import type { User } from '../model/user.ts';
import { type AuthContext, nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import type { PkceChallenge } from '../store/flows.ts';
import { emailIdentityData, insertIdentity, updateIdentityData } from '../store/identities.ts';
import { reloadUser, updateUser } from '../store/users.ts';
import { type Proof, settleFirstProof } from './claim-account.ts';
import { takeAddress } from './take-address.ts';

/** Whether the user must confirm a change of address at the present address, too. */
function isSecureChange(context: AuthContext, user: User): boolean {
  return context.config.mailer_secure_email_change_enabled && user.email !== null;
}

/** A change that is asked for. */
interface EmailChange {
  readonly newEmail: string;
  readonly pkce: PkceChallenge | null;
}

/** Whose proof a pending change needs. */
interface ChangeProofs {
  /** One of the present address counts. */
  readonly ofPresent: boolean;
  /** One of either address leaves the other one to be proven. */
  readonly ofBoth: boolean;
}

/** Whose proof the pending change of a user needs now. */
export function proofsOfChange(context: AuthContext, user: User): ChangeProofs {
  const status = user.emailChangeConfirmStatus;
  const isSecure = isSecureChange(context, user);
  return {
    ofPresent: status !== 0 || isSecure,
    ofBoth: status === 0 && isSecure,
  };
}

/**
 * Stores the new address and sends the email to it; a secure change also sends one to the present address. Invalidates
 * earlier links of a change.
 *
 * @param user Locked.
 * @param change `pkce` is null without the PKCE flow.
 */
export async function askEmailChange(tx: Transaction, user: User, change: EmailChange): Promise<void> {
  const { newEmail, pkce } = change;
  assertPause(tx, user.emailChangeSentAt);
  // Clears the token of the present address: a request that sends no email there must invalidate the earlier token.
  const reset = { emailChange: newEmail, emailChangeConfirmStatus: 0, emailChangeTokenCurrent: '' } as const;
  await updateUser(tx, user.id, reset);
  await tx.query(
    `delete from auth.one_time_tokens t where t.user_id = $1::uuid and t.token_type = 'email_change_token_current'`,
    [user.id],
  );
  const common = { kind: 'email_change', user, newEmail } as const;
  const flow = pkce === null ? null : ({ pkce, method: 'email_change' } as const);
  const toNew = { ...common, to: newEmail, tokenType: 'email_change_token_new' } as const;
  if (user.email === null || !isSecureChange(tx, user)) return sendTokens(tx, flow, toNew);
  await sendTokens(tx, flow, toNew, { ...common, to: user.email, tokenType: 'email_change_token_current' });
}

/** Makes the pending address the confirmed one, in the email identity too. @throws AuthError `email_exists` */
export async function applyEmailChange(tx: Transaction, given: User, proof: Proof): Promise<User> {
  const now = nowOf(tx);
  const email = given.emailChange;
  const isFirst = given.emailConfirmedAt === null && given.phoneConfirmedAt === null;
  const first = { address: 'email', proof } as const;
  const settled = isFirst ? await settleFirstProof(tx, { ...given, email }, first) : given;
  const user = { ...settled, email: given.email };
  const isProved = proof.by !== 'session';
  if (!(await takeAddress(tx, user, { kind: 'email', address: email, isProved }))) throw new AuthError('email_exists');
  await auditUser(tx, 'user_modified', user);
  await setEmailIdentity(tx, user, email, true);
  const changes = {
    email,
    emailChange: '',
    emailChangeTokenNew: '',
    emailChangeTokenCurrent: '',
    emailChangeConfirmStatus: 0,
    isAnonymous: false,
  } as const;
  const isNew = user.emailConfirmedAt === null;
  const userMetadata = mergeMetadata(user.userMetadata, { email_verified: true });
  const confirmation = isNew ? { emailConfirmedAt: now, confirmationToken: '', userMetadata } : {};
  await updateUser(tx, user.id, { ...changes, ...confirmation });
  await tx.query('delete from auth.one_time_tokens t where t.user_id = $1::uuid', [user.id]);
  const changed = await reloadUser(tx, user.id);
  await notifyUser(tx, { kind: 'email_changed', user: changed, oldEmail: user.email });
  return changed;
}

/** Sets the address of the user's email identity. Creates the identity if there is none. */
export async function setEmailIdentity(tx: Transaction, user: User, email: string, isVerified: boolean): Promise<void> {
  const known = user.identities.find(({ provider, providerId }) => provider === 'email' && providerId === user.id);
  const facts = { email, email_verified: isVerified };
  if (known) return updateIdentityData(tx, known.id, { ...known.identityData, ...facts });
  const identityData = { ...emailIdentityData(user.id, email, {}), ...facts };
  await insertIdentity(tx, { userId: user.id, provider: 'email', providerId: user.id, identityData });
}
