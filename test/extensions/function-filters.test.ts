/** Rows are filtered by functions of a row, with further arguments or without (extension `function_filters`). */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const filter = (signature: string) => `comment on function ${signature} is '@graphql({"filter": true})';`;

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create type size as enum ('small', 'large');
  create domain percent as int check (value <= 100);
  create table country (id int primary key, name text);
  create table place (id int primary key, country_id int references country, name text, at point, words text, details jsonb, tags text[], seen timestamptz);
  comment on table place is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  insert into country values (1, 'Swiss'), (2, 'French'), (3, 'Empty');
  insert into place values
    (1, 1, 'Bern', '(0,0)', 'river bear', '{"a": 1}', '{x,y}', '2024-01-01'), (2, 1, 'Basel', '(3,4)', 'river rhine', '{"b": 2}', '{y}', '2025-01-01'),
    (3, 2, 'Lyon', '(30,40)', 'silk', null, '{}', null), (4, null, null, null, null, '{"a": 2}', null, null);

  create function shout(place) returns text immutable language sql as 'select upper($1.name)'; ${filter('shout(place)')}
  create function length_of(place) returns int immutable language sql as 'select length($1.name)'; ${filter('length_of(place)')}
  create function kind(place) returns size immutable language sql as $$ select case when $1.id = 1 then 'large' when $1.id < 4 then 'small' end::size $$; ${filter('kind(place)')}
  create function known(place) returns boolean immutable language sql as 'select $1.id < 3 or null'; ${filter('known(place)')}
  create function extra(place) returns jsonb immutable language sql as 'select $1.details'; ${filter('extra(place)')}
  create function search(place) returns tsvector immutable language sql as $$ select to_tsvector('simple', $1.words) $$; ${filter('search(place)')}
  create function labels(place) returns text[] immutable language sql as 'select $1.tags'; ${filter('labels(place)')}
  create function where_it_is(place) returns point immutable language sql as 'select $1.at'; ${filter('where_it_is(place)')}
  create function share(place) returns percent immutable language sql as 'select ($1.id * 10)::percent'; ${filter('share(place)')}
  create function seen_at(place) returns timestamptz immutable language sql as 'select $1.seen'; ${filter('seen_at(place)')}

  create function near(p place, x float8, y float8, within float8 default 10) returns boolean immutable language sql
    as 'select p.at <-> point(x, y) <= within'; ${filter('near')}
  create function has_any(p place, tags text[], kind size default null) returns boolean immutable language sql as 'select p.tags && tags'; ${filter('has_any(place, text[], size)')}
  create function among(p place, names text[]) returns boolean immutable language sql as 'select p.name = any (names)'; ${filter('among')}
  create function lit(p place, lowest int default 2) returns boolean immutable language sql as 'select p.id >= lowest'; ${filter('lit')}
  create function strict_one(p place, word text) returns boolean immutable strict language sql as 'select position(word in p.name) > 0'; ${filter('strict_one')}
  create function big(c country, lowest int) returns boolean stable language sql as 'select count(*) >= lowest from place p where p.country_id = c.id'; ${filter('big')}
  create function some_places() returns setof place stable language sql as 'select p.* from place p';
  create function new_places() returns setof place volatile language sql as 'select p.* from place p';
  grant select, update, delete on place, country to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });
const ask = (query: string, variables: Record<string, unknown> = {}) => execution.data('anon', query, { variables });

async function ids(
  given: string,
  variables: Record<string, unknown> = {},
  declared = '',
  field = 'placeCollection',
): Promise<number[]> {
  const data = await ask(`query ${declared} { ${field}(filter: ${given}) { edges { node { id } } } }`, variables);
  return data[field].edges.map(({ node }: Json) => node.id);
}

describe('f(row) returns a value: the filter of its type', () => {
  test.each([
    ['{shout: {eq: "BERN"}}', [1]],
    ['{shout: {like: "B%"}}', [1, 2]],
    ['{shout: {startsWith: "L"}}', [3]],
    ['{shout: {in: ["LYON", "BASEL"]}}', [2, 3]],
    ['{shout: {regex: "^B.R"}}', [1]],
    ['{shout: {is: NULL}}', [4]],
    ['{shout: {neq: "BERN"}}', [2, 3]],
    ['{lengthOf: {gt: 4}}', [2]],
    ['{lengthOf: {gte: 4, lt: 5}}', [1, 3]],
    ['{kind: {eq: large}}', [1]],
    ['{kind: {in: [small]}}', [2, 3]],
    ['{known: {eq: true}}', [1, 2]],
    ['{known: {is: NULL}}', [3, 4]],
    ['{extra: {contains: "{\\"a\\": 1}"}}', [1]],
    ['{extra: {hasKey: "a"}}', [1, 4]],
    ['{extra: {at: [{path: ["a"], number: {gt: "1"}}]}}', [4]],
    ['{search: {websearch: "river -bear", config: "simple"}}', [2]],
    ['{labels: {contains: ["y"]}}', [1, 2]],
    ['{labels: {overlaps: ["x"]}}', [1]],
    ['{whereItIs: {is: NULL}}', [4]],
    ['{share: {lte: 20}}', [1, 2]],
    ['{seenAt: {gt: "2024-06-01T00:00:00Z"}}', [2]],
    // Nothing is asked.
    ['{shout: {}}', [1, 2, 3, 4]],
    ['{shout: null}', [1, 2, 3, 4]],
    // As of a column.
    ['{shout: {eq: null}}', []],
  ])('%s', async (given, expected) => {
    expect(await ids(given)).toEqual(expected);
    expect(await ids(given, {}, '', 'somePlaces')).toEqual(expected);
    const { newPlaces } = await ask(`mutation { newPlaces(filter: ${given}) { edges { node { id } } } }`);
    expect(newPlaces.edges.map(({ node }: Json) => node.id)).toEqual(expected);
  });

  test('with not: unknown stays unknown', async () => {
    expect(await ids('{not: {shout: {eq: "BERN"}}}')).toEqual([2, 3]);
    expect(await ids('{not: {known: {eq: true}}}')).toEqual([]);
    expect(await ids('{not: {shout: {is: NULL}}}')).toEqual([1, 2, 3]);
  });
});

describe('f(row, a…) returns boolean: its arguments, true where the function is', () => {
  test.each([
    ['{near: {x: 0, y: 0}}', [1, 2]],
    ['{near: {x: 0, y: 0, within: 1}}', [1]],
    ['{near: {x: 30, y: 40, within: 1000}}', [1, 2, 3]],
    ['{not: {near: {x: 0, y: 0}}}', [3]],
    ['{not: {not: {near: {x: 0, y: 0}}}}', [1, 2]],
    ['{near: null}', [1, 2, 3, 4]],
    ['{not: {near: null}}', [1, 2, 3, 4]],
    // A null argument is passed on, an absent one is the default.
    ['{near: {x: 0, y: 0, within: null}}', []],
    ['{lit: {}}', [2, 3, 4]],
    ['{lit: {lowest: 4}}', [4]],
    ['{lit: {lowest: null}}', []],
    ['{among: {names: ["Bern", "Lyon"]}}', [1, 3]],
    ['{among: {names: []}}', []],
    ['{strictOne: {word: "a"}}', [2]],
    ['{near: {x: 0, y: 0}, lit: {}}', [2]],
    ['{or: [{near: {x: 0, y: 0, within: 1}}, {near: {x: 30, y: 40, within: 1}}, {id: {eq: 4}}]}', [1, 3, 4]],
    ['{near: {x: 0, y: 0}, shout: {like: "BA%"}}', [2]],
  ])('%s', async (given, expected) => {
    expect(await ids(given)).toEqual(expected);
    expect(await ids(given, {}, '', 'somePlaces')).toEqual(expected);
  });

  test('from variables, in every part; values are no part of the statement', async () => {
    expect(await ids('{near: {x: $x, y: $y}}', { x: 0, y: 0 }, '($x: Float!, $y: Float!)')).toEqual([1, 2]);
    expect(await ids('{near: $near}', { near: { x: 0, y: 0, within: 1 } }, '($near: PlaceNearFilterInput)')).toEqual([
      1,
    ]);
    expect(await ids('$filter', { filter: { near: { x: 30, y: 40 } } }, '($filter: PlaceFilter)')).toEqual([3]);
    expect(await ids('$filter', { filter: { near: null } }, '($filter: PlaceFilter)')).toEqual([1, 2, 3, 4]);
    expect(await ids('{near: {x: 0, y: 0, within: $within}}', {}, '($within: Float)')).toEqual([1, 2]);
    expect(await ids('{near: {x: 0, y: 0, within: $within}}', { within: null }, '($within: Float)')).toEqual([]);
    const query =
      'query ($near: PlaceNearFilterInput) { placeCollection(filter: {near: $near}) { edges { node { id } } } }';
    const texts = await Promise.all(
      [
        { x: 0, y: 0 },
        { x: 5, y: 7.5 },
      ].map(async (near) => (await execution.statements('anon', query, { variables: { near } }))[0]!.text),
    );
    expect(new Set(texts).size).toBe(1);
  });

  test('an argument without a default is required and refuses null', async () => {
    const errors = (given: string, declared = '', variables = {}) =>
      execution.errors('anon', `query ${declared} { placeCollection(filter: ${given}) { edges { cursor } } }`, {
        variables,
      });
    expect((await errors('{near: {x: 1}}'))[0]).toContain('"y"');
    expect((await errors('{near: {x: 1, y: null}}'))[0]).toContain('null');
    expect((await errors('{near: {x: 1, y: $y}}', '($y: Float = 1)', { y: null }))[0]).toContain('must not be null');
    expect((await errors('$f', '($f: PlaceFilter)', { f: { near: { x: 1 } } }))[0]).toContain('"y"');
    expect((await errors('{near: {x: 1, y: 2, z: 3}}'))[0]).toContain('"z"');
  });
});

describe('wherever rows are filtered', () => {
  test('related rows', async () => {
    const countries = async (given: string) => {
      const { countryCollection } = await ask(`{ countryCollection(filter: ${given}) { edges { node { id } } } }`);
      return countryCollection.edges.map(({ node }: Json) => node.id);
    };
    expect(await countries('{placeCollection: {some: {near: {x: 0, y: 0}}}}')).toEqual([1]);
    expect(await countries('{placeCollection: {some: {shout: {eq: "LYON"}}}}')).toEqual([2]);
    expect(await countries('{placeCollection: {every: {near: {x: 0, y: 0}}}}')).toEqual([1, 3]);
    expect(await countries('{placeCollection: {none: {near: {x: 0, y: 0}}}}')).toEqual([2, 3]);
    expect(await countries('{placeCollection: {aggregate: {filter: {near: {x: 0, y: 0}}, count: {eq: 2}}}}')).toEqual([
      1,
    ]);
    expect(await ids('{country: {big: {lowest: 2}}}')).toEqual([1, 2]);
    expect(await ids('{not: {country: {big: {lowest: 2}}}}')).toEqual([3, 4]);
    expect(await ids('{country: {placeCollection: {some: {near: {x: 30, y: 40}}}}}')).toEqual([3]);
  });

  test('nested collections, counts, aggregates, groups and distinct rows', async () => {
    const data =
      await ask(`{ countryCollection { edges { node { placeCollection(filter: {near: {x: 0, y: 0, within: 1}}) { totalCount edges { node { id } } } } } }
      placeCollection(filter: {near: {x: 0, y: 0}}) { totalCount aggregate { count max { id } }
        groups(by: [{column: countryId}], having: {filter: {near: {x: 0, y: 0, within: 1}}, count: {gte: 1}}) { key { countryId } count } }
      distinct: placeCollection(filter: {lengthOf: {gt: 1}}, distinctOn: [countryId]) { edges { node { id } } } }`);
    expect(data.countryCollection.edges.map(({ node }: Json) => node.placeCollection.totalCount)).toEqual([1, 0, 0]);
    expect(data.placeCollection).toEqual({
      totalCount: 2,
      aggregate: { count: 2, max: { id: 2 } },
      groups: [{ key: { countryId: 1 }, count: 2 }],
    });
    expect(data.distinct.edges.map(({ node }: Json) => node.id)).toEqual([1, 3]);
  });

  test('updates and deletes', async () => {
    const run = async (mutation: string) => Object.values(await ask(`mutation { ${mutation} }`))[0] as Json;
    expect(
      await run(
        'updatePlaceCollection(set: {words: "new"}, filter: {near: {x: 30, y: 40}}, atMost: 1) { records { id words } }',
      ),
    ).toEqual({ records: [{ id: 3, words: 'new' }] });
    expect(await run('deleteFromPlaceCollection(filter: {shout: {eq: "NOBODY"}}) { affectedCount }')).toEqual({
      affectedCount: 0,
    });
    const tooMany = await execution.errors(
      'anon',
      'mutation { deleteFromPlaceCollection(filter: {near: {x: 0, y: 0}}) { affectedCount } }',
    );
    expect(tooMany).toEqual(['delete impacts too many records']);
    expect(await database.query('select count(*)::int as n from place')).toEqual([{ n: 4 }]);
  });
});

describe('limits', () => {
  test('functions are called 100 times by an operation', async () => {
    const some = (count: number) =>
      `{ placeCollection(filter: {or: [${Array.from({ length: count }, (_, n) => `{near: {x: ${n}, y: 0, within: 0}}`).join()}]}) { edges { node { id } } } }`;
    expect((await ask(some(100))).placeCollection.edges).toHaveLength(1);
    const { errors } = await execution.run('anon', some(101));
    expect(errors).toMatchObject([
      {
        message: 'The filters and orders of the operation call functions more than 100 times.',
        extensions: { code: 'LIMIT_EXCEEDED', limit: 'functions' },
      },
    ]);
  });

  test('the connection is looked at after it, as after any user code', async () => {
    const compiled = async (given: string) => {
      const { shared } = await execution.role('anon');
      const query = `{ placeCollection(filter: ${given}) { edges { node { id } } } }`;
      const document = shared.documents.prepare(query, null);
      if (document.kind === 'refused') throw new Error('refused');
      return shared.documents.choose(document, null).compiler.compile({}).runsUserCode;
    };
    expect(await compiled('{id: {eq: 1}}')).toBe(false);
    expect(await compiled('{lit: {}}')).toBe(true);
    expect(await compiled('{extra: {at: [{path: ["a"], number: {gt: "1"}}]}}')).toBe(true);
    expect(await compiled('{not: {shout: {is: NULL}}}')).toBe(true);
    expect(await compiled('{search: {plain: "a"}}')).toBe(true);
    expect(await compiled('{country: {big: {lowest: 1}}}')).toBe(true);
  });
});

describe('shown', () => {
  test('behind what is there without it, with types of their own', async () => {
    const data = await ask(`{ filter: __type(name: "PlaceFilter") { inputFields { name description type { name } } }
      near: __type(name: "PlaceNearFilterInput") { inputFields { name defaultValue type { name kind ofType { name } } } } }`);
    const entries = data.filter.inputFields.map(({ name, type }: Json) => `${name} ${type.name}`);
    expect(entries.slice(entries.indexOf('country CountryFilter') + 1)).toEqual([
      ...['shout StringFilter', 'lengthOf IntFilter', 'kind SizeFilter', 'known BooleanFilter', 'extra JSONFilter', 'search TextSearchFilter', 'labels StringListFilter'],
      ...['whereItIs OpaqueIsFilter', 'share IntFilter', 'seenAt DatetimeFilter', 'near PlaceNearFilterInput', 'hasAny PlaceHasAnyFilterInput'],
      ...['among PlaceAmongFilterInput', 'lit PlaceLitFilterInput', 'strictOne PlaceStrictOneFilterInput', 'details JSONFilter'],
    ]); // biome-ignore format: entries
    expect(
      data.near.inputFields.map(({ name, defaultValue, type }: Json) => [
        name,
        defaultValue,
        type.ofType?.name ?? type.name,
      ]),
    ).toEqual([
      ['x', null, 'Float'],
      ['y', null, 'Float'],
      ['within', '10', 'Float'],
    ]);
  });

  test('shown is nothing without the extension', async () => {
    const entries = async (extensions?: readonly []) => {
      const on = await startExecution(database, { introspection: 'always', ...(extensions && { extensions }) });
      const { __type, near } = await on.data(
        'anon',
        '{ __type(name: "PlaceFilter") { inputFields { name } } near: __type(name: "PlaceNearFilterInput") { name } }',
      );
      return [__type.inputFields.map(({ name }: Json) => name).includes('shout'), near];
    };
    expect(await entries()).toEqual([true, { name: 'PlaceNearFilterInput' }]);
    expect(await entries([])).toEqual([false, null]);
  });
});

describe('what a directive cannot enable', async () => {
  await createSchema(
    database,
    'vain',
    `
    create table place (id int primary key, taken int, "and" int, parts jsonb, other_id int references place);
    comment on constraint place_other_id_fkey on place is '@graphql({"foreign_name": "other", "local_name": "others"})';
    create table "placeTypedFilterInput" (id int primary key);
    ${[
      ['volatile_one(p place)', 'int volatile', '1'],
      ['sets(p place)', 'setof int stable rows 1', '1'],
      ['rows(p place)', 'place stable', 'p.*'],
      ['counts(p place, a int)', 'int stable', '1'],
      ['nothing(p place)', 'void stable', ''],
      ['documents(p place)', 'json[] stable', 'null::json[]'],
      ['no_row(a int)', 'boolean stable', 'true'],
      ['taken(p place)', 'int stable', '1'],
      ['other(p place)', 'boolean stable', 'true'],
      ['twice(p place)', 'int stable', '1'],
      ['typed(p place, a int)', 'boolean stable', 'true'],
      ['parts(p place)', 'text stable', "'mine'"],
    ]
      .map(
        ([signature, returns, body]) =>
          `create function ${signature} returns ${returns} language sql as $$ select ${body} $$; ${filter(signature!)}`,
      )
      .join('\n')}
    create function twice(p place, a int default 1) returns int stable language sql as 'select 1';
    create function closed(p place) returns int stable language sql as 'select 1'; ${filter('closed')}
    revoke execute on function closed from public;
    create function near(p place) returns int stable language sql as 'select 1';
    comment on function near is '@graphql({"filters": true, "order": "yes"})';
    insert into place values (1, 7, 8, '{}', null);
    grant select on place, "placeTypedFilterInput" to anon;
  `,
  );
  const reader = modelReader(database);

  test('what a directive cannot enable adds nothing, and check says why', async () => {
    const on = await startExecution(database, { schemas: ['vain'], introspection: 'always' });
    const { __type } = await on.data('anon', '{ __type(name: "placeFilter") { inputFields { name type { name } } } }');
    expect(__type.inputFields.map(({ name, type }: Json) => `${name} ${type.name}`)).toEqual([
      ...[
        'id IntFilter',
        'taken IntFilter',
        'and IntFilter',
        'other_id IntFilter',
        'nodeId IDFilter',
        'or null',
        'not placeFilter',
      ],
      ...['others placeCollectionFilter', 'other BooleanFilter', 'parts StringFilter'],
    ]);
    const omissions = await reader.omissions(['vain']);
    const reasons = (name: string) => omissions.filter(({ names }) => names.includes(name)).map(({ reason }) => reason);
    const vainly = (name: string, why: string) => `Rows are not filtered by the function vain.${name}: it ${why}.`;
    expect(reasons('volatile_one')).toEqual([
      vainly('volatile_one', 'is volatile. Declare it stable or immutable, if it is'),
    ]);
    expect(reasons('sets')).toEqual([vainly('sets', 'returns a set')]);
    expect(reasons('rows')).toEqual([vainly('rows', 'returns no single value')]);
    expect(reasons('counts')).toEqual([
      vainly('counts', 'takes further arguments, with which it has to return boolean'),
    ]);
    expect(reasons('nothing')).toEqual([vainly('nothing', 'returns no single value')]);
    expect(reasons('documents')).toEqual([vainly('documents', 'returns a type that has no filter')]);
    expect(reasons('no_row')).toEqual([
      'Rows are not filtered by the function vain.no_row: its first argument is no row.',
    ]);
    expect(reasons('twice')).toContain(vainly('twice', 'shares its name with another function of the same rows'));
    expect(reasons('closed')).toEqual(['Function vain.closed exists; role anon has no EXECUTE.']);
    expect(reasons('taken')).toContain(
      'Rows are not filtered by the function vain.taken, "taken" in GraphQL: the filter has another entry of that name.',
    );
    expect(reasons('placeTypedFilterInput')).toEqual([
      'Table vain.place would have the type "placeTypedFilterInput", and table vain."placeTypedFilterInput" has that name already.',
    ]);
    expect(omissions.find(({ names }) => names.includes('placeTypedFilterInput'))?.fix).toBe(
      `comment on routine vain.typed is '@graphql({"filter":true,"name":"vain_typed"})';`,
    );
  });
});
