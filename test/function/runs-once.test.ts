/**
 * How often a function runs: exactly once for its field, whatever is read of the result. `aside.note` and
 * the sequence `aside.ticks` keep count.
 */
import { describe, expect, test } from 'vitest';
import { openLibrary } from './library.ts';

const { ask, notesOf, text, database, execution } = await openLibrary(`
  create function lib.join_up(name text) returns setof lib.patron language sql as $$
    select aside.note('join ' || name); insert into lib.patron (full_name) values (name), (name || ' jr') returning * $$;
  create function lib.join_fails(name text) returns setof lib.patron language plpgsql as $$ begin
    return query insert into lib.patron (full_name) values (name) returning *; raise exception 'no room for %', name; end $$;
  create function lib.join_one(name text) returns lib.patron language sql as $$
    select aside.note('one ' || name); insert into lib.patron (full_name) values (name) returning * $$;
  create function lib.join_rows_one(name text) returns setof lib.patron rows 1 language sql as $$
    select aside.note('rows one ' || name); insert into lib.patron (full_name) values (name) returning * $$;
  create function lib.next_fee() returns numeric language sql as $$ select aside.note('fee'); select 1.50 $$;
  create function lib.next_list() returns bigint[] language sql as $$ select aside.note('list'); select array[1, 2]::bigint[] $$;
  create function lib.next_json() returns jsonb language sql as $$ select aside.note('json'); select '{"a": 1}'::jsonb $$;
  create function lib.next_void() returns void language sql as $$ select aside.note('void') $$;
  create function lib.next_pair() returns setof lib.pair_domain rows 1 language sql as $$ select aside.note('pair'); select row(1, 'b')::lib.pair_domain $$;
  create function lib.next_number() returns setof int rows 1 language sql as $$ select aside.note('number'); select generate_series(7, 9) $$;

  create function lib.listed() returns setof lib.patron stable language sql as $$
    select p.* from lib.patron p, (select aside.tick() as n offset 0) t where t.n is not null and p.id < 100 $$;
  create function lib.found(needle text) returns setof lib.loan stable language sql as 'select * from lib.loan l where l.title = needle';
  create function lib.all_loans() returns setof lib.loan stable language sql as 'select * from lib.loan';
  create function lib.held_loans() returns setof lib.loan volatile language sql as 'select * from lib.loan';

  create function lib.state_now(lib.loan) returns lib.loan_state language sql as $$ select aside.note('state ' || $1.id); select $1.state $$;
  create function lib.states_now(lib.loan) returns lib.loan_state[] language sql as $$
    select aside.note('states ' || $1.id); select array[$1.state, 'out'] $$;
  create function lib.state_calm(lib.loan) returns lib.loan_state stable language sql as $$
    select case when aside.tick() > 0 then $1.state end $$;
  create function lib.states_calm(lib.loan) returns lib.loan_state[] stable language sql as $$
    select case when aside.tick() > 0 then array[$1.state] end $$;
  create function lib.touch(lib.loan) returns text language sql as $$ select aside.note('touch ' || $1.id); select 'touched' $$;
  create function lib.refuse_third(lib.loan) returns text language plpgsql volatile as $$ begin
    if $1.id = 3 then raise exception 'not the third'; end if; return 'fine'; end $$;
  create function lib.demand_row(lib.loan) returns text language plpgsql stable as $$ begin
    if $1.id is null then raise exception 'called for no row'; end if; return 'there'; end $$;
  create function lib.others(lib.loan) returns setof lib.loan language sql as $$
    select aside.note('others ' || $1.id); select * from lib.loan l where l.patron_id = $1.patron_id and l.id <> $1.id $$;
  create function lib.loan_now(lib.patron) returns lib.loan language sql as $$
    select aside.note('loan now ' || $1.id); select l.* from lib.loan l where l.patron_id = $1.id order by l.id limit 1 $$;
  create function lib.loan_calm(lib.patron) returns setof lib.loan stable rows 1 language sql as
    'select l.* from lib.loan l where l.patron_id = $1.id order by l.id limit 1';
  create table lib.many (id int primary key, label text not null, owner int not null);
  insert into lib.many select n, 'label ' || n, n % 500 from generate_series(1, 20000) n;
  create index on lib.many (label);
  create index on lib.many (owner, id);
  analyze lib.many;
  create function lib.all_many() returns setof lib.many stable language sql as 'select * from lib.many';
  create function lib.owned(lib.patron) returns setof lib.many stable language sql as 'select * from lib.many m where m.owner = $1.id';
  grant select on lib.many to anon;
`);

/** Runs the operation and tells how often \`aside.tick\` was called. */
async function ticksOf(query: string): Promise<number> {
  await database.query("select setval('aside.ticks', 1)");
  await ask(query);
  const [row] = await database.query<{ n: number }>("select nextval('aside.ticks')::int as n");
  return row!.n - 2;
}

const everything = `__typename totalCount more: totalCount aggregate { count max { id } } a2: aggregate { count }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  edges { cursor node { fullName nodeId } } again: edges { node { id } }`;

describe('a function that writes and returns rows', () => {
  test('a function that writes and returns rows runs once with everything selected at once', async () => {
    expect(await notesOf(`mutation { joinUp(name: "Ada") { ${everything} } }`)).toEqual(['join Ada']);
    const page = 'joinUp(name: "Bo", first: 1, offset: 1, filter: {fullName: {like: "B%"}})';
    expect(await notesOf(`mutation { ${page} { ${everything} } }`)).toEqual(['join Bo']);
    expect(await notesOf(`mutation { joinUp(name: "Cy", last: 1, before: "WzFd") { ${everything} } }`)).toEqual([
      'join Cy',
    ]);
  });

  test.each([
    ['its type name', '{ __typename }', ''],
    ['the type name of page info', '{ pageInfo { __typename } }', ''],
    ['the type name of edges', '{ edges { __typename } }', ''],
    ['no row of the page', '{ edges { node { id } } }', ', first: 0'],
    ['a filter that never holds', '{ edges { node { id } } }', ', filter: {id: {lt: null}}'],
    ['a filter that never holds, counted', '{ totalCount }', ', filter: {id: {in: []}}'],
    ['a cursor behind all rows', '{ edges { node { id } } }', ', after: "Wzk5OTk5OTld"'],
    ['the total count', '{ totalCount }', ''],
    ['the type name of aggregates', '{ aggregate { __typename } }', ''],
    ['nothing after @skip', '{ edges @skip(if: true) { cursor } }', ''],
  ])('a function that writes and returns rows runs once for %s', async (_, selection, args) => {
    expect(await notesOf(`mutation { joinUp(name: "Di"${args}) ${selection} }`)).toEqual(['join Di']);
    const [row] = await database.query<{ n: number }>(
      `select count(*)::int as n from lib.patron where full_name like 'Di%'`,
    );
    expect(row!.n).toBe(2);
    await database.query(`delete from lib.patron where full_name like 'Di%'`);
  });

  test('a function that writes and returns rows runs once for each alias, in the order of the document', async () => {
    const query = 'mutation { b: joinUp(name: "B") { totalCount } n: nextFee a: joinUp(name: "A") { __typename } }';
    expect(await notesOf(query)).toEqual(['join B', 'fee', 'join A']);
  });

  test('a function that writes and returns rows leaves nothing behind when it fails', async () => {
    const query = 'mutation { joinUp(name: "Gone") { totalCount } joinFails(name: "Eve") { totalCount } }';
    expect(await execution.run('anon', query)).toMatchObject({ data: null, errors: [{ message: 'no room for Eve' }] });
    expect(await database.query(`select from lib.patron where full_name like 'Gone%'`)).toEqual([]);
  });
});

describe('a function that writes and returns a row or a value', () => {
  test.each([['{ fullName nodeId sponsor { id } }'], ['{ __typename }'], ['{ id @skip(if: true) }']])(
    'a function that writes and returns a row or a value runs once for %s',
    async (selection) => {
      expect(await notesOf(`mutation { joinOne(name: "X") ${selection} }`)).toEqual(['one X']);
      expect(await notesOf(`mutation { joinRowsOne(name: "X") ${selection} }`)).toEqual(['rows one X']);
    },
  );

  test('a function that writes and returns a row or a value runs once, whatever the value', async () => {
    const query = 'mutation { nextFee nextList nextJson nextVoid nextPair nextNumber }';
    expect(await notesOf(query)).toEqual(['fee', 'list', 'json', 'void', 'pair', 'number']);
    expect(await ask(query)).toEqual({
      nextFee: '1.50',
      nextList: ['1', '2'],
      nextJson: '{"a": 1}',
      nextVoid: null,
      nextPair: { a: 1, b: 'b' },
      nextNumber: 7,
    });
  });
});

describe('a function that only reads', () => {
  test('a function that only reads runs once for everything that is selected of its rows', async () => {
    expect(await ticksOf(`{ listed { ${everything} } }`)).toBe(1);
    expect(await ticksOf(`{ listed(first: 1, after: "WzFd") { ${everything} } }`)).toBe(1);
    expect(await ticksOf('{ listed { edges { node { id fullName } } } }')).toBe(1);
    expect(await ticksOf('{ listed(last: 1) { edges { cursor } pageInfo { hasNextPage } } }')).toBe(1);
    expect(await ticksOf('{ listed { totalCount } }')).toBe(1);
    expect(await ticksOf('{ a: listed { totalCount } b: listed { aggregate { count } } }')).toBe(2);
  });

  test('a function that only reads is read directly by one reader; its rows are kept for several readers, or where it may write', async () => {
    const held = /materialized/;
    expect(
      await text('{ allLoans(first: 2, orderBy: {title: AscNullsLast}) { edges { node { title } } } }'),
    ).not.toMatch(held);
    expect(await text('{ allLoans { totalCount } }')).not.toMatch(held);
    expect(await text('{ allLoans { edges { cursor } pageInfo { hasNextPage hasPreviousPage } } }')).not.toMatch(held);
    expect(await text('{ allLoans(after: "WzFd") { edges { cursor } pageInfo { hasNextPage } } }')).not.toMatch(held);
    expect(await text('{ allLoans { totalCount edges { cursor } } }')).toMatch(held);
    expect(await text('{ allLoans(offset: 1) { edges { cursor } pageInfo { hasPreviousPage } } }')).toMatch(held);
    expect(await text('mutation { heldLoans { edges { cursor } } }')).toMatch(held);
  });

  test('a function that only reads lets a filter, an order and a parent row use the indexes of its tables', async () => {
    const filtered = await plan('{ allMany(filter: {label: {eq: "label 77"}}) { edges { node { id } } } }');
    expect(filtered).toMatch(/Index(?: Only)? Scan(?: using many_label_idx)?|Bitmap Index Scan on many_label_idx/);
    expect(filtered).not.toContain('Function Scan');
    const page = await plan('{ allMany(first: 2, after: "WzEwXQ==") { edges { node { label } } } }');
    expect(page).toContain('Index Scan using many_pkey');
    const nested = await plan(
      '{ patronCollection { edges { node { owned(first: 2) { edges { node { label } } } } } } }',
    );
    expect(nested).toContain('many_owner_id_idx');
    expect(nested).not.toContain('Function Scan');
  });

  test('a function that only reads answers the same, whether its rows are read directly or kept for several readers', async () => {
    const rows = 'edges { cursor node { id title patron { fullName } stateCalm } }';
    const args = '(filter: {fee: {gt: "0.6"}}, orderBy: [{title: DescNullsLast}])';
    const direct = await ask(`{ v: allLoans${args} { ${rows} } }`);
    const { v } = await ask(`{ v: allLoans${args} { ${rows} totalCount } }`);
    expect(v).toEqual({ ...direct.v, totalCount: 3 });
    expect(direct.v.edges.map((edge: { node: { id: number } }) => edge.node.id)).toEqual([4, 5, 3]);
  });
});

describe('a computed field', () => {
  test('of a renamed enum runs once for each row, though its labels are translated', async () => {
    const rows = (field: string) => `{ loanCollection(filter: {id: {lte: 3}}) { edges { node { ${field} } } } }`;
    expect((await notesOf(rows('stateNow'))).sort()).toEqual(['state 1', 'state 2', 'state 3']);
    expect((await notesOf(rows('statesNow'))).sort()).toEqual(['states 1', 'states 2', 'states 3']);
    expect(await ticksOf(rows('stateCalm'))).toBe(3);
    expect(await ticksOf(rows('statesCalm'))).toBe(3);
    const data = await ask('{ loanByPk(id: 3) { stateNow statesNow stateCalm statesCalm } }');
    expect(data.loanByPk).toEqual({
      stateNow: 'DARK_LOST',
      statesNow: ['DARK_LOST', 'OUT'],
      stateCalm: 'DARK_LOST',
      statesCalm: ['DARK_LOST'],
    });
  });

  test('that may write runs for the rows of the page only, also where one more is read for page info', async () => {
    const info = 'pageInfo { hasNextPage hasPreviousPage endCursor }';
    const page = (args: string) => `{ loanCollection(${args}) { edges { node { touch } } ${info} totalCount } }`;
    expect((await notesOf(page('first: 2'))).sort()).toEqual(['touch 1', 'touch 2']);
    expect((await notesOf(page('last: 2'))).sort()).toEqual(['touch 4', 'touch 5']);
    expect(await notesOf(page('first: 0'))).toEqual([]);
    expect((await notesOf(page('first: 1, offset: 1'))).sort()).toEqual(['touch 2']);
    const failing = (first: number) => `{ loanCollection(first: ${first}) { edges { node { refuseThird } } ${info} } }`;
    expect((await ask(failing(2))).loanCollection.pageInfo).toMatchObject({ hasNextPage: true });
    expect(await execution.errors('anon', failing(3))).toEqual(['not the third']);
  });

  test('a computed field does not run for the row that carries the total count of an empty page', async () => {
    const page = (args: string) => `{ c: loanCollection(${args}) { totalCount edges { node { demandRow } } } }`;
    expect(await ask(page('filter: {id: {in: []}}'))).toEqual({ c: { totalCount: 0, edges: [] } });
    expect(await ask(page('first: 0'))).toEqual({ c: { totalCount: 5, edges: [] } });
    expect(await ask(page('first: 1'))).toEqual({ c: { totalCount: 5, edges: [{ node: { demandRow: 'there' } }] } });
  });

  test('that may write does not run below a row that is not shown either', async () => {
    const below = (selection: string) =>
      `{ patronCollection(first: 1) { pageInfo { hasNextPage } edges { node { ${selection} } } } }`;
    expect(
      await notesOf(below('loanCollection(last: 1) { pageInfo { hasPreviousPage } edges { node { touch } } }')),
    ).toEqual(['touch 4']);
    expect(await notesOf(below('loanNow { touch }'))).toEqual(['loan now 1', 'touch 1']);
    expect(await notesOf(below('loanCalm { touch }'))).toEqual(['touch 1']);
    expect(await notesOf(below('id'))).toEqual([]);
    const upward =
      '{ loanCollection(first: 1, orderBy: [{id: DescNullsLast}]) { pageInfo { hasNextPage } edges { node { patron { loanNow { id } } } } } }';
    expect(await notesOf(upward)).toEqual(['loan now 2']);
  });

  test('that is a set runs once for each written row in the records of a mutation', async () => {
    const query =
      'mutation { updateLoanCollection(set: {fee: "3"}, filter: {id: {lte: 2}}, atMost: 2) { records { others(first: 0) { edges { cursor } } } } }';
    expect((await notesOf(query)).sort()).toEqual(['others 1', 'others 2']);
  });

  test('that is a set runs once for each parent, with everything selected', async () => {
    const nested = `others(first: 1, offset: 1) { totalCount aggregate { count } pageInfo { hasNextPage hasPreviousPage } edges { cursor node { title } } }`;
    const notes = await notesOf(
      `{ loanCollection(first: 2) { pageInfo { hasNextPage } edges { node { id ${nested} } } } }`,
    );
    expect(notes.sort()).toEqual(['others 1', 'others 2']);
    expect((await notesOf('{ loanCollection(first: 2) { edges { node { others { __typename } } } } }')).sort()).toEqual(
      ['others 1', 'others 2'],
    );
  });
});

async function plan(query: string): Promise<string> {
  const [statement] = await execution.statements('anon', query);
  const values = statement!.slots.map((slot) => (slot.kind === 'constant' ? slot.value : null));
  const rows = await database.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${statement!.text}`, values);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
