/** The query root: `node`, every table's collection and lookup by key, and the routines that only read. */
import { type GraphQLFieldConfig, GraphQLNonNull, type GraphQLObjectType } from 'graphql';
import { mapInSlices, type Sliced } from '../../../shared/slices.ts';
import { tableRootFields, tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { describeRoot } from '../describe-type.ts';
import { typed, withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { argumentsOfConnection } from './connection-types.ts';
import { keyArguments } from './key-arguments.ts';
import { nodeIdName, nodeInterface } from './object-type.ts';
import { type FieldMaker, type RootEntry, RootType } from './root-type.ts';
import { compareOids, rootRoutines } from './routine-fields.ts';
import { scalarTypes } from './scalars.ts';

/** `Query`; never empty, because it has `node`. Fields of tables take precedence over routines. */
export function* buildQueryType(context: SchemaContext): Sliced<GraphQLObjectType> {
  const node = ['node', () => nodeField] as const;
  // Tables that differ only in the case of the first letter have the same root names; the older one gets them.
  const youngestFirst = [...context.model.tables.values()].sort((a, b) => compareOids(b.oid, a.oid));
  const ofTables = yield* mapInSlices(youngestFirst, (table) => tableEntries(context, table));
  const entries = [...rootRoutines(context, 'query'), ...ofTables.flat(), node];
  return new RootType('Query', entries, describeRoot(context, 'Query'));
}

const nodeField: GraphQLFieldConfig<unknown, unknown> = {
  type: nodeInterface,
  args: { [nodeIdName]: typed(new GraphQLNonNull(scalarTypes.ID), { kind: 'node_id' }) },
  extensions: withOrigin({ kind: 'node' }),
};

function tableEntries(context: SchemaContext, table: Table): RootEntry[] {
  const names = tableRootFields(table.baseName);
  return [
    ...(table.rootField ? [[names.collection, collection(context, table)] as const] : []),
    ...(table.byPk && keyArguments(context, table) ? [[names.byPk, byPk(context, table)] as const] : []),
  ];
}

function collection(context: SchemaContext, table: Table): FieldMaker | null {
  if (!context.isVisible(table.namespace)) return null;
  const name = tableTypeNames(table.baseName).connection;
  return () => ({
    type: new GraphQLNonNull(context.types.object(name)!),
    args: argumentsOfConnection(context, table),
    extensions: withOrigin({ kind: 'collection', table }),
  });
}

function byPk(context: SchemaContext, table: Table): FieldMaker | null {
  if (!context.isVisible(table.namespace)) return null;
  return () => ({
    type: context.types.object(table.baseName)!,
    args: keyArguments(context, table)!,
    extensions: withOrigin({ kind: 'by_pk', table }),
  });
}
