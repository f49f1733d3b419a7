/**
 * Collections, nested objects, and what stands on a connection.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const { ask, errors, text } = await openReader(['query-library.sql']);

describe('a collection', () => {
  test('a collection answers every row in the order of the primary key', async () => {
    expect(await ask('{ volumeCollection { edges { node { shelfMark title tags acquiredOn } } } }')).toEqual({
      volumeCollection: {
        edges: [
          { node: { shelfMark: 'AB-01', title: 'Alphabet', tags: ['kids', 'letters'], acquiredOn: '2020-01-01' } },
          { node: { shelfMark: 'QA-76', title: 'Computing', tags: ['science', 'math'], acquiredOn: '2021-05-05' } },
          { node: { shelfMark: 'QA-9', title: 'Logic', tags: ['math'], acquiredOn: null } },
          { node: { shelfMark: 'ZZ-99', title: '100% Endings', tags: [], acquiredOn: '2019-12-31' } },
        ],
      },
    });
  });

  test('a collection gives the keys of the answer in the order of the document', async () => {
    const { volumeByPk } = await ask(
      '{ volumeByPk(shelfMark: "QA-9") { title b: shelfMark __typename a: shelfMark } }',
    );
    expect(Object.keys(volumeByPk)).toEqual(['title', 'b', '__typename', 'a']);
  });

  test('a collection may be asked twice under aliases, each with its own order', async () => {
    const data = await ask(`{
      up: volumeCollection(first: 1, orderBy: {title: AscNullsLast}) { edges { node { title } } }
      down: volumeCollection(first: 1, orderBy: {title: DescNullsLast}) { edges { node { title } } }
    }`);
    expect(data.up.edges[0].node.title).toBe('100% Endings');
    expect(data.down.edges[0].node.title).toBe('Logic');
  });

  test('a collection answers edges, pageInfo, totalCount and aggregate as often as they are asked under aliases', async () => {
    const data = await ask(`{ loanCollection(first: 1) {
      a: edges { cursor } b: edges { node { seq } }
      p: pageInfo { hasNextPage } q: pageInfo { next: hasNextPage hasNextPage }
      m: totalCount n: totalCount
      x: aggregate { count } y: aggregate { n: count sum { fee f: fee } }
    } }`);
    expect(data.loanCollection).toEqual({
      a: [{ cursor: 'WzEsICJBQi0wMSIsIDFd' }],
      b: [{ node: { seq: 1 } }],
      p: { hasNextPage: true },
      q: { next: true, hasNextPage: true },
      m: 5,
      n: 5,
      x: { count: 5 },
      y: { n: 5, sum: { fee: 17, f: 17 } },
    });
  });

  test('a collection answers a node as often as it is asked under aliases, on backward pages too', async () => {
    const data = await ask(`{ loanCollection(last: 1, before: "WzEyLCAiUUEtNzYiLCAxXQ==") {
      a: edges { x: node { seq } y: node { patron { fullName } volume { title } } c: cursor d: cursor }
      p: pageInfo { startCursor } q: pageInfo { s: startCursor e: endCursor hasPreviousPage }
      b: edges { x: node { patron { id } } }
    } }`);
    const cursor = 'WzIsICJBQi0wMSIsIDFd';
    expect(data.loanCollection).toEqual({
      a: [{ x: { seq: 1 }, y: { patron: { fullName: 'Bo' }, volume: { title: 'Alphabet' } }, c: cursor, d: cursor }],
      p: { startCursor: cursor },
      q: { s: cursor, e: cursor, hasPreviousPage: true },
      b: [{ x: { patron: { id: '2' } } }],
    });
  });

  test('a collection names its types on every level', async () => {
    const data = await ask(`{ __typename loanCollection(first: 1) {
      __typename
      edges { __typename node { __typename patron { __typename } } }
      pageInfo { __typename }
      aggregate { __typename sum { __typename } avg { __typename } min { __typename } max { __typename } }
    } }`);
    expect(data).toEqual({
      __typename: 'Query',
      loanCollection: {
        __typename: 'LoanConnection',
        edges: [{ __typename: 'LoanEdge', node: { __typename: 'Loan', patron: { __typename: 'Patron' } } }],
        pageInfo: { __typename: 'PageInfo' },
        aggregate: {
          __typename: 'LoanAggregate',
          sum: { __typename: 'LoanSumAggregateResult' },
          avg: { __typename: 'LoanAvgAggregateResult' },
          min: { __typename: 'LoanMinAggregateResult' },
          max: { __typename: 'LoanMaxAggregateResult' },
        },
      },
    });
  });

  test('a collection has one edge per row when nothing but type names is asked', async () => {
    const data = await ask('{ volumeCollection { edges { __typename } } }');
    expect(data.volumeCollection.edges).toHaveLength(4);
    expect(await ask('{ volumeCollection { pageInfo { __typename } } }')).toEqual({
      volumeCollection: { pageInfo: { __typename: 'PageInfo' } },
    });
    expect(await ask('{ volumeCollection { __typename } }')).toEqual({
      volumeCollection: { __typename: 'VolumeConnection' },
    });
  });

  test('a collection has no totalCount and no aggregate unless the table asks for them', async () => {
    expect(await errors('{ volumeCollection { totalCount } }')).toEqual([
      'Cannot query field "totalCount" on type "VolumeConnection".',
    ]);
    expect(await errors('{ volumeCollection { aggregate { count } } }')).toHaveLength(1);
  });

  test('a collection counts all rows of parent and filter, whatever the page', async () => {
    const data = await ask(`{
      all: loanCollection(first: 1, after: "WzEsICJBQi0wMSIsIDFd", offset: 1) { totalCount edges { node { seq } } }
      some: loanCollection(last: 1, filter: {state: {eq: out}}) { totalCount }
      patronCollection(filter: {id: {lte: 3}}) { edges { node { loanCollection(first: 0) { totalCount } } } }
    }`);
    expect(data.all).toEqual({ totalCount: 5, edges: [{ node: { seq: 2 } }] });
    expect(data.some.totalCount).toBe(3);
    const counts = data.patronCollection.edges.map((edge: typeof data) => edge.node.loanCollection.totalCount);
    expect(counts).toEqual([3, 1, 0]);
  });

  test('a collection reads the page, the count and the aggregates only where they are asked', async () => {
    expect(await text('{ loanCollection { totalCount } }')).not.toMatch(/limit|order by|row_number/);
    expect(await text('{ loanCollection { edges { cursor } } }')).not.toMatch(/count\(|sum\(|row_number/);
    expect(await text('{ loanCollection { aggregate { sum { fee } } } }')).not.toMatch(/count\(|limit|avg\(/);
    expect(await text('{ loanCollection { __typename } }')).not.toContain('"loan"');
  });
});

describe('nested objects', () => {
  test('lead to many rows, to one row and back again', async () => {
    const data =
      await ask(`{ patronByPk(id: 1) { fullName loanCollection(filter: {state: {neq: out}}) { edges { node { seq
      volume { title loanCollection(last: 1) { edges { node { patron { fullName
        patronCollection { edges { node { fullName } } } } } } } } } } } } }`);
    const volume = {
      title: 'Computing',
      loanCollection: {
        edges: [
          { node: { patron: { fullName: 'Eve', patronCollection: { edges: [{ node: { fullName: 'Big' } }] } } } },
        ],
      },
    };
    expect(data.patronByPk).toEqual({
      fullName: 'Ada',
      loanCollection: { edges: [{ node: { seq: 1, volume } }, { node: { seq: 2, volume } }] },
    });
  });

  test('nested objects are null without a foreign key, and an empty list of edges without children', async () => {
    const query =
      '{ patronByPk(id: 12) { sponsor { id } } other: patronByPk(id: 4) { loanCollection { edges { node { seq } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }';
    expect(await ask(query)).toEqual({
      patronByPk: { sponsor: null },
      other: {
        loanCollection: {
          edges: [],
          pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
        },
      },
    });
  });

  test('page, order and filter for each parent on its own', async () => {
    const data = await ask(`{ patronCollection(first: 2) { edges { node { fullName
      loanCollection(first: 1, orderBy: [{dueOn: DescNullsLast}]) { edges { node { dueOn } } pageInfo { hasNextPage } } } } } }`);
    expect(data.patronCollection.edges.map((edge: typeof data) => edge.node)).toEqual([
      {
        fullName: 'Ada',
        loanCollection: { edges: [{ node: { dueOn: '2024-05-09' } }], pageInfo: { hasNextPage: true } },
      },
      { fullName: 'Bo', loanCollection: { edges: [{ node: { dueOn: null } }], pageInfo: { hasNextPage: false } } },
    ]);
  });

  test('nested objects may be asked several times under aliases', async () => {
    const data = await ask(`{ patronByPk(id: 1) {
      a: loanCollection(filter: {state: {eq: lost}}) { edges { node { seq } } }
      b: loanCollection(first: 1) { edges { node { seq } } }
    } }`);
    expect(data.patronByPk).toEqual({ a: { edges: [{ node: { seq: 2 } }] }, b: { edges: [{ node: { seq: 1 } }] } });
  });

  test('nested objects may be forty levels deep, through fragments', async () => {
    const depth = 40;
    const fragments = Array.from({ length: depth }, (_, level) =>
      level === depth - 1
        ? `fragment f${level} on Patron { id }`
        : `fragment f${level} on Patron { sponsor { ...f${level + 1} } }`,
    );
    const deep = await openReader(['query-library.sql', 'update lib.patron set sponsor_id = id where id = 1'], {
      limits: null,
    });
    let node = (await deep.ask(`{ patronByPk(id: 1) { ...f0 } } ${fragments.join(' ')}`)).patronByPk;
    for (let level = 1; level < depth; level++) node = node.sponsor;
    expect(node).toEqual({ id: '1' });
  });
});

describe('rows of a view without a first key value', () => {
  test('rows of a view without a first key value are no edges, but count for page, page info and total', async () => {
    const pages = await openReader(['query-pages.sql']);
    const selection =
      '{ totalCount edges { node { label } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }';
    const data = await pages.ask(`{ all: sparseCollection ${selection} page: sparseCollection(last: 1) ${selection} }`);
    expect(data.all).toEqual({
      totalCount: 3,
      edges: [{ node: { label: 'row 1' } }, { node: { label: 'row 3' } }],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: 'WzFd', endCursor: 'W251bGxd' },
    });
    expect(data.page).toEqual({
      totalCount: 3,
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: 'W251bGxd', endCursor: 'W251bGxd' },
    });
  });
});
