/**
 * Connections: their arguments, a table's connection and edge types, and the page info (docs/pagination.md).
 */
import { type GraphQLFieldConfigArgumentMap, GraphQLList, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { typed } from '../origin.ts';
import { addedEnum, type SchemaContext } from '../schema-context.ts';
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

const pageArguments = {
  first: typed(Int, { kind: 'first' }),
  last: typed(Int, { kind: 'last' }),
  before: typed(Cursor, { kind: 'before' }),
  after: typed(Cursor, { kind: 'after' }),
  offset: typed(Int, { kind: 'offset' }),
};

/** The arguments of a list of rows without an order of their own. */
export const listArguments = { first: pageArguments.first, offset: pageArguments.offset };

/**
 * The seven arguments of every connection field over a table, all nullable, and those of extensions.
 *
 * `orderBy` is missing without an orderable column: an input without fields is invalid.
 */
export function connectionArguments(context: SchemaContext, table: Table): GraphQLFieldConfigArgumentMap {
  const { types } = context;
  const names = tableTypeNames(table.baseName);
  const filter = types.input(names.filter);
  const orderBy = types.input(names.orderBy);
  const column = context.offers(table.namespace, 'distinct') ? addedEnum(context, table, 'column') : null;
  return {
    ...pageArguments,
    ...(filter && { filter: typed(filter, { kind: 'filter' }) }),
    ...(orderBy && { orderBy: typed(new GraphQLList(new GraphQLNonNull(orderBy)), { kind: 'order_by' }) }),
    ...(column && { distinctOn: typed(new GraphQLList(new GraphQLNonNull(column)), { kind: 'distinct_on' }) }),
  };
}

/** *B*`Connection`: `totalCount`, `aggregate` and `groups` only if the table enables them. */
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
      };
    },
  });
}

function totalCountField({ offers }: SchemaContext, table: Table) {
  const field = typed(new GraphQLNonNull(Int), { kind: 'total_count' });
  return offers(table.namespace, 'counts')
    ? { ...field, args: { atMost: typed(Int, { kind: 'count_at_most' }) } }
    : field;
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
