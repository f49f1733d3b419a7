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
  type GraphQLObjectType,
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
} from '../../model/inflect.ts';
import type { Table } from '../../model/model.ts';
import { withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { rootRoutines } from './root-routines.ts';
import { type FieldMaker, type RootEntry, RootType } from './root-type.ts';
import { scalarTypes } from './scalars.ts';

type Field = GraphQLFieldConfig<unknown, unknown>;

/** `Mutation`, null when it would have no field. Fields of tables win over routines. */
export function buildMutationType(context: SchemaContext): GraphQLObjectType | null {
  const mutation = new RootType('Mutation', () => mutationEntries(context));
  return hasWritableTable(context) || Object.keys(mutation.getFields()).length > 0 ? mutation : null;
}

/** The usual case, answered without looking at all fields. */
function hasWritableTable({ model, types }: SchemaContext): boolean {
  return [...model.tables.values()].some(({ baseName }) =>
    [insertResponseName, updateResponseName, deleteResponseName].some((nameOf) => types.has(nameOf(baseName))),
  );
}

function mutationEntries(context: SchemaContext): RootEntry[] {
  const tables = [...context.model.tables.values()].flatMap((table) => tableEntries(context, table));
  return [...rootRoutines(context, 'mutation'), ...tables];
}

function tableEntries(context: SchemaContext, table: Table): RootEntry[] {
  const { baseName } = table;
  const ifVisible = (response: string, make: FieldMaker) => (context.types.has(response) ? make : null);
  const makeInsert = ifVisible(insertResponseName(baseName), () => insert(context, table));
  const makeUpdate = ifVisible(updateResponseName(baseName), () => update(context, table));
  const makeDelete = ifVisible(deleteResponseName(baseName), () => remove(context, table));
  return [
    ...(table.insert ? [[insertField(baseName), makeInsert] as const] : []),
    ...(table.update ? [[updateField(baseName), makeUpdate] as const] : []),
    ...(table.delete ? [[deleteField(baseName), makeDelete] as const] : []),
  ];
}

function insert({ types }: SchemaContext, table: Table): Field {
  const input = types.input(insertInputName(table.baseName))!;
  const list = new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(input)));
  return {
    type: types.object(insertResponseName(table.baseName))!,
    args: { objects: { type: list, extensions: withOrigin({ kind: 'objects' }) } },
    extensions: withOrigin({ kind: 'insert', table }),
  };
}

function update({ types }: SchemaContext, table: Table): Field {
  const input = types.input(updateInputName(table.baseName))!;
  return {
    type: new GraphQLNonNull(types.object(updateResponseName(table.baseName))!),
    args: {
      set: { type: new GraphQLNonNull(input), extensions: withOrigin({ kind: 'set' }) },
      ...guardArguments(types.input(filterName(table.baseName))!),
    },
    extensions: withOrigin({ kind: 'update', table }),
  };
}

function remove({ types }: SchemaContext, table: Table): Field {
  return {
    type: new GraphQLNonNull(types.object(deleteResponseName(table.baseName))!),
    args: guardArguments(types.input(filterName(table.baseName))!),
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
