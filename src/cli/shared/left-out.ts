/** Says in one line that the API lacks what the database has, or that it answers nothing. `check` says why. */

import { ignoredByComments, isLeftOut } from '../../check/check-api.ts';
import type { Config } from '../../config/config.ts';
import type { Gateway } from '../../gateway.ts';
import type { Hints } from '../../graphql/model/explain-missing.ts';
import type { Omission } from '../../graphql/model/model-context.ts';
import { onOneLine } from '../../shared/one-line.ts';

/**
 * The line; null if nothing is left out that comments do not mark as intended.
 *
 * @param command The command line of `check`.
 * @throws DatabaseError
 */
export async function describeLeftOut(config: Config, gateway: Gateway, command: string): Promise<string | null> {
  const roles = [config.anonRole, config.authenticatedRole];
  const hints = (await Promise.all(roles.map((role) => gateway.hints(role)))).filter((found) => found !== null);
  const isMeant = ({ catalog, omissions }: Hints) => {
    const isIgnored = ignoredByComments(catalog);
    return omissions.filter(isLeftOut).every(({ object }) => isIgnored({ check: 'left_out', object }));
  };
  if (hints.every(isMeant)) return null;
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
