/**
 * Plans the changes of an update: `set` and the operators (docs/mutations.md), one for each column.
 *
 * Refuses an update without a change of the row or of related ones, a column with two, and operands that never fit.
 */
import { badInput, type PublicError } from '../../../../shared/errors.ts';
import { invariant } from '../../../../shared/invariant.ts';
import {
  fitsOperator,
  operatorForm,
  type UpdateOperator,
  updateOperators,
} from '../../../model/extensions/update-operators.ts';
import type { Column } from '../../../model/model.ts';
import { inputFieldOrigin } from '../../../schema/origin.ts';
import { type Input, refuseInput } from '../../input/input.ts';
import type { PlanBudget } from '../../input/plan-budget.ts';
import type { Slot } from '../../input/slot.ts';
import { planValue } from '../plan-operator.ts';
import type { Assignment } from './assignment.ts';

/** The inputs of an update's changes; an operator without one is absent. */
type ChangeInputs = ReadonlyMap<(typeof changes)[number], Input>;

const changes = ['set', ...updateOperators] as const;

/** Whether an argument or entry of this kind changes columns. */
export function isChange(kind: string): kind is (typeof changes)[number] {
  return (changes as readonly string[]).includes(kind);
}

/** How changes are given. */
export interface ChangeContext {
  /** Whether related rows may be among them. */
  readonly withRelated: boolean;
  /** What holds them, where pg_graphql has no such place. */
  readonly holder: Input | null;
}

/** The changes, in the order of the inputs. */
export function planAssignments(inputs: ChangeInputs, { withRelated, holder }: ChangeContext): readonly Assignment[] {
  const changed = new Map<Column, Assignment['operator']>();
  let changesRelated = false;
  const assignments = changes.flatMap((operator): readonly Assignment[] => {
    const given = inputs.get(operator);
    if (given === undefined || given.state() !== 'value') return [];
    return given.fields().flatMap(({ field, input }) => {
      const origin = inputFieldOrigin(field);
      if (origin.kind === 'nested') {
        const isGiven = input.state() === 'value';
        if (isGiven && operator !== 'set')
          throw refuseInput(`"${operator}" takes columns. "${field.name}" is none.`, input);
        changesRelated ||= isGiven;
        if (withRelated || !isGiven) return [];
        throw refuseInput('A list of updates writes no related rows. Update the row in a field of its own.', input);
      }
      invariant(origin.kind === 'column', 'the changes of an update hold columns');
      const { column } = origin;
      // Nothing to add or remove.
      if (operator !== 'set' && input.state() !== 'value') return [];
      // The operators share the type of `set`.
      if (operator !== 'set' && !fitsOperator(column, operator)) throw refuseOperator(column, operator, input);
      const other = changed.get(column);
      if (other !== undefined) {
        const message = `"${field.name}" is changed by "${other}" and by "${operator}". Change a column in one way.`;
        throw refuseInput(message, input);
      }
      changed.set(column, operator);
      return [
        {
          column,
          operator,
          slot: operator === 'set' ? planValue(column, input) : planOperand(column, operator, input),
        },
      ];
    });
  });
  if (assignments.length === 0 && !changesRelated) {
    const message = 'At least one mapping must be provided to set argument';
    throw holder === null ? badInput(message) : refuseInput(message, holder);
  }
  return assignments;
}

/** Counts what is removed from JSON: each key is compared with all there are. */
export function addRemoved(budget: PlanBudget, assignments: readonly Assignment[]): void {
  for (const { column, operator, slot } of assignments) {
    if (operator === 'remove' && operatorForm(column.type!, operator) === 'json')
      budget.operands.push({ slot, by: 'list' });
  }
}

function refuseOperator({ fieldName, readable }: Column, operator: UpdateOperator, input: Input): PublicError {
  const reason = readable ? 'its type has none' : 'the role may not read it';
  return refuseInput(`"${fieldName}" has no "${operator}": ${reason}.`, input);
}

function planOperand(column: Column, operator: UpdateOperator, input: Input): Slot {
  const form = operatorForm(column.type!, operator);
  if (form !== 'json') return planValue(column, input);
  if (operator === 'remove') return input.listSlot();
  if (input.ask({ kind: 'json_kind' }) === 'nested') return input.slot();
  throw refuseInput('"append" takes a JSON object to merge, or a JSON array to add.', input);
}
