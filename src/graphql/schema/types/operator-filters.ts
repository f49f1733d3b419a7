/**
 * The filter inputs over single columns: one per scalar, per list of a scalar and per enum (docs/filters.md).
 *
 * Those of scalars and lists are in every schema, used or not, and independent of the database, so they are shared. Only
 * lists whose elements are filtered (extension `reads`) are made for a schema.
 */
import {
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLNullableInputType,
} from 'graphql';
import { enumFilterName, enumListFilterName } from '../../model/inflect.ts';
import { type FilterKind, type ScalarName, scalarNames, scalarRow } from '../../model/scalars.ts';
import { operatorRow, operatorsOf } from '../operators.ts';
import { typed } from '../origin.ts';
import { StringEnumType } from './enum-types.ts';
import { scalarTypes } from './scalars.ts';

/** The operand of `is`: `NULL` and `NOT_NULL`, coerced to their names. */
export const filterIsType = new StringEnumType({ name: 'FilterIs', values: { NULL: {}, NOT_NULL: {} } });

/** Name of the filter input of a scalar. */
export function scalarFilterName(scalar: ScalarName): string {
  return `${scalar}Filter`;
}

/** Name of the filter input of a list of a scalar. */
export function listFilterName(scalar: ScalarName): string {
  return `${scalar}ListFilter`;
}

/** The filter inputs of all scalars. */
export const scalarFilterTypes: readonly GraphQLInputObjectType[] = scalarNames.flatMap((scalar) => {
  const { filter } = scalarRow(scalar);
  return filter === null ? [] : operatorFilter(scalarFilterName(scalar), filter, scalarTypes[scalar]);
});

/** The filter inputs of lists of scalars, as in pg_graphql, by the scalar. */
export const listFilterTypes: ReadonlyMap<ScalarName, GraphQLInputObjectType> = new Map(
  scalarNames
    .filter((scalar) => scalarRow(scalar).inLists)
    .map((scalar) => [scalar, operatorFilter(listFilterName(scalar), 'list', scalarTypes[scalar])]),
);

/** The same with filters of their elements. @param ofElement The filter of the scalar, in this schema. */
export function buildListFilterType(scalar: ScalarName, ofElement: () => GraphQLInputObjectType) {
  return operatorFilter(listFilterName(scalar), 'list', scalarTypes[scalar], ofElement);
}

/** The filter input of an enum. */
export function buildEnumFilterType(type: StringEnumType): GraphQLInputObjectType {
  return operatorFilter(enumFilterName(type.name), 'membership', type);
}

/** The filter input of lists of an enum. @param ofElement That of the enum, in this schema. */
export function buildEnumListFilterType(type: StringEnumType, ofElement: () => GraphQLInputObjectType) {
  return operatorFilter(enumListFilterName(type.name), 'list', type, ofElement);
}

/**
 * @param type The filter's values, or the items of its lists.
 * @param ofElement The filter of its elements; absent: they have none.
 */
function operatorFilter(
  name: string,
  kind: FilterKind,
  type: GraphQLNullableInputType,
  ofElement?: () => GraphQLInputObjectType,
): GraphQLInputObjectType {
  const values = kind === 'list' ? listOf(type) : type;
  const fields = () => ({
    ...operatorFields(kind, values, listOf(type)),
    ...(ofElement && elementFields(ofElement())),
  });
  return new GraphQLInputObjectType({ name, fields });
}

function elementFields(filter: GraphQLInputObjectType): GraphQLInputFieldConfigMap {
  return {
    anyElement: typed(filter, { kind: 'any_element' }),
    everyElement: typed(filter, { kind: 'every_element' }),
  };
}

/** The fields of a filter. @param many What `in` takes. */
export function operatorFields(
  kind: FilterKind,
  one: GraphQLNullableInputType,
  many: GraphQLNullableInputType,
): GraphQLInputFieldConfigMap {
  const operands: Readonly<Record<ReturnType<typeof operatorRow>['operand'], GraphQLNullableInputType>> = {
    value: one,
    values: many,
    text: scalarTypes.String,
    texts: listOf(scalarTypes.String),
    presence: filterIsType,
  };
  const entries = operatorsOf(kind).map((operator) => {
    return [operator, typed(operands[operatorRow(operator).operand], { kind: 'operator', operator })] as const;
  });
  return Object.fromEntries(entries);
}

function listOf(type: GraphQLNullableInputType): GraphQLNullableInputType {
  return new GraphQLList(new GraphQLNonNull(type));
}
