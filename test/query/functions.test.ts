/**
 * Functions that are read: root fields and their arguments.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const { ask, run, errors, database, text } = await openReader(['query-library.sql', 'query-functions.sql']);

describe('a function that returns a value', () => {
  test.each([
    ['addUp(a: 1)', 123],
    ['addUp(a: 1, c: 5)', 125],
    ['addUp(b: 4, a: 1)', 143],
    ['addUp(a: 1, b: null)', null],
    ['greet', 'hi you'],
    ['greet(name: null)', 'hi null'],
    ['greet(name: "\'; drop table lib.loan")', "hi '; drop table lib.loan"],
    ['later', true],
    ['later(at: null)', false],
    ['big', '9007199254740993'],
    ['bigs(given: [1, "9007199254740993", null])', ['1', '9007199254740993', null]],
    ['bigs(given: 5)', ['5']],
    ['bigs(given: [])', []],
    ['echoJson(given: "\\"late\\"")', 'late'],
    ['echoJson(given: "{\\"a\\":1}")', '{"a": 1}'],
    ['echoChar(given: "long")', 'long'],
    ['heartbeat', 42],
    ['firstNumber(n: 0)', null],
    ['firstNumber(n: 3)', 7],
  ])('%s answers %j', async (call, expected) => {
    expect(await ask(`{ v: ${call} }`)).toEqual({ v: expected });
  });

  test('a function that returns a value leaves out arguments whose variables are absent, and passes null where they are null', async () => {
    const query = 'query ($a: Int!, $b: Int, $c: Int) { addUp(a: $a, b: $b, c: $c) }';
    expect(await ask(query, { a: 1 })).toEqual({ addUp: 123 });
    expect(await ask(query, { a: 1, c: 9 })).toEqual({ addUp: 129 });
    expect(await ask(query, { a: 1, b: null })).toEqual({ addUp: null });
    expect(await text(query, { a: 1 })).not.toBe(await text(query, { a: 1, b: 1 }));
    expect(await text(query, { a: 1, b: 1 })).toBe(await text(query, { a: 2, b: 2 }));
  });

  test('a function that returns a value needs the arguments that have no default', async () => {
    expect(await run('{ addUp }')).not.toHaveProperty('data');
    expect(await run('{ addUp(a: null) }')).not.toHaveProperty('data');
    expect(await run('query ($a: Int) { addUp(a: $a) }', { a: null })).not.toHaveProperty('data');
  });

  test('a function that returns a value may be called several times under aliases', async () => {
    expect(await ask('{ x: addUp(a: 1) y: addUp(a: 2) }')).toEqual({ x: 123, y: 223 });
  });

  test('that fails answers with its message and nothing else', async () => {
    expect(await run('{ big fails(message: "not today") }')).toMatchObject({
      data: null,
      errors: [{ message: 'not today', extensions: { code: 'RAISED', sqlstate: 'P0001', detail: 'more' } }],
    });
  });
});

describe('a function that returns a row', () => {
  test('a function that returns a row answers an object with node id, relationships and computed fields', async () => {
    const data = await ask(
      '{ cheapest { __typename nodeId fee isLate patron { fullName } volume { loanCollection(first: 1) { totalCount } } } }',
    );
    expect(data.cheapest).toEqual({
      __typename: 'Loan',
      nodeId: 'WyJsaWIiLCAibG9hbiIsIDEsICJBQi0wMSIsIDFd',
      fee: '0.50',
      isLate: true,
      patron: { fullName: 'Ada' },
      volume: { loanCollection: { totalCount: 2 } },
    });
  });

  test('a function that returns a row answers null for no row, and an object for a row with some nulls', async () => {
    expect(
      await ask('{ noLoan { seq } halfLoan { patronId seq fee patron { fullName } } singleLoan(n: 0) { seq } }'),
    ).toEqual({
      noLoan: null,
      halfLoan: { patronId: '1', seq: null, fee: null, patron: { fullName: 'Ada' } },
      singleLoan: null,
    });
    expect(await ask('{ singleLoan(n: 1) { seq } }')).toEqual({ singleLoan: { seq: 1 } });
  });

  test('declared as one row fails when there are more', async () => {
    expect(await run('{ singleLoan(n: 2) { seq } }')).toMatchObject({ data: null, errors: [{}] });
  });

  test('a function that returns a row may have an argument called like the global id', async () => {
    expect(await ask('{ loanOf(nodeId: 2) { seq fee } }')).toEqual({ loanOf: { seq: 2, fee: '12.50' } });
  });

  test('a function that returns a row answers more than a hundred fields', async () => {
    const fields = Array.from({ length: 120 }, (_, index) => `f${index}: fee`).join(' ');
    expect(Object.keys((await ask(`{ cheapest { ${fields} } }`)).cheapest)).toHaveLength(120);
  });
});

describe('a function that returns a set', () => {
  test('a function that returns a set is a connection in the order of the primary key, with everything a table has', async () => {
    const data = await ask(`{ reversedLoans(first: 2, filter: {state: {eq: out}}) {
      __typename totalCount edges { cursor node { patronId shelfMark seq patron { fullName } } }
      pageInfo { hasNextPage hasPreviousPage startCursor } aggregate { sum { fee } } } }`);
    expect(data.reversedLoans).toEqual({
      __typename: 'LoanConnection',
      totalCount: 3,
      edges: [
        {
          cursor: 'WzEsICJBQi0wMSIsIDFd',
          node: { patronId: '1', shelfMark: 'AB-01', seq: 1, patron: { fullName: 'Ada' } },
        },
        {
          cursor: 'WzIsICJBQi0wMSIsIDFd',
          node: { patronId: '2', shelfMark: 'AB-01', seq: 1, patron: { fullName: 'Bo' } },
        },
      ],
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: 'WzEsICJBQi0wMSIsIDFd' },
      aggregate: { sum: { fee: 4.5 } },
    });
  });

  test('pages backward, by cursor, offset and order, and takes arguments of its own', async () => {
    const data = await ask(`{
      last: reversedLoans(last: 1) { edges { node { patronId } } pageInfo { hasNextPage hasPreviousPage } }
      after: loansOf(patron: 1, after: "WzEsICJBQi0wMSIsIDFd") { edges { node { shelfMark seq } } }
      order: loansOf(patron: 1, orderBy: {fee: DescNullsLast}, first: 1, offset: 1) { edges { node { fee } } }
      none: loansOf(patron: 3) { edges { node { fee } } totalCount pageInfo { hasNextPage } aggregate { count } }
    }`);
    expect(data).toEqual({
      last: { edges: [{ node: { patronId: '12' } }], pageInfo: { hasNextPage: false, hasPreviousPage: true } },
      after: { edges: [{ node: { shelfMark: 'QA-76', seq: 1 } }, { node: { shelfMark: 'QA-76', seq: 2 } }] },
      order: { edges: [{ node: { fee: '0.50' } }] },
      none: { edges: [], totalCount: 0, pageInfo: { hasNextPage: false }, aggregate: { count: 0 } },
    });
  });

  test('a function that returns a set runs once, whatever is asked of its rows', async () => {
    const calls = async () =>
      Number((await database.query<{ n: string }>('select last_value + is_called::int as n from lib.calls'))[0]!.n);
    const before = await calls();
    await ask(`{ countedLoans(first: 1, after: "WzEsICJBQi0wMSIsIDFd") {
      totalCount edges { cursor node { seq isLate } } aggregate { count sum { fee } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`);
    expect(await calls()).toBe(before + 1);
  });

  test('a function that returns a set has the limit of its table', async () => {
    const capped = await openReader([
      `create schema lib; grant usage on schema lib to anon; create table lib.item (id int primary key); insert into lib.item select n from generate_series(1, 9) n;
       comment on table lib.item is '@graphql({"max_rows": 2})'; grant select on lib.item to anon;
       create function lib.items() returns setof lib.item stable language sql as 'select * from lib.item'`,
    ]);
    expect(await capped.column('items', 'id')).toEqual([1, 2]);
    expect(await capped.column('items(last: 5)', 'id')).toEqual([8, 9]);
  });

  test('a function that returns a set refuses an illegal page like a table does', async () => {
    expect(await errors('{ reversedLoans(first: 1, last: 1) { edges { cursor } } }')).toEqual([
      'only one of "first" and "last" may be provided',
    ]);
  });
});
