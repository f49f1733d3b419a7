/**
 * The inputs and responses of insert, update and delete (docs/mutations.md).
 *
 * Inputs have the writable columns, all nullable, without defaults. If a schema shows none of their types, there is no
 * input and no root field: an input without fields is invalid.
 */
import { GraphQLInputObjectType, GraphQLList, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { tableTypeNames } from '../../../model/inflect.ts';
import type { Column, Table, WriteCommand } from '../../../model/model.ts';
import { fieldMap } from '../../field-map.ts';
import { typed } from '../../origin.ts';
import type { SchemaContext } from '../../schema-context.ts';
import { scalarTypes } from '../scalars.ts';
import { valueType } from '../value-type.ts';
import { nestedFields } from './nested-write-types.ts';

const isWritable = {
  insert: ({ insertable, generatedKey }: Column) => insertable && !generatedKey,
  update: ({ updatable }: Column) => updatable,
  key: ({ insertable, generatedKey }: Column) => insertable && generatedKey,
} as const;

/** Whether the input of this command has a field in this schema. */
export function hasWriteInput(context: SchemaContext, table: Table, command: 'insert' | 'update'): boolean {
  const commands = command === 'insert' ? (['insert', 'key'] as const) : ([command] as const);
  const isShown = (column: Column) => commands.some((each) => writtenType(context, column, each) !== null);
  return table[command] && table.columns.some(isShown);
}

/** *B*`InsertInput` or *B*`UpdateInput`. */
export function buildWriteInputType(
  context: SchemaContext,
  table: Table,
  command: 'insert' | 'update',
): GraphQLInputObjectType {
  return new GraphQLInputObjectType({
    name: tableTypeNames(table.baseName)[`${command}Input`],
    fields: () =>
      fieldMap([
        ...writableFields(context, table, command),
        ...nestedFields(context, table, command),
        ...keyFields(context, table, command),
      ]),
  });
}

/** Keys that the database generates, after all that the contract and other extensions have. */
function keyFields(context: SchemaContext, table: Table, command: 'insert' | 'update') {
  return command === 'insert' ? writableFields(context, table, 'key') : [];
}

function writableFields(context: SchemaContext, table: Table, command: keyof typeof isWritable) {
  return table.columns.flatMap((column) => {
    if (!isWritten(column, command)) return [];
    const type = writtenType(context, column, command);
    return [[column.fieldName!, type && typed(type, { kind: 'column', column })] as const];
  });
}

function isWritten(column: Column, command: keyof typeof isWritable): boolean {
  return isWritable[command](column) && column.fieldName !== null && column.type !== null;
}

function writtenType(context: SchemaContext, column: Column, command: keyof typeof isWritable) {
  return isWritten(column, command) ? valueType(context, column.type!) : null;
}

/** *B*`InsertResponse`, *B*`UpdateResponse` or *B*`DeleteResponse`: the number of rows, and the rows that the role may see. */
export function buildResponseType(
  { model, types }: SchemaContext,
  table: Table,
  command: WriteCommand,
): GraphQLObjectType {
  return new GraphQLObjectType({
    name: tableTypeNames(table.baseName)[`${command}Response`],
    fields: () => {
      const affectedCount = typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'affected_count', table });
      if (model.writeOnly.includes(table)) return { affectedCount };
      const record = new GraphQLNonNull(types.object(table.baseName)!);
      return {
        affectedCount,
        records: typed(new GraphQLNonNull(new GraphQLList(record)), { kind: 'records', table }),
      };
    },
  });
}
