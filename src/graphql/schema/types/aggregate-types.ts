/** The aggregate types of a table that enables them: count, and the columns of each function (docs/aggregates.md). */
import { type GraphQLFieldConfig, type GraphQLFieldConfigMap, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { aggregateFunctions } from '../../model/codecs.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { type AggregateFunction, typed } from '../origin.ts';
import { addedObject, type SchemaContext } from '../schema-context.ts';
import { scalarTypes } from './scalars.ts';

/** Registers *B*`Aggregate` and its parts. A function without columns has neither type nor field. */
export function defineAggregateTypes(
  context: SchemaContext,
  table: Table,
  defineType: (name: string, make: () => GraphQLObjectType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  const define = (name: string, fields: () => GraphQLFieldConfigMap<unknown, unknown>) =>
    defineType(name, () => new GraphQLObjectType({ name, fields }));
  define(names.aggregate, () => aggregateFields(context, table));
  for (const fn of takingFunctions(table)) define(names[fn], () => columnFields(table, fn));
}

/** The functions that can aggregate a column of the table. */
export function takingFunctions({ aggregate, columns }: Table): readonly AggregateFunction[] {
  return aggregateFunctions.filter(
    (fn) => aggregate && columns.some(({ fieldName, [fn]: type }) => fieldName !== null && type !== null),
  );
}

/** The aggregate fields: those of *B*`Aggregate`, which each group has as well. */
export function aggregateFields(context: SchemaContext, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  const names = tableTypeNames(table.baseName);
  const functions = takingFunctions(table).map((fn): [string, GraphQLFieldConfig<unknown, unknown>] => [
    fn,
    typed(context.types.object(names[fn])!, { kind: 'aggregate_function', function: fn }),
  ]);
  const distinct = addedObject(context, table, 'distinctCount');
  return {
    count: typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'aggregate_count' }),
    ...Object.fromEntries(functions),
    ...(distinct && { distinctCount: typed(distinct, { kind: 'distinct_counts' }) }),
  };
}

function columnFields(table: Table, fn: AggregateFunction): GraphQLFieldConfigMap<unknown, unknown> {
  return fieldMap(
    table.columns.flatMap((column) => {
      const scalar = column[fn];
      if (column.fieldName === null || scalar === null) return [];
      return [
        [column.fieldName, typed(scalarTypes[scalar], { kind: 'aggregate_column', function: fn, column })] as const,
      ];
    }),
  );
}
