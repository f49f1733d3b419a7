/** Related rows in inserts and updates (extension `writes`, docs/nested-writes.md). */
import type { Column, Relationship, Table, TableType } from '../model.ts';
import type { ReachedTables } from './reached-tables.ts';

/** Rows that `replace` removes at most, unless the caller says another number. */
export const replacedAtMost = 30;

/** The tables that a relationship links. */
export interface Ends {
  readonly table: Table;
  readonly target: Table;
}

/**
 * Whether rows of `table` can be inserted with their related rows: the role may insert these or name them by a key, set the
 * foreign key's columns, and read what they refer to. Without certain keys, a related row could get the key of another.
 */
export function isNestable(relationship: Relationship, { table, target }: Ends): boolean {
  const { direction, pairs, through } = relationship;
  if (through !== null || !table.insert) return false;
  if (!hasCertainKeys(table) || !hasCertainKeys(target)) return false;
  const isOutbound = direction === 'outbound';
  const [holder, referenced] = isOutbound ? [table, target] : [target, table];
  if (!pairs.every(({ local, foreign }) => columnOf(referenced, isOutbound ? foreign : local)?.selectable === true))
    return false;
  const sets = (flag: 'insertable' | 'updatable') =>
    pairs.every(({ local, foreign }) => columnOf(holder, isOutbound ? local : foreign)?.[flag] === true);
  const connects = target.keys.length > 0;
  if (isOutbound) return (target.insert || connects) && sets('insertable');
  return (target.insert && sets('insertable')) || (connects && target.update && sets('updatable'));
}

/**
 * Whether updates of `table` can write its related rows: the role may update the one and write the other, or set the foreign
 * key, and read both sides of it.
 */
export function isNestableUpdate(relationship: Relationship, { table, target }: Ends): boolean {
  const { direction, cardinality, pairs, through } = relationship;
  if (through !== null || !table.update) return false;
  if (!hasCertainKeys(table) || !hasCertainKeys(target)) return false;
  const isReadable = pairs.every(
    ({ local, foreign }) =>
      columnOf(table, local)?.selectable === true && columnOf(target, foreign)?.selectable === true,
  );
  if (!isReadable) return false;
  if (direction === 'inbound') return target.insert || target.update || (cardinality === 'many' && target.delete);
  const links = pairs.every(({ local }) => columnOf(table, local)?.updatable === true);
  return target.update || (links && (target.insert || target.keys.length > 0));
}

/** A rule may return other rows, and another server commits by itself. */
function hasCertainKeys({ kind, hasRules, uniqueKey, primaryKey, columns }: Table): boolean {
  const isKnown = primaryKey.every((number) => columns.some((column) => column.number === number && column.selectable));
  // With a unique key, none of its partitions is on another server.
  const isOwn = kind === 'table' || (kind === 'partitioned_table' && uniqueKey);
  return isKnown && (kind === 'view' || (isOwn && !hasRules));
}

function columnOf({ columns }: Table, number: number): Column | undefined {
  return columns.find((column) => column.number === number);
}

/** The types that each table needs for being nested. */
export function nestedTypes({ insertable, updatable }: ReachedTables): (table: Table) => readonly TableType[] {
  return (table) => {
    const { oid, keys } = table;
    const inserted: readonly TableType[] = insertable.many.has(oid)
      ? ['nestedInsert', ...(insertable.one.has(oid) ? (['nestedInsertOne'] as const) : [])]
      : insertable.one.has(oid)
        ? ['nestedInsertOnly']
        : [];
    const updated: readonly TableType[] = [
      ...(updatable.many.has(oid) ? (['nestedUpdate'] as const) : []),
      ...(updatable.one.has(oid) ? (['nestedUpdateOne'] as const) : []),
    ];
    // Entries of updates choose the rows of deletes and disconnections, too.
    const hasEntry = updated.length > 0 && (table.update || table.delete);
    const types: readonly TableType[] = [...inserted, ...updated, ...(hasEntry ? (['updateEntry'] as const) : [])];
    return types.length > 0 && keys.length > 0 ? [...types, 'key'] : types;
  };
}
