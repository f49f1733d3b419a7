/**
 * The name of a project that was given none: it follows from the database, so every process finds the same one.
 */
import { hash } from 'node:crypto';
import type { Queryable } from '../postgres/system/queryable.ts';

/** First 20 hex digits of SHA-256 over the server's system identifier and the name of the database. */
export async function deriveProjectRef(session: Queryable): Promise<string> {
  const [row] = await session.query(
    `select s.system_identifier::text || ':' || pg_catalog.current_database() as place
    from pg_catalog.pg_control_system() s`,
  );
  return hash('sha256', String(row?.place), 'hex').slice(0, 20);
}

/** Gives the configured ref, or derives it once. */
export function createProjectRef(configured: string | null): (session: Queryable) => Promise<string> {
  let known = configured;
  return async (session) => {
    known ??= await deriveProjectRef(session);
    return known;
  };
}
