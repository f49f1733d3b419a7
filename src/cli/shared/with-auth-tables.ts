/**
 * For commands that work on the auth tables: the connection of their owner, and the fix where there is none.
 */

import type { OptionValues } from '../../config/load-options.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { DatabaseError, isMissingTable } from '../../postgres/database-error.ts';
import { authSchemas } from '../../postgres/migrations/migrate.ts';
import { refuseForeign } from '../../postgres/migrations/own-schemas.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { type CommandContext, CommandError, refuse } from './command.ts';
import { requireDatabaseUrl } from './read-model.ts';
import { withDatabase } from './with-database.ts';

/** The connection string of the owner of the auth tables. @throws CommandError if none is given */
export function authDatabaseUrl(values: OptionValues<'databaseUrl' | 'adminDatabaseUrl'>): string {
  return requireDatabaseUrl(values.adminDatabaseUrl ?? values.databaseUrl, 'auth_admin', 'admin-database-url');
}

/**
 * As `withDatabase`.
 *
 * @throws CommandError also if the tables are missing, or if the login is a superuser and others own what it would read
 */
export async function withAuthTables<T>(url: string, use: (pool: SystemPool) => Promise<T>): Promise<T> {
  return withDatabase(url, async (pool) => {
    try {
      await refuseForeignTables(pool);
      return await use(pool);
    } catch (error) {
      throw explainMissing(error);
    }
  });
}

/**
 * A view of a tenant who made the schema runs code as whoever reads it. One look is enough: where only trusted roles own
 * and create, nothing of others can come later.
 */
async function refuseForeignTables(pool: SystemPool): Promise<void> {
  const [login] = await pool.query(becomesSuperuser);
  if (login?.is_so !== true) return;
  if (login.has_schema !== true) throw missingTables();
  try {
    await pool.transaction((tx) => refuseForeign(tx, authSchemas()));
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.sqlstate !== '42501') throw error;
    const fix = 'Connect as the auth role (--admin-database-url), not as a superuser.';
    const problem = `A superuser does not read auth tables that others may change: ${error.primary.split('. To trust ')[0]}.`;
    throw new CommandError([{ problem, fix }], error);
  }
}

const becomesSuperuser = `select pg_catalog.to_regnamespace('auth') is not null as has_schema, exists (
    select from pg_catalog.pg_roles r where r.rolsuper and pg_catalog.pg_has_role(r.oid, 'MEMBER')) as is_so`;

function missingTables(cause?: DatabaseError): CommandError {
  const fix = 'pgreflect init --auth --database-url CONNECTION_OF_THE_OWNER';
  return new CommandError([{ problem: 'This database has no auth tables.', fix }], cause);
}

/** The action that the first operand names. @throws CommandError if it names none */
export function chooseAction<A extends string>(name: string, { operands }: CommandContext, actions: readonly A[]): A {
  const [given = null] = operands;
  const action = actions.find((word) => word === given);
  if (action !== undefined) return action;
  const nearest = given === null ? null : nearestName(given, actions);
  const problem = given === null ? `pgreflect ${name} needs an action.` : `pgreflect ${name} has no action "${given}".`;
  refuse(problem, nearest === null ? `One of: ${actions.join(', ')}.` : `Did you mean pgreflect ${name} ${nearest}?`);
}

function explainMissing(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  if (isMissingTable(error)) return missingTables(error);
  if (error.sqlstate === '42501') {
    const fix =
      'Set --admin-database-url to the connection that `pgreflect init --auth` printed, usually of auth_admin.';
    return new CommandError([{ problem: 'This login role has no access to the auth tables.', fix }], error);
  }
  return error;
}
