/**
 * Brings the tables of the auth service into a database (sql/auth), as one step of `init` and of every start of a local
 * project.
 */
import { MigrationError, migrate, planMigration } from '../database/migrate.ts';
import type { SystemPool, SystemSession } from '../database/run-system.ts';
import type { RoleNames, StepOutcome } from './role-setup.ts';

const topic = 'tables of the auth service';

/** Makes what is missing. A database of the original service is left as it is. */
export async function installAuth(pool: SystemPool, roles: RoleNames): Promise<StepOutcome> {
  try {
    const statements = await migrate(pool, { apiRoles: apiRoles(roles) });
    const isUnchanged = statements.length === 0;
    const step = { topic, statement: isUnchanged ? null : 'sql/auth', advice: null };
    return { step, result: isUnchanged ? 'unchanged' : 'done', reason: null };
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error;
    return { step: { topic, statement: 'sql/auth', advice: null }, result: 'refused', reason: error.reason };
  }
}

/** The SQL that `installAuth` would run; empty where nothing is missing. */
export async function printAuth(session: SystemSession, roles: RoleNames): Promise<string> {
  const statements = await planMigration(session, { apiRoles: apiRoles(roles) });
  return statements.map((text) => (text.endsWith(';') ? text : `${text};`)).join('\n\n');
}

/** Whether the database has tables of the auth service that we brought. */
export async function hasAuth(session: SystemSession): Promise<boolean> {
  // By the catalog: this login may have no right to look into the schema.
  const rows = await session.query(`select c.oid
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'auth' and c.relname = 'pgreflect_migrations'`);
  return rows.length > 0;
}

function apiRoles({ anon, authenticated, service }: RoleNames): readonly string[] {
  return [anon, authenticated, service];
}
