/**
 * For commands that work on the auth tables: the connection of their owner, and the fix where there is none.
 */

import type { OptionValues } from '../../config/load-options.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { DatabaseError, isMissingTable } from '../../postgres/database-error.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { type CommandContext, CommandError, refuse } from './command.ts';
import { requireDatabaseUrl } from './read-model.ts';
import { withDatabase } from './with-database.ts';

/** The connection string of the owner of the auth tables. @throws CommandError if none is given */
export function authDatabaseUrl(values: OptionValues<'databaseUrl' | 'adminDatabaseUrl'>): string {
  return requireDatabaseUrl(values.adminDatabaseUrl ?? values.databaseUrl, 'auth_admin', 'admin-database-url');
}

/** As `withDatabase`. @throws CommandError also if the tables are missing or belong to another role */
export async function withAuthTables<T>(url: string, use: (pool: SystemPool) => Promise<T>): Promise<T> {
  return withDatabase(url, async (pool) => {
    try {
      return await use(pool);
    } catch (error) {
      throw explainMissing(error);
    }
  });
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
  if (isMissingTable(error)) {
    const fix = 'pgreflect init --auth --database-url CONNECTION_OF_THE_OWNER';
    return new CommandError([{ problem: 'This database has no auth tables.', fix }], error);
  }
  if (error.sqlstate === '42501') {
    const fix =
      'Set --admin-database-url to the connection that `pgreflect init --auth` printed, usually of auth_admin.';
    return new CommandError([{ problem: 'This login role has no access to the auth tables.', fix }], error);
  }
  return error;
}
