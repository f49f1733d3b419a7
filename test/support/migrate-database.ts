/**
 * The tables of the auth service in a database of a test server, made by a superuser. Without vitest, because global-setup.ts runs it, too.
 */
import { migrate } from '../../src/postgres/migrations/migrate.ts';
import { createSystemPool } from '../../src/postgres/system/run-system.ts';

/** Makes the tables for the usual roles. */
export async function migrateDatabase(connectionString: string): Promise<void> {
  const onError = () => {};
  const pool = createSystemPool({ connectionString, size: 1, waitMs: 60_000, applicationName: 'test', onError });
  await migrate(pool, { apiRoles: ['anon', 'authenticated', 'service_role'] });
  await pool.stop();
}
