/** *B*`Key`, which names a row in a link, and the inputs of keys with several columns (docs/nested-writes.md). */
import { type GraphQLInputFieldConfigMap, GraphQLInputObjectType, GraphQLNonNull } from 'graphql';
import { tableTypeNames } from '../../../model/inflect.ts';
import type { Column, Table, TableKey } from '../../../model/model.ts';
import { typed } from '../../origin.ts';
import type { SchemaContext } from '../../schema-context.ts';
import { valueType } from '../value-type.ts';

/** Registers the types that the table has. */
export function defineKeyTypes(
  context: SchemaContext,
  table: Table,
  define: (name: string, make: () => GraphQLInputObjectType) => void,
): void {
  // A schema may lack the enum of a column.
  const keys = table.keys.filter((key) => columnsOf(table, key).every((column) => valueType(context, column.type!)));
  if (!table.addedTypes.includes('key') || keys.length === 0) return;
  for (const key of keys) {
    const { inputName: name } = key;
    if (name === null) continue;
    const fields = () =>
      Object.fromEntries(
        columnsOf(table, key).map((column) => [
          column.fieldName!,
          typed(new GraphQLNonNull(valueType(context, column.type!)!), { kind: 'column', column }),
        ]),
      );
    define(name, () => new GraphQLInputObjectType({ name, fields }));
  }
  const name = tableTypeNames(table.baseName).key;
  define(name, () => new GraphQLInputObjectType({ name, fields: () => keyFields(context, table, keys) }));
}

function keyFields(context: SchemaContext, table: Table, keys: readonly TableKey[]): GraphQLInputFieldConfigMap {
  return Object.fromEntries(
    keys.map((key) => {
      const [column] = columnsOf(table, key);
      const type = key.inputName === null ? valueType(context, column!.type!)! : context.types.input(key.inputName)!;
      return [key.fieldName, typed(type, { kind: 'row_key', key })];
    }),
  );
}

function columnsOf({ columns }: Table, key: TableKey): readonly Column[] {
  return key.columns.map((number) => columns.find((column) => column.number === number)!);
}
