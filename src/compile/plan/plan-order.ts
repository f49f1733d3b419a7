/**
 * Plans the effective order of a connection: the requested terms, then the whole primary key (docs/filters.md).
 */
import type { Column, Table } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { invariant } from '../../shared/invariant.ts';
import type { Input } from './input.ts';
import type { OrderTerm } from './plan.ts';
import { type PlanBudget, spend } from './plan-budget.ts';

/** The order of the rows, total because the primary key ends it. */
export function planOrder(budget: PlanBudget, table: Table, orderBy: Input | null): readonly OrderTerm[] {
  const requested = orderBy !== null && orderBy.state() === 'value' ? planRequested(budget, orderBy) : [];
  return [...requested, ...keyColumns(table).map(ascending)];
}

function ascending(column: Column): OrderTerm {
  return { expression: { kind: 'column', column }, descending: false, nullsFirst: false };
}

function planRequested(budget: PlanBudget, orderBy: Input): readonly OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (const element of orderBy.items()) {
    terms.push(...planElement(element));
    // Where the directions differ, the rows after a cursor are those beyond a term and equal in all before it.
    spend(budget, 'inputs', terms.length);
  }
  return terms;
}

/** The columns of the primary key, in key order. */
export function keyColumns(table: Table): readonly Column[] {
  return table.primaryKey.map((number) => columnOf(table, number));
}

/** A column by its attribute number. */
export function columnOf(table: Table, number: number): Column {
  const column = table.columns.find((candidate) => candidate.number === number);
  invariant(column, `table ${table.name} has no column ${number}`);
  return column;
}

function planElement(element: Input): readonly OrderTerm[] {
  if (element.state() !== 'value') return [];
  return element.fields().flatMap(({ field, input }) => {
    const origin = inputFieldOrigin(field);
    invariant(origin.kind === 'column', 'order-by inputs hold columns');
    if (input.state() !== 'value') return [];
    const direction = input.choice();
    const term = directions[direction];
    invariant(term, `unknown direction ${direction}`);
    return [{ expression: { kind: 'column', column: origin.column }, ...term }];
  });
}

/** The four directions. */
export const directions: Readonly<Record<string, { readonly descending: boolean; readonly nullsFirst: boolean }>> = {
  AscNullsFirst: { descending: false, nullsFirst: true },
  AscNullsLast: { descending: false, nullsFirst: false },
  DescNullsFirst: { descending: true, nullsFirst: true },
  DescNullsLast: { descending: true, nullsFirst: false },
};
