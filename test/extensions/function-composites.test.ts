/** Functions take objects for arguments of composite types and for rows of tables (extension `functions`). */
import { describe, expect, test } from 'vitest';
import { openLibrary } from '../function/library.ts';
import { startExecution } from '../support/execution.ts';
import { modelReader } from '../support/read-model.ts';

const setUp = `
  create domain lib.zip as text check (value ~ '^\\d+$');
  create type lib.point2 as (x float8, y float8);
  create type lib.address as (gone int, street text, zip lib.zip, state lib.loan_state, tags text[], at_point lib.point2, doc jsonb, big bigint);
  alter type lib.address drop attribute gone;
  create type lib.route as (name varchar(5), stops lib.address[], first_stop lib.address);
  create type lib.level1 as (a int); create type lib.level2 as (b lib.level1); create type lib.level3 as (c lib.level2); create type lib.level4 as (d lib.level3);
  create type lib.odd as (area box[], "zip-code" int, a_b int, "aB" int, inner_level lib.level4, fine int);
  create type lib.unusable as (area box[]);
  create type aside.secret as (pin int);
  create type lib.closed as (pin int); revoke usage on type lib.closed from public;
  create table lib.partly (id int primary key, shown text, hidden text); grant select (id, shown) on lib.partly to anon;
  insert into lib.partly values (1, 'x', 'y');
  create table lib.unseen (id int primary key, salary int);

  create type lib.shift as (a int, b int);
  create function lib.shift_text(given lib.shift) returns text stable language sql as 'select given::text';
  create function lib.text_of(given lib.address) returns text stable language sql as $$ select coalesce(given::text, 'null') $$;
  create function lib.street_of(given lib.address default row('Default', '1', 'out', null, null, null, null)::lib.address) returns text stable language sql as 'select given.street';
  create function lib.echo(given lib.address) returns lib.address stable language sql as 'select given';
  create function lib.texts_of(given lib.address[]) returns text[] stable language sql as $$ select array_agg(coalesce(g::text, 'null') order by n) from unnest(given) with ordinality g2(street, zip, state, tags, at_point, doc, big, n), lateral (select row(street, zip, state, tags, at_point, doc, big)::lib.address as g) x $$;
  create function lib.how_many(given lib.address[]) returns text stable language sql as $$ select cardinality(given) || ' ' || given::text $$;
  create function lib.route_text(given lib.route) returns text stable language sql as 'select given::text';
  create function lib.streets_of(given lib.route) returns table (street text, tags text[]) stable language sql as
    'select s.street, s.tags from unnest(given.stops) with ordinality s(street, zip, state, tags, at_point, doc, big, n) order by s.n';
  create domain lib.must as int not null; create type lib.strict as (must lib.must, other int);
  create function lib.strict_text(given lib.strict) returns text stable language sql as 'select given::text';
  create function lib.far(variadic points lib.point2[]) returns float8 stable language sql as 'select sum(p.x) from unnest(points) p';
  create function lib.deep(given lib.level3) returns int stable language sql as 'select ((given).c).b.a';
  create function lib.loan_text(note text, given lib.loan) returns text stable language sql as $$ select note || ': ' || given::text $$;
  create function lib.add_loan(given lib.loan, renamed text) returns lib.loan language sql as
    'insert into lib.loan values (given.id, given.patron_id, renamed, given.fee, coalesce(given.state, ''out'')) returning *';
  create function lib.reader_text(n int, given lib.reader) returns text stable language sql as 'select given::text';
  create function lib.partly_text(n int, given lib.partly) returns text stable language sql as 'select given::text';
  create function lib.odd_text(given lib.odd) returns text stable language sql as 'select given::text';
  create function lib.near(lib.patron, spot lib.point2, within float8 default 1) returns boolean stable language sql as
    'select abs($1.id - spot.x) <= within';
  comment on function lib.near is '@graphql({"filter": true})';
  create function lib.distance(lib.patron, spot lib.point2) returns float8 stable language sql as 'select abs($1.id - spot.x)';
  comment on function lib.distance is '@graphql({"order": true})';

  create function lib.takes_secret(given aside.secret) returns int stable language sql as 'select 1';
  create function lib.takes_closed(given lib.closed) returns int stable language sql as 'select 1';
  create function lib.takes_unseen(n int, given lib.unseen) returns int stable language sql as 'select 1';
  create function lib.takes_level4(given lib.level4) returns int stable language sql as 'select 1';
  create function lib.takes_unusable(given lib.unusable) returns int stable language sql as 'select 1';
  create table lib.pair_input (id int primary key); comment on table lib.pair_input is '@graphql({"name": "PairInput"})'; grant select on lib.pair_input to anon;
  create function lib.takes_pair(given lib.pair) returns int stable language sql as 'select 1';
`;
const { ask, errors, field, text, execution, database } = await openLibrary(setUp);
const plain = await openLibrary(setUp, { extensions: [] });

const inputOf = async (type: string) => {
  const { shared } = await execution.role('anon');
  const found = shared.schema.getType(type);
  if (!found || !('getFields' in found)) return undefined;
  return Object.fromEntries(Object.values(found.getFields()).map(({ name, type: of }) => [name, String(of)]));
};

describe('a composite type', () => {
  test('a composite type is an input object, as are the composite types in it', async () => {
    expect(await field('Query', 'textOf')).toBe('(given: AddressInput!): String');
    expect(await inputOf('AddressInput')).toEqual({
      street: 'String', zip: 'String', state: 'LoanState', tags: '[String]', atPoint: 'Point2Input', doc: 'JSON', big: 'BigInt',
    }); // biome-ignore format: a table of types
    expect(await inputOf('RouteInput')).toEqual({ name: 'String', stops: '[AddressInput]', firstStop: 'AddressInput' });
    expect(await field('Query', 'far')).toBe('(points: [Point2Input]!): Float');
  });

  test.each([
    ['{}', '(,,,,,,)'],
    ['{street: "Main"}', '(Main,,,,,,)'],
    ['{street: null, zip: "12", state: DARK_LOST}', '(,12,dark-lost,,,,)'],
    ['{street: ""}', '("",,,,,,)'],
    ['{street: "a\\"b\\\\c,(d) \\n{e}"}', '("a""b\\\\c,(d) \n{e}",,,,,,)'],
    ['{tags: ["x", null, "a\\"b", ""]}', '(,,,"{x,NULL,""a\\\\""b"",""""}",,,)'],
    ['{tags: [], atPoint: {x: 1.5}}', '(,,,{},"(1.5,)",,)'],
    ['{atPoint: {}}', '(,,,,"(,)",,)'],
    ['{atPoint: null, doc: "{\\"a\\": 1}", big: 9007199254740993}', '(,,,,,"{""a"": 1}",9007199254740993)'],
  ])('a composite type has null for what is left out: %s', async (object, expected) => {
    expect(await ask(`{ textOf(given: ${object}) }`)).toEqual({ textOf: expected });
    // The same from a variable, whole and in parts.
    const { given } = (await ask(`{ given: textOf(given: ${object}) }`)) as { given: string };
    expect(given).toBe(expected);
  });

  test('a composite type comes from variables, whole and in part, and has one text for all of them', async () => {
    const query =
      'query ($given: AddressInput!) { textOf(given: $given) echo(given: $given) { street state tags big } }';
    const objects = [
      {},
      { street: 'a"b\\c\',(d)', tags: ['x y', null, '"'], big: '9007199254740993', atPoint: { y: -1 } },
      { state: 'DARK_LOST', tags: [], doc: '[1]', street: null },
    ];
    expect(await Promise.all(objects.map((given) => ask(query, { given })))).toEqual([
      { textOf: '(,,,,,,)', echo: null },
      {
        textOf: '("a""b\\\\c\',(d)",,,"{""x y"",NULL,""\\\\""""}","(,-1)",,9007199254740993)',
        echo: { street: 'a"b\\c\',(d)', state: null, tags: ['x y', null, '"'], big: '9007199254740993' },
      },
      { textOf: '(,,dark-lost,{},,[1],)', echo: { street: null, state: 'DARK_LOST', tags: [], big: null } },
    ]);
    const texts = await Promise.all(objects.map((given) => text(query, { given })));
    expect(new Set(texts).size).toBe(1);
    const parts =
      'query ($street: String, $point: Point2Input, $x: Float) { textOf(given: {street: $street, atPoint: $point}) far(points: [{x: $x}, null, $point]) }';
    expect(await ask(parts, { street: 'S', point: { x: 1, y: 2 }, x: 4 })).toEqual({
      textOf: '(S,,,,"(1,2)",,)',
      far: 5,
    });
    expect(await ask(parts)).toEqual({ textOf: '(,,,,,,)', far: null });
  });

  test('a composite type is required without a default; null is passed on', async () => {
    expect((await errors('{ textOf }'))[0]).toContain('"Query.textOf(given:)" of type "AddressInput!" is required');
    expect((await errors('{ textOf(given: null) }'))[0]).toContain('null');
    expect((await errors('query ($a: AddressInput!) { textOf(given: $a) }', { a: null }))[0]).toContain('null');
    expect((await errors('query ($a: AddressInput!) { textOf(given: $a) }', { a: { other: 1 } }))[0]).toContain(
      'other',
    );
    expect(await field('Query', 'streetOf')).toMatch(/^\(given: AddressInput/);
  });

  test('of wrong values fails like the values do', async () => {
    const { errors: [zip] = [] } = await execution.run('anon', '{ textOf(given: {zip: "x"}) }');
    expect(zip).toMatchObject({ path: ['textOf'], extensions: { code: 'CONSTRAINT_VIOLATION' } });
    expect(await ask('{ strictText(given: {must: 1}) }')).toEqual({ strictText: '(1,)' });
    expect((await errors('{ strictText(given: {other: 1}) }'))[0]).toContain('constraint');
    expect((await errors('{ routeText(given: {name: "123456"}) }'))[0]).toContain('too long');
    expect(await ask('{ routeText(given: {name: "12345"}) }')).toEqual({ routeText: '(12345,,)' });
    expect((await errors('{ textOf(given: {state: "out"}) }'))[0]).toContain('LoanState');
  });
});

describe('a list of objects', () => {
  test('a list of objects has nulls, none and one', async () => {
    expect(await field('Query', 'howMany')).toBe('(given: [AddressInput]!): String');
    const query = 'query ($given: [AddressInput]!) { howMany(given: $given) }';
    for (const [given, literal, expected] of [
      [[], '[]', '0 {}'],
      [[{ street: 'a b' }, null], '[{street: "a b"}, null]', '2 {"(\\"a b\\",,,,,,)",NULL}'],
      [{ zip: '1' }, '{zip: "1"}', '1 {"(,1,,,,,)"}'],
      [[{ tags: ['"'] }], '[{tags: ["\\""]}]', '1 {"(,,,\\"{\\"\\"\\\\\\\\\\"\\"\\"\\"}\\",,,)"}'],
    ] as const) {
      expect(await ask(query, { given }), literal).toEqual({ howMany: expected });
      expect(await ask(`{ howMany(given: ${literal}) }`), literal).toEqual({ howMany: expected });
    }
  });

  test('a list of objects may be in an object, and is an argument of variadic functions', async () => {
    const given = { name: 'r', stops: [{ street: 'a"', atPoint: { x: 1 } }, null], firstStop: { tags: ['x'] } };
    const literal = '{name: "r", stops: [{street: "a\\"", atPoint: {x: 1}}, null], firstStop: {tags: ["x"]}}';
    const [fromVariable, fromDocument] = [
      await ask('query ($given: RouteInput!) { routeText(given: $given) }', { given }),
      await ask(`{ routeText(given: ${literal}) }`),
    ];
    expect(fromDocument).toEqual(fromVariable);
    const [row] = await database.query<{ text: string }>(
      `select row('r', array[row('a"', null, null, null, row(1, null), null, null)::lib.address, null], row(null, null, null, '{x}', null, null, null))::lib.route::text as text`,
    );
    expect(fromVariable).toEqual({ routeText: row!.text });
    expect(await ask('{ a: far(points: []) b: far(points: {x: 2}) c: far(points: [{x: 2}, {x: 3, y: 1}]) }')).toEqual({
      a: null,
      b: 2,
      c: 5,
    });
    expect(await ask('{ deep(given: {c: {b: {a: 7}}}) }')).toEqual({ deep: 7 });
  });

  test('in each other are limited in the length of their text', async () => {
    const stop = { street: '"'.repeat(300_000) };
    const given = { stops: Array.from({ length: 30 }, () => stop) };
    const { errors: [error] = [] } = await execution.run(
      'anon',
      'query ($given: RouteInput!) { routeText(given: $given) }',
      { variables: { given } },
    );
    expect(error).toMatchObject({
      path: ['routeText'],
      extensions: { code: 'LIMIT_EXCEEDED', limit: 'text', input: '$given' },
    });
  });
});

describe('a row of a table', () => {
  test('a row of a table is an input object with its columns', async () => {
    expect(await field('Query', 'loanText')).toBe('(note: String!, given: LoanInput!): String');
    expect(await inputOf('LoanInput')).toEqual({
      id: 'Int',
      patronId: 'Int',
      title: 'String',
      fee: 'BigFloat',
      state: 'LoanState',
    });
    expect(await ask('{ loanText(note: "n", given: {id: 7, title: "Ab c", fee: "1.5", state: DARK_LOST}) }')).toEqual({
      loanText: 'n: (7,,"Ab c",1.50,dark-lost)',
    });
    expect(await ask('{ readerText(n: 1, given: {fullName: "A", born: "2001-02-03"}) }')).toEqual({
      readerText: '(,A,2001-02-03)',
    });
  });

  test('a row of a table has no column that the role may not select', async () => {
    expect(await inputOf('PartlyInput')).toEqual({ id: 'Int', shown: 'String' });
    expect(await ask('{ partlyText(n: 1, given: {id: 1, shown: "s"}) }')).toEqual({ partlyText: '(1,s,)' });
    expect((await errors('{ partlyText(n: 1, given: {hidden: "s"}) }'))[0]).toContain('"hidden"');
  });

  test('a row of a table is the row of a field where it is the first argument', async () => {
    expect(await field('Loan', 'addLoan')).toBe('(renamed: String!): Loan');
    expect(await field('Mutation', 'addLoan')).toBeUndefined();
    const without = await startExecution(database, { schemas: ['lib'], extensions: ['writes'] });
    expect(
      await without.data(
        'anon',
        'mutation { addLoan(given: {id: 90, patronId: 1}, renamed: "New") { id title state } }',
      ),
    ).toEqual({
      addLoan: { id: 90, title: 'New', state: 'OUT' },
    });
    await database.query('delete from lib.loan where id = 90');
  });
});

test('any text arrives as it is, however deep it stands', async () => {
  const pieces = [
    '"',
    '\\',
    '(',
    ')',
    '{',
    '}',
    ',',
    "'",
    ' ',
    '\n',
    '\t',
    'NULL',
    'null',
    '',
    'é',
    '😀',
    '$1',
    '::text',
    '--',
    '\u0001',
    'x',
  ];
  let seed = 7;
  const pick = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % most;
  };
  const word = () => Array.from({ length: pick(6) }, () => pieces[pick(pieces.length)]).join('');
  const maybe = <T>(make: () => T): T | null => (pick(5) === 0 ? null : make());
  const stops = Array.from({ length: 400 }, () => ({
    street: maybe(word),
    tags: maybe(() => Array.from({ length: pick(4) }, () => maybe(word))),
  }));
  const query = 'query ($given: RouteInput!) { streetsOf(given: $given) { street tags } }';
  const { streetsOf } = await ask(query, { given: { stops: stops.slice(0, 30) } });
  expect(streetsOf).toEqual(stops.slice(0, 30));
  for (let start = 30; start < stops.length; start += 30) {
    const part = stops.slice(start, start + 30);
    const literals = part.map(
      ({ street, tags }) => `{street: ${JSON.stringify(street)}, tags: ${JSON.stringify(tags)}}`,
    );
    expect((await ask(`{ streetsOf(given: {stops: [${literals}]}) { street tags } }`)).streetsOf).toEqual(part);
    expect((await ask(query, { given: { stops: part } })).streetsOf).toEqual(part);
  }
});

test('fields, filters and orders of rows take objects', async () => {
  const query = `query ($spot: Point2Input!) {
    patronCollection(filter: {near: {spot: $spot, within: 1}}, orderBy: [{distance: {spot: $spot}}]) { edges { cursor node { id near(spot: $spot) distance(spot: {x: 1}) } } }
  }`;
  const { patronCollection } = await ask(query, { spot: { x: 3 } });
  expect(patronCollection.edges.map(({ node }: { node: unknown }) => node)).toEqual([
    { id: 3, near: true, distance: 2 },
    { id: 2, near: true, distance: 1 },
  ]);
  const after = (spot: object) =>
    execution.run(
      'anon',
      'query ($spot: Point2Input!, $after: Cursor) { patronCollection(orderBy: [{distance: {spot: $spot}}], after: $after) { edges { node { id } } } }',
      {
        variables: { spot, after: patronCollection.edges[0].cursor },
      },
    );
  expect((await after({ x: 3 })).data).toEqual({
    patronCollection: { edges: [{ node: { id: 2 } }, { node: { id: 1 } }] },
  });
  expect((await after({ x: 4 })).errors?.[0]?.message).toBe('orderBy clause incompatible with pagination cursor');
});

test('what cannot be an argument is named by check, with the reason', async () => {
  const omissions = await modelReader(database).omissions(['lib']);
  const reasons = [
    'takes_secret',
    'takes_closed',
    'takes_unseen',
    'takes_level4',
    'takes_unusable',
    'takes_pair',
    'odd',
  ].flatMap((name) => omissions.filter(({ object }) => object === `lib.${name}`).map(({ reason }) => reason));
  expect(reasons).toEqual([
    'Function lib.takes_secret(aside.secret) has an argument ("given") of the type aside.secret, whose schema is not exposed. Add the schema to --schemas, and grant usage on it, or move the type.',
    'Function lib.takes_closed(lib.closed) has an argument ("given") of the type lib.closed, on which the role has no USAGE. Grant usage on the type to roles that call the function.',
    'Function lib.takes_unseen(int4, lib.unseen) has an argument ("given") of the type lib.unseen, whose table is not exposed. The function comes in with that table.',
    'Function lib.takes_level4(lib.level4) has an argument ("given") of the type lib.level4, which has more than 3 levels of composite types. Take json in its place.',
    'Function lib.takes_unusable(lib.unusable) has an argument ("given") of the type lib.unusable, none of whose attributes GraphQL can show. Take json in its place.',
    'Function lib.takes_pair would have the type "PairInput", and table lib.pair_input has that name already.',
    'The input of type lib.odd is shown without its attribute area, which has a type that has no GraphQL counterpart.',
    'The input of type lib.odd is shown without its attribute "zip-code", which has no GraphQL name that is valid and free.',
    'The input of type lib.odd is shown without its attribute "aB", which has no GraphQL name that is valid and free.',
    'The input of type lib.odd is shown without its attribute inner_level, which has a type that has no GraphQL counterpart.',
  ]);
  expect(await ask('{ oddText(given: {aB: 1, fine: 2}) }')).toEqual({ oddText: '(,,1,,,2)' });
});

test('the input of a composite type is named by its comment', async () => {
  await database.query(`comment on type lib.pair is '@graphql({"name": "Couple"})'`);
  await execution.reload();
  expect(await field('Query', 'takesPair')).toBe('(given: CoupleInput!): Int');
  await database.query('comment on type lib.pair is null');
  await execution.reload();
});

test('a type that changes between model and call is read again, and no value takes the place of another', async () => {
  const call = () => ask('{ shiftText(given: {a: 1, b: 2}) }');
  expect(await call()).toEqual({ shiftText: '(1,2)' });
  await database.query('alter type lib.shift add attribute c int');
  expect(await call()).toEqual({ shiftText: '(1,2,)' });
  await database.query('alter type lib.shift drop attribute a');
  expect(await ask('{ shiftText(given: {b: 2}) }')).toEqual({ shiftText: '(2,)' });
  await database.query('alter type lib.shift drop attribute b, add attribute d int');
  expect((await errors('{ shiftText(given: {b: 2}) }'))[0]).toContain('"b"');
  await database.query('alter type lib.shift alter attribute d type text');
  expect((await errors('{ shiftText(given: {d: 5}) }'))[0]).toContain('String cannot represent');
});

test('none of them is there without the extension', async () => {
  for (const name of ['textOf', 'howMany', 'routeText', 'far', 'loanText'])
    expect(await plain.field('Query', name), name).toBeUndefined();
  const { shared } = await plain.execution.role('anon');
  for (const name of ['AddressInput', 'LoanInput']) expect(shared.schema.getType(name), name).toBeUndefined();
});
