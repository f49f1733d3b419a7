/**
 * Reads everything that models need, as of one moment, without writing anything and in one round trip.
 *
 * Rows come from one snapshot, privileges too (role-access.ts). Printed expressions and the like come from what the server process
 * knows of the catalog, which may be older than the snapshot (a commit is visible a moment before other processes are told) or
 * newer. So the order of the statements is a promise: a fingerprint with its snapshot; the wait for commits that this snapshot sees
 * and others may not know of; the catalog; and once more the fingerprint, which must be the same where anything has been
 * committed since. Else everything is read again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from '../postgres/failure.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import type { SystemPool } from '../postgres/system/run-system.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { assembleCatalog } from './assemble-catalog.ts';
import type { Catalog } from './catalog.ts';

// They run in one transaction, in this order, and leave what the later ones need in settings of that transaction.

/** `$1`: names of namespaces, null for the login role's search path. Leaves the names to expose. */
const exposedNamesStatement = loadSqlFile('exposed-names.sql');
/** One column `watched`: the schema-change trigger is installed, enabled and its table readable. */
const watchStatement = loadSqlFile('watch-state.sql');
/** Columns `fingerprint`, `objects`, `memberships` and `snapshot`. Leaves the snapshot. Once it is there: no row where it is the newest. */
const fingerprintStatement = loadSqlFile('catalog-fingerprint.sql');
/** Column `committing`: transactions of the snapshot that other processes may not know of yet. */
const settledStatement = loadSqlFile('settled.sql');
/** Columns `catalog`, JSON text of rows (assemble-catalog.ts), and `torn`: something of it was gone before it had been read. */
const catalogStatement = loadSqlFile('catalog.sql');

/** Longest wait for the answer: a thousand times what it takes for 1,000 tables. */
const longestReadMs = 300_000;
/** Readings before a failure is believed, and before a catalog is taken that has changed meanwhile and yet has all its parts. */
const maxReadings = 30;
const maxWholeReadings = 4;

/**
 * Reads the catalog, 0.3 to 0.5 s for 1,000 tables of 20 columns. Again, a few times, where a change was committed meanwhile.
 *
 * @param schemas Namespaces to expose, in order; null: the login role's search path. `$user` is dropped, system namespaces are
 *   never exposed, our own and `auth` only when named here.
 * @throws DatabaseError
 */
export async function readCatalog(pool: SystemPool, schemas: readonly string[] | null): Promise<Catalog> {
  for (let readings = 1; ; readings += 1) {
    try {
      const reading = await readOnce(pool, schemas);
      const isEnough = reading.isTorn ? readings === maxReadings : readings >= maxWholeReadings;
      // The snapshot of one that is not current is older than the change, which the next check finds.
      if (reading.isCurrent || isEnough) return assembleCatalog(reading.text, reading.version);
    } catch (error) {
      if (readings === maxReadings || !isOvertaken(error)) throw error;
    }
    // Whoever changes the catalog in a loop is not met in the same step each time.
    await delay(Math.min(2 ** readings, 50) * Math.random());
  }
}

/**
 * What a server says of an object that is in the snapshot and not in the catalog any more: printed expressions and the like look
 * at the newest catalog. And of two who wait for each other.
 */
const overtakenStates: ReadonlySet<string> = new Set([
  'XX000', '42704', '42703', '42883', '42P01', '3F000', '40001', '40P01',
]); // biome-ignore format: a table of codes

function isOvertaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.kind === 'statement' && overtakenStates.has(error.sqlstate ?? '');
}

interface Reading {
  readonly text: string;
  readonly version: Parameters<typeof assembleCatalog>[1];
  /** No change was committed while it was read. */
  readonly isCurrent: boolean;
  /** Something was gone before it had been looked at, or was looked at as it had been before the snapshot. */
  readonly isTorn: boolean;
}

async function readOnce(pool: SystemPool, schemas: readonly string[] | null): Promise<Reading> {
  const [, [watch], [version], , , [settled], [source], [after]] = await pool.transaction(
    (tx) =>
      Promise.all([
        tx.query(exposedNamesStatement, [schemas]),
        // Before the snapshot is taken: what is changed from then on is noted.
        tx.query(watchStatement, []),
        tx.query(fingerprintStatement, []),
        // Each waits a moment where there is something to wait for.
        tx.query(settledStatement, []),
        tx.query(settledStatement, []),
        tx.query(settledStatement, []),
        tx.query(catalogStatement, []),
        tx.query(fingerprintStatement, []),
        tx.query('commit', []),
      ]),
    {
      begin: 'begin isolation level read committed read only',
      // Compiling the large statement would take longer than running it.
      settings: { jit: 'off' },
      answerWithinMs: longestReadMs,
    },
  );
  const isSettled = settled?.committing === 0;
  const isUnchanged = after === undefined || after.objects === version?.objects;
  return {
    text: String(source?.catalog),
    version: {
      snapshot: String(version?.snapshot),
      fingerprint: String(version?.fingerprint),
      memberships: String(version?.memberships),
      watched: watch?.watched === true,
    },
    isCurrent: isSettled && isUnchanged,
    isTorn: !isSettled || source?.torn === true,
  };
}

/**
 * The fingerprint of the catalog. Two equal texts mean that a model would be built the same. It is the whole mechanism where no
 * schema-change trigger may be installed, and finds what event triggers cannot see (memberships, role settings) where it is.
 *
 * One round trip, 40 to 50 ms for 1,000 tables of 20 columns. Limited to the exposed namespaces and the types they use, so
 * temporary tables, `vacuum`, `analyze` and `truncate` change nothing.
 *
 * @param schemas As in `readCatalog`.
 * @throws DatabaseError
 */
export async function readFingerprint(pool: SystemPool, schemas: readonly string[] | null): Promise<string> {
  const begin = 'begin isolation level read committed read only';
  const [, rows] = await pool.transaction(
    (tx) =>
      Promise.all([
        tx.query(exposedNamesStatement, [schemas]),
        tx.query(fingerprintStatement, []),
        tx.query('commit', []),
      ]),
    { begin },
  );
  return String(rows[0]?.fingerprint);
}

/**
 * Names of the namespaces to expose, in order, without repetition, whether they exist or not.
 *
 * @param schemas As in `readCatalog`.
 */
export async function readExposedNames(
  database: Queryable,
  schemas: readonly string[] | null,
): Promise<readonly string[]> {
  const [row] = await database.query(exposedNamesStatement, [schemas]);
  return row?.names as readonly string[];
}
