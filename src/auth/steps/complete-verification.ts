/**
 * What follows from a token that was good: it is used up, and the user is what it proves.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { confirmEmail, confirmPhone } from '../accounts/confirm-user.ts';
import { applyEmailChange, isSecureChange } from '../accounts/email-change.ts';
import type { Proof } from '../accounts/evict-strangers.ts';
import { applyPhoneChange } from '../accounts/phone-change.ts';
import { makePassword } from '../accounts/random-password.ts';
import { type AuditAction, userActor, writeAudit } from '../store/audit.ts';
import { syncProviders } from '../store/identities.ts';
import { clearTokens, consumeToken, type PresentedToken } from '../store/one-time-tokens.ts';
import { updateUser } from '../store/users.ts';
import type { User } from '../user.ts';
import { type AuthContext, nowOf } from './auth-context.ts';
import { flowMethodOf, type VerificationKind } from './verification-types.ts';

const invitedPasswordLength = 64;

/** A good token, and what it proves. */
export interface Verification {
  readonly presented: PresentedToken;
  readonly kind: VerificationKind;
  /** What was presented. Of a link of the PKCE flow the verifier is still to come. */
  readonly by: 'code' | 'link' | 'pkce_link';
}

/**
 * Uses up the token, in the transaction that presented it.
 *
 * @param finish What the verified user came for; its statements are the last ones.
 * @returns What `finish` gives; null where the other address of an email change has to confirm as well.
 * @throws AuthError `email_exists`, `phone_exists`
 */
export async function completeVerification<T>(
  session: Queryable,
  context: AuthContext,
  verification: Verification,
  finish: () => Promise<T>,
): Promise<T | null> {
  const { kind, presented } = verification;
  const { user } = presented;
  const completing = complete(session, context, verification);
  // Sign-ins of confirmed users, which most are, ask for all of their statements at once: one round trip.
  const isSignIn = (kind === 'magiclink' || kind === 'recovery') && user.emailConfirmedAt !== null;
  if (!isSignIn && (await completing) === null) return null;
  const [, , finished] = await Promise.all([completing, syncProviders(session, user.id, nowOf(context)), finish()]);
  return finished;
}

/** The user afterwards; null where the other address of an email change has to confirm as well. */
type Completion = User | null;

async function complete(session: Queryable, context: AuthContext, verification: Verification): Promise<Completion> {
  const { presented, kind } = verification;
  const { user } = presented;
  const proof = proofOf(verification);
  switch (kind) {
    case 'signup':
    case 'invite':
      return confirmSignUp(session, context, user, proof);
    case 'magiclink':
    case 'recovery':
      return recoverUser(session, context, presented, proof);
    case 'email_change':
      return confirmEmailChange(session, context, presented, proof);
    case 'sms':
      await note(session, context, user, 'user_signedup');
      return confirmPhone(session, context, user, proof);
    case 'phone_change':
      return applyPhoneChange(session, context, user, user.phoneChange);
  }
}

function proofOf({ kind, by }: Verification): Proof {
  // A code to sign in with was asked for by whoever has it; what was entered at the sign-up may be somebody else's.
  if (by === 'code' && kind !== 'magiclink' && kind !== 'recovery') return { by };
  return { by: 'message', pkce: by === 'pkce_link' ? flowMethodOf(kind) : null };
}

async function confirmSignUp(session: Queryable, context: AuthContext, user: User, proof: Proof): Promise<User> {
  const { services, config } = context;
  if (user.invitedAt !== null && user.passwordHash === null) {
    const password = makePassword(services.random, invitedPasswordLength, config.password_required_characters);
    const passwordHash = await services.hasher.hash(password, context.deadline);
    await updateUser(session, user.id, { passwordHash }, nowOf(context));
    await clearTokens(session, user.id, nowOf(context));
  }
  await note(session, context, user, 'user_signedup');
  return confirmEmail(session, context, user, proof);
}

/** Whoever reads the mail has the address, so a link of a user who never confirmed does that as well. */
async function recoverUser(
  session: Queryable,
  context: AuthContext,
  presented: PresentedToken,
  proof: Proof,
): Promise<User> {
  const { user } = presented;
  const isNew = user.emailConfirmedAt === null;
  await Promise.all([
    consumeToken(session, presented, nowOf(context)),
    note(session, context, user, isNew ? 'user_signedup' : 'login'),
  ]);
  return isNew ? confirmEmail(session, context, user, proof) : user;
}

async function confirmEmailChange(
  session: Queryable,
  context: AuthContext,
  presented: PresentedToken,
  proof: Proof,
): Promise<Completion> {
  const { user } = presented;
  const needsBoth = isSecureChange(context, user) && !context.config.mailer_autoconfirm;
  if (!needsBoth || user.emailChangeConfirmStatus !== 0) return applyEmailChange(session, context, user, proof);
  await consumeToken(session, presented, nowOf(context), 'own');
  await updateUser(session, user.id, { emailChangeConfirmStatus: 1 }, nowOf(context));
  return null;
}

function note(session: Queryable, { config, services }: AuthContext, user: User, action: AuditAction): Promise<void> {
  return writeAudit(session, { action, actor: userActor(user) }, config, services);
}
