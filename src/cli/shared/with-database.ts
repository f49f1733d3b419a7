/** A short connection for a command: a pool of one, closed at the end. */
import { isAway } from '../../postgres/database-error.ts';
import { createSystemPool, type SystemPool } from '../../postgres/system/run-system.ts';
import { CommandError } from './command.ts';
import { describeDatabaseError } from './describe-error.ts';

/** Runs `use` with a pool. @throws CommandError, with the DatabaseError as `cause`, if it cannot log in. */
export async function withDatabase<T>(connectionString: string, use: (pool: SystemPool) => Promise<T>): Promise<T> {
  const pool = createSystemPool({
    connectionString,
    size: 1,
    waitMs: 10_000,
    applicationName: 'pgreflect command',
    onError: () => {},
    // No limit: the user sees that it waits for a lock or a large database, and may stop it.
    answerWithinMs: null,
  });
  try {
    return await use(pool);
  } catch (error) {
    if (isAway(error)) throw new CommandError([describeDatabaseError(error, connectionString)], error);
    throw error;
  } finally {
    await pool.stop();
  }
}
