/**
 * The inputs of insert and update: the writable columns of a table, all nullable, without defaults (graphql.md 4.6, 10). Where
 * a schema shows the type of none of them there is no such input, and with it no entrypoint: an input without fields is not valid.
 */
import { GraphQLInputObjectType } from 'graphql';
import { insertInputName, updateInputName } from '../../model/inflect.ts';
import type { Column, Table } from '../../model/model.ts';
import { fieldMap } from '../field-map.ts';
import { withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { valueType } from './value-type.ts';

/** Whether the input of this command has a field in this schema. */
export function hasWriteInput(context: SchemaContext, table: Table, command: 'insert' | 'update'): boolean {
  if (!table[command]) return false;
  const isWritable = ({ insertable, updatable }: Column) => (command === 'insert' ? insertable : updatable);
  return table.columns.some(
    (column) =>
      isWritable(column) &&
      column.fieldName !== null &&
      column.type !== null &&
      valueType(context, column.type) !== null,
  );
}

/** *B*`InsertInput`. */
export function buildInsertInputType(context: SchemaContext, table: Table): GraphQLInputObjectType {
  return writeInput(context, table, { name: insertInputName(table.baseName), isWritable: (c) => c.insertable });
}

/** *B*`UpdateInput`. */
export function buildUpdateInputType(context: SchemaContext, table: Table): GraphQLInputObjectType {
  return writeInput(context, table, { name: updateInputName(table.baseName), isWritable: (c) => c.updatable });
}

interface WriteInput {
  readonly name: string;
  isWritable(column: Column): boolean;
}

function writeInput(context: SchemaContext, table: Table, { name, isWritable }: WriteInput): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name,
    fields: () =>
      fieldMap(
        table.columns.flatMap((column) => {
          if (!isWritable(column) || column.fieldName === null || column.type === null) return [];
          const type = valueType(context, column.type);
          return [[column.fieldName, type && { type, extensions: withOrigin({ kind: 'column', column }) }] as const];
        }),
      ),
    extensions: withOrigin({ kind: 'table', table, namespace: table.namespace }),
  });
}
