/** The inputs for related rows in inserts and updates (extension `writes`, docs/nested-writes.md). */
import {
  type GraphQLInputFieldConfig,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { replacedAtMost } from '../../../model/extensions/nested-writes.ts';
import { tableTypeNames } from '../../../model/inflect.ts';
import type { Relationship, Table, TableType } from '../../../model/model.ts';
import { fieldMap } from '../../field-map.ts';
import { typed } from '../../origin.ts';
import { addedInput, type SchemaContext } from '../../schema-context.ts';
import { StringEnumType } from '../enum-types.ts';
import { scalarTypes } from '../scalars.ts';
import { conflictField } from './conflict-types.ts';

type NamedInputField = readonly [string, GraphQLInputFieldConfig | null];

/** The entries of an insert or update input for related rows. */
export function nestedFields(
  context: SchemaContext,
  table: Table,
  command: 'insert' | 'update',
): readonly NamedInputField[] {
  return table.relationships.flatMap((relationship): NamedInputField[] => {
    const target = context.model.tables.get(relationship.target);
    const isOffered = command === 'insert' ? relationship.insertable : relationship.updatable;
    if (!isOffered || target === undefined) return [];
    const ofUpdate = relationship.cardinality === 'one' ? 'nestedUpdateOne' : 'nestedUpdate';
    const type =
      command === 'insert' ? nestedType(context, relationship, target) : addedInput(context, target, ofUpdate);
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
  const makers: Partial<Record<TableType, () => GraphQLInputFieldConfigMap>> = {
    nestedInsert: () => insertFields(context, table, 'many'),
    nestedInsertOnly: () => insertFields(context, table, 'one'),
    nestedInsertOne: () => insertFields(context, table, 'one'),
    nestedUpdate: () => updateFields(context, table),
    nestedUpdateOne: () => updateOneFields(context, table),
  };
  const inserts = table.insert && context.types.has(names.insertInput);
  const connects = table.addedTypes.includes('key') && context.types.has(names.key);
  const isMissing: Partial<Record<TableType, boolean>> = {
    nestedInsert: !inserts && !(connects && table.update),
    nestedInsertOnly: !inserts && !connects,
    nestedInsertOne: !inserts && !connects,
  };
  for (const type of table.addedTypes) {
    const fields = makers[type];
    if (fields === undefined || isMissing[type]) continue;
    const name = names[type];
    define(name, () => new GraphQLInputObjectType({ name, fields }));
  }
}

function insertFields(
  context: SchemaContext,
  table: Table,
  cardinality: Relationship['cardinality'],
): GraphQLInputFieldConfigMap {
  const object = insertInput(context, table);
  const key = cardinality === 'one' || table.update ? addedInput(context, table, 'key') : null;
  const of = (type: GraphQLInputObjectType) => (cardinality === 'one' ? type : listOf(type));
  return {
    ...(object && { insert: typed(of(object), { kind: 'nested_insert' }), ...conflictField(context, table) }),
    ...(key && { connect: typed(of(key), { kind: 'nested_connect' }) }),
  };
}

function insertInput({ types }: SchemaContext, { insert, baseName }: Table): GraphQLInputObjectType | null {
  return insert ? types.input(tableTypeNames(baseName).insertInput) : null;
}

function listOf(type: GraphQLInputObjectType): GraphQLInputType {
  return new GraphQLList(new GraphQLNonNull(type));
}

function updateFields(context: SchemaContext, table: Table): GraphQLInputFieldConfigMap {
  const object = insertInput(context, table);
  const entry = addedInput(context, table, 'updateEntry');
  const members = [
    ['insert', object, 'nested_insert'],
    ['update', updateEntry(context, table), 'nested_update'],
    ['delete', table.delete ? entry : null, 'nested_delete'],
  ] as const;
  const links = [
    ['connect', table.update ? addedInput(context, table, 'key') : null, 'nested_connect'],
    ['disconnect', table.update ? entry : null, 'nested_disconnect'],
  ] as const;
  const listed = (fields: typeof members | typeof links) =>
    fieldMap(fields.map(([name, type, kind]) => [name, type && typed(listOf(type), { kind })] as const));
  return {
    ...listed(members),
    ...(object && conflictField(context, table)),
    ...listed(links),
    ...((table.update || table.delete) && replaceFields(context)),
  };
}

/** The entry of an update; null if nothing can be updated. */
function updateEntry(context: SchemaContext, table: Table): GraphQLInputObjectType | null {
  const isUpdatable = context.types.has(tableTypeNames(table.baseName).updateInput);
  return isUpdatable ? addedInput(context, table, 'updateEntry') : null;
}

/** How many rows `replace` removes, and how. */
function replaceFields({ model }: SchemaContext): GraphQLInputFieldConfigMap {
  if (!model.addedTypes.includes('NestedReplace')) return {};
  const atMost = typed(new GraphQLNonNull(scalarTypes.Int), { kind: 'replace_at_most' });
  return {
    replace: typed(nestedReplaceType, { kind: 'nested_replace' }),
    replaceAtMost: { ...atMost, default: { value: replacedAtMost } },
  };
}

/** What becomes of related rows that an update does not name. */
export const nestedReplaceType = new StringEnumType({
  name: 'NestedReplace',
  values: { DELETE: {}, DISCONNECT: {} },
});

function updateOneFields(context: SchemaContext, table: Table): GraphQLInputFieldConfigMap {
  const update = updateEntry(context, table);
  return {
    ...insertFields(context, table, 'one'),
    ...(update && { update: typed(update, { kind: 'nested_update' }) }),
    disconnect: typed(scalarTypes.Boolean, { kind: 'nested_disconnect' }),
  };
}
