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
import { CompressedText } from '../../../src/execute/answer/compressed-text.ts';
import { answerIntrospection, introspectionBody } from '../../../src/execute/introspection/answer-introspection.ts';
import type { Model } from '../../../src/model/model.ts';
import { buildIntrospectionSchema, printRoleSchema } from '../../../src/schema/build-schema.ts';
import type { LazySchema } from '../../../src/schema/lazy-schema.ts';
import { PublicError } from '../../../src/shared/errors.ts';
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
} from '../../support/model-builder.ts';

/** The standard introspection of the model as clients make it. */
function introspect(source: Model): IntrospectionQuery['__schema'] & { readonly names: string[] } {
  const document = parse(getIntrospectionQuery());
  const answer = answerIntrospection(shown(source), {
    document,
    operationName: null,
    variableValues: {},
    responseKeys: null,
  });
  const schema = JSON.parse(String(answer.get('__schema'))) as IntrospectionQuery['__schema'];
  return { ...schema, names: schema.types.map((type) => type.name) };
}

function shown(source: Model): LazySchema {
  const schema = buildIntrospectionSchema(source);
  if (schema === null) throw new Error('expected introspection to be on');
  return schema;
}

function answer(source: Model, text: string, variableValues: Record<string, unknown> = {}, keys?: string[]) {
  const responseKeys = keys ? new Set(keys) : null;
  const request = { document: parse(text), operationName: null, variableValues, responseKeys };
  return Object.fromEntries(
    [...answerIntrospection(shown(source), request)].map(([key, json]) => [key, JSON.parse(String(json)) as unknown]),
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
    ...{ ...readOnly, namespace: 'billing', relationships: [relationship('book', '1', 'one')] },
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
  test('has exactly the 49 built-in types, node on Query, and no mutation type', () => {
    const schema = introspect(model({}));
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

  test('has the operators of every filter in order of their names', () => {
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

  test('has the directives include and skip only', () => {
    expect(introspect(model({})).directives.map(({ name, locations, args }) => ({ name, locations, args }))).toEqual(
      ['include', 'skip'].map((name) => ({
        name,
        locations: ['FIELD', 'FRAGMENT_SPREAD', 'INLINE_FRAGMENT'],
        args: [expect.objectContaining({ name: 'if', defaultValue: null })],
      })),
    );
  });
});

describe('the whole schema', () => {
  test('is valid, closed, and the same after a round trip through a client', () => {
    const source = { ...twoNamespaces('lib+', 'billing+') };
    for (const whole of [libraryModel(), source, model({})]) {
      const document = parse(getIntrospectionQuery());
      const request = { document, operationName: null, variableValues: {}, responseKeys: null };
      const data = JSON.parse(`{"__schema":${answerIntrospection(shown(whole), request).get('__schema')}}`);
      const client = buildClientSchema(data as IntrospectionQuery);
      expect(validateSchema(client)).toEqual([]);
      // A client's schema finds its types in another order than ours.
      expect(printSchema(client).split('\n\n').sort()).toEqual(printSchema(shown(whole)).split('\n\n').sort());
    }
  });

  test('lists types by name and the possible types of Node', () => {
    const schema = introspect(libraryModel());
    expect(schema.names).toEqual([...schema.names].sort());
    const node = schema.types.find((type) => type.name === 'Node');
    const possible = node?.kind === 'INTERFACE' ? node.possibleTypes.map((type) => type.name) : [];
    expect(possible).toEqual(['Loan', 'Patron', 'Volume']);
  });

  test('shows defaults: 1 for atMost and those of function arguments, none else', () => {
    const argument = (name: string, type: 'Int' | 'String' | 'Float' | 'Boolean', displayDefault: string | null) => ({
      ...{ name, fieldName: name, type: scalar(type), isVariadic: false, required: false, displayDefault },
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
    const schema = answer(source, text).__schema as Record<'queryType' | 'mutationType', TypeAnswer>;
    const defaults = (type: TypeAnswer, field: string) =>
      Object.fromEntries(type.fields.find((f) => f.name === field)!.args.map((a) => [a.name, a.defaultValue]));
    expect(defaults(schema.queryType, 'renew')).toEqual({
      ...{ days: '7', note: '"it\'s \\"due\\""', rate: '1', loud: 'true', other: null },
    });
    expect(defaults(schema.mutationType, 'updateLoanCollection')).toEqual({ set: null, filter: null, atMost: '1' });
    expect(defaults(schema.queryType, 'loanCollection').first).toBeNull();
  });

  interface TypeAnswer {
    readonly fields: { readonly name: string; readonly args: { name: string; defaultValue: string | null }[] }[];
  }
});

describe('namespaces that have not opted in', () => {
  test('leave introspection off when there is no other', () => {
    expect(buildIntrospectionSchema(twoNamespaces('lib', 'billing'))).toBeNull();
    expect(buildIntrospectionSchema(model({ namespaces: [] }))).toBeNull();
  });

  test('are shown and hidden alike when the operator decides for all', () => {
    expect(buildIntrospectionSchema(twoNamespaces('lib+', 'billing+'), 'never')).toBeNull();
    const always = buildIntrospectionSchema(twoNamespaces('lib', 'billing'), 'always');
    expect(always && printSchema(always)).toBe(printSchema(shown(twoNamespaces('lib+', 'billing+'))));
  });

  test('hide their types, and every field, argument, input field and possible type that leads to them', () => {
    const schema = shown(twoNamespaces('lib+', 'billing'));
    expect(Object.keys(schema.getTypeMap()).filter((name) => /Bill|State/.test(name))).toEqual([]);
    // Column state is of a hidden enum; relationship due hides the column of that name although it is hidden itself.
    expect(fieldsOf(schema, 'Book')).toEqual(['nodeId', 'id']);
    expect(fieldsOf(schema, 'BookFilter')).toEqual(['id', 'due', 'nodeId', 'and', 'or', 'not']);
    expect(fieldsOf(schema, 'BookInsertInput')).toEqual(['id', 'due']);
    expect(fieldsOf(schema, 'Query')).toEqual(['bookByPk', 'bookCollection', 'libNumber', 'node']);
    expect(fieldsOf(schema, 'Mutation')).toHaveLength(3);
    expect(introspect(twoNamespaces('lib+', 'billing')).names).toContain('Owner');
  });

  test('leave Mutation out when none of its fields is shown', () => {
    const source = twoNamespaces('lib', 'billing+');
    expect(fieldsOf(shown(source), 'Mutation')).toEqual(['billingAct']);
    const { routines, ...rest } = source;
    const without = { ...rest, routines: new Map([...routines].filter(([oid]) => oid !== '25')) };
    expect(introspect(without).mutationType).toBeNull();
    expect(introspect(without).names).not.toContain('Mutation');
  });

  test('leave out what writes a table where the types of all that can be written are hidden', () => {
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

  test('judge a computed field by its result alone', () => {
    const schema = shown(twoNamespaces('lib', 'billing+'));
    expect(fieldsOf(schema, 'Bill')).toEqual(['nodeId', 'id', 'sum']);
    expect(fieldsOf(schema, 'Query')).toEqual(['billByPk', 'billCollection', 'billingNumber', 'node']);
  });

  test('stay closed for clients', () => {
    for (const source of [twoNamespaces('lib+', 'billing'), twoNamespaces('lib', 'billing+')]) {
      const { data } = graphqlSync({ schema: shown(source), source: getIntrospectionQuery() });
      expect(validateSchema(buildClientSchema(data as unknown as IntrospectionQuery))).toEqual([]);
    }
  });

  test('cannot be told from types that do not exist', () => {
    const text =
      '{ hidden: __type(name: "Bill") { name } unknown: __type(name: "Nope") { name } shown: __type(name: "Book") { name } }';
    expect(answer(twoNamespaces('lib+', 'billing'), text)).toEqual({
      ...{ hidden: null, unknown: null, shown: { name: 'Book' } },
    });
  });
});

describe('answering', () => {
  test('takes the introspection fields out of an operation that selects data as well', () => {
    const text = `query Q($c: Cursor, $f: LoanFilter) {
      loanCollection(after: $c, filter: $f) { edges { node { ...L } } }
      s: __schema { q: queryType { name __typename } }
      __typename
    } fragment L on Loan { seq }`;
    expect(answer(libraryModel(), text)).toEqual({ s: { q: { name: 'Query', __typename: '__Type' } } });
  });

  test('describes one type of each kind by name', () => {
    const names = ['BigInt', 'Loan', 'LoanState', 'Query', 'Mutation', 'LoanFilter', 'Node', 'Nope'];
    const text = `{ ${names.map((name) => `${name}: __type(name: "${name}") { kind enumValues { name } interfaces { name } }`).join(' ')} }`;
    expect(answer(libraryModel(), text)).toEqual({
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

  test('finds them in fragments, named and inline', () => {
    const text = `{ ...R ... on Query { t: __type(name: "Loan") { kind } } ... { ...R } }
      fragment R on Query { node(nodeId: "x") { nodeId } __schema { ...S } }
      fragment S on __Schema { subscriptionType { name } }`;
    expect(answer(libraryModel(), text)).toEqual({ __schema: { subscriptionType: null }, t: { kind: 'OBJECT' } });
  });

  test('leaves out what @skip and @include take away', () => {
    const text = `query ($yes: Boolean!, $no: Boolean = false) {
      a: __type(name: "Loan") @include(if: $yes) { name }
      b: __type(name: "Loan") @include(if: $no) { name }
      c: __type(name: "Loan") @skip(if: $yes) { name }
      ... @include(if: $no) { d: __type(name: "Loan") { name } }
    }`;
    expect(answer(libraryModel(), text, { yes: true })).toEqual({ a: { name: 'Loan' } });
  });

  test('answers only the response keys that are asked for', () => {
    const text = '{ a: __type(name: "Loan") { name } b: __type(name: "Loan") { name } }';
    expect(answer(libraryModel(), text, {}, ['b'])).toEqual({ b: { name: 'Loan' } });
  });

  test('uses variables, their defaults, and only those it needs', () => {
    const text =
      'query ($n: String!, $m: String = "Volume", $x: Hidden!) { a: __type(name: $n) { name } b: __type(name: $m) { name } }';
    expect(answer(libraryModel(), text, { n: 'Loan' })).toEqual({ a: { name: 'Loan' }, b: { name: 'Volume' } });
  });

  test('a variable that does not fit its position is the mistake of the client', () => {
    const call = () => answer(libraryModel(), 'query ($n: String) { __type(name: $n) { name } }', { n: null });
    expect(call).toThrow(PublicError);
    expect(call).toThrow(/__type/);
  });

  test('a variable that does not fit deep inside is an error at the first place that was reached', () => {
    const text = 'query ($d: Boolean = true) { s: __schema { queryType { fields(includeDeprecated: $d) { name } } } }';
    const document = parse(text);
    const schema = shown(libraryModel());
    const [expected] = executeSync({ schema, document, variableValues: { d: null } }).errors!;
    const call = () => answer(libraryModel(), text, { d: null });
    expect(call).toThrow(expected!.message);
    expect(call).toThrow(
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
  ])('is what an ordinary executor answers, to the letter: %s', (text) => {
    const document = parse(text);
    const schema = shown(libraryModel());
    const { data } = executeSync({ schema, document });
    const expected = Object.entries(data!).map(([key, value]) => [key, JSON.stringify(value)]);
    const request = { document, operationName: null, variableValues: {}, responseKeys: null };
    expect([...answerIntrospection(schema, request)]).toEqual(expected);
  });

  test('chooses the operation by name', () => {
    const document = parse('query A { __type(name: "Loan") { name } } query B { __type(name: "Volume") { name } }');
    const request = { document, operationName: 'B', variableValues: {}, responseKeys: null };
    expect([...answerIntrospection(shown(libraryModel()), request)]).toEqual([['__type', '{"name":"Volume"}']]);
  });

  test('an answer is remembered for the same schema, fields and values only', () => {
    const [one, other] = [shown(libraryModel()), shown(model({}))];
    const ask = (schema: LazySchema, variableValues: Record<string, unknown>, alias = 'a') => {
      const document = parse(
        `query ($n: String = "Loan") { node(nodeId: "x") { nodeId } ${alias}: __type(name: $n) { name } }`,
      );
      return answerIntrospection(schema, { document, operationName: null, variableValues, responseKeys: null });
    };
    expect(ask(one, {})).toBe(ask(one, { unused: 1 }));
    expect([...ask(one, { n: 'Volume' })]).toEqual([['a', '{"name":"Volume"}']]);
    expect([...ask(one, {}, 'b')]).toEqual([['b', '{"name":"Loan"}']]);
    expect([...ask(other, {})]).toEqual([['a', 'null']]);
  });

  test('a very large answer is remembered too, because it is kept small', () => {
    const large = table('1', 'Loan', [], { description: 'x'.repeat(33 * 1024 * 1024) });
    const schema = shown(model({ tables: [large] }));
    const document = parse('{ __type(name: "Loan") { description } }');
    const ask = () =>
      introspectionBody(schema, { document, operationName: null, variableValues: {}, responseKeys: null }, [
        ['a', '"Query"'],
        ['__type', null],
      ]);
    expect(ask()).toBeInstanceOf(CompressedText);
    expect(ask()).toBe(ask());
    const data = { a: 'Query', __type: { description: 'x'.repeat(33 * 1024 * 1024) } };
    expect(String(ask()) === JSON.stringify({ data })).toBe(true);
  });

  test('of all types keeps none of them, and can be asked again', () => {
    const schema = shown(libraryModel());
    const text = '{ __schema { types { name possibleTypes { name } } } }';
    const request = { document: parse(text), operationName: null, variableValues: {}, responseKeys: null };
    const before = schema.getType('Loan');
    expect(schema.getType('Loan')).toBe(before);
    answerIntrospection(schema, request);
    expect(schema.getType('Loan')).not.toBe(before);
    const other = { ...request, document: parse(text.replace('name', 'called: name')) };
    expect(String(answerIntrospection(schema, other).get('__schema'))).toContain(
      '{"called":"Node","possibleTypes":[{"name":"Loan"},{"name":"Patron"},{"name":"Volume"}]}',
    );
  });

  test('fragments that multiply do not multiply the work', () => {
    const fragments = Array.from({ length: 40 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`);
    const text = `{ ...F0 } ${fragments.join(' ')} fragment F40 on Query { __type(name: "Loan") { name } }`;
    expect(answer(libraryModel(), text)).toEqual({ __type: { name: 'Loan' } });
  });
});

describe('SDL', () => {
  test('holds everything, introspection on or off, and is read by tools', () => {
    const sdl = printRoleSchema(twoNamespaces('lib', 'billing'));
    expect(printRoleSchema(twoNamespaces('lib+', 'billing'))).toBe(sdl);
    const read = buildFromText(sdl);
    expect(validateSchema(read)).toEqual([]);
    expect(fieldsOf(read, 'Query')).toEqual([
      ...['billByPk', 'billCollection', 'billingNumber', 'bookByPk', 'bookCollection', 'libBill', 'libNumber', 'node'],
    ]);
    expect(sdl.endsWith('}\n')).toBe(true);
  });

  test('has no directive or syntax that older tools do not know', () => {
    expect(printRoleSchema(libraryModel())).not.toMatch(/@|directive|\bschema\b/);
  });
});
