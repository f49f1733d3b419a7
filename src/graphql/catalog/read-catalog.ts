/**
 * Reads everything for models, as of one moment and without writes; of a known catalog, the tables that have changed.
 *
 * Rows and privileges (role-access.ts) come from the snapshot of their fingerprint: with a later one, a comment that is
 * there for a moment would be read, and both fingerprints around it would be the same. Printed expressions come from the
 * server process's catalog cache, which may be older (a commit is visible shortly before other processes are told) or
 * newer. The order of the statements is therefore essential: fingerprint and snapshot; the wait for commits that the
 * snapshot sees and other processes may not know; the catalog; in a new snapshot, the fingerprint again. If that differs,
 * all is read again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { backoff } from '../../shared/backoff.ts';
import { inSlices } from '../../shared/slices.ts';
import {
  assembleCatalog,
  type CatalogRows,
  type CatalogText,
  type CatalogVersion,
  parseCatalog,
  type ReadCatalog,
} from './assemble-catalog.ts';

// They run in this order, and pass values on in settings of the transaction.

/** `$1`: names of namespaces, null for the login role's search path. Stores the names to expose. */
const exposedNamesStatement = loadSqlFile('exposed-names.sql');
/** One column `has_change_trigger`: the schema-change trigger is installed, enabled and its table readable. */
const watchStatement = loadSqlFile('watch-state.sql');
/** `$1`: the fingerprint that is expected, or an empty text. In a setting, so that the next statement keeps its plan. */
const knownStatement = "select pg_catalog.set_config('pgreflect.known', $1, true)";
/** `$1`: the stored snapshot. */
const snapshotStatement = "select pg_catalog.set_config('pgreflect.snapshot', $1, true)";
/** Stores the snapshot. With a stored one: no row if it is still the newest. */
const fingerprintStatement = loadSqlFile('catalog-fingerprint.sql');
/** Column `committing`: transactions of the snapshot that other processes may not know yet. */
const settledStatement = loadSqlFile('settled.sql');
/** The function that the login's settings have run before each request. `$1`: null here. */
const preRequestStatement = loadSqlFile('pre-request.sql');
/** Column `name`: those of `$1` that may be on the search path. */
const trustedSchemasStatement = loadSqlFile('trusted-schemas.sql');
/** `$1`: oids of the tables to read, with commas; empty: all, and what belongs to no table. */
const tablesStatement = "select pg_catalog.set_config('pgreflect.tables', $1, true)";
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
 * @param known An earlier one: only tables that have changed since are read, unless something else has.
 * @throws DatabaseError
 */
export async function readCatalog(
  pool: SystemPool,
  schemas: readonly string[] | null,
  known: ReadCatalog | null = null,
): Promise<ReadCatalog> {
  for (let readings = 1; ; readings += 1) {
    // What others changed meanwhile may not fit the tables that are kept.
    const from = readings < maxWholeReadings ? known : null;
    try {
      const reading = await readOnce(pool, schemas, from);
      if ('parts' in reading) return reading;
      const isEnough = reading.isTorn ? readings === maxReadings : readings >= maxWholeReadings;
      // An outdated catalog's snapshot is older than the change, so the next check finds that.
      if (reading.isCurrent || isEnough)
        return await inSlices(assembleCatalog(reading.rows, reading.version, reading.known));
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

let outdatedReadings = 0;

/** Differs from everything that is read, another one of these included: models of one are not those of the next. */
function outdated(): Pick<CatalogVersion, 'fingerprint' | 'commonHash' | 'tableHashes'> {
  outdatedReadings += 1;
  return { fingerprint: `outdated ${outdatedReadings}`, commonHash: '', tableHashes: new Map() };
}

interface Reading {
  readonly rows: CatalogRows;
  readonly version: CatalogVersion;
  /** Of which all other tables are; null: everything was read. */
  readonly known: ReadCatalog | null;
  /** No change was committed during the read. */
  readonly isCurrent: boolean;
  /** An object was dropped before it was read, or read in a state before the snapshot. */
  readonly isTorn: boolean;
}

/** Reads what has changed; if nothing has, returns the known catalog with a new snapshot. */
async function readOnce(
  pool: SystemPool,
  schemas: readonly string[] | null,
  known: ReadCatalog | null,
): Promise<Reading | ReadCatalog> {
  const reading = await readRows(pool, schemas, known);
  if ('parts' in reading) return reading;
  const { objects, fingerprint, hashes, seen, isSettled, from, texts, preRequest, extensions } = reading;
  const after = await compare(pool, schemas, { known: '', snapshot: seen.snapshot });
  const rows = await inSlices(parseCatalog(texts));
  const isCurrent = isSettled && (after === null || after.objects === objects);
  return {
    rows,
    version: {
      ...seen,
      // If something changed meanwhile, expressions may be newer than the hashes, so that the next reading must not begin from them.
      ...(isCurrent ? { fingerprint, ...hashes } : outdated()),
      preRequest: preRequest?.given == null ? null : String(preRequest.function),
      trustsExtensions: extensions !== undefined,
    },
    known: from,
    isCurrent,
    isTorn: !isSettled || rows.torn,
  };
}

/** What one snapshot shows; the known catalog, with that snapshot, if it is the same. */
function readRows(pool: SystemPool, schemas: readonly string[] | null, known: ReadCatalog | null) {
  const settings = { begin: 'begin isolation level repeatable read read only', answerWithinMs: maxReadMs };
  return pool.transaction(async (tx) => {
    const [, , [watch], [found]] = await Promise.all([
      tx.query(exposedNamesStatement, [schemas]),
      tx.query(knownStatement, [known?.fingerprint ?? '']),
      tx.query(watchStatement, []),
      tx.query(fingerprintStatement, []),
    ]);
    const seen = {
      snapshot: String(found?.snapshot),
      memberships: String(found?.memberships),
      hasChangeTrigger: watch?.has_change_trigger === true,
    };
    if (known !== null && found?.fingerprint === known.fingerprint) return { ...known, ...seen };
    const hashes = {
      commonHash: String(found?.common),
      tableHashes: new Map(found?.tables as [string, string][]),
    };
    const from = known?.parts.commonHash === hashes.commonHash ? known : null;
    const changed = [...hashes.tableHashes].filter(([oid, hash]) => from?.parts.tableHashes.get(oid) !== hash);
    // No table has the number 0.
    const oids = from === null ? '' : ['0', ...changed.map(([oid]) => oid)].join(',');
    const [, , , [settled], texts, [preRequest], [extensions]] = await Promise.all([
      tx.query(tablesStatement, [oids]),
      // Each waits briefly if needed.
      tx.query(settledStatement, []),
      tx.query(settledStatement, []),
      tx.query(settledStatement, []),
      tx.query(catalogStatement, []),
      tx.query(preRequestStatement, [null]),
      tx.query(trustedSchemasStatement, [['extensions']]),
      tx.query('commit', []),
    ]);
    return {
      objects: found?.objects,
      fingerprint: String(found?.fingerprint),
      hashes,
      seen,
      isSettled: settled?.committing === 0,
      from,
      texts: texts as unknown as readonly CatalogText[],
      preRequest,
      extensions,
    };
  }, settings);
}

/**
 * The fingerprint of the catalog. Equal texts mean equal models. Without a schema-change trigger it is the only
 * mechanism; with one, it finds what event triggers cannot see (memberships, role settings).
 *
 * One round trip, 50 to 70 ms for 1,000 tables of 20 columns. Limited to the exposed namespaces and their types, so
 * temporary tables, `vacuum`, `analyze` and `truncate` do not change it.
 *
 * @param schemas As in `readCatalog`.
 * @param known The one that is expected: the answer is short if it is that.
 * @throws DatabaseError
 */
export async function readFingerprint(
  pool: SystemPool,
  schemas: readonly string[] | null,
  known: string | null = null,
): Promise<string> {
  const row = await compare(pool, schemas, { known: known ?? '', snapshot: '' });
  return String(row?.fingerprint);
}

/** The row of the fingerprint; null if nothing was committed since the snapshot. */
async function compare(
  pool: SystemPool,
  schemas: readonly string[] | null,
  { known, snapshot }: { readonly known: string; readonly snapshot: string },
) {
  const begin = 'begin isolation level read committed read only';
  const [, , , rows] = await pool.transaction(
    (tx) =>
      Promise.all([
        tx.query(exposedNamesStatement, [schemas]),
        tx.query(knownStatement, [known]),
        tx.query(snapshotStatement, [snapshot]),
        tx.query(fingerprintStatement, []),
        tx.query('commit', []),
      ]),
    { begin, answerWithinMs: maxReadMs },
  );
  return rows[0] ?? null;
}

/** Names of the namespaces to expose, in order, unique; they may not exist. @param schemas As in `readCatalog`. */
export async function readExposedNames(
  database: Queryable,
  schemas: readonly string[] | null,
): Promise<readonly string[]> {
  const [row] = await database.query(exposedNamesStatement, [schemas]);
  return row?.names as readonly string[];
}
