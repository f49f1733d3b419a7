/** The object type of a table: its rows as a graph, each with a global id. */
import { type GraphQLFieldConfig, GraphQLInterfaceType, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { tableTypeNames } from '../../model/inflect.ts';
import type { Relationship, ResultColumn, Routine, Table } from '../../model/model.ts';
import { isJson } from '../../model/tables/columns.ts';
import { fieldMap } from '../field-map.ts';
import { typed, withOrigin } from '../origin.ts';
import type { SchemaContext } from '../schema-context.ts';
import { argumentsOfConnection } from './connection-types.ts';
import { jsonPathArgument } from './json-filter-types.ts';
import { buildRoutineField } from './routine-fields.ts';
import { scalarTypes } from './scalars.ts';
import { rankFields } from './search-types.ts';
import { valueType } from './value-type.ts';

type NamedOutputField = readonly [string, GraphQLFieldConfig<unknown, unknown> | null];

/** The name of the global id, which nothing may replace. */
export const nodeIdName = 'nodeId';

const nodeIdField = typed(new GraphQLNonNull(scalarTypes.ID), { kind: 'node_id' });

/** `interface Node { nodeId: ID! }`, shared by every schema. */
export const nodeInterface = new GraphQLInterfaceType({ name: 'Node', fields: { [nodeIdName]: nodeIdField } });

/**
 * *B*: the global id, columns, relationships, computed fields; then relationships, computed fields and ranks of extensions.
 *
 * Of several with one name, the last one is visible, except that nothing replaces the global id.
 */
export function buildObjectType(context: SchemaContext, table: Table): GraphQLObjectType {
  return new GraphQLObjectType({
    name: table.baseName,
    description: table.description,
    interfaces: [nodeInterface],
    fields: () => {
      const fieldsOf = (source: FieldSource) => [
        ...relationships(context, table, source),
        ...computedFields(context, table, source),
      ];
      const own = [
        ...columns(context, table),
        ...fieldsOf({ added: false }),
        ...fieldsOf({ added: true }),
        ...rankFields(context, table),
      ];
      return fieldMap([[nodeIdName, nodeIdField], ...own.filter(([name]) => name !== nodeIdName)]);
    },
  });
}

function columns(context: SchemaContext, table: Table): NamedOutputField[] {
  return table.columns.flatMap((column): NamedOutputField[] => {
    if (!column.readable || column.fieldName === null || column.type === null) return [];
    const field = columnField(context, table.namespace, column, column.neverNull);
    return [[column.fieldName, field && { ...field, description: column.description }]];
  });
}

/** The field of a column; null if this schema does not show its type. */
function columnField(context: SchemaContext, namespace: string, column: ResultColumn, isNeverNull: boolean) {
  const type = column.type && valueType(context, column.type);
  if (type === null) return null;
  const field = typed(isNeverNull ? new GraphQLNonNull(type) : type, { kind: 'column', column });
  const takesPath = context.hasReads(namespace) && isJson(column.type);
  return { ...field, ...(takesPath && { args: { at: jsonPathArgument } }) };
}

/** Registers the object type of a routine's result with columns of its own; without a visible column, there is none. */
export function defineResultType(
  context: SchemaContext,
  { namespace, result }: Routine,
  define: (name: string, make: () => GraphQLObjectType) => void,
): void {
  if (result.kind !== 'object') return;
  const entries = () =>
    result.columns.flatMap((column): NamedOutputField[] =>
      column.fieldName === null ? [] : [[column.fieldName, columnField(context, namespace, column, false)]],
    );
  if (entries().every(([, field]) => field === null)) return;
  define(result.typeName, () => new GraphQLObjectType({ name: result.typeName, fields: () => fieldMap(entries()) }));
}

/** Whether extensions add the fields. */
interface FieldSource {
  readonly added: boolean;
}

function relationships(context: SchemaContext, table: Table, { added }: FieldSource): NamedOutputField[] {
  return table.relationships.flatMap((relationship): NamedOutputField[] => {
    if (relationship.added !== added) return [];
    const target = context.model.tables.get(relationship.target);
    return target ? [[relationship.fieldName, relationshipField(context, relationship, target)]] : [];
  });
}

function relationshipField(
  context: SchemaContext,
  relationship: Relationship,
  target: Table,
): GraphQLFieldConfig<unknown, unknown> | null {
  const isMany = relationship.cardinality === 'many';
  const type = context.types.object(isMany ? tableTypeNames(target.baseName).connection : target.baseName);
  if (type === null) return null;
  return {
    type: relationship.nullable ? type : new GraphQLNonNull(type),
    ...(isMany && { args: argumentsOfConnection(context, target) }),
    extensions: withOrigin({ kind: 'relationship', relationship, target }),
  };
}

function computedFields(context: SchemaContext, table: Table, { added }: FieldSource): NamedOutputField[] {
  return table.computedFields.flatMap((oid): NamedOutputField[] => {
    const routine = context.model.routines.get(oid);
    return routine?.added === added ? [[routine.fieldName, buildRoutineField(context, routine)]] : [];
  });
}
