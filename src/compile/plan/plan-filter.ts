/**
 * Plans a filter argument: one condition tree out of an input object (docs/filters.md), null where it restricts nothing.
 *
 * Refuses operands that are too long, `is: null`, and node ids of another table.
 */
import type { GraphQLInputField } from 'graphql';
import type { Column, Table } from '../../model/model.ts';
import { type FilterOperator, inputFieldOrigin } from '../../schema/origin.ts';
import { PublicError } from '../../shared/errors.ts';
import { invariant } from '../../shared/invariant.ts';
import type { Input } from './input.ts';
import type { Condition } from './plan.ts';
import { type PlanBudget, spend } from './plan-budget.ts';
import { planNodeId } from './plan-node-id.ts';

/** The condition of a `BFilter`; null without one. */
export function planFilter(budget: PlanBudget, table: Table, filter: Input): Condition | null {
  return planLevel({ budget, table, level: 1 }, filter);
}

/** A filter within filters. */
interface Level {
  readonly budget: PlanBudget;
  readonly table: Table;
  readonly level: number;
}

function planLevel(at: Level, filter: Input): Condition | null {
  spend(at.budget, 'inputs', at.level);
  if (filter.state() !== 'value') return null;
  const conditions = filter.fields().flatMap(({ field, input }) => {
    const condition = planEntry(at, field, input);
    return condition === null ? [] : [condition];
  });
  return all('and', conditions);
}

function planEntry(at: Level, field: GraphQLInputField, input: Input): Condition | null {
  const { budget, table, level } = at;
  const below = { ...at, level: level + 1 };
  const origin = inputFieldOrigin(field);
  // A null entry is ignored, whatever it is.
  if (input.state() !== 'value') return null;
  switch (origin.kind) {
    case 'column':
      return all(
        'and',
        input.fields().map((entry) => {
          spend(budget, 'inputs', level);
          return planOperator(budget, origin.column, entry.field, entry.input);
        }),
      );
    case 'node_id':
      return all(
        'and',
        input.fields().map((entry) => planNodeIdOperator(table, entry.input)),
      );
    case 'and':
    case 'or': {
      const items: Condition[] = [];
      for (const item of input.items()) {
        const condition = planLevel(below, item);
        if (condition !== null) items.push(condition);
      }
      return all(origin.kind, items);
    }
    case 'not': {
      const item = planLevel(below, input);
      return item === null ? null : { kind: 'not', item };
    }
    default:
      throw new Error(`an operator cannot stand in a filter of ${table.name}`);
  }
}

function planOperator(budget: PlanBudget, column: Column, field: GraphQLInputField, input: Input): Condition {
  const origin = inputFieldOrigin(field);
  invariant(origin.kind === 'operator', 'column filters hold operators');
  const { operator } = origin;
  const state = input.state();
  if (operator === 'is') {
    if (state !== 'value')
      throw new PublicError('BAD_USER_INPUT', `"is" on "${column.fieldName}" must be NULL or NOT_NULL.`);
    return { kind: 'null_test', column, negated: input.choice() === 'NOT_NULL' };
  }
  if (state === 'value') assertLength(column, operator, input);
  const isList = operator === 'in' || column.type?.kind === 'list';
  const slot = isList ? input.listSlot() : input.slot();
  if (operator === 'regex' || operator === 'iregex') budget.patterns.push(slot);
  return { kind: 'compare', column, operator, slot };
}

const patternOperators: readonly FilterOperator[] = ['like', 'ilike', 'regex', 'iregex', 'startsWith'];

function assertLength(column: Column, operator: FilterOperator, input: Input): void {
  if (!patternOperators.includes(operator)) assertFits(column, input);
}

/** Refuses strings over the declared length of a column. */
export function assertFits(column: Column, input: Input): void {
  const { maxLength } = column.cast;
  if (maxLength !== null && !input.fits(maxLength)) throw refuseLength(maxLength, input.place());
}

/** The refusal of a string that is too long; clients match on the message, so the place stands beside it. */
export function refuseLength(maxLength: number, place: string): PublicError {
  const message = `Invalid input for String type. Maximum character length ${maxLength}`;
  return new PublicError('BAD_USER_INPUT', message, { extensions: { input: place } });
}

function planNodeIdOperator(table: Table, input: Input): Condition {
  const slots = planNodeId(input, [table], 'nodeId belongs to a different collection');
  return { kind: 'key', table: slots.table, slots: slots.slots };
}

function all(kind: 'and' | 'or', items: readonly Condition[]): Condition | null {
  if (items.length === 0) return null;
  return items.length === 1 ? items[0]! : { kind, items };
}
