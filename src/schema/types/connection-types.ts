/**
 * Connections: their arguments, the connection and edge types of a table, and the page info (graphql.md 5.2, 5.3).
 */
import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLFieldConfigMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import { aggregateName, connectionName, edgeName, filterName, orderByName } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { type ArgumentOrigin, withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { scalarTypes } from './scalars.ts';

const { Int, Cursor, String: StringType, Boolean: BooleanType } = scalarTypes;

/** `PageInfo`, shared by every schema. */
export const pageInfoType = new GraphQLObjectType({
  name: 'PageInfo',
  fields: {
    endCursor: { type: StringType, extensions: withOrigin({ kind: 'end_cursor' }) },
    hasNextPage: { type: new GraphQLNonNull(BooleanType), extensions: withOrigin({ kind: 'has_next_page' }) },
    hasPreviousPage: { type: new GraphQLNonNull(BooleanType), extensions: withOrigin({ kind: 'has_previous_page' }) },
    startCursor: { type: StringType, extensions: withOrigin({ kind: 'start_cursor' }) },
  },
});

/**
 * The seven arguments of every connection field over a table, all nullable.
 *
 * `orderBy` is missing where no column can be ordered: its input would have no fields, which is not a valid type.
 */
export function connectionArguments(context: SchemaContext, table: Table): GraphQLFieldConfigArgumentMap {
  const filter = context.types.input(filterName(table.baseName));
  const orderBy = context.types.input(orderByName(table.baseName));
  return {
    first: { type: Int, extensions: origins.first },
    last: { type: Int, extensions: origins.last },
    before: { type: Cursor, extensions: origins.before },
    after: { type: Cursor, extensions: origins.after },
    offset: { type: Int, extensions: origins.offset },
    ...(filter && { filter: { type: filter, extensions: origins.filter } }),
    ...(orderBy && { orderBy: { type: new GraphQLList(new GraphQLNonNull(orderBy)), extensions: origins.orderBy } }),
  };
}

const origins = {
  first: argument('first'),
  last: argument('last'),
  before: argument('before'),
  after: argument('after'),
  offset: argument('offset'),
  filter: argument('filter'),
  orderBy: argument('order_by'),
};

function argument(kind: 'first' | 'last' | 'before' | 'after' | 'offset' | 'filter' | 'order_by') {
  return withOrigin({ kind } satisfies ArgumentOrigin);
}

/** *B*`Connection`: `totalCount` and `aggregate` only where the table enables them. */
export function buildConnectionType(context: SchemaContext, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: connectionName(table.baseName),
    fields: () => connectionFields(context, table),
    extensions: withOrigin({ kind: 'table', table, namespace: table.namespace }),
  });
}

function connectionFields({ types }: SchemaContext, table: Table): GraphQLFieldConfigMap<unknown, unknown> {
  const edge = new GraphQLNonNull(types.object(edgeName(table.baseName))!);
  const aggregate = types.object(aggregateName(table.baseName));
  return {
    edges: { type: new GraphQLNonNull(new GraphQLList(edge)), extensions: withOrigin({ kind: 'edges' }) },
    pageInfo: { type: new GraphQLNonNull(pageInfoType), extensions: withOrigin({ kind: 'page_info' }) },
    ...(table.totalCount && {
      totalCount: { type: new GraphQLNonNull(Int), extensions: withOrigin({ kind: 'total_count' }) },
    }),
    ...(aggregate && { aggregate: { type: aggregate, extensions: withOrigin({ kind: 'aggregate' }) } }),
  };
}

/** *B*`Edge`. */
export function buildEdgeType({ types }: SchemaContext, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: edgeName(table.baseName),
    fields: () => ({
      cursor: { type: new GraphQLNonNull(StringType), extensions: withOrigin({ kind: 'cursor' }) },
      node: {
        type: new GraphQLNonNull(types.object(table.baseName)!),
        extensions: withOrigin({ kind: 'edge_node' }),
      },
    }),
    extensions: withOrigin({ kind: 'table', table, namespace: table.namespace }),
  });
}
