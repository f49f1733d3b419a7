/** Plans the effective order of a connection: the requested terms, then the whole primary key (docs/filters.md). */
import { badInput } from '../../../shared/errors.ts';
import { invariant } from '../../../shared/invariant.ts';
import type { AggregateFunction } from '../../model/codecs.ts';
import type { Column, Table } from '../../model/model.ts';
import { isInColumns } from '../../model/tables/columns.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { type PlanBudget, spend } from '../input/plan-budget.ts';
import type { LimitPlan, OrderExpression, OrderTerm } from './plan.ts';
import { aggregatedColumn } from './plan-aggregate.ts';
import { planRowCall } from './plan-arguments.ts';
import { planOrderRank } from './plan-search.ts';
import { descend, type Nesting, type Planner } from './planner.ts';

/** The order of the rows, total because it ends with the primary key. */
export function planOrder(budget: PlanBudget, table: Table, orderBy: Input | null): readonly OrderTerm[] {
  const requested = orderBy !== null && orderBy.state() === 'value' ? planRequested(budget, table, orderBy) : [];
  return [...requested, ...keyColumns(table).map((column) => ascending(table, column))];
}

function ascending(table: Table, column: Column): OrderTerm {
  if (column.cast.lacks !== null) {
    const reason = `its key column "${column.fieldName ?? column.name}" has a type without an order in PostgreSQL`;
    throw badInput(`"${table.baseName}" has no pages: ${reason}. Declare another key.`);
  }
  return { expression: { kind: 'column', column }, descending: false, nullsFirst: false };
}

function planRequested(budget: PlanBudget, table: Table, orderBy: Input): readonly OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (const element of orderBy.items()) {
    terms.push(...planElement(budget, table, element, 1));
    // With mixed directions, the rows after a cursor are those beyond one term and equal in all terms before it.
    spend(budget, 'inputs', terms.length);
  }
  return terms;
}

/**
 * Counts the relationships of the terms: each may be followed from all rows of the page, and a to-many requires reading
 * all related rows first.
 *
 * @param nesting Below the field whose rows are ordered.
 */
export function addOrderCost(planner: Planner, nesting: Nesting, order: readonly OrderTerm[]): void {
  for (const { expression } of order) addExpressionCost(planner, nesting, expression);
}

/** The cost of reading all rows: as much as a page of this size. */
export const allRows: LimitPlan = { kind: 'constant', value: 1000 };

/** Counts the relationships of one value. */
export function addExpressionCost(planner: Planner, nesting: Nesting, expression: OrderExpression): void {
  // The value is computed for all matching rows before the first one is known.
  if (expression.kind === 'rank' || expression.kind === 'computed')
    planner.costs.push([...nesting.pages.slice(0, -1), allRows]);
  if (expression.kind !== 'related') return;
  if (expression.related.relationship.cardinality === 'many') {
    descend(planner, nesting);
    planner.costs.push([...nesting.pages.slice(0, -1), allRows]);
  } else {
    addExpressionCost(planner, descend(planner, nesting, { kind: 'constant', value: 1 }), expression.expression);
  }
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

/** The column that a value of *B*`Column` names where columns are read; the enum has those of upserts, too. */
export function readColumn(table: Table, value: Input): Column {
  const column = columnOf(table, Number(value.choice()));
  if (isInColumns(column)) return column;
  throw refuseInput(`"${column.fieldName}" is for "updateColumns" alone: rows are not compared by it.`, value);
}

/** @param level Counts the values above: each is passed again by all below it. */
function planElement(budget: PlanBudget, table: Table, element: Input, level: number): readonly OrderTerm[] {
  if (element.state() !== 'value') return [];
  return element.fields().flatMap(({ field, input }) => {
    spend(budget, 'inputs', level);
    const origin = inputFieldOrigin(field);
    if (input.state() !== 'value') return [];
    switch (origin.kind) {
      case 'column':
        if (origin.column.cast.lacks !== null) throw refuseInput(noOrder(field.name), input);
        return [{ expression: { kind: 'column', column: origin.column }, ...directionOf(input) }];
      case 'count':
        return [{ expression: { kind: 'count' }, ...directionOf(input) }];
      case 'aggregate_function':
        return planAggregates(budget, origin.function, input, level + 1);
      case 'group_keys':
        throw refuseInput('"key" orders groups. Related rows have none.', input);
      case 'rank': {
        const { rank, direction } = planOrderRank(budget, origin.column, input);
        return [{ expression: rank, ...directionNamed(direction) }];
      }
      case 'function': {
        const { routine, type } = origin;
        const hasArguments = routine.arguments.length > 0;
        const call = planRowCall(budget, routine, hasArguments ? input : null);
        const direction = hasArguments ? planDirection(input) : directionOf(input);
        return [{ expression: { kind: 'computed', call, type }, ...direction }];
      }
      case 'related_order': {
        const { relationship, target } = origin;
        const related = { relationship, from: table, table: target, condition: null };
        return planElement(budget, target, input, level + 1).map(
          ({ expression, ...term }): OrderTerm => ({ expression: { kind: 'related', related, expression }, ...term }),
        );
      }
      default:
        throw new Error(`an order of ${table.name} has no ${origin.kind}`);
    }
  });
}

function planAggregates(
  budget: PlanBudget,
  fn: AggregateFunction,
  columns: Input,
  level: number,
): readonly OrderTerm[] {
  return columns.fields().flatMap(({ field, input }) => {
    spend(budget, 'inputs', level);
    if (input.state() !== 'value') return [];
    const column = aggregatedColumn(fn, field, input);
    return [{ expression: { kind: 'aggregate', function: fn, column }, ...directionOf(input) }];
  });
}

function noOrder(name: string): string {
  return `"${name}" has a type without an order in PostgreSQL. Leave it out.`;
}

/** The direction of a term, and the position of its nulls. */
export function directionOf(input: Input): Omit<OrderTerm, 'expression'> {
  return directionNamed(input.choice());
}

function planDirection(order: Input): Omit<OrderTerm, 'expression'> {
  const given = order.fields().find(({ field }) => inputFieldOrigin(field).kind === 'direction')?.input;
  return directionNamed(given?.state() === 'value' ? given.choice() : 'AscNullsLast');
}

function directionNamed(direction: string): Omit<OrderTerm, 'expression'> {
  const term = directions[direction];
  invariant(term, `unknown direction ${direction}`);
  return term;
}

const directions: Readonly<Record<string, { readonly descending: boolean; readonly nullsFirst: boolean }>> = {
  AscNullsFirst: { descending: false, nullsFirst: true },
  AscNullsLast: { descending: false, nullsFirst: false },
  DescNullsFirst: { descending: true, nullsFirst: true },
  DescNullsLast: { descending: true, nullsFirst: false },
};
