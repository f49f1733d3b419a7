/**
 * Whether a filter says which row it is about, by certain values in all key columns.
 */
import type { Table } from '../../model/model.ts';
import type { Condition } from './plan.ts';

/** Whether only rows with certain values in all key columns meet the condition. */
export function pinsPrimaryKey(table: Table, condition: Condition | null): boolean {
  const pinned = new Set(pinnedColumns(condition));
  return table.primaryKey.every((number) => pinned.has(number));
}

function pinnedColumns(condition: Condition | null): readonly number[] {
  switch (condition?.kind) {
    case 'and':
      return condition.items.flatMap(pinnedColumns);
    case 'compare':
      return condition.operator === 'eq' ? [condition.column.number] : [];
    case 'key':
      return condition.table.primaryKey;
    default:
      return [];
  }
}
