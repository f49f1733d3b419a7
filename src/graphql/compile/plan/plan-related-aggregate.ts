/**
 * Plans filters on all related rows together: their count and aggregates.
 *
 * Refuses to compare a count with a number over the limit, because rows are counted for each candidate.
 */
import type { GraphQLInputField } from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import { type InputFieldOrigin, inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { spend } from '../input/plan-budget.ts';
import { type Condition, type Expression, type LimitPlan, maxCounted, type RelatedRows } from './plan.ts';
import { aggregatedColumn } from './plan-aggregate.ts';
import { combine, planNullTest, planOperator } from './plan-operator.ts';
import { planLimit } from './plan-page.ts';
import type { Nesting, Planner } from './planner.ts';

type Entries = ReturnType<Input['fields']>;

const allCounted: LimitPlan = { kind: 'constant', value: maxCounted };

/** The condition of a `BAggregateFilter` without its `filter`; null if empty. */
export function planRelatedAggregate(
  planner: Planner,
  nesting: Nesting,
  related: RelatedRows,
  entries: Entries,
): Condition | null {
  const [counts, others] = [entries.filter(isCount), entries.filter((entry) => !isCount(entry))];
  const having = planGroup(planner, others);
  const counted = counts.flatMap(({ input }) => input.fields());
  if (having.length === 0) {
    return combine(
      'and',
      counted.map((entry) => planCount({ planner, nesting, related }, entry)),
    );
  }
  planner.costs.push([...nesting.pages, allCounted]);
  for (const { field, input } of counted) {
    if (operatorOf(field) !== 'is' && input.state() === 'value') askBounds(operatorOf(field), input);
  }
  const group: Condition = {
    kind: 'group_related',
    related,
    having: combine('and', [...planGroup(planner, counts), ...having])!,
  };
  // If few related rows are taken, this is much faster than aggregating for each row.
  const isSelective = related.condition !== null && having.some(needsRows);
  return isSelective ? { kind: 'and', items: [{ kind: 'exists', related }, group] } : group;
}

// Of no rows, sums, averages and extremes are null.
function needsRows(condition: Condition): boolean {
  const isFalse = condition.kind === 'null_test' ? condition.negated : condition.kind === 'compare';
  return isFalse && 'expression' in condition && condition.expression.kind === 'aggregate';
}

/** The condition of a `BAggregateFilter` without its `filter` on a group of rows; null if empty. */
export function planAggregateConditions(planner: Planner, entries: Entries): Condition | null {
  return combine('and', planGroup(planner, entries));
}

function planGroup(planner: Planner, entries: Entries): readonly Condition[] {
  return entries.flatMap((entry) => {
    if (isCount(entry)) return planOperators(planner, { kind: 'count' }, entry.input);
    const of = inputFieldOrigin(entry.field);
    return entry.input
      .fields()
      .flatMap(({ field, input }) =>
        input.state() === 'value' ? planOperators(planner, expressionOf(of, field, input), input) : [],
      );
  });
}

function isCount({ field }: Entries[number]): boolean {
  return inputFieldOrigin(field).kind === 'count';
}

function planOperators(planner: Planner, expression: Expression, operators: Input): readonly Condition[] {
  return operators.fields().map(({ field, input }) => {
    spend(planner.budget, 'inputs');
    return planOperator({ budget: planner.budget, negated: false }, expression, field, input);
  });
}

function expressionOf(of: InputFieldOrigin, field: GraphQLInputField, input: Input): Expression {
  const origin = inputFieldOrigin(field);
  if (origin.kind === 'distinct_count') return { kind: 'distinct_count', column: origin.column };
  invariant(of.kind === 'aggregate_function', 'filters of aggregates hold functions');
  return { kind: 'aggregate', function: of.function, column: aggregatedColumn(of.function, field, input) };
}

interface Counting {
  readonly planner: Planner;
  readonly nesting: Nesting;
  readonly related: RelatedRows;
}

function planCount({ planner, nesting, related }: Counting, { field, input }: Entries[number]): Condition {
  spend(planner.budget, 'inputs');
  const operator = operatorOf(field);
  // A count is never null.
  if (operator === 'is') return { kind: 'constant', value: planNullTest(input, 'count') };
  if (input.state() !== 'value') return { kind: 'constant', value: false };
  const bound = askBounds(operator, input);
  const known = bound === 'more' ? undefined : withoutCounting[operator][bound];
  if (known === 'true' || known === 'false') return { kind: 'constant', value: known === 'true' };
  const exists: Condition = { kind: 'exists', related };
  if (known !== undefined) return known === 'some' ? exists : { kind: 'not', item: exists };
  const counted = operator === 'in' ? allCounted : planLimit(input, maxCounted);
  planner.costs.push([...nesting.pages, counted]);
  const slot = operator === 'in' ? input.listSlot() : input.slot();
  const count: Condition = { kind: 'count_related', related, operator, slot };
  // If few rows have related ones, this is much faster than counting for each.
  return ['gte', 'gt', 'eq'].includes(operator) ? { kind: 'and', items: [exists, count] } : count;
}

function operatorOf(field: GraphQLInputField): CountOperator | 'is' {
  const origin = inputFieldOrigin(field);
  invariant(origin.kind === 'operator', 'a count is compared by operators');
  return origin.operator as CountOperator | 'is';
}

type Bound = 'negative' | 'zero' | 'one';
type CountOperator = 'eq' | 'neq' | 'lt' | 'lte' | 'gt' | 'gte' | 'in';
/** The result of a comparison: always true or false, or the existence or absence of a related row. */
type Known = 'true' | 'false' | 'some' | 'none';

const withoutCounting: Readonly<Record<CountOperator, Readonly<Partial<Record<Bound, Known>>>>> = {
  eq: { negative: 'false', zero: 'none' },
  neq: { negative: 'true', zero: 'some' },
  lt: { negative: 'false', zero: 'false', one: 'none' },
  lte: { negative: 'false', zero: 'none' },
  gt: { negative: 'true', zero: 'some' },
  gte: { negative: 'true', zero: 'true', one: 'some' },
  in: {},
};

function askBounds(operator: CountOperator | 'is', input: Input): Bound | 'more' {
  return operator === 'in' ? askList(input) : askBound(input);
}

function askBound(input: Input): Bound | 'more' {
  const bound = input.ask({ kind: 'count', most: maxCounted });
  if (bound === 'large') throw refuseInput(tooLarge, input);
  return bound as Bound | 'more';
}

function askList(input: Input): 'more' {
  // A list in the document may contain variables.
  const items = input.path() === null ? [...input.items()] : [input];
  for (const item of items) if (item.state() === 'value') askBound(item);
  return 'more';
}

const tooLarge = `A count of related rows is compared with numbers up to ${maxCounted}.`;
