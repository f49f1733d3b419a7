/**
 * What to write instead of a mistake that graphql-js has found in a document or in variables: the form of this API.
 *
 * A hint stands beside the message, which stays that of graphql-js. Hints with names that the caller has not sent are
 * marked, because only who may discover the schema gets them.
 */
import {
  type GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  Kind,
} from 'graphql';
import pluralize from 'pluralize';
import { updateOperators } from '../model/extensions/update-operators.ts';
import { fieldOrigin, type InputFieldOrigin, inputFieldOrigin } from './origin.ts';
import { StringEnumType } from './types/enum-types.ts';
import { orderByDirectionType } from './types/order-by-direction.ts';

/** What to write instead. */
export interface Correction {
  readonly hint: string;
  /** It has names that the caller has not sent. */
  readonly namesSchema: boolean;
}

/** How much of a message is read, in characters: it may end with a megabyte of what the client has sent. */
const maxRead = 1000;

/** How many mistakes of a request are explained. Clients repair the first ones first. */
const mostExplained = 3;

/**
 * The corrections of the first mistakes; null where none is known.
 *
 * @param mayDiscover False: without those that name what the caller has not sent.
 */
export function explainMistakes(
  schema: GraphQLSchema,
  errors: readonly GraphQLError[],
  mayDiscover: boolean,
): readonly (Correction | null)[] {
  return errors.slice(0, mostExplained).map((error) => {
    const correction = explainMistake({ schema, mayDiscover }, error);
    return correction === null || mayDiscover || !correction.namesSchema ? correction : null;
  });
}

interface Place {
  readonly schema: GraphQLSchema;
  readonly mayDiscover: boolean;
}

function explainMistake(place: Place, error: GraphQLError): Correction | null {
  const message = error.message.slice(0, maxRead);
  for (const [pattern, explain] of explanations) {
    const found = pattern.exec(message);
    if (found === null) continue;
    const [, first = '', second = ''] = found;
    return explain(place, error, [first, second]);
  }
  return null;
}

type Explain = (place: Place, error: GraphQLError, found: readonly [string, string]) => Correction | null;

/** Messages of graphql-js, with what is found in them. */
const explanations: readonly (readonly [RegExp, Explain])[] = [
  [/Expected value of type "(\w+)!?" to be an object, found: (.*?)\.?$/s, correctObject],
  [/Value "(\w+)" does not exist in "OrderByDirection" enum/, correctDirection],
  [/Value "(\w+)" does not exist in "(\w+)" enum/, correctEnum],
  [/\bJSON accepts a string, found: /, () => form('Send the text of the JSON, such as "{\\"a\\": 1}".')],
  [/^Unknown type "(\w+)"/, correctType],
  [/\b(?:String cannot represent a non string value: |accepts a string, found: )([\w.+-]+?)\.?$/, correctText],
  [/Expected value of type "(\w+)!?" not to include unknown field "(\w+)"/, correctInputField],
  [/^Argument "\w+\.(\w+)\(set:\)" of type /, correctUpdate],
  [/^Unknown argument "(\w+)" on field "([\w.]+)"/, correctArgument],
  [/^Cannot query field "(\w+)" on type "(\w+)"/, correctField],
  [
    /^The mutation operation is not supported/,
    () =>
      form(
        'The role writes nothing that it reads: grant SELECT, and INSERT, UPDATE or DELETE, on a table, or EXECUTE on a volatile function.',
      ),
  ],
];

const form = (hint: string): Correction => ({ hint, namesSchema: false });
const name = (hint: string): Correction => ({ hint, namesSchema: true });

/** A value where a filter or an order is an object. */
function correctObject({ schema }: Place, error: GraphQLError, [typeName, found]: readonly [string, string]) {
  const type = schema.getType(typeName);
  if (!isInputObjectType(type)) return null;
  const fields = type.getFields();
  const place = placeOf(error);
  const isPlace = (kind: InputFieldOrigin['kind']) => Object.values(fields).some(hasKind(kind));
  if (isPlace('search')) {
    const words = found.startsWith('"') ? shorten(found) : '"WORDS"';
    return form(`Say what is searched: ${place ?? 'COLUMN'}: { websearch: ${words} }.`);
  }
  if (isPlace('group_column'))
    return form(`Name the column: by: [{ column: ${/^\w+$/.test(found) ? found : 'COLUMN'} }].`);
  if (fields.eq !== undefined && inputFieldOrigin(fields.eq).kind === 'operator') {
    const isList = found.startsWith('[') && fields.in !== undefined;
    return form(`Name the comparison: ${place ?? 'COLUMN'}: { ${isList ? 'in' : 'eq'}: ${shorten(found)} }.`);
  }
  const direction = orderByDirectionType.getValue(found) === undefined ? 'DescNullsLast' : found;
  if (isPlace('direction')) {
    const given = Object.values(fields).filter(hasKind('routine_argument'));
    const values = given.map((field) => `${field.name}: …, `).join('');
    return name(`Give the arguments: ${place ?? 'FUNCTION'}: { ${values}direction: ${direction} }.`);
  }
  const isOrder = Object.values(fields).some((field) => getNamedType(field.type) === orderByDirectionType);
  if (isOrder) return form(`Name the column and the direction: ${within(place ?? 'orderBy', `COLUMN: ${direction}`)}.`);
  return fields.and === undefined
    ? null
    : form(`Name the column and the comparison: ${within(place ?? 'filter', 'COLUMN: { eq: VALUE }')}.`);
}

/** An object with the member, under the name of an argument or field. */
function within(place: string, member: string): string {
  return ['orderBy', 'and', 'or'].includes(place) ? `${place}: [{ ${member} }]` : `${place}: { ${member} }`;
}

function hasKind(kind: InputFieldOrigin['kind']) {
  return (field: GraphQLInputField) => inputFieldOrigin(field).kind === kind;
}

function correctDirection(_place: Place, error: GraphQLError, [found]: readonly [string, string]) {
  const direction = /desc/i.test(found) ? 'DescNullsLast' : 'AscNullsLast';
  const all = 'Directions are AscNullsFirst, AscNullsLast, DescNullsFirst and DescNullsLast.';
  return form(`Write orderBy: [{ ${placeOf(error) ?? 'COLUMN'}: ${direction} }]. ${all}`);
}

/** Most values of an enum that are listed. */
const maxValues = 20;

function correctEnum({ schema }: Place, error: GraphQLError, [, typeName]: readonly [string, string]) {
  const type = schema.getType(typeName);
  if (!isEnumType(type) || error.message.includes('Did you mean')) return null;
  const values = type.getValues().map((value) => value.name);
  const labels = type instanceof StringEnumType ? [...type.rawLabels].map((label) => JSON.stringify(label)) : [];
  if (values.length + labels.length > maxValues) return null;
  const strings =
    labels.length === 0 ? '' : ` Write ${listNames(labels)} as ${labels.length === 1 ? 'a string' : 'strings'}.`;
  return name(`${typeName} has ${listNames(values)}.${strings}`);
}

/** A name or number where a text is. */
function correctText(_place: Place, _error: GraphQLError, [found]: readonly [string, string]) {
  return form(`Send a string: "${shorten(found)}".`);
}

/** Scalars, by what they are called elsewhere, in small letters. */
const scalarNames: Readonly<Record<string, RegExp>> = {
  Boolean: /^bool(?:ean)?$/,
  Int: /^(?:int|integer|int[24]|smallint|short)$/,
  BigInt: /^(?:bigint|int8|long|int64)$/,
  Float: /^(?:float|float[48]|double|real|number)$/,
  BigFloat: /^(?:bigfloat|numeric|decimal|bigdecimal)$/,
  String: /^(?:string|text|varchar|citext|bpchar)$/,
  Date: /^date$/,
  Time: /^time$/,
  Datetime: /^(?:datetime|timestamp|timestamptz)$/,
  UUID: /^[ug]uid$/,
  JSON: /^(?:jsonb?|jsonobject)$/,
  ID: /^id$/,
  Cursor: /^cursor$/,
};

/** A type that every schema has, under the name of another API or of PostgreSQL. */
function correctType(_place: Place, _error: GraphQLError, [asked]: readonly [string, string]) {
  const meant = Object.keys(scalarNames).find((scalar) => scalarNames[scalar]!.test(asked.toLowerCase()));
  return meant === undefined ? null : form(`The type is called ${meant} here.`);
}

/** A field that an input does not have: an operator of another API, a column in another spelling or without operators. */
function correctInputField({ schema }: Place, error: GraphQLError, [typeName, asked]: readonly [string, string]) {
  const type = schema.getType(typeName);
  if (!isInputObjectType(type)) return null;
  const fields = Object.values(type.getFields());
  const isOurs = fields.every((field) => !databaseKinds.has(inputFieldOrigin(field).kind));
  if (isOurs) return form(`${typeName} has ${listNames(fields.map((field) => field.name))}.`);
  if (error.message.includes('Did you mean')) return null;
  const meant = fields.find((field) => plain(field.name) === plain(asked));
  return meant === undefined ? explainColumn(schema, typeName, asked) : name(`Did you mean "${meant.name}"?`);
}

/** Origins of the input fields whose names come from the database. */
const databaseKinds: ReadonlySet<string> = new Set<InputFieldOrigin['kind']>([
  'column',
  'relationship',
  'related_order',
  'nested',
  'function',
  'routine_argument',
  'member',
  'rank',
  'distinct_count',
  'aggregate_column',
]);

/** Why an input of a table lacks a column that its rows have. */
function explainColumn(schema: GraphQLSchema, typeName: string, asked: string): Correction | null {
  const [, row = '', use] = /^(\w+?)(Filter|OrderBy|InsertInput|UpdateInput)$/.exec(typeName) ?? [];
  const type = schema.getType(row);
  const column = isObjectType(type) ? type.getFields()[asked] : undefined;
  if (column === undefined || fieldOrigin(column).kind !== 'column') return null;
  if (use === 'InsertInput' || use === 'UpdateInput')
    return name(`"${asked}" takes no value here: the database fills it, or the role has no privilege to write it.`);
  return name(`Columns of the type ${getNullableType(column.type)} have no ${use === 'Filter' ? 'filter' : 'order'}.`);
}

/** Only operators, without `set`. */
function correctUpdate(_place: Place, error: GraphQLError) {
  const [node] = error.nodes ?? [];
  const given = node?.kind === Kind.FIELD ? (node.arguments ?? []).map((argument) => argument.name.value) : [];
  const operator = updateOperators.find((each) => given.includes(each));
  return operator === undefined ? null : form(`Write set: {} beside ${operator}.`);
}

/** Arguments of other APIs, and ours. */
const arguments_: Readonly<Record<string, readonly string[]>> = {
  first: ['limit', 'take', 'top', 'count', 'pageSize', 'page_size', 'perPage', 'per_page'],
  offset: ['skip', 'start'],
  nodeId: ['id'],
  filter: ['where', 'condition', 'conditions', 'filters', 'query', 'search'],
  orderBy: ['order_by', 'order', 'sort', 'sortBy', 'sort_by', 'orderby'],
  distinctOn: ['distinct', 'distinct_on'],
  objects: ['object', 'data', 'input', 'values', 'records', 'rows'],
  set: ['_set', 'patch', 'data', 'input', 'values', 'changes'],
  increment: ['_inc', 'inc'],
};

function correctArgument({ schema }: Place, _error: GraphQLError, [asked, place]: readonly [string, string]) {
  const [typeName = '', fieldName = ''] = place.split('.');
  const type = schema.getType(typeName);
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
  if (asked === 'page' && field?.args.some((argument) => argument.name === 'after')) {
    const next = 'The next page begins after the endCursor of the page before: after: "CURSOR".';
    return form(`There are no page numbers. ${next} offset skips rows.`);
  }
  const ours = field?.args.find((argument) => arguments_[argument.name]?.includes(asked));
  return ours === undefined ? null : form(`The argument is called ${ours.name} here.`);
}

function correctField(
  { schema, mayDiscover }: Place,
  error: GraphQLError,
  [asked, typeName]: readonly [string, string],
) {
  const type = schema.getType(typeName);
  if (!isObjectType(type) || typeName.startsWith('__')) return null;
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const suggest = (meant: { readonly name: string } | undefined) =>
    meant === undefined || error.message.includes(`"${meant.name}"`) ? null : name(`Did you mean "${meant.name}"?`);
  if (roots.includes(type)) {
    const other = roots.find((root) => root !== type && root?.getFields()[asked] !== undefined);
    if (other) return explainRoot(other.name, other.getFields()[asked]!);
    return mayDiscover ? suggest(nearestField(asked, type)) : null;
  }
  if (error.message.includes('Did you mean')) return null;
  const fields = Object.values(type.getFields());
  const kinds = new Set(fields.map((field) => fieldOrigin(field).kind));
  if (kinds.has('edges')) return correctConnectionField(asked);
  if (kinds.has('edge_node')) return form(`The row is the node of the edge: node { ${rowField(asked)} }.`);
  if (kinds.has('records')) return form(`The written rows are in records: records { ${rowField(asked)} }.`);
  if (!mayDiscover) return null;
  return suggest(fields.find((field) => plain(field.name) === plain(asked)) ?? nearestField(asked, type));
}

/** A field of the other kind of operation. */
function explainRoot(typeName: string, field: GraphQLField<unknown, unknown>): Correction {
  const origin = fieldOrigin(field);
  const isVolatile = origin.kind === 'routine' && typeName === 'Mutation';
  const why = isVolatile ? ', because its function is volatile. If it only reads, declare it stable.' : '.';
  return name(`"${field.name}" is a field of ${typeName}${why}`);
}

function correctConnectionField(asked: string): Correction {
  if (asked === 'totalCount' || asked === 'aggregate')
    return form(`The comment of a table switches ${asked} on: @graphql({"${asked}": {"enabled": true}}).`);
  return form(`Rows are nodes of edges: edges { node { ${rowField(asked)} } }.`);
}

/** What other APIs call rows stands for one of the fields of a row. */
function rowField(asked: string): string {
  return /^(?:nodes?|items?|rows?|data|results?|returning)$/.test(asked) ? '…' : asked;
}

/** The field of the same table: for `products`, `allProducts` or `product`, `productCollection`. */
function nearestField(asked: string, type: GraphQLObjectType): NamedField | undefined {
  const wanted = readName(asked);
  const singular = pluralize.singular(wanted.table);
  const near = (namesOf(type).get(wanted.table.charAt(0)) ?? []).filter((field) => {
    field.singular ??= pluralize.singular(field.table);
    return field.singular === singular;
  });
  const does = (action: string) => near.find((field) => field.action === action);
  return does(wanted.action) ?? (reads.includes(wanted.action) ? (does('list') ?? does('one')) : undefined);
}

/** A field, and what its name says. */
interface NamedField extends ReturnType<typeof readName> {
  readonly name: string;
  /** The table in the singular, once it was needed: finding it takes longer than all else. */
  singular: string | null;
}

const preparedNames = new WeakMap<GraphQLObjectType, ReadonlyMap<string, NamedField[]>>();

/** The fields of a type by the first letter of their table, which a plural has as well; read once. */
function namesOf(type: GraphQLObjectType): ReadonlyMap<string, NamedField[]> {
  const known = preparedNames.get(type);
  if (known !== undefined) return known;
  const fields = Object.keys(type.getFields()).map((field) => ({ name: field, ...readName(field), singular: null }));
  const made = Map.groupBy<string, NamedField>(fields, ({ table }) => table.charAt(0));
  preparedNames.set(type, made);
  return made;
}

/** Actions that stand for each other. */
const reads: readonly string[] = ['list', 'one'];

const actions: readonly (readonly [string, RegExp])[] = [
  ['insert', /^(?:insert|create|add|new|save)(?:_?into)?(?=[A-Z_])/i],
  ['update', /^(?:update|edit|change|set|patch|modify)(?=[A-Z_])/i],
  ['delete', /^(?:delete|remove|destroy)(?:_?from)?(?=[A-Z_])/i],
  ['one', /^get(?=[A-Z_])/i],
  ['list', /^(?:all|list|find|query|search|fetch)(?=[A-Z_])/i],
];

/** What a root field does, and its table: both by how such fields are called in this and other APIs. */
function readName(field: string): { readonly action: string; readonly table: string } {
  const [action, prefix] = actions.find(([, pattern]) => pattern.test(field)) ?? ['list', /^/];
  const rest = field.replace(prefix, '');
  const table = rest.replace(/_?(?:collection|connection|aggregate|list|by_?pk|by_?id|one)$/i, '');
  const isOne = action === 'list' && /by_?(?:pk|id)$|_one$/i.test(field);
  return { action: isOne ? 'one' : action, table: plain(table) };
}

/** Ignores case and underscores. */
function plain(text: string): string {
  return text.replaceAll('_', '').toLowerCase();
}

/** The name before the value: of the argument or field in a document, of the last member in variables. */
function placeOf(error: GraphQLError): string | null {
  const [node] = error.nodes ?? [];
  let token = node?.loc?.startToken.prev ?? null;
  while (token?.kind === '[') token = token.prev;
  if (token?.kind === ':' && token.prev?.kind === 'Name') return token.prev.value;
  return / at [^:]*\.(\w+)(?:\[\d+\])*: /.exec(error.message.slice(0, maxRead))?.[1] ?? null;
}

/** A value as the message prints it, if it is short. */
function shorten(value: string): string {
  return value.length <= 60 ? value : '…';
}

function listNames(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
