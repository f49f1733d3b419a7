/**
 * Names of extensions: entries of inputs, and types. They never replace a name that exists without them; a candidate
 * without a free name is left out and recorded.
 */
import type { CatalogTable } from '../catalog/catalog.ts';
import { quotePath } from '../catalog/quote-name.ts';
import { type ExtensionName, extensionNames } from '../config/extensions.ts';
import { aggregateFunctions } from './codecs.ts';
import { isJson, isJsonResult, isSearchable } from './columns.ts';
import { columnFix, foreignKeyFix, validName } from './comment-fix.ts';
import { addFunctionEntries, claimFunctionInputs, noteMisplaced } from './function-entries.ts';
import { tableTypeNames } from './inflect.ts';
import type { Column, Model, Relationship, Routine, SharedType, Table, TableType, ValueType } from './model.ts';
import { describeTable, type ModelContext, type NameClaims, note, tablePath } from './model-context.ts';
import { distinctName, namedBy } from './relationships.ts';
import { otherTableName } from './tables.ts';

/** The scope of the names. */
interface Named {
  readonly tables: ReadonlyMap<string, Table>;
  readonly routines: ReadonlyMap<string, Routine>;
  readonly claims: NameClaims;
}

/** The tables with their extension entries and types, and the shared types. */
export function addNames(context: ModelContext, named: Named): Pick<Model, 'tables' | 'addedTypes'> {
  const withEntries = new Map(
    [...named.tables].map(([oid, table]) => [
      oid,
      addColumnEntries(context, addFunctions(context, addRelationships(context, table, named), named.routines)),
    ]),
  );
  noteMisplaced(context, named.routines);
  for (const table of withEntries.values()) noteRanks(context, table);
  const added = addTypes(context, withEntries, named.claims);
  noteArguments(context, added.tables, named.routines);
  return added;
}

function noteArguments(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  routines: ReadonlyMap<string, Routine>,
): void {
  for (const { namespace, name: routine, result, arguments: given } of routines.values()) {
    const table = result.kind === 'set' ? tables.get(result.table) : undefined;
    const isDistinct = table?.addedTypes.includes('column') && has(context, table, 'distinct');
    const takesPath = isJsonResult(result) && offersJson(context, namespace);
    for (const [name, what] of [...(isDistinct ? [distinctOn] : []), ...(takesPath ? [at] : [])]) {
      if (given.every(({ fieldName }) => fieldName !== name)) continue;
      const object = quotePath(namespace, routine);
      const reason = `Function ${object} has no "${name}" of ${what}: an argument of its own has that name.`;
      note(context, () => ({ kind: 'name', object, names: [name], reason, fix: null }));
    }
  }
}

const [distinctOn, at] = [['distinctOn', 'the collection'] as const, ['at', 'JSON fields'] as const];

function offersJson({ namespaces }: ModelContext, namespace: string): boolean {
  return [...namespaces.values()].find(({ name }) => name === namespace)?.extensions.includes('json_filters') === true;
}

function addRelationships(context: ModelContext, table: Table, named: Named): Table {
  return addRelationshipEntries(context, addRelationshipEntries(context, table, filters, named), orders, named);
}

function addFunctions(context: ModelContext, table: Table, routines: Named['routines']): Table {
  if (!has(context, table, 'function_filters')) return table;
  const taken = { filter: entriesOf(table, filters), order: entriesOf(table, orders) };
  return addFunctionEntries(context, table, { routines, taken, hasJson: has(context, table, 'json_filters') });
}

function rowOf({ catalog }: ModelContext, { oid }: Table): CatalogTable {
  return catalog.table(oid)!;
}

function has(context: ModelContext, table: Table, extension: ExtensionName): boolean {
  return context.namespaces.get(rowOf(context, table).relnamespace)?.extensions.includes(extension) === true;
}

/** An input of a table with entries for its columns and relationships. */
interface EntryKind {
  readonly input: 'filter' | 'order';
  readonly flag: 'filterable' | 'orderable';
  /** The extension that adds the relationships. */
  readonly extension: ExtensionName;
  readonly reserved: readonly string[];
}

const filters: EntryKind = {
  input: 'filter',
  flag: 'filterable',
  extension: 'relation_filters',
  reserved: ['nodeId', 'and', 'or', 'not'],
};
const orders: EntryKind = { input: 'order', flag: 'orderable', extension: 'relation_order', reserved: [] };

/** Names of the entries. */
function entriesOf(table: Table, { input, flag, reserved }: EntryKind): ReadonlySet<string> {
  const named = [...table.columns, ...table.relationships].filter((each) => each[flag]);
  const functions = table[`${input}Functions`].map(({ name }) => name);
  return new Set([...reserved, ...named.flatMap(({ fieldName }) => fieldName ?? []), ...functions]);
}

function addRelationshipEntries(
  context: ModelContext,
  table: Table,
  kind: EntryKind,
  { tables, routines }: Named,
): Table {
  if (!has(context, table, kind.extension)) return table;
  const taken = entriesOf(table, kind);
  const shown = new Map(table.relationships.map((relationship) => [relationship.fieldName, relationship]));
  const computed = new Set(table.computedFields.map((oid) => routines.get(oid)?.fieldName));
  const relationships = table.relationships.map((relationship) => {
    const { fieldName } = relationship;
    // Only fields have entries.
    if (shown.get(fieldName) !== relationship || computed.has(fieldName)) return relationship;
    // A table without orderable columns has no such input.
    const target = tables.get(relationship.target);
    const isMissing = kind === orders && relationship.cardinality === 'one' && !(target && isOrderable(target));
    if (isMissing) return relationship;
    if (!taken.has(fieldName)) return { ...relationship, [kind.flag]: true };
    noteRelationship(context, table, kind, relationship);
    return relationship;
  });
  return { ...table, relationships };
}

/** Whether rows of the table can be ordered. */
export function isOrderable({ columns }: Table): boolean {
  return columns.some(({ orderable, fieldName }) => orderable && fieldName !== null);
}

function addColumnEntries(context: ModelContext, table: Table): Table {
  if (!has(context, table, 'json_filters')) return table;
  const taken = entriesOf(table, filters);
  const columns = table.columns.map((column) => {
    if (!column.readable || !isJson(column.type)) return column;
    if (!taken.has(column.fieldName ?? '')) return { ...column, filterable: true };
    noteEntry(context, table, filters, {
      what: `column "${column.name}"`,
      name: column.fieldName ?? '',
      fixFor: (row) => columnFix(context, row, column.name, { name: validName(`${column.name}_json`) }),
    });
    return column;
  });
  return { ...table, columns };
}

/** Entries of an order by rank, with their columns. Column names are taken, by the order by value. */
export function rankEntries(table: Table): readonly (readonly [name: string, column: Column])[] {
  const taken = entriesOf(table, orders);
  return searched(table).filter(([name]) => !taken.has(name));
}

function searched({ columns }: Table) {
  return columns.flatMap((column) =>
    column.readable && column.fieldName !== null && isSearchable(column.type)
      ? [[`${column.fieldName}Rank`, column] as const]
      : [],
  );
}

function noteRanks(context: ModelContext, table: Table): void {
  if (!has(context, table, 'text_search')) return;
  const taken = entriesOf(table, orders);
  for (const [name, column] of searched(table)) {
    if (!taken.has(name)) continue;
    const fixFor = (row: CatalogTable) =>
      columnFix(context, row, column.name, { name: validName(`${column.name}_search`) });
    noteEntry(context, table, orders, { what: `rank of the column "${column.name}"`, name, fixFor });
  }
}

function noteRelationship(context: ModelContext, table: Table, kind: EntryKind, relationship: Relationship): void {
  const { fieldName: name, id } = relationship;
  noteEntry(context, table, kind, {
    what: `relationship "${name}"`,
    name,
    fixFor: (row) =>
      foreignKeyFix(context, id, new Map([[id, namedBy(relationship, distinctName(context, row, relationship))]])),
  });
}

/** An entry left out of an input. */
interface LeftOut {
  readonly what: string;
  readonly name: string;
  readonly fixFor: (row: CatalogTable) => string | null;
}

function noteEntry(context: ModelContext, table: Table, { input }: EntryKind, { what, name, fixFor }: LeftOut): void {
  note(context, () => {
    const row = rowOf(context, table);
    const reason = `${describeTable(context, row)} has no ${input} by its ${what}: the ${input} has another entry of that name.`;
    return { kind: 'name', object: tablePath(context, row), names: [name], reason, fix: fixFor(row) };
  });
}

/** The types that a table needs for an extension, in naming order. */
type Needed = (context: ModelContext, tables: ReadonlyMap<string, Table>) => (table: Table) => readonly TableType[];

const neededTypes: Partial<Record<ExtensionName, Needed>> = {
  relation_filters(context, tables) {
    const collections = collectionsWith('filterable', tables);
    return (table) =>
      collections.has(table.oid) && has(context, table, 'relation_filters') ? collectionFilterTypes(table) : [];
  },
  relation_order(context, tables) {
    const collections = collectionsWith('orderable', tables);
    return (table) =>
      collections.has(table.oid) && has(context, table, 'relation_order')
        ? ['collectionOrderBy', ...functionOrderTypes(table)]
        : [];
  },
  distinct: (context) => (table) =>
    has(context, table, 'distinct') && table.columns.some(isInColumns) ? ['column'] : [],
  groups: (context) => (table) => (table.aggregate && has(context, table, 'groups') ? groupTypes(table) : []),
};

/** The types shared by tables for an extension, added if a table uses them. */
interface SharedTypes {
  readonly types: readonly SharedType[];
  usedBy(table: Table, has: (type: TableType) => boolean): boolean;
}

const sharedTypes: Partial<Record<ExtensionName, SharedTypes>> = {
  json_filters: { types: ['JSONPathFilter', 'JSONIsFilter'], usedBy: hasJsonFilter },
  text_search: { types: ['TextSearchFilter', 'TextSearchOrder'], usedBy: hasSearchFilter },
  groups: { types: ['DateTruncation'], usedBy: (_, has) => has('groupBy') },
};

/** Whether the table has filters of JSON values. */
export function hasJsonFilter(table: Table): boolean {
  return filteredTypes(table).some(isJson);
}

/** Whether the table has text search filters. */
export function hasSearchFilter(table: Table): boolean {
  return filteredTypes(table).some(isSearchable);
}

function filteredTypes({ columns, filterFunctions }: Table): readonly (ValueType | null)[] {
  const own = filterFunctions.filter(({ input }) => input === null);
  return [...columns.filter(({ filterable }) => filterable), ...own].map(({ type }) => type);
}

function collectionFilterTypes(table: Table): readonly TableType[] {
  return ['collectionFilter', ...aggregateFilterTypes(table)];
}

function aggregateFilterTypes(table: Table): readonly TableType[] {
  const functions = takingFunctions(table).map((fn) => `${fn}Filter` as const);
  const distinct = table.columns.some(isGroupable) ? (['distinctCountFilter'] as const) : [];
  return ['aggregateFilter', ...distinct, ...functions];
}

function groupTypes(table: Table): readonly TableType[] {
  if (!table.columns.some(isGroupable)) return [];
  if (!table.columns.some(isInColumns)) return ['distinctCount'];
  const own = ['column', 'groupBy', 'groupKey', 'group', 'groupOrderBy'] as const;
  return [...own, ...functionOrderTypes(table), 'distinctCount', ...aggregateFilterTypes(table)];
}

function takingFunctions({ aggregate, columns }: Table) {
  return aggregateFunctions.filter(
    (fn) => aggregate && columns.some((column) => column.fieldName !== null && column[fn] !== null),
  );
}

function functionOrderTypes(table: Table): readonly TableType[] {
  return takingFunctions(table).map((fn) => `${fn}OrderBy` as const);
}

/** The tables that to-many relationships with such an entry lead to. */
function collectionsWith(flag: EntryKind['flag'], tables: ReadonlyMap<string, Table>): ReadonlySet<string> {
  const relationships = [...tables.values()].flatMap((table) => table.relationships);
  return new Set(
    relationships.filter(({ cardinality, [flag]: has }) => has && cardinality === 'many').map(({ target }) => target),
  );
}

/** Whether equality is defined for the column's values. */
export function isGroupable({ orderable, fieldName, type }: Column): boolean {
  return orderable && fieldName !== null && !(type?.kind === 'scalar' && type.scalar === 'Opaque');
}

/** Whether the column is a value of *B*`Column`: an enum value cannot be named `true`, `false` or `null`. */
export function isInColumns(column: Column): boolean {
  return isGroupable(column) && !['true', 'false', 'null'].includes(column.fieldName ?? '');
}

function addTypes(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  claims: NameClaims,
): Pick<Model, 'tables' | 'addedTypes'> {
  const added = new Map([...tables.keys()].map((oid) => [oid, new Map<TableType, boolean>()]));
  const shared: SharedType[] = [];
  const functions = new Map<string, ReturnType<typeof claimFunctionInputs>>();
  for (const extension of extensionNames) {
    if (extension === 'function_filters') {
      for (const table of tables.values()) functions.set(table.oid, claimFunctionInputs(context, table, claims));
    }
    const needs = neededTypes[extension]?.(context, tables) ?? (() => []);
    for (const table of tables.values()) {
      const claimed = added.get(table.oid)!;
      for (const type of needs(table)) {
        // Several extensions need some of them.
        if (claimed.has(type)) continue;
        claimed.set(type, claimType(context, table, tableTypeNames(table.baseName)[type], claims));
      }
    }
    const ofTables = sharedTypes[extension];
    const isUsed = [...tables.values()].some(
      (table) =>
        ofTables?.usedBy(table, (type) => added.get(table.oid)!.get(type) === true) && has(context, table, extension),
    );
    for (const type of isUsed ? ofTables!.types : []) {
      if (claimShared(context, tables, type, claims)) shared.push(type);
    }
  }
  const addedTo = (oid: string) => [...added.get(oid)!].flatMap(([type, isClaimed]) => (isClaimed ? [type] : []));
  return {
    tables: new Map(
      [...tables].map(([oid, table]) => [oid, { ...table, ...functions.get(oid), addedTypes: addedTo(oid) }]),
    ),
    addedTypes: shared,
  };
}

function claimShared(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  type: SharedType,
  claims: NameClaims,
): boolean {
  const holder = claims.claim([type], 'an extension');
  if (holder === null) return true;
  note(context, () => {
    const table = [...tables.values()].find(({ baseName }) =>
      [baseName, ...Object.values<string>(tableTypeNames(baseName))].includes(type),
    );
    const fix = table === undefined ? null : otherTableName(context, rowOf(context, table));
    const object = table === undefined ? type : tablePath(context, rowOf(context, table));
    const reason = `Nothing has a type "${type}" of the extensions: ${holder} has that name already.`;
    return { kind: 'name', object, names: [type], reason, fix };
  });
  return false;
}

function claimType(context: ModelContext, table: Table, name: string, claims: NameClaims): boolean {
  const row = rowOf(context, table);
  const object = tablePath(context, row);
  const holder = claims.claim([name], `table ${object}`);
  if (holder === null) return true;
  note(context, () => {
    const fix = otherTableName(context, row);
    const reason = `${describeTable(context, row)} would have the type "${name}", and ${holder} has that name already.`;
    return { kind: 'name', object, names: [name], reason, fix };
  });
  return false;
}
