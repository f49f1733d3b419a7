/** Arguments for the primary key of a row. */
import { type GraphQLFieldConfigArgumentMap, GraphQLNonNull } from 'graphql';
import type { Table } from '../../model/model.ts';
import { typed } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { valueType } from './value-type.ts';

/** One required argument per key column, in key order; null if a column cannot be an argument. */
export function keyArguments(context: SchemaContext, table: Table): GraphQLFieldConfigArgumentMap | null {
  const args: GraphQLFieldConfigArgumentMap = {};
  for (const number of table.primaryKey) {
    const column = table.columns.find((each) => each.number === number);
    const type = column?.type ? valueType(context, column.type) : null;
    if (!column || !type || column.fieldName === null) return null;
    args[column.fieldName] = typed(new GraphQLNonNull(type), { kind: 'key', column });
  }
  // Two key columns with one field name cannot both be given.
  return Object.keys(args).length === table.primaryKey.length ? args : null;
}
