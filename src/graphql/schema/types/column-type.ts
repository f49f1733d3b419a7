/** *B*`Column`, the enum of a table's columns: of those that reads take, and those that an upsert may change. */
import type { GraphQLEnumType } from 'graphql';
import { isUpsertable } from '../../model/extensions/conflict-targets.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Column, Table } from '../../model/model.ts';
import { isInColumns } from '../../model/tables/columns.ts';
import { addedEnum, type DefineType, type SchemaContext } from '../schema-context.ts';
import { StringEnumType } from './enum-types.ts';
import { valueType } from './value-type.ts';

/** Registers the type if the table has it. The value is the number of the column. */
export function defineColumnType(context: SchemaContext, table: Table, defineType: DefineType): void {
  const columns = table.columns.filter((column) => isRead(context, table, column) || isUpdated(context, table, column));
  // An enum without values is invalid.
  if (!table.addedTypes.includes('column') || columns.length === 0) return;
  const name = tableTypeNames(table.baseName).column;
  const values = columns.map(({ fieldName, number }) => [fieldName, { value: String(number) }] as const);
  defineType(name, () => new StringEnumType({ name, values: Object.fromEntries(values) }));
}

/** The enum where columns are read; null without such columns. */
export function readEnum(context: SchemaContext, table: Table): GraphQLEnumType | null {
  return table.columns.some((column) => isRead(context, table, column)) ? addedEnum(context, table, 'column') : null;
}

/** The enum where an upsert names what it changes; null without such columns. */
export function updateEnum(context: SchemaContext, table: Table): GraphQLEnumType | null {
  return table.columns.some((column) => isUpdated(context, table, column)) ? addedEnum(context, table, 'column') : null;
}

function isRead({ hasReads }: SchemaContext, { namespace }: Table, column: Column): boolean {
  return hasReads(namespace) && isInColumns(column);
}

function isUpdated(context: SchemaContext, { addedTypes }: Table, column: Column): boolean {
  const isShown = column.type !== null && valueType(context, column.type) !== null;
  return addedTypes.includes('onConflict') && isUpsertable(column) && isShown;
}
