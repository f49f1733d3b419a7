/** Exports all users as lines that an import takes, as of one moment, with their password hashes and secrets. */
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';

const selectLines = loadSqlFile('auth/export-users.sql');

const pageSize = 500;

/**
 * @param write Takes whole lines, and is waited for.
 * @returns The number of users. @throws DatabaseError, or what `write` throws
 */
export async function exportUsers(pool: SystemPool, write: (lines: string) => Promise<void>): Promise<number> {
  const read = { begin: 'begin isolation level repeatable read read only' };
  return pool.transaction(async (tx) => {
    let count = 0;
    let last: string | null = null;
    for (;;) {
      const rows = await tx.query(selectLines, [last, pageSize]);
      if (rows.length > 0) await write(rows.map(({ line }) => `${line}\n`).join(''));
      count += rows.length;
      if (rows.length < pageSize) return count;
      last = rows.at(-1)?.id as string;
    }
  }, read);
}
