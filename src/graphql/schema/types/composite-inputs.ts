/** The inputs of composite types and of the rows of tables, for arguments of functions (docs/functions.md). */
import { GraphQLInputObjectType, GraphQLList, type GraphQLNullableInputType } from 'graphql';
import type { ArgumentType, CompositeType } from '../../model/model.ts';
import { typed } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { valueType } from './value-type.ts';

/** Registers the inputs. Types come after those of their attributes. */
export function defineCompositeInputs(context: SchemaContext): void {
  for (const type of context.model.composites.values()) {
    if (!context.isVisible(type.namespace)) continue;
    if (Object.keys(attributeFields(context, type)).length === 0) continue;
    const name = type.inputName;
    context.types.define(
      name,
      () => new GraphQLInputObjectType({ name, fields: () => attributeFields(context, type) }),
    );
  }
}

function attributeFields(context: SchemaContext, composite: CompositeType) {
  return Object.fromEntries(
    composite.attributes.flatMap(({ fieldName, type }) => {
      const field = fieldName === null || type === null ? null : argumentType(context, type);
      return field === null ? [] : [[fieldName!, typed(field, { kind: 'attribute', composite })]];
    }),
  );
}

/** The nullable type of an argument or attribute; null if this schema does not show it. */
export function argumentType(context: SchemaContext, type: ArgumentType): GraphQLNullableInputType | null {
  if (type.kind !== 'composite') return valueType(context, type);
  const composite = context.model.composites.get(type.composite);
  const input = composite === undefined ? null : context.types.input(composite.inputName);
  return input !== null && type.isList ? new GraphQLList(input) : input;
}
