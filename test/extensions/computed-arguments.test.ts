/** Fields that functions compute of a row take the function's further arguments (extension `function_filters`). */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create type mood as enum ('good', 'bad');
  create domain percent as numeric check (value >= 0);
  create table city (id int primary key, name text, lat float8, lon float8, mayor int, details jsonb);
  insert into city values (1, 'Bern', 46.9, 7.4, null, '{"a": {"b": [1, 2]}}'), (2, 'Basel', 47.6, 7.6, 1, null), (3, null, null, null, 2, '5');
  create function distance(city, lat float8, lon float8) returns float8 immutable language sql
    as 'select abs($1.lat - lat) + abs($1.lon - lon)';
  create function greet(c city, word text default 'Hello', times int default 2) returns text stable language sql
    as $$ select repeat(word || ' ' || c.name || '. ', times) $$;
  create function shares(c city, among percent[], big bigint, "at" timestamptz default null) returns numeric[] stable language sql
    as 'select array[c.id / among[1], big]::numeric[]';
  create function nearest(c city, past int default 0) returns setof city rows 1 stable language sql
    as 'select o.* from city o where o.id <> c.id order by abs(o.id - c.id), o.id offset past limit 1';
  create function others(c city, lowest int) returns setof city stable language sql
    as 'select o.* from city o where o.id <> c.id and o.id >= lowest';
  create function part(c city, "at" text) returns jsonb stable language sql as 'select c.details -> at';
  create function info(city) returns jsonb stable language sql as 'select $1.details';
  create function newest(id int) returns json stable language sql as 'select details::json from city c where c.id = newest.id';
  create table noted (what text);
  create function note(c city, what text) returns boolean volatile language sql
    as 'insert into noted values (what || c.id) returning true';
  grant select, insert, update on city to anon;
  grant insert, select on noted to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });

async function nodes(selection: string, variables: Record<string, unknown> = {}, declared = ''): Promise<Json> {
  const query = `query ${declared} { cityCollection { edges { node { ${selection} } } } }`;
  const { cityCollection } = await execution.data('anon', query, { variables });
  return cityCollection.edges.map(({ node }: Json) => node);
}

describe('arguments of a field of a row', () => {
  test('follow the row', async () => {
    expect(await nodes('distance(lat: 47.6, lon: 7.4)')).toEqual([
      { distance: expect.closeTo(0.7) },
      { distance: expect.closeTo(0.2) },
      { distance: null },
    ]);
  });

  test('arguments of a field of a row come from variables, and two fields of one function have their own', async () => {
    const declared = '($lat: Float!, $lon: Float!, $far: Float = 100)';
    const selection = 'near: distance(lat: $lat, lon: $lon) far: distance(lat: $far, lon: $lon)';
    const [bern] = await nodes(selection, { lat: 46.9, lon: 7.4 }, declared);
    expect(bern).toEqual({ near: 0, far: expect.closeTo(53.1) });
  });

  test.each([
    ['greet', 'Hello Bern. Hello Bern. '],
    ['greet(times: 1)', 'Hello Bern. '],
    ['greet(word: "Hi")', 'Hi Bern. Hi Bern. '],
    ['greet(word: "Hi", times: 0)', ''],
    // Null is passed on, and is not the default.
    ['greet(word: null)', null],
    ['greet(times: null)', null],
  ])('with a default may be left out: %s', async (field, expected) => {
    const [bern] = await nodes(`value: ${field}`);
    expect(bern).toEqual({ value: expected });
  });

  test('without a default are required, and refuse null', async () => {
    const errors = (field: string, declared = '', variables = {}) =>
      execution.errors('anon', `query ${declared} { cityCollection { edges { node { ${field} } } } }`, { variables });
    expect((await errors('distance(lat: 1)'))[0]).toContain('"City.distance(lon:)" of type "Float!" is required');
    expect((await errors('distance(lat: 1, lon: null)'))[0]).toContain('null');
    expect((await errors('distance(lat: $lat, lon: 1)', '($lat: Float = 1)', { lat: null }))[0]).toContain('null');
  });

  test('arguments of a field of a row are scalars, lists and domains', async () => {
    expect((await nodes('shares(among: ["0.5"], big: "9007199254740993")'))[0]).toEqual({
      shares: ['2.0000000000000000', '9007199254740993'],
    });
    expect(
      await execution.errors('anon', '{ cityCollection { edges { node { shares(among: ["-1"], big: "1") } } } }'),
    ).toEqual([expect.stringContaining('A constraint on related data was violated.')]);
  });

  test('arguments of a field of a row stand before those of a collection, and lead to rows', async () => {
    const selection = `id nearest(past: 1) { id } nearer: nearest { id }
      others(lowest: 2, first: 1, orderBy: [{id: DescNullsLast}]) { totalCount edges { node { id distance(lat: 0, lon: 0) } } }`;
    await database.query(`comment on table city is '@graphql({"totalCount": {"enabled": true}})'`);
    await execution.reload();
    const [bern] = await nodes(selection);
    expect(bern).toEqual({
      id: 1,
      nearest: { id: 3 },
      nearer: { id: 2 },
      others: { totalCount: 2, edges: [{ node: { id: 3, distance: null } }] },
    });
  });

  test('of a volatile function are not used for the row after the page', async () => {
    await execution.data(
      'anon',
      '{ cityCollection(first: 1) { pageInfo { hasNextPage } edges { node { note(what: "x") } } } }',
    );
    expect(await database.query('select * from noted')).toEqual([{ what: 'x1' }]);
  });

  test('arguments of a field of a row work on what a mutation writes', async () => {
    const update =
      'mutation { updateCityCollection(set: {lat: 10}, filter: {id: {eq: 3}}) { records { id greet(word: "To", times: 1) distance(lat: 1, lon: 1) } } }';
    expect((await execution.data('anon', update)).updateCityCollection.records).toEqual([
      { id: 3, greet: null, distance: null },
    ]);
    await database.query('update city set lat = null where id = 3');
  });

  test('arguments of a field of a row are parameters, not text of the statement', async () => {
    const query = 'query ($word: String) { cityCollection { edges { node { greet(word: $word) } } } }';
    const texts = await Promise.all(
      ['a', "'; drop table city; --"].map(
        async (word) => (await execution.statements('anon', query, { variables: { word } }))[0]!.text,
      ),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain('"public"."greet"("p1"."r", "word" => $1::"pg_catalog"."text")');
  });
});

test('JSON that a function returns is answered in part, unless it has such an argument itself', async () => {
  expect(
    await nodes(
      'whole: info b: info(at: ["a", "b"]) last: info(at: ["a", "b", "-1"]) none: info(at: ["x"]) all: info(at: null)',
    ),
  ).toEqual([
    { whole: '{"a": {"b": [1, 2]}}', b: '[1, 2]', last: '2', none: null, all: '{"a": {"b": [1, 2]}}' },
    { whole: null, b: null, last: null, none: null, all: null },
    { whole: '5', b: null, last: null, none: null, all: '5' },
  ]);
  expect((await nodes('part(at: "a")'))[0]).toEqual({ part: '{"b": [1, 2]}' });
  const query = 'query ($at: [String!]) { newest(id: 1, at: $at) }';
  expect(await execution.data('anon', query, { variables: { at: ['a', 'b', '0'] } })).toEqual({ newest: '1' });
  expect(await execution.data('anon', query)).toEqual({ newest: '{"a": {"b": [1, 2]}}' });
  const reasons = (await modelReader(database).omissions(['public'])).map(({ reason }) => reason);
  expect(reasons).toContain('Function public.part has no "at" of JSON fields: an argument of its own has that name.');
});

describe('shown', () => {
  test('with their types and defaults', async () => {
    const { __type } = await execution.data(
      'anon',
      '{ __type(name: "City") { fields { name args { name defaultValue type { name kind ofType { name } } } } } }',
    );
    const field = (name: string) => __type.fields.find((each: Json) => each.name === name).args;
    expect(field('distance').map(({ name, type }: Json) => `${name} ${type.kind} ${type.ofType?.name}`)).toEqual([
      'lat NON_NULL Float',
      'lon NON_NULL Float',
    ]);
    expect(field('greet').map(({ name, defaultValue }: Json) => `${name} ${defaultValue}`)).toEqual([
      'word "Hello"',
      'times 2',
    ]);
    expect(field('others').map(({ name }: Json) => name)).toEqual([
      ...['lowest', 'first', 'last', 'before', 'after', 'offset', 'filter', 'orderBy', 'distinctOn'],
    ]);
  });

  test('neither with --extensions none, nor where the table or the function is in a schema without them', async () => {
    const fields = async (options: object) => {
      const on = await startExecution(database, { introspection: 'always', ...options });
      const { __type } = await on.data('anon', '{ __type(name: "City") { fields { name } } }');
      return __type.fields.map(({ name }: Json) => name);
    };
    const plain = ['nodeId', 'id', 'name', 'lat', 'lon', 'mayor', 'details'];
    expect(await fields({ extensions: [] })).toEqual([...plain, 'info']);
    expect(await fields({ extensions: ['reads'] })).toEqual([
      ...plain, ...['info', 'distance', 'greet', 'shares', 'nearest', 'others', 'part', 'note'],
    ]); // biome-ignore format: names
    await database.query(`
      create schema one; create schema two; grant usage on schema one, two to anon;
      create table one.city (id int primary key); create table two.town (id int primary key);
      grant select on one.city, two.town to anon;
      create function one.of_city(c one.city, a int) returns int stable language sql as 'select a';
      create function one.of_town(c two.town, a int) returns int stable language sql as 'select a';
      create function two.by_city(c one.city, a int) returns int stable language sql as 'select a';
      comment on schema two is '@graphql({"extensions": []})';
    `);
    const on = await startExecution(database, { introspection: 'always', schemas: ['one', 'two'] });
    const data = await on.data(
      'anon',
      '{ a: __type(name: "city") { fields { name } } b: __type(name: "town") { fields { name } } }',
    );
    expect([data.a, data.b].map(({ fields }) => fields.map(({ name }: Json) => name))).toEqual([
      ['nodeId', 'id', 'of_city'],
      ['nodeId', 'id'],
    ]);
  });
});

describe('left out, and said by check,', async () => {
  await createSchema(
    database,
    'near',
    `
    create schema late; grant usage on schema late to anon;
    create table place (id int primary key, taken int, other_id int references place, hidden text);
    comment on constraint place_other_id_fkey on place is '@graphql({"foreign_name": "other"})';
    create function taken(p place, a int) returns int stable language sql as 'select a';
    create function other(p place, a int) returns int stable language sql as 'select a';
    create function twice(p place) returns int stable language sql as 'select 1';
    create function twice(p place, a int) returns int stable language sql as 'select a';
    create function again(p place, a int) returns int stable language sql as 'select a';
    create function again(p place, a text, b int default 1) returns int stable language sql as 'select 1';
    create function unnamed(p place, int) returns int stable language sql as 'select 1';
    create function rows(p place, first int) returns setof place stable language sql as 'select p.*';
    create function composite(p place, other place) returns int stable language sql as 'select 1';
    create function many(p place, variadic n int[]) returns int stable language sql as 'select 1';
    create function secret(p place, a int) returns int stable language sql as 'select 1';
    revoke execute on function secret from public;
    create function free(p place, a int) returns int stable language sql as 'select 1';
    create function late.free(p place, a int) returns int stable language sql as 'select 2';
    create table partly (id int primary key, pin text);
    create function of_partly(p partly, a int) returns int stable language sql as 'select 1';
    grant select on place to anon; grant select (id) on partly to anon;
    insert into place values (1, 7);
  `,
  );
  const on = await startExecution(database, { introspection: 'always', schemas: ['near', 'late'] });
  const reader = modelReader(database);

  test('what has no name, no type or no privilege is left out, and check says so', async () => {
    const data = await on.data(
      'anon',
      '{ a: __type(name: "place") { fields { name } } b: __type(name: "partly") { fields { name } } }',
    );
    expect([data.a, data.b].map(({ fields }) => fields.map(({ name }: Json) => name))).toEqual([
      ['nodeId', 'id', 'taken', 'other_id', 'hidden', 'other', 'placeCollection', 'twice', 'composite', 'many', 'free'],
      ['nodeId', 'id'],
    ]);
    const omissions = await reader.omissions(['near', 'late']);
    // Of a field, the name has its type before it.
    const isOf = (name: string) => (each: string) => each === name || each === `place.${name}`;
    const reason = (name: string) => omissions.filter(({ names }) => names.some(isOf(name))).map((each) => each.reason);
    expect(reason('taken')).toEqual([
      'A field "taken" of near.place that an extension adds is left out: an earlier one has that name.',
    ]);
    expect(reason('other')).toEqual([
      'A field "other" of near.place that an extension adds is left out: an earlier one has that name.',
    ]);
    expect(reason('twice')).toEqual([
      'Function near.twice(near.place, int4) shares its name with another function of the same rows. Rename one of them by alter routine.',
    ]);
    expect(reason('again')).toHaveLength(2);
    expect(reason('unnamed')).toEqual([
      'Function near.unnamed(near.place, int4) has an argument without a name. Name all of them with create or replace function.',
    ]);
    expect(reason('rows')).toEqual([
      'Function near.rows(near.place, int4) returns rows and has an argument called "first", as every collection has. Create it again with another name for the argument, or expose a function that calls it.',
    ]);
    expect(reason('secret')).toEqual(['Function near.secret exists; role anon has no EXECUTE.']);
    expect(reason('of_partly')).toEqual([
      'Function near.of_partly is a computed field and needs SELECT on the whole table.',
    ]);
    expect(reason('free')[0]).toContain('A field "free" of near.place');
  });

  test('what is left out is not answered', async () => {
    const values = await on.data('anon', '{ placeCollection { edges { node { taken twice free(a: 1) } } } }');
    expect(values.placeCollection.edges[0].node).toEqual({ taken: 7, twice: 1, free: 1 });
    expect(await on.errors('anon', '{ placeCollection { edges { node { secret(a: 1) } } } }')).toEqual([
      expect.stringContaining('Cannot query field "secret"'),
    ]);
  });
});
