/**
 * Describes one table of a role's schema in the detail that a table editor needs: how each column is filtered, ordered and
 * written, and how rows lead to others.
 *
 * Read from the schema that answers the role's requests. Unlike introspection, it works where the role may not read its schema.
 */
import {
  assertObjectType,
  type GraphQLInputField,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import {
  about,
  flag,
  integer,
  listOf,
  named,
  objectOf,
  oneOf,
  orNull,
  text,
  type ValueOf,
} from '../../shared/schema.ts';
import { quotePath } from '../catalog/quote-name.ts';
import { tableRootFields, tableTypeNames } from '../model/inflect.ts';
import type { Column, Model, Relationship, Table } from '../model/model.ts';
import { fieldOrigin, type InputFieldOrigin, inputFieldOrigin } from '../schema/origin.ts';
import type { Reflector } from './reflector.ts';

const typed = about(text, 'As GraphQL writes it: `[String!]`.');
const input = orNull(about(text, 'Type of the entry of the input; null: none.'));

const describedColumn = objectOf({
  name: text,
  column: about(text, 'As SQL names it.'),
  type: about(text, 'As GraphQL writes it: `[String]!`.'),
  description: orNull(text),
  isKey: flag,
  isRead: about(flag, 'The object type has it.'),
  hasDefault: about(flag, 'An insert without it may give it a value other than null.'),
  operators: about(listOf(objectOf({ name: text, type: typed })), 'Of the filter; none: it cannot be filtered.'),
  isOrdered: about(flag, 'Rows can be ordered by it.'),
  insert: input,
  update: input,
});

const describedLink = objectOf({
  name: text,
  target: about(text, 'Object type of the related rows.'),
  isList: flag,
  isForeignKey: about(flag, 'The table has the foreign key, not the other.'),
  pairs: about(
    listOf(objectOf({ local: text, foreign: text })),
    'Fields with equal values; none for a junction table.',
  ),
  isFiltered: about(flag, 'Rows can be filtered by the related rows: a list by `some`, `every`, `none`.'),
  inserts: about(listOf(oneOf('insert', 'connect')), 'What an insert does with the related rows; none: nothing.'),
  updates: about(
    listOf(oneOf('insert', 'update', 'delete', 'connect', 'disconnect', 'replace')),
    'What an update does with the related rows; none: nothing.',
  ),
});

/** A table of a role. */
export const describedRoleTable = named(
  'RoleTable',
  objectOf({
    role: text,
    name: about(text, 'Of its object type.'),
    object: about(text, 'As SQL writes it.'),
    kind: oneOf('table', 'partitioned_table', 'view', 'materialized_view', 'foreign_table'),
    description: orNull(text),
    rowSecurity: flag,
    maxRows: about(integer, 'Of one page.'),
    jsonValues: about(flag, 'JSON travels as values, not as texts.'),
    collection: orNull(about(text, 'Field of the query root; null: none.')),
    totalCount: about(flag, 'Rows can be counted.'),
    countAtMost: about(flag, 'The count can be bounded: `totalCount(atMost:)`.'),
    live: about(flag, 'Its rows can be subscribed to.'),
    insert: orNull(about(text, 'Field of the mutation root; null: none.')),
    update: orNull(text),
    delete: orNull(text),
    nodeId: orNull(about(text, 'Field with the global ID; null: none.')),
    columns: listOf(describedColumn),
    relationships: listOf(describedLink),
    enums: listOf(objectOf({ name: text, values: listOf(text) })),
  }),
);

/** A table of a role. */
export type DescribedRoleTable = ValueOf<typeof describedRoleTable>;
type DescribedColumn = ValueOf<typeof describedColumn>;
type DescribedLink = ValueOf<typeof describedLink>;

/**
 * Makes the function that describes a table of a running gateway, by the current catalog.
 *
 * @returns Null for a role that the database does not have, or a table that the role does not see. @throws DatabaseError
 */
export function createTableDescriber(reflector: Pick<Reflector, 'role' | 'refreshIfChanged'>) {
  return async (role: string, name: string): Promise<DescribedRoleTable | null> => {
    await reflector.refreshIfChanged('description');
    const reflection = await reflector.role(role, null);
    if (reflection === null) return null;
    const { model, schema } = reflection.shared;
    for (const table of model.tables.values()) {
      if (table.baseName === name) return { role, ...describeTable(schema, model, table) };
    }
    return null;
  };
}

function describeTable(schema: GraphQLSchema, model: Model, table: Table): Omit<DescribedRoleTable, 'role'> {
  const { baseName, namespace, name, kind, description, rowSecurity, maxRows } = table;
  const root = tableRootFields(baseName);
  const types = tableTypeNames(baseName);
  const connection = schema.getType(types.connection);
  const count = connection && assertObjectType(connection).getFields().totalCount;
  const fields = Object.values(assertObjectType(schema.getType(baseName)).getFields());
  const columns = describeColumns(schema, table);
  return {
    name: baseName,
    object: quotePath(namespace, name),
    kind,
    description,
    rowSecurity,
    maxRows,
    jsonValues: model.namespaces.some((each) => each.name === namespace && each.jsonValues),
    collection: table.rootField ? root.collection : null,
    totalCount: count !== undefined,
    countAtMost: count?.args.some((argument) => argument.name === 'atMost') ?? false,
    live: table.rootField && schema.getSubscriptionType()?.getFields()[root.collection] !== undefined,
    insert: table.insert ? root.insert : null,
    update: table.update ? root.update : null,
    delete: table.delete ? root.delete : null,
    nodeId: fields.find((field) => fieldOrigin(field).kind === 'node_id')?.name ?? null,
    columns,
    relationships: describeLinks(schema, model, table),
    enums: describeEnums(schema, columns),
  };
}

/** Those of the object type, then those that can only be inserted. */
function describeColumns(schema: GraphQLSchema, table: Table): readonly DescribedColumn[] {
  const types = tableTypeNames(table.baseName);
  const filters = byName(schema, types.filter);
  const orders = byName(schema, types.orderBy);
  const inserts = byName(schema, types.insertInput);
  const updates = byName(schema, types.updateInput);
  const describe = (name: string, type: string, column: Column, isRead: boolean): DescribedColumn => {
    const of = (entries: ReadonlyMap<string, GraphQLInputField>): GraphQLInputField | null => {
      const entry = entries.get(name);
      return entry !== undefined && inputFieldOrigin(entry).kind === 'column' ? entry : null;
    };
    const filter = getNamedType(of(filters)?.type);
    const operators = isInputObjectType(filter) ? Object.values(filter.getFields()) : [];
    const insert = of(inserts);
    const update = of(updates);
    return {
      name,
      column: column.name,
      type,
      description: column.description,
      isKey: table.primaryKey.includes(column.number),
      isRead,
      hasDefault: column.hasDefault,
      operators: operators.map((operator) => ({ name: operator.name, type: String(operator.type) })),
      isOrdered: of(orders) !== null,
      insert: insert && String(insert.type),
      update: update && String(update.type),
    };
  };
  const described = new Map<string, DescribedColumn>();
  for (const field of Object.values(assertObjectType(schema.getType(table.baseName)).getFields())) {
    const origin = fieldOrigin(field);
    const column = origin.kind === 'column' && table.columns.find(({ name }) => name === origin.column.name);
    if (column) described.set(field.name, describe(field.name, String(field.type), column, true));
  }
  for (const [name, entry] of inserts) {
    const origin = inputFieldOrigin(entry);
    if (origin.kind !== 'column' || described.has(name)) continue;
    described.set(name, describe(name, String(entry.type), origin.column, false));
  }
  return [...described.values()];
}

function describeLinks(schema: GraphQLSchema, model: Model, table: Table): readonly DescribedLink[] {
  const types = tableTypeNames(table.baseName);
  const filters = byName(schema, types.filter);
  const inserts = byName(schema, types.insertInput);
  const updates = byName(schema, types.updateInput);
  return Object.values(assertObjectType(schema.getType(table.baseName)).getFields()).flatMap((field) => {
    const origin = fieldOrigin(field);
    if (origin.kind !== 'relationship') return [];
    const { relationship, target } = origin;
    return {
      name: field.name,
      target: target.baseName,
      isList: relationship.cardinality === 'many',
      isForeignKey: relationship.direction === 'outbound',
      pairs: pairsOf(table, relationship, model.tables.get(relationship.target) ?? target),
      isFiltered: entryOf(filters, field.name, 'relationship') !== null,
      inserts: writesOf(inserts, field.name, ['insert', 'connect']),
      updates: writesOf(updates, field.name, ['insert', 'update', 'delete', 'connect', 'disconnect', 'replace']),
    };
  });
}

function entryOf(entries: ReadonlyMap<string, GraphQLInputField>, name: string, kind: InputFieldOrigin['kind']) {
  const entry = entries.get(name);
  return entry !== undefined && inputFieldOrigin(entry).kind === kind ? entry : null;
}

/** The writes that the entry of an input offers for related rows. */
function writesOf<T extends string>(
  entries: ReadonlyMap<string, GraphQLInputField>,
  name: string,
  writes: readonly T[],
): readonly T[] {
  const type = getNamedType(entryOf(entries, name, 'nested')?.type);
  return isInputObjectType(type) ? writes.filter((write) => write in type.getFields()) : [];
}

/** By field names; none if a column has none. */
function pairsOf(table: Table, { pairs }: Relationship, target: Table): DescribedLink['pairs'] {
  const named = pairs.flatMap(({ local, foreign }) => {
    const here = fieldOf(table, local);
    const there = fieldOf(target, foreign);
    return here === null || there === null ? [] : { local: here, foreign: there };
  });
  return named.length === pairs.length ? named : [];
}

function fieldOf({ columns }: Table, number: number): string | null {
  const column = columns.find((candidate) => candidate.number === number);
  return column?.readable ? column.fieldName : null;
}

function describeEnums(schema: GraphQLSchema, columns: readonly DescribedColumn[]): DescribedRoleTable['enums'] {
  const names = new Set(columns.map(({ type }) => type.replace(/[[\]!]/g, '')));
  return [...names].flatMap((name) => {
    const type = schema.getType(name);
    return isEnumType(type) ? { name, values: type.getValues().map((value) => value.name) } : [];
  });
}

function byName(schema: GraphQLSchema, name: string): ReadonlyMap<string, GraphQLInputField> {
  const type = schema.getType(name);
  return new Map(isInputObjectType(type) ? Object.entries(type.getFields()) : []);
}
