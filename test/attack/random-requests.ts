/**
 * Requests that nobody would write: documents, variables and headers of at most 64 kB, made at random from the schema and from
 * what has been slow or large in gateways before.
 */
import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import type { Random } from '../property/random.ts';

/** What is sent: a body, which need not be JSON, and headers beside the usual ones. */
export interface RandomRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const maxBytes = 64 * 1024;

/** A request of any kind. */
export function randomRequest(random: Random, schema: GraphQLSchema): RandomRequest {
  const make = random.pick([operation, operation, operation, repeated, repeated, nested, variables, broken]);
  const body = make(random, schema);
  return { body: body.slice(0, maxBytes), headers: random.chance(0.1) ? headers(random) : {} };
}

/** An operation that may be valid, of whatever the schema has. */
function operation(random: Random, schema: GraphQLSchema): string {
  const isQuery = random.chance(0.8);
  const root = (isQuery ? schema.getQueryType() : schema.getMutationType())?.name ?? 'Query';
  const budget = { characters: random.int(100, 40_000) };
  const fields = selection(random, schema, { type: root, depth: random.int(1, 9), budget });
  return JSON.stringify({ query: `${isQuery ? 'query' : 'mutation'} ${fields}` });
}

/** One piece as often as there is room: aliases, fragments, arguments, list elements. */
function repeated(random: Random, schema: GraphQLSchema): string {
  const query = schema.getQueryType()!;
  const names = Object.keys(query.getFields());
  const objects = Object.values(schema.getTypeMap()).filter(isObjectType);
  const piece = selection(random, schema, {
    type: 'Query',
    depth: 3,
    budget: { characters: random.int(20, 300) },
  }).slice(1, -1);
  const type = () => random.pick(objects).name;
  const unknown = () => `${random.pick(names)}${random.int(0, 99)}`;
  const make = random.pick<(at: number) => string>([
    (at) => `q${at}: __typename ${piece.replaceAll(/(\w+)(?=: )/g, `$1_${at}`)}`,
    (at) => `... on Query { ${random.pick(names)} { edges { cursor } } a${at}: __typename }`,
    (at) => `n${at}: ${unknown()} { id }`,
    (at) => `n${at}: node(nodeId: "x") { ${Array.from({ length: random.int(1, 60) }, unknown).join(' ')} }`,
    (at) => `n${at}: node(nodeId: "x") { ... on ${type()}${at} { nodeId } }`,
    (at) => `f${at}: node(nodeId: "x") { ... on ${type()} { nodeId } }`,
    (at) => `g${at}: node(nodeId: "x") { ... on ${type()} { ${unknown()} } }`,
    (at) => `t${at}: __type(name: "${type()}") { name fields { name args { name type { name } } } }`,
    (at) => `s${at}: __schema { types { name } }`,
    (at) => `@include(if: $v${at}) `,
  ]);
  // A document may have few fields at its root, and many below.
  const count = random.chance(0.6) ? random.int(2, 49) : random.int(50, 2000);
  const text = Array.from({ length: count }, (_, at) => make(at))
    .join(' ')
    .slice(0, maxBytes - 1000);
  const shared = Array.from(
    { length: random.int(0, 500) },
    (_, at) => `fragment F${at} on ${type()} { nodeId ...F${at + 1} }`,
  );
  const declared = Array.from({ length: random.int(1, 100) }, (_, at) => `$v${at}: ${type()}Fillter`).join(', ');
  if (random.chance(0.1)) return JSON.stringify({ query: `query (${declared}) { ${text} }` });
  return JSON.stringify({ query: random.chance(0.8) ? `{ ${text} }` : `{ ${text} ...F0 } ${shared.join(' ')}` });
}

/** The same in itself: lists, objects, selections, fragments, filters. */
function nested(random: Random, schema: GraphQLSchema): string {
  const depth = random.int(10, 6000);
  const field = random.pick(Object.keys(schema.getQueryType()!.getFields()));
  const around = (open: string, close: string, inner: string) => `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
  const query = random.pick([
    () => around('{ a ', '}', '{ b }'),
    () => `{ ${field}(filter: ${around('{ not: ', '}', '{}')}) { edges { cursor } } }`,
    () => `{ ${field}(filter: ${around('{ and: [', ']}', '')}) { edges { cursor } } }`,
    () => `{ ${field}(first: ${around('[', ']', '1')}) { edges { cursor } } }`,
    () => around('{ ... ', '}', '{ __typename }'),
    () => `query ($a: ${around('[', ']', 'Int')}) { __typename }`,
    () => `{ __schema { types { fields { ${around('type { ofType { ', '} }', 'name')} } } } }`,
  ])();
  return JSON.stringify({ query });
}

/** A usual document with variables that are not. */
function variables(random: Random, schema: GraphQLSchema): string {
  const field = random.pick(Object.values(schema.getQueryType()!.getFields()).filter(({ args }) => args.length > 0));
  const declared = field.args.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const given = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const values = Object.fromEntries(
    field.args.map((argument) => [argument.name, plain(random, argument, random.int(1, 2000))]),
  );
  const inner = isCompositeType(getNamedType(field.type)) ? '{ __typename }' : '';
  return JSON.stringify({ query: `query (${declared}) { ${field.name}(${given}) ${inner} }`, variables: values });
}

/** What is no request. */
function broken(random: Random, schema: GraphQLSchema): string {
  const text = operation(random, schema);
  return random.pick([
    () => text.slice(0, random.int(0, text.length)),
    () => `${'['.repeat(random.int(1, 60_000))}`,
    () => `{"query":${'{"a":'.repeat(random.int(1, 10_000))}1`,
    () => JSON.stringify({ query: '"'.repeat(random.int(1, 60_000)) }),
    () => JSON.stringify({ query: `{ a(b: ${'9'.repeat(random.int(1, 60_000))}) }` }),
    () =>
      JSON.stringify({
        query: `{ ${'#'.repeat(random.int(1, 60_000))}\n __typename }`,
        operationName: 'x'.repeat(1000),
      }),
    () => JSON.stringify({ query: `{ a(b: """${'\\"""'.repeat(random.int(1, 15_000))}""") }` }),
    () => JSON.stringify(Object.fromEntries(Array.from({ length: random.int(1, 5000) }, (_, at) => [`k${at}`, at]))),
  ])();
}

function headers(random: Random): Record<string, string> {
  const long = random.pick(['a', 'a,', 'a;q=0.', '(', '"', '%41']).repeat(random.int(1, 2000));
  return {
    [random.pick([
      'accept',
      'accept-encoding',
      'accept-language',
      'x-request-id',
      'authorization',
      'prefer',
      'traceparent',
    ])]: long,
  };
}

interface Place {
  readonly type: string;
  readonly depth: number;
  readonly budget: { characters: number };
}

function selection(random: Random, schema: GraphQLSchema, { type: name, depth, budget }: Place): string {
  const type = schema.getType(name);
  if (!isObjectType(type) && !isInterfaceType(type)) return '{ __typename }';
  const fields = Object.values(type.getFields());
  const parts: string[] = ['__typename'];
  for (let count = random.int(1, 12); count > 0 && budget.characters > 0; count -= 1) {
    const field = random.pick(fields);
    const alias = random.chance(0.3) ? `a${random.int(0, 99)}: ` : '';
    const given = field.args
      .filter(() => random.chance(0.3))
      .map((each) => `${each.name}: ${literal(random, each.type, 4)}`);
    const inner = getNamedType(field.type);
    const isLeaf = !isCompositeType(inner);
    if (!isLeaf && depth === 0) continue;
    const head = `${alias}${field.name}${random.chance(0.02) ? 'x' : ''}${given.length > 0 ? `(${given.join(', ')})` : ''}`;
    budget.characters -= head.length + 8;
    parts.push(isLeaf ? head : `${head} ${selection(random, schema, { type: inner.name, depth: depth - 1, budget })}`);
  }
  return `{ ${parts.join(' ')} }`;
}

const texts = [
  '',
  'x',
  '(a+)+$',
  '(.*a){20}',
  '%'.repeat(50),
  '2020-01-01 AAAB-1',
  'infinity',
  '-1',
  '99999999999999999999',
  '\\u0000',
  '{"a":1}',
  '$.** ? (@ > 1)',
];
const numbers = ['0', '-1', '1e400', '99999999999', '0.1', '-9223372036854775809', '1e-400'];

/** A value in a document. */
function literal(random: Random, given: GraphQLInputType, depth: number): string {
  const type = getNullableType(given);
  if (random.chance(0.03)) return random.pick(['null', '$missing', '{}', '[]', 'nope', '"x"']);
  if (isListType(type)) {
    const count = depth > 0 ? random.int(0, random.chance(0.05) ? 300 : 3) : 0;
    return `[${Array.from({ length: count }, () => literal(random, type.ofType, depth - 1)).join(', ')}]`;
  }
  if (isEnumType(type)) return random.pick(type.getValues()).name;
  if (isInputObjectType(type)) {
    if (depth <= 0) return '{}';
    const chosen = random.shuffle(Object.values(type.getFields())).slice(0, random.int(0, 3));
    return `{${chosen.map((field) => `${field.name}: ${literal(random, field.type, depth - 1)}`).join(', ')}}`;
  }
  return random.chance(0.5) ? random.pick(numbers) : JSON.stringify(random.pick(texts));
}

/** A value as JSON; `size` is how often what repeats does. */
function plain(random: Random, { type: given }: Pick<GraphQLArgument, 'type'>, size: number, depth = 6): unknown {
  const type = getNullableType(given);
  const spoiled = [null, 'x'.repeat(size * 10), Array.from({ length: size }, () => [1]), { a: { b: {} } }];
  if (depth === 0 || random.chance(0.05)) return random.pick(spoiled);
  if (isListType(type)) return Array.from({ length: size }, () => plain(random, { type: type.ofType }, 1, depth - 1));
  if (isEnumType(type)) return random.pick(type.getValues()).name;
  if (isInputObjectType(type)) {
    const chosen = random.shuffle(Object.values(type.getFields())).slice(0, 3);
    const part = Math.ceil(size / 3);
    return Object.fromEntries(chosen.map((field) => [field.name, plain(random, field, part, depth - 1)]));
  }
  return random.chance(0.5) ? Number(random.pick(numbers)) : random.pick(texts).repeat(random.chance(0.1) ? size : 1);
}
