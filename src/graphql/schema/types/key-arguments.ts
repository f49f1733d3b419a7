/** Arguments for the primary key of a row. */
import { type GraphQLFieldConfigArgumentMap, GraphQLNonNull } from 'graphql';
import type { Table } from '../../model/model.ts';
import { typed } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { valueType } from './value-type.ts';

/** Whether each key column can be an argument. For all tables of a schema, of which few are asked for. */
export function hasKeyArguments(context: SchemaContext, { primaryKey, columns }: Table): boolean {
  const names: string[] = [];
  for (const number of primaryKey) {
    const column = columns.find((each) => each.number === number);
    if (!column?.type || column.fieldName === null || names.includes(column.fieldName)) return false;
    if (valueType(context, column.type) === null) return false;
    names.push(column.fieldName);
  }
  return true;
}

/** One required argument per key column, in key order; null if a column cannot be an argument. */
export function keyArguments(context: SchemaContext, table: Table): GraphQLFieldConfigArgumentMap | null {
  if (!hasKeyArguments(context, table)) return null;
  const args = table.primaryKey.map((number) => {
    const column = table.columns.find((each) => each.number === number)!;
    const type = new GraphQLNonNull(valueType(context, column.type!)!);
    return [column.fieldName!, typed(type, { kind: 'key', column })] as const;
  });
  return Object.fromEntries(args);
}
