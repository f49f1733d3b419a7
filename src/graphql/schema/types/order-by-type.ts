/** The inputs that order rows: by columns, related rows, and functions of a row (docs/pagination.md). */
import { type GraphQLInputFieldConfig, GraphQLInputObjectType } from 'graphql';
import { aggregateFunctions } from '../../model/codecs.ts';
import { isOrderable, rankEntries } from '../../model/extensions/added-entries.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Column, Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { type InputFieldOrigin, typed } from '../origin.ts';
import { addedInput, type SchemaContext, sharedInput } from '../schema-context.ts';
import { functionOrders } from './function-inputs.ts';
import { orderByDirectionType } from './order-by-direction.ts';

type NamedInputField = readonly [string, GraphQLInputFieldConfig | null];

/**
 * Registers *B*`OrderBy` if the table can be ordered, and *B*`CollectionOrderBy` if others can be ordered by its rows.
 */
export function defineOrderByTypes(
  context: SchemaContext,
  table: Table,
  defineType: (name: string, make: () => GraphQLInputObjectType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  const define = (name: string, fields: () => readonly NamedInputField[]) =>
    defineType(name, () => new GraphQLInputObjectType({ name, fields: () => fieldMap(fields()) }));
  // An input without fields is invalid.
  if (isOrderable(table)) {
    const byColumn = (column: Column) => (column.orderable ? ({ kind: 'column', column } as const) : null);
    define(names.orderBy, () => [
      ...directions(table, byColumn),
      ...relationshipEntries(context, table),
      ...functionOrders(context, table),
      ...rankedEntries(context, table),
    ]);
  }
  if (table.addedTypes.includes('collectionOrderBy')) {
    define(names.collectionOrderBy, () => [
      ['count', typed(orderByDirectionType, { kind: 'count' })],
      ...aggregateFunctions.map((fn): NamedInputField => {
        const type = addedInput(context, table, `${fn}OrderBy`);
        return [fn, type && typed(type, { kind: 'aggregate_function', function: fn })];
      }),
    ]);
  }
  for (const fn of aggregateFunctions) {
    if (!table.addedTypes.includes(`${fn}OrderBy`)) continue;
    define(names[`${fn}OrderBy`], () =>
      directions(table, (column) => (column[fn] === null ? null : { kind: 'aggregate_column', function: fn, column })),
    );
  }
}

function directions(
  { columns }: Table,
  originOf: (column: Column) => InputFieldOrigin | null,
): readonly NamedInputField[] {
  return columns.flatMap((column): NamedInputField[] => {
    const origin = originOf(column);
    return origin === null || column.fieldName === null
      ? []
      : [[column.fieldName, typed(orderByDirectionType, origin)]];
  });
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
        ? addedInput(context, target, 'collectionOrderBy')
        : context.types.input(tableTypeNames(target.baseName).orderBy);
    return [[relationship.fieldName, type && typed(type, { kind: 'related_order', relationship, target })]];
  });
}
