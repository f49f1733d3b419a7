/**
 * A database with the tables of the auth service, for tests of emails.
 */

import { migrate } from '../../src/database/migrate.ts';
import { createSystemPool, type SystemPool } from '../../src/database/run-system.ts';
import { createDatabase, type TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** The database, and pools on it as different processes would have them; they end with the test file. */
export async function mailDatabase(): Promise<{
  readonly database: TestDatabase;
  readonly openPool: () => SystemPool;
}> {
  const database = await createDatabase();
  const openPool = (): SystemPool => {
    const pool = createSystemPool({
      connectionString: database.url,
      size: 2,
      waitMs: 10_000,
      applicationName: 'test',
      onError: () => {},
    });
    atEnd(() => pool.stop());
    return pool;
  };
  await migrate(openPool(), { apiRoles: [] });
  return { database, openPool };
}
