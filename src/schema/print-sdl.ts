/**
 * A role's whole schema as text, for code generators.
 */
import { printSchema } from 'graphql';
import type { Model } from '../model/model.ts';
import { assembleSchema } from './assemble-schema.ts';

/**
 * SDL of everything the role can use, whether introspection is on or off, types in order of their names.
 *
 * It holds nothing of graphql 17 alone, so tools built on graphql 16 read it as well.
 */
export function printRoleSchema(model: Model): string {
  return `${printSchema(assembleSchema(model, { displayDefaults: true, isVisible: () => true }))}\n`;
}
