/**
 * Fragments, merging, `@skip` and `@include`.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const { ask, run, text } = await openReader(['query-library.sql', 'query-functions.sql']);

describe('fields of one response key', () => {
  test('fields of one response key merge at the root, in edges and in nodes, across fragments and repetitions', async () => {
    const data = await ask(
      `
      query ($n: Int) {
        volumeCollection(first: $n) { edges { cursor } }
        ...a
        ... { volumeCollection(first: $n) { pageInfo { hasNextPage } } }
      }
      fragment a on Query { volumeCollection(first: $n) { edges { node { ...t } } ...b } }
      fragment b on VolumeConnection { edges { node { shelfMark loanCollection(first: 1) { edges { cursor } } } } }
      fragment t on Volume { t: shelfMark loanCollection(first: 1) { edges { node { seq } } } }`,
      { n: 1 },
    );
    expect(data).toEqual({
      volumeCollection: {
        edges: [
          {
            cursor: 'WyJBQi0wMSJd',
            node: {
              t: 'AB-01',
              loanCollection: { edges: [{ node: { seq: 1 }, cursor: 'WzEsICJBQi0wMSIsIDFd' }] },
              shelfMark: 'AB-01',
            },
          },
        ],
        pageInfo: { hasNextPage: true },
      },
    });
  });

  test.each([
    ['different fields', '{ volumeCollection { edges { node { a: title a: shelfMark } } } }'],
    [
      'different arguments',
      '{ volumeCollection(first: 1) { edges { cursor } } volumeCollection(first: 2) { edges { cursor } } }',
    ],
    [
      'different variables',
      'query ($a: Int, $b: Int) { volumeCollection(first: $a) { edges { cursor } } volumeCollection(first: $b) { edges { cursor } } }',
    ],
    [
      'a variable and a value',
      'query ($a: Int) { volumeCollection(first: $a) { edges { cursor } } volumeCollection(first: 1) { edges { cursor } } }',
    ],
    [
      'an argument and none',
      '{ volumeCollection { edges { cursor } } volumeCollection(first: 1) { edges { cursor } } }',
    ],
    [
      'a list and an object',
      '{ volumeCollection(orderBy: {title: AscNullsLast}) { edges { cursor } } volumeCollection(orderBy: [{title: AscNullsLast}]) { edges { cursor } } }',
    ],
    [
      'a conflict in a fragment',
      '{ volumeCollection { edges { node { a: title ...f } } } } fragment f on Volume { a: acquiredOn }',
    ],
  ])('with %s are rejected', async (_, query) => {
    const body = await run(query, { a: 1, b: 1 });
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].message).toMatch(/conflict/);
  });
});

describe('a fragment', () => {
  test('a fragment may be named or inline, with or without a type, on an interface, on the root', async () => {
    const query = `{ ...q ... on Query { b: __typename } ... { c: __typename } }
      fragment q on Query { volumeByPk(shelfMark: "QA-9") { ...v ... on Node { id: nodeId } ... { s: shelfMark } } }
      fragment v on Volume { shelfMark }`;
    expect(await ask(query)).toEqual({
      volumeByPk: { shelfMark: 'QA-9', id: 'WyJsaWIiLCAidm9sdW1lIiwgIlFBLTkiXQ==', s: 'QA-9' },
      b: 'Query',
      c: 'Query',
    });
  });

  test('spread twice answers once', async () => {
    expect(
      await ask('{ volumeByPk(shelfMark: "QA-9") { ...f ...f shelfMark } } fragment f on Volume { shelfMark }'),
    ).toEqual({
      volumeByPk: { shelfMark: 'QA-9' },
    });
  });
});

describe('@skip and @include', () => {
  const combinations = [true, false].flatMap((skip) => [true, false].map((include) => [skip, include] as const));
  test.each(combinations)(
    'with skip %s and include %s keep a field only if it is not skipped and included',
    async (skip, include) => {
      const kept = !skip && include ? { a: 'Query', b: 'Query' } : {};
      expect(
        await ask(
          `{ a: __typename @skip(if: ${skip}) @include(if: ${include}) ... @skip(if: ${skip}) @include(if: ${include}) { b: __typename } z: __typename }`,
        ),
      ).toEqual({ ...kept, z: 'Query' });
      const query =
        'query ($s: Boolean!, $i: Boolean! = true) { a: __typename @skip(if: $s) @include(if: $i) ...f @include(if: $i) @skip(if: $s) z: __typename } fragment f on Query { b: __typename }';
      expect(await ask(query, { s: skip, i: include })).toEqual({ ...kept, z: 'Query' });
      if (include) expect(await ask(query, { s: skip })).toEqual({ ...kept, z: 'Query' });
    },
  );

  const places: readonly (readonly [place: string, selection: string, expected: unknown])[] = [
    ['the root', 'x: __typename @include(if: $on)', {}],
    ['a connection', 'volumeCollection { edges @include(if: $on) { cursor } }', { volumeCollection: {} }],
    [
      'an edge',
      'volumeCollection(first: 2) { edges { cursor @include(if: $on) } }',
      { volumeCollection: { edges: [{}, {}] } },
    ],
    [
      'a node',
      'volumeCollection(first: 1) { edges { node { title @include(if: $on) } } }',
      { volumeCollection: { edges: [{ node: {} }] } },
    ],
    [
      'page info',
      'volumeCollection { pageInfo { hasNextPage @include(if: $on) } }',
      { volumeCollection: { pageInfo: {} } },
    ],
    ['an aggregate', 'loanCollection { aggregate { count @include(if: $on) } }', { loanCollection: { aggregate: {} } }],
    [
      'a function of an aggregate',
      'loanCollection { aggregate { sum { fee @include(if: $on) } } }',
      { loanCollection: { aggregate: { sum: {} } } },
    ],
    ['a key lookup', 'volumeByPk(shelfMark: "QA-9") { ... @include(if: $on) { title } }', { volumeByPk: {} }],
    ['a node by its id', 'node(nodeId: "WyJsaWIiLCAicGF0cm9uIiwgMTJd") { nodeId @include(if: $on) }', { node: {} }],
    [
      'a node by its id of another type',
      'node(nodeId: "WyJsaWIiLCAicGF0cm9uIiwgMTJd") { ... on Volume { title } }',
      { node: {} },
    ],
    [
      'a related row',
      'loanCollection(first: 1) { edges { node { patron { ...f @include(if: $on) } } } }',
      { loanCollection: { edges: [{ node: { patron: {} } }] } },
    ],
    [
      'related rows',
      'patronByPk(id: 1) { loanCollection { totalCount @include(if: $on) } }',
      { patronByPk: { loanCollection: {} } },
    ],
    ['a row of a function', 'cheapest { fee @include(if: $on) }', { cheapest: {} }],
    [
      'rows of a function',
      'reversedLoans(first: 1) { edges { node { fee @include(if: $on) } } }',
      { reversedLoans: { edges: [{ node: {} }] } },
    ],
    ['a set of a function', 'reversedLoans { edges @include(if: $on) { cursor } }', { reversedLoans: {} }],
    ['a computed row', 'patronByPk(id: 4) { topSponsor { id @include(if: $on) } }', { patronByPk: { topSponsor: {} } }],
    ['no row', 'volumeByPk(shelfMark: "none") { title @include(if: $on) }', { volumeByPk: null }],
    ['no row of a function', 'noLoan { fee @include(if: $on) }', { noLoan: null }],
    ['introspection', '__schema { types @include(if: $on) { name } }', { __schema: {} }],
  ];
  test.each(places)('that empty the selection of %s leave {}', async (_, selection, expected) => {
    const query = `query ($on: Boolean!) { ${selection} } fragment f on Patron { id }`;
    expect(await ask(query, { on: false })).toEqual(expected);
    const z = await ask(`query ($on: Boolean!) { z: __typename ${selection} } fragment f on Patron { id }`, {
      on: false,
    });
    expect(z).toEqual({ z: 'Query', ...(expected as object) });
  });

  test('@skip and @include read nothing of what is left out', async () => {
    const query = 'query ($on: Boolean!) { loanCollection { totalCount @include(if: $on) __typename } }';
    expect(await text(query, { on: false })).not.toContain('"loan"');
    expect(await text(query, { on: true })).toContain('"loan"');
  });
});
