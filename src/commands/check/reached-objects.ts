/**
 * Which findings are about something that a caller of the API reaches: they come first, because a database may have hundreds of
 * tables that nobody does.
 */
import type { Catalog, CatalogTable, RoleAccess } from '../../catalog/catalog.ts';
import { pathIn } from '../../model/model-context.ts';
import type { Finding } from './finding.ts';

/**
 * Tells whether one of the roles has a privilege on the object of a finding, or on the table that the object is a part of. What is no
 * table or routine, a schema or the whole database, concerns everybody.
 */
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
  const others = [...new Set(objects.map(({ path }) => path))].filter((path) => !reached.has(path));
  return ({ object }) => object === null || !others.some((path) => isPartOf(object, path));
}

/** Whether it is the thing itself, a column of it, one of its signatures or one of its constraints. */
export function isPartOf(object: string, path: string): boolean {
  return (
    object === path || object.startsWith(`${path}.`) || object.startsWith(`${path}(`) || object.endsWith(` on ${path}`)
  );
}

function reachesTable(access: RoleAccess, table: CatalogTable): boolean {
  if (access.hasTable(table._id, 'delete')) return true;
  const privileges = ['select', 'insert', 'update'] as const;
  return privileges.some((privilege) =>
    table.getAttributes().some(({ attnum }) => access.hasColumn(table._id, attnum, privilege)),
  );
}
