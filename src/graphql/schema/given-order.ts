/** Input types whose members count in the order in which a client gives them; those of others in the order of the type. */
import type { GraphQLInputObjectType } from 'graphql';

const key = Symbol('pgreflect.given-order');

/** The `extensions` of such a type. */
export const givenOrder: Readonly<Record<symbol, unknown>> = { [key]: true };

/** Whether the type is such. */
export function hasGivenOrder({ extensions }: GraphQLInputObjectType): boolean {
  return (extensions as Readonly<Record<symbol, unknown>>)[key] === true;
}
