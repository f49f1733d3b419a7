/**
 * The results of insert, update and delete: how many rows, and the rows (graphql.md 10.1).
 */
import { GraphQLList, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import type { Table } from '../../model/model.ts';
import { withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { scalarTypes } from './scalars.ts';

/** *B*`InsertResponse`, *B*`UpdateResponse` or *B*`DeleteResponse`, whichever is the `name`. */
export function buildWritePayloadType({ types }: SchemaContext, table: Table, name: string): GraphQLObjectType {
  return new GraphQLObjectType({
    name,
    fields: () => {
      const record = new GraphQLNonNull(types.object(table.baseName)!);
      return {
        affectedCount: {
          type: new GraphQLNonNull(scalarTypes.Int),
          extensions: withOrigin({ kind: 'affected_count', table }),
        },
        records: {
          type: new GraphQLNonNull(new GraphQLList(record)),
          extensions: withOrigin({ kind: 'records', table }),
        },
      };
    },
    extensions: withOrigin({ kind: 'table', table, namespace: table.namespace }),
  });
}
