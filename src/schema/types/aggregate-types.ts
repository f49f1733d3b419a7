/**
 * The aggregate types of a table that enables them: count, and the columns each function can take (docs/aggregates.md).
 */
import { type GraphQLFieldConfig, type GraphQLFieldConfigMap, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { aggregateFunctions } from '../../model/codecs.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { type AggregateFunction, typed } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { scalarTypes } from './scalars.ts';

/** Announces *B*`Aggregate` and its parts. A function that no column can take has neither type nor field. */
export function defineAggregateTypes(
  { types }: SchemaContext,
  table: Table,
  defineType: (name: string, make: () => GraphQLObjectType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  const define = (name: string, fields: () => GraphQLFieldConfigMap<unknown, unknown>) =>
    defineType(name, () => new GraphQLObjectType({ name, fields }));
  const taking = aggregateFunctions.filter((fn) =>
    table.columns.some((column) => column.fieldName !== null && column[fn] !== null),
  );
  define(names.aggregate, () => {
    const fields = taking.map((fn): [string, GraphQLFieldConfig<unknown, unknown>] => [
      fn,
      typed(types.object(names[fn])!, { kind: 'aggregate_function', function: fn }),
    ]);
    const count = typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'aggregate_count' });
    return { count, ...Object.fromEntries(fields) };
  });
  for (const fn of taking) define(names[fn], () => columnFields(table, fn));
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
