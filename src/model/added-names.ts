/**
 * The names that extensions take: entries of inputs, and types. They displace nothing that is there without them; what gets no name is
 * left out and noted.
 */
import type { CatalogTable } from '../catalog/catalog.ts';
import { type ExtensionName, extensionNames } from '../config/extensions.ts';
import { aggregateFunctions } from './codecs.ts';
import { foreignKeyFix } from './comment-fix.ts';
import { tableTypeNames } from './inflect.ts';
import type { Column, Relationship, Routine, Table, TableType } from './model.ts';
import { describeTable, type ModelContext, type NameClaims, note, tablePath } from './model-context.ts';
import { distinctName, namedBy } from './relationships.ts';
import { otherTableName } from './tables.ts';

/** What names are given out among. */
interface Named {
  readonly tables: ReadonlyMap<string, Table>;
  readonly routines: ReadonlyMap<string, Routine>;
  readonly claims: NameClaims;
}

/** The tables with what extensions add to them. */
export function addNames(context: ModelContext, named: Named): ReadonlyMap<string, Table> {
  const withEntries = new Map([...named.tables].map(([oid, table]) => [oid, addEntries(context, table, named)]));
  return addTypes(context, withEntries, named.claims);
}

function rowOf({ catalog }: ModelContext, { oid }: Table): CatalogTable {
  return catalog.table(oid)!;
}

function has(context: ModelContext, table: Table, extension: ExtensionName): boolean {
  return context.namespaces.get(rowOf(context, table).relnamespace)?.extensions.includes(extension) === true;
}

function addEntries(context: ModelContext, table: Table, { routines }: Named): Table {
  if (!has(context, table, 'relation_filters')) return table;
  const filtered = table.columns.flatMap(({ filterable, fieldName }) => (filterable && fieldName ? [fieldName] : []));
  const taken = new Set(['nodeId', 'and', 'or', 'not', ...filtered]);
  const shown = new Map(table.relationships.map((relationship) => [relationship.fieldName, relationship]));
  const computed = new Set(table.computedFields.map((oid) => routines.get(oid)?.fieldName));
  const relationships = table.relationships.map((relationship) => {
    const { fieldName } = relationship;
    // Only fields have entries.
    if (shown.get(fieldName) !== relationship || computed.has(fieldName)) return relationship;
    if (!taken.has(fieldName)) return { ...relationship, filterable: true };
    noteEntry(context, table, relationship);
    return relationship;
  });
  return { ...table, relationships };
}

function noteEntry(context: ModelContext, table: Table, relationship: Relationship): void {
  note(context, () => {
    const row = rowOf(context, table);
    const { fieldName: name, id } = relationship;
    const reason = `${describeTable(context, row)} has no filter by its relationship "${name}": the filter has another entry of that name.`;
    const fix = foreignKeyFix(context, id, namedBy(relationship, distinctName(context, row, relationship)));
    return { kind: 'name', object: tablePath(context, row), names: [name], reason, fix };
  });
}

/** The types that a table needs for an extension, in the order in which they are given their names. */
type Needed = (context: ModelContext, tables: ReadonlyMap<string, Table>) => (table: Table) => readonly TableType[];

const neededTypes: Partial<Record<ExtensionName, Needed>> = {
  relation_filters(context, tables) {
    const filtered = new Set(
      [...tables.values()].flatMap(({ relationships }) =>
        relationships.flatMap(({ filterable, cardinality, target }) =>
          filterable && cardinality === 'many' ? [target] : [],
        ),
      ),
    );
    return (table) =>
      filtered.has(table.oid) && has(context, table, 'relation_filters') ? collectionFilterTypes(table) : [];
  },
};

function collectionFilterTypes({ aggregate, columns }: Table): readonly TableType[] {
  const functions = aggregateFunctions.filter(
    (fn) => aggregate && columns.some((column) => column.fieldName !== null && column[fn] !== null),
  );
  return [
    'collectionFilter',
    'aggregateFilter',
    ...(columns.some(isGroupable) ? (['distinctCountFilter'] as const) : []),
    ...functions.map((fn) => `${fn}Filter` as const),
  ];
}

/** Whether equal values of the column can be told from others. */
export function isGroupable({ orderable, fieldName, type }: Column): boolean {
  return orderable && fieldName !== null && !(type?.kind === 'scalar' && type.scalar === 'Opaque');
}

function addTypes(
  context: ModelContext,
  tables: ReadonlyMap<string, Table>,
  claims: NameClaims,
): ReadonlyMap<string, Table> {
  const added = new Map<string, TableType[]>();
  for (const extension of extensionNames) {
    const needs = neededTypes[extension]?.(context, tables);
    if (needs === undefined) continue;
    for (const table of tables.values()) {
      const kept = needs(table).filter((type) =>
        claimType(context, table, tableTypeNames(table.baseName)[type], claims),
      );
      added.set(table.oid, [...(added.get(table.oid) ?? []), ...kept]);
    }
  }
  return new Map([...tables].map(([oid, table]) => [oid, { ...table, addedTypes: added.get(oid) ?? [] }]));
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
