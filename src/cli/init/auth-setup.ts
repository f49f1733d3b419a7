/** Installs the tables of the auth service (sql/auth), as a step of `init` and of every start of a local project. */

import { readExposedNames } from '../../graphql/catalog/read-catalog.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import {
  authSchemas,
  findCompleteOwner,
  MigrationError,
  migrate,
  planMigration,
} from '../../postgres/migrations/migrate.ts';
import { printGuarded } from '../../postgres/migrations/own-schemas.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { type RoleNames, type RoleSetup, runStep, type StepOutcome } from './role-setup.ts';

/** The API roles, the exposed schemas, and the roles whose objects the operator trusts. */
type Roles = Omit<RoleSetup, 'loginPassword' | 'grantDefaults'>;

/**
 * Creates missing objects. Leaves a database of Supabase Auth unchanged, and tables that another operator of the database has
 * made: nothing is run or read there.
 */
export async function installAuth(pool: SystemPool, roles: Roles): Promise<StepOutcome> {
  const { adoptedRoles } = roles;
  const options = { apiRoles: apiRoles(roles), adoptedRoles };
  let advice: string | null = null;
  const step = { topic: 'tables of the auth service', statement: 'sql/auth', advice };
  const outcome = await runStep(step, async () => {
    try {
      return (await migrate(pool, options)).length > 0;
    } catch (error) {
      if (!(error instanceof MigrationError) || !isRefusal(error.cause)) throw error;
      const owner = await findCompleteOwner(pool, options, await readOperators(pool, roles));
      if (owner === null) throw error;
      advice = `The tables of the auth service belong to "${owner}", so this run has only looked at them. After an update of pgreflect, "${owner}" runs init --auth.`;
      return false;
    }
  });
  return { ...outcome, advice };
}

/** Whether PostgreSQL, or our look at the owners, has refused something to this login. */
export function isRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && error.sqlstate === '42501';
}

/** Whoever owns the database or an exposed schema: the other one who runs `init`, and no tenant. */
async function readOperators(pool: SystemPool, { schemas }: Roles): Promise<readonly string[]> {
  const rows = await pool.query(
    `select r.rolname::pg_catalog.text as name from pg_catalog.pg_roles r
    where r.oid = (select d.datdba from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())
      or r.oid in (select n.nspowner from pg_catalog.pg_namespace n where n.nspname = any ($1::pg_catalog.text[]))`,
    [await readExposedNames(pool, schemas)],
  );
  return rows.map(({ name }) => String(name));
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
