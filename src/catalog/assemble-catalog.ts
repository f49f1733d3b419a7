/**
 * From the JSON text of sql/catalog.sql to a `Catalog`: rows linked to the tables and types they belong to, indexed for the
 * model.
 */
import type { PgEnum } from 'pg-introspection';
import type {
  Catalog,
  CatalogColumn,
  CatalogForeignKey,
  CatalogIndex,
  CatalogNamespace,
  CatalogRoutine,
  CatalogTable,
  CatalogType,
  CommentedObject,
  TypeOperation,
} from './catalog.ts';
import { type CommentDirective, parseCommentDirective } from './comment-directive.ts';
import { type AccessRows, readAccess } from './role-access.ts';

/** What sql/catalog.sql reads. */
interface CatalogRows extends AccessRows {
  readonly namespaces: readonly (CatalogNamespace & AccessRows['namespaces'][number])[];
  readonly classes: readonly (Omit<CatalogTable, 'getAttributes' | 'getIndexes'> & AccessRows['classes'][number])[];
  /** A list for each column of `pg_attribute`, null where there are no rows. */
  readonly attributes: { readonly [Key in keyof CatalogColumn]: readonly CatalogColumn[Key][] | null };
  readonly constraints: readonly CatalogForeignKey[];
  readonly procs: readonly (CatalogRoutine & AccessRows['procs'][number])[];
  readonly types: readonly (Omit<CatalogType, 'getEnumValues' | 'getOperators'> & AccessRows['types'][number])[];
  readonly enums: readonly Pick<PgEnum, 'enumtypid' | 'enumsortorder' | 'enumlabel'>[];
  readonly type_operators: readonly (readonly [string, TypeOperation, string])[];
  readonly indexes: readonly CatalogIndex[];
  readonly owned_sequences: readonly (readonly [string, number])[];
  readonly unusual_null_orders: readonly (readonly [string, number])[];
  readonly descriptions: readonly DescriptionRow[];
  readonly exposed: readonly string[];
  readonly column_defaults: readonly (readonly [string, number])[];
  readonly user_code: readonly (readonly [string, number])[];
  readonly routine_defaults: readonly (readonly [string, string])[];
  readonly declared_types: readonly (readonly [string, number, string])[];
}

interface DescriptionRow {
  /** Name of the catalog that the commented object is in. */
  readonly catalog: string;
  readonly objoid: string;
  readonly objsubid: number;
  readonly description: string;
}

const noDirective: CommentDirective = { kind: 'none' };

const commentedCatalogs: Readonly<Record<string, CommentedObject>> = {
  pg_namespace: 'namespace',
  pg_class: 'table',
  pg_constraint: 'constraint',
  pg_proc: 'routine',
  pg_type: 'type',
};

/** Builds the catalog from its text and from what tells its version. */
export function assembleCatalog(
  text: string,
  version: Pick<Catalog, 'snapshot' | 'fingerprint' | 'memberships' | 'watched'>,
): Catalog {
  const source = JSON.parse(text) as CatalogRows;
  const exposed = new Set(source.exposed);
  const tables = new Map(linkTables(source).map((table) => [table._id, table]));
  const types = new Map(linkTypes(source).map((type) => [type._id, type]));
  const namespaces = new Map(source.namespaces.map((row) => [row._id, row]));
  const comments = commentsOf(source.descriptions);
  const defaults = columnSet(source.column_defaults);
  const declaredTypes = byColumn(source.declared_types);
  const routineDefaults = new Map(source.routine_defaults);
  const ownedColumns = columnSet(source.owned_sequences);
  const userCode = new Map(source.user_code);
  const unusualNullOrders = columnSet(source.unusual_null_orders);
  const enumsOf = (namespace: string) =>
    [...types.values()].filter((row) => row.typtype === 'e' && row.typnamespace === namespace);
  return {
    ...version,
    roles: readAccess(source),
    namespaces: source.namespaces.filter((row) => exposed.has(row._id)),
    tables: [...tables.values()],
    foreignKeys: source.constraints,
    routines: source.procs,
    enums: source.exposed.flatMap(enumsOf),
    table: (oid) => tables.get(oid),
    type: (oid) => types.get(oid),
    namespace: (oid) => namespaces.get(oid),
    comment: (kind, oid, column) => comments[kind].get(oid)?.get(column ?? 0)?.text ?? null,
    directive: (kind, oid, column) => comments[kind].get(oid)?.get(column ?? 0)?.directive ?? noDirective,
    hasDefault: (table, column) => defaults.get(table)?.has(column) === true,
    runsUserCode: (table, access) => ((userCode.get(table) ?? 0) & (access === 'read' ? 1 : 2)) !== 0,
    ownsSequence: (table, column) => ownedColumns.get(table)?.has(column) === true,
    hasUnusualNullOrder: (table, column) => unusualNullOrders.get(table)?.has(column) === true,
    declaredType: (table, column) => declaredTypes.get(table)?.get(column) ?? null,
    routineDefaults: (routine) => routineDefaults.get(routine) ?? null,
  };
}

function linkTables({ classes, attributes, indexes }: CatalogRows): CatalogTable[] {
  const columns = columnsByTable(attributes);
  const ofTable = groupBy(indexes, (index) => index.indrelid);
  return classes.map((row) => {
    const [own, unique] = [columns.get(row._id) ?? [], ofTable.get(row._id) ?? []];
    return { ...row, getAttributes: () => own, getIndexes: () => unique };
  });
}

function columnsByTable(lists: CatalogRows['attributes']): ReadonlyMap<string, readonly CatalogColumn[]> {
  const rows = (lists.attrelid ?? []).map(
    (attrelid, index): CatalogColumn => ({
      attrelid,
      attnum: lists.attnum![index]!,
      attname: lists.attname![index]!,
      atttypid: lists.atttypid![index]!,
      atttypmod: lists.atttypmod![index]!,
      attnotnull: lists.attnotnull![index]!,
      attidentity: lists.attidentity![index]!,
      attgenerated: lists.attgenerated![index]!,
    }),
  );
  const tables = groupBy(rows, (row) => row.attrelid);
  for (const columns of tables.values()) columns.sort((a, b) => a.attnum - b.attnum);
  return tables;
}

function linkTypes({ types, enums, type_operators }: CatalogRows): CatalogType[] {
  const labels = groupBy(enums, (row) => row.enumtypid);
  const operators = groupBy(type_operators, ([type]) => type);
  for (const rows of labels.values()) rows.sort((a, b) => a.enumsortorder - b.enumsortorder);
  return types.map((row) => {
    const own = labels.get(row._id) ?? [];
    const named = Object.fromEntries((operators.get(row._id) ?? []).map(([, operation, name]) => [operation, name]));
    return { ...row, getEnumValues: () => own, getOperators: () => named };
  });
}

function groupBy<T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** By table, then by column: most tables have none, and every column of every role asks. */
type ByColumn<T> = ReadonlyMap<string, ReadonlyMap<number, T>>;

function byColumn<T>(rows: readonly (readonly [string, number, T])[]): ByColumn<T> {
  const tables = groupBy(rows, ([table]) => table);
  return new Map(
    [...tables].map(([table, columns]) => [table, new Map(columns.map(([, column, value]) => [column, value]))]),
  );
}

function columnSet(rows: readonly (readonly [string, number])[]): ByColumn<true> {
  return byColumn(rows.map(([table, column]) => [table, column, true] as const));
}

/** A comment with the directive in it. */
interface Comment {
  readonly text: string;
  readonly directive: CommentDirective;
}

/** By kind of the object, then by its oid and its column, 0 for the object itself. */
function commentsOf(descriptions: readonly DescriptionRow[]): Readonly<Record<CommentedObject, ByColumn<Comment>>> {
  type Found = [string, number, Comment][];
  const found: Record<CommentedObject, Found> = {
    ...{ namespace: [], table: [], column: [], constraint: [], routine: [], type: [] },
  };
  for (const { catalog, objoid, objsubid, description: text } of descriptions) {
    const object = commentedCatalogs[catalog];
    if (object === undefined) continue;
    const comment = { text, directive: parseCommentDirective(text) };
    found[object === 'table' && objsubid > 0 ? 'column' : object].push([objoid, objsubid, comment]);
  }
  return {
    namespace: byColumn(found.namespace),
    table: byColumn(found.table),
    column: byColumn(found.column),
    constraint: byColumn(found.constraint),
    routine: byColumn(found.routine),
    type: byColumn(found.type),
  };
}
