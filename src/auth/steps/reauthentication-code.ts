/**
 * The code of a reauthentication, which a change of the password may ask for.
 */
import { AuthError } from '../auth-error.ts';
import { checkCode, consumeToken, emailTokenSeconds, smsTokenSeconds } from '../store/one-time-tokens.ts';
import type { User } from '../user.ts';
import { takeCodeGuesses } from './attempt-limit.ts';
import { nowOf, type Transaction } from './auth-context.ts';

/** Uses up the code. @param user Locked. @throws AuthError `reauthentication_not_valid` */
export async function useNonce(tx: Transaction, user: User, nonce: string): Promise<void> {
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
