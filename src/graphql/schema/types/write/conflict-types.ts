/** The types of `onConflict`: which unique index, and what an insert does with rows that are there (docs/upsert.md). */
import {
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
} from 'graphql';
import { isUpsertable } from '../../../model/extensions/conflict-targets.ts';
import { tableTypeNames } from '../../../model/inflect.ts';
import type { Column, Table } from '../../../model/model.ts';
import { typed } from '../../origin.ts';
import { addedEnum, addedInput, type SchemaContext } from '../../schema-context.ts';
import { StringEnumType } from '../enum-types.ts';
import { valueType } from '../value-type.ts';

/** Registers the types that the table has. */
export function defineConflictTypes(
  context: SchemaContext,
  table: Table,
  define: (name: string, make: () => GraphQLNamedType) => void,
): void {
  if (!hasConflicts(table)) return;
  const names = tableTypeNames(table.baseName);
  // The value is the index of the target in the model.
  const constraints = table.conflictTargets.map(({ name }, index) => [name, { value: String(index) }] as const);
  define(
    names.constraint,
    () => new StringEnumType({ name: names.constraint, values: Object.fromEntries(constraints) }),
  );
  define(
    names.onConflict,
    () => new GraphQLInputObjectType({ name: names.onConflict, fields: () => conflictFields(context, table) }),
  );
  const columns = table.columns.filter((column) => isShown(context, column));
  if (!table.addedTypes.includes('updateColumn') || columns.length === 0) return;
  const values = columns.map(({ fieldName, number }) => [fieldName, { value: String(number) }] as const);
  define(
    names.updateColumn,
    () => new StringEnumType({ name: names.updateColumn, values: Object.fromEntries(values) }),
  );
}

/** `onConflict`, as an argument or a field; nothing for a table without *B*`OnConflict`. */
export function conflictField(context: SchemaContext, table: Table) {
  const type = hasConflicts(table) ? addedInput(context, table, 'onConflict') : null;
  return type === null ? {} : { onConflict: typed(type, { kind: 'on_conflict' }) };
}

function hasConflicts({ addedTypes }: Table): boolean {
  return addedTypes.includes('onConflict') && addedTypes.includes('constraint');
}

function isShown(context: SchemaContext, column: Column): boolean {
  return isUpsertable(column) && column.type !== null && valueType(context, column.type) !== null;
}

function conflictFields(context: SchemaContext, table: Table): GraphQLInputFieldConfigMap {
  const constraint = addedEnum(context, table, 'constraint')!;
  const column = addedEnum(context, table, 'updateColumn');
  const filter = context.types.input(tableTypeNames(table.baseName).filter);
  const columns = () => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(column!)));
  return {
    constraint: typed(new GraphQLNonNull(constraint), { kind: 'conflict_target' }),
    ...(column && { updateColumns: { ...typed(columns(), { kind: 'update_columns' }), default: { value: [] } } }),
    // Where nothing can be updated there are no rows to choose.
    ...(column && filter && { filter: typed(filter, { kind: 'conflict_filter' }) }),
  };
}
