/** The types of `groups`: keys, condition and order (docs/aggregates.md). */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Column, Table, TableType } from '../../model/model.ts';
import { isGroupable, isInColumns } from '../../model/tables/columns.ts';
import { fieldMap } from '../field-map.ts';
import { typed } from '../origin.ts';
import { addedInput, addedObject, type SchemaContext } from '../schema-context.ts';
import { readEnum } from './column-type.ts';
import { StringEnumType } from './enum-types.ts';
import { scalarTypes } from './scalars.ts';
import { valueType } from './value-type.ts';

const { Int, String: StringType } = scalarTypes;

/** Units of truncated dates and times, coerced to PostgreSQL's names. */
export const dateTruncationType = new StringEnumType({
  name: 'DateTruncation',
  values: Object.fromEntries(
    ['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE'].map((name) => [name, { value: name.toLowerCase() }]),
  ),
});

/** Registers the types that the table has. */
export function defineGroupTypes(
  context: SchemaContext,
  table: Table,
  defineType: (name: string, make: () => GraphQLNamedType) => void,
): void {
  const names = tableTypeNames(table.baseName);
  const define = (type: TableType, make: (name: string) => GraphQLNamedType): void => {
    if (table.addedTypes.includes(type)) defineType(names[type], () => make(names[type]));
  };
  const defineInput = (type: TableType, fields: () => GraphQLInputFieldConfigMap) =>
    define(type, (name) => new GraphQLInputObjectType({ name, fields }));
  const defineObject = (type: TableType, fields: () => GraphQLFieldConfigMap<unknown, unknown>) =>
    define(type, (name) => new GraphQLObjectType({ name, fields }));
  defineObject('distinctCount', () => distinctCountFields(table));
  // A type without fields is invalid.
  if (table.columns.some((column) => keyType(context, column) !== null)) {
    defineObject('groupKey', () => keyFields(context, table));
  }
  defineInput('groupBy', () => groupByFields(context, table));
}

function keyType(context: SchemaContext, column: Column) {
  return isInColumns(column) && column.type !== null ? valueType(context, column.type) : null;
}

function keyFields(context: SchemaContext, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  const own = table.columns.filter(isInColumns).map((column): [string, NamedOutput] => {
    const type = keyType(context, column);
    return [column.fieldName!, type && typed(type, { kind: 'group_key', column })];
  });
  const related = keyRelationships(context, table).map(({ relationship, target }): [string, NamedOutput] => {
    const type = addedObject(context, target, 'groupKey');
    return [relationship.fieldName, type && typed(type, { kind: 'group_related', relationship, target })];
  });
  return fieldMap([...own, ...related]);
}

type NamedOutput = GraphQLFieldConfig<unknown, unknown> | null;

/** The relationships by whose rows the table's rows can be grouped. */
function keyRelationships({ model, types }: SchemaContext, { relationships }: Table) {
  return relationships.flatMap((relationship) => {
    const target = model.tables.get(relationship.target);
    if (!relationship.groupable || target === undefined) return [];
    const isThere = (['groupBy', 'groupKey'] as const).every(
      (type) => target.addedTypes.includes(type) && types.has(tableTypeNames(target.baseName)[type]),
    );
    return isThere ? [{ relationship, target }] : [];
  });
}

function groupByFields(context: SchemaContext, table: Table): GraphQLInputFieldConfigMap {
  const column = readEnum(context, table)!;
  const hasTruncation = context.model.addedTypes.includes('DateTruncation');
  const related = keyRelationships(context, table).map(({ relationship, target }) => {
    const type = addedInput(context, target, 'groupBy')!;
    return [relationship.fieldName, typed(type, { kind: 'group_related', relationship, target })] as const;
  });
  return {
    column: typed(related.length > 0 ? column : new GraphQLNonNull(column), { kind: 'group_column' }),
    ...(hasTruncation && {
      truncate: typed(dateTruncationType, { kind: 'truncate' }),
      timeZone: typed(StringType, { kind: 'time_zone' }),
    }),
    ...Object.fromEntries(related),
  };
}

/** Whether the rows of the table can be grouped: the required type names are free. */
export function hasGroups({ aggregate, addedTypes }: Table): boolean {
  return aggregate && (['column', 'groupBy', 'groupKey'] as const).every((type) => addedTypes.includes(type));
}

/** `groups` of *B*`Connection`; null for none. */
export function groupsField(context: SchemaContext, table: Table): GraphQLFieldConfig<unknown, unknown> | null {
  if (!hasGroups(table)) return null;
  const group = context.types.object(tableTypeNames(table.baseName).aggregate)!;
  const by = addedInput(context, table, 'groupBy')!;
  const having = addedInput(context, table, 'aggregateFilter');
  const order = addedInput(context, table, 'aggregateOrderBy');
  return {
    ...typed(new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(group))), { kind: 'groups' }),
    args: {
      by: typed(new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(by))), { kind: 'group_by' }),
      ...(having && { having: typed(having, { kind: 'having' }) }),
      ...(order && { orderBy: typed(new GraphQLList(new GraphQLNonNull(order)), { kind: 'group_order_by' }) }),
      first: typed(Int, { kind: 'first_groups' }),
      offset: typed(Int, { kind: 'group_offset' }),
    },
  };
}

function distinctCountFields({ columns }: Table): GraphQLFieldConfigMap<unknown, unknown> {
  return fieldMap(
    columns
      .filter(isGroupable)
      .map((column) => [column.fieldName!, typed(new GraphQLNonNull(Int), { kind: 'distinct_count', column })]),
  );
}
