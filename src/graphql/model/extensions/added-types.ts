/**
 * Types that extensions add, of a table or shared. A type never replaces one that exists without extensions; one without a free
 * name is left out and recorded.
 */
import { mapInSlices, type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import { quotePath } from '../../catalog/quote-name.ts';
import { tableRootFields, tableTypeNames, tableTypeSuffixes } from '../inflect.ts';
import type { Model, Table, TableType, ValueType } from '../model.ts';
import { hasExtension, type ModelContext, noteOmission, tablePath } from '../model-context.ts';
import type { NameClaims } from '../name-claims.ts';
import { claimFunctionInputs } from '../routines/function-entries.ts';
import { claimRoutineTypes, keepRoutines } from '../routines/routine-types.ts';
import { isGroupable, isInColumns, isJson, isSearchable } from '../tables/columns.ts';
import { otherTableName } from '../tables/tables.ts';
import { type Named, rowOf } from './added-entries.ts';
import { isUpsertable } from './conflict-targets.ts';
import { nestedTypes } from './nested-writes.ts';
import { findReachedTables, type ReachedTables } from './reached-tables.ts';
import type { SharedType } from './shared-types.ts';
import { claimKeyInputs } from './table-keys.ts';
import { noteTakenName } from './taken-names.ts';
import { fitsOperator } from './update-operators.ts';

/** The types that a table needs for a feature, in naming order. */
type Needed = (context: ModelContext, named: NamedFields) => (table: Table) => readonly TableType[];

/** What has got its name so far: also the tables with a field for lists of updates, by oid. */
interface NamedFields extends Named {
  readonly batched: ReadonlySet<string>;
  readonly reached: ReachedTables;
}

const relatedFilters: Needed = (context, { reached }) => {
  return (table) =>
    reached.filterable.many.has(table.oid) && hasExtension(context, table, 'reads') ? collectionFilterTypes(table) : [];
};

const relatedOrders: Needed = (context, { reached }) => {
  return (table) =>
    reached.orderable.many.has(table.oid) && hasExtension(context, table, 'reads') ? ['aggregateOrderBy'] : [];
};

const groups: Needed = (context, { tables }) => {
  const isGrouped = (table: Table) => table.aggregate && hasExtension(context, table, 'reads');
  const reached = reachedByKeys([...tables.values()].filter(isGrouped), tables);
  return (table) => {
    if (isGrouped(table)) return groupTypes(table);
    const hasKeys = reached.has(table.oid) && hasExtension(context, table, 'reads') && table.columns.some(isInColumns);
    return hasKeys ? ['column', 'groupBy', 'groupKey'] : [];
  };
};

/** The tables by whose columns rows of these can be grouped. */
function reachedByKeys(grouped: readonly Table[], tables: ReadonlyMap<string, Table>): ReadonlySet<string> {
  const reached = new Set(grouped.map(({ oid }) => oid));
  for (const oid of reached) {
    for (const { groupable, target } of tables.get(oid)?.relationships ?? []) if (groupable) reached.add(target);
  }
  return reached;
}

/** The tables whose field for lists of updates has a free name, by oid. */
function* batchedTables(context: ModelContext, named: Named): Sliced<ReadonlySet<string>> {
  const taken = mutationFields(named);
  const isBatched = (table: Table) => {
    if (!table.update || !hasExtension(context, table, 'writes')) return false;
    const name = tableRootFields(table.baseName).updateMany;
    const holder = taken(name);
    if (holder !== undefined) noteTakenName(context, table, { name, holder });
    return holder === undefined;
  };
  const batched = new Set<string>();
  for (const table of named.tables.values()) {
    if (sliceIsOver()) yield;
    if (isBatched(table)) batched.add(table.oid);
  }
  return batched;
}

/** Of two features, the first gets a name that both need. */
const features: readonly Needed[] = [
  relatedFilters,
  relatedOrders,
  (context) => (table) => (hasExtension(context, table, 'reads') && table.columns.some(isInColumns) ? ['column'] : []),
  groups,
  () => conflictTypes,
  (_, { reached }) => nestedTypes(reached),
  (context) => (table) => (hasExtension(context, table, 'writes') ? operatorTypes(table) : []),
  (_, { batched }) =>
    ({ oid }) =>
      batched.has(oid) ? ['updateEntry'] : [],
];

/** The shared types that tables use, in naming order. */
const sharedTypes = [
  'OpaqueIsFilter',
  'JSONPathFilter',
  'JSONIsFilter',
  'TextSearchFilter',
  'TextSearchOrder',
  'DateTruncation',
  'NestedReplace',
] as const satisfies readonly SharedType[];

/** One list, because most tables use none. */
const noSharedTypes: readonly SharedType[] = [];

function sharedTypesOf(context: ModelContext, table: Table): readonly SharedType[] {
  const replaced: readonly SharedType[] = table.addedTypes.includes('nestedUpdate') ? ['NestedReplace'] : noSharedTypes;
  if (!hasExtension(context, table, 'reads')) return replaced;
  const used: SharedType[] = [...replaced];
  if (hasFilterOf(table, isJson)) used.push('JSONPathFilter', 'JSONIsFilter');
  if (hasFilterOf(table, isSearchable)) used.push('TextSearchFilter', 'TextSearchOrder');
  // Columns of other types have no filter at all.
  if (table.filterFunctions.some(({ input, type }) => input === null && isNullTested(type)))
    used.push('OpaqueIsFilter');
  if (table.addedTypes.includes('groupBy')) used.push('DateTruncation');
  return used.length === 0 ? noSharedTypes : used;
}

/** Whether filters only tell whether there is a value: PostgreSQL cannot compare those of the type. */
export function isNullTested(type: ValueType): boolean {
  return !isJson(type) && type.cast.lacks === 'equality';
}

function hasFilterOf({ columns, filterFunctions }: Table, isSuch: (type: ValueType | null) => boolean): boolean {
  return (
    columns.some(({ filterable, type }) => filterable && isSuch(type)) ||
    filterFunctions.some(({ input, type }) => input === null && isSuch(type))
  );
}

function collectionFilterTypes(table: Table): readonly TableType[] {
  return ['collectionFilter', ...aggregateFilterTypes(table)];
}

function aggregateFilterTypes(table: Table): readonly TableType[] {
  const distinct = table.columns.some(isGroupable) ? (['distinctCountFilter'] as const) : [];
  const columns = hasAggregates(table) ? (['aggregateColumnFilter'] as const) : [];
  return ['aggregateFilter', ...distinct, ...columns];
}

function groupTypes(table: Table): readonly TableType[] {
  if (!table.columns.some(isGroupable)) return [];
  if (!table.columns.some(isInColumns)) return ['distinctCount'];
  const own = ['column', 'groupBy', 'groupKey', 'aggregateOrderBy', 'distinctCount'] as const;
  const hasFlags = table.columns.some(({ fieldName, bool }) => fieldName !== null && bool !== null);
  return [...own, ...aggregateFilterTypes(table), ...(hasFlags ? (['bool'] as const) : [])];
}

function operatorTypes(table: Table): readonly TableType[] {
  return table.update && table.columns.some((column) => fitsOperator(column, 'remove')) ? ['removeInput'] : [];
}

function conflictTypes({ conflictTargets, columns }: Table): readonly TableType[] {
  if (conflictTargets.length === 0) return [];
  return ['constraint', 'onConflict', ...(columns.some(isUpsertable) ? (['column'] as const) : [])];
}

/** Finds what has a root field of mutations, by its name. Without a list of them, which ten thousand tables make long. */
export function mutationFields({
  tables,
  routines,
}: Pick<Named, 'tables' | 'routines'>): (name: string) => string | undefined {
  const bases = new Map(tables.values().map((table) => [table.baseName, table]));
  const functions = new Map(
    routines
      .values()
      .filter(({ use }) => use === 'mutation')
      .map(({ fieldName, namespace, name }) => [fieldName, `function ${quotePath(namespace, name)}`]),
  );
  const ofTable = (name: string) =>
    mutationCommands
      .map(([command, start, end]) => {
        const base = name.startsWith(start) && name.endsWith(end) ? name.slice(start.length, -end.length) : '';
        return { table: bases.get(base), command };
      })
      .find(({ table, command }) => table !== undefined && hasCommand(table, command))?.table;
  return (name) => {
    const table = ofTable(name);
    return functions.get(name) ?? (table && `table ${quotePath(table.namespace, table.name)}`);
  };
}

/** Commands with a root field, and what stands before and after the base name in that. */
const mutationCommands = (['insert', 'update', 'delete', 'updateMany'] as const).map((command) => {
  const [start, end] = tableRootFields(' ')[command].split(' ') as [string, string];
  return [command, start, end] as const;
});

function hasCommand(table: Table, command: 'insert' | 'update' | 'delete' | 'updateMany'): boolean {
  return table[command];
}

/** Whether the table has aggregates over columns. */
function hasAggregates({ aggregate, columns }: Table): boolean {
  return aggregate && columns.some(({ fieldName, min, sum }) => fieldName !== null && (min !== null || sum !== null));
}

/** The tables with the types of their extensions, the shared types, and the routines and composite types that get their names. */
export function* addTypes(
  context: ModelContext,
  named: Named,
): Sliced<Pick<Model, 'tables' | 'addedTypes' | 'routines' | 'composites'>> {
  const { tables, claims } = named;
  const functions = yield* mapInSlices(tables.values(), (table) => claimFunctionInputs(context, table, named));
  const batched = yield* batchedTables(context, named);
  const reached = yield* findReachedTables(tables.values());
  const added = yield* claimTableTypes(context, { ...named, batched, reached });
  const { routines, composites } = claimRoutineTypes(context, named);
  const withTypes = yield* mapInSlices([...tables.values()].entries(), ([index, table]): Table => {
    const addedTypes = added.get(table.oid) ?? [];
    const keys = addedTypes.includes('key') ? claimKeyInputs(context, table, named.claims) : [];
    const updateMany = batched.has(table.oid) && addedTypes.includes('updateEntry');
    const made = { ...table, ...functions[index], keys, updateMany, addedTypes };
    const whole = routines.size === named.routines.size ? made : keepRoutines(made, routines);
    return { ...whole, sharedTypes: sharedTypesOf(context, whole) };
  });
  const used = new Set(withTypes.flatMap((table) => table.sharedTypes));
  const addedTypes = sharedTypes.filter((type) => used.has(type) && claimShared(context, tables, type, claims));
  return { tables: new Map(withTypes.map((table) => [table.oid, table])), routines, composites, addedTypes };
}

/** The types of each table that get their names, by oid. */
function* claimTableTypes(
  context: ModelContext,
  named: NamedFields,
): Sliced<ReadonlyMap<string, readonly TableType[]>> {
  const { tables, claims } = named;
  const claimed = new Map<string, TableType[]>();
  /** Types without a free name, by oid. */
  const taken = new Map<string, TableType[]>();
  for (const feature of features) {
    const needs = feature(context, named);
    for (const table of tables.values()) {
      if (sliceIsOver()) yield;
      for (const type of needs(table)) {
        // Several features need some of them.
        if (claimed.get(table.oid)?.includes(type) || taken.get(table.oid)?.includes(type)) continue;
        addTo(claimType(context, table, type, claims) ? claimed : taken, table.oid, type);
      }
    }
  }
  return claimed;
}

function addTo(lists: Map<string, TableType[]>, oid: string, type: TableType): void {
  const known = lists.get(oid);
  if (known === undefined) lists.set(oid, [type]);
  else known.push(type);
}

function claimShared(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  type: SharedType,
  claims: NameClaims,
): boolean {
  const holder = claims.claim([type], 'an extension');
  if (holder === null) return true;
  noteOmission(context, () => {
    const table = [...tables.values()].find(({ baseName }) =>
      [baseName, ...Object.values(tableTypeSuffixes).map((suffix) => baseName + suffix)].includes(type),
    );
    const fix = table === undefined ? null : otherTableName(context, rowOf(context, table));
    const object = table === undefined ? type : tablePath(context, rowOf(context, table));
    const reason = `Nothing has a type "${type}" of the extensions: ${holder} has that name already.`;
    return { kind: 'name', object, names: [type], reason, fix };
  });
  return false;
}

function claimType(context: ModelContext, table: Table, type: TableType, claims: NameClaims): boolean {
  const holder = claims.claimTypes(table.baseName, [type], () => `table ${quotePath(table.namespace, table.name)}`);
  if (holder === null) return true;
  const name = tableTypeNames(table.baseName)[type];
  noteTakenName(context, table, { name, holder, what: `the type "${name}"` });
  return false;
}
