/** The types of `onConflict`: which unique index, and what an insert does with rows that are there (docs/upsert.md). */
import {
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
} from 'graphql';
import { tableTypeNames } from '../../../model/inflect.ts';
import type { Table } from '../../../model/model.ts';
import { typed } from '../../origin.ts';
import { addedEnum, addedInput, type SchemaContext } from '../../schema-context.ts';
import { updateEnum } from '../column-type.ts';
import { StringEnumType } from '../enum-types.ts';

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
}

/** `onConflict`, as an argument or a field; nothing for a table without *B*`OnConflict`. */
export function conflictField(context: SchemaContext, table: Table) {
  const type = hasConflicts(table) ? addedInput(context, table, 'onConflict') : null;
  return type === null ? {} : { onConflict: typed(type, { kind: 'on_conflict' }) };
}

function hasConflicts({ addedTypes }: Table): boolean {
  return addedTypes.includes('onConflict') && addedTypes.includes('constraint');
}

function conflictFields(context: SchemaContext, table: Table): GraphQLInputFieldConfigMap {
  const constraint = addedEnum(context, table, 'constraint')!;
  const column = updateEnum(context, table);
  const filter = context.types.input(tableTypeNames(table.baseName).filter);
  const columns = () => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(column!)));
  return {
    constraint: typed(new GraphQLNonNull(constraint), { kind: 'conflict_target' }),
    ...(column && { updateColumns: { ...typed(columns(), { kind: 'update_columns' }), default: { value: [] } } }),
    // Where nothing can be updated there are no rows to choose.
    ...(column && filter && { filter: typed(filter, { kind: 'conflict_filter' }) }),
  };
}
