/**
 * Aggregates: values, scope, aliases (docs/aggregates.md).
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const numbers = `
  create type lib.kind as enum ('a', 'b');
  create table lib.figure (
    id int primary key, small smallint, whole int, big bigint, r real, d float, n numeric, price money, t text, v varchar(9), c char(3), letter "char",
    ident name, dy date, tm time, tz timetz, ts timestamp, tsz timestamptz, flag boolean, u uuid, k lib.kind, tags text[], js jsonb);
  comment on table lib.figure is '@graphql({"aggregate": {"enabled": true}})';
  insert into lib.figure values
    (1, 1, 1, 9007199254740993, 0.5, 0.25, 1.10, 1.50, 'b', 'x', 'a', 'p', 'n1', '2024-01-01', '10:00', '10:00+00', '2024-01-01', '2024-01-01+00', true, null, 'a', '{x}', '{}'),
    (2, 2, 2, 9007199254740993, 1.5, 0.5, 2.20, 1.50, 'a', 'y', 'b', 'q', 'n2', '2024-02-01', '09:00', '09:00+00', '2024-02-01', '2024-02-01+00', false, null, 'b', '{x,y}', null),
    (3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
  create table lib.extreme (id int primary key, n numeric, d float);
  comment on table lib.extreme is '@graphql({"aggregate": {"enabled": true}})';
  insert into lib.extreme values (1, 'NaN', 'Infinity');
  create table lib.vast (id int primary key, n numeric);
  comment on table lib.vast is '@graphql({"aggregate": {"enabled": true}})';
  insert into lib.vast values (1, 1e-400), (2, 1e400 + 0.5), (3, 0.5);
  create extension citext schema lib;
  create table lib.word (id int primary key, w lib.citext);
  comment on table lib.word is '@graphql({"aggregate": {"enabled": true}})';
  insert into lib.word values (1, 'a'), (2, 'B'), (3, 'c'), (4, 'D');
  grant select on lib.figure, lib.extreme, lib.vast, lib.word to anon;`;
const { ask, errors, execution, text } = await openReader(['query-library.sql', numbers]);
const figures = async (selection: string, given = '') =>
  (await ask(`{ figureCollection${given} { aggregate { ${selection} } } }`)).figureCollection.aggregate;

describe('an aggregate', () => {
  test('an aggregate answers numbers as JSON numbers, whole ones exact and averages without padding', async () => {
    expect(await figures('count sum { small whole r d n } avg { small whole r d n }')).toEqual({
      count: 3,
      sum: { small: 3, whole: 3, r: 2, d: 0.75, n: 3.3 },
      avg: { small: 1.5, whole: 1.5, r: 1, d: 0.375, n: 1.65 },
    });
  });

  test('an aggregate keeps all digits of a whole number beyond 2^53', async () => {
    const { body } = await execution.answer(
      'anon',
      '{ figureCollection { aggregate { sum { big } min { big } max { big } avg { big } } } }',
    );
    expect(body).toContain('"sum":{"big":18014398509481986}');
    expect(body).toContain(
      '"min":{"big":9007199254740993},"max":{"big":9007199254740993},"avg":{"big":9007199254740993}',
    );
  });

  test('an aggregate keeps all digits of a number with a fraction that no double precision can hold', async () => {
    const query = '{ vastCollection { aggregate { sum { n } avg { n } min { n } max { n } } } }';
    const { body } = await execution.answer('anon', query);
    const [small, large] = [`0.${'0'.repeat(399)}1`, `1${'0'.repeat(400)}.5`];
    expect(body).toContain(`"min":{"n":${small}},"max":{"n":${large}}`);
    expect(body).toContain(`"sum":{"n":1${'0'.repeat(399)}1.${'0'.repeat(399)}1}`);
    const one = await ask('{ vastCollection(filter: {id: {eq: 3}}) { aggregate { min { n } avg { n } } } }');
    expect(one.vastCollection.aggregate).toEqual({ min: { n: 0.5 }, avg: { n: 0.5 } });
  });

  test('an aggregate answers the smallest and largest of text, dates, times and booleans in the usual forms', async () => {
    const columns = 'whole d n price t v c letter ident dy tm tz ts tsz flag';
    expect(await figures(`min { ${columns} } max { ${columns} }`)).toEqual({
      min: {
        whole: 1, d: 0.25, n: 1.1, price: '$1.50', t: 'a', v: 'x', c: 'a  ', letter: 'p', ident: 'n1', dy: '2024-01-01', tm: '09:00:00',
        tz: '09:00:00+00', ts: '2024-01-01T00:00:00', tsz: '2024-01-01T00:00:00+00:00', flag: false,
      },
      max: {
        whole: 2, d: 0.5, n: 2.2, price: '$1.50', t: 'b', v: 'y', c: 'b  ', letter: 'q', ident: 'n2', dy: '2024-02-01', tm: '10:00:00',
        tz: '10:00:00+00', ts: '2024-02-01T00:00:00', tsz: '2024-02-01T00:00:00+00:00', flag: true,
      },
    }); // biome-ignore format: a table of values
  });

  test('an aggregate compares text without case where its type does, as an order does', async () => {
    const { wordCollection } = await ask(
      '{ wordCollection(orderBy: {w: AscNullsLast}) { edges { node { w } } aggregate { min { w } max { w } } } }',
    );
    expect(wordCollection).toMatchObject({
      edges: ['a', 'B', 'c', 'D'].map((w) => ({ node: { w } })),
      aggregate: { min: { w: 'a' }, max: { w: 'D' } },
    });
  });

  test('of money is text for a sum', async () => {
    expect(await figures('sum { price }')).toEqual({ sum: { price: '$3.00' } });
  });

  test('of values that are no numbers answers their names', async () => {
    const data = await ask('{ extremeCollection { aggregate { sum { n d } avg { n } max { n d } } } }');
    expect(data.extremeCollection.aggregate).toEqual({
      sum: { n: 'NaN', d: 'Infinity' },
      avg: { n: 'NaN' },
      max: { n: 'NaN', d: 'Infinity' },
    });
  });

  test.each(['min { u }', 'max { k }', 'min { tags }', 'max { js }', 'sum { t }', 'avg { dy }', 'sum { flag }'])(
    'an aggregate has no %s',
    async (selection) => {
      expect(await errors(`{ figureCollection { aggregate { ${selection} } } }`)).toHaveLength(1);
    },
  );

  test('of no rows is zero for the count and null for the rest', async () => {
    expect(await figures('count sum { whole } avg { n } min { t } max { flag }', '(filter: {id: {eq: 99}})')).toEqual({
      count: 0,
      sum: { whole: null },
      avg: { n: null },
      min: { t: null },
      max: { flag: null },
    });
  });

  test.each([
    ['{whole: {gt: 1}}', 1],
    ['{whole: {is: NULL}}', 1],
    ['{k: {eq: a}}', 1],
    ['{tags: {contains: "x"}}', 2],
    ['{or: [{whole: {eq: 1}}, {id: {eq: 3}}]}', 2],
    ['{and: [{id: {lt: 3}}, {not: {t: {eq: "b"}}}]}', 1],
  ])('ranges over the rows of the filter %s', async (filter, count) => {
    expect(await figures('count', `(filter: ${filter})`)).toEqual({ count });
  });

  test.each([
    '(first: 1)',
    '(last: 1)',
    '(first: 1, after: "WzFd")',
    '(offset: 2)',
    '(orderBy: {whole: DescNullsLast}, first: 0)',
  ])('an aggregate is the same with the page %s', async (given) => {
    expect(await figures('count sum { whole }', given)).toEqual({ count: 3, sum: { whole: 3 } });
  });

  test('an aggregate may stand beside edges', async () => {
    const data = await ask(`{ loanCollection(first: 1, filter: {state: {eq: out}}) {
      edges { node { seq } } aggregate { count sum { fee } max { dueOn } } } }`);
    expect(data).toEqual({
      loanCollection: {
        edges: [{ node: { seq: 1 } }],
        aggregate: { count: 3, sum: { fee: 4.5 }, max: { dueOn: '2024-06-30' } },
      },
    });
  });

  test('an aggregate is computed for each parent, also for one without children', async () => {
    const data = await ask(
      '{ patronCollection(first: 3) { edges { node { loanCollection { aggregate { count sum { fee } } } } } } }',
    );
    expect(data.patronCollection.edges.map((edge: typeof data) => edge.node.loanCollection.aggregate)).toEqual([
      { count: 3, sum: { fee: 13 } },
      { count: 1, sum: { fee: 1 } },
      { count: 0, sum: { fee: null } },
    ]);
  });

  test('an aggregate may have aliases at every level, the same function twice with different columns', async () => {
    const data = await ask(
      `{ c: figureCollection { x: aggregate { n: count s: sum { w: whole v: whole } t: sum { small } } y: aggregate { count } } }`,
    );
    expect(data.c).toEqual({ x: { n: 3, s: { w: 3, v: 3 }, t: { small: 3 } }, y: { count: 3 } });
  });

  test('an aggregate names its types, and nothing but these', async () => {
    expect(
      await figures('__typename sum { __typename } avg { __typename } min { __typename } max { __typename }'),
    ).toEqual({
      __typename: 'FigureAggregate',
      sum: { __typename: 'FigureSumAggregateResult' },
      avg: { __typename: 'FigureAvgAggregateResult' },
      min: { __typename: 'FigureMinAggregateResult' },
      max: { __typename: 'FigureMaxAggregateResult' },
    });
  });

  test('computes each value once, in one scan', async () => {
    const statement = await text(
      '{ figureCollection { aggregate { count n: count sum { whole w: whole } s: sum { whole } } } }',
    );
    expect(statement.match(/sum\(/g)).toHaveLength(1);
    expect(statement.match(/count\(/g)).toHaveLength(1);
    expect(statement.match(/from "lib"\."figure"/g)).toHaveLength(1);
  });
});
