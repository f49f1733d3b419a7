/** The tables in a role's schema, with a reason for each other table. */
import { mapInSlices, type Sliced } from '../../../shared/slices.ts';
import type { CatalogTable } from '../../catalog/catalog.ts';
import { quoteName, quotePath } from '../../catalog/quote-name.ts';
import { tableFix, validName } from '../comments/comment-fix.ts';
import { readSettings, type Settings } from '../comments/directive-settings.ts';
import { baseForm, isValidName, tableRootFields } from '../inflect.ts';
import { missingGrant } from '../missing-grant.ts';
import type { TableKind } from '../model.ts';
import {
  type ContextNamespace,
  describeTable,
  type ModelContext,
  noteOmission,
  offersTable,
  type Reason,
  tableKind,
  tablePath,
} from '../model-context.ts';
import type { TypeResolvers } from '../resolve-type.ts';
import { buildColumns, noteOmittedColumns } from './columns.ts';
import { primaryKey } from './primary-key.ts';

/** A select-valid table, before names are claimed; its own may be unusable. */
export interface SelectedTable {
  readonly row: CatalogTable;
  readonly namespace: ContextNamespace;
  readonly kind: TableKind;
  readonly settings: Settings<'table'>;
  readonly baseName: string;
  readonly primaryKey: readonly number[];
}

/** The select-valid tables in order of namespace, then oid. */
export function* selectTables(context: ModelContext, types: TypeResolvers): Sliced<readonly SelectedTable[]> {
  const selected = yield* mapInSlices(context.catalog.tables, (row) =>
    context.keep.part('selected', row._id, [row, ...partitioningTables(context, row)], () =>
      selectTable(context, row, types),
    ),
  );
  return selected.filter((table) => table !== null);
}

function selectTable(context: ModelContext, row: CatalogTable, types: TypeResolvers): SelectedTable | null {
  const namespace = context.namespaces.get(row.relnamespace);
  if (namespace === undefined) return null;
  const kind = tableKind(row);
  const { settings } = readSettings(context.catalog, 'table', row._id);
  const baseName = baseNameOf(context, row);
  const key = primaryKey(row, settings);
  const omit = (reason: () => Reason): null => {
    const names = [baseName, row.relname, tableRootFields(baseName).collection];
    noteOmission(context, () => ({ object: tablePath(context, row), names, ...reason() }));
    return null;
  };
  if (!namespace.exposed) return omit(() => noUsage(context, namespace, row));
  if (!offersTable(context, row)) return omit(() => partitioned(context, row));
  const hiding = hidingTable(context, row);
  if (hiding !== null) return omit(() => hiddenPartition(context, row, hiding));
  const isReadable = mayReadAnything(context, row);
  if (!isValidName(baseName)) omit(() => (key === null ? noKey(context, row, kind) : invalidName(context, row)));
  else if (key === null && (isReadable || isWriteOnly(context, namespace, row))) omit(() => noKey(context, row, kind));
  else if (!isReadable) omit(() => noSelect(context, row));
  if (!isReadable) return null;
  if (key === null) {
    // So that a key leads to no new finding.
    if (context.omissions !== null)
      noteOmittedColumns(context, row, buildColumns(context, namespace, row, types), null);
    return null;
  }
  return { row, namespace, kind, settings, baseName, primaryKey: key };
}

/** Tables that the role may insert into, and read nothing of (extension `writes`), in the same order. */
export function* selectWriteOnly(context: ModelContext): Sliced<readonly SelectedTable[]> {
  const selected = yield* mapInSlices(context.catalog.tables, (row) => {
    const namespace = context.namespaces.get(row.relnamespace);
    if (!namespace?.exposed || !isWriteOnly(context, namespace, row)) return null;
    if (!offersTable(context, row) || hidingTable(context, row) !== null) return null;
    const kind = tableKind(row);
    const { settings } = readSettings(context.catalog, 'table', row._id);
    const key = primaryKey(row, settings);
    const baseName = baseNameOf(context, row);
    if (kind === null || key === null || !isValidName(baseName)) return null;
    return { row, namespace, kind, settings, baseName, primaryKey: key };
  });
  return selected.filter((table) => table !== null);
}

function isWriteOnly(context: ModelContext, { extensions }: ContextNamespace, row: CatalogTable): boolean {
  if (!extensions.includes('writes') || mayReadAnything(context, row)) return false;
  return row.getAttributes().some(({ attnum }) => context.access.hasColumn(row._id, attnum, 'insert'));
}

/** The missing grant if the role can read nothing of an exposed table, otherwise null. */
export function whyUnreadable(context: ModelContext, row: CatalogTable): Reason | null {
  const namespace = context.namespaces.get(row.relnamespace);
  if (namespace === undefined || !offersTable(context, row)) return null;
  if (!namespace.exposed) return noUsage(context, namespace, row);
  return mayReadAnything(context, row) ? null : noSelect(context, row);
}

function mayReadAnything({ access }: ModelContext, row: CatalogTable): boolean {
  // A table without columns has nothing to read, whatever the grants.
  return row.getAttributes().some((column) => access.hasColumn(row._id, column.attnum, 'select'));
}

function noUsage(context: ModelContext, namespace: ContextNamespace, row: CatalogTable): Reason {
  const name = quoteName(namespace.name);
  const reason = `${describeTable(context, row)} exists; role ${context.role} has no USAGE on schema ${name}.`;
  return missingGrant(context, { privileges: 'USAGE', on: 'schema', name, column: null }, reason);
}

function partitioned(context: ModelContext, row: CatalogTable): Reason {
  const reason = `${describeTable(context, row)} is not exposed; its partitions are, each as a table of its own. Turn on the extension "reads", which has it as one.`;
  return { kind: 'type', reason, fix: null };
}

/** The tables that it is a partition of, at any depth. */
function partitioningTables({ catalog }: ModelContext, row: CatalogTable): readonly CatalogTable[] {
  const tables: CatalogTable[] = [];
  for (let parent = row.partitionOf; parent !== null; parent = tables.at(-1)?.partitionOf ?? null) {
    const table = catalog.table(parent);
    if (table === undefined) break;
    tables.push(table);
  }
  return tables;
}

/** The partitioned table whose comment hides its partitions, this one among them, at any depth; null for none. */
function hidingTable(context: ModelContext, row: CatalogTable): CatalogTable | null {
  const parent = context.catalog.table(row.partitionOf ?? '');
  if (parent === undefined) return null;
  const { partitions } = readSettings(context.catalog, 'table', parent._id).settings;
  return partitions === 'hidden' && offersTable(context, parent) ? parent : hidingTable(context, parent);
}

function hiddenPartition(context: ModelContext, row: CatalogTable, by: CatalogTable): Reason {
  const reason = `${describeTable(context, row)} is a partition, which the comment of ${tablePath(context, by)} hides.`;
  return { kind: 'switch', reason, fix: null };
}

function baseNameOf({ catalog, namespaces }: ModelContext, row: CatalogTable): string {
  const { settings } = readSettings(catalog, 'table', row._id);
  return settings.name ?? baseForm(row.relname, namespaces.get(row.relnamespace)?.inflectNames === true);
}

/** The key of the directive that gives the table a valid name; none if it has one. */
export function missingName(context: ModelContext, row: CatalogTable): { readonly name?: string } {
  const baseName = baseNameOf(context, row);
  return isValidName(baseName) ? {} : { name: validName(baseName) };
}

function invalidName(context: ModelContext, row: CatalogTable): Reason {
  const reason = `${describeTable(context, row)} has no valid GraphQL name ("${baseNameOf(context, row)}").`;
  return { kind: 'name', reason, fix: tableFix(context, row, missingName(context, row)) };
}

function noSelect(context: ModelContext, row: CatalogTable): Reason {
  const namespace = context.namespaces.get(row.relnamespace);
  const isWritten = namespace !== undefined && isWriteOnly(context, namespace, row);
  const reason = `${describeTable(context, row)} exists; role ${context.role} ${isWritten ? 'may insert, and ' : ''}has no SELECT.`;
  return missingGrant(
    context,
    { privileges: 'SELECT', on: 'table', name: tablePath(context, row), column: null },
    reason,
  );
}

/** Names the missing name, too: two fixes of one comment would undo each other. */
function noKey(context: ModelContext, row: CatalogTable, kind: TableKind): Reason {
  const naming = missingName(context, row);
  const lacks = naming.name === undefined ? '' : `no valid GraphQL name ("${baseNameOf(context, row)}") and `;
  const reason = `${describeTable(context, row)} has ${lacks}no primary key.`;
  // The catalog does not tell which columns of a view are unique, and a wrong guess would skip rows.
  const advice =
    kind === 'partitioned_table'
      ? 'Its key must have the columns that decide the partition.'
      : kind !== 'table'
        ? 'Name columns that are unique in it by primary_key_columns.'
        : row.relispartition &&
          'It is a partition: give the key to its partitioned table, with the columns that decide the partition.';
  if (advice) return { kind: 'key', reason: `${reason} ${advice}`, fix: null };
  const column = row.getAttributes().some(({ attname }) => attname === 'id') ? 'row_id' : 'id';
  const index = `${row.relname}_pkey`;
  // The index has the constraint's name, by which inserts name it for conflicts.
  const constraint = isValidName(index) ? '' : `constraint ${quoteName(validName(index))} `;
  const identity = `add column ${column} bigint generated always as identity ${constraint}primary key`;
  const named = naming.name === undefined ? '' : `${tableFix(context, row, naming)}\n`;
  return { kind: 'key', reason, fix: `${named}alter table ${tablePath(context, row)} ${identity};` };
}

/** Whether only an extension offers the table. */
export function isAddedTable({ kind }: SelectedTable): boolean {
  return kind === 'partitioned_table';
}

/** `lib.loan` of a selected table. */
export function selectedPath({ row, namespace }: SelectedTable): string {
  return quotePath(namespace.name, row.relname);
}
