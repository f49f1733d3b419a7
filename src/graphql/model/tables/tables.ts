/** Tables with their columns and root fields, before relationships and routines. */
import type { CatalogTable, ConstraintColumns } from '../../catalog/catalog.ts';
import { quoteName } from '../../catalog/quote-name.ts';
import { aggregateResults } from '../codecs.ts';
import { tableFix, validName } from '../comments/comment-fix.ts';
import { baseForm, isValidName, lowerFirst, tableRootFields, tableTypeNames } from '../inflect.ts';
import { missingGrant } from '../missing-grant.ts';
import type { Column, Table, TableKind } from '../model.ts';
import {
  describeTable,
  type ModelContext,
  noteOmission,
  type Omission,
  plainComment,
  type Reason,
  tablePath,
  takenBy,
} from '../model-context.ts';
import type { ClaimedType, NameClaims } from '../name-claims.ts';
import type { TypeResolvers } from '../resolve-type.ts';
import { buildColumns, noteOmittedColumns } from './columns.ts';
import { allowsLookup, isAddedLookup, isAlwaysUnique } from './primary-key.ts';
import { isAddedTable, type SelectedTable, selectedPath } from './select-tables.ts';

/** A table without its links to other objects. */
export type UnlinkedTable = Omit<Table, 'relationships' | 'computedFields' | keyof typeof nothingAdded>;

/** Members that extensions fill in last. */
export const nothingAdded = {
  filterFunctions: [],
  orderFunctions: [],
  conflictTargets: [],
  keys: [],
  rowWrites: [],
  updateMany: false,
  addedTypes: [],
  sharedTypes: [],
} as const satisfies Partial<Table>;

/** Bits of `updatable_mask`. */
const possible = { update: 4, insert: 8, delete: 16 } as const;

/** The table with the columns and root fields for the role. */
export function buildTable(context: ModelContext, selected: SelectedTable, types: TypeResolvers): UnlinkedTable {
  const { row, namespace, settings, baseName, kind } = selected;
  const columns = buildColumns(context, namespace, row, types);
  const key = selected.primaryKey.flatMap((number) => columns.find((column) => column.number === number) ?? []);
  const allows = (command: keyof typeof possible): boolean => ((row.updatable_mask ?? 0) & possible[command]) !== 0;
  return {
    oid: row._id,
    namespace: namespace.name,
    name: row.relname,
    kind,
    added: isAddedTable(selected),
    baseName,
    description: settings.description ?? plainComment(context, namespace, 'table', row._id),
    maxRows: settings.maxRows ?? namespace.maxRows,
    totalCount: settings.totalCount ?? namespace.totalCount,
    exactCursors: namespace.extensions.includes('reads'),
    unreadWrites: namespace.extensions.includes('writes'),
    aggregate: settings.aggregate ?? namespace.aggregate,
    exactNumbers: namespace.exactNumbers,
    rowSecurity: row.relrowsecurity === true,
    columns,
    visibleConstraints: visibleConstraints(row, columns),
    primaryKey: selected.primaryKey,
    readsUserCode: row.readsUserCode,
    writesUserCode: row.writesUserCode,
    planningWeight: row.planningWeight,
    hasRules: row.relhasrules === true,
    changesInserts: row.changesInserts,
    defaultNullOrder: !row.hasUnusualNullOrder,
    // A rule may return other rows than those with the key.
    uniqueKey: isStored(kind) && row.relhasrules !== true && isAlwaysUnique(row, selected.primaryKey),
    byPk: allowsLookup(context, key),
    rootField: true,
    insert: allows('insert') && columns.some((column) => column.insertable),
    update: allows('update') && columns.some((column) => column.updatable),
    delete: allows('delete') && context.access.hasTable(row._id, 'delete'),
  };
}

/** Whether PostgreSQL itself keeps the rows, with its constraints. */
export function isStored(kind: TableKind): boolean {
  return kind === 'table' || kind === 'partitioned_table';
}

/** Names of constraints are usually made of the names of their columns. */
function visibleConstraints(row: CatalogTable, columns: readonly Column[]): readonly string[] | null {
  const shown = new Set(columns.filter(isUsed).map(({ number }) => number));
  if (shown.size === columns.length) return null;
  const keys = row.getIndexes().map(({ relname, indkey, indnkeyatts }) => ({
    name: relname,
    columns: (indkey ?? []).slice(0, indnkeyatts ?? 0),
  }));
  const isShown = (constraint: ConstraintColumns) => constraint.columns.every((column) => shown.has(column));
  return [...row.getConstraints(), ...keys].filter(isShown).map(({ name }) => name);
}

/** Whether the role reads or writes the column. */
export function isUsed({ readable, insertable, updatable }: Column): boolean {
  return readable || insertable || updatable;
}

/**
 * Takes the table's type names; false if one is taken or unusable, and the table is left out. Its columns are examined
 * all the same, so that a name for the table leads to no new finding.
 */
export function claimTable(
  context: ModelContext,
  selected: SelectedTable,
  table: UnlinkedTable,
  claims: NameClaims,
): boolean {
  const isValid = isValidName(table.baseName);
  const holder = isValid
    ? claims.claimTypes(table.baseName, ownTypes(selected, table), () => `table ${selectedPath(selected)}`)
    : null;
  if (isValid && holder === null) return true;
  if (holder !== null) {
    const reason = `${describeTable(context, selected.row)} would be "${table.baseName}" in GraphQL, and ${holder} has such a name already.`;
    const fix = otherTableName(context, selected.row);
    const names = [table.baseName, table.name, tableRootFields(table.baseName).collection];
    noteOmission(context, () => ({ kind: 'name', object: selectedPath(selected), names, reason, fix }));
  }
  noteOmittedColumns(context, selected.row, table.columns, table.baseName);
  return false;
}

/** SQL that renames the table with its schema as prefix, because its name is taken. */
export function otherTableName(context: ModelContext, row: CatalogTable): string | null {
  const namespace = context.namespaces.get(row.relnamespace);
  const name = validName(baseForm(`${namespace?.name}_${row.relname}`, namespace?.inflectNames === true));
  return tableFix(context, row, { name });
}

/** All types of the table, without those of `claimAdded`. */
function ownTypes(selected: SelectedTable, table: UnlinkedTable): readonly ClaimedType[] {
  const results = aggregateResults.filter((fn) =>
    table.columns.some((column) => column[fn] !== null && column.cast.base === null),
  );
  return [
    ...([null, 'edge', 'connection', 'filter', 'orderBy'] as const),
    ...(table.insert && !isAdded(table, 'insert') ? (['insertInput', 'insertResponse'] as const) : []),
    ...(table.update && !isAdded(table, 'update') ? (['updateInput', 'updateResponse'] as const) : []),
    ...(table.delete ? (['deleteResponse'] as const) : []),
    ...(table.aggregate && !isAddedAggregate(selected) ? (['aggregate', ...results] as const) : []),
  ];
}

/** Whether the command exists only because of extensions. */
export function isAdded(table: Pick<Table, 'columns' | 'insert' | 'update'>, command: 'insert' | 'update'): boolean {
  const writable = command === 'insert' ? 'insertable' : 'updatable';
  const isOfContract = (column: Column) => column[writable] && !column.added && !column.generatedKey;
  return table[command] && !table.columns.some(isOfContract);
}

/** Whether the table has aggregates only because the comment of its schema says so. */
function isAddedAggregate({ settings, namespace }: SelectedTable): boolean {
  return settings.aggregate === null && namespace.aggregate;
}

/** Takes the table's type names for extensions, after all other names. Types whose names are taken are left out. */
export function claimAdded(
  context: ModelContext,
  selected: SelectedTable,
  table: UnlinkedTable,
  claims: NameClaims,
): UnlinkedTable {
  const names = tableTypeNames(table.baseName);
  const commands = (['insert', 'update'] as const)
    .filter((command) => isAdded(table, command))
    .map((command) => ({
      claimed: [`${command}Input`, `${command}Response`] as const,
      without: (from: UnlinkedTable): UnlinkedTable => ({ ...from, [command]: false }),
    }));
  const isAll = isAddedAggregate(selected);
  const aggregate = {
    claimed: ['aggregate'] as const,
    without: (from: UnlinkedTable): UnlinkedTable => ({ ...from, aggregate: false }),
  };
  const functions = aggregateResults
    .filter((fn) => table.aggregate && table.columns.some((column) => column[fn] !== null))
    .filter((fn) => isAll || table.columns.every((column) => column[fn] === null || column.cast.base !== null))
    .map((fn) => ({
      claimed: [fn] as const,
      without: (from: UnlinkedTable): UnlinkedTable => ({
        ...from,
        columns: from.columns.map((column) => ({ ...column, [fn]: null })),
      }),
    }));
  return [...commands, ...(isAll ? [aggregate] : []), ...functions].reduce((kept, { claimed, without }) => {
    const holder = claims.claimTypes(table.baseName, claimed, () => `table ${selectedPath(selected)}`);
    if (holder === null) return kept;
    const types = claimed.map((type) => names[type]);
    const reason = takenBy(holder, describeTable(context, selected.row), `the type "${types[0]}"`);
    const fix = otherTableName(context, selected.row);
    noteOmission(context, () => ({ kind: 'name', object: selectedPath(selected), names: types, reason, fix }));
    return without(kept);
  }, table);
}

/**
 * The table without root fields of extensions whose names functions have.
 *
 * @param functions What the functions are used for, with their names: `query total`.
 */
export function yieldRootFields(
  context: ModelContext,
  selected: SelectedTable,
  table: UnlinkedTable,
  functions: ReadonlySet<string>,
): UnlinkedTable {
  const fields = tableRootFields(table.baseName);
  const isFree = (use: 'query' | 'mutation', name: string): boolean => {
    if (!functions.has(`${use} ${name}`)) return true;
    const reason = takenBy('a function', describeTable(context, selected.row), `"${name}"`);
    const fix = otherTableName(context, selected.row);
    noteOmission(context, () => ({ kind: 'name', object: selectedPath(selected), names: [name], reason, fix }));
    return false;
  };
  const keeps = (command: 'insert' | 'update') =>
    table[command] && (table.added || isAdded(table, command)) ? isFree('mutation', fields[command]) : table[command];
  const rootField = table.added && table.rootField ? isFree('query', fields.collection) : table.rootField;
  const byPk = table.byPk && (table.added || isAddedLookup(table)) ? isFree('query', fields.byPk) : table.byPk;
  const deletes = table.added && table.delete ? isFree('mutation', fields.delete) : table.delete;
  return { ...table, rootField, byPk, insert: keeps('insert'), update: keeps('update'), delete: deletes };
}

/**
 * Gives a root field of two tables to the first of them: `a` and `A` both have `aCollection`.
 *
 * @param tables In order of namespace, then oid, those of extensions last; which is kept.
 */
export function assignRootFields(tables: readonly UnlinkedTable[]): readonly UnlinkedTable[] {
  // Others have names of their own.
  const firsts = Map.groupBy(tables, ({ baseName }) => lowerFirst(baseName));
  const alike = [...firsts.values()].filter((group) => group.length > 1).flat();
  if (alike.length === 0) return tables;
  const holders = new Map<string, string>();
  const hold = (field: string, { oid }: UnlinkedTable) => holders.set(field, holders.get(field) ?? oid);
  for (const added of [false, true]) {
    const own = alike.filter((table) => table.added === added);
    for (const table of own) {
      const { collection, byPk } = tableRootFields(table.baseName);
      hold(collection, table);
      if (table.byPk && !isAddedLookup(table)) hold(byPk, table);
    }
    for (const table of own) if (isAddedLookup(table)) hold(tableRootFields(table.baseName).byPk, table);
  }
  const isAlike = new Set(alike);
  return tables.map((table) => {
    if (!isAlike.has(table)) return table;
    const rootField = holders.get(tableRootFields(table.baseName).collection) === table.oid;
    const byPk = table.byPk && holders.get(tableRootFields(table.baseName).byPk) === table.oid;
    return rootField && byPk === table.byPk ? table : { ...table, rootField, byPk };
  });
}

/** Records the missing root fields and columns of an exposed table, with reasons. */
export function noteOmissions(context: ModelContext, selected: SelectedTable, table: UnlinkedTable): void {
  noteOmittedColumns(context, selected.row, table.columns, table.baseName);
  const object = selectedPath(selected);
  const subject = describeTable(context, selected.row);
  const add = (omission: Omit<Omission, 'object'>): void => noteOmission(context, () => ({ object, ...omission }));
  if (!table.rootField) {
    const reason = `${subject} has no root field; another table has "${tableRootFields(table.baseName).collection}" already.`;
    const fix = otherTableName(context, selected.row);
    add({ kind: 'name', names: [tableRootFields(table.baseName).collection], reason, fix });
  } else if (!table.byPk) {
    add({ names: [tableRootFields(table.baseName).byPk], ...whyNoLookup(context, selected, table) });
  }
  for (const name of ['totalCount', 'aggregate'] as const) {
    if (table[name]) continue;
    const reason = `"${name}" of ${object} is off; its comment switches it on.`;
    const fix = tableFix(context, selected.row, { [name]: { enabled: true } });
    add({ kind: 'switch', names: [`${tableTypeNames(table.baseName).connection}.${name}`], reason, fix });
  }
  const namesOf = (command: Command) => tableRootFields(table.baseName)[command];
  const missing = commands.filter((command) => !table[command]);
  const isPossible = (command: Command) => ((selected.row.updatable_mask ?? 0) & possible[command]) !== 0;
  const never = missing.filter((command) => !isPossible(command));
  if (never.length > 0) {
    const named = never.length < 2 ? never.join() : `${never.slice(0, -1).join(', ')} or ${never.at(-1)}`;
    const reason = `${subject} exists; PostgreSQL cannot ${named} its rows.`;
    add({ kind: 'entrypoint', names: never.map(namesOf), reason, fix: null });
  }
  for (const command of missing.filter(isPossible))
    add({ names: [namesOf(command)], ...whyNotWritable(context, selected, command) });
}

const commands = ['insert', 'update', 'delete'] as const;
type Command = (typeof commands)[number];

function whyNoLookup(context: ModelContext, { row }: SelectedTable, table: UnlinkedTable): Reason {
  const subject = `${describeTable(context, row)} has no lookup by key`;
  const key = table.primaryKey.map((number) => table.columns.find((column) => column.number === number)!);
  const others = key.filter((column) => !allowsLookup(context, [column]));
  if (others.length === 0) {
    const reason = `${subject}: another table or a function has "${tableRootFields(table.baseName).byPk}" already.`;
    return { kind: 'name', reason, fix: otherTableName(context, row) };
  }
  const isReadable = ({ fieldName, type }: Column) => fieldName !== null && type !== null;
  const unfit = others.filter(isReadable).map(({ name, cast }) => {
    const modifier = cast.modifier === null ? '' : `(${cast.modifier})`;
    const place = cast.name === 'citext' ? ' of a schema that the API does not expose' : '';
    return `${quoteName(name)} (${cast.name}${modifier}${place})`;
  });
  const why =
    unfit.length > 0
      ? `only smallint, integer, bigint, text, uuid, citext and bpchar keys have one, not ${unfit.join(', ')}`
      : `the API does not have its column ${others.map(({ name }) => quoteName(name)).join(', ')}`;
  return { kind: 'entrypoint', reason: `${subject}: ${why}.`, fix: null };
}

function whyNotWritable(context: ModelContext, { row }: SelectedTable, command: Command): Reason {
  const subject = describeTable(context, row);
  const { access, role } = context;
  const granted =
    command === 'delete'
      ? access.hasTable(row._id, 'delete')
      : row.getAttributes().some((column) => access.hasColumn(row._id, column.attnum, command));
  if (granted) {
    const reason = `${subject} exists; it has no column that the role may ${command}.`;
    return { kind: 'entrypoint', reason, fix: null };
  }
  const privileges = command.toUpperCase();
  const grant = { privileges, on: 'table', name: tablePath(context, row), column: null } as const;
  return missingGrant(context, grant, `${subject} exists; role ${role} has no ${privileges}.`);
}
