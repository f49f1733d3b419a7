/** Functions whose results have columns of their own are objects, or lists of objects (extension `functions`). */
import { describe, expect, test } from 'vitest';
import { openLibrary } from '../function/library.ts';
import { startExecution } from '../support/execution.ts';
import { createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const setUp = `
  create type lib.place as (gone int, street_name text, "zip-code" int, state lib.loan_state, big bigint, tags text[], doc jsonb, inner_pair lib.pair);
  alter type lib.place drop attribute gone;
  create type aside.secret as (pin int);
  create type lib.closed as (pin int); revoke usage on type lib.closed from public;
  create function lib.place_of(n int) returns lib.place stable language sql as $$
    select row('Main', 5, 'dark-lost', 9007199254740993, '{a,null}', '{"a": {"b": [1, 2]}}', row(1, 'x'))::lib.place where n = 1 $$;
  create function lib.places() returns setof lib.place stable language sql as $$
    select row('Street ' || n, n, 'out', n, '{}', null, null)::lib.place from generate_series(1, 50) n order by n desc $$;
  create function lib.null_place() returns lib.place stable language sql as 'select null::lib.place';
  create function lib.both(inout a int, out doubled bigint, out state lib.loan_state) stable language sql as $$ select a, a * 2::bigint, 'out'::lib.loan_state $$;
  create function lib.nothing(out a int, out b int) stable language sql as 'select null::int, null::int';
  create function lib.unnamed(out int, out text) stable language sql as $$ select 1, 'x'::text $$;
  create function lib.top(lowest numeric default 0) returns table (title text, fee numeric, loan_state lib.loan_state) stable language sql as
    'select l.title, l.fee, l.state from lib.loan l where l.fee >= lowest order by l.fee desc';
  create function lib.numbers(n int) returns table (number int) stable language plpgsql as 'begin return query select g from generate_series(1, n) g; end';
  create function lib.one_row() returns table (a int, b text) stable rows 1 language sql as $$ select 1, 'x'::text $$;
  create function lib.nulls() returns table (a int, b text) stable language sql as $$ values (1, null::text), (null, null) $$;
  create function lib.write(n int) returns table (written int) language plpgsql as
    'begin perform aside.note(''write''); return query select g from generate_series(1, n) g; end';
  create function lib.write_one(a int, out b int, out c int) language plpgsql as 'begin perform aside.note(''one''); b := a; c := a + 1; end';
  create function lib.volumes(lib.patron) returns table (title text, loan_id int) stable language sql as
    'select l.title::text, l.id from lib.loan l where l.patron_id = $1.id order by l.id';
  create function lib.summary(lib.patron) returns lib.pair stable language sql as $$ select row($1.id, $1.full_name)::lib.pair $$;
  create function lib.outs(lib.patron, out a int, out b int) stable language sql as 'select 1, 2';

  create function lib.secret() returns aside.secret stable language sql as 'select row(1)::aside.secret';
  create function lib.closed_pair() returns lib.closed stable language sql as 'select row(1)::lib.closed';
  create function lib.loose() returns record stable language sql as 'select 1, 2';
  create function lib.scalars() returns setof int stable language sql as 'select 1';
  create function lib.pairs() returns lib.pair[] stable language sql as 'select null::lib.pair[]';
  create function lib.hidden_rows() returns setof aside.calls stable language sql as 'select * from aside.calls';
  create function lib.paged("first" int) returns table (a int) stable language sql as 'select 1';
  create function lib.nameless(out "zip-code" int, out p lib.pair) stable language sql as 'select 1, null::lib.pair';
  create table lib.taken_result (id int primary key); comment on table lib.taken_result is '@graphql({"name": "TakenResult"})';
  grant select on lib.taken_result to anon;
  create function lib.taken() returns table (a int) stable language sql as 'select 1';
`;
const { ask, errors, field, text, execution, database, notesOf } = await openLibrary(setUp);
const plain = await openLibrary(setUp, { extensions: [] });

const fieldsOf = async (type: string) => {
  const { shared } = await execution.role('anon');
  const found = shared.schema.getType(type);
  if (!found || !('getFields' in found)) return undefined;
  return Object.fromEntries(Object.values(found.getFields()).map(({ name, type: of }) => [name, String(of)]));
};

describe('a composite type', () => {
  test('a composite type is an object with a field for each column that GraphQL can show', async () => {
    expect(await field('Query', 'placeOf')).toBe('(n: Int!): PlaceOfResult');
    expect(await fieldsOf('PlaceOfResult')).toEqual({
      streetName: 'String',
      state: 'LoanState',
      big: 'BigInt',
      tags: '[String]',
      doc: 'JSON',
    });
    expect(await ask('{ placeOf(n: 1) { __typename streetName state big tags doc part: doc(at: ["a", "b"]) } }')).toEqual({
      placeOf: {
        __typename: 'PlaceOfResult', streetName: 'Main', state: 'DARK_LOST', big: '9007199254740993', tags: ['a', null],
        doc: '{"a": {"b": [1, 2]}}', part: '[1, 2]',
      },
    }); // biome-ignore format: a table of values
  });

  test('a composite type is null without a row, and where all of its columns are', async () => {
    expect(await ask('{ placeOf(n: 2) { streetName } nullPlace { streetName } }')).toEqual({
      placeOf: null,
      nullPlace: null,
    });
  });

  test('a composite type is a list where the function returns a set, in its order', async () => {
    expect(await field('Query', 'places')).toBe('(first: Int, offset: Int): [PlacesResult!]');
    const { places } = await ask('{ places { big } }');
    expect(places).toHaveLength(30);
    expect(places.slice(0, 2)).toEqual([{ big: '50' }, { big: '49' }]);
    expect(await ask('{ places(first: 2, offset: 3) { big streetName } }')).toEqual({
      places: [
        { big: '47', streetName: 'Street 47' },
        { big: '46', streetName: 'Street 46' },
      ],
    });
    expect(await ask('{ places(offset: 100) { big } none: places(first: 0) { big } }')).toEqual({
      places: [],
      none: [],
    });
  });

  test('a composite type is shown without columns that have no name or no type, which check says', async () => {
    const omissions = await modelReader(database).omissions(['lib']);
    expect(omissions.filter(({ object }) => object === 'lib.place_of').map(({ reason }) => reason)).toEqual([
      'The result of function lib.place_of is shown without its column "zip-code", which has no GraphQL name that is valid and free.',
      'The result of function lib.place_of is shown without its column inner_pair, which has a type that has no GraphQL counterpart.',
    ]);
  });
});

describe('out parameters and returns table', () => {
  test('out parameters and returns table are the fields of an object', async () => {
    expect(await field('Query', 'both')).toBe('(a: Int!): BothResult');
    expect(await ask('{ both(a: 4) { state doubled a } unnamed { column1 column2 } }')).toEqual({
      both: { state: 'OUT', doubled: '8', a: 4 },
      unnamed: { column1: 1, column2: 'x' },
    });
    expect(await ask('{ nothing { a b } }')).toEqual({ nothing: null });
  });

  test('out parameters and returns table are a list of objects', async () => {
    expect(await field('Query', 'top')).toBe('(lowest: BigFloat, first: Int, offset: Int): [TopResult!]');
    expect(await ask('{ top(lowest: "1", first: 2) { title fee loanState } }')).toEqual({
      top: [
        { title: 'Graphs', fee: '12.00', loanState: 'DARK_LOST' },
        { title: 'Logic', fee: '2.50', loanState: 'OUT' },
      ],
    });
  });

  test('of one column are objects too', async () => {
    expect(await ask('{ numbers(n: 2) { number } }')).toEqual({ numbers: [{ number: 1 }, { number: 2 }] });
  });

  test('out parameters and returns table are one object where the function is declared with rows 1', async () => {
    expect(await field('Query', 'oneRow')).toBe('OneRowResult');
    expect(await ask('{ oneRow { b a } }')).toEqual({ oneRow: { b: 'x', a: 1 } });
  });

  test('keep rows of nulls in a list', async () => {
    expect(await ask('{ nulls { a b } }')).toEqual({
      nulls: [
        { a: 1, b: null },
        { a: null, b: null },
      ],
    });
  });
});

describe('the page of a list', () => {
  test('the page of a list has at most the rows of its schema, from variables as in the document, with one text', async () => {
    const query = 'query ($first: Int, $offset: Int) { places(first: $first, offset: $offset) { big } }';
    const pageOf = async (variables: Record<string, unknown>) =>
      (await ask(query, variables)).places.map(({ big }: { big: string }) => Number(big));
    expect(await pageOf({ first: 2, offset: 1 })).toEqual([49, 48]);
    expect(await pageOf({ first: 1000, offset: 25 })).toHaveLength(25);
    expect(await pageOf({ first: 1000, offset: 0 })).toHaveLength(30);
    expect(await pageOf({ first: null, offset: null })).toHaveLength(30);
    expect(await text(query, { first: 2, offset: 1 })).toBe(await text(query, { first: 7, offset: 20 }));
  });

  test('the page of a list refuses negative numbers with their place', async () => {
    const { errors: [error] = [] } = await execution.run('anon', 'query ($n: Int) { places(first: $n) { big } }', {
      variables: { n: -1 },
    });
    expect(error).toMatchObject({
      message: '`first` must be an unsigned integer',
      path: ['places'],
      locations: [{ line: 1, column: 19 }],
      extensions: { code: 'BAD_USER_INPUT', input: '$n' },
    });
    expect(await errors('{ places(offset: -1) { big } }')).toEqual(['`offset` must be an unsigned integer']);
  });

  test('the page of a list counts for the cost and the depth of an operation', async () => {
    const cheap = await startExecution(database, { schemas: ['lib'], limits: { maxCost: 29 } });
    expect(await cheap.errors('anon', '{ places(first: 29) { big } }')).toEqual([]);
    expect(await cheap.errors('anon', '{ places { big } }')).toEqual([expect.stringContaining('cost')]);
    const perRow = '{ patronCollection(first: 5) { edges { node { volumes(first: 5) { title } } } } }';
    expect(await cheap.errors('anon', perRow)).toEqual([expect.stringContaining('cost')]);
    const shallow = await startExecution(database, { schemas: ['lib'], limits: { maxDepth: 1 } });
    expect(await shallow.errors('anon', '{ places { big } }')).toEqual([]);
    expect(await shallow.errors('anon', perRow)).toEqual([expect.stringContaining('--max-depth')]);
  });
});

describe('a volatile function', () => {
  test('a volatile function is a field of Mutation, and runs once whatever is shown of it', async () => {
    expect(await field('Mutation', 'write')).toBe('(n: Int!, first: Int, offset: Int): [WriteResult!]');
    expect(await notesOf('mutation { write(n: 3, first: 2) { written again: written } }')).toEqual(['write']);
    expect(await notesOf('mutation { write(n: 3, first: 0) { written } }')).toEqual(['write']);
    expect(await notesOf('mutation { write(n: 3) { __typename } }')).toEqual(['write']);
    expect(await notesOf('mutation { write(n: 0) { written } }')).toEqual(['write']);
    expect(await notesOf('mutation { writeOne(a: 3) { b c again: c } }')).toEqual(['one']);
    expect(await ask('mutation { write(n: 3, offset: 1) { written } writeOne(a: 3) { c } }')).toEqual({
      write: [{ written: 2 }, { written: 3 }],
      writeOne: { c: 4 },
    });
  });
});

describe('a field of a row', () => {
  test('a field of a row is such an object or list', async () => {
    expect(await field('Patron', 'volumes')).toBe('(first: Int, offset: Int): [PatronVolumesResult!]');
    expect(await field('Patron', 'summary')).toBe('PatronSummaryResult');
    expect(
      await ask(
        '{ patronCollection(first: 2) { edges { node { id summary { b } volumes(first: 2, offset: 1) { loanId title } } } } }',
      ),
    ).toEqual({
      patronCollection: {
        edges: [
          {
            node: {
              id: 1,
              summary: { b: 'Ada' },
              volumes: [
                { loanId: 2, title: 'Sets' },
                { loanId: 3, title: 'Graphs' },
              ],
            },
          },
          { node: { id: 2, summary: { b: 'Bo' }, volumes: [] } },
        ],
      },
    });
  });

  test('with several out parameters stays a JSON value', async () => {
    expect(await field('Patron', 'outs')).toBe('Opaque');
  });
});

test('what cannot be a field is named by check, with the reason', async () => {
  const omissions = await modelReader(database).omissions(['lib']);
  const reasons = [
    'secret',
    'closed_pair',
    'loose',
    'scalars',
    'pairs',
    'hidden_rows',
    'paged',
    'nameless',
    'taken',
  ].flatMap((name) => omissions.filter(({ object }) => object === `lib.${name}`).map(({ reason }) => reason));
  expect(reasons).toEqual([
    'Function lib.secret() returns the type aside.secret, whose schema is not exposed. Add the schema to --schemas, and grant usage on it, or move the type.',
    'Function lib.closed_pair() returns the type lib.closed, on which the role has no USAGE. Grant usage on the type to roles that call the function.',
    'Function lib.loose() returns records without declared columns. Declare them: returns table (…).',
    'Function lib.scalars() returns a set of values without a name. Declare one: returns table (…).',
    'Function lib.pairs() returns an array of the composite type lib.pair. Return rows of it: returns setof lib.pair.',
    'Function lib.hidden_rows() returns rows of aside.calls, which is not in the API. The function comes in with that table.',
    'Function lib.paged(int4) returns rows and has an argument called "first", as every list of rows has. Create it again with another name for the argument, or expose a function that calls it.',
    'Function lib.nameless() has a result without a column that GraphQL can show. Give it one with a valid name and a type such as text.',
    'Function lib.taken would have the type "TakenResult", and table lib.taken_result has that name already.',
  ]);
  for (const name of ['secret', 'closedPair', 'loose', 'scalars', 'pairs', 'hiddenRows', 'paged', 'nameless', 'taken'])
    expect(await field('Query', name), name).toBeUndefined();
  expect(await fieldsOf('TakenResult')).toHaveProperty('nodeId');
});

test('none of them is there without the extension', async () => {
  for (const name of ['placeOf', 'places', 'both', 'top', 'numbers', 'oneRow'])
    expect(await plain.field('Query', name), name).toBeUndefined();
  expect(await plain.field('Patron', 'volumes')).toBeUndefined();
  expect(await plain.field('Patron', 'outs')).toBe('Opaque');
});

test('changes of a composite type show with the next reading of the catalog', async () => {
  await createSchema(
    database,
    'other',
    'create type pair as (a int); create function get() returns pair stable language sql as $$ select row(1)::pair $$;',
  );
  const reader = modelReader(database);
  const columns = async () => {
    const [routine] = [...(await reader.model(['other'])).routines.values()];
    return routine?.result.kind === 'object' ? routine.result.columns.map(({ name }) => name) : [];
  };
  const before = (await reader.catalog(['other'])).fingerprint;
  expect(await columns()).toEqual(['a']);
  await database.query('alter type other.pair add attribute b text');
  expect((await reader.catalog(['other'])).fingerprint).not.toBe(before);
  expect(await columns()).toEqual(['a', 'b']);
});
