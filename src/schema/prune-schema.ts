/**
 * The schema that `__schema` and `__type` describe: what lies in namespaces that opted in (graphql.md 13).
 */
import type { Model } from '../model/model.ts';
import { assembleSchema } from './assemble-schema.ts';
import type { LazySchema } from './lazy-schema.ts';

/** Who decides about introspection: the comment directives of the namespaces, or the operator for all of them. */
export type IntrospectionPolicy = 'directive' | 'always' | 'never';

/**
 * The part of the API that may be described; null when that is nothing, so that introspection is off.
 *
 * It is closed: no field, argument, input field or possible type refers to a type that is not listed. It carries the
 * defaults of function arguments for display, so nothing may be executed against it but introspection.
 */
export function buildIntrospectionSchema(model: Model, policy: IntrospectionPolicy = 'directive'): LazySchema | null {
  if (policy === 'never') return null;
  const shown = new Set(model.namespaces.filter((namespace) => namespace.introspection).map(({ name }) => name));
  if (policy === 'directive' && shown.size === 0) return null;
  return assembleSchema(model, {
    displayDefaults: true,
    isVisible: (namespace) => policy === 'always' || shown.has(namespace),
  });
}
