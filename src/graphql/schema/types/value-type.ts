/** The GraphQL type of a PostgreSQL value, nullable, for input and output alike. */
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  GraphQLList,
  type GraphQLScalarType,
  isEnumType,
} from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import { enumFilterName, enumListFilterName } from '../../model/inflect.ts';
import type { ValueType } from '../../model/model.ts';
import type { SchemaContext } from '../schema-context.ts';
import { hasNamedValues } from './enum-types.ts';
import { listFilterName, listFilterTypes, scalarFilterName } from './operator-filters.ts';
import { scalarTypes } from './scalars.ts';

type LeafType = GraphQLScalarType | GraphQLEnumType;

/** The type of a value or list of values; null if its enum is not in this schema. */
export function valueType(context: SchemaContext, type: ValueType): LeafType | GraphQLList<LeafType> | null {
  if (type.kind !== 'list') return leafType(context, type);
  const element = leafType(context, type.element);
  return element && new GraphQLList(element);
}

/** The filter input for values of this type of objects of a namespace; null if it is not in this schema. */
export function filterOf(context: SchemaContext, namespace: string, type: ValueType): GraphQLInputObjectType | null {
  const { types } = context;
  if (type.kind === 'scalar') return types.input(scalarFilterName(type.scalar));
  if (type.kind === 'enum') {
    const enumType = namedEnum(context, type.enum);
    return types.input(enumType === null ? scalarFilterName('Opaque') : enumFilterName(enumType.graphqlName));
  }
  const { element } = type;
  if (element.kind === 'enum') return enumListFilter(context, element.enum);
  // Where a namespace lacks the extension, lists have the filter without elements, under the same name.
  if (!context.hasReads(namespace)) return listFilterTypes.get(element.scalar) ?? null;
  return types.input(listFilterName(element.scalar));
}

function enumListFilter(context: SchemaContext, oid: string): GraphQLInputObjectType | null {
  const enumType = namedEnum(context, oid);
  // Otherwise, the name may belong to another type.
  return enumType?.hasListFilter ? context.types.input(enumListFilterName(enumType.graphqlName)) : null;
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
