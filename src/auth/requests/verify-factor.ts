/**
 * The answer to a challenge: a right code raises the session and verifies a factor that was not yet in use.
 *
 * A code of an app is accepted once, and none before it afterwards: the step is used up in the transaction of the sign-in.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { lockKnownUser } from '../accounts/lock-known-user.ts';
import { AuthError } from '../auth-error.ts';
import { isUuid, type UserBearer } from '../bearer.ts';
import { queueNotification } from '../messages/queue-notification.ts';
import { sameText } from '../secrets/one-time-code.ts';
import { findStep, fromBase32 } from '../secrets/totp.ts';
import { factorMethods, type Session } from '../session.ts';
import { type AuthContext, nowOf, transact } from '../steps/auth-context.ts';
import { takeGuess } from '../steps/guesses.ts';
import {
  completeSignIn, reloadUser, type SessionJson, type SignedIn, sessionAnswer, 
} from '../steps/issue-session.ts'; // biome-ignore format: a list of names
import { type BodyShape, badJson, readMembers } from '../steps/members.ts';
import {
  assertFactorBearer,
  assertSecondFactorUsed,
  type FactorBearer,
  requireFactor,
  writeFactorAudit,
} from '../steps/own-factor.ts';
import { userActor } from '../store/audit.ts';
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
import { endLinking } from '../store/pkce.ts';
import { assertRequestAllowed, requestAllowance } from '../store/rate-limit.ts';
import { addAmr, endSessionsBelow, loadSession, lockSession, replaceRefreshToken } from '../store/sessions.ts';
import type { Factor, User } from '../user.ts';
import { assertVerifyOn } from './challenge-factor.ts';

/** Members of the body. */
export const verifyFactorBody = { challenge_id: 'text', code: 'text' } as const satisfies BodyShape;

/** A refusal is a result inside the transaction, so that what it writes is committed. */
type Outcome =
  | { readonly kind: 'verified'; readonly signedIn: SignedIn }
  | { readonly kind: 'refused'; readonly error: AuthError };

interface Answer {
  readonly asking: FactorBearer;
  readonly factorId: string;
  /** Null where none was named. */
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
  const { challenge_id: challengeId, code } = readMembers(body, verifyFactorBody);
  if (!code) throw new AuthError('validation_failed', 'Code needs to be non-empty');
  if (challengeId && !isUuid(challengeId)) throw badJson('member "challenge_id" is not a UUID');
  assertVerifyOn(context, factor);
  await limitAttempts(context, factor);
  const answer = { asking, factorId: factor.id, challengeId: challengeId || null, code };
  const outcome = await transact(context, ['custom_access_token'], (session) => decide(session, context, answer));
  if (outcome.kind === 'refused') throw outcome.error;
  return sessionAnswer(context, outcome.signedIn);
}

/** Counts by factor what the routes count by address: whoever guesses may have many addresses. */
async function limitAttempts({ services, config }: AuthContext, { id }: Factor): Promise<void> {
  const allowance = requestAllowance(config.mfa_rate_limit_challenge_and_verify, 60);
  await assertRequestAllowed(services.limiter, `factor_attempt:${id}`, allowance);
}

async function decide(session: Queryable, context: AuthContext, answer: Answer): Promise<Outcome> {
  const [user, own] = await Promise.all([
    lockKnownUser(session, answer.asking.user),
    lockSession(session, answer.asking.session.id),
  ]);
  // It has just been ended.
  if (own === null) throw new AuthError('session_not_found');
  const factor = requireFactor(user, answer.factorId);
  // One that was enrolled before another came into use must not get around that.
  if (factor.status !== 'verified') assertSecondFactorUsed(user, own);
  const challenge = await requireChallenge(session, context, answer);
  if (nowOf(context) > challenge.createdAt + challengeLifetimeMs) {
    await deleteChallenge(session, challenge.id);
    const message = `MFA challenge ${challenge.id} has expired, verify against another challenge or create a new challenge.`;
    return { kind: 'refused', error: new AuthError('mfa_challenge_expired', message) };
  }
  // A challenge dies of guesses, and a new one gives few more: the secret of an app is the same for all of them.
  const mayGuess = (await takeGuess(context, challenge.id)) && (await takeFactorGuess(context, factor));
  if (!mayGuess) {
    await deleteChallenge(session, challenge.id);
    return { kind: 'refused', error: new AuthError('over_request_rate_limit') };
  }
  const check = factor.factorType === 'phone' ? checkPhoneCode : checkTotpCode;
  await check(session, context, challenge, { factor, code: answer.code });
  await noteAnswered(session, challenge.id, nowOf(context));
  if (factor.status !== 'verified') await enterUse(session, context, user, factor);
  return { kind: 'verified', signedIn: await raiseSession(session, context, { user, own, factor, challenge }) };
}

async function takeFactorGuess({ services, config }: AuthContext, { id }: Factor): Promise<boolean> {
  const allowance = { kind: 'window', limit: 6 * config.mailer_otp_attempts, windowMs: 3_600_000 } as const;
  return (await services.limiter.take(`guess:factor:${id}`, allowance)) === null;
}

/** @throws AuthError `mfa_factor_not_found` (422), `mfa_ip_address_mismatch` */
async function requireChallenge(
  session: Queryable,
  { client }: AuthContext,
  { challengeId, factorId }: Answer,
): Promise<Challenge> {
  const asked = { id: challengeId ?? '', factorId, ip: client.ip };
  const challenge = challengeId === null ? null : await lockChallenge(session, asked);
  if (challenge === null) {
    throw new AuthError('mfa_factor_not_found', 'MFA factor with the provided challenge ID not found', { status: 422 });
  }
  if (challenge.isVerified || !challenge.isSameAddress) throw new AuthError('mfa_ip_address_mismatch');
  return challenge;
}

interface Given {
  readonly factor: Factor;
  readonly code: string;
}

/** @throws AuthError `mfa_verification_failed` */
async function checkPhoneCode(
  _session: Queryable,
  _context: AuthContext,
  challenge: Challenge,
  { code }: Given,
): Promise<void> {
  assertReadable(challenge.code);
  if (sameText(challenge.code, code)) return;
  throw new AuthError('mfa_verification_failed', 'Invalid MFA Phone code entered');
}

/** @throws AuthError `mfa_verification_failed` */
async function checkTotpCode(
  session: Queryable,
  context: AuthContext,
  { secret }: Challenge,
  { factor, code }: Given,
): Promise<void> {
  assertReadable(secret);
  const key = fromBase32(secret);
  const step = key === null ? null : findStep(key, code, nowOf(context));
  if (step === null || !(await useStep(session, factor.id, step))) throw new AuthError('mfa_verification_failed');
}

/** Secrets that the original has encrypted are not texts to compare with. */
function assertReadable(secret: string | null): asserts secret is string {
  if (secret !== null && secret !== '' && !secret.startsWith('{')) return;
  throw new AuthError('unexpected_failure', null, {
    cause: new Error('The secret of a second factor cannot be read.'),
  });
}

/**
 * Users hear of it: whoever has their password may have added a factor of their own. Linking that began without a factor ends as
 * the sessions without one do.
 */
async function enterUse(session: Queryable, context: AuthContext, user: User, factor: Factor): Promise<void> {
  await updateFactor(session, factor.id, { status: 'verified' }, nowOf(context));
  await endLinking(session, user.id, nowOf(context));
  await queueNotification(session, context, { kind: 'mfa_factor_enrolled', user, factorType: factor.factorType });
}

interface Success {
  readonly user: User;
  /** The session, locked. */
  readonly own: Session;
  readonly factor: Factor;
  readonly challenge: Challenge;
}

/** The session with its new level; those of the user that lack it end. */
async function raiseSession(
  session: Queryable,
  context: AuthContext,
  { user, own, factor, challenge }: Success,
): Promise<SignedIn> {
  const { services } = context;
  const traits = { factor_id: factor.id, challenge_id: challenge.id };
  const method = factorMethods[factor.factorType];
  // One round trip, in this order.
  const [refreshToken, , , , , raised, changed] = await Promise.all([
    replaceRefreshToken(session, own, services),
    addAmr(session, own, { method, factorId: factor.id }, services),
    endSessionsBelow(session, user.id, 'aal2'),
    deleteOtherAttempts(session, user.id, factor),
    writeFactorAudit(session, context, { action: 'verification_attempted', actor: userActor(user), traits }),
    loadSession(session, own.id),
    reloadUser(session, user.id),
  ]);
  return completeSignIn(session, context, { session: raised ?? own, refreshToken, user: changed }, method);
}
