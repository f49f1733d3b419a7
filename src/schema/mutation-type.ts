/**
 * The mutation root: insert, update and delete of every table that allows them, and the routines that may write
 * (graphql.md 10, 11). It exists only where it has a field.
 */
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
} from 'graphql';
import {
  deleteField,
  deleteResponseName,
  filterName,
  insertField,
  insertInputName,
  insertResponseName,
  updateField,
  updateInputName,
  updateResponseName,
} from '../model/inflect.ts';
import type { Table } from '../model/model.ts';
import { fieldMap, sortByName } from './field-map.ts';
import { withOrigin } from './origin.ts';
import { rootRoutines } from './root-routines.ts';
import { scalarTypes } from './scalars.ts';
import type { SchemaContext } from './schema-context.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;
type Entry = readonly [string, Field | null];

/** `Mutation`, null when it would have no field. Fields of tables win over routines. */
export function buildMutationType(context: SchemaContext): GraphQLObjectType | null {
  if (!hasWritableTable(context) && Object.keys(mutationFields(context)).length === 0) return null;
  return new GraphQLObjectType({ name: 'Mutation', fields: () => mutationFields(context) });
}

/** The usual case, answered without making a field. */
function hasWritableTable({ model, types }: SchemaContext): boolean {
  return [...model.tables.values()].some(
    (table) => types.has(table.baseName) && (table.insert || table.update || table.delete),
  );
}

function mutationFields(context: SchemaContext): Record<string, Field> {
  const tables = [...context.model.tables.values()].flatMap((table) => tableEntries(context, table));
  return sortByName(fieldMap([...rootRoutines(context, 'mutation'), ...tables]));
}

function tableEntries(context: SchemaContext, table: Table): Entry[] {
  const { baseName } = table;
  return [
    ...(table.insert ? [[insertField(baseName), insert(context, table)] as const] : []),
    ...(table.update ? [[updateField(baseName), update(context, table)] as const] : []),
    ...(table.delete ? [[deleteField(baseName), remove(context, table)] as const] : []),
  ];
}

function insert({ types }: SchemaContext, table: Table): Field | null {
  const type = types.object(insertResponseName(table.baseName));
  const input = types.input(insertInputName(table.baseName));
  if (type === null || input === null) return null;
  const list = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(input)));
  return {
    type,
    args: { objects: { type: list, extensions: withOrigin({ kind: 'objects' }) } },
    extensions: withOrigin({ kind: 'insert', table }),
  };
}

function update({ types }: SchemaContext, table: Table): Field | null {
  const type = types.object(updateResponseName(table.baseName));
  const input = types.input(updateInputName(table.baseName));
  const filter = types.input(filterName(table.baseName));
  if (type === null || input === null || filter === null) return null;
  return {
    type: new GraphQLNonNull(type),
    args: {
      set: { type: new GraphQLNonNull(input), extensions: withOrigin({ kind: 'set' }) },
      ...guardArguments(filter),
    },
    extensions: withOrigin({ kind: 'update', table }),
  };
}

function remove({ types }: SchemaContext, table: Table): Field | null {
  const type = types.object(deleteResponseName(table.baseName));
  const filter = types.input(filterName(table.baseName));
  if (type === null || filter === null) return null;
  return {
    type: new GraphQLNonNull(type),
    args: guardArguments(filter),
    extensions: withOrigin({ kind: 'delete', table }),
  };
}

/** Which rows, and how many at most. */
function guardArguments(filter: GraphQLInputObjectType): GraphQLFieldConfigArgumentMap {
  return {
    filter: { type: filter, extensions: withOrigin({ kind: 'filter' }) },
    atMost: {
      type: new GraphQLNonNull(scalarTypes.Int),
      default: { value: 1 },
      extensions: withOrigin({ kind: 'at_most' }),
    },
  };
}
