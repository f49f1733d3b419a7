/** Related rows in the objects of an insert (extension `writes`, docs/nested-writes.md). */
import type { Column, Relationship, Table, TableType } from '../model.ts';

/** The tables that a relationship links. */
export interface Ends {
  readonly table: Table;
  readonly target: Table;
}

/**
 * Whether rows of `table` can be inserted with their related rows: the role may insert both, set the foreign key's
 * columns, and read what they refer to. Without certain keys, a related row could get the key of another.
 */
export function isNestable({ direction, pairs, through }: Relationship, { table, target }: Ends): boolean {
  if (through !== null || !table.insert || !target.insert) return false;
  if (!hasCertainKeys(table) || !hasCertainKeys(target)) return false;
  const isOutbound = direction === 'outbound';
  const [holder, referenced] = isOutbound ? [table, target] : [target, table];
  return pairs.every(({ local, foreign }) => {
    const [key, origin] = isOutbound ? [local, foreign] : [foreign, local];
    return columnOf(holder, key)?.insertable === true && columnOf(referenced, origin)?.selectable === true;
  });
}

/**
 * Whether updates of `table` can write the related rows of a to-many relationship: the role may update the one and write
 * the other, and read both sides of the foreign key.
 */
export function isNestableUpdate(
  { direction, cardinality, pairs, through }: Relationship,
  { table, target }: Ends,
): boolean {
  if (through !== null || direction !== 'inbound' || cardinality !== 'many' || !table.update) return false;
  if (!target.insert && !target.update && !target.delete) return false;
  if (!hasCertainKeys(table) || !hasCertainKeys(target)) return false;
  return pairs.every(
    ({ local, foreign }) =>
      columnOf(table, local)?.selectable === true && columnOf(target, foreign)?.selectable === true,
  );
}

/** A rule may return other rows, and another server commits by itself. */
function hasCertainKeys({ kind, hasRules, primaryKey, columns }: Table): boolean {
  const isKnown = primaryKey.every((number) => columns.some((column) => column.number === number && column.selectable));
  return isKnown && (kind === 'view' || (kind === 'table' && !hasRules));
}

function columnOf({ columns }: Table, number: number): Column | undefined {
  return columns.find((column) => column.number === number);
}

/** The types that each table needs for being nested. */
export function nestedTypes(tables: ReadonlyMap<string, Table>): (table: Table) => readonly TableType[] {
  const updated = new Set(
    [...tables.values()].flatMap(({ relationships }) =>
      relationships.filter(({ updatable }) => updatable).map(({ target }) => target),
    ),
  );
  const updateTypes = ({ oid, update, delete: isDeletable }: Table): readonly TableType[] =>
    !updated.has(oid)
      ? []
      : [
          'nestedUpdate',
          ...(update ? (['nestedUpdateEntry'] as const) : []),
          ...(isDeletable ? (['nestedDeleteEntry'] as const) : []),
        ];
  const inserted = insertTypes(tables);
  return (table) => [...inserted(table), ...updateTypes(table)];
}

function insertTypes(tables: ReadonlyMap<string, Table>): (table: Table) => readonly TableType[] {
  const reached = (cardinality: Relationship['cardinality']) =>
    new Set(
      [...tables.values()].flatMap(({ relationships }) =>
        relationships
          .filter(({ insertable, cardinality: own }) => insertable && own === cardinality)
          .map(({ target }) => target),
      ),
    );
  const [ones, many] = [reached('one'), reached('many')];
  return ({ oid }) => {
    if (!many.has(oid)) return ones.has(oid) ? ['nestedInsertOnly'] : [];
    return ones.has(oid) ? ['nestedInsert', 'nestedInsertOne'] : ['nestedInsert'];
  };
}
