/** Says in one line that the API lacks what the database has, or that it answers nothing. `check` says why. */
import type { Config } from '../../config/config.ts';
import type { Gateway } from '../../gateway.ts';
import { readCatalog } from '../../graphql/catalog/read-catalog.ts';
import type { Omission } from '../../graphql/model/model-context.ts';
import { onOneLine } from '../../shared/one-line.ts';
import { ignoredByComments, isLeftOut } from '../check/check-api.ts';
import { withDatabase } from './with-database.ts';

/**
 * The line; null if nothing is left out that comments do not mark as intended.
 *
 * @param command The command line of `check`.
 * @throws DatabaseError
 */
export async function describeLeftOut(config: Config, gateway: Gateway, command: string): Promise<string | null> {
  const roles = [config.anonRole, config.authenticatedRole];
  const omissions = (await Promise.all(roles.map((role) => gateway.omissions(role)))).flat().filter(isLeftOut);
  if (omissions.length === 0) return null;
  const catalog = await withDatabase(config.databaseUrl, (pool) => readCatalog(pool, config.schemas));
  const isIgnored = ignoredByComments(catalog);
  if (omissions.every(({ object }) => isIgnored({ check: 'left_out', object }))) return null;
  return `The API lacks some tables, columns or functions, or others of the same name hide them: ${command} --only left_out`;
}

const maxMalformed = 5;

/**
 * The lines that say which comments refuse every request of a role; null if none does.
 *
 * @param omissions Of the role.
 * @param command The command line of `check`.
 */
export function describeMalformed(omissions: readonly Omission[], command: string): string | null {
  const broken = omissions.filter(({ kind }) => kind === 'directive');
  if (broken.length === 0) return null;
  const named = broken.slice(0, maxMalformed).map(({ reason }) => `  - ${onOneLine(reason)}`);
  const more = broken.length > maxMalformed ? [`  - … and ${broken.length - maxMalformed} more`] : [];
  const lines = ['Every GraphQL request gets an error until these comments are corrected:', ...named, ...more];
  return [...lines, `  With their text: ${command} --only directive_malformed`].join('\n');
}
