/**
 * Counts guesses at codes and passwords, each before its check, in the database and outside the request's transaction.
 * Many addresses, many processes or a rollback therefore give no extra guesses.
 */
import { createHash } from 'node:crypto';
import { guessSeconds, type OneTimeTokenType } from '../store/one-time-tokens.ts';
import { tooManyRequests } from '../store/rate-limit.ts';
import { type AccountLimit, type AccountUse, takeOfAccount } from './account-limit.ts';
import { type AuthContext, limiterOf, type Transaction } from './auth-context.ts';

/** Wrong passwords at once; `rate_limit_verify` says how soon there may be as many again. */
const passwordGuesses = 30;

/**
 * Counts a guess at the password of an address, whether or not it has an account. Give the right one back.
 *
 * @param owner Id of the account; null for none.
 * @throws AuthError `over_request_rate_limit`
 */
export async function countPasswordGuess(
  { services, config, network }: AuthContext,
  address: string,
  owner: AccountLimit['owner'],
): Promise<AccountUse | null> {
  if (config.rate_limit_verify <= 0) return null;
  const hash = createHash('sha256').update(address.toLowerCase()).digest('hex');
  const use = await takeOfAccount({
    limiter: services.requestLimiter,
    database: services.database,
    network,
    owner,
    name: `password:${hash}`,
    limit: passwordGuesses,
    reserve: passwordGuesses / 2,
    windowMs: (passwordGuesses / config.rate_limit_verify) * 300_000,
  });
  if (typeof use === 'number') throw tooManyRequests(use);
  return use;
}

/** Codes of an app are guessed for as long as its secret stays, so they are counted by the day. */
const daySeconds = 86_400;

/**
 * Counts a guess at the code of a challenge and of its factor: all challenges of an app share one secret. Give a right
 * one back.
 *
 * @returns Null after too many guesses; the guess must not be checked then.
 */
export async function takeFactorGuess(
  tx: Transaction,
  { challengeId, factorId, userId }: Readonly<Record<'challengeId' | 'factorId' | 'userId', string>>,
): Promise<AccountUse | null> {
  const { services, config, network } = tx;
  const windowMs = daySeconds * 1000;
  const ofChallenge = { kind: 'window', limit: config.mailer_otp_attempts, windowMs } as const;
  if ((await services.limiter.take(`guess:${challengeId}`, ofChallenge)) !== null) return null;
  const use = await takeOfAccount({
    limiter: services.limiter,
    database: tx,
    network,
    owner: async () => userId,
    // A thief who has the password has a session without the second factor.
    level: 'aal2',
    name: `guess:factor:${factorId}`,
    limit: 6 * config.mailer_otp_attempts,
    windowMs,
    reserve: 3 * config.mailer_otp_attempts,
  });
  return typeof use === 'number' ? null : use;
}

/** So many wrong codes of a second factor in a day are told to the user. */
const suspiciousCodes = 10;

/**
 * Counts a wrong code of a user's second factors, in the transaction: the email about them is stored with the count.
 *
 * @returns Whether it is the one to tell the user of, once a day.
 */
export async function countWrongFactorCode(tx: Transaction, userId: string): Promise<boolean> {
  // With few attempts, no more are looked at.
  const limit = Math.min(suspiciousCodes, 6 * tx.config.mailer_otp_attempts);
  const window = { kind: 'window', limit, windowMs: daySeconds * 1000 } as const;
  const taken = await limiterOf(tx).takeShare(`wrong_factor_code:${userId}`, window, { network: '', limit });
  return 'used' in taken && taken.used === limit;
}

/** Counts a guess at a code. */
async function takeGuess(tx: Transaction, name: string, userId: string | null): Promise<boolean> {
  const { services, config, network } = tx;
  const use = await takeOfAccount({
    limiter: services.limiter,
    database: tx,
    network,
    owner: async () => userId,
    name: `guess:${name}`,
    limit: config.mailer_otp_attempts,
    windowMs: guessSeconds(config) * 1000,
    // The link of the same email stays.
    reserve: 0,
  });
  return typeof use !== 'number';
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
  if (rows.length === 0 && (await takeGuess(tx, `none:${value}`, null))) return () => false;
  const alive = new Set<string>();
  for (const { id, user_id, type } of rows) {
    if (await takeGuess(tx, String(id), String(user_id))) alive.add(`${user_id} ${type}`);
  }
  return (userId, type) => !alive.has(`${userId} ${type}`);
}
