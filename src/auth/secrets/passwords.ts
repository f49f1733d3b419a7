/**
 * Sets and checks passwords, with a bound on how many are hashed at once: each takes a processor for a while, and the
 * requests that need none must not wait for a burst of sign-ins.
 */
import { availableParallelism } from 'node:os';
import { AuthError } from '../auth-error.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { bcryptCost, checkHash, isOutdated, makeHash, maxPasswordBytes } from './password-hash.ts';

/**
 * Hashes and verifies in turn. One for a process.
 *
 * `deadline` is that of the request, of `performance.now()`: where its turn comes later nothing is computed, because nobody waits
 * for it any more. Else a burst of sign-ins would keep all that come after it waiting long after its own have been given up.
 */
export interface PasswordHasher {
  /** A hash for storing. @throws AuthError `validation_failed` where the password is too long, `request_timeout` */
  hash(password: string, deadline?: number): Promise<string>;
  /**
   * Whether the password is the one of the hash. Without a hash it is not, and it takes as long to say so.
   *
   * @throws UnreadableHashError; AuthError `request_timeout`
   */
  verify(password: string, passwordHash: string | null, deadline?: number): Promise<boolean>;
  /** Whether a password that was just verified should be hashed anew. */
  isOutdated(passwordHash: string): boolean;
}

/** What follows the cost in the hash of a random password that nobody kept; for users who do not exist. */
const nobodysHash = 'j8Tgma25oWeaOQoOgf5I8OT/IoEPAyOSo9Oo9JZr/kzjBut.W0HTG';

/**
 * @param concurrency Computations at once; by default one processor is left for everything else.
 * @param cost Of new hashes; tests alone have a lower one than the default.
 */
export function createPasswordHasher(
  concurrency: number = Math.max(1, availableParallelism() - 1),
  cost: number = bcryptCost,
): PasswordHasher {
  const inTurn = createConcurrencyLimit(concurrency, () => new AuthError('request_timeout'));
  const unknown = `$2b$${String(cost).padStart(2, '0')}$${nobodysHash}`;
  return {
    async hash(password, deadline = Number.POSITIVE_INFINITY) {
      assertNotTooLong(password);
      return inTurn(() => makeHash(password, cost), deadline);
    },
    async verify(password, passwordHash, deadline = Number.POSITIVE_INFINITY) {
      const isRight = await inTurn(() => checkHash(password, passwordHash ?? unknown), deadline);
      return isRight && passwordHash !== null;
    },
    isOutdated: (passwordHash) => isOutdated(passwordHash, cost),
  };
}

/** @throws AuthError `validation_failed` */
export function assertNotTooLong(password: string): void {
  if (Buffer.byteLength(password) <= maxPasswordBytes) return;
  throw new AuthError('validation_failed', `Password cannot be longer than ${maxPasswordBytes} characters`);
}
