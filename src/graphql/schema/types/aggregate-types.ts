/** The aggregate types of a table that enables them: count, and the columns of each function (docs/aggregates.md). */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql';
import { type AggregateFunction, aggregateFunctions, aggregateResults, aggregateRow } from '../../model/codecs.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { typed } from '../origin.ts';
import { addedObject, type SchemaContext } from '../schema-context.ts';
import { readEnum } from './column-type.ts';
import { hasGroups } from './group-types.ts';
import { scalarTypes } from './scalars.ts';

type Results = ReturnType<typeof aggregateRow>['results'];

/** Registers *B*`Aggregate` and its parts. Results without columns have neither type nor field. */
export function defineAggregateTypes(
  context: SchemaContext,
  table: Table,
  defineType: (name: string, make: () => GraphQLObjectType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  const define = (name: string, fields: () => GraphQLFieldConfigMap<unknown, unknown>) =>
    defineType(name, () => new GraphQLObjectType({ name, fields }));
  define(names.aggregate, () => aggregateFields(context, table));
  for (const results of [...aggregateResults, 'bool'] as const) {
    const isNamed = results !== 'bool' || table.addedTypes.includes(results);
    if (isNamed && hasResults(table, results)) define(names[results], () => columnFields(table, results));
  }
}

function hasResults({ columns }: Table, results: Results): boolean {
  return columns.some(({ fieldName, [results]: scalar }) => fieldName !== null && scalar !== null);
}

/** The functions that can aggregate a column of the table. */
export function takingFunctions({ hasReads }: SchemaContext, table: Table): readonly AggregateFunction[] {
  const isOffered = (fn: AggregateFunction) => !aggregateRow(fn).added || hasReads(table.namespace);
  return aggregateFunctions.filter(
    (fn) => table.aggregate && isOffered(fn) && hasResults(table, aggregateRow(fn).results),
  );
}

/** *B*`Aggregate`, which each group is as well: all rows are one without a key. */
function aggregateFields(context: SchemaContext, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  const names = tableTypeNames(table.baseName);
  const ofFunctions = (isAdded: boolean) =>
    takingFunctions(context, table)
      .filter((fn) => aggregateRow(fn).added === isAdded)
      .map((fn): [string, GraphQLFieldConfig<unknown, unknown> | null] => {
        const { results } = aggregateRow(fn);
        const type = results === 'bool' ? addedObject(context, table, 'bool') : context.types.object(names[results]);
        return [fn, type && typed(type as GraphQLOutputType, { kind: 'aggregate_function', function: fn })];
      });
  const distinct = addedObject(context, table, 'distinctCount');
  const key = hasGroups(table) ? addedObject(context, table, 'groupKey') : null;
  return fieldMap<GraphQLFieldConfig<unknown, unknown>>([
    ['count', countField(context, table)],
    ...ofFunctions(false),
    ['distinctCount', distinct && typed(distinct, { kind: 'distinct_counts' })],
    ...ofFunctions(true),
    ['key', key && typed(new GraphQLNonNull(key), { kind: 'group_keys' })],
  ]);
}

function countField(context: SchemaContext, table: Table): GraphQLFieldConfig<unknown, unknown> {
  const field = typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'aggregate_count' });
  const column = readEnum(context, table);
  return column === null ? field : { ...field, args: { column: typed(column, { kind: 'count_column' }) } };
}

function columnFields(table: Table, results: Results): GraphQLFieldConfigMap<unknown, unknown> {
  return fieldMap(
    table.columns.flatMap((column) => {
      const scalar = column[results];
      if (column.fieldName === null || scalar === null) return [];
      return [[column.fieldName, typed(scalarTypes[scalar], { kind: 'aggregate_column', column })] as const];
    }),
  );
}
