/** Installs the tables of the auth service (sql/auth), as a step of `init` and of every start of a local project. */
import { authSchemas, migrate, planMigration } from '../../postgres/migrations/migrate.ts';
import { printGuarded } from '../../postgres/migrations/own-schemas.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { type RoleNames, runStep, type StepOutcome } from './role-setup.ts';

/** The API roles, and the roles whose objects the operator trusts. */
type Roles = RoleNames & { readonly adoptedRoles: readonly string[] };

/** Creates missing objects. Leaves a database of Supabase Auth unchanged. */
export function installAuth(pool: SystemPool, roles: Roles): Promise<StepOutcome> {
  const step = { topic: 'tables of the auth service', statement: 'sql/auth', advice: null };
  return runStep(step, async () => {
    const { adoptedRoles } = roles;
    const statements = await migrate(pool, { apiRoles: apiRoles(roles), adoptedRoles });
    return statements.length > 0;
  });
}

/** The SQL that `installAuth` would run; empty if nothing is missing. */
export async function printAuth(pool: SystemPool, roles: Roles): Promise<string> {
  const { adoptedRoles } = roles;
  const statements = await planMigration(pool, { apiRoles: apiRoles(roles), adoptedRoles, rolesFollow: true });
  if (statements.length === 0) return '';
  return printGuarded(
    pool,
    authSchemas(adoptedRoles),
    statements.map((text) => (text.endsWith(';') ? text : `${text};`)).join('\n\n'),
  );
}

/** Whether the database has auth tables that we installed. */
export async function hasAuth(database: Queryable): Promise<boolean> {
  // Reads the catalog, because this login may lack privileges on the schema.
  const rows = await database.query(`select c.oid
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relname = 'pgreflect_migrations' and c.relkind = 'r'`);
  return rows.length > 0;
}

function apiRoles({ anon, authenticated, service }: RoleNames): readonly string[] {
  return [anon, authenticated, service];
}
