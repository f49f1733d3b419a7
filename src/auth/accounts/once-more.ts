/**
 * Two who become a user at the same moment: the second finds the account of the first.
 */
import { AuthError, type AuthErrorCode } from '../auth-error.ts';

const taken: readonly AuthErrorCode[] = ['email_exists', 'phone_exists', 'identity_already_exists'];

/**
 * Runs a transaction, and once more where it met somebody who has just taken the address, the number or the identity.
 *
 * @throws What the second attempt throws.
 */
export async function onceMore<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof AuthError) || !taken.includes(error.code)) throw error;
    return attempt();
  }
}
