/**
 * Makes sure that what is in our schemas is ours before anything is put there: a tenant of the database may have made them first
 * (sql/own-schemas.sql).
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';

/** Schemas that only we, or Supabase Auth, put something into. */
export type OwnSchemas = readonly ('auth' | 'pgreflect' | 'pgreflect_queue')[];

/**
 * Refuses where somebody else made them or anything in them.
 *
 * @param tx Of a transaction.
 * @throws DatabaseError `statement`, 42501
 */
export async function refuseForeign(tx: Queryable, schemas: OwnSchemas): Promise<void> {
  await tx.query(`select pg_catalog.set_config('pgreflect.own_schemas', $1, true)`, [schemas.join()]);
  await tx.query(loadSqlFile('own-schemas.sql'));
}

/** The same as SQL for a person, around what is made there. */
export function printGuarded(schemas: OwnSchemas, text: string): string {
  const guard = loadSqlFile('own-schemas.sql');
  const setting = `select pg_catalog.set_config('pgreflect.own_schemas', '${schemas.join()}', true);`;
  return ['begin;', setting, guard, text, guard, 'commit;'].join('\n');
}
