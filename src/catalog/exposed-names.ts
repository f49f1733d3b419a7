/**
 * From what the operator wrote, or from the login role's search path, to the names of the namespaces to expose
 * (graphql.md 1.1). Whether they exist is the catalog's business.
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import { exposedNamesStatement } from './statements.ts';

/**
 * Names of the namespaces to expose, in order, without repetition.
 *
 * @param schemas What the operator chose; null means the login role's search path. `$user` and system namespaces are
 *   dropped in both cases.
 */
export async function readExposedNames(
  session: Queryable,
  schemas: readonly string[] | null,
): Promise<readonly string[]> {
  const [row] = await session.query(exposedNamesStatement, [schemas]);
  return row?.names as readonly string[];
}
