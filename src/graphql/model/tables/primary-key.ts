/** The primary key of a table: the real one, otherwise one from its comment directive. */
import type { Catalog, CatalogColumn, CatalogIndex, CatalogTable } from '../../catalog/catalog.ts';
import { readSettings, type Settings } from '../comments/directive-settings.ts';
import { type Column, comparedAs, type Table } from '../model.ts';
import type { ModelContext } from '../model-context.ts';

/**
 * Attribute numbers of the key; null for none. A real key is in column order, one from a directive in its given order.
 */
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

/** Tells the names of the key columns of exposed tables; null for one without a key, which the API leaves out. */
export function keyNames(catalog: Catalog): (schema: string, table: string) => readonly string[] | null {
  const keys = new Map(
    catalog.tables.map((table) => {
      const key = primaryKey(table, readSettings(catalog, 'table', table._id).settings);
      const names = key?.flatMap(
        (number) => table.getAttributes().find(({ attnum }) => attnum === number)?.attname ?? [],
      );
      return [JSON.stringify([catalog.namespace(table.relnamespace)?.nspname, table.relname]), names ?? null];
    }),
  );
  return (...path) => keys.get(JSON.stringify(path)) ?? null;
}

/** The columns with these names, in order; null if one does not exist. */
export function columnsByName(table: CatalogTable, names: readonly string[]): readonly CatalogColumn[] | null {
  const found = names.map((name) => table.getAttributes().find((column) => column.attname === name));
  return found.every((column) => column !== undefined) ? found : null;
}

/** Types whose SQL display name has neither modifier nor prefix; `varchar` is displayed as `character varying`. */
const lookupTypes: ReadonlySet<string> = new Set(['int2', 'int4', 'int8', 'text', 'uuid', 'bpchar']);

/** Whether these key columns allow a root field for a single row. */
export function allowsLookup(context: ModelContext, key: readonly Column[]): boolean {
  return key.every((column) => column.fieldName !== null && column.type !== null && hasLookupType(context, column));
}

function hasLookupType({ catalog, namespaces }: ModelContext, { cast }: Column): boolean {
  const type = comparedAs(cast);
  if (type.modifier !== null) return false;
  if (type.namespace === 'pg_catalog') return lookupTypes.has(type.name);
  // Its display name has no prefix only if the search path contains its schema.
  const namespace = catalog.type(type.oid)?.typnamespace ?? '';
  return type.name === 'citext' && namespaces.get(namespace)?.exposed === true;
}

/** Whether the table has a lookup only because domains are exposed as their base types. */
export function isAddedLookup({ byPk, columns, primaryKey }: Pick<Table, 'byPk' | 'columns' | 'primaryKey'>): boolean {
  return byPk && columns.some(({ number, cast }) => primaryKey.includes(number) && cast.base !== null);
}

/** A unique index without expression or condition consists of these columns, or some of them. */
export function hasUniqueIndex(table: CatalogTable, columns: readonly number[]): boolean {
  return table.getIndexes().some((index) => isUniqueOver(index, columns));
}

/**
 * At most one row has these values, even inside a transaction: a primary key that is not deferrable. Other indexes may
 * use another collation than the column, and none covers inheritance children other than partitions.
 */
export function isAlwaysUnique(table: CatalogTable, columns: readonly number[]): boolean {
  if (table.relkind !== 'p' && table.relhassubclass === true) return false;
  return table
    .getIndexes()
    .some((index) => index.indisprimary === true && index.indimmediate === true && isUniqueOver(index, columns));
}

function isUniqueOver(index: CatalogIndex, columns: readonly number[]): boolean {
  const isTotal = index.indisvalid === true && index.indexprs === null && index.indpred === null;
  const key = index.indkey.slice(0, index.indnkeyatts ?? index.indkey.length);
  return isTotal && key.every((number) => columns.includes(number));
}
