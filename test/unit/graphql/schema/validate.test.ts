import { type GraphQLSchema, parse } from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { buildSchema } from '../../../../src/graphql/schema/build-schema.ts';
import { explainDocument } from '../../../../src/graphql/schema/explain-mistake.ts';
import { RootType } from '../../../../src/graphql/schema/types/root-type.ts';
import { validateDocument } from '../../../../src/graphql/schema/validate.ts';
import { column, libraryModel, model, table } from '../../../support/model-builder.ts';

const schema = buildSchema(libraryModel());
const page = '{ edges { cursor } }';

/** Messages for the document, as a client of the usual settings sees them. */
function messages(text: string, { strict = false, suggestions = false } = {}): string[] {
  const errors = validateDocument(schema, parse(text), { strictVariablePositions: strict, suggestions });
  return errors.map((error) => error.message);
}

describe('accepted', () => {
  test.each([
    ['unused variables', `query ($a: Int) { loanCollection ${page} }`],
    ['unused fragments', `{ loanCollection ${page} } fragment F on Loan { seq }`],
    ['a nullable variable in a list of non-null', `query ($o: [LoanOrderBy]) { loanCollection(orderBy: $o) ${page} }`],
    ['a single value for a list', `query ($o: LoanOrderBy!) { loanCollection(orderBy: $o) ${page} }`],
    ['a String for a Cursor', `query ($c: String) { loanCollection(after: $c) ${page} }`],
    ['fragments on several types under node', '{ node(nodeId: "x") { ... on Loan { seq } ... on Volume { title } } }'],
    [
      'one response key for different fields of different types',
      '{ node(nodeId: "x") { ... on Loan { a: seq } ... on Volume { a: title } } }',
    ],
    ['fragments without a type condition', `{ ... { loanCollection ${page} } }`],
    ['fragments on the root types', `mutation { ...M } fragment M on Mutation { __typename }`],
    [
      'the same field twice with the same arguments',
      `{ loanCollection(first: 1) ${page} loanCollection(first: 1) { pageInfo { endCursor } } }`,
    ],
    ['introspection, on or off', '{ __schema { types { name } } __type(name: "X") { name } }'],
    ['several named operations', 'query A { __typename } query B { __typename }'],
  ])('%s', (_, text) => {
    expect(messages(text)).toEqual([]);
  });

  test('one response key for values of different types on different types, also further down', () => {
    const parts =
      '... on Loan { a: patron { n: id } b: seq } ... on Volume { a: loanCollection { n: edges { cursor } } b: title }';
    expect(messages(`{ node(nodeId: "x") { ${parts} } }`)).toEqual([]);
    const deeper = '... on Loan { a: patron { n: id } } ... on Patron { a: sponsor { n: fullName } }';
    expect(messages(`{ node(nodeId: "x") { ${deeper} } }`)).toEqual([]);
  });

  test('a fragment some forty levels deep', () => {
    const inner = `${'sponsor { '.repeat(40)}id${' }'.repeat(40)}`;
    expect(messages(`{ patronByPk(id: 1) { ...F } } fragment F on Patron { ${inner} }`)).toEqual([]);
  });
});

describe('refused', () => {
  test.each([
    ['an unknown field at the root', '{ missing }', 'Cannot query field "missing" on type "Query".'],
    [
      'an unknown field of a row',
      '{ loanByPk(patronId: 1, shelfMark: "a", seq: 1) { nope } }',
      'Cannot query field "nope" on type "Loan".',
    ],
    [
      'totalCount where it is not enabled',
      '{ loanCollection { totalCount } }',
      'Cannot query field "totalCount" on type "LoanConnection".',
    ],
    ['fields of a row directly on node', '{ node(nodeId: "x") { seq } }', 'Cannot query field "seq" on type "Node".'],
    [
      'an unknown argument',
      `{ loanCollection(limit: 1) ${page} }`,
      'Unknown argument "limit" on field "Query.loanCollection".',
    ],
    [
      'a missing key',
      '{ loanByPk(patronId: 1, seq: 1) { seq } }',
      'Argument "Query.loanByPk(shelfMark:)" of type "String!" is required, but it was not provided.',
    ],
    ['a null key', '{ patronByPk(id: null) { id } }', 'Expected value of non-null type "BigInt!" not to be null.'],
    [
      'an object without a selection',
      '{ loanCollection }',
      'Field "loanCollection" of type "LoanConnection!" must have a selection of subfields.',
    ],
    ['a scalar with a selection', '{ node(nodeId: "x") { nodeId { a } } }', 'must not have a selection'],
    ['an undeclared variable', `{ loanCollection(first: $n) ${page} }`, 'Variable "$n" is not defined.'],
    ['a type that the role does not have', `query ($x: Secret) { loanCollection ${page} }`, 'Unknown type "Secret".'],
    [
      'an output type for a variable',
      `query ($x: Loan) { loanCollection ${page} }`,
      'Variable "$x" cannot be non-input type "Loan".',
    ],
    [
      'an enum token for a string',
      `{ volumeByPk(shelfMark: abc) { title } }`,
      'String cannot represent a non string value: abc',
    ],
    ['an unknown key of a filter', `{ loanCollection(filter: {nope: {eq: 1}}) ${page} }`, 'unknown field "nope"'],
    [
      'a duplicate key of an input',
      `{ loanCollection(filter: {seq: {eq: 1, eq: 2}}) ${page} }`,
      'There can be only one input field named "eq".',
    ],
    [
      'one response key with different arguments',
      `{ loanCollection(first: 1) ${page} loanCollection(first: 2) ${page} }`,
      'they have differing arguments',
    ],
    [
      'one response key with a variable and its value',
      `query ($a: Int = 1) { loanCollection(first: $a) ${page} loanCollection(first: 1) ${page} }`,
      'they have differing arguments',
    ],
    ['a fragment that never applies', '{ patronByPk(id: 1) { ... on Loan { seq } } }', 'can never be of type "Loan"'],
    [
      'a fragment cycle, used or not',
      '{ __typename } fragment F on Loan { patron { ...G } } fragment G on Patron { ...H } fragment H on Patron { loanCollection: sponsor { ...G } }',
      'Cannot spread fragment "G" within itself',
    ],
    ['an unknown directive', '{ __typename @live }', 'Unknown directive "@live".'],
    ['a directive of graphql-js that the API does not have', '{ __typename @defer }', 'Unknown directive "@defer".'],
    [
      'a wrong argument of a directive',
      '{ __typename @skip(if: 1) }',
      'Boolean cannot represent a non boolean value: 1',
    ],
    [
      'an anonymous operation among others',
      '{ __typename } query A { __typename }',
      'This anonymous operation must be the only defined operation.',
    ],
    [
      'two operations of one name',
      'query A { __typename } query A { __typename }',
      'There can be only one operation named "A".',
    ],
    ['a type definition', '{ __typename } type X { a: Int }', 'The "X" definition is not executable.'],
  ])('%s', (_, text, message) => {
    expect(messages(text)[0]).toContain(message);
  });

  test('a conflict hidden behind many of those that are accepted', () => {
    const rows = (field: string, own: string) =>
      `x: node(nodeId: "x") { ${Array.from({ length: 60 }, (_, i) => `... on ${field} { f${i}: ${own} }`).join(' ')} z: ${field === 'Loan' ? 'nodeId' : '__typename'} }`;
    expect(messages(`{ ${rows('Loan', 'seq')} ${rows('Volume', 'title')} }`)).toHaveLength(1);
    const short =
      '{ x: node(nodeId: "x") { ... on Loan { a: seq } z: nodeId } x: node(nodeId: "x") { ... on Volume { a: title } z: __typename } }';
    expect(messages(short)).toHaveLength(1);
    const long = 'z'.repeat(500);
    expect(messages(short.replaceAll('z:', `${long}:`))).toHaveLength(1);
  });

  test('a mutation where the role has none', () => {
    const bare = buildSchema(model({}));
    const options = { strictVariablePositions: false, suggestions: false };
    const [error] = validateDocument(bare, parse('mutation { __typename }'), options);
    expect(error?.message).toBe('The mutation operation is not supported by the schema.');
  });

  test('subscriptions where no schema has live queries, in words that clients show to users', () => {
    const refused = ['Subscriptions are not supported'];
    expect(messages('subscription { loanCollection { edges { cursor } } }')).toEqual(refused);
  });

  test('variables in other positions, when the rule is asked for', () => {
    const document = `query ($c: String) { loanCollection(after: $c) ${page} }`;
    expect(messages(document, { strict: true })).toEqual([
      'Variable "$c" of type "String" used in position expecting type "Cursor".',
    ]);
    const introspection = 'query ($n: String!) { __type(name: $n) { name } }';
    expect(messages(introspection, { strict: true })).toEqual([]);
  });
});

describe('suggestions', () => {
  const misspelt = [
    '{ loanCollectio { edges { cursor } } }',
    `{ loanCollection(frist: 1) ${page} }`,
    `{ loanCollection(filter: {sek: {eq: 1}}) ${page} }`,
    `{ loanCollection(filter: {state: {eq: "outt"}}) ${page} }`,
    `query ($x: LoanFilte) { loanCollection ${page} }`,
    '{ node(nodeId: "x") { ... on Lone { seq } } }',
    '{ node(nodeId: "x") { seq } }',
  ];

  test.each(misspelt)('suggestions are left out while the schema may not be discovered: %s', (text) => {
    expect(messages(text)).toHaveLength(1);
    expect(messages(text)[0]).not.toMatch(/did you mean|"(Loan|Volume|first|out)"/i);
  });

  test.each(misspelt)('name what is close otherwise: %s', (text) => {
    expect(messages(text, { suggestions: true })[0]).toMatch(/did you mean/i);
  });

  test('suggestions stand at the first three mistakes, because each compares a name with all of the schema', () => {
    const many = Array.from({ length: 110 }, (_, at) => `a${at}: loanCollectio`).join(' ');
    const found = messages(`{ ${many} }`, { suggestions: true });
    expect(found).toHaveLength(101);
    expect(found.map((message) => message.includes('Did you mean')).indexOf(false)).toBe(3);
    expect(found.filter((message) => message.includes('Did you mean'))).toHaveLength(3);
  });
});

test('a schema of thousands of tables has no suggestions, for which it would make all types', () => {
  const tables = Array.from({ length: 2100 }, (_, i) => table(`${i + 1}`, `T${i}`, [column('id', 'Int')]));
  const many = buildSchema(model({ tables }));
  const document = parse('query ($f: T1Filte) { t1Collection(filter: $f) { edges { cursor } } }');
  const errors = validateDocument(many, document, { strictVariablePositions: false, suggestions: true });
  expect(errors.map(({ message }) => message)).toEqual(['Unknown type "T1Filte".']);
});

test('validation makes only the types that a document names', () => {
  const tables = Array.from({ length: 50 }, (_, i) => table(`${i + 1}`, `T${i}`, [column('id', 'Int')]));
  const many = buildSchema(model({ tables }));
  const errors = validateDocument(many, parse('{ t1Collection { edges { node { id } } } }'), {
    strictVariablePositions: false,
    suggestions: false,
  });
  expect(errors).toEqual([]);
});

test('an unknown root field of a schema of thousands of tables is compared with no other, whose names would all be made', () => {
  const many = (count: number) =>
    buildSchema(
      model({ tables: Array.from({ length: count }, (_, n) => table(`${n + 1}`, `Table${n}`, [column('id', 'Int')])) }),
    );
  const document = parse('{ table1s { id } }');
  const correct = (large: GraphQLSchema) => {
    const errors = validateDocument(large, document, { strictVariablePositions: false, suggestions: false });
    return explainDocument({ schema: large, mayDiscover: true }, document, errors)[0]?.hint;
  };
  expect(correct(many(20))).toMatch(/Did you mean "table1/);
  const sortNames = vi.spyOn(RootType.prototype, 'sortNames');
  expect([correct(many(2100)), sortNames.mock.calls.length]).toEqual([undefined, 0]);
  sortNames.mockRestore();
});
