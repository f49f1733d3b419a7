/**
 * Plans text searches in columns of type `tsvector`.
 *
 * Refuses more than one search in a filter, and invalid names of text search configurations.
 */
import type { Column } from '../../model/model.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { type PlanBudget, spend } from '../input/plan-budget.ts';
import type { Condition, Expression } from './plan.ts';
import { combine, type OperatorContext, planOperator } from './plan-operator.ts';
import type { Rank, SearchPlan } from './search-plan.ts';

/** The condition of a `TextSearchFilter`, or of operators without it, on a value; null if empty. */
export function planSearchFilter(
  at: OperatorContext & { readonly level: number },
  expression: Expression,
  filter: Input,
): Condition | null {
  const entries = filter.fields();
  const operators = entries.filter(({ field }) => inputFieldOrigin(field).kind === 'operator');
  const search = planSearch(at.budget, filter, entries);
  spend(at.budget, 'inputs', at.level * entries.length);
  return combine('and', [
    search && { kind: 'search', expression, search },
    ...operators.map(({ field, input }) => planOperator(at, expression, field, input)),
  ]);
}

/** The search of a filter; null for none. */
function planSearch(budget: PlanBudget, filter: Input, entries: ReturnType<Input['fields']>): SearchPlan | null {
  const searches = entries.flatMap(({ field, input }) => {
    const origin = inputFieldOrigin(field);
    return origin.kind === 'search' ? [{ by: origin.by, input }] : [];
  });
  const [search, other] = searches;
  if (search === undefined) return null;
  if (other !== undefined)
    throw refuseInput('A text search has one of "websearch", "plain", "phrase" and "query".', filter);
  const slot = search.input.slot();
  if (search.by === 'query') budget.patterns.push({ slot, language: 'tsquery', place: search.input.place() });
  const config = entries.find(({ field }) => inputFieldOrigin(field).kind === 'search_config')?.input;
  if (config?.state() !== 'value') return { by: search.by, slot, config: null };
  if (config.ask({ kind: 'search_config' }) !== 'name') {
    throw refuseInput('"config" takes the name of a text search configuration, without its schema.', config);
  }
  budget.patterns.push({ slot: config.slot(), language: 'regconfig', place: config.place() });
  return { by: search.by, slot, config: config.slot() };
}

/** The rank of a `TextSearchOrder`, and its direction. */
export function planRank(
  budget: PlanBudget,
  column: Column,
  order: Input,
): { readonly rank: Rank; readonly direction: string } {
  const entries = order.fields();
  const search = planSearch(budget, order, entries);
  if (search === null)
    throw refuseInput('An order by rank has one of "websearch", "plain", "phrase" and "query".', order);
  budget.operands.push({ slot: search.slot, by: 'rank' });
  const given = (kind: 'normalization' | 'cover_density' | 'direction'): Input | null => {
    const input = entries.find(({ field }) => inputFieldOrigin(field).kind === kind)?.input;
    return input?.state() === 'value' ? input : null;
  };
  const normalization = given('normalization')?.slot() ?? { kind: 'constant', value: '0' };
  const coverDensity = given('cover_density')?.choice() === 'true';
  const direction = given('direction')?.choice() ?? 'DescNullsLast';
  return { rank: { kind: 'rank', column, search, normalization, coverDensity }, direction };
}
