/**
 * What root functions give back: values, rows, sets of rows, nothing.
 */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { openLibrary } from './library.ts';

const { ask, errors, field, execution, database } = await openLibrary(`
  create function lib.patron_by(wanted int) returns lib.patron stable language sql as 'select * from lib.patron where id = wanted';
  create function lib.null_patron() returns lib.patron stable language sql as 'select null::lib.patron';
  create function lib.bare_patron() returns lib.patron stable language sql as 'select row(7, null, null, null)::lib.patron';
  create function lib.keyless_patron() returns lib.patron stable language sql as $$ select row(null, 'Nobody', null, null)::lib.patron $$;
  create function lib.keyless_patrons() returns setof lib.patron stable language sql as $$
    select null::int, 'Nobody', null::int, null::date union all select * from lib.patron $$;
  create function lib.empty_rows() returns setof lib.patron stable language sql as $$ select null::lib.patron from generate_series(1, 2) $$;
  create function lib.a_reader(wanted int) returns lib.reader stable language sql as 'select * from lib.reader where id = wanted';
  create function lib.readers() returns setof lib.reader stable language sql as 'select * from lib.reader';
  create function lib.one_patron(above int) returns setof lib.patron stable rows 1 language sql as 'select * from lib.patron where id > above';
  create function lib.made_patrons() returns setof lib.patron immutable language sql as $$
    values (30, 'Last', null::int, null::date), (10, 'First', 1, '2000-01-01'), (20, 'Middle', 2, null) $$;
  create function lib.number_or_none(n int) returns setof int stable rows 1 language sql as 'select * from generate_series(1, n)';
  create function lib.pair_or_none(n int) returns setof lib.pair_domain stable rows 1 language sql as $$
    select row(i, 'b')::lib.pair_domain from generate_series(1, n) i $$;
  create function lib.null_void() returns void language sql as 'select 1';
  create function lib.empty_void() returns void language plpgsql as 'begin end';
  create function lib.stable_void() returns void stable language plpgsql as 'begin end';
  create function lib.padded() returns char(5) immutable language sql as $$ select 'ab'::char(5) $$;
  create function lib.zoned() returns timestamptz immutable language sql as $$ select '2024-05-01 10:00+02'::timestamptz $$;
  create function lib.not_a_number() returns double precision immutable language sql as $$ select 'NaN'::double precision $$;
  create function lib.big_domain() returns lib.positive immutable language sql as 'select 2147483647::lib.positive';
  create function lib.matrix() returns int[] immutable language sql as 'select array[[1,2],[3,4]]';
  create function lib.json_null() returns jsonb immutable language sql as $$ select 'null'::jsonb $$;
  create function lib.divided(a int, b int) returns int immutable language plpgsql as 'begin return a / b; end';
  create function lib.refused() returns int stable language plpgsql as $$ begin
    raise exception 'nothing for %', current_user using hint = 'ask the desk', detail = 'closed'; end $$;
  create function lib.broken() returns int stable language plpgsql as $$ begin return (select no_such from lib.patron); end $$;

  create function lib.who() returns text stable language sql as 'select current_user::text';
  create function lib.who_defines() returns text stable security definer language sql as 'select current_user::text';
  create function lib.claimed() returns text stable language sql as $$ select current_setting('request.jwt.claims')::json ->> 'sub' $$;
  create table lib.secret (id int primary key, word text);
  insert into lib.secret values (1, 'mellon');
  create function lib.word() returns text stable language sql as 'select word from lib.secret';
  create function lib.word_defined() returns text stable security definer language sql as 'select word from lib.secret';
  create function lib.unqualified() returns int stable language plpgsql as 'begin return (select count(*) from patron); end';
  create function lib.own_path() returns text stable set search_path = pg_catalog language plpgsql as $$ begin
    return current_setting('search_path'); end $$;

  create function lib.rename_patron(whose text, given text) returns lib.patron language sql as
    'update lib.patron set full_name = given where full_name = whose returning *';
  create function lib.patron_count() returns bigint language sql as 'select count(*) from lib.patron';
`);

describe('a row', () => {
  test('a row is an object with node id, relationships and nested collections', async () => {
    const data = await ask(`{ patronBy(wanted: 2) { __typename nodeId fullName born sponsor { fullName }
      loanCollection(first: 1) { edges { node { title patron { id } } } pageInfo { hasNextPage } } } }`);
    expect(data.patronBy).toEqual({
      __typename: 'Patron',
      nodeId: Buffer.from('["lib", "patron", 2]').toString('base64'),
      fullName: 'Bo',
      born: null,
      sponsor: { fullName: 'Ada' },
      loanCollection: { edges: [{ node: { title: 'Logic', patron: { id: 2 } } }], pageInfo: { hasNextPage: false } },
    });
    const again = await ask('query($id: ID!) { node(nodeId: $id) { ... on Patron { fullName } } }', {
      id: data.patronBy.nodeId,
    });
    expect(again).toEqual({ node: { fullName: 'Bo' } });
  });

  test('a row is null when there is none or every column is null, and an object when some are', async () => {
    const query = `{ none: patronBy(wanted: 99) { __typename id } nullPatron { __typename }
      barePatron { __typename id fullName sponsor { id } } keylessPatron { id fullName loanCollection { totalCount } } }`;
    expect(await ask(query)).toEqual({
      none: null,
      nullPatron: null,
      barePatron: { __typename: 'Patron', id: 7, fullName: null, sponsor: null },
      keylessPatron: { id: null, fullName: 'Nobody', loanCollection: { totalCount: 0 } },
    });
  });

  test('a row may come from a view, whose node ids lead back to the view', async () => {
    const { a, b } = await ask('{ a: aReader(wanted: 1) { nodeId fullName } b: aReader(wanted: 99) { nodeId } }');
    expect([a.fullName, b]).toEqual(['Ada', null]);
    expect(Buffer.from(a.nodeId, 'base64').toString()).toBe('["lib", "reader", 1]');
  });

  test('of a function declared as one row is null without one, and an error with several', async () => {
    expect(await field('Query', 'onePatron')).toBe('(above: Int!): Patron');
    expect(await ask('{ a: onePatron(above: 2) { fullName } b: onePatron(above: 99) { fullName } }')).toEqual({
      a: { fullName: 'Cy' },
      b: null,
    });
    const answer = await execution.run('anon', '{ onePatron(above: 1) { fullName } patronCollection { totalCount } }');
    expect(answer.data).toBeNull();
    expect(answer.errors).toHaveLength(1);
  });
});

describe('a set of rows', () => {
  test('a set of rows is a connection in the order of the primary key, whatever order the function has', async () => {
    const query =
      '{ madePatrons { __typename totalCount edges { __typename cursor node { id nodeId } } pageInfo { startCursor endCursor } } }';
    const { madePatrons } = await ask(query);
    expect(madePatrons.edges.map((edge: { node: { id: number } }) => edge.node.id)).toEqual([10, 20, 30]);
    expect(madePatrons).toMatchObject({
      __typename: 'PatronConnection',
      totalCount: 3,
      pageInfo: { startCursor: 'WzEwXQ==' },
    });
  });

  test('a set of rows is filtered, ordered, paged both ways and aggregated like a table', async () => {
    const query = `query($after: Cursor, $filter: PatronFilter, $order: [PatronOrderBy!]) {
      v: madePatrons(first: 1, after: $after, filter: $filter, orderBy: $order) {
        edges { node { fullName sponsor { fullName } } } totalCount pageInfo { hasNextPage hasPreviousPage endCursor }
        aggregate { count sum { id } max { fullName } } } }`;
    const filter = { id: { lt: 25 } };
    const order = [{ fullName: 'DescNullsLast' }];
    const first = await ask(query, { filter, order });
    const aggregate = { count: 2, sum: { id: 30 }, max: { fullName: 'Middle' } };
    expect(first.v).toMatchObject({
      edges: [{ node: { fullName: 'Middle', sponsor: { fullName: 'Bo' } } }],
      totalCount: 2,
      pageInfo: { hasNextPage: true, hasPreviousPage: false },
      aggregate,
    });
    const second = await ask(query, { filter, order, after: first.v.pageInfo.endCursor });
    expect(second.v).toMatchObject({
      edges: [{ node: { fullName: 'First', sponsor: { fullName: 'Ada' } } }],
      totalCount: 2,
      pageInfo: { hasNextPage: false, hasPreviousPage: true },
      aggregate,
    });
    const last = await ask('{ madePatrons(last: 2) { edges { node { id } } pageInfo { hasPreviousPage } } }');
    expect(last.madePatrons).toEqual({
      edges: [{ node: { id: 20 } }, { node: { id: 30 } }],
      pageInfo: { hasPreviousPage: true },
    });
  });

  test('obeys the limit of the table and leaves out rows without a key, which count all the same', async () => {
    expect((await ask('{ keylessPatrons { totalCount edges { node { fullName } } } }')).keylessPatrons).toEqual({
      totalCount: 4,
      edges: [{ node: { fullName: 'Ada' } }, { node: { fullName: 'Bo' } }, { node: { fullName: 'Cy' } }],
    });
    const rows = await ask('{ emptyRows { totalCount edges { cursor } pageInfo { hasNextPage } } }');
    expect(rows.emptyRows).toEqual({ totalCount: 2, edges: [], pageInfo: { hasNextPage: false } });
  });

  test('a set of rows may come from a view', async () => {
    expect(await ask('{ readers(filter: {born: {is: NOT_NULL}}) { totalCount edges { node { fullName } } } }')).toEqual(
      {
        readers: { totalCount: 1, edges: [{ node: { fullName: 'Ada' } }] },
      },
    );
  });
});

describe('a value', () => {
  test('of a function declared as one row is the first, or null', async () => {
    const query = '{ a: numberOrNone(n: 3) b: numberOrNone(n: 0) c: pairOrNone(n: 2) d: pairOrNone(n: 0) }';
    expect(await ask(query)).toEqual({ a: 1, b: null, c: { a: 1, b: 'b' }, d: null });
  });

  test('declared as void is null or an empty text, and may be of either root', async () => {
    expect(await field('Mutation', 'nullVoid')).toBe('Opaque');
    expect(await ask('mutation { nullVoid emptyVoid }')).toEqual({ nullVoid: null, emptyVoid: '' });
    expect(await ask('{ stableVoid }')).toEqual({ stableVoid: '' });
  });

  test('a value is written like a column of its type', async () => {
    expect(await ask('{ padded zoned notANumber bigDomain matrix jsonNull }')).toEqual({
      padded: 'ab   ',
      zoned: expect.stringMatching(/^2024-05-01T\d\d:\d\d:00\+\d\d:\d\d$/),
      notANumber: 'NaN',
      bigDomain: 2147483647,
      matrix: [
        [1, 2],
        [3, 4],
      ],
      jsonNull: null,
    });
  });
});

describe('a function runs', () => {
  test("with the caller's role, claims and search path, unless it says otherwise", async () => {
    const query = '{ who whoDefines claimed unqualified ownPath }';
    expect(await execution.data('anon', query, { claims: { sub: 'u1' } })).toEqual({
      who: 'anon',
      whoDefines: 'postgres',
      claimed: 'u1',
      unqualified: 3,
      ownPath: 'pg_catalog',
    });
  });

  test("on the caller's privileges, unless it is a security definer", async () => {
    expect(await errors('{ word }')).toEqual([
      'The role lacks a right that this operation needs. Use a role that has it.',
    ]);
    expect(await ask('{ wordDefined }')).toEqual({ wordDefined: 'mellon' });
  });

  test('when a function fails, nothing else of the request is answered', async () => {
    const refused = await execution.run('anon', '{ patronCollection { totalCount } refused }');
    expect(refused.data).toBeNull();
    expect(refused.errors).toHaveLength(1);
    expect(refused.errors[0]).toMatchObject({
      message: 'nothing for anon',
      extensions: { code: 'RAISED', sqlstate: 'P0001', hint: 'ask the desk', detail: 'closed' },
    });
    expect(await errors('{ divided(a: 1, b: 0) }')).toEqual(['division by zero']);
    expect(await errors('{ broken }')).toEqual([
      expect.stringMatching(/^The text of a function or trigger cannot work/),
    ]);
  });
});

test('with --read-only-queries a function of a query cannot write, and one of a mutation can', async () => {
  await database.query(`create table lib.visit (id serial primary key); grant all on lib.visit, lib.visit_id_seq to anon;
    create function lib.visited(lib.patron) returns int language sql as 'insert into lib.visit default values returning id';
    create function lib.visit_now() returns int language sql as 'insert into lib.visit default values returning id'`);
  await execution.reload();
  const strict = await startExecution(database, { schemas: ['lib'], readOnlyQueries: true });
  const refused = await strict.run('anon', '{ patronByPk(id: 1) { visited } }');
  expect(refused).toMatchObject({ data: null, errors: [{ extensions: { code: 'READ_ONLY', sqlstate: '25006' } }] });
  expect(await strict.data('anon', 'mutation { visitNow }')).toEqual({ visitNow: 1 });
  expect(await ask('{ patronByPk(id: 1) { visited } }')).toEqual({ patronByPk: { visited: 2 } });
});

describe('functions of a mutation', () => {
  test('run in the order of the document, between the writes of tables, each seeing what was done before', async () => {
    const data = await ask(`mutation {
      before: patronCount
      insertIntoPatronCollection(objects: [{fullName: "Eve"}]) { affectedCount }
      between: patronCount
      renamePatron(whose: "Eve", given: "Eva") { fullName nodeId }
      again: renamePatron(whose: "Zed", given: "No one") { fullName }
      updatePatronCollection(set: {born: "2000-01-01"}, filter: {fullName: {eq: "Eva"}}) { records { fullName } }
      deleteFromPatronCollection(filter: {fullName: {eq: "Eva"}}) { records { fullName } }
      after: patronCount
    }`);
    expect(data).toMatchObject({
      before: '3',
      insertIntoPatronCollection: { affectedCount: 1 },
      between: '4',
      renamePatron: { fullName: 'Eva' },
      again: null,
      updatePatronCollection: { records: [{ fullName: 'Eva' }] },
      deleteFromPatronCollection: { records: [{ fullName: 'Eva' }] },
      after: '3',
    });
    expect(Object.keys(data)[0]).toBe('before');
    expect(Object.keys(data).at(-1)).toBe('after');
  });

  test('functions of a mutation are undone together when one of them fails', async () => {
    const query = `mutation { renamePatron(whose: "Ada", given: "Nobody") { id }
      insertIntoLoanCollection(objects: [{id: 1, patronId: 1, title: "Twice"}]) { affectedCount } }`;
    expect(await execution.run('anon', query)).toMatchObject({ data: null, errors: [{}] });
    expect(await database.query('select full_name from lib.patron where id = 1')).toEqual([{ full_name: 'Ada' }]);
  });

  test('functions of a mutation may not be called by a query, nor the others by a mutation', async () => {
    expect(await errors('{ patronCount }')).toHaveLength(1);
    expect(await errors('mutation { who }')).toHaveLength(1);
  });
});
