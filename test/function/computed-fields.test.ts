/**
 * Computed fields: functions over a row, as fields of its type.
 */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { openLibrary } from './library.ts';

const { ask, errors, field, execution, database } = await openLibrary(`
  create function lib.shout(lib.patron) returns text immutable language sql as 'select upper($1.full_name)';
  create function lib._age(rec lib.patron) returns int immutable language sql as 'select case when rec.born is not null then 34 end';
  create function lib.parts(lib.patron) returns text[] immutable language sql as $$ select array[$1.full_name, null] $$;
  create function lib.bigs(lib.patron) returns bigint[] immutable language sql as 'select array[9007199254740993]';
  create function lib.doc(lib.patron) returns jsonb immutable language sql as $$ select jsonb_build_object('born', $1.born) $$;
  create function lib.docs(lib.patron) returns jsonb[] immutable language sql as $$ select array['"late"', null]::jsonb[] $$;
  create function lib.domain_of(lib.patron) returns lib.positive immutable language sql as 'select $1.id::lib.positive';
  create function lib.pair_of(lib.patron) returns lib.pair_domain immutable language sql as $$ select row($1.id, 'b')::lib.pair_domain $$;
  create function lib.mood(lib.patron) returns lib.loan_state immutable language sql as $$
    select case $1.id when 1 then 'dark-lost' when 2 then 'returned' end::lib.loan_state $$;
  create function lib.moods(lib.patron) returns lib.loan_state[] immutable language sql as $$
    select case $1.id when 1 then array['out', null, 'dark-lost'] when 2 then '{}' end::lib.loan_state[] $$;
  create function lib.sponsor_row(lib.patron) returns lib.patron stable language sql as 'select * from lib.patron where id = $1.sponsor_id';
  create function lib.half_row(lib.patron) returns lib.patron immutable language sql as 'select row(null, $1.full_name, null, null)::lib.patron';
  create function lib.as_reader(lib.patron) returns lib.reader stable language sql as 'select * from lib.reader where id = $1.id';
  create function lib.half_reader(lib.patron) returns lib.reader immutable language sql as 'select row($1.id, null, null)::lib.reader';
  create function lib.first_loan(lib.patron) returns setof lib.loan stable rows 1 language sql as
    'select * from lib.loan where patron_id = $1.id order by id limit 1';
  create function lib.any_loan(lib.patron) returns setof lib.loan stable rows 1 language sql as 'select * from lib.loan where patron_id = $1.id';
  create function lib.best_fee(lib.patron) returns setof numeric stable rows 1 language sql as
    'select fee from lib.loan where patron_id = $1.id and fee is not null order by fee desc';
  create function lib.best_state(lib.patron) returns setof lib.loan_state stable rows 1 language sql as
    'select state from lib.loan where patron_id = $1.id order by fee desc nulls last';
  create function lib.paid_loans(lib.patron) returns setof lib.loan stable language sql as
    'select * from lib.loan l where l.patron_id = $1.id and l.fee is not null';
  create function lib.everyone(lib.patron) returns setof lib.patron stable language sql as 'select * from lib.patron';
  create function lib.summary(lib.patron, out label text, out amount bigint, out "Odd ""key" int[]) stable language sql as
    $$ select $1.full_name, 9007199254740993, array[1] $$;
  create function lib.anonymous(lib.patron) returns record stable language plpgsql as $$ declare r record; begin
    select $1.full_name as name, $1.id as id into r; return r; end $$;
  create function lib.nothing(lib.patron) returns void language plpgsql as 'begin end';
  create function lib.broken(lib.patron) returns int stable language plpgsql as $$ begin
    if $1.id = 2 then raise exception 'no Bo'; end if; return 1; end $$;
  create function lib.in_table(lib.patron) returns table (a int, b int) stable language sql as 'select 1, 2';
  create function lib.in_column(lib.patron) returns table (a int) stable language sql as 'select 1';
  create function lib.many_numbers(lib.patron) returns setof int stable language sql as 'select 1';
  create function lib.in_pair(lib.patron) returns lib.pair stable language sql as $$ select row(1, 'b')::lib.pair $$;

  create function lib.label(lib.patron) returns text immutable language sql as $$ select 'patron ' || $1.id $$;
  create function lib.label(lib.loan) returns text immutable language sql as $$ select 'loan ' || $1.id $$;
  create function lib.label(lib.reader) returns text immutable language sql as $$ select 'reader ' || $1.id $$;
  create function lib.title(lib.loan) returns text immutable language sql as $$ select 'the ' || $1.title $$;
  create function lib.patron(lib.loan) returns lib.reader stable language sql as 'select * from lib.reader where id = $1.patron_id';
  create function lib.node_id(lib.loan) returns text immutable language sql as $$ select 'not the id' $$;
  create function lib.named_other(lib.loan) returns text immutable language sql as $$ select 'named' $$;
  comment on function lib.named_other is '@graphql({"name": "VeryOther", "description": "told so"})';
  create function lib.hush(lib.loan) returns text stable security definer language sql as 'select current_user::text';
  create function lib.loud(lib.loan) returns text stable language sql as 'select current_user::text';
  create function lib.fee_sum(lib.patron) returns numeric stable language sql as 'select sum(fee) from lib.loan where patron_id = $1.id';
  create function lib.fee_sum_now(lib.patron) returns numeric volatile language sql as 'select sum(fee) from lib.loan where patron_id = $1.id';
  create function lib.sum_before(lib.loan) returns numeric stable language sql as 'select sum(fee) from lib.loan where patron_id = $1.patron_id';
  create function lib.sum_now(lib.loan) returns numeric volatile language sql as 'select sum(fee) from lib.loan where patron_id = $1.patron_id';
  create function lib.name_now(lib.patron) returns text volatile language sql as 'select $1.full_name';
`);

const patron = (fields: string, id = 1) =>
  ask(`{ patronByPk(id: ${id}) { ${fields} } }`).then((data) => data.patronByPk);

describe('a computed field', () => {
  test('a computed field has the values of a column of its type', async () => {
    expect(await patron('shout age parts bigs doc docs domainOf pairOf')).toEqual({
      shout: 'ADA',
      age: 34,
      parts: ['Ada', null],
      bigs: ['9007199254740993'],
      doc: '{"born": "1990-01-01"}',
      docs: ['"late"', null],
      domainOf: 1,
      pairOf: { a: 1, b: 'b' },
    });
  });

  test('of an enum, or a list of it, is under the GraphQL names', async () => {
    expect([await field('Patron', 'mood'), await field('Patron', 'moods')]).toEqual(['LoanState', '[LoanState]']);
    const { edges } = (await ask('{ patronCollection { edges { node { mood moods bestState } } } }')).patronCollection;
    expect(edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      { mood: 'DARK_LOST', moods: ['OUT', null, 'DARK_LOST'], bestState: 'DARK_LOST' },
      { mood: 'returned', moods: [], bestState: 'OUT' },
      { mood: null, moods: null, bestState: null },
    ]);
  });

  test('of several output parameters, or of an anonymous row, is an object of them', async () => {
    expect([await field('Patron', 'summary'), await field('Patron', 'anonymous')]).toEqual(['Opaque', 'Opaque']);
    const { body } = await execution.answer('anon', '{ patronByPk(id: 1) { summary anonymous nothing } }');
    const text = String(body);
    expect(text).toContain('"amount": 9007199254740993');
    expect(JSON.parse(text).data.patronByPk).toMatchObject({
      summary: { label: 'Ada', 'Odd "key': [1] },
      anonymous: { name: 'Ada', id: 1 },
      nothing: '',
    });
  });

  test('a computed field does not exist for tables of columns, sets of values and composite types', async () => {
    const plain = await startExecution(database, { schemas: ['lib'], extensions: [] });
    const fields = '{ __type(name: "Patron") { fields { name } } }';
    const { __type } = await plain.data('anon', fields);
    const names = __type.fields.map((each: { name: string }) => each.name);
    for (const name of ['inTable', 'inColumn', 'manyNumbers', 'inPair']) {
      expect(names, name).not.toContain(name);
      expect(await field('Query', name), name).toBeUndefined();
    }
  });

  test('a computed field answers in nested objects, in nodes found by id, and under aliases', async () => {
    const data = await ask(`{ loanByPk(id: 1) { l: label loanLabel: label patron { label nodeId } } }`);
    expect(data.loanByPk).toMatchObject({ l: 'loan 1', loanLabel: 'loan 1', patron: { label: 'reader 1' } });
    const query = 'query($id: ID!) { node(nodeId: $id) { ... on Patron { label } ... on Reader { label } } }';
    expect(await ask(query, { id: data.loanByPk.patron.nodeId })).toEqual({ node: { label: 'reader 1' } });
  });

  test('a computed field hides a column or relationship of its name, but not the global id, nor the filter of the column', async () => {
    expect(await field('Loan', 'patron')).toBe('Reader');
    const { loanByPk } = await ask('{ loanByPk(id: 1) { title nodeId patron { __typename fullName } } }');
    expect(loanByPk).toEqual({
      title: 'the Logic',
      nodeId: Buffer.from('["lib", "loan", 1]').toString('base64'),
      patron: { __typename: 'Reader', fullName: 'Ada' },
    });
    const filtered = await ask('{ loanCollection(filter: {title: {eq: "Sets"}}) { edges { node { title } } } }');
    expect(filtered.loanCollection.edges).toEqual([{ node: { title: 'the Sets' } }]);
  });

  test('a computed field takes name and description from its directive', async () => {
    expect((await ask('{ loanByPk(id: 1) { VeryOther } }')).loanByPk).toEqual({ VeryOther: 'named' });
    const { __type } = await ask('{ __type(name: "Loan") { fields { name description } } }');
    expect(__type.fields).toContainEqual({ name: 'VeryOther', description: 'told so' });
  });

  test("a computed field runs with the caller's privileges, unless it is a security definer", async () => {
    expect((await ask('{ loanByPk(id: 1) { loud hush } }')).loanByPk).toEqual({ loud: 'anon', hush: 'postgres' });
  });

  test('that fails for one row fails the request', async () => {
    expect(
      await execution.run('anon', '{ patronCollection { edges { node { id broken } } } a: patronByPk(id: 1) { id } }'),
    ).toMatchObject({
      data: null,
      errors: [{ message: 'no Bo', extensions: { code: 'RAISED' } }],
    });
    expect(await patron('broken')).toEqual({ broken: 1 });
  });

  test('a computed field needs SELECT on the whole table and EXECUTE', async () => {
    await database.query(
      'grant select (id, full_name) on lib.patron to authenticated; revoke select on lib.patron from authenticated',
    );
    await database.query(
      'grant select (id, full_name) on lib.patron to authenticated; revoke execute on function lib.label(lib.loan) from public',
    );
    await execution.reload();
    expect(await execution.errors('authenticated', '{ patronCollection { edges { node { shout } } } }')).toHaveLength(
      1,
    );
    expect(await execution.errors('anon', '{ loanCollection { edges { node { label } } } }')).toHaveLength(1);
    expect(await execution.data('authenticated', '{ patronByPk(id: 1) { fullName } }')).toEqual({
      patronByPk: { fullName: 'Ada' },
    });
    await database.query('grant execute on function lib.label(lib.loan) to public');
    await execution.reload();
  });
});

describe('a computed row', () => {
  test('a computed row is null without one, an object with some nulls, also where it comes from a view', async () => {
    expect(await patron('sponsorRow { id } halfRow { id fullName } halfReader { id fullName label }', 1)).toEqual({
      sponsorRow: null,
      halfRow: { id: null, fullName: 'Ada' },
      halfReader: { id: 1, fullName: null, label: 'reader 1' },
    });
    expect(await patron('sponsorRow { fullName shout sponsorRow { id } asReader { label } }', 2)).toEqual({
      sponsorRow: { fullName: 'Ada', shout: 'ADA', sponsorRow: null, asReader: { label: 'reader 1' } },
    });
  });

  test('of a function declared as one row is the row or value, null without; the parent stays', async () => {
    expect([await field('Patron', 'firstLoan'), await field('Patron', 'bestFee')]).toEqual(['Loan', 'BigFloat']);
    const { edges } = (await ask('{ patronCollection { edges { node { id firstLoan { label } bestFee } } } }'))
      .patronCollection;
    expect(edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      { id: 1, firstLoan: { label: 'loan 1' }, bestFee: '12.00' },
      { id: 2, firstLoan: { label: 'loan 5' }, bestFee: '2.50' },
      { id: 3, firstLoan: null, bestFee: null },
    ]);
    expect(await errors('{ patronByPk(id: 1) { anyLoan { id } } }')).toHaveLength(1);
  });
});

describe('a computed set', () => {
  test('pages, filters and orders for each parent on its own', async () => {
    const set = (args: string) => `{ patronCollection { edges { node { paidLoans${args} {
      totalCount aggregate { sum { fee } } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } } } } } }`;
    const pages = async (args: string) =>
      (await ask(set(args))).patronCollection.edges.map(
        (edge: { node: { paidLoans: unknown } }) => edge.node.paidLoans,
      );
    const none = {
      totalCount: 0,
      aggregate: { sum: { fee: null } },
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
    };
    expect(await pages('(first: 2)')).toMatchObject([
      {
        totalCount: 3,
        aggregate: { sum: { fee: 13.5 } },
        edges: [{ node: { id: 1 } }, { node: { id: 3 } }],
        pageInfo: { hasNextPage: true },
      },
      {
        totalCount: 1,
        aggregate: { sum: { fee: 2.5 } },
        edges: [{ node: { id: 5 } }],
        pageInfo: { hasNextPage: false },
      },
      none,
    ]);
    expect(await pages('(last: 1, filter: {fee: {gt: "0.9"}}, orderBy: [{fee: AscNullsLast}])')).toMatchObject([
      { totalCount: 2, edges: [{ node: { id: 3 } }], pageInfo: { hasPreviousPage: true } },
      { totalCount: 1, edges: [{ node: { id: 5 } }] },
      none,
    ]);
    expect(await pages('(after: "WzFd")')).toMatchObject([
      { edges: [{ node: { id: 3 } }, { node: { id: 4 } }], pageInfo: { hasPreviousPage: true } },
      { edges: [{ node: { id: 5 } }], pageInfo: { hasPreviousPage: false } },
      none,
    ]);
  });

  test('a computed set need not depend on the row, and leads on as deep as one likes', async () => {
    const data = await patron(
      'everyone(last: 1) { edges { node { fullName everyone(first: 1) { totalCount edges { node { label } } } } } }',
      3,
    );
    expect(data.everyone.edges).toEqual([
      { node: { fullName: 'Cy', everyone: { totalCount: 3, edges: [{ node: { label: 'patron 1' } }] } } },
    ]);
  });

  test('a computed set refuses an illegal page with the message of the manual', async () => {
    expect(await errors('{ patronByPk(id: 1) { everyone(first: 1, last: 1) { totalCount } } }')).toEqual([
      'only one of "first" and "last" may be provided',
    ]);
  });
});

describe('in the records of a mutation', () => {
  test('a stable field sees the tables as they were, a volatile one as they are, and the row as it is written', async () => {
    const query = `mutation { updateLoanCollection(set: {fee: "100"}, filter: {id: {eq: 5}}) { records { label title } }
      updatePatronCollection(set: {fullName: "Bob"}, filter: {id: {eq: 2}}) { records { shout nameNow feeSum feeSumNow } }
      insertIntoLoanCollection(objects: [{id: 9, patronId: 2, title: "New", fee: "1"}]) { records { label title } } }`;
    expect(await ask(query)).toEqual({
      updateLoanCollection: { records: [{ label: 'loan 5', title: 'the Logic' }] },
      updatePatronCollection: { records: [{ shout: 'BOB', nameNow: 'Bob', feeSum: '100.00', feeSumNow: '100.00' }] },
      insertIntoLoanCollection: { records: [{ label: 'loan 9', title: 'the New' }] },
    });
    const removed = await ask(
      'mutation { deleteFromLoanCollection(filter: {id: {eq: 9}}) { records { label title hush } } }',
    );
    expect(removed.deleteFromLoanCollection.records).toEqual([{ label: 'loan 9', title: 'the New', hush: 'postgres' }]);
  });

  test('a stable field does not see the rows written beside its own, a volatile one does', async () => {
    const query =
      'mutation { updateLoanCollection(set: {fee: "7"}, filter: {id: {eq: 4}}) { records { sumBefore sumNow } } }';
    expect((await ask(query)).updateLoanCollection.records).toEqual([{ sumBefore: '13.50', sumNow: '19.50' }]);
  });

  test('nested sets of functions are read like nested collections', async () => {
    const data = await ask(`mutation { updatePatronCollection(set: {born: null}, filter: {id: {eq: 1}}) {
      records { paidLoans(first: 1) { totalCount edges { node { label } } } firstLoan { id } sponsorRow { id } } } }`);
    expect(data.updatePatronCollection.records).toEqual([
      { paidLoans: { totalCount: 3, edges: [{ node: { label: 'loan 1' } }] }, firstLoan: { id: 1 }, sponsorRow: null },
    ]);
  });
});
