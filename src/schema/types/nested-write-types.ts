/**
 * The inputs for related rows in the objects of an insert (extension `nested_writes`, docs/nested-writes.md).
 */
import {
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Relationship, Table, TableType } from '../../model/model.ts';
import { typed } from '../origin.ts';
import { addedInput, type SchemaContext } from '../schema-context.ts';

type Entry = readonly [string, GraphQLInputFieldConfig | null];

/** The entries of an insert input for related rows. */
export function nestedFields(context: SchemaContext, table: Table, command: 'insert' | 'update'): readonly Entry[] {
  if (command === 'update') return [];
  return table.relationships.flatMap((relationship): Entry[] => {
    const target = context.model.tables.get(relationship.target);
    if (!relationship.insertable || target === undefined) return [];
    const type = nestedType(context, relationship, target);
    return type === null ? [] : [[relationship.fieldName, typed(type, { kind: 'nested', relationship, target })]];
  });
}

function nestedType(context: SchemaContext, { cardinality }: Relationship, target: Table) {
  if (cardinality === 'many') return addedInput(context, target, 'nestedInsert');
  return addedInput(context, target, 'nestedInsertOnly') ?? addedInput(context, target, 'nestedInsertOne');
}

/** Registers the types that the table has. */
export function defineNestedWriteTypes(
  context: SchemaContext,
  table: Table,
  define: (name: string, make: () => GraphQLInputObjectType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  if (!context.types.has(names.insertInput)) return;
  const object = () => new GraphQLNonNull(context.types.input(names.insertInput)!);
  const objects = () => new GraphQLNonNull(new GraphQLList(object()));
  const insertOf: Partial<Record<TableType, () => GraphQLInputType>> = {
    nestedInsert: objects,
    nestedInsertOnly: object,
    nestedInsertOne: object,
  };
  for (const type of table.addedTypes) {
    const inserted = insertOf[type];
    if (inserted === undefined) continue;
    const name = names[type];
    const fields = () => ({ insert: typed(inserted(), { kind: 'nested_insert' }) });
    define(name, () => new GraphQLInputObjectType({ name, fields }));
  }
}
