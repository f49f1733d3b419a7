/**
 * What to write instead of a mistake that graphql-js has found in a document or in variables: the form of this API.
 *
 * A hint stands beside the message, which stays that of graphql-js. Hints with names that the caller has not sent are
 * marked, because only who may discover the schema gets them.
 */
import {
  type DocumentNode,
  type GraphQLEnumType,
  type GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  OperationTypeNode,
} from 'graphql';
import pluralize from 'pluralize';
import { updateOperators } from '../model/extensions/update-operators.ts';
import { findInDocument, findInVariables, type Mistake, type WrongValue } from './find-mistakes.ts';
import { fieldOrigin, type InputFieldOrigin, inputFieldOrigin } from './origin.ts';
import { StringEnumType } from './types/enum-types.ts';
import { orderByDirectionType } from './types/order-by-direction.ts';
import { scalarTypes, textScalars } from './types/scalars.ts';
import { suggestsNames } from './validate.ts';

/** What to write instead. */
export interface Correction {
  readonly hint: string;
  /** It has names that the caller has not sent. */
  readonly namesSchema: boolean;
}

/** How many mistakes of a request are explained. Clients repair the first ones first. */
const maxExplained = 3;

interface Place {
  readonly schema: GraphQLSchema;
  /** False: without hints that name what the caller has not sent. */
  readonly mayDiscover: boolean;
}

/** The corrections of the first mistakes in a document; null where none is known. */
export function explainDocument(place: Place, document: DocumentNode, errors: readonly GraphQLError[]): Corrections {
  const first = errors.slice(0, maxExplained);
  return explainAll(place, first, findInDocument(place.schema, document, first));
}

/** The same for the values of variables. */
export function explainVariables(
  place: Place,
  values: Readonly<Record<string, unknown>>,
  errors: readonly GraphQLError[],
): Corrections {
  const first = errors.slice(0, maxExplained);
  return explainAll(place, first, findInVariables(place.schema, values, first));
}

type Corrections = readonly (Correction | null)[];

function explainAll(place: Place, errors: readonly GraphQLError[], mistakes: readonly (Mistake | null)[]): Corrections {
  return mistakes.map((mistake, index) => {
    const correction = mistake === null ? null : explain(place, mistake, errors[index]!.message);
    return correction === null || place.mayDiscover || !correction.namesSchema ? correction : null;
  });
}

/** @param message Of the error; a hint repeats no suggestion that stands in it. */
function explain(place: Place, mistake: Mistake, message: string): Correction | null {
  switch (mistake.kind) {
    case 'value':
      return correctValue(mistake, message);
    case 'input_field':
      return correctInputField(place.schema, mistake, message);
    case 'field':
      return correctField(place, mistake, message);
    case 'argument':
      return correctArgument(mistake);
    case 'missing_argument':
      return correctUpdate(mistake);
    case 'type':
      return correctType(mistake.name);
    case 'operation':
      return mistake.operation === OperationTypeNode.MUTATION
        ? form(
            'The role writes nothing that it reads: grant SELECT, and INSERT, UPDATE or DELETE, on a table, or EXECUTE on a volatile function.',
          )
        : null;
  }
}

type Of<K extends Mistake['kind']> = Extract<Mistake, { readonly kind: K }>;

function correctValue(wrong: WrongValue, message: string): Correction | null {
  const { type, shape, text } = wrong;
  if (isInputObjectType(type)) return shape === 'object' ? null : correctObject(wrong, type);
  if (isEnumType(type)) {
    const word = shape === 'name' ? text : shape === 'string' ? text.slice(1, -1) : '';
    if (!/^\w+$/.test(word)) return null;
    return type === orderByDirectionType ? correctDirection(wrong, word) : correctEnum(type, message);
  }
  if (!textScalars.has(type.name) || type === scalarTypes.JSONValue) return null;
  if (type.name === 'JSON') return form('Send the text of the JSON, such as "{\\"a\\": 1}".');
  return ['name', 'number', 'boolean'].includes(shape) ? form(`Send a string: "${shorten(text)}".`) : null;
}

/** Whether graphql-js suggests a name itself. */
function hasSuggestion(message: string): boolean {
  return message.includes('Did you mean');
}

const form = (hint: string): Correction => ({ hint, namesSchema: false });
const name = (hint: string): Correction => ({ hint, namesSchema: true });

/** A value where a filter or an order is an object. */
function correctObject({ shape, text: found, place }: WrongValue, type: GraphQLInputObjectType): Correction | null {
  const fields = type.getFields();
  const isPlace = (kind: InputFieldOrigin['kind']) => Object.values(fields).some(hasKind(kind));
  if (isPlace('search')) {
    const words = shape === 'string' ? shorten(found) : '"WORDS"';
    return form(`Say what is searched: ${place ?? 'COLUMN'}: { websearch: ${words} }.`);
  }
  if (isPlace('group_column'))
    return form(`Name the column: by: [{ column: ${/^\w+$/.test(found) ? found : 'COLUMN'} }].`);
  if (fields.eq !== undefined && inputFieldOrigin(fields.eq).kind === 'operator') {
    const isList = shape === 'list' && fields.in !== undefined;
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

function correctDirection({ place }: WrongValue, found: string): Correction {
  const direction = /desc/i.test(found) ? 'DescNullsLast' : 'AscNullsLast';
  const all = 'Directions are AscNullsFirst, AscNullsLast, DescNullsFirst and DescNullsLast.';
  return form(`Write orderBy: [{ ${place ?? 'COLUMN'}: ${direction} }]. ${all}`);
}

/** Most values of an enum that are listed. */
const maxValues = 20;

function correctEnum(type: GraphQLEnumType, message: string): Correction | null {
  if (hasSuggestion(message)) return null;
  const values = type.getValues().map((value) => value.name);
  const labels = type instanceof StringEnumType ? [...type.rawLabels].map((label) => JSON.stringify(label)) : [];
  if (values.length + labels.length > maxValues) return null;
  const strings =
    labels.length === 0 ? '' : ` Write ${listNames(labels)} as ${labels.length === 1 ? 'a string' : 'strings'}.`;
  return name(`${type.name} has ${listNames(values)}.${strings}`);
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
function correctType(asked: string): Correction | null {
  const meant = Object.keys(scalarNames).find((scalar) => scalarNames[scalar]!.test(asked.toLowerCase()));
  return meant === undefined ? null : form(`The type is called ${meant} here.`);
}

/** A field that an input does not have: an operator of another API, a column in another spelling or without operators. */
function correctInputField(
  schema: GraphQLSchema,
  { type, name: asked }: Of<'input_field'>,
  message: string,
): Correction | null {
  const fields = Object.values(type.getFields());
  const isOurs = fields.every((field) => !databaseKinds.has(inputFieldOrigin(field).kind));
  if (isOurs) return form(`${type.name} has ${listNames(fields.map((field) => field.name))}.`);
  if (hasSuggestion(message)) return null;
  const meant = fields.find((field) => plain(field.name) === plain(asked));
  return meant === undefined ? explainColumn(schema, type.name, asked) : name(`Did you mean "${meant.name}"?`);
}

/** Origins of the input fields whose names come from the database. */
const databaseKinds: ReadonlySet<string> = new Set<InputFieldOrigin['kind']>([
  'column',
  'relationship',
  'related_order',
  'group_related',
  'nested',
  'function',
  'routine_argument',
  'attribute',
  'rank',
  'distinct_count',
  'aggregate_column',
  'row_key',
]);

/** Why an input of a table lacks a column that its rows have. */
function explainColumn(schema: GraphQLSchema, typeName: string, asked: string): Correction | null {
  const [, row = '', use] = /^(\w+?)(Filter|OrderBy|InsertInput|UpdateInput)$/.exec(typeName) ?? [];
  const type = schema.getType(row);
  const column = isObjectType(type) ? type.getFields()[asked] : undefined;
  const origin = column && fieldOrigin(column);
  if (column === undefined || origin?.kind !== 'column') return null;
  const isGenerated = 'generatedKey' in origin.column && origin.column.generatedKey;
  if (use === 'UpdateInput' && isGenerated) return name(`"${asked}" is a generated key. No update changes it.`);
  if (use === 'InsertInput' || use === 'UpdateInput')
    return name(
      `"${asked}" takes no value here: the database fills it ("generated always"), or the role has no privilege to write it.`,
    );
  return name(`Columns of the type ${getNullableType(column.type)} have no ${use === 'Filter' ? 'filter' : 'order'}.`);
}

/** Only operators, without `set`. */
function correctUpdate({ missing, given }: Of<'missing_argument'>): Correction | null {
  const operator = missing.includes('set') ? updateOperators.find((each) => given.includes(each)) : undefined;
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

function correctArgument({ field, name: asked }: Of<'argument'>): Correction | null {
  if (asked === 'page' && field.args.some((argument) => argument.name === 'after')) {
    const next = 'The next page begins after the endCursor of the page before: after: "CURSOR".';
    return form(`There are no page numbers. ${next} offset skips rows.`);
  }
  const ours = field.args.find((argument) => arguments_[argument.name]?.includes(asked));
  return ours === undefined ? null : form(`The argument is called ${ours.name} here.`);
}

function correctField({ schema, mayDiscover }: Place, { type, name: asked }: Of<'field'>, message: string) {
  if (!isObjectType(type) || type.name.startsWith('__')) return null;
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const suggest = (meant: { readonly name: string } | undefined) =>
    meant === undefined || message.includes(`"${meant.name}"`) ? null : name(`Did you mean "${meant.name}"?`);
  if (roots.includes(type)) {
    const other = roots.find((root) => root !== type && root?.getFields()[asked] !== undefined);
    if (other) return explainRoot(other.name, other.getFields()[asked]!);
    return mayDiscover && suggestsNames(schema) ? suggest(nearestField(asked, type)) : null;
  }
  if (hasSuggestion(message)) return null;
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
  const does = (action: string) => {
    const all = near.filter((field) => field.action === action);
    return all.find(({ name }) => isOfOne(name) === wanted.isOne) ?? all[0];
  };
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
function readName(field: string): { readonly action: string; readonly isOne: boolean; readonly table: string } {
  const [action, prefix] = actions.find(([, pattern]) => pattern.test(field)) ?? ['list', /^/];
  const rest = field.replace(prefix, '');
  const table = rest.replace(/_?(?:collection|connection|aggregate|list|by_?pk|by_?id|one)$/i, '');
  const isOne = /by_?(?:pk|id)$|_one$|^create(?=[A-Z_])/i.test(field);
  return { action: isOne && action === 'list' ? 'one' : action, isOne, table: plain(table) };
}

/** Whether a field of this API is about one row. */
function isOfOne(name: string): boolean {
  return !name.endsWith('Collection');
}

/** Ignores case and underscores. */
function plain(text: string): string {
  return text.replaceAll('_', '').toLowerCase();
}

/** A value, if it is short. */
function shorten(value: string): string {
  return value.length <= 60 ? value : '…';
}

function listNames(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
