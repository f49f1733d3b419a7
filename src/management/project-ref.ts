/** The ref of a project without a configured one: derived from the database, so every process gets the same. */
import { hash } from 'node:crypto';
import type { Queryable } from '../postgres/system/queryable.ts';

/** The configured ref, or the first 20 hex digits of SHA-256 over system identifier and name of the database. */
export function createProjectRef(configured: string | null): (database: Queryable) => Promise<string> {
  let known = configured;
  return async (database) => {
    if (known !== null) return known;
    const [row] = await database.query(
      `select s.system_identifier::text || ':' || pg_catalog.current_database() as place
      from pg_catalog.pg_control_system() s`,
    );
    known = hash('sha256', String(row?.place), 'hex').slice(0, 20);
    return known;
  };
}
