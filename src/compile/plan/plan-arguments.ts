/**
 * Plans the arguments of a routine call, of a field or in an input (docs/functions.md).
 *
 * Refuses null for an argument without a default.
 */
import type { Routine } from '../../model/model.ts';
import { type ArgumentOrigin, type InputFieldOrigin, inputFieldOrigin } from '../../schema/origin.ts';
import type { Input } from '../input/input.ts';
import { type PlanBudget, spend } from '../input/plan-budget.ts';
import type { CallPlan } from './plan.ts';

/** The given arguments. An absent one is left out of the call, so that PostgreSQL applies its default. */
export function planArguments(
  inputs: readonly { readonly origin: ArgumentOrigin | InputFieldOrigin; readonly input: Input }[],
): CallPlan['arguments'] {
  return inputs.flatMap(({ origin, input }) => {
    if (origin.kind !== 'routine_argument' || input.state() === 'absent') return [];
    const { argument } = origin;
    return [{ argument, slot: argument.type.kind === 'list' ? input.listSlot() : input.slot() }];
  });
}

/** A call for each of many rows. @param given The input with its arguments, null for none. */
export function planRowCall(budget: PlanBudget, routine: Routine, given: Input | null): CallPlan {
  const fields = given?.fields() ?? [];
  spend(budget, 'functions');
  spend(budget, 'inputs', fields.length);
  return {
    routine,
    arguments: planArguments(fields.map(({ field, input }) => ({ origin: inputFieldOrigin(field), input }))),
  };
}
