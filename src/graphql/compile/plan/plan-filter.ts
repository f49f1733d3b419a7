/**
 * Plans a filter argument: one condition tree of an input object (docs/filters.md), null if it restricts nothing.
 *
 * Refuses what operators refuse (plan-operator.ts), node ids of another table, and filters through relationships that
 * nest too deep.
 */
import type { GraphQLInputField } from 'graphql';
import type { Relationship, Table, ValueType } from '../../model/model.ts';
import { isJson, isSearchable } from '../../model/tables/columns.ts';
import { operatorRow } from '../../schema/operators.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { spend } from '../input/plan-budget.ts';
import type { Condition, Element, RelatedRows } from './plan.ts';
import { planRowCall } from './plan-arguments.ts';
import { planList } from './plan-elements.ts';
import { planJson } from './plan-json.ts';
import { planNodeId } from './plan-node-id.ts';
import { combine, planOperator } from './plan-operator.ts';
import { planRelatedAggregate } from './plan-related-aggregate.ts';
import { planSearchFilter } from './plan-search.ts';
import { descend, type Nesting, type Planner } from './planner.ts';

/** The condition of a `BFilter`; null without one. @param nesting Below the field that has the filter. */
export function planFilter(planner: Planner, nesting: Nesting, table: Table, filter: Input): Condition | null {
  const condition = planLevel({ planner, nesting, table, level: 1, relations: 0, negated: false }, filter);
  if (condition !== null) spend(planner.budget, 'inputs', Math.floor(weigh(condition, false).pairs / 2));
  return condition;
}

/**
 * Pairs of alternatives from different `or`s that must hold together: PostgreSQL compares each when it plans.
 * `alternatives`: of the `or`s of this condition.
 */
function weigh(condition: Condition, negated: boolean): { readonly alternatives: number; readonly pairs: number } {
  if (condition.kind === 'not') return weigh(condition.item, !negated);
  if ('related' in condition && condition.related.condition !== null)
    return { alternatives: 0, pairs: weigh(condition.related.condition, false).pairs };
  if (condition.kind !== 'and' && condition.kind !== 'or') return { alternatives: 0, pairs: 0 };
  const isOr = (condition.kind === 'or') !== negated;
  let [alternatives, pairs] = [0, 0];
  for (const item of condition.items) {
    const inner = weigh(item, negated);
    pairs += inner.pairs + (isOr ? 0 : alternatives * inner.alternatives);
    alternatives += isOr ? Math.max(1, inner.alternatives) : inner.alternatives;
  }
  return { alternatives, pairs };
}

interface Level {
  readonly planner: Planner;
  readonly nesting: Nesting;
  readonly table: Table;
  readonly level: number;
  /** Relationships above it. */
  readonly relations: number;
  /** Inside `not`. */
  readonly negated: boolean;
}

function planLevel(at: Level, filter: Input): Condition | null {
  spend(at.planner.budget, 'inputs', at.level);
  if (filter.state() !== 'value') return null;
  return combine(
    'and',
    filter.fields().map(({ field, input }) => planEntry(at, field, input)),
  );
}

function planEntry(at: Level, field: GraphQLInputField, input: Input): Condition | null {
  const { planner, table, level } = at;
  const below = { ...at, level: level + 1 };
  const origin = inputFieldOrigin(field);
  // A null entry is ignored.
  if (input.state() !== 'value') return null;
  switch (origin.kind) {
    case 'column':
      return planValue(at, { kind: 'column', column: origin.column }, origin.column.type, input);
    case 'node_id':
      return combine(
        'and',
        input.fields().map((entry) => planNodeIdOperator(table, entry.input)),
      );
    case 'and':
    case 'or':
      return combine(
        origin.kind,
        [...input.items()].map((item) => planLevel(below, item)),
      );
    case 'not': {
      const item = planLevel({ ...below, negated: true }, input);
      return item === null ? null : { kind: 'not', item };
    }
    case 'function': {
      const { routine, type } = origin;
      if (routine.arguments.length > 0) return { kind: 'holds', call: planRowCall(planner.budget, routine, input) };
      return planValue(at, { kind: 'computed', call: planRowCall(planner.budget, routine, null), type }, type, input);
    }
    case 'relationship':
      return planRelationship(below, origin.relationship, origin.target, input);
    default:
      throw new Error(`an operator cannot stand in a filter of ${table.name}`);
  }
}

function planValue(
  { planner, level, negated }: Level,
  expression: Element['of'],
  type: ValueType | null,
  filter: Input,
): Condition | null {
  const context = { budget: planner.budget, level, negated };
  if (isJson(type)) return planJson(context, expression, filter);
  if (isSearchable(type)) return planSearchFilter(context, expression, filter);
  if (type?.kind === 'list') return planList(context, expression, type, filter);
  return combine(
    'and',
    filter.fields().map(({ field, input }) => {
      spend(planner.budget, 'inputs', level);
      return planOperator(context, expression, field, input);
    }),
  );
}

function planNodeIdOperator(table: Table, input: Input): Condition {
  const slots = planNodeId(input, [table], 'nodeId belongs to a different collection');
  return { kind: 'key', table: slots.table, slots: slots.slots };
}

// Each relationship in a filter may be evaluated once per row of the page.
function planRelationship(at: Level, relationship: Relationship, target: Table, input: Input): Condition | null {
  const { planner, nesting, table, relations } = at;
  spend(planner.budget, 'relationFilters');
  if (relations >= maxNested) throw refuseInput(tooNested, input);
  const below = {
    ...at,
    nesting: descend(planner, nesting, { kind: 'constant', value: 1 }),
    table: target,
    relations: relations + 1,
    // A condition on related rows is never unknown.
    negated: false,
  };
  const related = (condition: Condition | null): RelatedRows => ({
    relationship,
    from: table,
    table: target,
    condition,
  });
  if (relationship.cardinality === 'many') return planCollection(below, input, related);
  const condition = planLevel(below, input);
  return condition === null ? null : { kind: 'exists', related: related(condition) };
}

type Relate = (condition: Condition | null) => RelatedRows;

function planCollection(at: Level, collection: Input, related: Relate): Condition | null {
  const conditions = collection.fields().map(({ field, input }): Condition | null => {
    const { kind } = inputFieldOrigin(field);
    if (input.state() !== 'value') return null;
    if (kind === 'aggregate_filter') return planAggregate(at, input, related);
    const condition = planLevel(at, input);
    if (kind === 'some') return { kind: 'exists', related: related(condition) };
    if (kind === 'none') return { kind: 'not', item: { kind: 'exists', related: related(condition) } };
    if (condition === null) return null;
    return { kind: 'not', item: { kind: 'exists', related: related(planFailing(condition)) } };
  });
  return combine('and', conditions);
}

// True where the condition is false or unknown. No index serves `is not true`, but the opposite of a comparison has one.
function planFailing(condition: Condition): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { kind: condition.kind === 'and' ? 'or' : 'and', items: condition.items.map(planFailing) };
    case 'null_test':
      return { ...condition, negated: !condition.negated };
    case 'exists':
      return { kind: 'not', item: condition };
    case 'not':
      if (condition.item.kind === 'exists') return condition.item;
      break;
    case 'compare': {
      const { expression, operator, slot } = condition;
      const isUnknown = slot.kind === 'constant' && slot.value === null;
      if (expression.kind !== 'column' || isUnknown || !operatorRow(operator).hasOpposite) break;
      const opposite: Condition = { kind: 'not', item: condition };
      if (expression.column.hasNoNulls) return opposite;
      return { kind: 'or', items: [opposite, { kind: 'null_test', expression, negated: false }] };
    }
    default:
  }
  return { kind: 'not_true', item: condition };
}

function planAggregate(at: Level, aggregate: Input, related: Relate): Condition | null {
  const entries = aggregate.fields().filter(({ input }) => input.state() === 'value');
  const filter = entries.find(({ field }) => inputFieldOrigin(field).kind === 'related_filter');
  const rows = related(filter === undefined ? null : planLevel(at, filter.input));
  return planRelatedAggregate(
    at.planner,
    at.nesting,
    rows,
    entries.filter((entry) => entry !== filter),
  );
}

/** Nesting limit of filters through relationships. */
const maxNested = 4;
const tooNested = `Filters through relationships nest at most ${maxNested} deep.`;
