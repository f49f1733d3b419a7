/**
 * The order-by input of a table: one direction per orderable column (graphql.md 1.5, 6.1).
 */
import { GraphQLInputObjectType } from 'graphql';
import { orderByName } from '../../model/inflect.ts';
import type { Column, Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { withOrigin } from '../origin.ts';
import { StringEnumType } from './string-enum-type.ts';

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
    name: orderByName(table.baseName),
    fields: () =>
      fieldMap(
        table.columns
          .filter(takesPart)
          .map((column) => [
            column.fieldName,
            { type: orderByDirectionType, extensions: withOrigin({ kind: 'column', column }) },
          ]),
      ),
    extensions: withOrigin({ kind: 'table', table, namespace: table.namespace }),
  });
}

function takesPart(column: Column): column is Column & { readonly fieldName: string } {
  return column.orderable && column.fieldName !== null;
}
