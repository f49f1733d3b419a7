/**
 * What the builders of types need to know of the schema they are building.
 */
import type { Model } from '../model/model.ts';
import type { TypeRegistry } from './type-registry.ts';

/** Which schema of a model is wanted. */
export interface SchemaOptions {
  /** Show the defaults of function arguments. Only where nothing is coerced: PostgreSQL applies them (11.4). */
  readonly displayDefaults: boolean;
  /** Whether what belongs to this namespace is part of the schema (13.3). */
  isVisible(namespace: string): boolean;
}

/** One schema in the making. */
export interface SchemaContext extends SchemaOptions {
  readonly model: Model;
  readonly types: TypeRegistry;
}
