/**
 * A database with the tables of the auth service on a server of its own, for tests whose logins may act as the API roles: roles belong to a
 * server, and other tests look at who may act as these.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import { migrateDatabase } from './migrate-database.ts';
import type { TestDatabase } from './postgres.ts';
import { scratch } from './scratch.ts';
import { defaultRoles } from './usual-roles.ts';
import { atEnd } from './when-over.ts';

/** Starts the server, which ends after the tests of the file. The SQL runs after the tables are made. */
export async function createOwnAuthDatabase(...sql: readonly string[]): Promise<Omit<TestDatabase, 'name'>> {
  const directory = mkdtempSync(join(scratch, 'pgreflect-own-'));
  chmodSync(directory, 0o755);
  const server = await startEmbeddedServer({
    dataDirectory: join(directory, 'data'),
    password: 'test',
    persistent: false,
    settings: { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' },
  });
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  pool.on('error', () => {});
  atEnd(async () => {
    await pool.end();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  await pool.query(defaultRoles);
  await migrateDatabase(server.url);
  for (const text of sql) await pool.query(text);
  return {
    url: server.url,
    urlAs: (role, password) => Object.assign(new URL(server.url), { username: role, password }).href,
    async query<T>(text: string, values?: readonly unknown[]): Promise<T[]> {
      const result: unknown = values ? await pool.query(text, [...values]) : await pool.query(text);
      return ((Array.isArray(result) ? result.at(-1) : result) as { rows: T[] }).rows;
    },
  };
}
