/**
 * Plans filters of lists: their own operators, and conditions on the elements.
 *
 * Refuses elements of a type that has no equality of its own, and what operators refuse (plan-operator.ts).
 */
import { invariant } from '../../../shared/invariant.ts';
import type { ValueType } from '../../model/model.ts';
import { isFilterable } from '../../model/tables/columns.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { spend } from '../input/plan-budget.ts';
import type { Condition, Element } from './plan.ts';
import { combine, type OperatorContext, planOperator } from './plan-operator.ts';

/** What the filter of a list stands in. */
interface ListContext extends OperatorContext {
  /** Depth of filters, from 1. */
  readonly level: number;
}

type ListType = Extract<ValueType, { readonly kind: 'list' }>;

/** The condition of a filter on a list; null if empty. */
export function planList(at: ListContext, array: Element['of'], type: ListType, filter: Input): Condition | null {
  const conditions = filter.fields().map(({ field, input }) => {
    spend(at.budget, 'inputs', at.level);
    const { kind } = inputFieldOrigin(field);
    if (kind === 'operator') return planOperator(at, array, field, input);
    invariant(kind === 'any_element' || kind === 'every_element', 'filters of lists hold operators and elements');
    if (input.state() !== 'value') return null;
    const condition = planElement(at, { kind: 'element', of: array, type: type.element }, input);
    if (kind === 'every_element' && condition === null) return null;
    const quantifier = kind === 'any_element' ? 'any' : 'every';
    return { kind: 'elements', array, quantifier, condition, keepsUnknown: at.negated } as const;
  });
  return combine('and', conditions);
}

function planElement(at: ListContext, element: Element, filter: Input): Condition | null {
  spend(at.budget, 'elementFilters');
  if (!isFilterable(element.type))
    throw refuseInput('The elements have a type that cannot be compared. Compare whole lists.', filter);
  // An element of which nothing is known is none that matches.
  const below = { ...at, negated: false };
  return combine(
    'and',
    filter.fields().map(({ field, input }) => {
      spend(at.budget, 'inputs', at.level + 1);
      return planOperator(below, element, field, input);
    }),
  );
}
