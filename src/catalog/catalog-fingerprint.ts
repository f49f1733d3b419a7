/**
 * Tells cheaply whether anything that a model depends on has changed: the whole mechanism where no schema-change trigger
 * may be installed, and the way to find what event triggers cannot see (memberships, role settings) where it is.
 *
 * One round trip, 40 to 50 ms for 1,000 tables of 20 columns. Limited to the exposed namespaces and the types they use, so
 * temporary tables, `vacuum`, `analyze` and `truncate` change nothing.
 */
import type { SystemPool } from '../postgres/system/run-system.ts';
import { exposedNamesStatement, fingerprintStatement } from './statements.ts';

/**
 * The fingerprint of the catalog. Two equal texts mean that a model would be built the same.
 *
 * @param schemas As in `readCatalog`.
 * @throws DatabaseError
 */
export async function readFingerprint(pool: SystemPool, schemas: readonly string[] | null): Promise<string> {
  const begin = 'begin isolation level read committed read only';
  const [, rows] = await pool.transaction(
    (session) =>
      Promise.all([
        session.query(exposedNamesStatement, [schemas]),
        session.query(fingerprintStatement, []),
        session.query('commit', []),
      ]),
    { begin },
  );
  return String(rows[0]?.fingerprint);
}
