/** The GraphQL type of a PostgreSQL value, nullable, for input and output alike. */
import { type GraphQLEnumType, GraphQLList, type GraphQLScalarType, isEnumType } from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import { enumFilterName } from '../../model/inflect.ts';
import type { ValueType } from '../../model/model.ts';
import type { SchemaContext } from '../schema-context.ts';
import { hasNamedValues } from './enum-types.ts';
import { listFilterName, scalarFilterName } from './operator-filters.ts';
import { scalarTypes } from './scalars.ts';

type LeafType = GraphQLScalarType | GraphQLEnumType;

/** The type of a value or list of values; null if its enum is not in this schema. */
export function valueType(context: SchemaContext, type: ValueType): LeafType | GraphQLList<LeafType> | null {
  if (type.kind !== 'list') return leafType(context, type);
  const element = leafType(context, type.element);
  return element && new GraphQLList(element);
}

/** Name of the filter input for columns of this type. */
export function filterNameOf(context: SchemaContext, type: ValueType): string {
  if (type.kind === 'scalar') return scalarFilterName(type.scalar);
  if (type.kind === 'enum') {
    const enumType = namedEnum(context, type.enum);
    return enumType === null ? scalarFilterName('Opaque') : enumFilterName(enumType.graphqlName);
  }
  invariant(type.element.kind === 'scalar', 'only lists of scalars have filters');
  return listFilterName(type.element.scalar);
}

function leafType(context: SchemaContext, type: Exclude<ValueType, { kind: 'list' }>): LeafType | null {
  if (type.kind === 'scalar') return scalarTypes[type.scalar];
  const enumType = namedEnum(context, type.enum);
  if (enumType === null) return scalarTypes.Opaque;
  const found = context.types.find(enumType.graphqlName);
  invariant(found === undefined || isEnumType(found), `${enumType.graphqlName} is an enum type`);
  return found ?? null;
}

/** The enum with an oid, null if GraphQL can spell none of its values, which are then opaque. */
function namedEnum({ model }: SchemaContext, oid: string) {
  const enumType = model.enums.get(oid);
  invariant(enumType !== undefined, `enum ${oid} is part of the model`);
  return hasNamedValues(enumType) ? enumType : null;
}
