/**
 * The schema that operations are validated and planned against.
 */
import type { GraphQLSchema } from 'graphql';
import type { Model } from '../model/model.ts';
import { assembleSchema } from './assemble-schema.ts';

/**
 * The whole GraphQL API of a model. Every field, argument, input field and type of a table or enum carries its origin.
 *
 * Types are made when first named, so the cost is that of the operations, not of the tables. Defaults of function
 * arguments are not part of it: PostgreSQL applies them where the argument is left out (graphql.md 11.4).
 */
export function buildSchema(model: Model): GraphQLSchema {
  return assembleSchema(model, { displayDefaults: false, isVisible: () => true });
}
