/** Rows are ordered by what functions compute of a row, with further arguments or without (extension `function_filters`). */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';
import { walkPages } from '../support/walk-pages.ts';

const order = (signature: string) => `comment on function ${signature} is '@graphql({"order": true})';`;

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create type size as enum ('small', 'large');
  create table country (id int primary key, name text, at point);
  create table place (id int primary key, country_id int references country, owner_id int not null, name text, at point, day date, town_id int);
  create table owner (id int primary key, name text not null);
  alter table place add foreign key (owner_id) references owner;
  comment on table place is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true},
    "foreign_keys": [{"local_name": "lodgers", "foreign_name": "lodging", "local_columns": ["town_id"], "foreign_schema": "public", "foreign_table": "place", "foreign_columns": ["town_id"]}]})';
  insert into country values (1, 'Swiss', '(0,0)'), (2, 'French', '(9,9)'), (3, null, null);
  insert into owner values (1, 'b'), (2, 'A');
  insert into place values (1, 1, 1, 'Bern', '(5,0)', '2024-01-03', null), (2, 1, 2, 'basel', '(1,0)', '2024-01-01', 3), (3, 2, 1, 'Lyon', '(3,4)', null, null),
    (4, null, 2, null, null, '2024-01-02', null), (5, 3, 2, 'Aarau', '(1,0)', '2024-01-02', 4);

  create function label(place) returns text immutable language sql as 'select lower($1.name)'; ${order('label(place)')}
  create function kind(place) returns size immutable language sql as $$ select case when $1.id < 3 then 'large' when $1.id < 5 then 'small' end::size $$; ${order('kind(place)')}
  create function day_after(place) returns date immutable language sql as 'select $1.day + 1'; ${order('day_after(place)')}
  create function even(place) returns boolean immutable language sql as 'select $1.id % 2 = 0'; ${order('even(place)')}
  create function worth(place) returns numeric immutable language sql as 'select $1.id / 3.0'; ${order('worth(place)')}
  create function distance(p place, x float8, y float8 default 0) returns float8 immutable language sql as 'select p.at <-> point(x, y)'; ${order('distance')}
  create function at_letter(p place, n int default 1) returns text immutable language sql as 'select substr(p.name, n, 1)'; ${order('at_letter')}
  -- Has a value of what is not there.
  create function title(country) returns text immutable language sql as $$ select coalesce($1.name, 'zzz') $$; ${order('title(country)')}
  create function away(c country, x float8) returns float8 immutable language sql as 'select coalesce(c.at <-> point(x, 0), -1)'; ${order('away')}
  create function shout(owner) returns text immutable language sql as 'select upper($1.name)'; ${order('shout(owner)')}
  create function tag(place, word text) returns text immutable language sql as $$ select coalesce(word || $1.name, 'none') $$; ${order('tag')}
  create function some_places() returns setof place stable language sql as 'select p.* from place p';
  grant select on place, country, owner to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });
const ask = (query: string, variables: Record<string, unknown> = {}) => execution.data('anon', query, { variables });

async function ids(orderBy: string, rest = '', field = 'placeCollection'): Promise<number[]> {
  const data = await ask(`{ ${field}(orderBy: ${orderBy}${rest}) { edges { node { id } } } }`);
  return data[field].edges.map(({ node }: Json) => node.id);
}

const orders = [
  ['{label: AscNullsLast}', [5, 2, 1, 3, 4]],
  ['{label: DescNullsFirst}', [4, 3, 1, 2, 5]],
  ['{label: AscNullsFirst}', [4, 5, 2, 1, 3]],
  ['{label: DescNullsLast}', [3, 1, 2, 5, 4]],
  ['[{kind: DescNullsLast}, {label: AscNullsLast}]', [2, 1, 3, 4, 5]],
  ['{dayAfter: AscNullsFirst}', [3, 2, 4, 5, 1]],
  ['[{even: DescNullsLast}, {name: DescNullsLast}]', [2, 4, 3, 1, 5]],
  ['{worth: DescNullsLast}', [5, 4, 3, 2, 1]],
  ['{distance: {x: 0}}', [2, 5, 1, 3, 4]],
  ['{distance: {x: 5, y: 0}}', [1, 2, 5, 3, 4]],
  ['{distance: {x: 0, direction: DescNullsFirst}}', [4, 1, 3, 2, 5]],
  ['{distance: {x: 0, y: null}}', [1, 2, 3, 4, 5]],
  ['{atLetter: {}}', [5, 1, 3, 2, 4]],
  ['{atLetter: {n: 2, direction: DescNullsLast}}', [3, 1, 2, 5, 4]],
  ['[{even: AscNullsLast}, {distance: {x: 0}}]', [5, 1, 3, 2, 4]],
  ['[{distance: {x: 0, direction: AscNullsLast}}, {distance: {x: 5, direction: DescNullsLast}}, {worth: DescNullsLast}]', [5, 2, 3, 1, 4]],
  ['[{distance: null}, {label: null}, {}]', [1, 2, 3, 4, 5]],
] as const; // biome-ignore format: a table of orders

describe('f(row) returns a value: a direction; f(row, a…): its arguments and a direction', () => {
  test.each(orders)('%s', async (orderBy, expected) => {
    expect(await ids(orderBy)).toEqual(expected);
    expect(await ids(orderBy, '', 'somePlaces')).toEqual(expected);
    expect(await ids(orderBy, ', last: 3')).toEqual(expected.slice(2));
    expect(await ids(orderBy, ', first: 2, offset: 1')).toEqual(expected.slice(1, 3));
  });

  test('from variables; values are no part of the statement, the direction is', async () => {
    const query = 'query ($by: [PlaceOrderBy!]) { placeCollection(orderBy: $by) { edges { node { id } } } }';
    const run = async (by: unknown) =>
      (await ask(query, { by })).placeCollection.edges.map(({ node }: Json) => node.id);
    expect(await run({ distance: { x: 5 } })).toEqual([1, 2, 5, 3, 4]);
    expect(await run([{ distance: { x: 5, y: 0, direction: 'DescNullsLast' } }])).toEqual([3, 2, 5, 1, 4]);
    expect(await run([{ distance: null }])).toEqual([1, 2, 3, 4, 5]);
    const textOf = async (by: unknown) => (await execution.statements('anon', query, { variables: { by } }))[0]!.text;
    expect(await textOf({ distance: { x: 5 } })).toBe(await textOf({ distance: { x: 7 } }));
    expect(await textOf({ distance: { x: 5 } })).not.toBe(
      await textOf({ distance: { x: 5, direction: 'DescNullsLast' } }),
    );
    const direct =
      'query ($x: Float!, $d: OrderByDirection! = AscNullsLast) { placeCollection(orderBy: {distance: {x: $x, direction: $d}}) { edges { node { id } } } }';
    expect((await ask(direct, { x: 5 })).placeCollection.edges.map(({ node }: Json) => node.id)).toEqual([
      1, 2, 5, 3, 4,
    ]);
    expect((await execution.errors('anon', direct, { variables: { x: 5, d: null } }))[0]).toContain('null');
  });
});

describe('pages', () => {
  test.each([
    ...orders.map(([orderBy]) => orderBy),
    '{country: {title: AscNullsLast}}',
    '{country: {away: {x: 0, direction: DescNullsLast}}}',
    '{country: {away: {x: 0, direction: AscNullsFirst}}}',
    '{owner: {shout: DescNullsLast}}',
  ])('reach each row once, forward and backward, in %s', async (orderBy) => {
    const expected = await ids(orderBy);
    for (const [field, size, backward] of [
      ['placeCollection', 1, false],
      ['placeCollection', 3, true],
      ['somePlaces', 2, false],
      ['somePlaces', 2, true],
    ] as const) {
      expect(await walkPages(ask, field, { orderBy, size, backward })).toEqual(expected);
    }
  });

  test('the cursor carries the value, and tells the arguments that it was made with', async () => {
    const cursors = async (orderBy: string, selection: string) => {
      const { placeCollection } = await ask(
        `{ placeCollection(first: 2, orderBy: ${orderBy}) { edges { cursor ${selection} } pageInfo { endCursor } } }`,
      );
      const texts = placeCollection.edges.map(({ cursor }: Json) => Buffer.from(cursor, 'base64').toString());
      expect(Buffer.from(placeCollection.pageInfo.endCursor, 'base64').toString()).toBe(texts[1]);
      return texts;
    };
    // Made in the gateway, and in PostgreSQL.
    for (const selection of ['', 'node { country { id } }']) {
      expect(await cursors('{label: AscNullsLast}', selection)).toEqual(['["aarau", 5]', '["basel", 2]']);
      const [first, second] = await cursors('{atLetter: {n: 2}}', selection);
      const [, digest] = /^\["a", 2, "([-\w]{12})"\]$/.exec(first)!;
      expect(second).toBe(`["a", 5, "${digest}"]`);
      expect((await cursors('{atLetter: {n: 3}}', selection))[0]).not.toContain(digest);
      expect((await cursors('{distance: {x: 0}}', selection))[0]).toMatch(/^\[1, 2, "[-\w]{12}"\]$/);
    }
  });

  test.each([
    ['other arguments', '{distance: {x: 0}}', '{distance: {x: 1}}'],
    ['a default that is written out', '{distance: {x: 0}}', '{distance: {x: 0, y: 0}}'],
    ['null instead of nothing', '{atLetter: {}}', '{atLetter: {n: null}}'],
    ['another function with equal arguments', '{atLetter: {n: 2}}', '{distance: {x: 2}}'],
    ['no arguments', '{distance: {x: 0}}', '{label: AscNullsLast}'],
    ['arguments, after none', '{label: AscNullsLast}', '{distance: {x: 0}}'],
    ['other arguments of a related row', '{country: {away: {x: 0}}}', '{country: {away: {x: 1}}}'],
    [
      'another order of two calls',
      '[{distance: {x: 0}}, {distance: {x: 1}}]',
      '[{distance: {x: 1}}, {distance: {x: 0}}]',
    ],
    ['another long argument', `{tag: {word: "${'x'.repeat(2000)}a"}}`, `{tag: {word: "${'x'.repeat(2000)}b"}}`],
  ])('a cursor made with %s is refused', async (_, made, used) => {
    const cursorOf = async (orderBy: string) =>
      (await ask(`{ placeCollection(first: 1, orderBy: ${orderBy}) { pageInfo { endCursor } } }`)).placeCollection
        .pageInfo.endCursor;
    const cursor = await cursorOf(made);
    const refused = 'orderBy clause incompatible with pagination cursor';
    const inVariable =
      'query ($cursor: Cursor) { placeCollection(after: $cursor, orderBy: ORDER) { edges { node { id } } } }'.replace(
        'ORDER',
        used,
      );
    expect(await execution.errors('anon', inVariable, { variables: { cursor } })).toEqual([refused]);
    expect(
      await execution.errors(
        'anon',
        `{ placeCollection(last: 1, before: "${cursor}", orderBy: ${used}) { edges { node { id } } } }`,
      ),
    ).toEqual([refused]);
    expect(await execution.errors('anon', inVariable.replace(used, made), { variables: { cursor } })).toEqual([]);
  });

  test('a cursor that is shorter, or has another value in place of the digest, is refused', async () => {
    const page = (elements: string) =>
      execution.errors(
        'anon',
        `{ placeCollection(after: "${Buffer.from(elements).toString('base64')}", orderBy: {distance: {x: 0}}) { edges { cursor } } }`,
      );
    for (const elements of ['[1]', '[1, 2]', '[1, 2, null]', '[1, 2, "x"]', '[1, 2, "x", "y"]', '[]'])
      expect(await page(elements)).toEqual(['orderBy clause incompatible with pagination cursor']);
  });

  test('arguments that exclude each other are refused before a cursor that does not fit', async () => {
    const query = `{ placeCollection(first: 0, before: "${btoa('[1]')}", orderBy: {distance: {x: 0}}) { edges { cursor } } }`;
    expect(await execution.errors('anon', query)).toEqual(['"first" may only be used with "after"']);
  });

  test('one statement serves cursors and arguments of all values', async () => {
    const query =
      'query ($x: Float!, $after: Cursor) { placeCollection(first: 1, after: $after, orderBy: {distance: {x: $x}}) { edges { node { id } } pageInfo { endCursor } } }';
    const texts = new Set<string>();
    for (const x of [0, 1.5, 2]) {
      const { placeCollection } = await ask(query, { x });
      const variables = { x, after: placeCollection.pageInfo.endCursor };
      texts.add((await execution.statements('anon', query, { variables }))[0]!.text);
      expect(await execution.errors('anon', query, { variables: { ...variables, x: x + 1 } })).toHaveLength(1);
    }
    expect(texts.size).toBe(1);
  });
});

describe('related rows', () => {
  test.each([
    // Row 4 has no country; country 3 has no name, for which the function has a value.
    ['{country: {title: AscNullsLast}}', [3, 1, 2, 5, 4]],
    ['{country: {title: DescNullsFirst}}', [4, 5, 1, 2, 3]],
    ['{country: {away: {x: 0}}}', [5, 1, 2, 3, 4]],
    ['{country: {away: {x: 0, direction: AscNullsFirst}}}', [4, 5, 1, 2, 3]],
    ['[{owner: {shout: AscNullsLast}}, {label: AscNullsLast}]', [5, 2, 4, 1, 3]],
    // A key that may have several rows, and none of most.
    ['{lodging: {tag: {word: ""}}}', [5, 2, 1, 3, 4]],
  ])('%s: what is not there is null', async (orderBy, expected) => {
    expect(await ids(orderBy)).toEqual(expected);
    expect(await ids(orderBy, '', 'somePlaces')).toEqual(expected);
  });

  test('related rows are ordered in collections of their own, in groups of distinct ones, and beside aggregates', async () => {
    const data = await ask(`{
      countryCollection(orderBy: {away: {x: 9}}) { edges { node { id placeCollection(orderBy: {distance: {x: 1}}, first: 1) { totalCount edges { node { id } } aggregate { count } } } } }
      placeCollection(distinctOn: [countryId], orderBy: [{distance: {x: 5}}]) { edges { node { id } } } }`);
    expect(
      data.countryCollection.edges.map(({ node }: Json) => [
        node.id,
        node.placeCollection.edges[0]?.node.id,
        node.placeCollection.totalCount,
      ]),
    ).toEqual([
      [3, 5, 1],
      [1, 2, 2],
      [2, 3, 1],
    ]);
    expect(data.placeCollection.edges.map(({ node }: Json) => node.id)).toEqual([1, 3, 5, 4]);
  });
});

test('groups are not ordered by it', async () => {
  const query =
    '{ placeCollection { groups(by: [{column: countryId}], orderBy: [{key: {label: AscNullsLast}}]) { count } } }';
  expect((await execution.errors('anon', query))[0]).toContain('Groups cannot be ordered by "label"');
});

test('an order by a function is refused below many rows, by its cost', async () => {
  const cheap = await startExecution(database, { limits: { maxCost: 29_000 } });
  expect(await cheap.errors('anon', '{ placeCollection(orderBy: {distance: {x: 0}}) { edges { cursor } } }')).toEqual(
    [],
  );
  const nested =
    '{ countryCollection(first: 30) { edges { node { placeCollection(first: 1, orderBy: {label: AscNullsLast}) { edges { cursor } } } } } }';
  expect(await cheap.errors('anon', nested)).toEqual([
    expect.stringContaining('more than the limit of 29000 (option --max-cost).'),
  ]);
});

test('an operation orders by 100 calls', async () => {
  const by = (count: number) =>
    `{ placeCollection(orderBy: [${Array.from({ length: count }, (_, x) => `{distance: {x: ${x}}}`).join()}]) { edges { cursor } } }`;
  expect(await execution.errors('anon', by(100))).toEqual([]);
  expect(await execution.errors('anon', by(101))).toEqual([
    'The filters and orders of the operation call functions more than 100 times.',
  ]);
});

describe('names', async () => {
  await createSchema(
    database,
    'named',
    `
    create table "placeNearOrderInput" (id int primary key);
    create table place (id int primary key, taken int, search tsvector);
    create function taken(p place) returns int stable language sql as 'select 1'; ${order('taken(place)')}
    create function near(p place, a int) returns int stable language sql as 'select a'; ${order('near')}
    create function turned(p place, direction int) returns int stable language sql as 'select 1'; ${order('turned')}
    create function lists(p place) returns int[] stable language sql as 'select array[1]'; ${order('lists')}
    create function parts(p place) returns jsonb stable language sql as 'select null::jsonb'; ${order('parts')}
    create function "searchRank"(p place) returns int stable language sql as 'select 1'; ${order('"searchRank"')}
    create function no_row(a int) returns int stable language sql as 'select 1'; ${order('no_row')}
    create function dual(p place, a int) returns boolean stable language sql as 'select a > 1';
    comment on function dual is '@graphql({"filter": true, "order": true})';
    grant select on place, "placeNearOrderInput" to anon;
  `,
  );

  test('that are taken stay; the rest is said by check', async () => {
    const on = await startExecution(database, { schemas: ['named'], introspection: 'always' });
    const data = await on.data(
      'anon',
      '{ order: __type(name: "placeOrderBy") { inputFields { name type { name } } } dual: __type(name: "placeDualOrderInput") { inputFields { name defaultValue } } }',
    );
    expect(data.order.inputFields.map(({ name, type }: Json) => `${name} ${type.name}`)).toEqual([
      ...[
        'id OrderByDirection',
        'taken OrderByDirection',
        'search OrderByDirection',
        'searchRank OrderByDirection',
        'dual placeDualOrderInput',
      ],
    ]);
    expect(data.dual.inputFields).toEqual([
      { name: 'a', defaultValue: null },
      { name: 'direction', defaultValue: 'AscNullsLast' },
    ]);
    const reasons = (await modelReader(database).omissions(['named'])).map(({ reason }) => reason);
    const vainly = (name: string, why: string) => `Rows are not ordered by the function named.${name}: it ${why}.`;
    expect(reasons).toEqual(
      expect.arrayContaining([
        'Rows are not ordered by the function named.taken, "taken" in GraphQL: the order has another entry of that name.',
        'Table named.place would have the type "placeNearOrderInput", and table named."placeNearOrderInput" has that name already.',
        vainly('turned', 'has an argument called "direction", as every order has'),
        vainly('lists', 'returns lists or JSON, which have no order'),
        vainly('parts', 'returns lists or JSON, which have no order'),
        'Rows are not ordered by the function named.no_row: its first argument is no row.',
        'Table named.place has no order by its rank of the column "search": the order has another entry of that name.',
      ]),
    );
  });
});
