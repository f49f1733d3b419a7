/**
 * Which functions are fields, as clients meet it: absent ones cannot be called, and a change of grants, volatility or names
 * shows with the next reading of the catalog.
 */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { openLibrary } from './library.ts';

const { ask, errors, field, database, execution } = await openLibrary(
  `
  create function lib.gives_record() returns record stable language sql as 'select 1, 2';
  create function lib.gives_outs(out a int, out b int) stable language sql as 'select 1, 2';
  create function lib.gives_table() returns table (a int, b int) stable language sql as 'select 1, 2';
  create function lib.gives_numbers() returns setof int stable language sql as 'select 1';
  create function lib.gives_state() returns lib.loan_state stable language sql as $$ select 'out'::lib.loan_state $$;
  create function lib.gives_states() returns lib.loan_state[] stable language sql as $$ select '{out}'::lib.loan_state[] $$;
  create function lib.gives_pair() returns lib.pair stable language sql as $$ select row(1, 'b')::lib.pair $$;
  create function lib.gives_pairs() returns lib.pair[] stable language sql as 'select null::lib.pair[]';
  create function lib.gives_patrons() returns lib.patron[] stable language sql as 'select array_agg(p) from lib.patron p';
  create function lib.gives_aside() returns aside.calls stable language sql as 'select * from aside.calls';
  create function lib.takes_state(a lib.loan_state) returns int stable language sql as 'select 1';
  create function lib.takes_states(a lib.loan_state[]) returns int stable language sql as 'select 1';
  create function lib.takes_pair(a lib.pair) returns int stable language sql as 'select 1';
  create function lib.takes_nameless(int) returns int stable language sql as 'select 1';
  create function lib.takes_many(variadic a int[]) returns int stable language sql as 'select 1';
  create function lib.takes_any(a anyelement) returns anyelement stable language sql as 'select a';
  create function lib.takes_first(first int) returns setof lib.patron stable language sql as 'select * from lib.patron';
  create function lib.takes_order(order_by int) returns setof lib.patron stable language sql as 'select * from lib.patron';
  create function lib.twice(a int) returns int stable language sql as 'select 1';
  create function lib.twice(a text) returns int stable language sql as 'select 1';
  create function lib.twice_in_kind(a int) returns int stable language sql as 'select 1';
  create procedure lib.twice_in_kind() language sql as 'select 1';
  create procedure lib.only_called() language sql as 'select 1';
  create aggregate lib.aggregated(int) (sfunc = int4pl, stype = int);
  create function lib.triggered() returns trigger language plpgsql as 'begin return null; end';
  create function lib.on_event() returns event_trigger language plpgsql as 'begin end';
  create function lib."no name"() returns int stable language sql as 'select 1';
  create function lib."__reserved"() returns int stable language sql as 'select 1';

  create function lib."patronCollection"() returns int stable language sql as 'select 1';
  create function lib."loanByPk"() returns int stable language sql as 'select 1';
  create function lib.node() returns int stable language sql as 'select 1';
  create function lib."insertIntoPatronCollection"() returns int language sql as 'select 1';
  create function lib.same_name() returns int stable language sql as 'select 1';
  create function lib."sameName"() returns text stable language sql as $$ select 'younger' $$;
  create function lib.query_and() returns int stable language sql as 'select 1';
  create function lib."queryAnd"() returns int volatile language sql as 'select 2';
  create function lib.first_of(first int) returns int stable language sql as 'select first';
  create function lib.movable() returns int stable language sql as 'select 1';
  create function lib.granted() returns int stable language sql as 'select 1';
  create function lib.readers_of(n int) returns setof lib.reader stable language sql as 'select * from lib.reader where id < n';
`,
  { extensions: [] },
);

describe('a function is absent', () => {
  test.each([
    ...[
      'givesRecord',
      'givesOuts',
      'givesTable',
      'givesNumbers',
      'givesState',
      'givesStates',
      'givesPair',
      'givesPairs',
    ],
    ...['givesPatrons', 'givesAside', 'takesState', 'takesStates', 'takesPair', 'takesNameless', 'takesMany'],
    ...[
      'takesAny',
      'takesFirst',
      'takesOrder',
      'twice',
      'twiceInKind',
      'onlyCalled',
      'aggregated',
      'triggered',
      'onEvent',
    ],
    ...['no name', '__reserved', '_reserved'],
  ])('from both roots, and from every row: %s', async (name) => {
    for (const type of ['Query', 'Mutation', 'Patron', 'Loan']) {
      expect(await field(type, name), type).toBeUndefined();
    }
  });

  test('where a field of a table, or node, has its name', async () => {
    expect(await field('Query', 'patronCollection')).toMatch(/PatronConnection!$/);
    expect(await field('Query', 'loanByPk')).toBe('(id: Int!): Loan');
    expect(await field('Query', 'node')).toBe('(nodeId: ID!): Node');
    expect(await field('Mutation', 'insertIntoPatronCollection')).toMatch(/PatronInsertResponse$/);
  });

  test('where a later function of the same root has its name', async () => {
    expect(await ask('{ sameName }')).toEqual({ sameName: 'younger' });
    expect([await ask('{ queryAnd }'), await ask('mutation { queryAnd }')]).toEqual([{ queryAnd: 1 }, { queryAnd: 2 }]);
  });
});

test('an argument may be called like one of a connection where the function returns none', async () => {
  expect(await ask('{ firstOf(first: 8) }')).toEqual({ firstOf: 8 });
});

test('a function without EXECUTE is gone and cannot be called, and is back when it is granted', async () => {
  await database.query('revoke execute on function lib.granted from public');
  await execution.reload();
  expect(await errors('{ granted }')).toEqual([
    expect.stringContaining('Cannot query field "granted" on type "Query".'),
  ]);
  await database.query('grant execute on function lib.granted to anon');
  await execution.reload();
  expect(await ask('{ granted }')).toEqual({ granted: 1 });
  expect(await execution.errors('authenticated', '{ granted }')).toHaveLength(1);
});

test('a function returning rows goes with the table that lost SELECT, or with the key of its view', async () => {
  expect(await ask('{ readersOf(n: 2) { edges { node { fullName } } } }')).toMatchObject({
    readersOf: { edges: [{ node: { fullName: 'Ada' } }] },
  });
  await database.query('revoke select on lib.reader from anon');
  await execution.reload();
  expect(await field('Query', 'readersOf')).toBeUndefined();
  await database.query(`grant select on lib.reader to anon; comment on view lib.reader is 'keyless'`);
  await execution.reload();
  expect(await field('Query', 'readersOf')).toBeUndefined();
  await database.query(`comment on view lib.reader is '@graphql({"primary_key_columns": ["id"]})'`);
  await execution.reload();
  expect(await field('Query', 'readersOf')).toContain('(n: Int!, first: Int, last: Int');
});

test('the volatility of a function decides its root, and may change', async () => {
  expect([await field('Query', 'movable'), await field('Mutation', 'movable')]).toEqual(['Int', undefined]);
  await database.query('alter function lib.movable volatile');
  await execution.reload();
  expect([await field('Query', 'movable'), await field('Mutation', 'movable')]).toEqual([undefined, 'Int']);
  await database.query('alter function lib.movable immutable');
  await execution.reload();
  expect(await ask('{ movable }')).toEqual({ movable: 1 });
});

describe('with several schemas', async () => {
  const several = await createDatabase(`
    create schema one; create schema two; create schema auth; create schema extensions; create schema graphql;
    create schema graphql_public; create schema types; create schema unused;
    comment on schema two is '@graphql({"inflect_names": true})';
    create domain types.small as int; create domain unused.small as int;
    create table one.item (id int primary key, "Label" text);
    insert into one.item values (1, 'first');
    create function one."GetItem"("Wanted_id" int) returns one.item stable language sql as 'select * from one.item where id = "Wanted_id"';
    create function one._hidden_start() returns int stable language sql as 'select 1';
    create function two._hidden_end() returns int stable language sql as 'select 2';
    create function two.count_items() returns bigint stable language plpgsql as 'begin return (select count(*) from item); end';
    create function two.shout_item(one.item) returns text stable language sql as 'select upper($1."Label")';
    create function extensions.item_size(one.item) returns int stable language sql as 'select length($1."Label")';
    create function auth.uid() returns int stable language sql as 'select 1';
    create function extensions.tool() returns int stable language sql as 'select 1';
    create function graphql.tool_two() returns int stable language sql as 'select 1';
    create function graphql_public.tool_three() returns int stable language sql as 'select 1';
    create function one.shared() returns int stable language sql as 'select 1';
    create function auth.shared() returns int stable language sql as 'select 1';
    create function one.typed(a types.small) returns types.small stable language sql as 'select a';
    create function one.untyped(a unused.small) returns int stable language sql as 'select 1';
    create function one."Loud"(a int) returns int stable language sql as 'select a';
    comment on function one."Loud" is '@graphql({"name": "Very_Loud"})';
    grant usage on schema one, two, auth, extensions, graphql, graphql_public, types to anon;
    grant select on one.item to anon;
  `);
  const schemas = ['one', 'two', 'auth', 'extensions', 'graphql', 'graphql_public'];
  const all = await startExecution(several, { schemas });

  test('functions of each are fields, under the naming of their own schema', async () => {
    const { shared } = await all.role('anon');
    expect(Object.keys(shared.schema.getQueryType()!.getFields())).toEqual([
      ...[
        'Very_Loud',
        'countItems',
        'getItem',
        'hiddenEnd',
        'hidden_start',
        'itemByPk',
        'itemCollection',
        'node',
        'shared',
        'typed',
      ],
    ]);
    const query =
      '{ getItem(wanted_id: 1) { Label shoutItem item_size } hiddenEnd hidden_start countItems Very_Loud(a: 3) }';
    expect(await all.data('anon', query)).toEqual({
      getItem: { Label: 'first', shoutItem: 'FIRST', item_size: 5 },
      hiddenEnd: 2,
      hidden_start: 1,
      countItems: '1',
      Very_Loud: 3,
    });
  });

  test('types of arguments may live in any schema that the role may use', async () => {
    expect(await all.data('anon', '{ typed(a: 4) }')).toEqual({ typed: 4 });
    await several.query('grant usage on schema unused to anon');
    await all.reload();
    expect(await all.data('anon', '{ untyped(a: 4) }')).toEqual({ untyped: 1 });
  });

  test('an overload in a schema exposed before hides a function, and is none once its schema is not exposed', async () => {
    await several.query(`create function two.shared(a int) returns int stable language sql as 'select a'`);
    await all.reload();
    expect(await all.errors('anon', '{ shared(a: 2) }')).toHaveLength(1);
    expect(await all.data('anon', '{ shared }')).toEqual({ shared: 1 });
    await several.query('revoke usage on schema one from anon');
    await all.reload();
    expect(await all.data('anon', '{ shared(a: 2) }')).toEqual({ shared: 2 });
  });
});
