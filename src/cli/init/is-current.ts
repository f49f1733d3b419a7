/** Whether the functions of a file of sql/ are there already, as this version has them. */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';

/** @param functions All of the file, with their schema and types of arguments. */
export async function isCurrent(database: Queryable, file: string, functions: readonly string[]): Promise<boolean> {
  // By the catalog alone: whoever may not use the schema may see whether it is there.
  const [row] = await database.query(
    `select pg_catalog.bool_and(p.prosrc is not null and pg_catalog.strpos($2, p.prosrc) > 0) as is_current
    from pg_catalog.unnest($1::pg_catalog.text[]) f
    left join (
      select n.nspname || '.' || p.proname || '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')' as name,
        p.prosrc
      from pg_catalog.pg_proc p
      join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    ) p on p.name = f`,
    [functions, loadSqlFile(file)],
  );
  return row?.is_current === true;
}
