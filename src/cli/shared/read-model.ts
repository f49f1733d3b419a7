/** Reads the model of a role for commands that show its schema. */
import type { Catalog } from '../../graphql/catalog/catalog.ts';
import { readCatalog } from '../../graphql/catalog/read-catalog.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { type CommandContext, failCommand } from './command.ts';
import { findRunningProject, localDatabaseUrl, projectDirectory } from './local-project.ts';

/** The catalog with the privileges of one role. @throws CommandError for an unknown role or schema. */
export async function readCatalogFor(
  pool: SystemPool,
  schemas: readonly string[] | null,
  role: string,
): Promise<Catalog> {
  const catalog = await readCatalog(pool, schemas);
  if (!catalog.roles.has(role)) {
    failCommand(
      `There is no role "${role}" in the database.`,
      'Check --role; `pgreflect init` makes anon, authenticated and service_role.',
    );
  }
  const missing = schemas?.filter((schema) => !catalog.namespaces.some(({ nspname }) => nspname === schema)) ?? [];
  if (missing.length > 0) {
    failCommand(
      `There is no schema ${missing.map((name) => `"${name}"`).join(', ')} in the database.`,
      'Check --schemas.',
    );
  }
  return catalog;
}

/** The given connection, otherwise that of the running local project of the working directory. @throws CommandError */
export function databaseUrlFor(databaseUrl: string | null, { sources }: CommandContext): string {
  const running = databaseUrl === null ? findRunningProject(projectDirectory(sources.workingDirectory)) : null;
  if (running === null) return requireDatabaseUrl(databaseUrl);
  return localDatabaseUrl(running.databasePort, 'authenticator', running.loginPassword);
}

/** The required connection of a command. @param user User name in the example. @param flag To set it. @throws CommandError */
export function requireDatabaseUrl(databaseUrl: string | null, user = 'USER', flag = 'database-url'): string {
  if (databaseUrl !== null) return databaseUrl;
  const variable = flag === 'database-url' ? 'DATABASE_URL' : 'PGREFLECT_ADMIN_DATABASE_URL';
  failCommand(
    'No database is named.',
    `Set --${flag} postgresql://${user}:PASSWORD@HOST:5432/DATABASE, or ${variable}.\nTo use an embedded database: pgreflect start`,
  );
}
