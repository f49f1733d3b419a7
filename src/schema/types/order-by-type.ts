/**
 * The order-by input of a table: one direction per orderable column.
 */
import { GraphQLInputObjectType } from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Column, Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { typed } from '../origin.ts';
import { StringEnumType } from './enum-types.ts';

/** The four directions, coerced to their names. */
export const orderByDirectionType = new StringEnumType({
  name: 'OrderByDirection',
  values: { AscNullsFirst: {}, AscNullsLast: {}, DescNullsFirst: {}, DescNullsLast: {} },
});

/** Whether the table can be ordered at all. An input without fields is not a valid type, so then there is none. */
export function isOrderable(table: Table): boolean {
  return table.columns.some(takesPart);
}

/** *B*`OrderBy`. */
export function buildOrderByType(table: Table): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: tableTypeNames(table.baseName).orderBy,
    fields: () =>
      fieldMap(
        table.columns
          .filter(takesPart)
          .map((column) => [column.fieldName, typed(orderByDirectionType, { kind: 'column', column })]),
      ),
  });
}

function takesPart(column: Column): column is Column & { readonly fieldName: string } {
  return column.orderable && column.fieldName !== null;
}
