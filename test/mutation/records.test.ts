/**
 * What `records` shows (docs/mutations.md): the written rows themselves are new, or as they were for a delete; everything read
 * below them is as it was before the statement, except what volatile functions read.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-library.sql'));
const library = await startExecution(database, { schemas: ['lib'] });
const data = (query: string) => library.data('anon', query);

beforeEach(async () => {
  await database.query(`
    delete from lib.loan;
    delete from lib.volume;
    delete from lib.patron;
    insert into lib.patron (id, full_name, sponsor_id) values (1, 'Ada', null), (2, 'Bo', 1), (3, 'Cy', null);
    insert into lib.volume (shelf_mark, title) values ('QA-1', 'Logic'), ('QA-2', 'Sets');
    insert into lib.loan values
      (1, 'QA-1', 1, '2024-06-30', 1.50, 'out'), (1, 'QA-2', 1, null, 2.00, 'returned'), (2, 'QA-1', 1, null, null, 'lost')`);
});

describe('what is read below written rows', () => {
  test('what is read below written rows does not count an inserted row', async () => {
    const query = `mutation { insertIntoLoanCollection(objects: {patronId: "3", shelfMark: "QA-1", seq: 9, fee: "0.50"}) {
      records { seq fee volume { title loanCollection { totalCount edges { node { seq } } } } patron { fullName totalFee } } } }`;
    expect(await data(query)).toEqual({
      insertIntoLoanCollection: {
        records: [
          {
            seq: 9,
            fee: '0.50',
            volume: {
              title: 'Logic',
              loanCollection: { totalCount: 2, edges: [{ node: { seq: 1 } }, { node: { seq: 1 } }] },
            },
            patron: { fullName: 'Cy', totalFee: null },
          },
        ],
      },
    });
  });

  test('what is read below written rows shows the old name of an updated row', async () => {
    const query = `mutation { updatePatronCollection(set: {fullName: "Ada Lovelace"}, filter: {id: {eq: 1}}) {
      records { fullName label loanCollection(first: 1) { edges { node { patron { fullName label } } } } } } }`;
    expect(await data(query)).toEqual({
      updatePatronCollection: {
        records: [
          {
            fullName: 'Ada Lovelace',
            label: '1: Ada Lovelace',
            loanCollection: { edges: [{ node: { patron: { fullName: 'Ada', label: '1: Ada' } } }] },
          },
        ],
      },
    });
  });

  test('still lists the rows that a cascade is about to take', async () => {
    const query = `mutation { deleteFromPatronCollection(filter: {id: {eq: 2}}) {
      affectedCount records { fullName sponsor { fullName } loanCollection { totalCount edges { node { shelfMark state } } } } } }`;
    expect(await data(query)).toEqual({
      deleteFromPatronCollection: {
        affectedCount: 1,
        records: [
          {
            fullName: 'Bo',
            sponsor: { fullName: 'Ada' },
            loanCollection: { totalCount: 1, edges: [{ node: { shelfMark: 'QA-1', state: 'GONE' } }] },
          },
        ],
      },
    });
    expect(await database.query('select * from lib.loan where patron_id = 2')).toEqual([]);
  });

  test('what is read below written rows follows a changed foreign key to its new target', async () => {
    const query = `mutation { updatePatronCollection(set: {sponsorId: 3}, filter: {id: {eq: 2}}) {
      records { sponsorId sponsor { fullName patronCollection { edges { node { fullName } } } } } } }`;
    expect(await data(query)).toEqual({
      updatePatronCollection: {
        records: [{ sponsorId: '3', sponsor: { fullName: 'Cy', patronCollection: { edges: [] } } }],
      },
    });
  });

  test('what is read below written rows finds the row itself through a reference to itself, as it was', async () => {
    const query = `mutation { updatePatronCollection(set: {sponsorId: 3, fullName: "Own"}, filter: {id: {eq: 3}}) {
      records { fullName sponsor { fullName sponsor { fullName } } } } }`;
    expect(await data(query)).toEqual({
      updatePatronCollection: { records: [{ fullName: 'Own', sponsor: { fullName: 'Cy', sponsor: null } }] },
    });
  });

  test('what is read below written rows does not find an inserted row through a reference to itself', async () => {
    const query = `mutation { insertIntoPatronCollection(objects: {fullName: "Dee"}) { records { patronCollection { edges { cursor } } sponsor { fullName } } } }`;
    expect(await data(query)).toEqual({
      insertIntoPatronCollection: { records: [{ patronCollection: { edges: [] }, sponsor: null }] },
    });
  });
});

describe('computed fields of written rows', () => {
  test('that are stable read the database as it was, volatile ones as it is', async () => {
    const query = `mutation { updateLoanCollection(set: {fee: "10.00"}, filter: {patronId: {eq: 1}, shelfMark: {eq: "QA-1"}}) {
      records { fee patron { totalFee totalFeeNow } } } }`;
    expect(await data(query)).toEqual({
      updateLoanCollection: { records: [{ fee: '10.00', patron: { totalFee: '3.50', totalFeeNow: '12.00' } }] },
    });
  });

  test('that are volatile see all rows of an insert', async () => {
    const query = `mutation { insertIntoLoanCollection(objects: [
      {patronId: 3, shelfMark: "QA-1", seq: 1, fee: "1.00"}, {patronId: 3, shelfMark: "QA-1", seq: 2, fee: "2.00"}]) {
      records { patron { totalFee totalFeeNow } } } }`;
    const patron = { totalFee: null, totalFeeNow: '3.00' };
    expect(await data(query)).toEqual({ insertIntoLoanCollection: { records: [{ patron }, { patron }] } });
  });

  test('computed fields of written rows get the written row as their argument', async () => {
    const query = `mutation { insertIntoPatronCollection(objects: {id: 77, fullName: "Dee"}) { records { label totalFee } } }`;
    expect(await data(query)).toEqual({
      insertIntoPatronCollection: { records: [{ label: '77: Dee', totalFee: null }] },
    });
    const valid = `mutation { insertIntoPatronCollection(objects: {fullName: "Dee"}) { records { id label } } }`;
    const { insertIntoPatronCollection } = await data(valid);
    const [record] = insertIntoPatronCollection.records;
    expect(record.label).toBe(`${record.id}: Dee`);
  });

  test('that return rows take all arguments of a connection', async () => {
    const query = `mutation { updatePatronCollection(set: {fullName: "A"}, filter: {id: {eq: 1}}) {
      records { openLoans(first: 1, orderBy: {shelfMark: DescNullsLast}, filter: {seq: {eq: 1}}) {
        totalCount pageInfo { hasNextPage } edges { cursor node { shelfMark volume { title } } } } } } }`;
    const cursor = Buffer.from('["QA-1", 1, "QA-1", 1]').toString('base64');
    expect(await data(query)).toEqual({
      updatePatronCollection: {
        records: [
          {
            openLoans: {
              totalCount: 1,
              pageInfo: { hasNextPage: false },
              edges: [{ cursor, node: { shelfMark: 'QA-1', volume: { title: 'Logic' } } }],
            },
          },
        ],
      },
    });
  });
});

describe('nested connections below written rows', () => {
  test('nested connections below written rows take pages, filters, orders and aggregates', async () => {
    const query = `mutation { updatePatronCollection(set: {fullName: "Ada"}, filter: {id: {eq: 1}}) { records {
      loanCollection(first: 1, orderBy: [{fee: DescNullsLast}]) {
        edges { node { fee } } pageInfo { hasNextPage endCursor } aggregate { count sum { fee } max { dueOn } } }
      none: loanCollection(filter: {fee: {gt: "5"}}) { totalCount edges { cursor } } } } }`;
    const endCursor = Buffer.from('[2.00, 1, "QA-2", 1]').toString('base64');
    expect(await data(query)).toEqual({
      updatePatronCollection: {
        records: [
          {
            loanCollection: {
              edges: [{ node: { fee: '2.00' } }],
              pageInfo: { hasNextPage: true, endCursor },
              aggregate: { count: 2, sum: { fee: 3.5 }, max: { dueOn: '2024-06-30' } },
            },
            none: { totalCount: 0, edges: [] },
          },
        ],
      },
    });
  });

  test('nested connections below written rows are refused like those of a query, and then nothing is written', async () => {
    const query = `mutation { updatePatronCollection(set: {fullName: "X"}, filter: {id: {eq: 1}}) { records {
      loanCollection(first: 1, last: 1) { totalCount } } } }`;
    expect(await library.run('anon', query)).toMatchObject({
      data: null,
      errors: [{ message: 'only one of "first" and "last" may be provided', path: ['updatePatronCollection'] }],
    });
    expect(await database.query('select full_name from lib.patron where id = 1')).toEqual([{ full_name: 'Ada' }]);
  });
});
