/** The roots that only read: `node`, every table's collection and lookup by key, and the routines that write nothing. */
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

/** `Query`; never empty, because it has `node`. */
export function* buildQueryType(context: SchemaContext): Sliced<GraphQLObjectType> {
  return new RootType('Query', yield* readingFields(context), describeRoot(context, 'Query'));
}

/** `Subscription`: the fields of `Query`, of namespaces with live queries; null where no namespace has them. */
export function* buildSubscriptionType(context: SchemaContext): Sliced<GraphQLObjectType | null> {
  const { model } = context;
  const live = new Set(
    model.namespaces.filter(({ extensions }) => extensions.includes('live')).map(({ name }) => name),
  );
  if (!model.namespaces.some(({ name }) => live.has(name) && context.isVisible(name))) return null;
  const isVisible = (namespace: string) => live.has(namespace) && context.isVisible(namespace);
  const fields = yield* readingFields(context, isVisible);
  return new RootType('Subscription', fields, describeRoot(context, 'Subscription'));
}

/** Fields of tables take precedence over routines. @param isVisible Of the namespaces that have any. */
function* readingFields(context: SchemaContext, isVisible = context.isVisible): Sliced<readonly RootEntry[]> {
  const node = ['node', () => nodeField] as const;
  // Tables that differ only in the case of the first letter have the same root names; the older one gets them.
  const youngestFirst = [...context.model.tables.values()].sort((a, b) => compareOids(b.oid, a.oid));
  const ofTables = yield* mapInSlices(youngestFirst, (table) =>
    tableEntries(context, table, isVisible(table.namespace)),
  );
  return [...rootRoutines(context, 'query', isVisible), ...ofTables.flat(), node];
}

const nodeField: GraphQLFieldConfig<unknown, unknown> = {
  type: nodeInterface,
  args: { [nodeIdName]: typed(new GraphQLNonNull(scalarTypes.ID), { kind: 'node_id' }) },
  extensions: withOrigin({ kind: 'node' }),
};

function tableEntries(context: SchemaContext, table: Table, isVisible: boolean): RootEntry[] {
  const names = tableRootFields(table.baseName);
  const hasKey = table.byPk && keyArguments(context, table) !== null;
  return [
    ...(table.rootField ? [[names.collection, isVisible ? collection(context, table) : null] as const] : []),
    ...(hasKey ? [[names.byPk, isVisible ? byPk(context, table) : null] as const] : []),
  ];
}

function collection(context: SchemaContext, table: Table): FieldMaker {
  const name = tableTypeNames(table.baseName).connection;
  return () => ({
    type: new GraphQLNonNull(context.types.object(name)!),
    args: argumentsOfConnection(context, table),
    extensions: withOrigin({ kind: 'collection', table }),
  });
}

function byPk(context: SchemaContext, table: Table): FieldMaker {
  return () => ({
    type: context.types.object(table.baseName)!,
    args: keyArguments(context, table)!,
    extensions: withOrigin({ kind: 'by_pk', table }),
  });
}
