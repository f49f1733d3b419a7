/** The tables that callers reach and that have no row security: each of their rows is everybody's. */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { onOneLine } from '../../shared/one-line.ts';

const maxNamed = 10;

/** A sentence for operators; null if there is none. */
export async function describeOpenTables(
  pool: Queryable,
  scope: { readonly schemas: readonly string[]; readonly roles: readonly string[] },
): Promise<string | null> {
  const rows = await pool.query(loadSqlFile('roles-open-tables.sql'), [JSON.stringify(scope)]);
  const tables = rows.filter(({ kind }) => kind === 'r' || kind === 'p').map(({ name }) => onOneLine(String(name)));
  if (tables.length === 0) return null;
  const named = tables.slice(0, maxNamed).join(', ');
  const rest = tables.length > maxNamed ? ` and ${tables.length - maxNamed} more` : '';
  return `Callers reach every row of ${named}${rest}: row security is off. Switch it on, then write policies: alter table NAME enable row level security;`;
}
