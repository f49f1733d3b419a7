/**
 * Whether the keys of rows are known before these are inserted: then nothing of them is read back (docs/row-security.md). The
 * objects give them, or rows that the objects refer to.
 *
 * A trigger may change a key or suppress its row, an upsert may meet a row with another key, and a view or partitioned
 * table has triggers elsewhere: related rows could get a wrong parent.
 */
import type { Column, Table } from '../../../model/model.ts';
import type { InsertChange } from '../plan.ts';
import type { KeySource } from './nested-writes.ts';

/** Where keys of rows come from that nobody asks for. */
export function foreseeKeys(table: Table, change: InsertChange, keys: readonly Column[]): KeySource {
  if (table.kind !== 'table' || table.hasRules || table.changesInserts || change.conflict !== null) return 'changed';
  return keys.every((key) => isGiven(change, key)) ? 'objects' : 'made';
}

function isGiven({ columns, rows }: InsertChange, key: Column): boolean {
  const index = columns.findIndex(({ column }) => column === key);
  const isLeftOut = rows?.some((cells) => cells[index] === 'default') ?? columns[index]?.isOmitted;
  return index >= 0 && isLeftOut !== true;
}
