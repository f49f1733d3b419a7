/**
 * The aggregate types of a table that enables them: count, and the columns each function can take (graphql.md 9.2).
 */
import { type GraphQLFieldConfig, type GraphQLFieldConfigMap, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import {
  aggregateName,
  avgAggregateName,
  maxAggregateName,
  minAggregateName,
  sumAggregateName,
} from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { type AggregateFunction, withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { scalarTypes } from './scalars.ts';

const resultNames = {
  sum: sumAggregateName,
  avg: avgAggregateName,
  min: minAggregateName,
  max: maxAggregateName,
} satisfies Record<AggregateFunction, (baseName: string) => string>;

const functions = ['sum', 'avg', 'min', 'max'] as const;

/** Announces *B*`Aggregate` and its parts. A function that no column can take has neither type nor field. */
export function defineAggregateTypes(context: SchemaContext, table: Table): void {
  const { types } = context;
  const extensions = withOrigin({ kind: 'table', table, namespace: table.namespace });
  const name = aggregateName(table.baseName);
  types.define(name, () => new GraphQLObjectType({ name, fields: () => aggregateFields(context, table), extensions }));
  for (const fn of functions) {
    if (!table.columns.some((column) => column.fieldName !== null && column[fn] !== null)) continue;
    const result = resultNames[fn](table.baseName);
    types.define(
      result,
      () => new GraphQLObjectType({ name: result, fields: () => columnFields(table, fn), extensions }),
    );
  }
}

function aggregateFields({ types }: SchemaContext, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  const fields = functions.flatMap((fn): [string, GraphQLFieldConfig<unknown, unknown>][] => {
    const type = types.object(resultNames[fn](table.baseName));
    return type ? [[fn, { type, extensions: withOrigin({ kind: 'aggregate_function', function: fn }) }]] : [];
  });
  return {
    count: { type: new GraphQLNonNull(scalarTypes.Int), extensions: withOrigin({ kind: 'aggregate_count' }) },
    ...Object.fromEntries(fields),
  };
}

function columnFields(table: Table, fn: AggregateFunction): GraphQLFieldConfigMap<unknown, unknown> {
  return fieldMap(
    table.columns.flatMap((column) => {
      const scalar = column[fn];
      if (column.fieldName === null || scalar === null) return [];
      const extensions = withOrigin({ kind: 'aggregate_column', function: fn, column });
      return [[column.fieldName, { type: scalarTypes[scalar], extensions }] as const];
    }),
  );
}
