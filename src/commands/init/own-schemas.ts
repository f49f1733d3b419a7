/**
 * Checks that the content of our schemas is ours before creating objects there: a tenant of the database may have
 * created them first (sql/own-schemas.sql).
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';

/** Schemas that only we or Supabase Auth create objects in. */
export type OwnSchemas = readonly ('auth' | 'pgreflect' | 'pgreflect_queue')[];

/**
 * Refuses if another role created them or any object in them.
 *
 * @param tx A transaction.
 * @throws DatabaseError `statement`, 42501
 */
export async function refuseForeign(tx: Queryable, schemas: OwnSchemas): Promise<void> {
  await tx.query(`select pg_catalog.set_config('pgreflect.own_schemas', $1, true)`, [schemas.join()]);
  await tx.query(loadSqlFile('own-schemas.sql'));
}

/** The same check as SQL for a person, around the statements. */
export function printGuarded(schemas: OwnSchemas, text: string): string {
  const guard = loadSqlFile('own-schemas.sql');
  const setting = `select pg_catalog.set_config('pgreflect.own_schemas', '${schemas.join()}', true);`;
  return ['begin;', setting, guard, text, guard, 'commit;'].join('\n');
}
