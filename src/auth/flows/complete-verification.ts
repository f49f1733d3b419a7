/**
 * What follows from a token that was good: it is used up, and the user is what it proves.
 */
import type { SystemSession } from '../../database/run-system.ts';
import { type AuditAction, userActor, writeAudit } from '../audit.ts';
import { syncProviders } from '../identities.ts';
import { clearTokens, consumeToken, type PresentedToken } from '../one-time-tokens.ts';
import type { User } from '../user.ts';
import { updateUser } from '../users.ts';
import { confirmEmail, confirmPhone } from './confirm-user.ts';
import { applyEmailChange, isSecureChange } from './email-change.ts';
import { type Flow, nowOf } from './flow.ts';
import { reloadUser } from './issue-session.ts';
import { applyPhoneChange } from './phone-change.ts';
import { makePassword } from './random-password.ts';
import type { VerificationKind } from './verification-types.ts';

/** The user afterwards; null where the other address of an email change has to confirm as well. */
export type Completion = User | null;

const invitedPasswordLength = 64;

/** Uses up the token, in the transaction that presented it. @throws AuthError `email_exists`, `phone_exists` */
export async function completeVerification(
  session: SystemSession,
  flow: Flow,
  presented: PresentedToken,
  kind: VerificationKind,
): Promise<Completion> {
  const { user } = presented;
  const done = await complete(session, flow, presented, kind);
  if (done === null) return null;
  await syncProviders(session, user.id, nowOf(flow));
  return reloadUser(session, user.id);
}

async function complete(
  session: SystemSession,
  flow: Flow,
  presented: PresentedToken,
  kind: VerificationKind,
): Promise<Completion> {
  const { user } = presented;
  switch (kind) {
    case 'signup':
    case 'invite':
      return confirmSignUp(session, flow, user);
    case 'magiclink':
    case 'recovery':
      return recoverUser(session, flow, presented);
    case 'email_change':
      return confirmEmailChange(session, flow, presented);
    case 'sms':
      await note(session, flow, user, 'user_signedup');
      return confirmPhone(session, flow, user);
    case 'phone_change':
      return applyPhoneChange(session, flow, user, user.phoneChange);
  }
}

async function confirmSignUp(session: SystemSession, flow: Flow, user: User): Promise<User> {
  const { services, config } = flow;
  if (user.invitedAt !== null && user.passwordHash === null) {
    const password = makePassword(services.random, invitedPasswordLength, config.password_required_characters);
    await updateUser(session, user.id, { passwordHash: await services.hasher.hash(password) }, nowOf(flow));
    await clearTokens(session, user.id, nowOf(flow));
  }
  await note(session, flow, user, 'user_signedup');
  return confirmEmail(session, flow, user);
}

/** Whoever reads the mail has the address, so a link of a user who never confirmed does that as well. */
async function recoverUser(session: SystemSession, flow: Flow, presented: PresentedToken): Promise<User> {
  const { user } = presented;
  await consumeToken(session, presented, nowOf(flow));
  const isNew = user.emailConfirmedAt === null;
  await note(session, flow, user, isNew ? 'user_signedup' : 'login');
  return isNew ? confirmEmail(session, flow, user) : user;
}

async function confirmEmailChange(session: SystemSession, flow: Flow, presented: PresentedToken): Promise<Completion> {
  const { user } = presented;
  const needsBoth = isSecureChange(flow, user) && !flow.config.mailer_autoconfirm;
  if (!needsBoth || user.emailChangeConfirmStatus !== 0) return applyEmailChange(session, flow, user);
  await consumeToken(session, presented, nowOf(flow), 'own');
  await updateUser(session, user.id, { emailChangeConfirmStatus: 1 }, nowOf(flow));
  return null;
}

function note(session: SystemSession, { config, services }: Flow, user: User, action: AuditAction): Promise<void> {
  return writeAudit(session, { action, actor: userActor(user) }, config, services);
}
