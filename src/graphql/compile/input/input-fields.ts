/**
 * The fields of an input type by name, prepared once: reading an object costs what was given, not what its type has. A
 * table that many others refer to has a filter with hundreds of fields.
 */
import { type GraphQLInputField, type GraphQLInputObjectType, isRequiredInputField } from 'graphql';
import { hasGivenOrder } from '../../schema/given-order.ts';

/** A field with its place in the type. */
export interface PlacedField {
  readonly field: GraphQLInputField;
  readonly index: number;
}

interface InputFields {
  readonly byName: ReadonlyMap<string, PlacedField>;
  /** Fields that say something even where they are not given: required ones and those with a default. */
  readonly always: readonly PlacedField[];
}

const prepared = new WeakMap<GraphQLInputObjectType, InputFields>();

/** The cached fields of a type. */
export function inputFieldsOf(type: GraphQLInputObjectType): InputFields {
  const known = prepared.get(type);
  if (known !== undefined) return known;
  const fields = Object.values(type.getFields()).map((field, index) => ({ field, index }));
  const made = {
    byName: new Map(fields.map((placed) => [placed.field.name, placed])),
    always: fields.filter(({ field }) => hasDefault(field) || isRequiredInputField(field)),
  };
  prepared.set(type, made);
  return made;
}

/** Whether an absent field gets a value. */
export function hasDefault({ default: made, defaultValue }: GraphQLInputField): boolean {
  return made !== undefined || defaultValue !== undefined;
}

/** Given fields in the order in which they count: of their type, or as they are given. */
export function inOrder<T extends { readonly index: number }>(type: GraphQLInputObjectType, fields: T[]): readonly T[] {
  return fields.length < 2 || hasGivenOrder(type) ? fields : fields.sort((left, right) => left.index - right.index);
}
