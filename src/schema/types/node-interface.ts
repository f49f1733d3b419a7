/**
 * The `Node` interface: every row of every table has a global id (graphql.md 5.5, 8).
 */
import { GraphQLInterfaceType, GraphQLNonNull } from 'graphql';
import { withOrigin } from '../origin.ts';
import { scalarTypes } from './scalars.ts';

/** The name that nothing may take from the global id (2.6). */
export const nodeIdName = 'nodeId';

/** The field of the interface and of every object type that implements it. */
export const nodeIdField = { type: new GraphQLNonNull(scalarTypes.ID), extensions: withOrigin({ kind: 'node_id' }) };

/** `interface Node { nodeId: ID! }`, shared by every schema. */
export const nodeInterface = new GraphQLInterfaceType({ name: 'Node', fields: { [nodeIdName]: nodeIdField } });
