/**
 * Plans one operator of a filter with its operand.
 *
 * Refuses operands that are too long, patterns that the collation does not allow, and `is: null`.
 */
import { type GraphQLInputField, getNullableType, isListType } from 'graphql';
import { badInput, type PublicError } from '../../../shared/errors.ts';
import { invariant } from '../../../shared/invariant.ts';
import type { Column, SqlType } from '../../model/model.ts';
import { type FilterOperator, operatorRow } from '../../schema/operators.ts';
import { inputFieldOrigin } from '../../schema/origin.ts';
import { type Input, refuseInput } from '../input/input.ts';
import type { JsonPathKind } from '../input/json-path.ts';
import type { PlanBudget } from '../input/plan-budget.ts';
import type { Slot } from '../input/slot.ts';
import type { Condition, Expression } from './plan.ts';

/** What an operator stands in. */
export interface OperatorContext {
  readonly budget: PlanBudget;
  /** Inside `not`, where unknown differs from false. */
  readonly negated: boolean;
}

/** The condition of an entry in a filter of scalars. */
export function planOperator(
  { budget, negated }: OperatorContext,
  expression: Expression,
  field: GraphQLInputField,
  input: Input,
): Condition {
  const origin = inputFieldOrigin(field);
  invariant(origin.kind === 'operator', 'filters of scalars hold operators');
  const { operator } = origin;
  const state = input.state();
  if (operator === 'is') return { kind: 'null_test', expression, negated: planNullTest(input, nameOf(expression)) };
  if (lacking(expression) === 'equality') throw refuseInput(noEquality(nameOf(expression)), input);
  if (state === 'value') assertOperand(expression, operator, input);
  const isList = isListType(getNullableType(input.type));
  const slot: Slot = state !== 'value' ? { kind: 'constant', value: null } : isList ? input.listSlot() : input.slot();
  if (state !== 'value') return { kind: 'compare', expression, operator, slot };
  const { work, language } = operatorRow(operator);
  if (work !== null) budget.operands.push({ slot, by: work === 'list' && !isList ? 'json' : work });
  if (language !== null) budget.patterns.push({ slot, language, place: input.place() });
  if (operator !== 'matches') return { kind: 'compare', expression, operator, slot };
  const item: Condition = { kind: 'compare', expression, operator, slot, isPredicate: isPredicate(input) };
  // Unknown if the path does not fit the value, which counts as no match.
  return negated ? { kind: 'known', item, of: expression } : item;
}

function lacking(expression: Expression): SqlType['lacks'] {
  return expression.kind === 'column' ? expression.column.cast.lacks : null;
}

function noEquality(name: string): string {
  return `"${name}" has a type whose values PostgreSQL cannot compare. Use "is", or leave the filter out.`;
}

/** Whether a JSON path is a predicate. */
function isPredicate(input: Input): boolean {
  const kind = input.ask({ kind: 'json_path' }) as JsonPathKind;
  if (kind !== 'path' && kind !== 'predicate') throw refuseInput(refusedPaths[kind], input);
  return kind === 'predicate';
}

const refusedPaths = {
  variable: 'A JSON path has no variables here. Write the values into the path.',
  repeated: 'A JSON path has "**" at most once.',
} as const;

/** Whether `is` requires a value. @param name Name of its operand. */
export function planNullTest(input: Input, name: string): boolean {
  if (input.state() !== 'value') throw badInput(`"is" on "${name}" must be NULL or NOT_NULL.`);
  return input.choice() === 'NOT_NULL';
}

function nameOf(expression: Expression): string {
  if (expression.kind === 'json_part' || expression.kind === 'element') return nameOf(expression.of);
  if (expression.kind === 'computed') return expression.call.routine.fieldName;
  return expression.kind === 'count' ? 'count' : (expression.column.fieldName ?? expression.column.name);
}

function assertOperand(expression: Expression, operator: FilterOperator, input: Input): void {
  if (operatorRow(operator).isPattern) assertMatchable(expression, operator, input);
  else if (expression.kind === 'column') assertFits(expression.column, input);
  else if (expression.kind === 'computed' || expression.kind === 'element') assertFits(expression.type, input);
}

/** Refuses patterns that PostgreSQL does not compare under the column's collation. */
function assertMatchable(expression: Expression, operator: FilterOperator, input: Input): void {
  const of = expression.kind === 'element' ? expression.of : expression;
  const collation = 'column' in of ? of.column.nondeterministicCollation : null;
  if (collation === null || (operator === 'like' && collation.allowsLike)) return;
  const others = collation.allowsLike ? '"eq", "in" or "like"' : '"eq" or "in"';
  const reason = 'its collation takes different texts for equal, and PostgreSQL looks for no such patterns in it';
  throw refuseInput(`"${operator}" cannot be used on "${nameOf(expression)}": ${reason}. Use ${others}.`, input);
}

/** Refuses strings over a type's declared length. */
function assertFits({ cast }: Pick<Column, 'cast'>, input: Input): void {
  const { maxLength } = cast;
  if (maxLength !== null && !input.fits(maxLength)) throw refuseLength(maxLength, input.place());
}

/** The new value of a column. */
export function planValue(column: Column, input: Input): Slot {
  if (input.state() === 'value') assertFits(column, input);
  return column.type?.kind === 'list' ? input.listSlot() : input.slot();
}

/** The error for a too long string; clients match the message, so the place is separate. */
export function refuseLength(maxLength: number, place: string): PublicError {
  const message = `Invalid input for String type. Maximum character length ${maxLength}`;
  return badInput(message, { extensions: { input: place } });
}

/** Combines the present conditions; null for none. */
export function combine(kind: 'and' | 'or', conditions: readonly (Condition | null)[]): Condition | null {
  const items = conditions.filter((condition) => condition !== null);
  if (items.length === 0) return null;
  return items.length === 1 ? items[0]! : { kind, items };
}
