/** For commands that work on the auth tables: the connection of their owner, and the fix where there is none. */
import type { OptionValues } from '../../config/load-options.ts';
import { nearestName } from '../../config/nearest-name.ts';
import { DatabaseError, isMissingTable } from '../../postgres/database-error.ts';
import { authSchemas } from '../../postgres/migrations/migrate.ts';
import { guardPool } from '../../postgres/migrations/own-pool.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { type CommandContext, CommandError, failCommand } from './command.ts';
import { findRunningProject, localDatabaseUrl, projectDirectory } from './local-project.ts';
import { requireDatabaseUrl } from './read-model.ts';
import { withDatabase } from './with-database.ts';

type Connections = OptionValues<'databaseUrl' | 'adminDatabaseUrl'>;

/** The connection string of the owner of the auth tables. @throws CommandError if none is given */
export function authDatabaseUrl(values: Connections): string {
  return requireDatabaseUrl(values.adminDatabaseUrl ?? values.databaseUrl, 'auth_admin', 'admin-database-url');
}

/** The same, otherwise that of the running local project of the working directory. @throws CommandError */
export function authDatabaseUrlFor(values: Connections, { sources }: CommandContext): string {
  const isGiven = (values.adminDatabaseUrl ?? values.databaseUrl) !== null;
  const running = isGiven ? null : findRunningProject(projectDirectory(sources.workingDirectory));
  if (running === null) return authDatabaseUrl(values);
  return localDatabaseUrl(running.databasePort, 'postgres', running.superuserPassword);
}

interface AuthTables {
  readonly url: string;
  /** As `--adopt-role`. */
  readonly adopted: readonly string[] | null;
  /** Tables that the command writes, whose triggers run as its login. */
  readonly writes?: readonly string[];
}

/**
 * As `withDatabase`, with a look at who decides what the tables are before anything of them is read.
 *
 * @throws CommandError also if the tables are missing, or others decide what they are
 */
export async function withAuthTables<T>(
  { url, adopted, writes = [] }: AuthTables,
  use: (pool: SystemPool) => Promise<T>,
): Promise<T> {
  return withDatabase(url, async (pool) => {
    try {
      // No command reads the emails that wait.
      const own = { ...authSchemas(adopted ?? []), schemas: ['auth'], writes: writes.map((name) => `auth.${name}`) };
      return await use(guardPool(pool, own));
    } catch (error) {
      throw explainRefusal(error);
    }
  });
}

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
  failCommand(
    problem,
    nearest === null ? `One of: ${actions.join(', ')}.` : `Did you mean pgreflect ${name} ${nearest}?`,
  );
}

/** In the message of sql/own-schemas.sql, before what to do. */
const trustHint = '. To trust ';

function explainRefusal(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  if (isMissingTable(error)) return missingTables(error);
  // Only our own look raises it.
  if (error.sqlstate === '42501' && error.raised) {
    const [problem = '', fix = null] = error.primary.split(trustHint);
    return new CommandError(
      [{ problem: `${problem}.`, fix: fix === null ? null : `${trustHint.slice(2)}${fix}` }],
      error,
    );
  }
  if (error.sqlstate === '42501') {
    const fix =
      'Set --admin-database-url to the connection that `pgreflect init --auth` printed, usually of auth_admin.';
    return new CommandError([{ problem: 'This login role has no access to the auth tables.', fix }], error);
  }
  return error;
}
