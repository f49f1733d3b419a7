/**
 * Connections for tables of ours that nothing runs on before a look at who decides what they are (sql/own-schemas.sql).
 *
 * A tenant who makes a schema before `init` does can put a view in the place of a table, and its functions run as whoever
 * reads it. One look is enough: where only trusted roles own and create, nothing of others can come later. It is taken
 * again when the catalog has changed, and when a table is missing, because its schema may have been dropped.
 */
import { DatabaseError, isMissingTable } from '../database-error.ts';
import type { Queryable } from '../system/queryable.ts';
import type { SystemPool } from '../system/run-system.ts';
import { type OwnSchemas, refuseForeign } from './own-schemas.ts';

/**
 * As `SystemPool`, and every statement also fails with a DatabaseError `statement`: 3F000 while a schema is missing, 42501
 * with the reason while others decide what the schemas contain. It did not run then.
 */
export interface OwnPool extends SystemPool {
  /** Whether the schemas are there and may be read. @throws DatabaseError of other kinds than `statement` */
  isOurs(): Promise<boolean>;
  /** The next statement looks again. */
  lookAgain(): void;
  /** The same look before the statements of another pool of the same database and login. */
  guard(pool: SystemPool): SystemPool;
  /** For statements that read nothing but `pg_catalog`. */
  readonly catalog: Queryable;
}

/** Puts the look before the statements of a pool. */
export function guardPool(pool: SystemPool, own: OwnSchemas): OwnPool {
  let isTrusted = false;
  let looking: Promise<void> | null = null;

  function lookAgain(): void {
    isTrusted = false;
    // One that has begun may have seen what was there before.
    looking = null;
  }

  function look(): Promise<void> {
    if (looking !== null) return looking;
    const mine = assertOurs(pool, own)
      .then(() => {
        if (looking === mine) isTrusted = true;
      })
      .finally(() => {
        if (looking === mine) looking = null;
      });
    looking = mine;
    return mine;
  }

  async function afterLook<T>(run: () => Promise<T>): Promise<T> {
    while (!isTrusted) await look();
    try {
      return await run();
    } catch (error) {
      if (error instanceof DatabaseError && isMissingTable(error)) lookAgain();
      throw error;
    }
  }

  const guard = (guarded: SystemPool): SystemPool => ({
    query: (text, values) => afterLook(() => guarded.query(text, values)),
    transaction: (run, options) => afterLook(() => guarded.transaction(run, options)),
    outsideTransaction: (text) => afterLook(() => guarded.outsideTransaction(text)),
    state: () => guarded.state(),
    stop: () => guarded.stop(),
  });

  async function isOurs(): Promise<boolean> {
    try {
      await afterLook(async () => {});
      return true;
    } catch (error) {
      if (error instanceof DatabaseError && error.kind === 'statement') return false;
      throw error;
    }
  }

  return { ...guard(pool), isOurs, lookAgain, guard, catalog: pool };
}

/** From one snapshot: a schema that comes between would be there and not looked at. */
const oneSnapshot = { begin: 'begin isolation level repeatable read read only' };

/** @throws DatabaseError as in `OwnPool` */
async function assertOurs(pool: SystemPool, own: OwnSchemas): Promise<void> {
  await pool.transaction(async (tx) => {
    const [row] = await tx.query(
      `select w.name from pg_catalog.unnest($1::pg_catalog.text[]) as w (name)
      where not exists (select from pg_catalog.pg_namespace n where n.nspname = w.name)`,
      [own.schemas],
    );
    if (row !== undefined)
      throw new DatabaseError({ kind: 'statement', primary: `schema "${row.name}" does not exist`, sqlstate: '3F000' });
    await refuseForeign(tx, own);
  }, oneSnapshot);
}
