/**
 * The query root: `node`, every table's collection and lookup by key, and the routines that only read (graphql.md 5.1).
 */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import { byPkField, connectionName, rootCollectionField } from '../model/inflect.ts';
import type { Column, Table } from '../model/model.ts';
import { connectionArguments } from './connection-types.ts';
import { fieldMap, sortByName } from './field-map.ts';
import { nodeIdName, nodeInterface } from './node-interface.ts';
import { withOrigin } from './origin.ts';
import { compareOids, rootRoutines } from './root-routines.ts';
import { scalarTypes } from './scalars.ts';
import type { SchemaContext } from './schema-context.ts';
import { valueType } from './value-type.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;
type Entry = readonly [string, Field | null];

/** `Query`; never empty, because `node` is always there. Fields of tables win over routines. */
export function buildQueryType(context: SchemaContext): GraphQLObjectType {
  return new GraphQLObjectType({
    name: 'Query',
    fields: () =>
      sortByName(fieldMap([...rootRoutines(context, 'query'), ...tableEntries(context), ['node', nodeField] as const])),
  });
}

const nodeField: Field = {
  type: nodeInterface,
  args: { [nodeIdName]: { type: new GraphQLNonNull(scalarTypes.ID), extensions: withOrigin({ kind: 'node_id' }) } },
  extensions: withOrigin({ kind: 'node' }),
};

function tableEntries(context: SchemaContext): Entry[] {
  // Tables that differ only in the case of the first letter share their root names; the older one keeps them (1.8).
  const youngestFirst = [...context.model.tables.values()].sort((a, b) => compareOids(b.oid, a.oid));
  return youngestFirst.flatMap((table) => {
    const lookup = byPk(context, table);
    return [
      ...(table.rootField ? [[rootCollectionField(table.baseName), collection(context, table)] as const] : []),
      ...(lookup === null ? [] : [[byPkField(table.baseName), lookup.field] as const]),
    ];
  });
}

function collection(context: SchemaContext, table: Table): Field | null {
  const type = context.types.object(connectionName(table.baseName));
  if (type === null) return null;
  return {
    type: new GraphQLNonNull(type),
    args: connectionArguments(context, table),
    extensions: withOrigin({ kind: 'collection', table }),
  };
}

/** The lookup by key; null without one, a null field where this schema does not show the table. */
function byPk(context: SchemaContext, table: Table): { readonly field: Field | null } | null {
  const args = table.byPk ? keyArguments(context, table) : null;
  if (args === null) return null;
  const type = context.types.object(table.baseName);
  return { field: type && { type, args, extensions: withOrigin({ kind: 'by_pk', table }) } };
}

/** One required argument per key column, in key order; null when not every column can be one. */
function keyArguments(context: SchemaContext, table: Table): GraphQLFieldConfigArgumentMap | null {
  const byNumber = new Map(table.columns.map((column) => [column.number, column]));
  const args: GraphQLFieldConfigArgumentMap = {};
  for (const number of table.primaryKey) {
    const column = byNumber.get(number);
    const type = column?.type ? valueType(context, column.type) : null;
    if (!column || !type || column.fieldName === null) return null;
    args[column.fieldName] = { type: new GraphQLNonNull(type), extensions: keyOrigin(column) };
  }
  // Two key columns with one field name leave no way to give both values.
  return Object.keys(args).length === table.primaryKey.length ? args : null;
}

function keyOrigin(column: Column) {
  return withOrigin({ kind: 'key', column });
}
