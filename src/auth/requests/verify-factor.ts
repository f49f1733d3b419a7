/**
 * Verifies a challenge: a valid code raises the session, and verifies a factor at its first use.
 *
 * A TOTP code is accepted once, and no earlier one after it: the time step is used up in the transaction of the
 * sign-in.
 */
import { sameText } from '../../shared/same-text.ts';
import { text } from '../../shared/schema.ts';
import { isUuid } from '../../shared/uuid.ts';
import { notifyUser } from '../messages/notify-user.ts';
import { AuthError } from '../model/auth-error.ts';
import { factorMethods, type Session } from '../model/session.ts';
import type { Factor, User } from '../model/user.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { findStep, fromBase32 } from '../secrets/totp.ts';
import { countWrongFactorCode, takeFactorGuess } from '../steps/attempt-limit.ts';
import { type AuthContext, nowOf, type Transaction, transact } from '../steps/auth-context.ts';
import { completeSignIn, type SessionJson, type SignedIn, sessionAnswer } from '../steps/issue-session.ts';
import { assertFactorBearer, assertSecondFactorUsed, type FactorBearer, requireFactor } from '../steps/own-factor.ts';
import { badJson, bodySchema, needed, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import {
  type Challenge,
  challengeLifetimeMs,
  deleteChallenge,
  deleteOtherAttempts,
  lockChallenge,
  noteAnswered,
  updateFactor,
  useStep,
} from '../store/factors.ts';
import { endLinking } from '../store/flows.ts';
import { clearPending } from '../store/one-time-tokens.ts';
import { addAmr, endSessionsBelow, loadSession, lockSession, replaceRefreshToken } from '../store/sessions.ts';
import { lockKnownUser, reloadUser } from '../store/users.ts';
import { assertVerifyOn } from './challenge-factor.ts';

/** Fields of the body. */
export const verifyFactorBody = bodySchema({ challenge_id: needed(text), code: needed(text) });

interface FactorAnswer {
  readonly asking: FactorBearer;
  readonly factorId: string;
  /** Null if the request names none. */
  readonly challengeId: string | null;
  readonly code: string;
}

/** `POST /factors/{id}/verify`. */
export async function verifyFactor(
  context: AuthContext,
  bearer: UserBearer,
  factorId: string,
  body: unknown,
): Promise<SessionJson> {
  const asking = assertFactorBearer(bearer);
  const factor = requireFactor(asking.user, factorId);
  const { challenge_id: challengeId, code } = readFields(body, verifyFactorBody);
  if (!code) throw new AuthError('validation_failed', 'Code needs to be non-empty');
  if (challengeId && !isUuid(challengeId)) throw badJson('field "challenge_id" is not a UUID');
  assertVerifyOn(context, factor);
  const answer = { asking, factorId: factor.id, challengeId: challengeId || null, code };
  const outcome = await transact(context, ['custom_access_token'], (tx) => decide(tx, answer));
  if (outcome instanceof AuthError) throw outcome;
  return sessionAnswer(context, outcome);
}

/** Returns a refusal as a result inside the transaction, so that its changes are committed. */
async function decide(tx: Transaction, answer: FactorAnswer): Promise<SignedIn | AuthError> {
  const [user, own] = await Promise.all([
    lockKnownUser(tx, answer.asking.user),
    lockSession(tx, answer.asking.session.id),
  ]);
  // The session was ended meanwhile.
  if (own === null) throw new AuthError('session_not_found');
  const factor = requireFactor(user, answer.factorId);
  // A factor that was enrolled before another was verified must not bypass that one.
  if (factor.status !== 'verified') assertSecondFactorUsed(user, own);
  const challenge = await requireChallenge(tx, answer);
  if (nowOf(tx) > challenge.createdAt + challengeLifetimeMs) {
    await deleteChallenge(tx, challenge.id);
    const message = `MFA challenge ${challenge.id} has expired, verify against another challenge or create a new challenge.`;
    return new AuthError('mfa_challenge_expired', message);
  }
  const guess = await takeFactorGuess(tx, { challengeId: challenge.id, factorId: factor.id, userId: user.id });
  if (guess === null) {
    await deleteChallenge(tx, challenge.id);
    return new AuthError('over_request_rate_limit');
  }
  const isPhone = factor.factorType === 'phone';
  const isRight = isPhone ? isPhoneCode(challenge, answer.code) : await takeTotpCode(tx, challenge, answer.code);
  if (!isRight) {
    await noteWrongCode(tx, user, factor);
    return new AuthError('mfa_verification_failed', isPhone ? 'Invalid MFA Phone code entered' : null);
  }
  await guess.giveBack();
  await noteAnswered(tx, challenge.id);
  if (factor.status !== 'verified') await enterUse(tx, user, factor);
  return raiseSession(tx, { user, own, factor, challenge });
}

/** @throws AuthError `mfa_factor_not_found` (422), `mfa_ip_address_mismatch` */
async function requireChallenge(tx: Transaction, { challengeId, factorId }: FactorAnswer): Promise<Challenge> {
  const { client } = tx;
  const asked = { id: challengeId ?? '', factorId, ip: client.ip };
  const challenge = challengeId === null ? null : await lockChallenge(tx, asked);
  if (challenge === null) {
    throw new AuthError('mfa_factor_not_found', 'MFA factor with the provided challenge ID not found', { status: 422 });
  }
  if (challenge.isVerified || !challenge.isSameAddress) throw new AuthError('mfa_ip_address_mismatch');
  return challenge;
}

function isPhoneCode({ code: right }: Challenge, code: string): boolean {
  assertReadable(right);
  return sameText(right, code);
}

/** Whether the code is right; it is used up then. */
async function takeTotpCode(tx: Transaction, { secret, factorId }: Challenge, code: string): Promise<boolean> {
  assertReadable(secret);
  const key = fromBase32(secret);
  const step = key === null ? null : findStep(key, code, nowOf(tx));
  return step !== null && (await useStep(tx, factorId, step));
}

/** Tells the user of many wrong codes: who enters them has passed the first factor. */
async function noteWrongCode(tx: Transaction, user: User, { status, factorType }: Factor): Promise<void> {
  // Codes of a factor that is not in use open nothing.
  if (status !== 'verified' || !(await countWrongFactorCode(tx, user.id))) return;
  await notifyUser(tx, { kind: 'mfa_factor_guessed', user, factorType });
}

/** Secrets that Supabase Auth encrypted cannot be compared with. */
function assertReadable(secret: string | null): asserts secret is string {
  if (secret !== null && secret !== '' && !secret.startsWith('{')) return;
  throw new AuthError('unexpected_failure', null, {
    cause: new Error('The secret of a second factor cannot be read.'),
  });
}

/**
 * Notifies the user: an attacker who has the password may have added the factor. Ends sessions without a second factor,
 * and linking and changes that started without one.
 */
async function enterUse(tx: Transaction, user: User, factor: Factor): Promise<void> {
  await updateFactor(tx, factor.id, { status: 'verified' });
  await endLinking(tx, user.id);
  await clearPending(tx, user.id);
  await notifyUser(tx, { kind: 'mfa_factor_enrolled', user, factorType: factor.factorType });
}

interface Success {
  readonly user: User;
  readonly own: Session;
  readonly factor: Factor;
  readonly challenge: Challenge;
}

/** Raises the level of the session and ends the user's sessions that lack it. */
async function raiseSession(tx: Transaction, { user, own, factor, challenge }: Success): Promise<SignedIn> {
  const traits = { factor_id: factor.id, challenge_id: challenge.id };
  const method = factorMethods[factor.factorType];
  // One round trip, in this order.
  const [refreshToken, , , , , raised, changed] = await Promise.all([
    replaceRefreshToken(tx, own),
    addAmr(tx, own, { method, factorId: factor.id }),
    endSessionsBelow(tx, user.id, 'aal2'),
    deleteOtherAttempts(tx, user.id, factor),
    auditUser(tx, 'verification_attempted', user, traits),
    loadSession(tx, own.id),
    reloadUser(tx, user.id),
  ]);
  return completeSignIn(tx, { session: raised ?? own, refreshToken, user: changed }, method);
}
