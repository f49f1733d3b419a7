/**
 * Requests: which operation runs, what is rejected, and what an answer looks like when something fails.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const { ask, run, errors, execution } = await openReader(['query-library.sql', 'query-functions.sql']);

describe('of several operations', () => {
  const two = 'query a { x: __typename } query b { y: __typename }';
  const choose = (query: string, operationName?: string) =>
    execution.run('anon', query, operationName === undefined ? {} : { operationName });

  test('the named one runs', async () => {
    expect(await choose(two, 'a')).toEqual({ data: { x: 'Query' } });
    expect(await choose(two, 'b')).toEqual({ data: { y: 'Query' } });
    expect(await choose('query a { x: __typename }', 'a')).toEqual({ data: { x: 'Query' } });
    expect(await choose('query a { x: __typename }')).toEqual({ data: { x: 'Query' } });
  });

  test.each([
    ['several without a name', two, undefined],
    ['an unknown name', two, 'c'],
    ['an unknown name and one anonymous operation', '{ __typename }', 'c'],
    ['fragments only', 'fragment f on Query { __typename }', undefined],
    ['an anonymous one beside another', '{ __typename } query a { __typename }', 'a'],
    ['two of one name', 'query a { __typename } query a { x: __typename }', 'a'],
    ['two anonymous', '{ __typename } { x: __typename }', undefined],
    ['a syntax error', '{ __typename', undefined],
    ['an empty document', '', undefined],
    [
      'a mutation where there is none',
      'mutation { insertIntoVolumeCollection(objects: []) { affectedCount } }',
      undefined,
    ],
  ])('%s: the answer has errors and no data', async (_, query, operationName) => {
    const body = await choose(query, operationName);
    expect(body).not.toHaveProperty('data');
    expect(body.errors.length).toBeGreaterThan(0);
  });

  test('a subscription that is no stream is refused with the reason, and what to do', async () => {
    const body = await choose('subscription { node(nodeId: "x") { nodeId } }');
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].message).toBe('A subscription needs a stream of answers.');
    expect(body.errors[0].extensions.hint).toContain('Accept: text/event-stream');
  });
});

describe('a request is rejected as a whole, without data, for', () => {
  test.each([
    ['an unknown root field', '{ nope }'],
    ['an unknown field of a connection', '{ volumeCollection { nope } }'],
    ['an unknown field of an edge', '{ volumeCollection { edges { nope } } }'],
    ['an unknown field of a node', '{ volumeCollection { edges { node { nope } } } }'],
    ['an unknown field of a nested node', '{ loanCollection { edges { node { volume { nope } } } } }'],
    ['an unknown field of a key lookup', '{ volumeByPk(shelfMark: "x") { nope } }'],
    ['an unknown argument', '{ volumeCollection(limit: 1) { edges { cursor } } }'],
    ['an unknown argument of a column', '{ volumeCollection { edges { node { title(a: 1) } } } }'],
    ['an object without a selection', '{ volumeCollection }'],
    ['an object with an empty selection', '{ volumeCollection { edges {} } }'],
    ['a scalar with a selection', '{ volumeCollection { edges { node { title { x } } } } }'],
    ['a field of the concrete type on a node', '{ node(nodeId: "x") { title } }'],
    ['an unknown directive', '{ __typename @upper }'],
    ['a directive with a wrong argument', '{ __typename @skip(unless: true) }'],
    ['a directive with a value that is no boolean', '{ __typename @skip(if: "true") }'],
    ['an undeclared variable', '{ volumeCollection(first: $n) { edges { cursor } } }'],
    ['a declared type that does not exist', 'query ($n: Nope) { __typename }'],
    ['a missing fragment', '{ ...f }'],
    ['a fragment on an unknown type', '{ __typename ...f } fragment f on Nope { x }'],
    ['a fragment that never applies', '{ volumeCollection { edges { node { ... on Patron { id } } } } }'],
    ['a fragment on itself', '{ ...f } fragment f on Query { ...f }'],
    ['a cycle of two fragments', '{ ...f } fragment f on Query { ...g } fragment g on Query { ...f }'],
    [
      'a cycle through fields',
      '{ loanCollection { edges { node { ...f } } } } fragment f on Loan { patron { loanCollection { edges { node { ...f } } } } }',
    ],
    [
      'a cycle in a fragment that is not used',
      '{ __typename } fragment f on Query { ...g } fragment g on Query { ...h } fragment h on Query { ...f }',
    ],
  ])('%s', async (_, query) => {
    const body = await run(`${query}`);
    expect(body).not.toHaveProperty('data');
    expect(body.errors.length).toBeGreaterThan(0);
  });

  test('a request is not rejected for an unused variable or fragment', async () => {
    expect(await run('query ($n: Int) { __typename } fragment f on Volume { title }')).toEqual({
      data: { __typename: 'Query' },
    });
  });
});

describe('an answer', () => {
  test('an answer has no errors key when nothing failed', async () => {
    expect(Object.keys(await run('{ __typename }'))).toEqual(['data']);
  });

  test('an answer keeps the other fields when some root fields are refused before SQL', async () => {
    const long = 'x'.repeat(41);
    const body = await run(`{
      first: volumeByPk(shelfMark: "QA-9") { shelfMark }
      cursor: volumeCollection(after: "?") { edges { cursor } }
      page: volumeCollection(first: -1) { edges { cursor } }
      id: node(nodeId: "?") { nodeId }
      long: volumeCollection(filter: {title: {eq: "${long}"}}) { edges { cursor } }
      isNull: loanCollection(filter: {fee: {is: null}}) { edges { cursor } }
      last: __typename
    }`);
    expect(body.data).toEqual({ first: { shelfMark: 'QA-9' }, last: 'Query' });
    expect(Object.keys(body.data)).toEqual(['first', 'last']);
    expect(body.errors.map(({ path }: { path: string[] }) => path)).toEqual([
      ['cursor'],
      ['page'],
      ['id'],
      ['long'],
      ['isNull'],
    ]);
    for (const error of body.errors)
      expect(error).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' }, locations: [{ column: 7 }] });
  });

  test('an answer has null for data when every root field is refused, and an error for each', async () => {
    const body = await run(
      '{ a: volumeCollection(first: -1) { edges { cursor } } b: volumeCollection(last: -1) { edges { cursor } } }',
    );
    expect(body.data).toBeNull();
    expect(body.errors).toHaveLength(2);
  });

  test('an answer has null for data and exactly one error when the database fails in any field', async () => {
    const body = await run(
      '{ volumeCollection(first: -1) { edges { cursor } } patronByPk(id: 1) { broken } __typename }',
    );
    expect(body.data).toBeNull();
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].message).toBe('division by zero');
  });

  test('an answer shows all root fields one snapshot', async () => {
    const data = await ask('{ a: loanCollection { totalCount } b: loanCollection { totalCount } }');
    expect(data.a).toEqual(data.b);
    expect(await execution.statements('anon', '{ a: loanCollection { totalCount } b: big }')).toHaveLength(1);
  });

  test('mixes introspection and data in the order of the document', async () => {
    const query = `query ($on: Boolean!) {
      a: __typename
      s: __schema { queryType { name } }
      volumeByPk(shelfMark: "QA-9") { shelfMark }
      ...more
      t: __type(name: "Volume") @include(if: $on) { kind n: name }
      z: __type(name: "Nope") { name }
    } fragment more on Query { __schema { mutationType { name } } }`;
    const body = await execution.run('anon', query, { variables: { on: true } });
    expect(body).toEqual({
      data: {
        a: 'Query',
        s: { queryType: { name: 'Query' } },
        volumeByPk: { shelfMark: 'QA-9' },
        __schema: { mutationType: null },
        t: { kind: 'OBJECT', n: 'Volume' },
        z: null,
      },
    });
    expect(Object.keys(body.data)).toEqual(['a', 's', 'volumeByPk', '__schema', 't', 'z']);
    expect(await execution.run('anon', query, { variables: { on: false } })).not.toHaveProperty('data.t');
  });

  test('an answer describes what the variables of the meta fields ask for, each time', async () => {
    const query =
      'query ($name: String!, $all: Boolean = false) { t: __type(name: $name) { name fields { name } kind @include(if: $all) } __typename @skip(if: $all) }';
    const of = async (variables: Record<string, unknown>) => ask(query, variables);
    expect(await of({ name: 'PageInfo' })).toMatchObject({ t: { name: 'PageInfo' }, __typename: 'Query' });
    expect(await of({ name: 'LoanState' })).toEqual({ t: { name: 'LoanState', fields: null }, __typename: 'Query' });
    expect(await of({ name: 'LoanState', all: true })).toEqual({
      t: { name: 'LoanState', fields: null, kind: 'ENUM' },
    });
    expect(await of({ name: 'Nope' })).toEqual({ t: null, __typename: 'Query' });
  });

  test('without introspection refuses both meta fields and answers the rest', async () => {
    const off = await openReader(['query-pages.sql']);
    const body = await off.run(
      '{ __schema { types { name } } itemByPk(id: 1) { id } ...f } fragment f on Query { t: __type(name: "Item") { name } __typename }',
    );
    expect(body).toMatchObject({
      data: { itemByPk: { id: 1 }, __typename: 'Query' },
      errors: [
        {
          message: 'Unknown field "__schema" on type Query',
          path: ['__schema'],
          extensions: { code: 'INTROSPECTION_DISABLED' },
        },
        { message: 'Unknown field "__type" on type Query', path: ['t'] },
      ],
    });
    expect(await off.errors('{ itemCollectio { edges { cursor } } }')).toEqual([
      'Cannot query field "itemCollectio" on type "Query".',
    ]);
    expect(await errors('{ volumeCollectio { edges { cursor } } }')).toEqual([expect.stringContaining('Did you mean')]);
  });
});
