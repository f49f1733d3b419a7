/**
 * A short connection for a command: a pool of one connection, closed when the command ends.
 */
import { DatabaseError } from '../../postgres/failure.ts';
import { createSystemPool, type SystemPool } from '../../postgres/system/run-system.ts';
import { CommandError } from './command.ts';
import { describeDatabaseError } from './describe-error.ts';

/**
 * Runs `use` with a pool on the database.
 *
 * @throws CommandError where the database cannot be reached or refuses the login; its `cause` is the DatabaseError.
 */
export async function withDatabase<T>(connectionString: string, use: (pool: SystemPool) => Promise<T>): Promise<T> {
  const pool = createSystemPool({
    connectionString,
    size: 1,
    waitMs: 10_000,
    applicationName: 'pgreflect command',
    onError: () => {},
    // Whoever waits for a lock, or for a large database, sees it and may stop.
    answerWithinMs: null,
  });
  try {
    return await use(pool);
  } catch (error) {
    const unreachable = error instanceof DatabaseError && ['unavailable', 'overloaded'].includes(error.kind);
    if (unreachable) throw new CommandError([describeDatabaseError(error, connectionString)], error);
    throw error;
  } finally {
    await pool.stop();
  }
}
