/**
 * Plans the arguments of a call of a routine, whether they are those of a field or stand in an input (docs/functions.md).
 *
 * Refuses null for an argument without a default.
 */
import type { ArgumentOrigin, InputFieldOrigin } from '../../schema/origin.ts';
import type { Input } from '../input/input.ts';
import type { CallPlan } from './plan.ts';

/** The arguments that are given. One that is not is left out of the call, so that PostgreSQL applies its own default. */
export function planArguments(
  inputs: readonly { readonly origin: ArgumentOrigin | InputFieldOrigin; readonly input: Input }[],
): CallPlan['arguments'] {
  return inputs.flatMap(({ origin, input }) => {
    if (origin.kind !== 'routine_argument' || input.state() === 'absent') return [];
    const { argument } = origin;
    return [{ argument, slot: argument.type.kind === 'list' ? input.listSlot() : input.slot() }];
  });
}
