/**
 * Finds the schemas whose tables are not in the API because `--schemas` does not name them. An operator who exposes
 * `public` alone, on a database with its tables elsewhere, would see an empty API and no reason.
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import { onOneLine } from '../shared/one-line.ts';

/** Without what belongs to extensions, the gateway and Supabase, and partitions. `usable`: by one of the roles. */
const countTables = `select n.nspname as name, pg_catalog.count(*)::int as tables,
    exists (
      select from pg_catalog.pg_roles r
      where r.rolname operator(pg_catalog.=) any ($2::pg_catalog.text[]) and pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage')
    ) as usable
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and n.nspname !~ '^(pg_|pgreflect|_)'
    and not n.nspname operator(pg_catalog.=) any ($1::pg_catalog.text[])
    and not exists (
      select from pg_catalog.pg_depend d
      where d.deptype = 'e' and (
        d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid operator(pg_catalog.=) c.oid
        or d.classid = 'pg_catalog.pg_namespace'::pg_catalog.regclass and d.objid operator(pg_catalog.=) n.oid)
    )
  group by n.oid, n.nspname order by 2 desc, 1`;

const notUsers = [
  'information_schema', 'auth', 'cron', 'extensions', 'graphql', 'graphql_public', 'net', 'pgbouncer', 'realtime',
  'storage', 'supabase_functions', 'supabase_migrations', 'vault',
]; // biome-ignore format: a list of names

/** Names by which people say that a schema is not for callers. */
const privateName = /(?:^|_)(?:hidden|internal|private|secrets?)(?:_|$)/i;

/** Most schemas named in the message. */
const maxNamed = 12;

interface Exposure {
  readonly exposed: readonly string[];
  /** They were given by `--schemas`. */
  readonly isChosen: boolean;
  /** The roles of its callers. */
  readonly roles: readonly string[];
}

interface Counted {
  readonly name: string;
  readonly tables: number;
  readonly usable: boolean;
}

/**
 * A warning if the exposed schemas have no tables and others have some, or if they are the default and others have more. Counts
 * the schemas that the roles may use; if they may use none, those whose names do not say that they are private.
 */
export async function findUnexposed(
  database: Queryable,
  { exposed, isChosen, roles }: Exposure,
): Promise<string | null> {
  const rows = (await database.query(countTables, [notUsers, roles])) as readonly unknown[] as readonly Counted[];
  const count = (schemas: readonly Counted[]) => schemas.reduce((sum, { tables }) => sum + tables, 0);
  const shown = rows.filter(({ name }) => exposed.includes(name));
  const hidden = rows.filter(({ name }) => !exposed.includes(name));
  const usable = hidden.filter((schema) => schema.usable);
  const others = usable.length > 0 ? usable : hidden.filter(({ name }) => !privateName.test(name));
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
