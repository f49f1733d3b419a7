/** Changes the password of a signed-in user: which proofs are required first, and which sessions and links end. */
import { notifyUser } from '../messages/notify-user.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Session } from '../model/session.ts';
import type { User } from '../model/user.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { countPasswordGuess, takeCodeGuesses } from '../steps/attempt-limit.ts';
import { type AuthContext, nowOf, type Transaction } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { endFlows } from '../store/flows.ts';
import { checkCode, clearPending, consumeToken, emailTokenSeconds, smsTokenSeconds } from '../store/one-time-tokens.ts';
import { endSessions } from '../store/sessions.ts';
import { updateUser } from '../store/users.ts';

const reauthenticationAgeMs = 24 * 3_600_000;

/** Authentication methods of a recovery: a user who forgot the password signs in with a link or a code. */
const recoveryMethods = ['otp', 'magiclink', 'recovery'];

/** A new password, hashed, with facts about the old one. */
export interface NewPassword {
  readonly hash: string;
  /** The hash that was compared with; null for none. */
  readonly oldHash: string | null;
  readonly isSame: boolean;
  readonly currentPassword: 'absent' | 'right' | 'wrong';
  readonly nonce: string | null;
}

/** Computes the hashes before the transaction starts. @throws AuthError `over_request_rate_limit` */
export async function preparePassword(
  context: AuthContext,
  { user }: UserBearer,
  given: { readonly password: string; readonly currentPassword: string | null; readonly nonce: string | null },
): Promise<NewPassword> {
  const { password, currentPassword, nonce } = given;
  const { services, deadline } = context;
  const { hasher } = services;
  const address = user.email === null ? `phone:${user.phone}` : `email:${user.email}`;
  const oldHash = user.passwordHash;
  // `same_password` tells that a guess is right, and what else is wrong with a request undoes the change after a wrong one.
  const use = oldHash === null ? null : await countPasswordGuess(context, address, async () => user.id);
  const isSame = oldHash !== null && (await hasher.verify(password, oldHash, deadline));
  const isRight = currentPassword && oldHash !== null && (await hasher.verify(currentPassword, oldHash, deadline));
  if (isSame && (!currentPassword || isRight)) await use?.giveBack();
  const hash = await hasher.hash(password, deadline);
  return { hash, oldHash, isSame, currentPassword: !currentPassword ? 'absent' : isRight ? 'right' : 'wrong', nonce };
}

/**
 * Sets the password. Pending links and the user's other sessions end with the old one.
 *
 * @throws AuthError `reauthentication_needed`, `reauthentication_not_valid`, `current_password_required`,
 *   `current_password_invalid`, `same_password`.
 */
export async function changePassword(
  tx: Transaction,
  user: User,
  bearerSession: Session | null,
  newPassword: NewPassword,
): Promise<void> {
  const { config } = tx;
  const now = nowOf(tx);
  if (user.passwordHash !== newPassword.oldHash) {
    throw new AuthError('conflict', 'The password has just been changed by another request');
  }
  const isRecent = bearerSession?.createdAt != null && now <= bearerSession.createdAt + reauthenticationAgeMs;
  if (config.security_update_password_require_reauthentication && !isRecent) {
    if (newPassword.nonce === null) throw new AuthError('reauthentication_needed');
    await useNonce(tx, user, newPassword.nonce);
  }
  const isForgotten = bearerSession?.amr.some(({ method }) => recoveryMethods.includes(method));
  if (config.security_update_password_require_current_password && user.passwordHash !== null && !isForgotten) {
    if (newPassword.currentPassword === 'absent') throw new AuthError('current_password_required');
    if (newPassword.currentPassword === 'wrong') throw new AuthError('current_password_invalid');
  }
  if (newPassword.isSame) throw new AuthError('same_password');
  await updateUser(tx, user.id, { passwordHash: newPassword.hash });
  await clearPending(tx, user.id);
  await endFlows(tx, user.id);
  await endSessions(tx, user.id, bearerSession === null ? 'global' : 'others', bearerSession?.id ?? null);
  await auditUser(tx, 'user_updated_password', user);
  await notifyUser(tx, { kind: 'password_changed', user });
}

/** Uses up the code of a reauthentication. @param user Locked. @throws AuthError `reauthentication_not_valid` */
async function useNonce(tx: Transaction, user: User, nonce: string): Promise<void> {
  const lifetimeSeconds = user.email === null ? smsTokenSeconds(tx.config) : emailTokenSeconds(tx.config);
  const types = ['reauthentication_token'] as const;
  const isDead = await takeCodeGuesses(tx, { userId: user.id }, types);
  const check = { types, now: nowOf(tx), lifetimeSeconds, isDead };
  const given = { address: user.email ?? user.phone ?? '', code: nonce };
  try {
    await consumeToken(tx, checkCode(user, given, check));
  } catch (error) {
    if (!(error instanceof AuthError) || error.code !== 'otp_expired') throw error;
    throw new AuthError('reauthentication_not_valid', null, { cause: error });
  }
}
