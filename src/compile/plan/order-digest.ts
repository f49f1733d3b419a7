/**
 * The end of cursors for orders with arguments. With other arguments, other rows follow a cursor, so it is refused like
 * one of another order.
 */
import type { Slot } from '../input/slot.ts';
import type { OrderExpression, OrderTerm } from './plan.ts';

/** A digest of the arguments of all terms; null if they have none. */
export function orderDigest(order: readonly OrderTerm[]): Slot | null {
  const of = order.flatMap(({ expression }) => argumentsOf(expression));
  return of.length === 0 ? null : { kind: 'digest', of };
}

function argumentsOf(expression: OrderExpression): readonly (string | Slot)[] {
  switch (expression.kind) {
    case 'related':
      return argumentsOf(expression.expression);
    case 'rank': {
      const { by, slot, config } = expression.search;
      return [
        by,
        slot,
        ...(config === null ? ['default'] : ['config', config]),
        expression.normalization,
        String(expression.coverDensity),
      ];
    }
    case 'computed': {
      const { routine, arguments: given } = expression.call;
      if (routine.arguments.length === 0) return [];
      const values = given.flatMap(({ argument, slot }) => [argument.fieldName, slot]);
      return [routine.namespace, routine.name, String(given.length), ...values];
    }
    default:
      return [];
  }
}
