/** Example operations for a table, made from the schema. They run unchanged: writes name a row that hardly exists. */
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  parse,
  print,
} from 'graphql';
import { connectionArguments } from '../../../graphql/model/connection-arguments.ts';

/** An operation with a title of a few words. */
export interface ExampleOperation {
  readonly title: string;
  readonly query: string;
}

type Field = GraphQLField<unknown, unknown>;

/** A table as the schema shows it. */
interface Table {
  readonly node: GraphQLObjectType;
  /** The field of `Query` that lists its rows. */
  readonly list: Field;
}

const listArguments = connectionArguments.map(({ name }) => name);

/** Most leaf fields of a row in an example. */
const maxLeaves = 5;

/** Names of all listable table types, those with most relationships first. */
export function exampleTables(schema: GraphQLSchema): readonly string[] {
  const weight = ({ node }: Table): number => objectFieldsOf(node).length;
  return tablesOf(schema)
    .sort((one, other) => weight(other) - weight(one) || one.node.name.localeCompare(other.node.name))
    .map(({ node }) => node.name);
}

/** Operations on one of these tables. */
export function exampleOperations(schema: GraphQLSchema, name: string): readonly ExampleOperation[] {
  const table = tablesOf(schema).find(({ node }) => node.name === name);
  if (table === undefined) return [];
  const { node, list } = table;
  const rows = (args: string, more = '') => `${list.name}(${args}) { edges { node { ${leavesOf(node)} ${more} } } }`;
  const filter = filterOf(list);
  const order = argumentOf(list, 'orderBy');
  const [related] = objectFieldsOf(node).filter(({ type }) => nodeOf(type) === null);
  const [many] = objectFieldsOf(node).filter(({ type }) => nodeOf(type) !== null);
  const parts: readonly (readonly [title: string, query: string | null | undefined])[] = [
    ['First rows', `query ${name}Rows { ${rows('first: 5')} }`],
    [
      'Filtered and ordered',
      filter &&
        order &&
        `query ${name}Filtered { ${rows(`first: 5, filter: ${filter.text}, orderBy: [{ ${filter.column}: DescNullsLast }]`)} }`,
    ],
    ['Row by key', byKey(schema, table)],
    [
      'With its related row',
      related
        ? `query ${name}Related { ${rows('first: 5', `${related.name} { ${leavesOf(objectOf(related))} }`)} }`
        : null,
    ],
    [
      'With rows that refer to it',
      many
        ? `query ${name}Referring { ${rows('first: 5', `${many.name}(first: 3) { edges { node { ${leavesOf(nodeOf(many.type)!)} } } }`)} }`
        : null,
    ],
    ['Those with most rows that refer to it', many ? mostReferred(table, many, rows) : null],
    ['Groups', groups(table)],
    [
      'Page by page',
      `query ${name}Page($after: Cursor) { ${list.name}(first: 5, after: $after) {
        pageInfo { hasNextPage endCursor } edges { node { ${leavesOf(node)} } } } }`,
    ],
    ['Number of rows', count(table)],
    ...writes(schema, table),
  ];
  return parts.flatMap(([title, query]) => (query ? [{ title, query: print(parse(query)) }] : []));
}

/** A function of the database, with an operation that calls it. */
export interface ExampleFunction extends ExampleOperation {
  /** Its field. */
  readonly name: string;
  readonly description: string | null;
}

/** The functions among the root fields, by name. */
export function exampleFunctions(schema: GraphQLSchema): readonly ExampleFunction[] {
  const tables = tablesOf(schema);
  const nodes = new Set(tables.map(({ node }) => node));
  const isOfTable = ({ name, type, args }: Field): boolean => {
    const named = getNamedType(type);
    if (args.every((argument) => listArguments.includes(argument.name)) && nodeOf(type) !== null) return true;
    return name === 'node' || (/ByPk$/i.test(name) && isObjectType(named) && nodes.has(named));
  };
  const isWrite = ({ type, args }: Field) =>
    fieldTypeOf(getNamedType(type), 'affectedCount') !== null ||
    args.some((argument) => /(Insert|Update)Input$/.test(getNamedType(argument.type).name));
  const of = (kind: 'query' | 'mutation', root: GraphQLObjectType | null | undefined) =>
    Object.values(root?.getFields() ?? {})
      .filter((field) => !isOfTable(field) && !isWrite(field))
      .map((field) => callOf(kind, field));
  const found = [...of('query', schema.getQueryType()), ...of('mutation', schema.getMutationType())];
  return found.sort((one, other) => one.name.localeCompare(other.name));
}

/** Calls it with its own arguments, and reads what it returns. */
function callOf(kind: 'query' | 'mutation', { name, description, type, args }: Field): ExampleFunction {
  const own = args.filter((argument) => !listArguments.includes(argument.name));
  const node = nodeOf(type);
  const given = [...(node === null ? [] : ['first: 5']), ...own.map((each) => `${each.name}: ${literalOf(each.type)}`)];
  const named = getNamedType(type);
  const selection =
    node !== null ? `{ edges { node { ${leavesOf(node)} } } }` : isObjectType(named) ? `{ ${leavesOf(named)} }` : '';
  const call = `${name}${given.length > 0 ? `(${given.join(', ')})` : ''}`;
  const operation = `${kind} ${name.charAt(0).toUpperCase()}${name.slice(1)} { ${call} ${selection} }`;
  return { name, description: description ?? null, title: 'Call it', query: print(parse(operation)) };
}

function tablesOf(schema: GraphQLSchema): Table[] {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  const tables = fields.flatMap((list) => {
    const node = nodeOf(list.type);
    // A routine may return rows of a table, too.
    return node !== null && list.args.every(({ name }) => listArguments.includes(name)) ? [{ node, list }] : [];
  });
  return tables.filter(({ node }, index) => tables.findIndex((table) => table.node === node) === index);
}

/** Type of the rows of a connection; null for other types. */
function nodeOf(type: Field['type']): GraphQLObjectType | null {
  const edge = fieldTypeOf(getNamedType(type), 'edges');
  const node = fieldTypeOf(edge, 'node');
  return isObjectType(node) ? node : null;
}

function fieldTypeOf(type: unknown, field: string) {
  if (!isObjectType(type)) return null;
  const found = type.getFields()[field];
  return found === undefined ? null : getNamedType(found.type);
}

function objectOf({ type }: Field): GraphQLObjectType {
  return getNamedType(type) as GraphQLObjectType;
}

function argumentOf({ args }: Field, name: string) {
  return args.find((argument) => argument.name === name);
}

function plainFieldsOf(node: GraphQLObjectType): readonly Field[] {
  return Object.values(node.getFields()).filter(({ args }) => !args.some(isRequiredArgument));
}

function objectFieldsOf(node: GraphQLObjectType): readonly Field[] {
  return plainFieldsOf(node).filter(({ type }) => isObjectType(getNamedType(type)) && !isListType(type));
}

/** Never empty: a type without leaves has `__typename`. */
function leavesOf(node: GraphQLObjectType): string {
  const leaves = plainFieldsOf(node).filter(({ name, type }) => isLeafType(getNamedType(type)) && name !== 'nodeId');
  return ['__typename', ...leaves.map(({ name }) => name)].slice(leaves.length > 0 ? 1 : 0, maxLeaves + 1).join(' ');
}

/** A string column if there is one, otherwise any column. */
function filterOf(list: Field): { readonly column: string; readonly text: string } | null {
  const columns = inputFieldsOf(argumentOf(list, 'filter')?.type);
  for (const [operator, value] of [
    ['ilike', '"%a%"'],
    ['is', 'NOT_NULL'],
  ] as const) {
    const column = columns.find(({ type }) => inputFieldsOf(type).some(({ name }) => name === operator));
    if (column !== undefined) return { column: column.name, text: `{ ${column.name}: { ${operator}: ${value} } }` };
  }
  return null;
}

function inputFieldsOf(type: GraphQLInputType | undefined): readonly GraphQLInputField[] {
  const named = type === undefined ? undefined : getNamedType(type);
  return isInputObjectType(named) ? Object.values(named.getFields()) : [];
}

/** The field that reads one row by its key: all of its arguments are the key. */
function keyFieldOf(schema: GraphQLSchema, { node }: Table): Field | undefined {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  return fields.find(
    ({ name, type, args }) =>
      getNamedType(type) === node && /ByPk$/i.test(name) && args.length > 0 && args.every(isRequiredArgument),
  );
}

function byKey(schema: GraphQLSchema, table: Table): string | null {
  const field = keyFieldOf(schema, table);
  if (field === undefined) return null;
  const args = field.args.map(({ name, type }) => `${name}: ${literalOf(type)}`).join(', ');
  return `query ${table.node.name}ByKey { ${field.name}(${args}) { ${leavesOf(table.node)} } }`;
}

function count({ node, list }: Table): string | null {
  const connection = getNamedType(list.type);
  if (fieldTypeOf(connection, 'totalCount')) return `query ${node.name}Count { ${list.name} { totalCount } }`;
  if (fieldTypeOf(fieldTypeOf(connection, 'aggregate'), 'count')) {
    return `query ${node.name}Count { ${list.name} { aggregate { count } } }`;
  }
  return null;
}

/** Rows that others refer to, those with most of them first; null where filters and orders lead to no related rows. */
function mostReferred({ node, list }: Table, { name }: Field, rows: (args: string) => string): string | null {
  const entryOf = (argument: string, entry: string) =>
    inputFieldsOf(inputFieldsOf(argumentOf(list, argument)?.type).find((field) => field.name === name)?.type).some(
      (field) => field.name === entry,
    );
  if (!entryOf('filter', 'some') || !entryOf('orderBy', 'count')) return null;
  const args = `first: 5, filter: { ${name}: { some: {} } }, orderBy: [{ ${name}: { count: DescNullsLast } }]`;
  return `query ${node.name}MostReferred { ${rows(args)} }`;
}

/** By the first column of an enum, else of what is no key. */
function groups({ node, list }: Table): string | null {
  const group = fieldTypeOf(getNamedType(list.type), 'groups');
  const keys = fieldTypeOf(group, 'key');
  const columns = isObjectType(keys) ? Object.values(keys.getFields()) : [];
  const column = columns.find(({ type }) => isEnumType(getNamedType(type))) ?? columns[1] ?? columns[0];
  if (column === undefined) return null;
  return `query ${node.name}Groups { ${list.name} { groups(by: [{ column: ${column.name} }], orderBy: [{ count: DescNullsLast }], first: 5) {
    key { ${column.name} } count } } }`;
}

/** An insert if no other row is required first; update and delete by key. */
function writes(schema: GraphQLSchema, table: Table): readonly (readonly [title: string, query: string | null])[] {
  const { node } = table;
  const fields = Object.values(schema.getMutationType()?.getFields() ?? {});
  const own = fields.filter(
    (field) => fieldTypeOf(getNamedType(field.type), 'records') === node && argumentOf(field, 'updates') === undefined,
  );
  const key = keyFieldOf(schema, table)?.args ?? [];
  const filter = key.map(({ name, type }) => `${name}: { eq: ${literalOf(type)} }`).join(', ');
  const answer = `{ affectedCount records { ${leavesOf(node)} } }`;
  /** The inputs of an argument with known values. */
  const inputsOf = (argument: GraphQLArgument) =>
    inputFieldsOf(argument.type)
      .filter(({ type }) => isListType(type) || isEnumType(type) || getNamedType(type).name in values)
      .map(({ name, type }) => `${name}: ${literalOf(type)}`);
  const isFree = !objectFieldsOf(node).some(({ type }) => nodeOf(type) === null);
  return own.map((field) => {
    const [objects, set] = [argumentOf(field, 'objects'), argumentOf(field, 'set')];
    if (objects !== undefined) {
      const row = inputsOf(objects).join(', ');
      const insert = `mutation ${node.name}Insert { ${field.name}(objects: [{ ${row} }]) ${answer} }`;
      return ['Insert a row', isFree && row !== '' ? insert : null];
    }
    if (set !== undefined) {
      const [value] = inputsOf(set).filter((text) => !key.some(({ name }) => text.startsWith(`${name}: `)));
      const change = `mutation ${node.name}Change { ${field.name}(set: { ${value} }, filter: { ${filter} }) ${answer} }`;
      return ['Change a row', filter !== '' && value !== undefined ? change : null];
    }
    const remove = `mutation ${node.name}Delete { ${field.name}(filter: { ${filter} }) ${answer} }`;
    return ['Delete a row', filter === '' ? null : remove];
  });
}

const values: Readonly<Record<string, string>> = {
  Boolean: 'false',
  Int: '-1',
  Float: '-1',
  BigInt: '"-1"',
  BigFloat: '"-1"',
  UUID: '"00000000-0000-0000-0000-000000000000"',
  Date: '"2000-01-01"',
  Time: '"12:00:00"',
  Datetime: '"2000-01-01T12:00:00Z"',
  JSON: '"{}"',
  String: '"A"',
  ID: '"A"',
};

/** A value of the type, as a literal. */
function literalOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return literalOf(type.ofType);
  if (isListType(type)) return '[]';
  return isEnumType(type) ? (type.getValues()[0]?.name ?? 'null') : (values[type.name] ?? '"A"');
}
