/**
 * The primary key of a table: the real one, else the one a comment directive declares.
 */
import type { CatalogColumn, CatalogIndex, CatalogTable } from '../catalog/catalog.ts';
import type { Settings } from './directives.ts';
import type { Column } from './model.ts';
import type { ModelContext } from './model-context.ts';

/** Attribute numbers of the key; null without one. A real key is in column order, a declared one in the order given. */
export function primaryKey(table: CatalogTable, settings: Settings<'table'>): readonly number[] | null {
  const real = table.getIndexes().find((index) => index.indisprimary);
  if (real !== undefined) {
    const width = real.indnkeyatts ?? real.indkey.length;
    return [...real.indkey.slice(0, width)].sort((a, b) => a - b);
  }
  const names = settings.primaryKeyColumns;
  if (names === null || names.length === 0) return null;
  const columns = columnsByName(table, names);
  return columns && [...new Set(columns.map((column) => column.attnum))];
}

/** The columns of these names in their order; null when one does not exist. */
export function columnsByName(table: CatalogTable, names: readonly string[]): readonly CatalogColumn[] | null {
  const found = names.map((name) => table.getAttributes().find((column) => column.attname === name));
  return found.every((column) => column !== undefined) ? found : null;
}

/** Types whose SQL display name has no modifier and no prefix; `varchar` is displayed as `character varying`. */
const lookupTypes: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'text', 'uuid', 'bpchar']);

/** Whether rows can be looked up by these key columns through a field of their own. */
export function allowsLookup(context: ModelContext, key: readonly Column[]): boolean {
  return key.every((column) => column.fieldName !== null && column.type !== null && hasLookupType(context, column));
}

function hasLookupType({ catalog, namespaces }: ModelContext, { cast }: Column): boolean {
  if (cast.modifier !== null) return false;
  if (cast.namespace === 'pg_catalog') return lookupTypes.has(cast.name);
  // Displayed without a prefix only where the search path finds it.
  const namespace = catalog.type(cast.oid)?.typnamespace ?? '';
  return cast.name === 'citext' && namespaces.get(namespace)?.exposed === true;
}

/** Some unique index without expression or condition has no other key columns than these. */
export function hasUniqueIndex(table: CatalogTable, columns: readonly number[]): boolean {
  return table.getIndexes().some((index) => isUniqueOver(index, columns));
}

/**
 * At most one row is equal in these columns, inside a transaction too: a primary key that is not deferrable. Other indexes may
 * compare by another collation than the column does, and none covers the rows of inheritance children.
 */
export function isAlwaysUnique(table: CatalogTable, columns: readonly number[]): boolean {
  if (table.relhassubclass === true) return false;
  return table
    .getIndexes()
    .some((index) => index.indisprimary === true && index.indimmediate === true && isUniqueOver(index, columns));
}

function isUniqueOver(index: CatalogIndex, columns: readonly number[]): boolean {
  const isTotal = index.indisvalid === true && index.indexprs === null && index.indpred === null;
  const key = index.indkey.slice(0, index.indnkeyatts ?? index.indkey.length);
  return isTotal && key.every((number) => columns.includes(number));
}
