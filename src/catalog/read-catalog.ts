/**
 * Reads everything the models of some roles need, at one snapshot, without writing anything.
 *
 * The order of the steps is a promise: privilege functions and printed expressions come from a cache of the server process
 * that takes notice of a commit a moment after the commit is visible. So where the schema-change trigger is installed, the
 * transactions that are visible but still committing are waited for before the first catalog table is read. Without
 * the wait a model could pair an old privilege with a new snapshot and never be found stale.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from '../database/failure.ts';
import type { SystemPool, SystemSession } from '../database/run-system.ts';
import { assembleCatalog } from './assemble-catalog.ts';
import type { Catalog } from './catalog.ts';
import { readFingerprintRow } from './catalog-fingerprint.ts';
import { readRoleAccess } from './role-access.ts';
import { readExposedNames } from './search-path.ts';
import { catalogStatement, watchStatement } from './statements.ts';

/** What to read. */
export interface ReadCatalogOptions {
  /**
   * Namespaces to expose, in order; null: the login role's search path. `$user` is dropped, system namespaces are never
   * exposed, our own and `auth` only when named here.
   */
  readonly schemas: readonly string[] | null;
  /** Roles whose privileges and settings are read; those that do not exist are left out of the result. */
  readonly roles: readonly string[];
}

/** Longest wait for committing transactions; only a row of a restored dump that spells a running transaction needs it. */
const longestWaitMs = 2000;
/** Longest wait for one of the answers: a thousand times what it takes for 1,000 tables. */
const longestReadMs = 300_000;

/** Readings before a failure is believed. */
const maxReadings = 10;

/**
 * Reads the catalog in one read-only transaction, 0.3 to 0.5 s for 1,000 tables of 20 columns. Again, where it failed for what a
 * change explains that was committed meanwhile.
 *
 * @throws DatabaseError
 */
export async function readCatalog(pool: SystemPool, options: ReadCatalogOptions): Promise<Catalog> {
  for (let reading = 1; ; reading += 1) {
    try {
      return await readOnce(pool, options);
    } catch (error) {
      if (reading === maxReadings || !isOvertaken(error)) throw error;
    }
    // Whoever changes the catalog in a loop is not met in the same step each time.
    await delay(2 ** reading * Math.random());
  }
}

/**
 * What a server says of an object that is in the snapshot and not in the catalog any more: printed expressions and the like look
 * at the newest catalog. And of two who wait for each other.
 */
const overtakenStates: ReadonlySet<string> = new Set([
  'XX000',
  '42704',
  '42703',
  '42883',
  '42P01',
  '3F000',
  '40001',
  '40P01',
]);

function isOvertaken(error: unknown): boolean {
  return error instanceof DatabaseError && error.kind === 'statement' && overtakenStates.has(error.sqlstate ?? '');
}

async function readOnce(pool: SystemPool, options: ReadCatalogOptions): Promise<Catalog> {
  // Asked before the transaction, which must not read a catalog table yet, and once more inside it.
  const watchedBefore = await readWatched(pool);
  return pool.transaction(
    async (session) => {
      const [first] = await session.query('select pg_catalog.pg_current_snapshot()::pg_catalog.text as snapshot');
      if (watchedBefore) await waitForCommitting(session);
      const watched = watchedBefore && (await readWatched(session));
      const names = await readExposedNames(session, options.schemas);
      const [row] = await session.query(catalogStatement, [names]);
      return assembleCatalog(String(row?.catalog), { snapshot: String(first?.snapshot), watched }, async (objects) => {
        const rest = [readFingerprintRow(session, names), readRoleAccess(session, options.roles, objects)] as const;
        const [version, roles] = await Promise.all(rest);
        return { ...version, roles };
      });
    },
    {
      begin: 'begin isolation level repeatable read read only',
      // Compiling the large statement would take longer than running it.
      settings: { jit: 'off' },
      answerWithinMs: longestReadMs,
    },
  );
}

async function readWatched(session: SystemSession): Promise<boolean> {
  const [row] = await session.query(watchStatement);
  return row?.watched === true;
}

/** Waits until no transaction that changed the catalog and is visible to this one is still on its way out. */
async function waitForCommitting(session: SystemSession): Promise<void> {
  const deadline = performance.now() + longestWaitMs;
  while (performance.now() < deadline) {
    const [row] = await session.query(`select count(*)::pg_catalog.int4 as running
      from pg_catalog.pg_locks l
      where l.locktype = 'transactionid' and l.granted
        and l.transactionid in (select c.xid::pg_catalog.xid from pgreflect.catalog_change c)`);
    if (row?.running === 0) return;
    await delay(1);
  }
}
