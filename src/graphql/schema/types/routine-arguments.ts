/** The arguments of functions, as field arguments or input fields (docs/functions.md). */
import { type GraphQLArgumentConfig, GraphQLNonNull, parseConstValue } from 'graphql';
import type { Routine, RoutineArgument } from '../../model/model.ts';
import { typed } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { argumentType } from './composite-inputs.ts';

/** The arguments or input fields; null if a type is not in this schema. PostgreSQL applies their defaults. */
export function routineArguments(
  context: SchemaContext,
  routine: Routine,
): Readonly<Record<string, GraphQLArgumentConfig>> | null {
  const made = routine.arguments.map((argument) => [argument.fieldName, routineArgument(context, argument)] as const);
  return made.every((each): each is [string, GraphQLArgumentConfig] => each[1] !== null)
    ? Object.fromEntries(made)
    : null;
}

function routineArgument(context: SchemaContext, argument: RoutineArgument): GraphQLArgumentConfig | null {
  const type = argumentType(context, argument.type);
  if (type === null) return null;
  const shown = context.displayDefaults ? argument.displayDefault : null;
  return {
    ...typed(argument.required ? new GraphQLNonNull(type) : type, { kind: 'routine_argument', argument }),
    ...(shown !== null && { default: { literal: parseConstValue(shown) } }),
  };
}
