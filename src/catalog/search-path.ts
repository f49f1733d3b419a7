/**
 * From what the operator wrote, or from the login role's search path, to the names of the namespaces to expose
 * (graphql.md 1.1). Whether they exist is the catalog's business.
 */
import type { SystemSession } from '../database/run-system.ts';
import { loginSearchPathStatement } from './statements.ts';

/** Never exposed because of a search path, only when the operator names them. */
const ownNamespaces: ReadonlySet<string> = new Set(['pgreflect', 'pgreflect_queue', 'auth']);

/**
 * Names of the namespaces to expose, in order, without repetition.
 *
 * @param schemas What the operator chose; null means the login role's search path. `$user` and system namespaces are
 *   dropped in both cases.
 */
export async function readExposedNames(
  session: SystemSession,
  schemas: readonly string[] | null,
): Promise<readonly string[]> {
  if (schemas !== null) return exposable(schemas);
  const [row] = await session.query(loginSearchPathStatement);
  const names = parseSearchPath(String(row?.search_path ?? ''));
  return exposable(names.filter((name) => !ownNamespaces.has(name)));
}

function exposable(names: readonly string[]): readonly string[] {
  const kept = names.filter((name) => name !== '' && name !== '$user' && !isSystemNamespace(name));
  return [...new Set(kept)];
}

function isSystemNamespace(name: string): boolean {
  return name.startsWith('pg_') || name === 'information_schema';
}

/** Splits the text of a `search_path` as PostgreSQL does: quoted names verbatim, others in lower case. */
export function parseSearchPath(text: string): readonly string[] {
  const names: string[] = [];
  for (const match of text.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^",\s]+))\s*(?:,|$)/g)) {
    const [, quoted, bare] = match;
    names.push(quoted === undefined ? (bare ?? '').toLowerCase() : quoted.replaceAll('""', '"'));
  }
  return names;
}
