/** What a PostgreSQL type is made of, and its name in SQL. */
import type { Catalog, CatalogType } from '../catalog/catalog.ts';
import { quoteName } from '../catalog/quote-name.ts';
import { pathIn } from './model-context.ts';

/** The element type of a true array, null for others (`point` and `int2vector` have elements, too). */
export function elementOf(
  lookUp: (oid: string) => CatalogType | undefined,
  type: CatalogType | undefined,
): CatalogType | null {
  const element = type?.typelem ? lookUp(type.typelem) : undefined;
  return element !== undefined && element.typarray === type?._id ? element : null;
}

/** The base type of a domain; the type itself for others. */
export function baseOf(lookUp: (oid: string) => CatalogType | undefined, type: CatalogType): CatalogType {
  let base = type;
  while (base.typtype === 'd') {
    const next = base.typbasetype ? lookUp(base.typbasetype) : undefined;
    if (next === undefined) break;
    base = next;
  }
  return base;
}

/** A type as SQL names it, `int4[]` or `lib.state`. */
export function typePath(catalog: Catalog, oid: string): string {
  const type = catalog.type(oid);
  const element = elementOf(catalog.type, type);
  if (element !== null) return `${typePath(catalog, element._id)}[]`;
  if (type === undefined) return 'unknown';
  const isBuiltIn = catalog.namespace(type.typnamespace)?.nspname === 'pg_catalog';
  // Without quotes, char is another type.
  if (isBuiltIn) return type.typname === 'char' ? '"char"' : quoteName(type.typname);
  return pathIn(catalog, type.typnamespace, type.typname);
}
