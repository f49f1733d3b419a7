/** Lists the additions of extensions to a table, with their GraphQL names, from the schema that answers requests. */
import { assertObjectType, type GraphQLInputField, type GraphQLSchema, isInputObjectType, isObjectType } from 'graphql';
import { listOf, objectOf, oneOf, text, type ValueOf } from '../../shared/schema.ts';
import { argumentAdditions, connectionArguments } from '../model/connection-arguments.ts';
import { rowWriteField } from '../model/extensions/row-writes.ts';
import { updateOperators } from '../model/extensions/update-operators.ts';
import { tableRootFields, tableTypeNames } from '../model/inflect.ts';
import type { Table } from '../model/model.ts';
import { isJson, isSearchable } from '../model/tables/columns.ts';
import { argumentOrigin, fieldOrigin, inputFieldOrigin } from '../schema/origin.ts';

/** The additions, in display order. */
const additions = [
  'related_filter', 'related_order', 'function_filter', 'function_order', 'json_filter', 'json_part', 'text_search', 'rank', 'many_to_many', 'nested_insert', 'nested_update',
  ...argumentAdditions, 'groups',
  'count_at_most', 'upsert', 'update_operator', 'update_many', 'row_write',
] as const; // biome-ignore format: a list of names
type Addition = (typeof additions)[number];

/** An addition with the names of its fields, arguments or entries of the inputs. */
export const describedAddition = objectOf({ kind: oneOf(...additions), names: listOf(text) });

/** The additions of extensions to a table; kinds without a name are not listed. */
export function describeAdditions(schema: GraphQLSchema, table: Table): readonly ValueOf<typeof describedAddition>[] {
  const found = new Map<Addition, string[]>(additions.map((kind) => [kind, []]));
  const add = (kind: Addition | null, name: string): void => {
    if (kind !== null) found.get(kind)!.push(name);
  };
  const names = tableTypeNames(table.baseName);
  for (const field of entriesOf(schema, names.filter)) add(filterKind(field), field.name);
  for (const field of entriesOf(schema, names.orderBy)) add(orderKind(field), field.name);
  for (const field of Object.values(assertObjectType(schema.getType(table.baseName)).getFields())) {
    const origin = fieldOrigin(field);
    if (origin.kind === 'rank' && !found.get('rank')!.includes(field.name)) add('rank', field.name);
    if (origin.kind === 'relationship' && origin.relationship.through !== null) add('many_to_many', field.name);
    if (field.args.some((argument) => argumentOrigin(argument).kind === 'json_at')) add('json_part', field.name);
  }
  for (const field of entriesOf(schema, names.insertInput))
    if (inputFieldOrigin(field).kind === 'nested') add('nested_insert', field.name);
  for (const field of entriesOf(schema, names.updateInput))
    if (inputFieldOrigin(field).kind === 'nested') add('nested_update', field.name);
  const list = schema.getQueryType()?.getFields()[tableRootFields(table.baseName).collection];
  for (const argument of list?.args ?? []) {
    const { kind } = argumentOrigin(argument);
    add(connectionArguments.find((each) => each.kind === kind)?.addition ?? null, argument.name);
  }
  const connection = schema.getType(names.connection);
  for (const field of isObjectType(connection) ? Object.values(connection.getFields()) : []) {
    if (fieldOrigin(field).kind === 'groups') add('groups', field.name);
    for (const argument of field.args)
      if (argumentOrigin(argument).kind === 'count_at_most') add('count_at_most', `${field.name}(${argument.name})`);
  }
  const mutations = schema.getMutationType()?.getFields() ?? {};
  const root = tableRootFields(table.baseName);
  for (const argument of mutations[root.insert]?.args ?? [])
    if (argumentOrigin(argument).kind === 'on_conflict') add('upsert', argument.name);
  for (const argument of mutations[root.update]?.args ?? [])
    if (updateOperators.some((operator) => operator === argumentOrigin(argument).kind))
      add('update_operator', argument.name);
  const many = mutations[root.updateMany];
  if (many !== undefined && fieldOrigin(many).kind === 'update_many') add('update_many', many.name);
  for (const command of table.rowWrites) {
    const name = rowWriteField(table, command);
    if (mutations[name] !== undefined) add('row_write', name);
  }
  return [...found].flatMap(([kind, given]) => (given.length === 0 ? [] : [{ kind, names: given }]));
}

function entriesOf(schema: GraphQLSchema, name: string): readonly GraphQLInputField[] {
  const type = schema.getType(name);
  return isInputObjectType(type) ? Object.values(type.getFields()) : [];
}

function filterKind(field: GraphQLInputField): Addition | null {
  const origin = inputFieldOrigin(field);
  if (origin.kind === 'relationship') return 'related_filter';
  if (origin.kind === 'function') return 'function_filter';
  if (origin.kind !== 'column') return null;
  if (isJson(origin.column.type)) return 'json_filter';
  return isSearchable(origin.column.type) && String(field.type) === 'TextSearchFilter' ? 'text_search' : null;
}

function orderKind(field: GraphQLInputField): Addition | null {
  const { kind } = inputFieldOrigin(field);
  if (kind === 'function') return 'function_order';
  return kind === 'related_order' || kind === 'rank' ? kind : null;
}
