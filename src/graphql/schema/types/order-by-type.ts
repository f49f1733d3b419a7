/** The inputs that order rows: by columns, related rows, and functions of a row (docs/pagination.md). */
import { type GraphQLInputFieldConfig, GraphQLInputObjectType } from 'graphql';
import { isOrderable } from '../../model/extensions/added-entries.ts';
import { rankEntries } from '../../model/extensions/ranks.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { givenOrder } from '../given-order.ts';
import { typed } from '../origin.ts';
import { addedInput, type SchemaContext, sharedInput } from '../schema-context.ts';
import { takingFunctions } from './aggregate-types.ts';
import { functionOrders } from './function-inputs.ts';
import { hasGroups } from './group-types.ts';
import { orderByDirectionType } from './order-by-direction.ts';

type NamedInputField = readonly [string, GraphQLInputFieldConfig | null];

/**
 * Registers *B*`OrderBy` if the table can be ordered, and *B*`AggregateOrderBy` if its groups can, or other rows by its
 * rows. What is ordered by aggregates of columns names them as its rows' order does.
 */
export function defineOrderByTypes(
  context: SchemaContext,
  table: Table,
  defineType: (name: string, make: () => GraphQLInputObjectType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  const define = (name: string, fields: () => readonly NamedInputField[]) =>
    defineType(name, () => new GraphQLInputObjectType({ name, fields: () => fieldMap(fields()), extensions }));
  // In pg_graphql, several columns of one entry count in the order of the table.
  const extensions = context.hasReads(table.namespace) ? givenOrder : {};
  // An input without fields is invalid.
  if (isOrderable(table)) {
    define(names.orderBy, () => [
      ...directions(table),
      ...relationshipEntries(context, table),
      ...functionOrders(context, table),
      ...rankedEntries(context, table),
    ]);
  }
  if (table.addedTypes.includes('aggregateOrderBy'))
    define(names.aggregateOrderBy, () => aggregateOrders(context, table));
}

function aggregateOrders(context: SchemaContext, table: Table): readonly NamedInputField[] {
  const columns = context.types.input(tableTypeNames(table.baseName).orderBy);
  return [
    ['key', columns && hasGroups(table) ? typed(columns, { kind: 'group_keys' }) : null],
    ['count', typed(orderByDirectionType, { kind: 'count' })],
    ...takingFunctions(context, table).map((fn): NamedInputField => {
      return [fn, columns && typed(columns, { kind: 'aggregate_function', function: fn })];
    }),
  ];
}

function directions({ columns }: Table): readonly NamedInputField[] {
  return columns.flatMap((column): NamedInputField[] =>
    column.orderable && column.fieldName !== null
      ? [[column.fieldName, typed(orderByDirectionType, { kind: 'column', column })]]
      : [],
  );
}

function rankedEntries(context: SchemaContext, table: Table): readonly NamedInputField[] {
  const type = context.hasReads(table.namespace) ? sharedInput(context, 'TextSearchOrder') : null;
  return type === null ? [] : rankEntries(table).map(([name, column]) => [name, typed(type, { kind: 'rank', column })]);
}

function relationshipEntries(context: SchemaContext, table: Table): readonly NamedInputField[] {
  return table.relationships.flatMap((relationship): NamedInputField[] => {
    const target = context.model.tables.get(relationship.target);
    if (!relationship.orderable || target === undefined) return [];
    const type =
      relationship.cardinality === 'many'
        ? addedInput(context, target, 'aggregateOrderBy')
        : context.types.input(tableTypeNames(target.baseName).orderBy);
    return [[relationship.fieldName, type && typed(type, { kind: 'related_order', relationship, target })]];
  });
}
