/**
 * The arguments of functions, as field arguments or input fields (docs/functions.md).
 */
import { type GraphQLArgumentConfig, GraphQLNonNull, parseConstValue } from 'graphql';
import type { RoutineArgument } from '../../model/model.ts';
import { invariant } from '../../shared/invariant.ts';
import { typed } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { valueType } from './value-type.ts';

/** The argument or input field. Its default is only for display: PostgreSQL applies it. */
export function routineArgument(context: SchemaContext, argument: RoutineArgument): GraphQLArgumentConfig {
  const type = valueType(context, argument.type);
  invariant(type !== null, `argument ${argument.name} is of a scalar type`);
  const shown = context.displayDefaults ? argument.displayDefault : null;
  return {
    ...typed(argument.required ? new GraphQLNonNull(type) : type, { kind: 'routine_argument', argument }),
    ...(shown !== null && { default: { literal: parseConstValue(shown) } }),
  };
}
