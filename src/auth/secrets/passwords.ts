/**
 * Sets and verifies passwords, and limits how many hashes are computed at once. Each keeps a processor busy for a
 * while, and a burst of sign-ins must not delay other requests.
 */
import { availableParallelism } from 'node:os';
import { inSpan } from '../../shared/trace/current-span.ts';
import { AuthError } from '../model/auth-error.ts';
import { createConcurrencyLimit } from '../rules/concurrency-limit.ts';
import { bcryptCost, checkHash, isOutdated, makeHash, maxPasswordBytes } from './password-hash.ts';

/**
 * Queues hashing and verification. One per process.
 *
 * `deadline` is the request's, in terms of `performance.now()`. A job whose turn comes later is dropped, because its
 * client has given up. Otherwise a burst of sign-ins would keep delaying all later ones.
 */
export interface PasswordHasher {
  /** A hash for storing. @throws AuthError `validation_failed` if the password is too long, `request_timeout` */
  hash(password: string, deadline?: number): Promise<string>;
  /**
   * Whether the password has that hash. Without a hash the result is false after the same time.
   *
   * @throws UnreadableHashError; AuthError `request_timeout`
   */
  verify(password: string, passwordHash: string | null, deadline?: number): Promise<boolean>;
  /**
   * A new hash of a verified password; null if its hash is as new ones are, or if bcrypt would not read all of it, as of
   * a user who was imported. @throws AuthError `request_timeout`
   */
  renew(password: string, passwordHash: string, deadline?: number): Promise<string | null>;
}

/** A hash without its cost, of a random password that was thrown away: verified for users who do not exist. */
const unknownUserHash = 'j8Tgma25oWeaOQoOgf5I8OT/IoEPAyOSo9Oo9JZr/kzjBut.W0HTG';

/** @param concurrency Computations at once; one processor is left by default. @param cost Of new hashes, for tests. */
export function createPasswordHasher(
  concurrency: number = Math.max(1, availableParallelism() - 1),
  cost: number = bcryptCost,
): PasswordHasher {
  const inTurn = createConcurrencyLimit(concurrency, () => new AuthError('request_timeout'));
  const unknown = `$2b$${String(cost).padStart(2, '0')}$${unknownUserHash}`;
  const hash = (password: string, deadline = Number.POSITIVE_INFINITY) =>
    inSpan({ name: 'hash password', kind: 'internal' }, () => inTurn(() => makeHash(password, cost), deadline));
  return {
    async hash(password, deadline) {
      assertNotTooLong(password);
      return hash(password, deadline);
    },
    async verify(password, passwordHash, deadline = Number.POSITIVE_INFINITY) {
      const check = () => inTurn(() => checkHash(password, passwordHash ?? unknown), deadline);
      const isRight = await inSpan({ name: 'verify password', kind: 'internal' }, check);
      return isRight && passwordHash !== null;
    },
    async renew(password, passwordHash, deadline) {
      return isOutdated(passwordHash, cost) && !isTooLong(password) ? hash(password, deadline) : null;
    },
  };
}

/** @throws AuthError `validation_failed` */
export function assertNotTooLong(password: string): void {
  if (!isTooLong(password)) return;
  throw new AuthError('validation_failed', `Password cannot be longer than ${maxPasswordBytes} characters`);
}

function isTooLong(password: string): boolean {
  return Buffer.byteLength(password) > maxPasswordBytes;
}
