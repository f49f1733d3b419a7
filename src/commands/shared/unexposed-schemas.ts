/**
 * Finds the schemas whose tables are not in the API because `--schemas` does not name them. An operator who exposes
 * `public` alone, on a database with its tables elsewhere, would see an empty API and no reason.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { onOneLine } from '../../shared/one-line.ts';

/** Without tables of extensions, partitions and the tables of the gateway and of Supabase. */
const countTables = `select n.nspname as name, pg_catalog.count(*)::int as tables
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and n.nspname !~ '^(pg_|pgreflect|_)'
    and not n.nspname operator(pg_catalog.=) any ($1::pg_catalog.text[])
    and not exists (
      select from pg_catalog.pg_depend d
      where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid = c.oid and d.deptype = 'e'
    )
  group by n.nspname order by 2 desc, 1`;

const notUsers = [
  'information_schema', 'auth', 'cron', 'extensions', 'graphql', 'graphql_public', 'net', 'pgbouncer', 'realtime',
  'storage', 'supabase_functions', 'supabase_migrations', 'vault',
]; // biome-ignore format: a list of names

/** Most schemas named in the message. */
const maxNamed = 12;

/**
 * A warning if the exposed schemas have no tables and others have some, or if nobody chose them and others have more.
 *
 * @param exposed The schemas in force.
 * @param isChosen They were given by `--schemas`.
 */
export async function findUnexposed(
  database: Queryable,
  exposed: readonly string[],
  isChosen: boolean,
): Promise<string | null> {
  const rows = (await database.query(countTables, [notUsers])) as { readonly name: string; readonly tables: number }[];
  const count = (schemas: typeof rows) => schemas.reduce((sum, { tables }) => sum + tables, 0);
  const [shown, others] = [
    rows.filter(({ name }) => exposed.includes(name)),
    rows.filter(({ name }) => !exposed.includes(name)),
  ];
  const [exposedTables, otherTables] = [count(shown), count(others)];
  if (otherTables === 0 || (isChosen ? exposedTables > 0 : exposedTables >= otherTables)) return null;
  const named = others.slice(0, maxNamed).map(({ name, tables }) => `${onOneLine(name)} (${tables})`);
  const more = others.length > maxNamed ? ` and ${others.length - maxNamed} more` : '';
  const has = otherTables === 1 ? 'One table is' : `${otherTables} tables are`;
  const names = [...shown, ...others.slice(0, maxNamed)].map(({ name }) => name);
  const option = `--schemas '${names.filter(isTypeable).join(',')}'`;
  return `${has} in schemas that the API does not expose: ${named.join(', ')}${more}. Expose those that callers may use: ${option}`;
}

/** The option splits at commas. */
function isTypeable(name: string): boolean {
  return !/[,']/.test(name) && onOneLine(name) === name;
}
