/** The roots that only read: `node`, every table's collection and lookup by key, and the routines that write nothing. */
import { type GraphQLFieldConfig, GraphQLNonNull } from 'graphql';
import { tableRootFields, tableTypeNames } from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { describeRoot } from '../describe-type.ts';
import { typed, withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { argumentsOfConnection } from './connection-types.ts';
import { hasKeyArguments, keyArguments } from './key-arguments.ts';
import { nodeIdName, nodeInterface } from './object-type.ts';
import { RootFields, type TablesByName } from './root-fields.ts';
import { type FieldMaker, type RootEntry, RootType } from './root-type.ts';
import { compareOids, rootRoutines } from './routine-fields.ts';
import { scalarTypes } from './scalars.ts';

/** `Query`; never empty, because it has `node`. */
export function buildQueryType(context: SchemaContext, byName: TablesByName): RootType {
  return new RootType('Query', readingFields(context, byName, context.isVisible), describeRoot(context, 'Query'));
}

/** `Subscription`: the fields of `Query`, of namespaces with live queries; null where no namespace has them. */
export function buildSubscriptionType(context: SchemaContext, byName: TablesByName): RootType | null {
  const { model } = context;
  const live = new Set(
    model.namespaces.filter(({ extensions }) => extensions.includes('live')).map(({ name }) => name),
  );
  if (!model.namespaces.some(({ name }) => live.has(name) && context.isVisible(name))) return null;
  const isVisible = (namespace: string) => live.has(namespace) && context.isVisible(namespace);
  const fields = readingFields(context, byName, isVisible);
  return new RootType('Subscription', fields, describeRoot(context, 'Subscription'));
}

/** Fields of tables take precedence over routines. @param isVisible Of the namespaces that have any. */
function readingFields(
  context: SchemaContext,
  byName: TablesByName,
  isVisible: SchemaContext['isVisible'],
): RootFields {
  return new RootFields({
    routines: rootRoutines(context, 'query', isVisible),
    byName,
    // Tables that differ only in the case of the first letter have the same root names; the older one gets them.
    compare: (one, other) => compareOids(other.table.oid, one.table.oid),
    entriesOf: (table) => tableEntries(context, table, isVisible(table.namespace)),
    others: [['node', () => nodeField]],
  });
}

const nodeField: GraphQLFieldConfig<unknown, unknown> = {
  type: nodeInterface,
  args: { [nodeIdName]: typed(new GraphQLNonNull(scalarTypes.ID), { kind: 'node_id' }) },
  extensions: withOrigin({ kind: 'node' }),
};

function tableEntries(context: SchemaContext, table: Table, isVisible: boolean): RootEntry[] {
  const names = tableRootFields(table.baseName);
  const hasKey = table.byPk && hasKeyArguments(context, table);
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
