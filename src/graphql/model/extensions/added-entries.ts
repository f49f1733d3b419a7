/**
 * Entries that extensions add to the filter and the order of a table. An entry never replaces one that exists without extensions;
 * one without a free name is left out and recorded.
 */
import type { ExtensionName } from '../../../config/extensions.ts';
import type { CatalogTable } from '../../catalog/catalog.ts';
import { columnFix, validName } from '../comments/comment-fix.ts';
import type { Column, CompositeType, Relationship, Routine, Table } from '../model.ts';
import { describeTable, hasExtension, type ModelContext, noteOmission, tablePath } from '../model-context.ts';
import type { NameClaims } from '../name-claims.ts';
import { addFunctionEntries } from '../routines/function-entries.ts';
import { isFilteredByExtension, isInColumns, isJson } from '../tables/columns.ts';
import { renameFix } from '../tables/relationships.ts';
import { type Ends, isNestable, isNestableUpdate } from './nested-writes.ts';

/** The scope of the names. */
export interface Named {
  readonly tables: ReadonlyMap<string, Table>;
  readonly routines: ReadonlyMap<string, Routine>;
  readonly composites: ReadonlyMap<string, CompositeType>;
  readonly claims: NameClaims;
}

/** The table with the entries of its extensions. */
export function addEntries(context: ModelContext, table: Table, named: Named): Table {
  const related = table.relationships.length === 0 ? table : addRelationships(context, table, named);
  const keyed = withoutTakenKeys(context, related);
  return addColumnEntries(context, addFunctions(context, keyed, named.routines));
}

function addRelationships(context: ModelContext, table: Table, named: Named): Table {
  return [filters, orders, groups, inserts, updates].reduce(
    (added, kind) => addRelationshipEntries(context, added, kind, named),
    table,
  );
}

function addFunctions(context: ModelContext, table: Table, routines: Named['routines']): Table {
  if (table.computedFields.length === 0 || !hasExtension(context, table, 'reads')) return table;
  const taken = { filter: entriesOf(table, filters), order: entriesOf(table, orders) };
  return addFunctionEntries(context, table, { routines, taken });
}

/** The table in the catalog. */
export function rowOf({ catalog }: ModelContext, { oid }: Table): CatalogTable {
  return catalog.table(oid)!;
}

/** An input of a table with entries for its columns and relationships. */
interface EntryKind {
  readonly input: 'filter' | 'order' | 'group' | 'insert' | 'update';
  readonly flag: 'filterable' | 'orderable' | 'groupable' | 'insertable' | 'updatable';
  /** The extension that adds the relationships. */
  readonly extension: ExtensionName;
  readonly reserved: readonly string[];
}

const filters: EntryKind = {
  input: 'filter',
  flag: 'filterable',
  extension: 'reads',
  reserved: ['nodeId', 'and', 'or', 'not'],
};
const orders: EntryKind = { input: 'order', flag: 'orderable', extension: 'reads', reserved: [] };
const groups: EntryKind = {
  input: 'group',
  flag: 'groupable',
  extension: 'reads',
  reserved: ['column', 'truncate', 'timeZone'],
};
const inserts: EntryKind = { input: 'insert', flag: 'insertable', extension: 'writes', reserved: [] };

const updates: EntryKind = { input: 'update', flag: 'updatable', extension: 'writes', reserved: [] };

function isEntry(each: Column | Relationship, flag: EntryKind['flag']): boolean {
  if (flag !== 'groupable') return each[flag];
  return 'cardinality' in each ? each.groupable : isInColumns(each);
}

/** Generated keys are the last entries of inserts, so they take no name. */
function columnsOf({ columns }: Table, { input }: EntryKind): readonly Column[] {
  return input === 'insert' ? columns.filter(({ generatedKey }) => !generatedKey) : columns;
}

function entriesOf(table: Table, kind: EntryKind): ReadonlySet<string> {
  const { input, flag, reserved } = kind;
  const named = [...columnsOf(table, kind), ...table.relationships].filter((each) => isEntry(each, flag));
  const functions = input === 'filter' || input === 'order' ? table[`${input}Functions`].map(({ name }) => name) : [];
  return new Set([...reserved, ...named.flatMap(({ fieldName }) => fieldName ?? []), ...functions]);
}

/** The names of all entries of the order, but for those by rank. */
export const orderEntries = (table: Table): ReadonlySet<string> => entriesOf(table, orders);

/** The same for one name, without a set: most tables have few relationships. */
function hasName(table: Table, kind: EntryKind, name: string): boolean {
  const { input, flag, reserved } = kind;
  const isTaken = (each: Column | Relationship) => isEntry(each, flag) && each.fieldName === name;
  if (reserved.includes(name) || columnsOf(table, kind).some(isTaken) || table.relationships.some(isTaken)) return true;
  const functions = input === 'filter' || input === 'order' ? table[`${input}Functions`] : [];
  return functions.some((entry) => entry.name === name);
}

function addRelationshipEntries(
  context: ModelContext,
  table: Table,
  kind: EntryKind,
  { tables, routines }: Named,
): Table {
  if (!hasExtension(context, table, kind.extension)) return table;
  const shown = new Map(table.relationships.map((relationship) => [relationship.fieldName, relationship]));
  const many = table.relationships.length > 8 ? entriesOf(table, kind) : null;
  const isTaken = (name: string) => many?.has(name) ?? hasName(table, kind, name);
  const computed = new Set(table.computedFields.map((oid) => routines.get(oid)?.fieldName));
  const relationships = table.relationships.map((relationship) => {
    const { fieldName } = relationship;
    // Only fields have entries.
    if (shown.get(fieldName) !== relationship || computed.has(fieldName)) return relationship;
    const target = tables.get(relationship.target);
    if (target === undefined || !hasEntry(kind, relationship, { table, target })) return relationship;
    if (!isTaken(fieldName)) return { ...relationship, [kind.flag]: true };
    if (kind.input === 'group' && !table.aggregate) return relationship;
    noteRelationship(context, table, kind, relationship);
    return relationship;
  });
  return { ...table, relationships };
}

/** Whether the kind of input has an entry for such a relationship, if its name is free. */
function hasEntry({ input }: EntryKind, relationship: Relationship, { table, target }: Ends): boolean {
  switch (input) {
    case 'filter':
      return true;
    case 'order':
      // A table without orderable columns has no such input.
      return relationship.cardinality === 'many' || isOrderable(target);
    case 'group':
      return relationship.cardinality === 'one' && target.columns.some(isInColumns);
    case 'insert':
      return isNestable(relationship, { table, target });
    case 'update':
      return isNestableUpdate(relationship, { table, target });
  }
}

/** Whether rows of the table can be ordered. */
export function isOrderable({ columns }: Table): boolean {
  return columns.some(({ orderable, fieldName }) => orderable && fieldName !== null);
}

function addColumnEntries(context: ModelContext, table: Table): Table {
  if (!hasExtension(context, table, 'reads')) return table;
  const isAdded = ({ readable, type }: Column) => readable && type !== null && isFilteredByExtension(type);
  if (!table.columns.some(isAdded)) return table;
  const taken = entriesOf(table, filters);
  const columns = table.columns.map((column) => {
    if (!isAdded(column)) return column;
    if (!taken.has(column.fieldName ?? '')) return { ...column, filterable: true };
    noteEntry(context, table, filters, {
      what: `column "${column.name}"`,
      name: column.fieldName ?? '',
      fixFor: (row) =>
        columnFix(context, row, column.name, {
          name: validName(`${column.name}_${isJson(column.type) ? 'json' : 'list'}`),
        }),
    });
    return column;
  });
  return { ...table, columns };
}

/** All other entries take the name of a generated key. */
function withoutTakenKeys(context: ModelContext, table: Table): Table {
  const isKey = ({ generatedKey, insertable }: Column) => generatedKey && insertable;
  if (!table.columns.some(isKey)) return table;
  const taken = entriesOf(table, inserts);
  const columns = table.columns.map((column) => {
    const name = column.fieldName ?? '';
    if (!isKey(column) || !taken.has(name)) return column;
    const what = `generated key "${column.name}"`;
    const fixFor = (row: CatalogTable) =>
      columnFix(context, row, column.name, { name: validName(`${column.name}_key`) });
    noteEntry(context, table, inserts, { what, name, fixFor });
    return { ...column, insertable: false };
  });
  return { ...table, columns };
}

function noteRelationship(context: ModelContext, table: Table, kind: EntryKind, relationship: Relationship): void {
  const { fieldName: name } = relationship;
  noteEntry(context, table, kind, {
    what: `relationship "${name}"`,
    name,
    fixFor: (row) => renameFix(context, row, relationship),
  });
}

/** An entry left out of an input. */
interface LeftOut {
  readonly what: string;
  readonly name: string;
  readonly fixFor: (row: CatalogTable) => string | null;
}

function noteEntry(context: ModelContext, table: Table, { input }: EntryKind, { what, name, fixFor }: LeftOut): void {
  noteOmission(context, () => {
    const row = rowOf(context, table);
    const reason = `${describeTable(context, row)} has no ${input} by its ${what}: the ${input} has another entry of that name.`;
    return { kind: 'name', object: tablePath(context, row), names: [name], reason, fix: fixFor(row) };
  });
}
