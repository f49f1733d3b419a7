/**
 * A database with the tables of the auth service on a server of its own, for tests whose logins may act as the API roles: roles belong to a
 * server, and other tests look at who may act as these.
 */
import pg from 'pg';
import { startOwnServer } from '../migrations/hosted-project.ts';
import { migrateDatabase } from './migrate-database.ts';
import type { TestDatabase } from './postgres.ts';
import { defaultRoles } from './usual-roles.ts';
import { atEnd } from './when-over.ts';

/** Starts the server, which ends after the tests of the file. The SQL runs after the tables are made. */
export async function createOwnAuthDatabase(...sql: readonly string[]): Promise<TestDatabase> {
  const database = connectTo((await startOwnServer()).urlAs('postgres'));
  await database.query(defaultRoles);
  await migrateDatabase(database.url);
  for (const text of sql) await database.query(text);
  return database;
}

/** A database of a server of its own. */
export function connectTo(url: string): TestDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => {});
  atEnd(() => pool.end());
  return {
    url,
    name: new URL(url).pathname.slice(1),
    urlAs: (role, password) => Object.assign(new URL(url), { username: role, password }).href,
    async query<T>(text: string, values?: readonly unknown[]): Promise<T[]> {
      const result: unknown = values ? await pool.query(text, [...values]) : await pool.query(text);
      return ((Array.isArray(result) ? result.at(-1) : result) as { rows: T[] }).rows;
    },
  };
}
