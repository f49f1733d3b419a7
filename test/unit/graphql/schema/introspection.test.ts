import {
  buildClientSchema,
  buildSchema as buildFromText,
  executeSync,
  type GraphQLSchema,
  getIntrospectionQuery,
  graphqlSync,
  type IntrospectionQuery,
  isInputObjectType,
  isObjectType,
  parse,
  printSchema,
  printType,
  validateSchema,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { CompressedText } from '../../../../src/graphql/execute/answer/compressed-text.ts';
import {
  answerIntrospection,
  introspectionBody,
} from '../../../../src/graphql/execute/introspection/answer-introspection.ts';
import type { Model } from '../../../../src/graphql/model/model.ts';
import { buildIntrospectionSchema, printRoleSchema } from '../../../../src/graphql/schema/build-schema.ts';
import type { LazySchema } from '../../../../src/graphql/schema/lazy-schema.ts';
import { PublicError } from '../../../../src/shared/errors.ts';
import { withoutPauses } from '../../../../src/shared/slices.ts';
import {
  column,
  enumType,
  enumValue,
  libraryModel,
  model,
  relationship,
  routine,
  scalar,
  table,
} from '../../../support/model-builder.ts';

const unbounded = { maxBytes: 256 * 1024 * 1024, signal: null };

/** The standard introspection of the model as clients make it. */
async function introspect(source: Model): Promise<IntrospectionQuery['__schema'] & { readonly names: string[] }> {
  const document = parse(getIntrospectionQuery());
  const answer = await answerIntrospection(shown(source), {
    document,
    operationName: null,
    variableValues: {},
    responseKeys: null,
    ...unbounded,
  });
  const schema = JSON.parse(String(answer.get('__schema'))) as IntrospectionQuery['__schema'];
  return { ...schema, names: schema.types.map((type) => type.name) };
}

function shown(source: Model): LazySchema {
  const schema = buildIntrospectionSchema(source);
  if (schema === null) throw new Error('expected introspection to be on');
  return withoutPauses(schema);
}

async function answer(source: Model, text: string, variableValues: Record<string, unknown> = {}, keys?: string[]) {
  const responseKeys = keys ? new Set(keys) : null;
  const request = { document: parse(text), operationName: null, variableValues, responseKeys, ...unbounded };
  return Object.fromEntries(
    [...(await answerIntrospection(shown(source), request))].map(([key, json]) => [
      key,
      JSON.parse(String(json)) as unknown,
    ]),
  );
}

const builtIn = [
  ...['BigFloat', 'BigInt', 'Boolean', 'Cursor', 'Date', 'Datetime', 'Float', 'ID', 'Int', 'JSON', 'Opaque'],
  ...['String', 'Time', 'UUID'],
  ...['BigFloatFilter', 'BigIntFilter', 'BooleanFilter', 'DateFilter', 'DatetimeFilter', 'FloatFilter', 'IDFilter'],
  ...['IntFilter', 'OpaqueFilter', 'StringFilter', 'TimeFilter', 'UUIDFilter'],
  ...['BigFloatListFilter', 'BigIntListFilter', 'BooleanListFilter', 'DateListFilter', 'DatetimeListFilter'],
  ...['FloatListFilter', 'IntListFilter', 'StringListFilter', 'TimeListFilter', 'UUIDListFilter'],
  ...['FilterIs', 'OrderByDirection', 'Node', 'PageInfo', 'Query'],
  ...['__Schema', '__Type', '__Field', '__InputValue', '__EnumValue', '__Directive', '__TypeKind'],
  '__DirectiveLocation',
].sort();

/** Two namespaces whose tables, enums and routines refer to each other. */
function twoNamespaces(...namespaces: string[]): Model {
  const readOnly = { insert: false, update: false, delete: false };
  const book = table('1', 'Book', [column('id', 'Int'), column('state', enumValue('9')), column('due', 'Date')], {
    relationships: [relationship('due', '2', 'one'), relationship('billCollection', '2', 'many')],
  });
  const bill = table('2', 'Bill', [column('id', 'Int'), column('owner', enumValue('8'))], {
    ...readOnly,
    namespace: 'billing',
    relationships: [relationship('book', '1', 'one')],
    computedFields: ['23', '24'],
  });
  return model({
    namespaces,
    tables: [book, bill],
    enums: [
      enumType('8', 'Owner', ['a'], { namespace: 'lib' }),
      enumType('9', 'State', ['b'], { namespace: 'billing' }),
    ],
    routines: [
      routine('20', 'libNumber'),
      routine('21', 'billingNumber', { namespace: 'billing' }),
      routine('22', 'libBill', { result: { kind: 'row', table: '2' } }),
      routine('23', 'books', { use: 'computed', table: '2', result: { kind: 'set', table: '1' } }),
      routine('24', 'sum', { use: 'computed', table: '2', namespace: 'lib' }),
      routine('25', 'billingAct', { use: 'mutation', namespace: 'billing' }),
    ],
  });
}

const fieldsOf = (schema: GraphQLSchema, name: string): string[] => {
  const type = schema.getType(name);
  return isObjectType(type) || isInputObjectType(type) ? Object.keys(type.getFields()) : [];
};

describe('an empty database', () => {
  test('an empty database has exactly the 49 built-in types, node on Query, and no mutation type', async () => {
    const schema = await introspect(model({}));
    expect(builtIn).toHaveLength(49);
    expect(schema.names).toEqual(builtIn);
    expect(schema.queryType.name).toBe('Query');
    expect(schema.mutationType).toBeNull();
    expect(schema.subscriptionType).toBeNull();
    const query = schema.types.find((type) => type.name === 'Query');
    expect(query?.kind === 'OBJECT' && query.fields.map((field) => field.name)).toEqual(['node']);
    const node = schema.types.find((type) => type.name === 'Node');
    expect(node?.kind === 'INTERFACE' && node.possibleTypes).toEqual([]);
  });

  test('an empty database has the operators of every filter in order of their names', async () => {
    const schema = shown(model({}));
    const comparison = ['eq', 'gt', 'gte', 'in', 'is', 'lt', 'lte', 'neq'];
    expect(fieldsOf(schema, 'IDFilter')).toEqual(['eq']);
    expect(fieldsOf(schema, 'BooleanFilter')).toEqual(['eq', 'is']);
    expect(fieldsOf(schema, 'OpaqueFilter')).toEqual(['eq', 'is']);
    expect(fieldsOf(schema, 'UUIDFilter')).toEqual(['eq', 'in', 'is', 'neq']);
    for (const name of ['Int', 'Float', 'BigInt', 'BigFloat', 'Date', 'Time', 'Datetime']) {
      expect(fieldsOf(schema, `${name}Filter`)).toEqual(comparison);
      expect(fieldsOf(schema, `${name}ListFilter`)).toEqual(['containedBy', 'contains', 'eq', 'is', 'overlaps']);
    }
    const text = ['eq', 'gt', 'gte', 'ilike', 'in', 'iregex', 'is', 'like', 'lt', 'lte', 'neq', 'regex', 'startsWith'];
    expect(fieldsOf(schema, 'StringFilter')).toEqual(text);
    expect(printType(schema.getType('IntListFilter')!)).toBe(
      'input IntListFilter {\n  containedBy: [Int!]\n  contains: [Int!]\n  eq: [Int!]\n  is: FilterIs\n  overlaps: [Int!]\n}',
    );
    expect(printType(schema.getType('DateFilter')!)).toContain('in: [Date!]\n  is: FilterIs\n  lt: Date');
    expect(printType(schema.getType('FilterIs')!)).toBe('enum FilterIs {\n  NULL\n  NOT_NULL\n}');
  });

  test('an empty database has the directives include and skip only', async () => {
    expect(
      (await introspect(model({}))).directives.map(({ name, locations, args }) => ({ name, locations, args })),
    ).toEqual(
      ['include', 'skip'].map((name) => ({
        name,
        locations: ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'],
        args: [expect.objectContaining({ name: 'if', defaultValue: null })],
      })),
    );
  });
});

describe('the whole schema', () => {
  test('the whole schema is valid, closed, and the same after a round trip through a client', async () => {
    const source = { ...twoNamespaces('lib+', 'billing+') };
    for (const whole of [libraryModel(), source, model({})]) {
      const document = parse(getIntrospectionQuery());
      const request = { document, operationName: null, variableValues: {}, responseKeys: null, ...unbounded };
      const data = JSON.parse(`{"__schema":${(await answerIntrospection(shown(whole), request)).get('__schema')}}`);
      const client = buildClientSchema(data as IntrospectionQuery);
      expect(validateSchema(client)).toEqual([]);
      // A client's schema finds its types in another order than ours.
      expect(printSchema(client).split('\n\n').sort()).toEqual(printSchema(shown(whole)).split('\n\n').sort());
    }
  });

  test('the whole schema lists types by name and the possible types of Node', async () => {
    const schema = await introspect(libraryModel());
    expect(schema.names).toEqual([...schema.names].sort());
    const node = schema.types.find((type) => type.name === 'Node');
    const possible = node?.kind === 'INTERFACE' ? node.possibleTypes.map((type) => type.name) : [];
    expect(possible).toEqual(['Loan', 'Patron', 'Volume']);
  });

  test('the whole schema shows defaults: 1 for atMost and those of function arguments, none else', async () => {
    const argument = (name: string, type: 'Int' | 'String' | 'Float' | 'Boolean', displayDefault: string | null) => ({
      name,
      fieldName: name,
      type: scalar(type),
      isVariadic: false,
      required: false,
      displayDefault,
    });
    const routines = [
      routine('7', 'renew', {
        arguments: [
          argument('days', 'Int', '7'),
          argument('note', 'String', '"it\'s \\"due\\""'),
          argument('rate', 'Float', '1'),
          argument('loud', 'Boolean', 'true'),
          argument('other', 'Int', null),
        ],
      }),
    ];
    const source = { ...libraryModel(), routines: new Map(routines.map((r) => [r.oid, r])) };
    const text = `{ __schema { queryType { ...F } mutationType { ...F } } }
      fragment F on __Type { fields { name args { name defaultValue } } }`;
    const schema = (await answer(source, text)).__schema as Record<'queryType' | 'mutationType', TypeAnswer>;
    const defaults = (type: TypeAnswer, field: string) =>
      Object.fromEntries(type.fields.find((f) => f.name === field)!.args.map((a) => [a.name, a.defaultValue]));
    expect(defaults(schema.queryType, 'renew')).toEqual({
      days: '7',
      note: '"it\'s \\"due\\""',
      rate: '1',
      loud: 'true',
      other: null,
    });
    expect(defaults(schema.mutationType, 'updateLoanCollection')).toEqual({ set: null, filter: null, atMost: '1' });
    expect(defaults(schema.queryType, 'loanCollection').first).toBeNull();
  });

  interface TypeAnswer {
    readonly fields: { readonly name: string; readonly args: { name: string; defaultValue: string | null }[] }[];
  }
});

describe('namespaces that have not opted in', () => {
  test('namespaces that have not opted in leave introspection off when there is no other', async () => {
    expect(buildIntrospectionSchema(twoNamespaces('lib', 'billing'))).toBeNull();
    expect(buildIntrospectionSchema(model({ namespaces: [] }))).toBeNull();
  });

  test('namespaces that have not opted in are shown and hidden alike when the operator decides for all', async () => {
    expect(buildIntrospectionSchema(twoNamespaces('lib+', 'billing+'), 'never')).toBeNull();
    const always = buildIntrospectionSchema(twoNamespaces('lib', 'billing'), 'always');
    expect(printSchema(withoutPauses(always!))).toBe(printSchema(shown(twoNamespaces('lib+', 'billing+'))));
  });

  test('namespaces that have not opted in hide their types, and every field, argument, input field and possible type that leads to them', async () => {
    const schema = shown(twoNamespaces('lib+', 'billing'));
    expect(Object.keys(schema.getTypeMap()).filter((name) => /Bill|State/.test(name))).toEqual([]);
    // Column state is of a hidden enum; relationship due hides the column of that name although it is hidden itself.
    expect(fieldsOf(schema, 'Book')).toEqual(['nodeId', 'id']);
    expect(fieldsOf(schema, 'BookFilter')).toEqual(['id', 'due', 'nodeId', 'and', 'or', 'not']);
    expect(fieldsOf(schema, 'BookInsertInput')).toEqual(['id', 'due']);
    expect(fieldsOf(schema, 'Query')).toEqual(['bookByPk', 'bookCollection', 'libNumber', 'node']);
    expect(fieldsOf(schema, 'Mutation')).toHaveLength(3);
    expect((await introspect(twoNamespaces('lib+', 'billing'))).names).toContain('Owner');
  });

  test('namespaces that have not opted in leave Mutation out when none of its fields is shown', async () => {
    const source = twoNamespaces('lib', 'billing+');
    expect(fieldsOf(shown(source), 'Mutation')).toEqual(['billingAct']);
    const { routines, ...rest } = source;
    const without = { ...rest, routines: new Map([...routines].filter(([oid]) => oid !== '25')) };
    expect((await introspect(without)).mutationType).toBeNull();
    expect((await introspect(without)).names).not.toContain('Mutation');
  });

  test('namespaces that have not opted in leave out what writes a table where the types of all that can be written are hidden', async () => {
    const source = twoNamespaces('lib+', 'billing');
    const state = [...source.tables.values()].flatMap(({ columns }) => columns).find((c) => c.type?.kind === 'enum')!;
    const marks = table('90', 'Mark', [column('id', 'Int', { insertable: false }), state], {
      update: true,
      delete: false,
    });
    const schema = shown({ ...source, tables: new Map([...source.tables, ['90', marks]]) });
    expect(fieldsOf(schema, 'Mutation').filter((name) => name.includes('Mark'))).toEqual(['updateMarkCollection']);
    expect(Object.keys(schema.getTypeMap()).filter((name) => /^Mark(Insert|Update)/.test(name))).toEqual([
      'MarkUpdateInput',
      'MarkUpdateResponse',
    ]);
    const { data } = graphqlSync({ schema, source: getIntrospectionQuery() });
    expect(validateSchema(buildClientSchema(data as unknown as IntrospectionQuery))).toEqual([]);
  });

  test('judge a computed field by its result alone', async () => {
    const schema = shown(twoNamespaces('lib', 'billing+'));
    expect(fieldsOf(schema, 'Bill')).toEqual(['nodeId', 'id', 'sum']);
    expect(fieldsOf(schema, 'Query')).toEqual(['billByPk', 'billCollection', 'billingNumber', 'node']);
  });

  test('namespaces that have not opted in stay closed for clients', async () => {
    for (const source of [twoNamespaces('lib+', 'billing'), twoNamespaces('lib', 'billing+')]) {
      const { data } = graphqlSync({ schema: shown(source), source: getIntrospectionQuery() });
      expect(validateSchema(buildClientSchema(data as unknown as IntrospectionQuery))).toEqual([]);
    }
  });

  test('namespaces that have not opted in cannot be told from types that do not exist', async () => {
    const text =
      '{ hidden: __type(name: "Bill") { name } unknown: __type(name: "Nope") { name } shown: __type(name: "Book") { name } }';
    expect(await answer(twoNamespaces('lib+', 'billing'), text)).toEqual({
      hidden: null,
      unknown: null,
      shown: { name: 'Book' },
    });
  });
});

describe('answering', () => {
  test('answering takes the introspection fields out of an operation that selects data as well', async () => {
    const text = `query Q($c: Cursor, $f: LoanFilter) {
      loanCollection(after: $c, filter: $f) { edges { node { ...L } } }
      s: __schema { q: queryType { name __typename } }
      __typename
    } fragment L on Loan { seq }`;
    expect(await answer(libraryModel(), text)).toEqual({ s: { q: { name: 'Query', __typename: '__Type' } } });
  });

  test('answering describes one type of each kind by name', async () => {
    const names = ['BigInt', 'Loan', 'LoanState', 'Query', 'Mutation', 'LoanFilter', 'Node', 'Nope'];
    const text = `{ ${names.map((name) => `${name}: __type(name: "${name}") { kind enumValues { name } interfaces { name } }`).join(' ')} }`;
    expect(await answer(libraryModel(), text)).toEqual({
      BigInt: { kind: 'SCALAR', enumValues: null, interfaces: null },
      Loan: { kind: 'OBJECT', enumValues: null, interfaces: [{ name: 'Node' }] },
      LoanState: {
        kind: 'ENUM',
        enumValues: [{ name: 'out' }, { name: 'returned' }, { name: 'lost' }],
        interfaces: null,
      },
      Query: { kind: 'OBJECT', enumValues: null, interfaces: [] },
      Mutation: { kind: 'OBJECT', enumValues: null, interfaces: [] },
      LoanFilter: { kind: 'INPUT_OBJECT', enumValues: null, interfaces: null },
      Node: { kind: 'INTERFACE', enumValues: null, interfaces: [] },
      Nope: null,
    });
  });

  test('answering finds them in fragments, named and inline', async () => {
    const text = `{ ...R ... on Query { t: __type(name: "Loan") { kind } } ... { ...R } }
      fragment R on Query { node(nodeId: "x") { nodeId } __schema { ...S } }
      fragment S on __Schema { subscriptionType { name } }`;
    expect(await answer(libraryModel(), text)).toEqual({ __schema: { subscriptionType: null }, t: { kind: 'OBJECT' } });
  });

  test('answering leaves out what @skip and @include take away', async () => {
    const text = `query ($yes: Boolean!, $no: Boolean = false) {
      a: __type(name: "Loan") @include(if: $yes) { name }
      b: __type(name: "Loan") @include(if: $no) { name }
      c: __type(name: "Loan") @skip(if: $yes) { name }
      ... @include(if: $no) { d: __type(name: "Loan") { name } }
    }`;
    expect(await answer(libraryModel(), text, { yes: true })).toEqual({ a: { name: 'Loan' } });
  });

  test('answering answers only the response keys that are asked for', async () => {
    const text = '{ a: __type(name: "Loan") { name } b: __type(name: "Loan") { name } }';
    expect(await answer(libraryModel(), text, {}, ['b'])).toEqual({ b: { name: 'Loan' } });
  });

  test('uses variables, their defaults, and only those it needs', async () => {
    const text =
      'query ($n: String!, $m: String = "Volume", $x: Hidden!) { a: __type(name: $n) { name } b: __type(name: $m) { name } }';
    expect(await answer(libraryModel(), text, { n: 'Loan' })).toEqual({ a: { name: 'Loan' }, b: { name: 'Volume' } });
  });

  test('a variable that does not fit its position is the mistake of the client', async () => {
    const call = () => answer(libraryModel(), 'query ($n: String) { __type(name: $n) { name } }', { n: null });
    await expect(call()).rejects.toThrow(PublicError);
    await expect(call()).rejects.toThrow(/__type/);
  });

  test('a variable that does not fit deep inside is an error at the first place that was reached', async () => {
    const text = 'query ($d: Boolean = true) { s: __schema { queryType { fields(includeDeprecated: $d) { name } } } }';
    const document = parse(text);
    const schema = shown(libraryModel());
    const [expected] = executeSync({ schema, document, variableValues: { d: null } }).errors!;
    const call = () => answer(libraryModel(), text, { d: null });
    await expect(call()).rejects.toThrow(expected!.message);
    await expect(call()).rejects.toThrow(
      expect.objectContaining({ details: expect.objectContaining({ path: ['s', 'queryType', 'fields'] }) }),
    );
  });

  test.each([
    getIntrospectionQuery({
      inputValueDeprecation: true,
      specifiedByUrl: true,
      oneOf: true,
      directiveIsRepeatable: true,
    }),
    '{ __type(name: "Loan") { ...T ...T fields { name args { name type { ...T } defaultValue } } } } fragment T on __Type { __typename kind ... on __Type { name ofType { name } } }',
    '{ __type(name: "Loan") { fields { a: type { name } } fields { a: type { kind ofType { ofType { kind } } } b: name } } }',
    '{ __type(name: "Node") { possibleTypes { name interfaces { name } } } other: __type(name: "Nobody") { name } }',
    'query ($s: Boolean = true) { __schema @skip(if: $s) { __typename } __type(name: "Loan") { name @include(if: $s) kind @skip(if: $s) } }',
    '{ __type(name: "Loan") { name @skip(if: true) } }',
    '{ __type(name: "__TypeKind") { enumValues(includeDeprecated: true) { name description isDeprecated } } }',
  ])('answering is what an ordinary executor answers, to the letter: %s', async (text) => {
    const document = parse(text);
    const schema = shown(libraryModel());
    const { data } = executeSync({ schema, document });
    const expected = Object.entries(data!).map(([key, value]) => [key, JSON.stringify(value)]);
    const request = { document, operationName: null, variableValues: {}, responseKeys: null, ...unbounded };
    expect([...(await answerIntrospection(schema, request))]).toEqual(expected);
  });

  test('chooses the operation by name', async () => {
    const document = parse('query A { __type(name: "Loan") { name } } query B { __type(name: "Volume") { name } }');
    const request = { document, operationName: 'B', variableValues: {}, responseKeys: null, ...unbounded };
    expect([...(await answerIntrospection(shown(libraryModel()), request))]).toEqual([['__type', '{"name":"Volume"}']]);
  });

  test('an answer is remembered for the same schema, fields and values only', async () => {
    const [one, other] = [shown(libraryModel()), shown(model({}))];
    const ask = (schema: LazySchema, variableValues: Record<string, unknown>, alias = 'a') => {
      const document = parse(
        `query ($n: String = "Loan") { node(nodeId: "x") { nodeId } ${alias}: __type(name: $n) { name } }`,
      );
      return answerIntrospection(schema, {
        document,
        operationName: null,
        variableValues,
        responseKeys: null,
        ...unbounded,
      });
    };
    expect(await ask(one, {})).toBe(await ask(one, { unused: 1 }));
    expect([...(await ask(one, { n: 'Volume' }))]).toEqual([['a', '{"name":"Volume"}']]);
    expect([...(await ask(one, {}, 'b'))]).toEqual([['b', '{"name":"Loan"}']]);
    expect([...(await ask(other, {}))]).toEqual([['a', 'null']]);
  });

  test('a very large answer is remembered too, because it is kept small', async () => {
    const large = table('1', 'Loan', [], { description: 'x'.repeat(33 * 1024 * 1024) });
    const schema = shown(model({ tables: [large] }));
    const document = parse('{ __type(name: "Loan") { description } }');
    const ask = () =>
      introspectionBody(
        schema,
        { document, operationName: null, variableValues: {}, responseKeys: null, ...unbounded },
        [
          ['a', '"Query"'],
          ['__type', null],
        ],
      );
    expect(await ask()).toBeInstanceOf(CompressedText);
    expect(await ask()).toBe(await ask());
    const data = { a: 'Query', __type: { description: 'x'.repeat(33 * 1024 * 1024) } };
    expect(String(await ask()) === JSON.stringify({ data })).toBe(true);
  });

  test('of all types keeps none of them, and can be asked again', async () => {
    const schema = shown(libraryModel());
    const text = '{ __schema { types { name possibleTypes { name } } } }';
    const request = {
      document: parse(text),
      operationName: null,
      variableValues: {},
      responseKeys: null,
      ...unbounded,
    };
    const before = schema.getType('Loan');
    expect(schema.getType('Loan')).toBe(before);
    await answerIntrospection(schema, request);
    expect(schema.getType('Loan')).not.toBe(before);
    const other = { ...request, document: parse(text.replace('name', 'called: name')) };
    expect(String((await answerIntrospection(schema, other)).get('__schema'))).toContain(
      '{"called":"Node","possibleTypes":[{"name":"Loan"},{"name":"Patron"},{"name":"Volume"}]}',
    );
  });

  test('answering ends at the limit of the answer, whatever is written, and all texts count together', async () => {
    const schema = shown(libraryModel());
    const ask = (text: string, maxBytes: number) =>
      answerIntrospection(schema, {
        document: parse(text),
        operationName: null,
        variableValues: {},
        responseKeys: null,
        maxBytes,
        signal: null,
      });
    const types = '__schema { types { name fields { name } } }';
    const length = (await ask(`{ ${types} }`, 100_000)).get('__schema')!.length;
    const refused = { code: 'LIMIT_EXCEEDED', details: { extensions: { limit: 'max-response-bytes' } } };
    await expect(ask(`{ ${types} }`, length - 1)).rejects.toMatchObject(refused);
    await expect(ask(`{ a: ${types} b: ${types} }`, 2 * length - 1)).rejects.toMatchObject(refused);
    expect((await ask(`{ a: ${types} b: ${types} }`, 2 * length)).size).toBe(2);
    // What says nothing is looked up as well.
    const nothing = Array.from({ length: 40 }, (_, at) => `t${at}: types { name @skip(if: true) }`).join(' ');
    await expect(ask(`{ __schema { ${nothing} } }`, 40 * 16 * 50)).rejects.toMatchObject(refused);
  });

  test.each([
    ['the standard introspection', getIntrospectionQuery(), true],
    ['all types with their fields', '{ __schema { types { fields { name } } } }', true],
    ['an alias', '{ __schema { types { a: name b: name } } }', false],
    ['an alias at the top', '{ a: __schema { types { name } } b: __schema { types { name } } }', false],
    ['the fields of what refers to a type', '{ __schema { types { fields { type { fields { name } } } } } }', false],
    ['the fields of possible types', '{ __schema { types { possibleTypes { fields { name } } } } }', false],
    ['one type', '{ __type(name: "Query") { fields { name } } }', false],
  ])('that describes each type once may be as long as the schema is large: %s', async (_, text, mayBeLong) => {
    const schema = shown(libraryModel());
    const document = parse(text);
    const request = {
      document,
      operationName: null,
      variableValues: {},
      responseKeys: null,
      maxBytes: 10,
      signal: null,
    };
    const values = Object.keys(executeSync({ schema, document }).data!).map((key) => [key, null] as const);
    const body = introspectionBody(schema, request, values).catch((error) => error.code);
    if (mayBeLong)
      expect(JSON.parse(String(await body))).toEqual(JSON.parse(JSON.stringify(executeSync({ schema, document }))));
    else expect(await body).toBe('LIMIT_EXCEEDED');
  });

  test('that is asked for several times at once is made once', async () => {
    const schema = shown(libraryModel());
    const request = { document: parse('{ __schema { types { name } } }'), operationName: null, variableValues: {} };
    const ask = () => answerIntrospection(schema, { ...request, responseKeys: null, ...unbounded });
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(first).toBe(second);
  });

  test('fragments that multiply the fields are refused', async () => {
    const fragments = Array.from(
      { length: 30 },
      (_, i) => `fragment F${i} on __Type { a: ofType { ...F${i + 1} } b: ofType { ...F${i + 1} } }`,
    );
    const text = `{ __schema { queryType { ...F0 } } } ${fragments.join(' ')} fragment F30 on __Type { name }`;
    await expect(answer(libraryModel(), text)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { extensions: { limit: 'introspection' } },
    });
  });

  test('fragments that multiply do not multiply the work', async () => {
    const fragments = Array.from({ length: 40 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
    const text = `{ ...F0 } ${fragments.join(' ')} fragment F40 on Query { __type(name: "Loan") { name } }`;
    expect(await answer(libraryModel(), text)).toEqual({ __type: { name: 'Loan' } });
  });
});

describe('SDL', () => {
  test('SDL holds everything, introspection on or off, and is read by tools', async () => {
    const sdl = printRoleSchema(twoNamespaces('lib', 'billing'));
    expect(printRoleSchema(twoNamespaces('lib+', 'billing'))).toBe(sdl);
    const read = buildFromText(sdl);
    expect(validateSchema(read)).toEqual([]);
    expect(fieldsOf(read, 'Query')).toEqual([
      ...['billByPk', 'billCollection', 'billingNumber', 'bookByPk', 'bookCollection', 'libBill', 'libNumber', 'node'],
    ]);
    expect(sdl.endsWith('}\n')).toBe(true);
  });

  test('SDL has no directive or syntax that older tools do not know', async () => {
    expect(printRoleSchema(libraryModel())).not.toMatch(/@|directive|\bschema\b/);
  });
});
