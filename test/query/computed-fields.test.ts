/**
 * Functions over a row, used as fields of the row's object.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const views = `
  create view lib.reader as select id, full_name from lib.patron;
  comment on view lib.reader is '@graphql({"primary_key_columns": ["id"]})';
  create function lib.loud(lib.reader) returns text stable language sql as 'select upper($1.full_name)';
  create function lib.reader_of(lib.patron) returns lib.reader stable language sql as 'select row(null, $1.full_name)::lib.reader';
  grant select on lib.reader to anon;`;
const { ask, run, errors, database } = await openReader(['query-library.sql', 'query-functions.sql', views]);

describe('a computed field', () => {
  test.each([
    ['shout', 'ADA'],
    ['names', ['Ada', 'x']],
    ['doc', 'late'],
    ['mood', 'lost'],
    ['moods', ['lost', 'out']],
    ['lastFee', '12.50'],
    ['summary', { label: 'Ada', amount: 90071992547 }],
    ['nothing', ''],
    ['topSponsor { id }', null],
    ['oneLoan { fee volume { shelfMark } }', { fee: '0.50', volume: { shelfMark: 'AB-01' } }],
    ['openLoans { totalCount edges { node { seq } } }', { totalCount: 1, edges: [{ node: { seq: 1 } }] }],
    ['readerOf { id fullName loud }', { id: null, fullName: 'Ada', loud: 'ADA' }],
  ])('%s answers %j', async (selection, expected) => {
    const data = await ask(
      `{ patronByPk(id: 1) { v: ${selection} } patronCollection(first: 1) { edges { node { v: ${selection} } } } }`,
    );
    expect(data.patronByPk).toEqual({ v: expected });
    expect(data.patronCollection.edges).toEqual([{ node: { v: expected } }]);
  });

  test('of no row is null or an empty connection, and does not remove its parent', async () => {
    const data = await ask(
      '{ patronCollection(filter: {id: {in: [3, 4]}}) { edges { node { lastFee oneLoan { seq } topSponsor { fullName } openLoans { edges { cursor } } } } } }',
    );
    expect(data.patronCollection.edges).toEqual([
      { node: { lastFee: null, oneLoan: null, topSponsor: { fullName: 'Ada' }, openLoans: { edges: [] } } },
      { node: { lastFee: null, oneLoan: null, topSponsor: { fullName: 'Bo' }, openLoans: { edges: [] } } },
    ]);
  });

  test('that is a set pages for each parent, and runs once for each', async () => {
    const calls = async () =>
      Number((await database.query<{ n: string }>('select last_value + is_called::int as n from lib.calls'))[0]!.n);
    const before = await calls();
    const data = await ask(`{ patronCollection(first: 2) { edges { node {
      counted(last: 1, orderBy: {fee: AscNullsLast}) { totalCount edges { node { fee } } pageInfo { hasPreviousPage hasNextPage } aggregate { sum { fee } } } } } } }`);
    expect(data.patronCollection.edges.map((edge: typeof data) => edge.node.counted)).toEqual([
      {
        totalCount: 3,
        edges: [{ node: { fee: null } }],
        pageInfo: { hasPreviousPage: true, hasNextPage: false },
        aggregate: { sum: { fee: 13 } },
      },
      {
        totalCount: 1,
        edges: [{ node: { fee: '1.00' } }],
        pageInfo: { hasPreviousPage: false, hasNextPage: false },
        aggregate: { sum: { fee: 1 } },
      },
    ]);
    expect(await calls()).toBe(before + 2);
  });

  test('a computed field is answered below relationships, at any depth', async () => {
    const data = await ask(
      '{ loanByPk(patronId: 2, shelfMark: "AB-01", seq: 1) { patron { shout topSponsor { shout openLoans { edges { node { isLate patron { shout } } } } } } } }',
    );
    expect(data.loanByPk.patron).toEqual({
      shout: 'BO',
      topSponsor: { shout: 'ADA', openLoans: { edges: [{ node: { isLate: true, patron: { shout: 'ADA' } } }] } },
    });
  });

  test('replaces a column of the same name', async () => {
    expect(await ask('{ volumeByPk(shelfMark: "QA-9") { title } }')).toEqual({
      volumeByPk: { title: 'computed Logic' },
    });
  });

  test('a computed field is a field of views too', async () => {
    expect((await ask('{ readerCollection(first: 1) { edges { node { loud } } } }')).readerCollection.edges).toEqual([
      { node: { loud: 'ADA' } },
    ]);
  });

  test('a computed field runs for the rows of the page only', async () => {
    const data = await ask(
      '{ patronCollection(first: 1, orderBy: {id: DescNullsLast}) { edges { node { shout } } pageInfo { hasNextPage } } }',
    );
    expect(data.patronCollection).toEqual({ edges: [{ node: { shout: 'BIG' } }], pageInfo: { hasNextPage: true } });
  });

  test('that fails answers one error with its message', async () => {
    expect(await run('{ big patronByPk(id: 1) { broken } }')).toMatchObject({
      data: null,
      errors: [{ message: 'division by zero', extensions: { code: 'BAD_USER_INPUT', sqlstate: '22012' } }],
    });
  });

  test('that returns a table of columns does not exist', async () => {
    expect(await errors('{ patronByPk(id: 1) { pair } }')).toHaveLength(1);
  });
});
