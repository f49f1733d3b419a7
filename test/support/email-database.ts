/**
 * A database with the tables of the auth service, for tests of emails.
 */

import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { createAuthDatabase, type TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** The database, and pools on it as different processes would have them; they end with the test file. */
export async function emailDatabase(): Promise<{
  readonly database: TestDatabase;
  /** @param url Another way to it. */
  readonly openPool: (url?: string) => SystemPool;
}> {
  const database = await createAuthDatabase();
  const openPool = (url: string = database.url): SystemPool => {
    const pool = createSystemPool({
      connectionString: url,
      size: 2,
      waitMs: 60_000,
      applicationName: 'test',
      onError: () => {},
    });
    atEnd(() => pool.stop());
    return pool;
  };
  return { database, openPool };
}
