/**
 * The object type of a table: its rows as a graph, each with a global id.
 */
import { type GraphQLFieldConfig, GraphQLInterfaceType, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Relationship, Table } from '../../model/model.ts';
import { isJson } from '../../model/tables/columns.ts';
import { fieldMap } from '../field-map.ts';
import { typed, withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { connectionArguments } from './connection-types.ts';
import { jsonPathArgument } from './json-filter-types.ts';
import { buildRoutineField } from './routine-fields.ts';
import { scalarTypes } from './scalars.ts';
import { valueType } from './value-type.ts';

type Entry = readonly [string, GraphQLFieldConfig<unknown, unknown> | null];

/** The name of the global id, which nothing may replace. */
export const nodeIdName = 'nodeId';

const nodeIdField = typed(new GraphQLNonNull(scalarTypes.ID), { kind: 'node_id' });

/** `interface Node { nodeId: ID! }`, shared by every schema. */
export const nodeInterface = new GraphQLInterfaceType({ name: 'Node', fields: { [nodeIdName]: nodeIdField } });

/**
 * *B*: the global id, columns, relationships, computed fields.
 *
 * Of several with one name, the last one is visible, except that nothing replaces the global id.
 */
export function buildObjectType(context: SchemaContext, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: table.baseName,
    description: table.description,
    interfaces: [nodeInterface],
    fields: () => {
      const own = [...columns(context, table), ...relationships(context, table), ...computedFields(context, table)];
      return fieldMap([[nodeIdName, nodeIdField], ...own.filter(([name]) => name !== nodeIdName)]);
    },
  });
}

function columns(context: SchemaContext, table: Table): Entry[] {
  const takesPath = context.offers(table.namespace, 'json_filters');
  return table.columns.flatMap((column): Entry[] => {
    if (!column.readable || column.fieldName === null || column.type === null) return [];
    const type = valueType(context, column.type);
    if (type === null) return [[column.fieldName, null]];
    const field = typed(column.neverNull ? new GraphQLNonNull(type) : type, { kind: 'column', column });
    const args = takesPath && isJson(column.type) && { args: { at: jsonPathArgument } };
    return [[column.fieldName, { ...field, ...args, description: column.description }]];
  });
}

function relationships(context: SchemaContext, table: Table): Entry[] {
  return table.relationships.flatMap((relationship): Entry[] => {
    const target = context.model.tables.get(relationship.target);
    return target ? [[relationship.fieldName, relationshipField(context, relationship, target)]] : [];
  });
}

function relationshipField(
  context: SchemaContext,
  relationship: Relationship,
  target: Table,
): GraphQLFieldConfig<unknown, unknown> | null {
  const isMany = relationship.cardinality === 'many';
  const type = context.types.object(isMany ? tableTypeNames(target.baseName).connection : target.baseName);
  if (type === null) return null;
  return {
    type: relationship.nullable ? type : new GraphQLNonNull(type),
    ...(isMany && { args: connectionArguments(context, target) }),
    extensions: withOrigin({ kind: 'relationship', relationship, target }),
  };
}

function computedFields(context: SchemaContext, table: Table): Entry[] {
  return table.computedFields.flatMap((oid): Entry[] => {
    const routine = context.model.routines.get(oid);
    return routine ? [[routine.fieldName, buildRoutineField(context, routine)]] : [];
  });
}
