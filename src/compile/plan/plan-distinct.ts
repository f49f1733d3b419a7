/**
 * Plans `distinctOn`: puts its columns first in the order, so that the first of equal rows is defined
 * (docs/filters.md).
 */
import type { Column, Table } from '../../model/model.ts';
import type { Input } from '../input/input.ts';
import type { OrderTerm } from './plan.ts';
import { columnOf } from './plan-order.ts';

/** An order that starts with certain columns. */
interface DistinctOrder {
  readonly order: readonly OrderTerm[];
  /** Number of these columns' terms. */
  readonly distinct: number;
}

/** The order with the columns in front; first those that the requested terms start with. */
export function orderByDistinctFirst(
  table: Table,
  distinctOn: Input | null,
  order: readonly OrderTerm[],
): DistinctOrder {
  const columns = distinctOn?.state() === 'value' ? planColumns(table, distinctOn) : new Set<Column>();
  const leading: OrderTerm[] = [];
  for (const term of order.slice(0, -table.primaryKey.length)) {
    const { expression } = term;
    if (expression.kind !== 'column' || !columns.delete(expression.column)) break;
    leading.push(term);
  }
  const added = [...columns].map(
    (column): OrderTerm => ({ expression: { kind: 'column', column }, descending: false, nullsFirst: false }),
  );
  const distinct = leading.length + added.length;
  return { order: [...leading, ...added, ...order.slice(leading.length)], distinct };
}

function planColumns(table: Table, distinctOn: Input): Set<Column> {
  return new Set([...distinctOn.items()].map((item) => columnOf(table, Number(item.choice()))));
}
