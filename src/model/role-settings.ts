/**
 * The settings that a flight adds for the role it impersonates, and the text of its search path.
 *
 * PostgreSQL applies `alter role … set` only at login, so the gateway sets them itself, as PostgREST does.
 */
import type { Catalog } from '../catalog/catalog.ts';

/**
 * Settings of `alter role … set` for the role, by name, in lower case and without `search_path`: which namespaces are
 * exposed is the operator's decision. Empty for an unknown role.
 */
export function roleSettings(catalog: Catalog, role: string): ReadonlyMap<string, string> {
  return catalog.roles.get(role)?.settings ?? new Map();
}

/** A value for the setting `search_path`: the names as quoted identifiers. No name gives `""`, which finds nothing. */
export function searchPathText(names: readonly string[]): string {
  return names.length === 0 ? '""' : names.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ');
}
