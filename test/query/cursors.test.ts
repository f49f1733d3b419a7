/**
 * Order and cursors: what a cursor holds, and which rows come after it (docs/pagination.md).
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

// As pg_graphql pages; how the extension `exact_cursors` does: extensions/exact-cursors.
const { ask, run, errors, column } = await openReader(['query-pages.sql'], { extensions: [] });
const library = await openReader(['query-library.sql']);
const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (text: string) => Buffer.from(text, 'base64').toString();

describe('a cursor', () => {
  test.each([
    ['volumeCollection(filter: {shelfMark: {eq: "QA-76"}})', 'WyJRQS03NiJd'],
    ['loanCollection(filter: {patronId: {eq: 12}})', 'WzEyLCAiUUEtNzYiLCAxXQ=='],
    [
      'loanCollection(filter: {patronId: {eq: 12}}, orderBy: {dueOn: AscNullsLast})',
      'WyIyMDI0LTA2LTMwIiwgMTIsICJRQS03NiIsIDFd',
    ],
    ['patronCollection(last: 1)', 'WzkwMDcxOTkyNTQ3NDA5OTNd'],
  ])('in %s is %s, byte for byte', async (selection, expected) => {
    const data = await library.ask(`{ c: ${selection} { edges { cursor } } }`);
    expect(data.c.edges).toEqual([{ cursor: expected }]);
  });

  test('a cursor holds null for a null', async () => {
    const data = await ask(
      '{ entryCollection(filter: {id: {eq: 2}}, orderBy: {day: AscNullsLast}) { edges { cursor } } }',
    );
    expect(data.entryCollection.edges).toEqual([{ cursor: 'W251bGwsIDJd' }]);
  });

  test('a cursor holds numbers as numbers, times as ISO text, enums as labels, and round-trips over every type', async () => {
    const fields = ['s', 'b', 'r', 'd', 'n', 'f', 't', 'v', 'c', 'u', 'dy', 'tm', 'ts', 'tz', 'm'];
    const orderBy = `orderBy: [${fields.map((field) => `{${field}: AscNullsFirst}`).join(', ')}]`;
    const data = await ask(`{ everyCollection(${orderBy}) { edges { cursor node { id } } } }`);
    const [empty, full] = data.everyCollection.edges;
    expect(decode(full.cursor)).toBe(
      '[2, 9007199254740993, 0.5, 0.1, 12.50, true, "ä\\"\\\\", "v", "c  ", "00000000-0000-0000-0000-00000000000a", "2024-05-01", "07:45:00", "2024-05-01T10:00:00.1", "2024-05-01T08:00:00+00:00", "ok", 1]',
    );
    expect(decode(empty.cursor)).toBe(`[${'null, '.repeat(15)}2]`);
    expect(await column(`everyCollection(${orderBy}, after: "${empty.cursor}")`, 'id')).toEqual([1]);
    expect(await column(`everyCollection(${orderBy}, after: "${full.cursor}")`, 'id')).toEqual([]);
    expect(await column(`everyCollection(${orderBy}, before: "${full.cursor}")`, 'id')).toEqual([]);
  });

  test.each([
    ['an empty string', ''],
    ['no Base64', 'W1F!'],
    ['URL-safe Base64', 'WyJ-_10='],
    ['no UTF-8', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]).toString('base64')],
    ['no JSON', encode('[1')],
    ['no array', encode('{"id": 1}')],
    ['an array in the array', encode('[[1]]')],
    ['an object in the array', encode('[{"id": 1}]')],
  ])('that is %s fails its field, in the document and in a variable', async (_, cursor) => {
    const expected = { data: null, errors: [{ message: 'The cursor cannot be decoded.', path: ['itemCollection'] }] };
    expect(await run(`{ itemCollection(after: "${cursor}") { edges { cursor } } }`)).toMatchObject(expected);
    const query = 'query ($c: Cursor) { itemCollection(after: $c) { edges { cursor } } }';
    expect(await run(query, { c: cursor })).toMatchObject(expected);
  });

  test('with more elements than the order has columns fails its field', async () => {
    const message = 'orderBy clause incompatible with pagination cursor';
    expect(await errors(`{ itemCollection(after: "${encode('[1, 2]')}") { edges { cursor } } }`)).toEqual([message]);
    const query = 'query ($c: Cursor) { itemCollection(before: $c) { edges { cursor } } }';
    expect(await errors(query, { c: encode('[1, 2, null]') })).toEqual([message]);
  });

  test('a cursor does not fit only after arguments that exclude each other', async () => {
    const refused = ['"first" may only be used with "after"'];
    expect(await errors(`{ itemCollection(first: 0, before: "${encode('[1, 2]')}") { edges { cursor } } }`)).toEqual(
      refused,
    );
  });

  test('without padding is accepted', async () => {
    expect(await column('itemCollection(after: "WzRd")', 'id')).toEqual([5]);
    const padded = encode('[1, 1, null]');
    const bare = padded.replaceAll('=', '');
    const query = (cursor: string) =>
      column(`entryCollection(orderBy: [{grade: AscNullsLast}, {id: AscNullsLast}], after: "${cursor}")`, 'id');
    expect(await query(bare)).toEqual(await query(padded));
  });

  test('without elements selects nothing', async () => {
    expect(await column(`itemCollection(after: "${encode('[]')}")`, 'id')).toEqual([]);
    const query = 'query ($c: Cursor) { itemCollection(after: $c) { edges { cursor } } }';
    expect(await ask(query, { c: encode('[]') })).toEqual({ itemCollection: { edges: [] } });
  });

  test('of a key beyond 2^53 keeps all digits', async () => {
    const big = '["9007199254740992"]';
    for (const element of ['9007199254740992', '"9007199254740992"']) {
      const data = await library.ask(
        `{ patronCollection(after: "${encode(`[${element}]`)}") { edges { node { id } } } }`,
      );
      expect(data.patronCollection.edges, big).toEqual([{ node: { id: '9007199254740993' } }]);
    }
    const after = await library.ask(
      `{ patronCollection(after: "${encode('[9007199254740993]')}") { edges { cursor } } }`,
    );
    expect(after.patronCollection.edges).toEqual([]);
  });

  test('with a value of a wrong type is an error of the database', async () => {
    const body = await run(`{ itemCollection(after: "${encode('["x"]')}") { edges { cursor } } }`);
    expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: 'BAD_USER_INPUT', sqlstate: '22P02' } }] });
  });

  test('a cursor cannot smuggle SQL', async () => {
    const hostile = encode(JSON.stringify(["1'); drop table lib.item; --"]));
    expect(await errors(`{ itemCollection(after: "${hostile}") { edges { cursor } } }`)).toHaveLength(1);
    expect(await column('itemCollection', 'id')).toHaveLength(5);
  });
});

describe('a row after a cursor', () => {
  const entries = (given: string) => column(`entryCollection(${given})`, 'id');
  const ties = (given: string) => column(`tieCollection(${given})`, 'id');

  test('with a null is lost behind a cursor with a value, in nulls-last order', async () => {
    const order = 'orderBy: {day: AscNullsLast}';
    expect(await entries(order)).toEqual([1, 3, 2, 4]);
    expect(await entries(`${order}, after: "${encode('["2024-05-01", 1]')}"`)).toEqual([3]);
    expect(await entries(`${order}, after: "${encode('[null, 2]')}"`)).toEqual([4]);
    const data = await ask(
      `{ entryCollection(${order}, first: 1, after: "${encode('["2024-05-01", 1]')}") { pageInfo { hasNextPage hasPreviousPage } totalCount } }`,
    );
    expect(data.entryCollection).toEqual({ pageInfo: { hasNextPage: false, hasPreviousPage: true }, totalCount: 4 });
  });

  test('with a value comes behind a null, in nulls-first order', async () => {
    const order = 'orderBy: {day: AscNullsFirst}';
    expect(await entries(order)).toEqual([2, 4, 1, 3]);
    expect(await entries(`${order}, after: "${encode('[null, 2]')}"`)).toEqual([4, 1, 3]);
    expect(await entries(`${order}, after: "${encode('[null, 4]')}"`)).toEqual([1, 3]);
    expect(await entries(`${order}, after: "${encode('["2024-05-01", 1]')}"`)).toEqual([3]);
  });

  test('a row after a cursor is lost backwards too, in nulls-first order', async () => {
    const order = 'orderBy: {day: AscNullsFirst}';
    expect(await entries(`${order}, before: "${encode('["2024-05-09", 3]')}"`)).toEqual([1]);
    expect(await entries(`orderBy: {day: AscNullsLast}, before: "${encode('[null, 4]')}"`)).toEqual([1, 3, 2]);
  });

  test.each([
    ['AscNullsFirst', [2, 4, 1, 3]],
    ['AscNullsLast', [1, 3, 2, 4]],
    ['DescNullsFirst', [2, 4, 3, 1]],
    ['DescNullsLast', [3, 1, 2, 4]],
  ])('%s puts values and nulls where its name says, forward and backward', async (direction, expected) => {
    expect(await entries(`orderBy: {day: ${direction}}`)).toEqual(expected);
    expect(await entries(`orderBy: {day: ${direction}}, last: 4`)).toEqual(expected);
    expect(await entries(`orderBy: {day: ${direction}}, last: 2`)).toEqual(expected.slice(2));
    const query = 'query ($d: OrderByDirection) { entryCollection(orderBy: {day: $d}) { edges { node { id } } } }';
    const data = await ask(query, { d: direction });
    expect(data.entryCollection.edges.map((edge: typeof data) => edge.node.id)).toEqual(expected);
  });

  test('a row after a cursor skips the whole group of ties of a partial cursor', async () => {
    const order = 'orderBy: [{a: AscNullsLast}, {b: AscNullsFirst}]';
    expect(await ties(order)).toEqual([6, 3, 1, 2, 4, 5, 7]);
    expect(await ties(`${order}, after: "${encode('[1]')}"`)).toEqual([4, 5]);
    expect(await ties(`${order}, after: "${encode('[1, 1]')}"`)).toEqual([4, 5]);
    expect(await ties(`${order}, after: "${encode('[1, 1, 1]')}"`)).toEqual([2, 4, 5]);
    expect(await ties(`${order}, after: "${encode('[1, null]')}"`)).toEqual([1, 2, 4, 5]);
    expect(await ties(`${order}, after: "${encode('[0]')}"`)).toEqual([3, 1, 2, 4, 5]);
  });

  test('a row after a cursor loses the null of its own group when it is read backwards', async () => {
    const order = 'orderBy: [{a: AscNullsLast}, {b: AscNullsFirst}]';
    expect(await ties(`${order}, before: "${encode('[1, 1]')}"`)).toEqual([6]);
    expect(await ties(`${order}, before: "${encode('[2, 5]')}"`)).toEqual([6, 3, 1, 2]);
    expect(await ties(`${order}, before: "${encode('[2, null]')}"`)).toEqual([6, 3, 1, 2]);
  });

  test('a row after a cursor is found where the columns of the order have different directions', async () => {
    const order = 'orderBy: [{a: DescNullsLast}, {b: AscNullsLast}]';
    expect(await ties(order)).toEqual([5, 4, 1, 2, 3, 6, 7]);
    expect(await ties(`${order}, after: "${encode('[2, 5, 5]')}"`)).toEqual([1, 2, 3, 6]);
    expect(await ties(`${order}, after: "${encode('[1, 1, 1]')}"`)).toEqual([2, 6]);
    expect(await ties(`${order}, before: "${encode('[1, 1, 2]')}"`)).toEqual([5, 4, 1]);
  });

  test('a row after a cursor is the same for a cursor in the document and in a variable; the statement depends on its nulls alone', async () => {
    const head = 'query ($c: Cursor)';
    const selection = 'entryCollection(orderBy: {day: AscNullsFirst}, after: $c)';
    expect(await column(selection, 'id', { c: encode('[null, 2]') }, head)).toEqual([4, 1, 3]);
    expect(await column(selection, 'id', { c: encode('["2024-05-01", 1]') }, head)).toEqual([3]);
    expect(await column(selection, 'id', { c: null }, head)).toEqual([2, 4, 1, 3]);
  });

  test('of a composite key walks through all pages in both directions', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string =
        'query ($c: Cursor) { swappedCollection(first: 1, after: $c) { edges { node { note } } pageInfo { endCursor hasNextPage } } }';
      const { swappedCollection } = await ask(query, { c: cursor });
      seen.push(...swappedCollection.edges.map((edge: { node: { note: string } }) => edge.node.note));
      cursor = swappedCollection.pageInfo.hasNextPage ? swappedCollection.pageInfo.endCursor : null;
    } while (cursor !== null);
    expect(seen).toEqual(['z', 'x', 'y']);
    expect(await column(`swappedCollection(last: 1, before: "${encode('["b", 1]')}")`, 'note')).toEqual(['x']);
  });
});
