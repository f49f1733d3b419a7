/**
 * Reads everything for models, as of one moment, without writes and in one round trip.
 *
 * Rows and privileges (role-access.ts) come from one snapshot. Printed expressions come from the server process's
 * catalog cache, which may be older (a commit is visible shortly before other processes are told) or newer. The order
 * of the statements is therefore essential: fingerprint and snapshot; the wait for commits that the snapshot sees and
 * other processes may not know; the catalog; the fingerprint again. If that differs, all is read again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { backoff } from '../../shared/backoff.ts';
import { inSlices } from '../../shared/slices.ts';
import { assembleCatalog, type CatalogRows, type CatalogText, parseCatalog } from './assemble-catalog.ts';
import type { Catalog } from './catalog.ts';

// They run in one transaction, in this order, and pass values on in settings of the transaction.

/** `$1`: names of namespaces, null for the login role's search path. Stores the names to expose. */
const exposedNamesStatement = loadSqlFile('exposed-names.sql');
/** One column `has_change_trigger`: the schema-change trigger is installed, enabled and its table readable. */
const watchStatement = loadSqlFile('watch-state.sql');
/** Stores the snapshot. With a stored one: no row if it is still the newest. */
const fingerprintStatement = loadSqlFile('catalog-fingerprint.sql');
/** Column `committing`: transactions of the snapshot that other processes may not know yet. */
const settledStatement = loadSqlFile('settled.sql');
/** The function that the login's settings have run before each request. `$1`: null here. */
const preRequestStatement = loadSqlFile('pre-request.sql');
/** Column `name`: those of `$1` that may be on the search path. */
const trustedSchemasStatement = loadSqlFile('trusted-schemas.sql');
/** Columns `name` and `rows`, JSON text (assemble-catalog.ts). */
const catalogStatement = loadSqlFile('catalog.sql');

/** Time limit of reading: a thousand times the duration for 1,000 tables. */
const maxReadMs = 300_000;
/** Attempts before a failure is final, and before a complete catalog is accepted although it changed meanwhile. */
const maxReadings = 30;
const maxWholeReadings = 4;
const pauseAfter = backoff(2, 50);

/**
 * Reads the catalog, 0.3 to 0.5 s for 1,000 tables of 20 columns. Repeats a few times if a change was committed
 * meanwhile.
 *
 * @param schemas Namespaces to expose, in order; null: the login role's search path. `$user` is dropped, system
 *   namespaces are never exposed, our own and `auth` only when named here.
 * @param known An earlier one. If nothing of it has changed since, only its snapshot is new.
 * @throws DatabaseError
 */
export async function readCatalog(
  pool: SystemPool,
  schemas: readonly string[] | null,
  known: Catalog | null = null,
): Promise<Catalog> {
  const renewed = known === null ? null : await renewCatalog(pool, schemas, known);
  if (renewed !== null) return renewed;
  for (let readings = 1; ; readings += 1) {
    try {
      const reading = await readOnce(pool, schemas);
      const isEnough = reading.isTorn ? readings === maxReadings : readings >= maxWholeReadings;
      // An outdated catalog's snapshot is older than the change, so the next check finds that.
      if (reading.isCurrent || isEnough) return await inSlices(assembleCatalog(reading.rows, reading.version));
    } catch (error) {
      if (readings === maxReadings || !isOvertaken(error)) throw error;
    }
    // A random pause, so that a loop of changes does not hit the same step each time.
    await delay(pauseAfter(readings) * Math.random());
  }
}

/** Errors for an object dropped since the snapshot (printed expressions use the newest catalog), and deadlocks. */
const overtakenStates: ReadonlySet<string> = new Set([
  'XX000', '42704', '42703', '42883', '42P01', '3F000', '40001', '40P01',
]); // biome-ignore format: a table of codes

function isOvertaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.kind === 'statement' && overtakenStates.has(error.sqlstate ?? '');
}

interface Reading {
  readonly rows: CatalogRows;
  readonly version: Parameters<typeof assembleCatalog>[1];
  /** No change was committed during the read. */
  readonly isCurrent: boolean;
  /** An object was dropped before it was read, or read in a state before the snapshot. */
  readonly isTorn: boolean;
}

async function readOnce(pool: SystemPool, schemas: readonly string[] | null): Promise<Reading> {
  const [, [watch], [version], , , [settled], texts, [preRequest], [extensions], [after]] = await pool.transaction(
    (tx) =>
      Promise.all([
        tx.query(exposedNamesStatement, [schemas]),
        // Before the snapshot: changes from here on are recorded.
        tx.query(watchStatement, []),
        tx.query(fingerprintStatement, []),
        // Each waits briefly if needed.
        tx.query(settledStatement, []),
        tx.query(settledStatement, []),
        tx.query(settledStatement, []),
        tx.query(catalogStatement, []),
        tx.query(preRequestStatement, [null]),
        tx.query(trustedSchemasStatement, [['extensions']]),
        tx.query(fingerprintStatement, []),
        tx.query('commit', []),
      ]),
    {
      begin: 'begin isolation level read committed read only',
      answerWithinMs: maxReadMs,
    },
  );
  const isSettled = settled?.committing === 0;
  const isUnchanged = after === undefined || after.objects === version?.objects;
  const rows = await inSlices(parseCatalog(texts as unknown as readonly CatalogText[]));
  return {
    rows,
    version: {
      snapshot: String(version?.snapshot),
      fingerprint: String(version?.fingerprint),
      memberships: String(version?.memberships),
      hasChangeTrigger: watch?.has_change_trigger === true,
      preRequest: preRequest?.given == null ? null : String(preRequest.function),
      trustsExtensions: extensions !== undefined,
    },
    isCurrent: isSettled && isUnchanged,
    isTorn: !isSettled || rows.torn,
  };
}

/** The catalog with a new snapshot; null if anything of it has changed. */
async function renewCatalog(
  pool: SystemPool,
  schemas: readonly string[] | null,
  known: Catalog,
): Promise<Catalog | null> {
  const [, [watch], [version]] = await pool.transaction(
    (tx) =>
      Promise.all([
        tx.query(exposedNamesStatement, [schemas]),
        tx.query(watchStatement, []),
        tx.query(fingerprintStatement, []),
        tx.query('commit', []),
      ]),
    { begin: 'begin isolation level read committed read only' },
  );
  if (version?.fingerprint !== known.fingerprint || watch?.has_change_trigger !== known.hasChangeTrigger) return null;
  return { ...known, snapshot: String(version.snapshot), memberships: String(version.memberships) };
}

/**
 * The fingerprint of the catalog. Equal texts mean equal models. Without a schema-change trigger it is the only
 * mechanism; with one, it finds what event triggers cannot see (memberships, role settings).
 *
 * One round trip, 40 to 50 ms for 1,000 tables of 20 columns. Limited to the exposed namespaces and their types, so
 * temporary tables, `vacuum`, `analyze` and `truncate` do not change it.
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

/** Names of the namespaces to expose, in order, unique; they may not exist. @param schemas As in `readCatalog`. */
export async function readExposedNames(
  database: Queryable,
  schemas: readonly string[] | null,
): Promise<readonly string[]> {
  const [row] = await database.query(exposedNamesStatement, [schemas]);
  return row?.names as readonly string[];
}
