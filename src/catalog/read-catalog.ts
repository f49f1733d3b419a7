/**
 * Reads everything the models of some roles need, at one snapshot, without writing anything.
 *
 * The order of the steps is a promise: privilege functions and printed expressions come from a cache of the server process
 * that takes notice of a commit a moment after the commit is visible. So where the schema-change trigger is installed, the
 * transactions that are visible but still committing are waited for before the first catalog table is read. Without
 * the wait a model could pair an old privilege with a new snapshot and never be found stale.
 */
import { setTimeout as delay } from 'node:timers/promises';
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

/**
 * Expressions are printed with the namespace of every name, and with strings that mean the same in any ordinary session.
 * Compiling the large statement would take longer than running it.
 */
const readSettings = `select pg_catalog.set_config('search_path', '', true),
  pg_catalog.set_config('standard_conforming_strings', 'on', true), pg_catalog.set_config('jit', 'off', true)`;

/** Longest wait for committing transactions; only a row of a restored dump that spells a running transaction needs it. */
const longestWaitMs = 2000;
/** Longest wait for one of the answers: a thousand times what it takes for 1,000 tables. */
const longestReadMs = 300_000;

/**
 * Reads the catalog in one read-only transaction, 0.3 to 0.5 s for 1,000 tables of 20 columns.
 *
 * @throws DatabaseError
 */
export async function readCatalog(pool: SystemPool, options: ReadCatalogOptions): Promise<Catalog> {
  // Asked before the transaction, which must not read a catalog table yet, and once more inside it.
  const watchedBefore = await readWatched(pool);
  return pool.transaction(
    async (session) => {
      const [first] = await session.query('select pg_catalog.pg_current_snapshot()::pg_catalog.text as snapshot');
      if (watchedBefore) await waitForCommitting(session);
      const watched = watchedBefore && (await readWatched(session));
      const names = await readExposedNames(session, options.schemas);
      await session.query(readSettings);
      const [row] = await session.query(catalogStatement, [names]);
      return assembleCatalog(String(row?.catalog), { snapshot: String(first?.snapshot), watched }, async (objects) => {
        const rest = [readFingerprintRow(session, names), readRoleAccess(session, options.roles, objects)] as const;
        const [version, roles] = await Promise.all(rest);
        return { ...version, roles };
      });
    },
    { begin: 'begin isolation level repeatable read read only', answerWithinMs: longestReadMs },
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
