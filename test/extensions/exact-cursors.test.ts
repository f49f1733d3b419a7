/**
 * Cursors that lose no row: where nulls come last, they come after every value (extension `exact_cursors`, docs/pagination.md).
 */
import { describe, expect, test } from 'vitest';
import { openReader } from '../query/reader.ts';
import { blocksRead } from '../support/blocks-read.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { walkPages } from '../support/walk-pages.ts';

const many = `
  create table lib.reading (id int primary key, level int, place text, kind int not null default 0);
  insert into lib.reading (id, level, place)
    select n, nullif(n % 4, 0), case when n % 3 > 0 then 'p' || n % 5 end from generate_series(1, 40) n;
  create function lib.readings() returns setof lib.reading language sql stable as 'select * from lib.reading';
  grant select on lib.reading to anon;`;
const { ask, column, text } = await openReader(['query-pages.sql', many]);
const without = await openReader(['query-pages.sql', many], { extensions: [] });
const encode = (elements: unknown) => Buffer.from(JSON.stringify(elements)).toString('base64');
const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'] as const;

describe('a row with a null', () => {
  const entries = (given: string) => column(`entryCollection(${given})`, 'id');
  const ties = (given: string) => column(`tieCollection(${given})`, 'id');

  test('a row with a null comes after a cursor with a value where nulls come last, and there is a next page', async () => {
    const order = 'orderBy: {day: AscNullsLast}';
    expect(await entries(`${order}, after: "${encode(['2024-05-01', 1])}"`)).toEqual([3, 2, 4]);
    expect(await entries(`${order}, after: "${encode(['2024-05-09', 3])}"`)).toEqual([2, 4]);
    expect(await entries(`${order}, after: "${encode([null, 2])}"`)).toEqual([4]);
    const data = await ask(
      `{ entryCollection(${order}, first: 1, after: "${encode(['2024-05-01', 1])}") { pageInfo { hasNextPage hasPreviousPage } totalCount } }`,
    );
    expect(data.entryCollection).toEqual({ pageInfo: { hasNextPage: true, hasPreviousPage: true }, totalCount: 4 });
  });

  test('a row with a null comes before a cursor with a value where nulls come first', async () => {
    const order = 'orderBy: {day: AscNullsFirst}';
    expect(await entries(`${order}, before: "${encode(['2024-05-09', 3])}"`)).toEqual([2, 4, 1]);
    expect(await entries(`${order}, after: "${encode(['2024-05-01', 1])}"`)).toEqual([3]);
  });

  test('a row with a null does not follow a cursor without values', async () => {
    for (const direction of directions) {
      expect(await entries(`orderBy: {day: ${direction}}, after: "${encode([])}"`)).toEqual([]);
      expect(await entries(`orderBy: {day: ${direction}}, before: "${encode([])}"`)).toEqual([]);
    }
  });

  test('in a later term comes after the values of its own group', async () => {
    const order = 'orderBy: [{a: DescNullsLast}, {b: AscNullsLast}]';
    expect(await ties(order)).toEqual([5, 4, 1, 2, 3, 6, 7]);
    expect(await ties(`${order}, after: "${encode([2, 5, 5])}"`)).toEqual([4, 1, 2, 3, 6, 7]);
    expect(await ties(`${order}, after: "${encode([1, 1, 1])}"`)).toEqual([2, 3, 6, 7]);
    expect(await ties(`${order}, after: "${encode([1])}"`)).toEqual([6, 7]);
    expect(await ties(`${order}, before: "${encode([1, 1, 2])}"`)).toEqual([5, 4, 1]);
  });

  test('a row with a null is lost without the extension, as pg_graphql loses it', async () => {
    const selection = `entryCollection(orderBy: {day: AscNullsLast}, after: "${encode(['2024-05-01', 1])}")`;
    expect(await without.column(selection, 'id')).toEqual([3]);
  });
});

describe('paging', () => {
  const orders = directions.flatMap((level) => directions.map((place) => `[{level: ${level}}, {place: ${place}}]`));

  test.each(orders)('paging visits each row once, forward and backward, in %s', async (order) => {
    const all = await column(`readingCollection(first: 30, orderBy: ${order})`, 'id');
    const last = await column(`readingCollection(last: 10, orderBy: ${order})`, 'id');
    for (const backward of [false, true]) {
      const walk = { orderBy: order, size: 7, backward };
      expect(await walkPages(ask, 'readingCollection', walk)).toEqual([...all, ...last]);
      expect(await walkPages(ask, 'readings', walk)).toEqual([...all, ...last]);
    }
  });

  test('with an offset skips as many rows, wherever the values end', async () => {
    const order = 'orderBy: {level: AscNullsLast}';
    const all = await column(`readingCollection(${order}, first: 30)`, 'id');
    const rest = await column(`readingCollection(${order}, offset: 30)`, 'id');
    const after = `after: "${encode([3, 35])}"`;
    const expected = [...all, ...rest].slice(29);
    expect(await column(`readingCollection(${order}, ${after})`, 'id')).toEqual(expected);
    for (const offset of [0, 1, 2, 5, 12, 2147483647]) {
      const given = `readingCollection(${order}, ${after}, offset: ${offset}, first: 3)`;
      expect(await column(given, 'id')).toEqual(expected.slice(offset, offset + 3));
    }
  });

  test('through columns without nulls has the same statement as without the extension', async () => {
    for (const order of [
      '',
      'orderBy: {kind: DescNullsLast},',
      'orderBy: [{kind: AscNullsLast}, {id: DescNullsLast}],',
    ]) {
      const query = `query ($c: Cursor) { readingCollection(${order} after: $c) { edges { node { id } } } }`;
      const given = { c: encode(order === '' ? [3] : [0, 3]) };
      expect(await text(query, given)).toBe(await without.text(query, given));
    }
  });
});

test('behind a cursor is found by indexes in as many blocks as 200,000 rows have, whether it has a value or not', async () => {
  const big = await createDatabase(`
    create schema lib; grant usage on schema lib to anon; comment on schema lib is '@graphql({"inflect_names": true})';
    create table lib.reading (id int primary key, level int) with (fillfactor = 10);
    insert into lib.reading select n, nullif(n % 100, 0) from generate_series(1, 20000) n;
    create index on lib.reading (level, id); create index on lib.reading (level desc nulls last, id);
    grant select on lib.reading to anon; analyze lib.reading;
  `);
  const on = await startExecution(big, { schemas: ['lib'] });
  const blocks = await blocksRead(big, on);
  const query = (direction: string) =>
    `query ($c: Cursor) { readingCollection(first: 20, orderBy: {level: ${direction}}, after: $c) { edges { node { id } } } }`;
  for (const [direction, cursor, first] of [
    ['AscNullsLast', [50, 50], 150],
    // The last row with a value: the page has nulls alone.
    ['AscNullsLast', [99, 19_999], 100],
    ['AscNullsLast', [null, 100], 200],
    ['DescNullsLast', [1, 19_901], 100],
  ] as const) {
    const variables = { c: encode(cursor) };
    const data = await on.data('anon', query(direction), { variables });
    expect(data.readingCollection.edges).toHaveLength(20);
    expect(data.readingCollection.edges[0].node.id).toBe(first);
    expect(await blocks('anon', query(direction), variables), `${direction} ${cursor}`).toBeLessThan(120);
  }
});
