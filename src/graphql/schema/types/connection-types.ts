/** Connections: their arguments, a table's connection and edge types, and the page info (docs/pagination.md). */
import {
  type GraphQLEnumType,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import { connectionArguments } from '../../model/connection-arguments.ts';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { typed } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { readEnum } from './column-type.ts';
import { groupsField } from './group-types.ts';
import { scalarTypes } from './scalars.ts';

const { Int, Cursor, String: StringType, Boolean: BooleanType } = scalarTypes;

/** `PageInfo`, shared by every schema. */
export const pageInfoType = new GraphQLObjectType({
  name: 'PageInfo',
  fields: {
    endCursor: typed(StringType, { kind: 'end_cursor' }),
    hasNextPage: typed(new GraphQLNonNull(BooleanType), { kind: 'has_next_page' }),
    hasPreviousPage: typed(new GraphQLNonNull(BooleanType), { kind: 'has_previous_page' }),
    startCursor: typed(StringType, { kind: 'start_cursor' }),
  },
});

/** The arguments of a list of rows without an order of their own. */
export const listArguments = Object.fromEntries(
  connectionArguments.filter(({ inLists }) => inLists).map(({ name, kind }) => [name, typed(Int, { kind })]),
);

/**
 * The arguments of a connection field over a table, all nullable, without those of extensions that the field has already.
 *
 * `orderBy` is missing without an orderable column: an input without fields is invalid.
 */
export function argumentsOfConnection(
  context: SchemaContext,
  table: Table,
  own: GraphQLFieldConfigArgumentMap = {},
): GraphQLFieldConfigArgumentMap {
  const names = tableTypeNames(table.baseName);
  const types = {
    Int: () => Int,
    Cursor: () => Cursor,
    filter: () => context.types.input(names.filter),
    orders: () => listOf(context.types.input(names.orderBy)),
    columns: () => listOf(readEnum(context, table)),
  };
  const offered = connectionArguments.filter(
    ({ name, addition }) => addition === null || (!own[name] && context.hasReads(table.namespace)),
  );
  const typedArguments = offered.flatMap(({ name, kind, type }) => {
    const found = types[type]();
    return found ? [[name, typed(found, { kind })] as const] : [];
  });
  return Object.fromEntries(typedArguments);
}

function listOf(type: GraphQLInputObjectType | GraphQLEnumType | null | undefined) {
  return type && new GraphQLList(new GraphQLNonNull(type));
}

/** *B*`Connection`: `totalCount`, `aggregate` and `groups` only if the table enables them, `nodes` with the extension `reads`. */
export function buildConnectionType(context: SchemaContext, table: Table): GraphQLObjectType {
  const { types } = context;
  const names = tableTypeNames(table.baseName);
  return new GraphQLObjectType({
    name: names.connection,
    fields: () => {
      const edge = new GraphQLNonNull(types.object(names.edge)!);
      const aggregate = types.object(names.aggregate);
      const groups = groupsField(context, table);
      return {
        edges: typed(new GraphQLNonNull(new GraphQLList(edge)), { kind: 'edges' }),
        pageInfo: typed(new GraphQLNonNull(pageInfoType), { kind: 'page_info' }),
        ...(table.totalCount && { totalCount: totalCountField(context, table) }),
        ...(aggregate && { aggregate: typed(aggregate, { kind: 'aggregate' }) }),
        ...(groups && { groups }),
        ...(context.hasReads(table.namespace) && { nodes: nodesField(context, table) }),
      };
    },
  });
}

function nodesField({ types }: SchemaContext, table: Table) {
  const row = new GraphQLNonNull(types.object(table.baseName)!);
  return typed(new GraphQLNonNull(new GraphQLList(row)), { kind: 'nodes' });
}

function totalCountField({ hasReads }: SchemaContext, table: Table) {
  const field = typed(new GraphQLNonNull(Int), { kind: 'total_count' });
  return hasReads(table.namespace) ? { ...field, args: { atMost: typed(Int, { kind: 'count_at_most' }) } } : field;
}

/** *B*`Edge`. */
export function buildEdgeType({ types }: SchemaContext, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: tableTypeNames(table.baseName).edge,
    fields: () => ({
      cursor: typed(new GraphQLNonNull(StringType), { kind: 'cursor' }),
      node: typed(new GraphQLNonNull(types.object(table.baseName)!), { kind: 'edge_node' }),
    }),
  });
}
