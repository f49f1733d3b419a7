/** Completes a verification: uses up the valid token and updates the user accordingly. */
import type { User } from '../model/user.ts';
import { makePassword } from '../secrets/password-policy.ts';
import type { Transaction } from '../steps/auth-context.ts';
import { flowMethodOf, type VerificationKind } from '../steps/verification-types.ts';
import { auditUser } from '../store/audit.ts';
import type { FlowMethod } from '../store/flows.ts';
import { syncProviders } from '../store/identities.ts';
import { clearPending, consumeToken, type PresentedToken } from '../store/one-time-tokens.ts';
import { updateUser } from '../store/users.ts';
import type { Proof } from './claim-account.ts';
import { confirmEmail, confirmPhone } from './confirm-user.ts';
import { applyEmailChange, proofsOfChange } from './email-change.ts';
import { applyPhoneChange } from './phone-change.ts';

const invitedPasswordLength = 64;

/** A valid token, and what it proves. */
interface Verification {
  readonly presented: PresentedToken;
  readonly kind: VerificationKind;
  /** What the client presented. For a link of the PKCE flow, the verifier is still to come. */
  readonly by: 'code' | 'link' | 'pkce_link';
}

/**
 * Uses up the token, in the transaction that presented it.
 *
 * @param finish Runs last, for the verified user.
 * @returns The result of `finish`; null if the other address of an email change must confirm as well.
 * @throws AuthError `email_exists`, `phone_exists`
 */
export async function completeVerification<T>(
  tx: Transaction,
  verification: Verification,
  finish: () => Promise<T>,
): Promise<T | null> {
  const { kind, presented } = verification;
  const { user } = presented;
  const completing = complete(tx, verification);
  // Most sign-ins are of confirmed users: send all of their statements in one round trip.
  const isSignIn = (kind === 'magiclink' || kind === 'recovery') && user.emailConfirmedAt !== null;
  if (!isSignIn && (await completing) === null) return null;
  const [, , finished] = await Promise.all([completing, syncProviders(tx, user.id), finish()]);
  return finished;
}

/** The updated user; null if the other address of an email change must confirm as well. */
async function complete(tx: Transaction, verification: Verification): Promise<User | null> {
  const { presented, kind } = verification;
  const { user } = presented;
  const proof = { by: verification.by, type: presented.type, pkce: flowOf(verification) } as const;
  switch (kind) {
    case 'signup':
    case 'invite':
      return confirmSignUp(tx, user, proof);
    case 'magiclink':
    case 'recovery':
      return recoverUser(tx, presented, proof);
    case 'email_change':
      return confirmEmailChange(tx, presented, proof);
    case 'sms':
      await auditUser(tx, 'user_signedup', user);
      return confirmPhone(tx, user, proof);
    case 'phone_change':
      return applyPhoneChange(tx, user, { phone: user.phoneChange, isProved: true });
  }
}

function flowOf({ kind, by }: Verification): FlowMethod | null {
  return by === 'pkce_link' ? flowMethodOf(kind) : null;
}

async function confirmSignUp(tx: Transaction, user: User, proof: Proof): Promise<User> {
  const { services, config } = tx;
  if (user.invitedAt !== null && user.passwordHash === null) {
    const password = makePassword(invitedPasswordLength, config.password_required_characters);
    const passwordHash = await services.hasher.hash(password, tx.deadline);
    await updateUser(tx, user.id, { passwordHash });
    await clearPending(tx, user.id);
  }
  await auditUser(tx, 'user_signedup', user);
  return confirmEmail(tx, user, proof);
}

/** A recovery link also confirms an unconfirmed address, because it proves access to the emails. */
async function recoverUser(tx: Transaction, presented: PresentedToken, proof: Proof): Promise<User> {
  const { user } = presented;
  const isNew = user.emailConfirmedAt === null;
  await Promise.all([consumeToken(tx, presented), auditUser(tx, isNew ? 'user_signedup' : 'login', user)]);
  return isNew ? confirmEmail(tx, user, proof) : user;
}

async function confirmEmailChange(tx: Transaction, presented: PresentedToken, proof: Proof): Promise<User | null> {
  const { user } = presented;
  if (!proofsOfChange(tx, user).ofBoth) return applyEmailChange(tx, user, proof);
  await consumeToken(tx, presented, 'own');
  await updateUser(tx, user.id, { emailChangeConfirmStatus: 1 });
  return null;
}
