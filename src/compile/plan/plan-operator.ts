/**
 * Plans one operator of a filter with its operand.
 *
 * Refuses operands that are too long, and `is: null`.
 */
import { type GraphQLInputField, getNullableType, isListType } from 'graphql';
import type { Column } from '../../model/model.ts';
import { type FilterOperator, inputFieldOrigin } from '../../schema/origin.ts';
import { PublicError } from '../../shared/errors.ts';
import { invariant } from '../../shared/invariant.ts';
import { type Input, refuseInput } from '../input/input.ts';
import type { JsonPathKind } from '../input/json-path.ts';
import type { PlanBudget } from '../input/plan-budget.ts';
import type { Condition, Expression } from './plan.ts';

/** Where an operator stands. */
export interface OperatorPlace {
  readonly budget: PlanBudget;
  /** It stands below `not`, where unknown is not as good as false. */
  readonly negated: boolean;
}

/** The condition that an entry of a filter of scalars puts on an expression. */
export function planOperator(
  { budget, negated }: OperatorPlace,
  expression: Expression,
  field: GraphQLInputField,
  input: Input,
): Condition {
  const origin = inputFieldOrigin(field);
  invariant(origin.kind === 'operator', 'filters of scalars hold operators');
  const { operator } = origin;
  const state = input.state();
  if (operator === 'is') return { kind: 'null_test', expression, negated: planNullTest(input, nameOf(expression)) };
  if (state === 'value') assertLength(expression, operator, input);
  const slot = isListType(getNullableType(input.type)) ? input.listSlot() : input.slot();
  if (operator === 'regex' || operator === 'iregex')
    budget.patterns.push({ slot, language: 'regex', place: input.place() });
  if (operator !== 'matches') return { kind: 'compare', expression, operator, slot };
  if (state !== 'value') return { kind: 'compare', expression, operator: 'findsPath', slot };
  budget.patterns.push({ slot, language: 'jsonpath', place: input.place() });
  const item: Condition = { kind: 'compare', expression, operator: planMatch(input), slot };
  // Unknown where the path does not fit the value, which is no match.
  return negated ? { kind: 'known', item, of: expression } : item;
}

function planMatch(input: Input): 'findsPath' | 'meetsPath' {
  const kind = input.ask({ kind: 'json_path' }) as JsonPathKind;
  if (kind === 'path') return 'findsPath';
  if (kind === 'predicate') return 'meetsPath';
  throw refuseInput(refusedPaths[kind], input);
}

const refusedPaths = {
  variable: 'A JSON path has no variables here. Write the values into the path.',
  repeated: 'A JSON path has "**" at most once.',
} as const;

/** Whether `is` asks for values. @param name What it is asked of. */
export function planNullTest(input: Input, name: string): boolean {
  if (input.state() !== 'value') throw new PublicError('BAD_USER_INPUT', `"is" on "${name}" must be NULL or NOT_NULL.`);
  return input.choice() === 'NOT_NULL';
}

function nameOf(expression: Expression): string {
  if (expression.kind === 'json_part') return nameOf(expression.of);
  if (expression.kind === 'computed') return expression.call.routine.fieldName;
  return expression.kind === 'count' ? 'count' : (expression.column.fieldName ?? expression.column.name);
}

const patternOperators: readonly FilterOperator[] = ['like', 'ilike', 'regex', 'iregex', 'startsWith'];

function assertLength(expression: Expression, operator: FilterOperator, input: Input): void {
  if (patternOperators.includes(operator)) return;
  if (expression.kind === 'column') assertFits(expression.column, input);
  if (expression.kind === 'computed') assertFits(expression.type, input);
}

/** Refuses strings over the declared length of a type. */
export function assertFits({ cast }: Pick<Column, 'cast'>, input: Input): void {
  const { maxLength } = cast;
  if (maxLength !== null && !input.fits(maxLength)) throw refuseLength(maxLength, input.place());
}

/** The refusal of a string that is too long; clients match on the message, so the place stands beside it. */
export function refuseLength(maxLength: number, place: string): PublicError {
  const message = `Invalid input for String type. Maximum character length ${maxLength}`;
  return new PublicError('BAD_USER_INPUT', message, { extensions: { input: place } });
}

/** The conditions that there are, as one; null without any. */
export function combine(kind: 'and' | 'or', conditions: readonly (Condition | null)[]): Condition | null {
  const items = conditions.filter((condition) => condition !== null);
  if (items.length === 0) return null;
  return items.length === 1 ? items[0]! : { kind, items };
}
