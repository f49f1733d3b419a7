/**
 * Finds out whether the login for the tables of the auth service may use them. Without `--admin-database-url` that is the
 * login of requests, which may not.
 */
import type { Problem } from '../../config/config-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';

const findBarred = `select current_user::text as login, exists (
    select from pg_catalog.pg_roles r where r.rolname operator(pg_catalog.=) 'auth_admin' and r.rolcanlogin) as made
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid operator(pg_catalog.=) c.relnamespace
  where n.nspname operator(pg_catalog.=) 'auth' and c.relname operator(pg_catalog.=) 'pgreflect_rate_limits'
    and not (pg_catalog.has_schema_privilege(n.oid, 'usage') and pg_catalog.has_table_privilege(c.oid, 'insert'))`;

/**
 * The warning; null if the login may use the tables, or there are none.
 *
 * @param database As the login of the auth service.
 */
export async function findBarredAuthLogin(database: Queryable): Promise<Problem | null> {
  const [row] = await database.query(findBarred);
  if (row === undefined) return null;
  const lost = row.made === true ? "\nIf its password is lost: alter role auth_admin password '…';" : '';
  return {
    problem: `The login role "${row.login}" may not use the tables of the auth service, so sign-in and stored settings are off.`,
    fix: `Set --admin-database-url to the connection that \`pgreflect init --auth\` printed, usually of auth_admin.${lost}`,
  };
}
