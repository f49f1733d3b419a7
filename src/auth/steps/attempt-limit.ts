/**
 * Counts guesses at codes and passwords, each before its check, in the database and outside the request's transaction.
 * Many addresses, many processes or a rollback therefore give no extra guesses.
 */
import { createHash } from 'node:crypto';
import { guessSeconds, type OneTimeTokenType } from '../store/one-time-tokens.ts';
import { assertRequestAllowed, requestAllowance } from '../store/rate-limit.ts';
import type { AuthContext, Transaction } from './auth-context.ts';

/**
 * Counts a guess at the password of an address, whether or not it has an account.
 *
 * @throws AuthError `over_request_rate_limit`
 */
export async function countPasswordGuess({ services, config }: AuthContext, address: string): Promise<void> {
  const hash = createHash('sha256').update(address.toLowerCase()).digest('hex');
  const allowance = requestAllowance(config.rate_limit_verify, 300);
  await assertRequestAllowed(services.requestLimiter, `password:${hash}`, allowance);
}

/**
 * Counts an attempt at a second factor, as the routes count by IP address.
 *
 * @throws AuthError `over_request_rate_limit`
 */
export async function countFactorAttempt({ services, config }: AuthContext, factorId: string): Promise<void> {
  const allowance = requestAllowance(config.mfa_rate_limit_challenge_and_verify, 60);
  await assertRequestAllowed(services.limiter, `factor_attempt:${factorId}`, allowance);
}

/**
 * Counts a guess at the code of a challenge and of its factor. A new challenge adds few guesses, because all challenges
 * of an app share one secret.
 *
 * @returns False after too many guesses; the guess must not be checked then.
 */
export async function takeFactorGuess(context: AuthContext, challengeId: string, factorId: string): Promise<boolean> {
  const allowance = { kind: 'window', limit: 6 * context.config.mailer_otp_attempts, windowMs: 3_600_000 } as const;
  if (!(await takeGuess(context, challengeId))) return false;
  return (await context.services.limiter.take(`guess:factor:${factorId}`, allowance)) === null;
}

async function takeGuess({ services, config }: AuthContext, name: string): Promise<boolean> {
  const allowance = {
    kind: 'window',
    limit: config.mailer_otp_attempts,
    windowMs: guessSeconds(config) * 1000,
  } as const;
  return (await services.limiter.take(`guess:${name}`, allowance)) === null;
}

/** The tokens that a guess is for: those sent to an address, or those of a user. */
type GuessedAt = { readonly address: string } | { readonly userId: string };

/** Tells whether a token is invalid after too many guesses. */
type DeadTokens = (userId: string, type: OneTimeTokenType) => boolean;

/** Counts a guess at the code of each token; an address without tokens costs the same. */
export async function takeCodeGuesses(
  tx: Transaction,
  at: GuessedAt,
  types: readonly OneTimeTokenType[],
): Promise<DeadTokens> {
  const [column, value] = 'address' in at ? ['t.relates_to', at.address.toLowerCase()] : ['t.user_id::text', at.userId];
  const rows = await tx.query(
    `select t.id, t.user_id, t.token_type::text as type from auth.one_time_tokens t
    where ${column} = $1 and t.token_type::text = any ($2::text[])`,
    [value, types],
  );
  // A code may be left without its row: a user who uses one token loses the rows of all.
  if (rows.length === 0 && (await takeGuess(tx, `none:${value}`))) return () => false;
  const alive = new Set<string>();
  for (const { id, user_id, type } of rows) {
    if (await takeGuess(tx, String(id))) alive.add(`${user_id} ${type}`);
  }
  return (userId, type) => !alive.has(`${userId} ${type}`);
}
