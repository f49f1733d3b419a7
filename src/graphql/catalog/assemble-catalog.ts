/**
 * Builds a `Catalog` from the JSON texts of sql/catalog.sql: rows linked to their tables and types, indexed for the
 * model. With pauses: ten thousand tables have 20 MB of text.
 */
import type { PgEnum } from 'pg-introspection';
import { mapInSlices, type Sliced, sliceIsOver } from '../../shared/slices.ts';
import type {
  AttributeRow,
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
import { type PlannedTable, planningWeights, type SqlRoutine } from './planned-tables.ts';
import { type AccessRows, readAccess } from './role-access.ts';
import { findViewBases, type ViewQueries } from './view-base.ts';

/** The rows of sql/catalog.sql. */
export interface CatalogRows extends AccessRows {
  readonly namespaces: readonly (CatalogNamespace & AccessRows['namespaces'][number])[];
  readonly classes: readonly (Omit<
    CatalogTable,
    | 'getAttributes'
    | 'getConstraints'
    | 'getIndexes'
    | 'getBase'
    | 'readsUserCode'
    | 'writesUserCode'
    | 'planningWeight'
  > &
    AccessRows['classes'][number])[];
  /** In parts, each with a list for each column of `pg_attribute`. */
  readonly attributes: readonly { readonly [Key in keyof AttributeRow]-?: readonly AttributeRow[Key][] }[];
  readonly constraints: readonly CatalogForeignKey[];
  readonly constraint_columns: readonly (readonly [string, string, readonly number[]])[];
  readonly procs: readonly (Omit<CatalogRoutine, 'defaults' | 'planningWeight'> & AccessRows['procs'][number])[];
  readonly types: readonly (Omit<CatalogType, 'getEnumValues' | 'getAttributes' | 'getOperators'> &
    AccessRows['types'][number])[];
  readonly enums: readonly Pick<PgEnum, 'enumtypid' | 'enumsortorder' | 'enumlabel'>[];
  /** Type, name, type of the attribute and its modifier. */
  readonly composite_attributes: readonly (readonly [string, string, string, number])[];
  readonly type_operators: readonly (readonly [string, TypeOperation, string])[];
  readonly indexes: readonly CatalogIndex[];
  readonly view_queries: ViewQueries;
  readonly planned: readonly PlannedTable[];
  readonly sql_routines: readonly SqlRoutine[];
  readonly owned_sequences: readonly (readonly [string, number])[];
  readonly unusual_null_orders: readonly (readonly [string, number])[];
  readonly descriptions: readonly DescriptionRow[];
  readonly exposed: readonly string[];
  readonly nondeterministic_columns: readonly (readonly [string, number, allowsLike: boolean])[];
  readonly column_defaults: readonly (readonly [string, number])[];
  readonly user_code: readonly (readonly [string, number])[];
  readonly routine_defaults: readonly (readonly [string, string])[];
  readonly declared_types: readonly (readonly [string, number, string])[];
  /** An object was dropped before it was read. */
  readonly torn: boolean;
}

/** A row of sql/catalog.sql: JSON text with one part of the catalog. */
export interface CatalogText {
  readonly name: string;
  readonly rows: string;
}

/** Parses the texts. */
export function* parseCatalog(texts: readonly CatalogText[]): Sliced<CatalogRows> {
  const parts: Record<string, unknown> = {};
  const attributes: unknown[] = [];
  for (const { name, rows } of texts) {
    if (sliceIsOver()) yield;
    const part: unknown = JSON.parse(rows);
    if (name === 'attributes') attributes.push(part);
    else parts[name] = part;
  }
  return { ...parts, attributes } as unknown as CatalogRows;
}

interface DescriptionRow {
  /** Name of the catalog with the commented object. */
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

/** Builds the catalog from its rows and its version. */
export function* assembleCatalog(
  source: CatalogRows,
  version: Pick<
    Catalog,
    'snapshot' | 'fingerprint' | 'memberships' | 'hasChangeTrigger' | 'preRequest' | 'trustsExtensions'
  >,
): Sliced<Catalog> {
  const exposed = new Set(source.exposed);
  const names = source.classes.map(({ _id, relname }) => [_id, relname] as const);
  const weightOf = planningWeights(source.planned, source.sql_routines, names);
  const tables = new Map((yield* linkTables(source, weightOf)).map((table) => [table._id, table]));
  const types = new Map(linkTypes(source).map((type) => [type._id, type]));
  const namespaces = new Map(source.namespaces.map((row) => [row._id, row]));
  const comments = yield* commentsOf(source.descriptions);
  const defaults = new Map(source.routine_defaults);
  const routines = yield* mapInSlices(source.procs, (row) => ({
    ...row,
    defaults: defaults.get(row._id) ?? null,
    planningWeight: weightOf(row._id),
  }));
  const routinesById = new Map(routines.map((row) => [row._id, row]));
  const routinesByName = Map.groupBy(routines, (row) => `${row.pronamespace} ${row.proname}`);
  const typesOf = (kind: string) =>
    source.exposed.flatMap((namespace) =>
      [...types.values()].filter((row) => row.typtype === kind && row.typnamespace === namespace),
    );
  return {
    ...version,
    roles: readAccess(source),
    namespaces: source.namespaces.filter((row) => exposed.has(row._id)),
    tables: [...tables.values()],
    foreignKeys: source.constraints,
    routines,
    enums: typesOf('e'),
    domains: typesOf('d'),
    composites: typesOf('c').filter((type) => type.getAttributes().length > 0),
    table: (oid) => tables.get(oid),
    type: (oid) => types.get(oid),
    routine: (oid) => routinesById.get(oid),
    routinesNamed: (namespace, name) => routinesByName.get(`${namespace} ${name}`) ?? [],
    namespace: (oid) => namespaces.get(oid),
    comment: (kind, oid, column) =>
      comments
        .get(kind)
        ?.get(oid)
        ?.get(column ?? 0)?.text ?? null,
    directive: (kind, oid, column) =>
      comments
        .get(kind)
        ?.get(oid)
        ?.get(column ?? 0)?.directive ?? noDirective,
  };
}

function* linkTables(source: CatalogRows, weightOf: (oid: string) => number): Sliced<CatalogTable[]> {
  const columns = yield* columnsByTable(source);
  const indexes = Map.groupBy(source.indexes, (index) => index.indrelid);
  const constraints = Map.groupBy(source.constraint_columns, ([table]) => table);
  const userCode = new Map(source.user_code);
  const baseOf = findViewBases(source.view_queries, indexes);
  const nullOrders = byColumn(source.unusual_null_orders);
  return yield* mapInSlices(source.classes, (row) => {
    const [own, unique] = [columns.get(row._id) ?? [], indexes.get(row._id) ?? []];
    const constrained = (constraints.get(row._id) ?? []).map(([, name, columns]) => ({ name, columns }));
    const code = userCode.get(row._id) ?? 0;
    const runs = { readsUserCode: (code & 1) !== 0, writesUserCode: (code & 2) !== 0 };
    const hasUnusualNullOrder = nullOrders.get(row._id)?.has(0) === true;
    return {
      ...row,
      ...runs,
      hasUnusualNullOrder,
      planningWeight: weightOf(row._id),
      getAttributes: () => own,
      getConstraints: () => constrained,
      getIndexes: () => unique,
      getBase: () => baseOf(row._id),
    };
  });
}

function* columnsByTable(source: CatalogRows): Sliced<ReadonlyMap<string, readonly CatalogColumn[]>> {
  const defaults = byColumn(source.column_defaults);
  const sequences = byColumn(source.owned_sequences);
  const nullOrders = byColumn(source.unusual_null_orders);
  const nondeterministic = byColumn<boolean>(source.nondeterministic_columns);
  const declaredTypes = byColumn(source.declared_types);
  const tables = new Map<string, CatalogColumn[]>();
  const add = (lists: CatalogRows['attributes'][number], index: number): void => {
    const [attrelid, attnum] = [lists.attrelid[index]!, lists.attnum[index]!];
    const allowsLike = nondeterministic.get(attrelid)?.get(attnum);
    const column: CatalogColumn = {
      attrelid,
      attnum,
      attname: lists.attname[index]!,
      atttypid: lists.atttypid[index]!,
      atttypmod: lists.atttypmod[index]!,
      attnotnull: lists.attnotnull[index]!,
      attidentity: lists.attidentity[index]!,
      attgenerated: lists.attgenerated[index]!,
      hasDefault: defaults.get(attrelid)?.has(attnum) === true,
      ownsSequence: sequences.get(attrelid)?.has(attnum) === true,
      hasUnusualNullOrder: nullOrders.get(attrelid)?.has(attnum) === true,
      nondeterministicCollation: allowsLike === undefined ? null : { allowsLike },
      declaredType: declaredTypes.get(attrelid)?.get(attnum) ?? null,
    };
    const known = tables.get(attrelid);
    if (known === undefined) tables.set(attrelid, [column]);
    else known.push(column);
  };
  for (const lists of source.attributes) {
    for (let index = 0; index < lists.attrelid.length; index += 1) {
      if (sliceIsOver()) yield;
      add(lists, index);
    }
  }
  for (const columns of tables.values()) columns.sort((a, b) => a.attnum - b.attnum);
  return tables;
}

function linkTypes({ types, enums, composite_attributes, type_operators }: CatalogRows): CatalogType[] {
  const byType = Map.groupBy(composite_attributes, ([type]) => type);
  const labels = Map.groupBy(enums, (row) => row.enumtypid);
  const operators = Map.groupBy(type_operators, ([type]) => type);
  for (const rows of labels.values()) rows.sort((a, b) => a.enumsortorder - b.enumsortorder);
  return types.map((row) => {
    const own = labels.get(row._id) ?? [];
    const parts = (byType.get(row._id) ?? []).map(([, attname, atttypid, atttypmod]) => ({
      attname,
      atttypid,
      atttypmod,
    }));
    const named = Object.fromEntries((operators.get(row._id) ?? []).map(([, operation, name]) => [operation, name]));
    return { ...row, getEnumValues: () => own, getAttributes: () => parts, getOperators: () => named };
  });
}

/** By table, then by column: most tables have none, and it is read for every column and role. */
type ByColumn<T> = ReadonlyMap<string, ReadonlyMap<number, T>>;

/** @param rows Table, column, and a fact about it; without one, being listed is the fact. */
function byColumn<T = undefined>(rows: readonly (readonly [string, number, T?])[]): ByColumn<T | undefined> {
  const tables = Map.groupBy(rows, ([table]) => table);
  return new Map(
    [...tables].map(([table, columns]) => [table, new Map(columns.map(([, column, value]) => [column, value]))]),
  );
}

/** A comment with the directive in it. */
interface Comment {
  readonly text: string;
  readonly directive: CommentDirective;
}

/** By kind of the object, then by oid and column; 0 for the object itself. */
function* commentsOf(
  descriptions: readonly DescriptionRow[],
): Sliced<ReadonlyMap<CommentedObject | undefined, ByColumn<Comment | undefined>>> {
  const kindOf = ({ catalog, objsubid }: DescriptionRow) =>
    catalog === 'pg_class' && objsubid > 0 ? 'column' : commentedCatalogs[catalog];
  const comments = yield* mapInSlices(descriptions, (row) => {
    const { objoid, objsubid, description: text } = row;
    return { kind: kindOf(row), row: [objoid, objsubid, { text, directive: parseCommentDirective(text) }] as const };
  });
  const kinds = Map.groupBy(comments, ({ kind }) => kind);
  return new Map([...kinds].map(([kind, of]) => [kind, byColumn<Comment>(of.map(({ row }) => row))]));
}
