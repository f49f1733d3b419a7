/** Functions with arguments and results of enums, with any number of arguments, and with a shared name (extension `functions`). */
import { describe, expect, test } from 'vitest';
import { openLibrary } from '../function/library.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const setUp = `
  create type aside.grade as enum ('low', 'high'); create type lib.hidden as enum ('a', 'b');
  revoke usage on type lib.hidden from public;
  create domain lib.state_domain as lib.loan_state check (value <> 'returned');

  create function lib.state_of(id int) returns lib.loan_state stable language sql as 'select state from lib.loan where loan.id = state_of.id';
  create function lib.all_states() returns lib.loan_state[] immutable language sql
    as $$ select array['out', null, 'dark-lost', 'returned']::lib.loan_state[] $$;
  create function lib.count_in(state lib.loan_state) returns int stable language sql
    as 'select count(*)::int from lib.loan l where l.state is not distinct from $1';
  create function lib.count_among(states lib.loan_state[]) returns text stable language sql
    as $$ select count(*) || coalesce(' ' || states::text, ' none') from lib.loan l where l.state = any (states) $$;
  create function lib.with_defaults(state lib.loan_state default 'dark-lost', other lib.loan_state default null, many lib.loan_state[] default '{out}')
    returns text stable language sql as $$ select concat_ws(' ', coalesce(state::text, '-'), coalesce(other::text, '-'), coalesce(many::text, '-')) $$;
  create function lib.in_domain(state lib.state_domain) returns lib.state_domain immutable language sql as 'select state';
  create function lib.graded(grade aside.grade) returns aside.grade immutable language sql as 'select grade';
  create function lib.secretly(grade lib.hidden) returns lib.hidden immutable language sql as 'select grade';
  create function lib.lose(id int, state lib.loan_state) returns lib.loan language sql as
    'update lib.loan l set state = $2 where l.id = lose.id returning l.*';
  create function lib.in_state(state lib.loan_state, lowest int default 0) returns setof lib.loan stable language sql as
    'select l.* from lib.loan l where l.state = $1 and l.id >= lowest';

  create function lib.total(variadic numbers int[]) returns int immutable language sql as 'select coalesce(sum(n), 0)::int from unnest(numbers) n';
  create function lib.joined(between_them text default '-', variadic words text[] default '{nothing}') returns text immutable language sql
    as 'select array_to_string(words, between_them, ''null'')';
  create function lib.any_kind(variadic anything "any") returns int immutable language internal as 'pg_num_nulls';
  create function lib.states_in_words(variadic states lib.loan_state[]) returns text immutable language sql as 'select states::text';

  create function lib.double(a int) returns int immutable language sql as 'select a * 2';
  create function lib.double(a text) returns text immutable language sql as 'select a || a';
  create function lib.double(a text, b text) returns text immutable language sql as 'select a || b';
  comment on function lib.double(int) is '@graphql({"name": "doubleNumber"})';
  comment on function lib.double(text) is '@graphql({"name": "doubleText"})';
`;
const { ask, errors, field, execution, database, text } = await openLibrary(setUp);
const plain = await openLibrary(setUp, { extensions: [] });

describe('an enum', () => {
  test('an enum is the type of results and arguments', async () => {
    expect(await field('Query', 'stateOf')).toBe('(id: Int!): LoanState');
    expect(await field('Query', 'allStates')).toBe('[LoanState]');
    expect(await field('Query', 'countIn')).toBe('(state: LoanState!): Int');
    expect(await field('Query', 'countAmong')).toBe('(states: [LoanState]!): String');
    expect(await field('Mutation', 'lose')).toBe('(id: Int!, state: LoanState!): Loan');
    expect(await field('Query', 'inState')).toMatch(
      /^\(state: LoanState!, lowest: Int, first: Int, .*\): LoanConnection$/,
    );
  });

  test('an enum has the names of its labels in results, one by one and in lists', async () => {
    expect(await ask('{ a: stateOf(id: 1) b: stateOf(id: 2) c: stateOf(id: 3) d: stateOf(id: 99) allStates }')).toEqual({
      a: 'OUT', b: 'returned', c: 'DARK_LOST', d: null, allStates: ['OUT', null, 'DARK_LOST', 'returned'],
    }); // biome-ignore format: a table of values
  });

  test('an enum has them in arguments, as tokens, strings and variables', async () => {
    expect(await ask('{ a: countIn(state: OUT) b: countIn(state: "DARK_LOST") }')).toEqual({ a: 3, b: 1 });
    const query =
      'query ($state: LoanState!, $states: [LoanState]!) { countIn(state: $state) countAmong(states: $states) }';
    expect(await ask(query, { state: 'returned', states: ['OUT', null, 'DARK_LOST'] })).toEqual({
      countIn: 1,
      countAmong: '4 {out,NULL,dark-lost}',
    });
    expect(await ask('{ countAmong(states: OUT) }')).toEqual({ countAmong: '3 {out}' });
    expect(await ask('{ countAmong(states: []) }')).toEqual({ countAmong: '0 {}' });
    expect(await text(query, { state: 'OUT', states: [] })).toBe(
      await text(query, { state: 'returned', states: ['OUT'] }),
    );
  });

  test('an enum refuses labels that have a name, unknown names, and null without a default', async () => {
    expect((await errors('{ countIn(state: "out") }'))[0]).toContain('Value "out" does not exist in "LoanState" enum.');
    expect((await errors('{ countIn(state: GONE) }'))[0]).toContain('Value "GONE" does not exist in "LoanState" enum.');
    expect((await errors('{ countIn }'))[0]).toContain('"Query.countIn(state:)" of type "LoanState!" is required');
    expect((await errors('{ countIn(state: null) }'))[0]).toContain('null');
    const query = 'query ($state: LoanState = OUT) { countIn(state: $state) }';
    expect((await errors(query, { state: null }))[0]).toContain('must not be null');
  });

  test('with a default shows it, and passes null on', async () => {
    const { __type } = await execution.data(
      'anon',
      '{ __type(name: "Query") { fields { name args { name defaultValue } } } }',
    );
    const shown = __type.fields.find(({ name }: { name: string }) => name === 'withDefaults').args;
    expect(shown).toEqual([
      { name: 'state', defaultValue: 'DARK_LOST' },
      { name: 'other', defaultValue: null },
      { name: 'many', defaultValue: null },
    ]);
    expect(await ask('{ a: withDefaults b: withDefaults(state: OUT) c: withDefaults(state: null, many: null) d: withDefaults(other: OUT, many: []) }')).toEqual({
      a: 'dark-lost - {out}', b: 'out - {out}', c: '- - -', d: 'dark-lost out {}',
    }); // biome-ignore format: a table of values
  });

  test('an enum stands for its domain, whose constraint the database checks', async () => {
    expect(await field('Query', 'inDomain')).toBe('(state: LoanState!): LoanState');
    expect(await ask('{ inDomain(state: DARK_LOST) }')).toEqual({ inDomain: 'DARK_LOST' });
    expect(await errors('{ inDomain(state: returned) }')).toEqual([
      expect.stringContaining('violates check constraint'),
    ]);
  });

  test('an enum outside the exposed schemas is returned as Opaque', async () => {
    expect(await field('Query', 'graded')).toBe('(grade: Opaque!): Opaque');
    expect(await ask('{ graded(grade: "high") }')).toEqual({ graded: 'high' });
    expect(await field('Query', 'secretly')).toBe('(grade: Opaque!): Opaque');
  });

  test('an enum stands beside the arguments of a collection, and in mutations', async () => {
    expect(await ask('{ inState(state: OUT, lowest: 2, first: 1) { edges { node { id state } } } }')).toEqual({
      inState: { edges: [{ node: { id: 4, state: 'OUT' } }] },
    });
    expect(await ask('mutation { lose(id: 5, state: DARK_LOST) { state } }')).toEqual({
      lose: { state: 'DARK_LOST' },
    });
    await database.query(`update lib.loan set state = 'out' where id = 5`);
  });
});

describe('any number of arguments', () => {
  test('any number of arguments are a list that is required, as are the arguments before it, also with defaults', async () => {
    expect(await field('Query', 'total')).toBe('(numbers: [Int]!): Int');
    expect(await field('Query', 'joined')).toBe('(betweenThem: String!, words: [String]!): String');
    expect(await field('Query', 'anyKind')).toBeUndefined();
  });

  test('any number of arguments may be none, one and many, nulls among them', async () => {
    expect(await ask('{ a: total(numbers: []) b: total(numbers: [5]) c: total(numbers: 6) d: total(numbers: [1, null, 2]) }')).toEqual({
      a: 0, b: 5, c: 6, d: 3,
    }); // biome-ignore format: a table of values
    expect(await ask('{ a: joined(betweenThem: "-", words: ["a", "b"]) b: joined(betweenThem: "-", words: []) c: joined(betweenThem: "+", words: ["a", null]) }')).toEqual({
      a: 'a-b', b: '', c: 'a+null',
    }); // biome-ignore format: a table of values
    expect(await ask('{ statesInWords(states: [OUT, DARK_LOST]) }')).toEqual({ statesInWords: '{out,dark-lost}' });
  });

  test('any number of arguments have one text for every number of them', async () => {
    const query = 'query ($numbers: [Int]!) { total(numbers: $numbers) }';
    expect(await text(query, { numbers: [1, 2, 3] })).toBe(await text(query, { numbers: [] }));
    expect(await ask(query, { numbers: [1, 2, 3] })).toEqual({ total: 6 });
    expect((await errors(query, { numbers: null }))[0]).toContain('not to be null');
  });
});

describe('functions with one name', () => {
  test('functions with one name are fields where their comments name them', async () => {
    expect(await field('Query', 'doubleNumber')).toBe('(a: Int!): Int');
    expect(await field('Query', 'doubleText')).toBe('(a: String!): String');
    expect(await field('Query', 'double')).toBeUndefined();
    expect(await ask('{ doubleNumber(a: 4) doubleText(a: "x") }')).toEqual({ doubleNumber: 8, doubleText: 'xx' });
  });

  test('functions with one name are reported by `check` where they have no name of their own', async () => {
    const omissions = await modelReader(database).omissions(['lib']);
    expect(omissions.filter(({ object }) => object === 'lib.double').map(({ reason, fix }) => [reason, fix])).toEqual([
      [
        'Function lib.double(text, text) shares its name with another function, and has no name of its own in its comment.',
        `comment on routine lib.double(text, text) is '@graphql({"name":"double_text_text"})';`,
      ],
    ]);
  });
});

test('none of them is a field without the extension', async () => {
  for (const name of [
    'stateOf',
    'allStates',
    'countIn',
    'countAmong',
    'withDefaults',
    'total',
    'joined',
    'doubleNumber',
    'inState',
    'graded',
  ])
    expect(await plain.field('Query', name), name).toBeUndefined();
  expect(await plain.field('Mutation', 'lose')).toBeUndefined();
});

test('a name that a function has without the extension is not taken', async () => {
  const other = await createDatabase(`
    create type mood as enum ('good');
    create function feeling() returns int stable language sql as 'select 1';
    create function younger() returns mood stable language sql as $$ select 'good'::mood $$;
    comment on function younger() is '@graphql({"name": "feeling"})';
  `);
  const reasons = (await modelReader(other).omissions(['public'])).map(({ reason }) => reason);
  expect(reasons).toContain(
    'Function public.younger would be "feeling" in GraphQL, and public.feeling has that name already.',
  );
});
