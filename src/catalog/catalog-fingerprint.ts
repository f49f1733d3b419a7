/**
 * Tells cheaply whether anything that a model depends on has changed: the whole mechanism where no schema-change trigger
 * may be installed, and the way to find what event triggers cannot see (memberships, role settings) where it is.
 *
 * One statement, 40 to 50 ms for 1,000 tables of 20 columns. Limited to the exposed namespaces and the types they use, so
 * temporary tables, `vacuum`, `analyze` and `truncate` change nothing.
 */
import type { SystemSession } from '../database/run-system.ts';
import { readExposedNames } from './search-path.ts';
import { fingerprintStatement } from './statements.ts';

/**
 * The fingerprint of the catalog as the session sees it. Two equal texts mean that a model would be built the same.
 *
 * @param schemas As in `readCatalog`.
 * @throws DatabaseError
 */
export async function readFingerprint(session: SystemSession, schemas: readonly string[] | null): Promise<string> {
  const names = await readExposedNames(session, schemas);
  return (await readFingerprintRow(session, names)).fingerprint;
}

/** Fingerprint and memberships (see `Catalog`) for names that are already resolved. */
export async function readFingerprintRow(
  session: SystemSession,
  names: readonly string[],
): Promise<{ readonly fingerprint: string; readonly memberships: string }> {
  const [row] = await session.query(fingerprintStatement, [names]);
  return { fingerprint: String(row?.fingerprint), memberships: String(row?.memberships) };
}
