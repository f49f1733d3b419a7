/** Tells which findings concern objects that API callers reach. They come first: there may be hundreds of others. */
import type { Catalog, CatalogTable, RoleAccess } from '../graphql/catalog/catalog.ts';
import { pathIn } from '../graphql/model/model-context.ts';
import type { Finding } from './finding.ts';

/** Whether a role has a privilege on the finding's object or its table. Schemas and the database concern all roles. */
export function isAboutReached(catalog: Catalog, roles: readonly string[]): (finding: Finding) => boolean {
  const accesses = roles.flatMap((role) => catalog.roles.get(role) ?? []);
  const isReachedBy = (namespace: string, reaches: (access: RoleAccess) => boolean) =>
    accesses.some((access) => access.usesNamespace(namespace) && reaches(access));
  const objects = [
    ...catalog.tables.map((table) => ({
      path: pathIn(catalog, table.relnamespace, table.relname),
      isReached: isReachedBy(table.relnamespace, (access) => reachesTable(access, table)),
    })),
    ...catalog.routines.map(({ _id, pronamespace, proname }) => ({
      path: pathIn(catalog, pronamespace, proname),
      isReached: isReachedBy(pronamespace, (access) => access.executes(_id)),
    })),
  ];
  const reached = new Set(objects.filter(({ isReached }) => isReached).map(({ path }) => path));
  const others = new Set(objects.map(({ path }) => path).filter((path) => !reached.has(path)));
  return ({ object }) => object === null || !wholesOf(object).some((path) => others.has(path));
}

/**
 * Names of what an object may be or belong to, as a column, a signature or a constraint: itself, what stands before
 * each `.` and `(`, and after each ` on `. There are few, so that many findings are looked up among many objects.
 */
export function wholesOf(object: string): readonly string[] {
  const before = [...object.matchAll(/[.(]/g)].map(({ index }) => object.slice(0, index));
  const after = [...object.matchAll(/ on(?= )/g)].map(({ index }) => object.slice(index + ' on '.length));
  return [object, ...before, ...after];
}

function reachesTable(access: RoleAccess, table: CatalogTable): boolean {
  if (access.hasTable(table._id, 'delete')) return true;
  const privileges = ['select', 'insert', 'update'] as const;
  return privileges.some((privilege) =>
    table.getAttributes().some(({ attnum }) => access.hasColumn(table._id, attnum, privilege)),
  );
}
