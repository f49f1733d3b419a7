/**
 * Whether the values of a request decide which way PostgreSQL finds its rows best.
 *
 * A filter over anything but the key may leave nearly all rows or nearly none, and nobody but PostgreSQL, which counts values,
 * knows which. By key, by relationship and behind a cursor the best way is the same for all values: they are found by one index.
 */
import type { Table } from '../../model/model.ts';
import { pinsPrimaryKey } from './pins-primary-key.ts';
import type { Condition, ValuePlan } from './plan.ts';

/** Of a root field: what is nested in it is found by relationships first. */
export function wantsCustomPlan(value: ValuePlan): boolean {
  if (value.kind === 'connection') return isSelective(value.connection.source.table, value.connection.filter);
  if (value.kind !== 'write' || value.write.change.kind === 'insert') return false;
  return isSelective(value.write.table, value.write.change.filter);
}

function isSelective(table: Table, filter: Condition | null): boolean {
  return filter !== null && compares(filter) && !pinsPrimaryKey(table, filter);
}

function compares(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.some(compares);
    case 'not':
      return compares(condition.item);
    case 'null_test':
      return false;
    case 'compare':
    case 'key':
      return true;
  }
}
