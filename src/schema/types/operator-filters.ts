/**
 * The filter inputs over single columns: one per scalar, per list of a scalar and per enum (docs/filters.md).
 *
 * Those of scalars and lists are in every schema, used or not, and independent of the database, so they are shared.
 */
import { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, type GraphQLNullableInputType } from 'graphql';
import { filterableElements } from '../../model/codecs.ts';
import { enumFilterName } from '../../model/inflect.ts';
import type { ScalarName } from '../../model/model.ts';
import { type FilterOperator, typed } from '../origin.ts';
import { StringEnumType } from './enum-types.ts';
import { scalarTypes } from './scalars.ts';

const equality = ['eq', 'is'] as const;
const membership = ['eq', 'in', 'is', 'neq'] as const;
const comparison = ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq'] as const;

const scalarOperators: Readonly<Partial<Record<ScalarName, readonly FilterOperator[]>>> = {
  ID: ['eq'],
  Boolean: equality,
  Opaque: equality,
  UUID: membership,
  Int: comparison,
  Float: comparison,
  BigInt: comparison,
  BigFloat: comparison,
  Date: comparison,
  Time: comparison,
  Datetime: comparison,
  String: [...comparison, 'ilike', 'iregex', 'like', 'regex', 'startsWith'],
};

const listOperators: readonly FilterOperator[] = ['containedBy', 'contains', 'eq', 'is', 'overlaps'];

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

/** The filter inputs of all scalars and lists. */
export const operatorFilterTypes: readonly GraphQLInputObjectType[] = [
  ...Object.entries(scalarOperators).map(([scalar, operators]) =>
    operatorFilter(scalarFilterName(scalar as ScalarName), scalarTypes[scalar as ScalarName], operators),
  ),
  ...[...filterableElements].map((scalar) =>
    operatorFilter(listFilterName(scalar), scalarTypes[scalar], listOperators),
  ),
];

/** The filter input of an enum. */
export function buildEnumFilterType(type: StringEnumType): GraphQLInputObjectType {
  return operatorFilter(enumFilterName(type.name), type, membership);
}

function operatorFilter(
  name: string,
  type: GraphQLNullableInputType,
  operators: readonly FilterOperator[],
): GraphQLInputObjectType {
  const list = new GraphQLList(new GraphQLNonNull(type));
  const takesList = (operator: FilterOperator) => operator === 'in' || operators === listOperators;
  return new GraphQLInputObjectType({
    name,
    fields: () =>
      Object.fromEntries(
        [...operators].sort().map((operator) => {
          const operand = operator === 'is' ? filterIsType : takesList(operator) ? list : type;
          return [operator, typed(operand, { kind: 'operator', operator })];
        }),
      ),
  });
}
