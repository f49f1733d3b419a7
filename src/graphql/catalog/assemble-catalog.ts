/**
 * Builds a `Catalog` from the JSON texts of sql/catalog.sql: rows linked to their tables and types, indexed for the
 * model. With pauses: ten thousand tables have 20 MB of text.
 *
 * If only changed tables were read, all else is of the catalog before, as the same objects.
 */
import type { PgEnum } from 'pg-introspection';
import { invariant } from '../../shared/invariant.ts';
import { type Sliced, sliceIsOver } from '../../shared/slices.ts';
import { linkTables, type TableRows } from './assemble-tables.ts';
import type {
  Catalog,
  CatalogForeignKey,
  CatalogNamespace,
  CatalogRoutine,
  CatalogTable,
  CatalogType,
  CommentedObject,
  TypeOperation,
} from './catalog.ts';
import type { CommentDirective } from './comment-directive.ts';
import { type Comments, type DescriptionRow, readComments } from './comments.ts';
import { type PlannedTable, planningWeights, type SqlRoutine } from './planned-tables.ts';
import { type AccessRows, type ChangedAccessRows, type RolesAccess, readAccess, renewAccess } from './role-access.ts';

/** The rows of the tables that are read, of roles, and what a change of any table may concern. */
interface ChangedRows extends TableRows, ChangedAccessRows {
  readonly classes: readonly (TableRows['classes'][number] & ChangedAccessRows['classes'][number])[];
  /** Oids of all exposed tables, in order of namespace, then oid. */
  readonly all_tables: readonly string[];
  readonly constraints: readonly CatalogForeignKey[];
  readonly planned: readonly PlannedTable[];
  readonly sql_routines: readonly SqlRoutine[];
  readonly descriptions: readonly DescriptionRow[];
  /** An object was dropped before it was read. */
  readonly torn: boolean;
}

/** The rows of what belongs to no table, read with all tables only. */
interface CommonRows extends AccessRows {
  readonly namespaces: readonly (CatalogNamespace & AccessRows['namespaces'][number])[];
  readonly procs: readonly (Omit<CatalogRoutine, 'defaults' | 'planningWeight'> & AccessRows['procs'][number])[];
  readonly types: readonly (Omit<CatalogType, 'getEnumValues' | 'getAttributes' | 'getOperators'> &
    AccessRows['types'][number])[];
  readonly enums: readonly Pick<PgEnum, 'enumtypid' | 'enumsortorder' | 'enumlabel'>[];
  /** Type, name, type of the attribute and its modifier. */
  readonly composite_attributes: readonly (readonly [string, string, string, number])[];
  readonly type_operators: readonly (readonly [string, TypeOperation, string])[];
  readonly other_descriptions: readonly DescriptionRow[];
  readonly exposed: readonly string[];
  readonly routine_defaults: readonly (readonly [string, string])[];
}

/** The rows of sql/catalog.sql. */
export type CatalogRows = ChangedRows & CommonRows;

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

/** What a catalog has beside the rows. */
export type CatalogVersion = Pick<
  Catalog,
  'snapshot' | 'fingerprint' | 'memberships' | 'hasChangeTrigger' | 'preRequest' | 'trustsExtensions'
> &
  Pick<CatalogParts, 'commonHash' | 'tableHashes'>;

/** What the next reading compares, and takes over. */
interface CatalogParts {
  /** Content hashes: of all that belongs to no table, and of each table by oid, those behind views included. */
  readonly commonHash: string;
  readonly tableHashes: ReadonlyMap<string, string>;
  readonly common: Common;
  readonly access: RolesAccess;
  readonly comments: Comments;
}

/** A catalog that the next reading can begin from. */
export interface ReadCatalog extends Catalog {
  readonly parts: CatalogParts;
}

/** Builds the catalog from its rows and its version. @param known The one before, if only changed tables were read. */
export function* assembleCatalog(
  source: CatalogRows,
  { commonHash, tableHashes, ...version }: CatalogVersion,
  known: ReadCatalog | null,
): Sliced<ReadCatalog> {
  const changed = new Map((yield* linkTables(source)).map((table) => [table._id, table]));
  const all = source.all_tables.map((oid) => {
    const table = changed.get(oid) ?? known?.table(oid);
    invariant(table !== undefined, 'a table that was not read is known');
    return table;
  });
  const names = all.map(({ _id, relname }) => [_id, relname] as const);
  const weightOf = planningWeights(source.planned, source.sql_routines, names);
  const tables = new Map<string, CatalogTable>();
  for (const table of all) {
    if (sliceIsOver()) yield;
    const planningWeight = weightOf(table._id);
    tables.set(table._id, table.planningWeight === planningWeight ? table : { ...table, planningWeight });
  }
  const isKept = (oid: string): boolean => tables.has(oid) && !changed.has(oid);
  const foreignKeys = foreignKeysOf(source, known, isKept);
  const common = known?.parts.common ?? linkCommon(source);
  const access = known === null ? readAccess(source) : renewAccess(known.parts.access, source, isKept);
  const comments = yield* commentsOf(source, known, { isKept, foreignKeys });
  const commentOn = (kind: CommentedObject, oid: string, column = 0) => comments.get(kind)?.get(oid)?.get(column);
  const routines = common.procs.map((row) => ({ ...row, planningWeight: weightOf(row._id) }));
  const routinesById = new Map(routines.map((row) => [row._id, row]));
  const routinesByName = Map.groupBy(routines, (row) => `${row.pronamespace} ${row.proname}`);
  return {
    ...version,
    parts: { commonHash, tableHashes, common, access, comments },
    common,
    roles: access.roles,
    namespaces: common.namespaces,
    tables: [...tables.values()],
    foreignKeys,
    routines,
    enums: common.enums,
    domains: common.domains,
    composites: common.composites,
    table: (oid) => tables.get(oid),
    type: (oid) => common.types.get(oid),
    routine: (oid) => routinesById.get(oid),
    routinesNamed: (namespace, name) => routinesByName.get(`${namespace} ${name}`) ?? [],
    namespace: (oid) => common.namespacesByOid.get(oid),
    commentedColumns: (table) => comments.get('column')?.get(table) ?? null,
    comment: (kind, oid, column) => commentOn(kind, oid, column)?.text ?? null,
    directive: (kind, oid, column) => commentOn(kind, oid, column)?.directive ?? noDirective,
  };
}

const noDirective: CommentDirective = { kind: 'none' };

/** What belongs to no table. */
interface Common extends Pick<Catalog, 'namespaces' | 'enums' | 'domains' | 'composites'> {
  readonly types: ReadonlyMap<string, CatalogType>;
  readonly namespacesByOid: ReadonlyMap<string, CatalogNamespace>;
  readonly procs: readonly Omit<CatalogRoutine, 'planningWeight'>[];
}

function linkCommon(source: CommonRows): Common {
  const exposed = new Set(source.exposed);
  const types = new Map(linkTypes(source).map((type) => [type._id, type]));
  const defaults = new Map(source.routine_defaults);
  const typesOf = (kind: string) =>
    source.exposed.flatMap((namespace) =>
      [...types.values()].filter((row) => row.typtype === kind && row.typnamespace === namespace),
    );
  return {
    types,
    namespacesByOid: new Map(source.namespaces.map((row) => [row._id, row])),
    namespaces: source.namespaces.filter((row) => exposed.has(row._id)),
    procs: source.procs.map((row) => ({ ...row, defaults: defaults.get(row._id) ?? null })),
    enums: typesOf('e'),
    domains: typesOf('d'),
    composites: typesOf('c').filter((type) => type.getAttributes().length > 0),
  };
}

/** In order of oid. The referencing table of a key may belong to no exposed schema. */
function foreignKeysOf(
  { constraints, classes }: ChangedRows,
  known: Catalog | null,
  isKept: (table: string) => boolean,
): readonly CatalogForeignKey[] {
  if (known === null) return constraints;
  const changed = new Set(classes.map(({ _id }) => _id));
  const kept = known.foreignKeys.filter(({ conrelid, confrelid }) => isKept(confrelid) && !changed.has(conrelid));
  return [...kept, ...constraints].sort((a, b) => Number(a._id) - Number(b._id));
}

function commentsOf(
  { descriptions, other_descriptions: others }: CatalogRows,
  known: ReadCatalog | null,
  kept: { readonly isKept: (table: string) => boolean; readonly foreignKeys: readonly CatalogForeignKey[] },
): Sliced<Comments> {
  if (known === null) return readComments([...descriptions, ...others], new Map());
  const keys = new Set(kept.foreignKeys.map(({ _id }) => _id));
  const isKept: Readonly<Partial<Record<CommentedObject, (oid: string) => boolean>>> = {
    table: kept.isKept,
    column: kept.isKept,
    constraint: (oid) => keys.has(oid),
  };
  const before = [...known.parts.comments].map(([kind, of]) => {
    const isOld = isKept[kind];
    return [kind, isOld === undefined ? of : new Map([...of].filter(([oid]) => isOld(oid)))] as const;
  });
  return readComments(descriptions, new Map(before));
}

function linkTypes({ types, enums, composite_attributes, type_operators }: CommonRows): CatalogType[] {
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
