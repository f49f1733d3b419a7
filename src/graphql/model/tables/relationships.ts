/** Relationships of a model, from foreign keys and the `foreign_keys` directive (docs/relationships.md). */
import { mapInSlices, type Sliced, sliceIsOver } from '../../../shared/slices.ts';
import type { Catalog, CatalogTable } from '../../catalog/catalog.ts';
import { foreignKeyFix, validName } from '../comments/comment-fix.ts';
import { readSettings, type Settings } from '../comments/directive-settings.ts';
import { baseForm, isValidName, tableRootFields, toOneField } from '../inflect.ts';
import type { Relationship } from '../model.ts';
import { hasExtension, type ModelContext, noteOmission, tablePath } from '../model-context.ts';
import { columnsByName, hasUniqueIndex, isAlwaysUnique } from './primary-key.ts';
import type { UnlinkedTable } from './tables.ts';

/** A foreign key between tables of exposed namespaces, declared or from a directive. */
interface ForeignKey {
  readonly id: string;
  readonly local: CatalogTable;
  readonly foreign: CatalogTable;
  /** Attribute numbers, pairwise. */
  readonly localKey: readonly number[];
  readonly foreignKey: readonly number[];
  readonly names: Settings<'constraint'>;
  /** Guaranteed for every row at every moment. */
  readonly isEnforced: boolean;
}

/** Extensions add them (added-entries.ts). */
export const noEntries = {
  filterable: false,
  orderable: false,
  groupable: false,
  insertable: false,
  updatable: false,
} as const;

/** Relationships of each table by its oid: outbound before inbound, each in foreign key order. */
export function* buildRelationships(
  context: ModelContext,
  tables: ReadonlyMap<string, UnlinkedTable>,
): Sliced<ReadonlyMap<string, readonly Relationship[]>> {
  const outbound = new Map<string, Relationship[]>();
  const inbound = new Map<string, Relationship[]>();
  const keys = [...(yield* declaredKeys(context.catalog)), ...(yield* directedKeys(context))];
  for (const key of keys) {
    if (sliceIsOver()) yield;
    const local = tables.get(key.local._id);
    const foreign = tables.get(key.foreign._id);
    if (local === undefined || foreign === undefined) continue;
    const made = context.keep.part('relationship', key.id, [key.local, key.foreign, local, foreign], () =>
      isUsed(context, key)
        ? { outbound: toOutbound(context, key, foreign), inbound: toInbound(context, key, local) }
        : null,
    );
    if (made === null) continue;
    // Tables of schemas without the extension have no relationships to those that it adds.
    if (!foreign.added || hasExtension(context, local, 'reads')) add(context, outbound, key.local, made.outbound);
    if (!local.added || hasExtension(context, foreign, 'reads')) add(context, inbound, key.foreign, made.inbound);
  }
  const oids = new Set([...outbound.keys(), ...inbound.keys()]);
  const lists = yield* mapInSlices(oids, (oid) => {
    const all = [...(outbound.get(oid) ?? []), ...(inbound.get(oid) ?? [])];
    return [oid, context.keep.part('relationships', oid, all, () => all)] as const;
  });
  return new Map(lists);
}

function add(
  context: ModelContext,
  relationships: Map<string, Relationship[]>,
  table: CatalogTable,
  relationship: Relationship,
): void {
  const { fieldName } = relationship;
  if (!isValidName(fieldName) || fieldName === 'nodeId') {
    noteOmission(context, () => {
      const object = tablePath(context, table);
      const reason = `A relationship of table ${object} has no usable GraphQL name ("${fieldName}").`;
      return { kind: 'name', object, names: [fieldName], reason, fix: renameFix(context, table, relationship) };
    });
    return;
  }
  const known = relationships.get(table._id);
  if (known === undefined) relationships.set(table._id, [relationship]);
  else known.push(relationship);
}

/** SQL that gives the relationship a name of its own, `accountCollectionByOwnerId`. */
export function renameFix(context: ModelContext, table: CatalogTable, relationship: Relationship): string | null {
  const named = namedBy(relationship, distinctName(context, table, relationship));
  return foreignKeyFix(context, relationship.id, new Map([[relationship.id, named]]));
}

/** The directive of a foreign key that sets the name of one of its two fields. */
export function namedBy({ direction }: Relationship, name: string): Readonly<Record<string, string>> {
  return { [direction === 'outbound' ? 'foreign_name' : 'local_name']: name };
}

/** A name that includes the key columns: `accountCollectionByOwnerId`. */
export function distinctName(
  { catalog }: ModelContext,
  table: CatalogTable,
  { direction, fieldName, target, pairs }: Relationship,
): string {
  const holder = direction === 'outbound' ? table : catalog.table(target);
  const numbers = pairs.map(({ local, foreign }) => (direction === 'outbound' ? local : foreign));
  const columns = numbers.map((number) => holder?.getAttributes().find(({ attnum }) => attnum === number)?.attname);
  return validName(`${fieldName}By${baseForm(columns.join('_'), true)}`);
}

function* declaredKeys(catalog: Catalog): Sliced<readonly ForeignKey[]> {
  const keys = yield* mapInSlices(catalog.foreignKeys, (row): ForeignKey | null => {
    const local = catalog.table(row.conrelid);
    const foreign = catalog.table(row.confrelid);
    if (local === undefined || foreign === undefined) return null;
    const { settings } = readSettings(catalog, 'constraint', row._id);
    // The rows of inheriting tables are read with those of the table, but a key is not theirs.
    const hasOthers = local.relkind === 'r' && local.relhassubclass === true;
    const isEnforced = row.convalidated === true && row.condeferrable === false && !hasOthers;
    const [localKey, foreignKey] = [row.conkey ?? [], row.confkey ?? []];
    return { id: row._id, local, foreign, localKey, foreignKey, names: settings, isEnforced };
  });
  return keys.filter((key) => key !== null);
}

function* directedKeys(context: ModelContext): Sliced<readonly ForeignKey[]> {
  const { catalog } = context;
  const byOid = [...catalog.tables].sort((a, b) => Number(a._id) - Number(b._id));
  const keys = yield* mapInSlices(byOid, (local) => {
    const { foreignKeys } = readSettings(catalog, 'table', local._id).settings;
    return foreignKeys.flatMap((settings, index) => directedKey(context, local, settings, index) ?? []);
  });
  return keys.flat();
}

function directedKey(
  context: ModelContext,
  local: CatalogTable,
  settings: Settings<'table'>['foreignKeys'][number],
  index: number,
): ForeignKey | null {
  const foreign = findTable(context, settings.foreignNamespace, settings.foreignTable);
  // With lists of unequal length, the surplus is ignored.
  const width = Math.min(settings.localColumns.length, settings.foreignColumns.length);
  const localColumns = columnsByName(local, settings.localColumns.slice(0, width));
  const foreignColumns = foreign && columnsByName(foreign, settings.foreignColumns.slice(0, width));
  if (foreign === null || localColumns === null || foreignColumns === null || width === 0) return null;
  return {
    id: `directive:${local._id}:${index}`,
    local,
    foreign,
    localKey: localColumns.map((column) => column.attnum),
    foreignKey: foreignColumns.map((column) => column.attnum),
    names: settings,
    isEnforced: false,
  };
}

function findTable({ catalog }: ModelContext, namespaceName: string, name: string): CatalogTable | null {
  const namespace = catalog.namespaces.find((row) => row.nspname === namespaceName);
  const isWanted = (table: CatalogTable): boolean => table.relname === name && table.relnamespace === namespace?._id;
  return catalog.tables.find(isWanted) ?? null;
}

function isUsed({ access, namespaces }: ModelContext, key: ForeignKey): boolean {
  const isExposed = (table: CatalogTable): boolean => namespaces.get(table.relnamespace)?.exposed === true;
  const isReadable = (table: CatalogTable, columns: readonly number[]): boolean =>
    columns.every((column) => access.hasColumn(table._id, column, 'select'));
  return (
    isExposed(key.local) &&
    isExposed(key.foreign) &&
    isReadable(key.local, key.localKey) &&
    isReadable(key.foreign, key.foreignKey)
  );
}

function toOutbound(context: ModelContext, key: ForeignKey, foreign: UnlinkedTable): Relationship {
  const columns = key.local.getAttributes().filter((column) => key.localKey.includes(column.attnum));
  const unique = isAlwaysUnique(key.foreign, key.foreignKey);
  const hasNoNulls = columns.every((column) => column.attnotnull === true);
  const enforced = key.isEnforced && unique && !foreign.rowSecurity;
  return {
    id: key.id,
    direction: 'outbound',
    fieldName:
      key.names.foreignName ??
      toOneName(context, key.local, key.localKey, { table: key.foreign, baseName: foreign.baseName }),
    added: foreign.added,
    cardinality: 'one',
    nullable: foreign.rowSecurity || !columns.some((column) => column.attnotnull === true),
    target: foreign.oid,
    pairs: pairs(key.localKey, key.foreignKey),
    unique,
    through: null,
    enforced,
    required: enforced && hasNoNulls,
    ...noEntries,
  };
}

function toInbound(context: ModelContext, key: ForeignKey, local: UnlinkedTable): Relationship {
  const isToOne = hasUniqueIndex(key.local, key.localKey);
  const target = { table: key.local, baseName: local.baseName };
  const ownName = isToOne
    ? toOneName(context, key.foreign, key.foreignKey, target)
    : tableRootFields(local.baseName).collection;
  return {
    id: key.id,
    direction: 'inbound',
    fieldName: key.names.localName ?? ownName,
    added: local.added,
    cardinality: isToOne ? 'one' : 'many',
    nullable: true,
    target: local.oid,
    pairs: pairs(key.foreignKey, key.localKey),
    unique: isToOne && isAlwaysUnique(key.local, key.localKey),
    through: null,
    enforced: false,
    required: false,
    ...noEntries,
  };
}

function toOneName(
  { namespaces }: ModelContext,
  keyTable: CatalogTable,
  key: readonly number[],
  target: { readonly table: CatalogTable; readonly baseName: string },
): string {
  const names = key.map((number) => keyTable.getAttributes().find((column) => column.attnum === number)?.attname ?? '');
  const inflect = namespaces.get(target.table.relnamespace)?.inflectNames === true;
  return toOneField(names, target.baseName, inflect);
}

function pairs(local: readonly number[], foreign: readonly number[]): Relationship['pairs'] {
  return local.map((number, index) => ({ local: number, foreign: foreign[index] ?? 0 }));
}
