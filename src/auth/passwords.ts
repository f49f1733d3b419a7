/**
 * Sets and checks passwords, with a bound on how many are hashed at once: each takes a processor for a while, and the
 * requests that need none must not wait for a burst of sign-ins.
 */
import { availableParallelism } from 'node:os';
import { AuthError } from './auth-error.ts';
import { checkHash, isOutdated, makeHash, maxPasswordBytes } from './password-hash.ts';

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

/** Of a random password that nobody kept; for users who do not exist. */
const nobodysHash = '$2b$10$j8Tgma25oWeaOQoOgf5I8OT/IoEPAyOSo9Oo9JZr/kzjBut.W0HTG';

/** @param concurrency Computations at once; by default one processor is left for everything else. */
export function createPasswordHasher(concurrency: number = Math.max(1, availableParallelism() - 1)): PasswordHasher {
  const inTurn = createTurns(concurrency);
  return {
    async hash(password, deadline = Number.POSITIVE_INFINITY) {
      assertNotTooLong(password);
      return inTurn(() => makeHash(password), deadline);
    },
    async verify(password, passwordHash, deadline = Number.POSITIVE_INFINITY) {
      const isRight = await inTurn(() => checkHash(password, passwordHash ?? nobodysHash), deadline);
      return isRight && passwordHash !== null;
    },
    isOutdated,
  };
}

/** @throws AuthError `validation_failed` */
export function assertNotTooLong(password: string): void {
  if (Buffer.byteLength(password) <= maxPasswordBytes) return;
  throw new AuthError('validation_failed', `Password cannot be longer than ${maxPasswordBytes} characters`);
}

/** Runs what it is given, at most `concurrency` at a time, first come first served, but nothing after its deadline. */
function createTurns(concurrency: number): <T>(run: () => Promise<T>, deadline: number) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run, deadline) => {
    if (running < concurrency) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      if (performance.now() > deadline) throw new AuthError('request_timeout');
      return await run();
    } finally {
      const next = waiting.shift();
      // The place is handed on, so that nobody who comes now takes it first.
      if (next) next();
      else running -= 1;
    }
  };
}
