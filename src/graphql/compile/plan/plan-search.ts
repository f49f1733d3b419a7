/**
 * Plans text searches in columns of type `tsvector`.
 *
 * Refuses more than one search in a filter, and invalid names of text search configurations.
 */
import { badInput, type PublicError } from '../../../shared/errors.ts';
import type { Column } from '../../model/model.ts';
import { type ArgumentOrigin, type InputFieldOrigin, inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import { type PlanBudget, spend } from '../input/plan-budget.ts';
import type { Condition, Expression } from './plan.ts';
import { combine, type OperatorContext, planOperator } from './plan-operator.ts';
import type { Rank, SearchPlan } from './search-plan.ts';

/** A member of an input, or an argument. */
interface Given {
  readonly origin: InputFieldOrigin | ArgumentOrigin;
  readonly input: Input;
}

function givenIn(input: Input): readonly Given[] {
  return input.fields().map(({ field, input: entry }) => ({ origin: inputFieldOrigin(field), input: entry }));
}

const oneOf = 'has one of "websearch", "plain", "phrase" and "query".';

/** The condition of a `TextSearchFilter`, or of operators without it, on a value; null if empty. */
export function planSearchFilter(
  at: OperatorContext & { readonly level: number },
  expression: Expression,
  filter: Input,
): Condition | null {
  const entries = filter.fields();
  const operators = entries.filter(({ field }) => inputFieldOrigin(field).kind === 'operator');
  const search = planSearch(at.budget, givenIn(filter), () => refuseInput(`A text search ${oneOf}`, filter));
  spend(at.budget, 'inputs', at.level * entries.length);
  return combine('and', [
    search && { kind: 'search', expression, search },
    ...operators.map(({ field, input }) => planOperator(at, expression, field, input)),
  ]);
}

/** The search among what is given; null for none. @param refuse The error for several. */
function planSearch(budget: PlanBudget, given: readonly Given[], refuse: () => PublicError): SearchPlan | null {
  const searches = given.flatMap(({ origin, input }) => (origin.kind === 'search' ? [{ by: origin.by, input }] : []));
  const [search, other] = searches;
  if (search === undefined) return null;
  if (other !== undefined) throw refuse();
  const slot = search.input.slot();
  if (search.by === 'query') budget.patterns.push({ slot, language: 'tsquery', place: search.input.place() });
  const config = given.find(({ origin }) => origin.kind === 'search_config')?.input;
  if (config?.state() !== 'value') return { by: search.by, slot, config: null };
  if (config.ask({ kind: 'search_config' }) !== 'name') {
    throw refuseInput('"config" takes the name of a text search configuration, without its schema.', config);
  }
  budget.patterns.push({ slot: config.slot(), language: 'regconfig', place: config.place() });
  return { by: search.by, slot, config: config.slot() };
}

/** The rank of a `TextSearchOrder`, and its direction. */
export function planOrderRank(
  budget: PlanBudget,
  column: Column,
  order: Input,
): { readonly rank: Rank; readonly direction: string } {
  const given = givenIn(order);
  const refuse = () => refuseInput(`An order by rank ${oneOf}`, order);
  const search = planSearch(budget, given, refuse);
  if (search === null) throw refuse();
  const rank = planRank(budget, column, given, search);
  return { rank, direction: givenValue(given, 'direction')?.choice() ?? 'DescNullsLast' };
}

/**
 * The rank of a field; without a search it is null, because clients that select all fields give no optional arguments.
 *
 * @param name Its name, for messages.
 */
export function planFieldRank(budget: PlanBudget, column: Column, name: string, inputs: readonly Given[]): Rank {
  const given = inputs.filter(({ input }) => input.isGiven());
  const search = planSearch(budget, given, () => badInput(`"${name}" ${oneOf}`));
  return planRank(budget, column, given, search ?? nothing);
}

const nothing: SearchPlan = { by: 'plain', slot: { kind: 'constant', value: null }, config: null };

function planRank(budget: PlanBudget, column: Column, given: readonly Given[], search: SearchPlan): Rank {
  if (search !== nothing) budget.operands.push({ slot: search.slot, by: 'rank' });
  const normalization = givenValue(given, 'normalization')?.slot() ?? { kind: 'constant', value: '0' };
  return {
    kind: 'rank',
    column,
    search,
    normalization,
    coverDensity: givenValue(given, 'cover_density')?.choice() === 'true',
  };
}

function givenValue(given: readonly Given[], kind: Given['origin']['kind']): Input | null {
  const input = given.find(({ origin }) => origin.kind === kind)?.input;
  return input?.state() === 'value' ? input : null;
}
