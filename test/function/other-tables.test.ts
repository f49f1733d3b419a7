/**
 * Views, materialized views, foreign tables, partitions and inheritance children, with their keys and relationships from
 * comment directives.
 */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const comment = (object: string, directive: object) =>
  `comment on ${object} is 'About it. @graphql(${JSON.stringify(directive).replaceAll("'", "''")}) And more (really).';`;
const key = { primary_key_columns: ['id'] };
const toPatron = {
  local_columns: ['patron_id'],
  foreign_schema: 'lib',
  foreign_table: 'patron',
  foreign_columns: ['id'],
};

const database = await createDatabase(fixture('function-library.sql'));
const address = new URL(database.url);
await database.query(`
  create schema remote;
  create table remote.shelf (id int primary key, label text, patron_id int);
  insert into remote.shelf values (1, 'Top', 1), (2, 'Low', 2), (3, 'Lost', 77);
  create extension postgres_fdw;
  create server other foreign data wrapper postgres_fdw options (host '${address.hostname}', port '${address.port}', dbname '${database.name}');
  create user mapping for public server other options (user '${address.username}', password '${address.password}', password_required 'false');
  create foreign table lib.shelf (id int, label text, patron_id int) server other options (schema_name 'remote', table_name 'shelf');
  create foreign table lib.keyless_shelf (id int) server other options (schema_name 'remote', table_name 'shelf');
  ${comment('foreign table lib.shelf', { ...key, totalCount: { enabled: true }, foreign_keys: [toPatron] })}

  create foreign data wrapper nothing;
  create server nowhere foreign data wrapper nothing;
  create foreign table lib.unreachable (id int) server nowhere;
  create view lib.over_unreachable as select u.id from lib.unreachable u;
  create view lib.over_that as select u.id from lib.over_unreachable u;
  ${['foreign table lib.unreachable', 'view lib.over_unreachable', 'view lib.over_that'].map((one) => comment(one, key)).join('\n')}

  create view lib.cheap as select id, patron_id, title, fee from lib.loan where fee < 2;
  ${comment('view lib.cheap', { ...key, name: 'CheapLoan', description: 'Below two', max_rows: 1, foreign_keys: [{ ...toPatron, foreign_name: 'borrower', local_name: 'cheapOnes' }] })}
  ${comment('column lib.cheap.title', { name: 'Caption', description: 'What it says' })}
  create view lib.plain_view as select id, patron_id, title from lib.loan;
  create view lib.fees as select patron_id, count(*) as n, sum(fee) as fee from lib.loan group by patron_id;
  ${comment('view lib.fees', { primary_key_columns: ['patron_id'], aggregate: { enabled: true }, foreign_keys: [toPatron] })}
  create view lib.pairs as select patron_id, title::text, min(id) as id from lib.loan group by patron_id, title;
  ${comment('view lib.pairs', { primary_key_columns: ['title', 'patron_id'] })}
  create view lib.over_cheap as select * from lib.cheap;
  ${comment('view lib.over_cheap', { ...key, foreign_keys: [{ local_columns: ['id'], foreign_schema: 'lib', foreign_table: 'cheap', foreign_columns: ['id'] }] })}
  create view lib.empty_key as select * from lib.cheap;
  ${comment('view lib.empty_key', { primary_key_columns: [] })}
  create view lib.wrong_key as select * from lib.cheap;
  ${comment('view lib.wrong_key', { primary_key_columns: ['id', 'no_such'] })}
  create view lib.wrong_keys as select * from lib.cheap;
  ${comment('view lib.wrong_keys', {
    ...key,
    foreign_keys: [
      { ...toPatron, foreign_schema: 'nowhere' },
      { ...toPatron, foreign_table: 'no_table' },
      { ...toPatron, foreign_columns: ['no_column'] },
      { ...toPatron, local_columns: ['no_column'] },
    ],
  })}
  create materialized view lib.totals as select patron_id as id, count(*) as n from lib.loan group by patron_id;
  ${comment('materialized view lib.totals', { ...key, foreign_keys: [{ ...toPatron, local_columns: ['id'], local_name: 'loanTotal', foreign_name: 'whose' }] })}
  create unique index on lib.totals (id);
  create function lib.doubled(lib.totals) returns bigint immutable language sql as 'select $1.n * 2';
  create function lib.shelf_label(lib.shelf) returns text immutable language sql as $$ select 'shelf ' || $1.label $$;
  create function lib.shelves() returns setof lib.shelf stable language sql as 'select * from lib.shelf';
  create function lib.plain_rows() returns setof lib.plain_view stable language sql as 'select * from lib.plain_view';

  create table lib.event (id int, day date, note text, patron_id int references lib.patron (id), primary key (id, day)) partition by range (day);
  create table lib.event_old partition of lib.event for values from ('2020-01-01') to ('2021-01-01');
  create table lib.event_new partition of lib.event for values from ('2021-01-01') to ('2022-01-01');
  ${comment('table lib.event_old', { totalCount: { enabled: true }, aggregate: { enabled: true } })}
  insert into lib.event values (1, '2020-05-01', 'old', 1), (2, '2021-05-01', 'new', 1);

  create table lib.person (id int primary key, name text);
  create table lib.clerk (desk int) inherits (lib.person);
  create table lib.guest (badge int, primary key (id)) inherits (lib.person);
  insert into lib.person values (1, 'Pat');
  insert into lib.clerk values (2, 'Kim', 5);
  insert into lib.guest values (3, 'Gus', 9);
  ${comment('table lib.clerk', key)}
  create function lib.greeting(lib.person) returns text immutable language sql as $$ select 'Hello ' || $1.name $$;
  create function lib.greeting(lib.guest) returns text immutable language sql as $$ select 'Welcome ' || $1.name $$;

  create table lib.log (at text, what text);
  insert into lib.log values ('b', 'second'), ('a', 'first');
  ${comment('table lib.log', { primary_key_columns: ['at'] })}
  create table lib.real_key (id int primary key, other int);
  ${comment('table lib.real_key', { primary_key_columns: ['other'] })}
  grant all on all tables in schema lib to anon;
`);
const execution = await startExecution(database, { schemas: ['lib'] });
const ask = (query: string, variables?: Record<string, unknown>) =>
  execution.data('anon', query, variables === undefined ? {} : { variables });
const nodes = async (field: string, selection: string): Promise<Json[]> => {
  const data = await ask(`{ c: ${field} { edges { node { ${selection} } } } }`);
  return data.c.edges.map(({ node }: Json) => node);
};
const fieldsOf = async (type: string): Promise<readonly string[]> => {
  const { shared } = await execution.role('anon');
  const found = shared.schema.getType(type);
  return found && 'getFields' in found ? Object.keys(found.getFields()) : [];
};

describe('a view', () => {
  test('a view needs a key from its directive, whose columns all exist', async () => {
    const fields = await fieldsOf('Query');
    for (const name of [
      'plainViewCollection',
      'plainRows',
      'emptyKeyCollection',
      'wrongKeyCollection',
      'keylessShelfCollection',
    ]) {
      expect(fields).not.toContain(name);
    }
    await database.query(comment('view lib.plain_view', key));
    await execution.reload();
    expect(await fieldsOf('Query')).toEqual(
      expect.arrayContaining(['plainViewCollection', 'plainViewByPk', 'plainRows']),
    );
    expect(await ask('{ plainRows(first: 1) { edges { node { title nodeId } } } }')).toMatchObject({
      plainRows: { edges: [{ node: { title: 'Logic' } }] },
    });
  });

  test('a view has names, descriptions and page size of its own', async () => {
    const query = '{ __type(name: "CheapLoan") { description fields { name description } } }';
    const { __type } = await ask(query);
    expect(__type.description).toBe('Below two');
    expect(__type.fields).toContainEqual({ name: 'Caption', description: 'What it says' });
    expect(await nodes('cheapLoanCollection(first: 10)', 'Caption')).toEqual([{ Caption: 'Logic' }]);
    expect(await nodes('cheapLoanCollection(after: "WzFd", filter: {Caption: {neq: "x"}})', 'Caption')).toEqual([
      { Caption: 'Trees' },
    ]);
  });

  test('a view is related as its directive says, both ways, to many on the way back', async () => {
    const data = await ask(
      '{ cheapLoanByPk(id: 4) { borrower { fullName cheapOnes { edges { node { id } } pageInfo { hasNextPage } } } } }',
    );
    expect(data.cheapLoanByPk).toEqual({
      borrower: { fullName: 'Ada', cheapOnes: { edges: [{ node: { id: 1 } }], pageInfo: { hasNextPage: true } } },
    });
  });

  test('a view has the default names of a key without names, and skips entries that lead nowhere', async () => {
    expect(
      await nodes('feesCollection', 'patronId n fee patron { fullName feesCollection { edges { node { n } } } }'),
    ).toEqual([
      {
        patronId: 1,
        n: '4',
        fee: '13.50',
        patron: { fullName: 'Ada', feesCollection: { edges: [{ node: { n: '4' } }] } },
      },
      {
        patronId: 2,
        n: '1',
        fee: '2.50',
        patron: { fullName: 'Bo', feesCollection: { edges: [{ node: { n: '1' } }] } },
      },
    ]);
    expect(await fieldsOf('WrongKeys')).toEqual(['nodeId', 'id', 'patronId', 'title', 'fee']);
    expect(await nodes('overCheapCollection(first: 1)', 'cheapLoan { Caption }')).toEqual([
      { cheapLoan: { Caption: 'Logic' } },
    ]);
  });

  test('a view has node ids, lookups and cursors in the order of the key as it is written', async () => {
    const { pairsByPk } = await ask('{ pairsByPk(title: "Logic", patronId: 2) { id nodeId } }');
    expect(Buffer.from(pairsByPk.nodeId, 'base64').toString()).toBe('["lib", "pairs", "Logic", 2]');
    const again = await ask('query($id: ID!) { node(nodeId: $id) { ... on Pairs { id } } }', { id: pairsByPk.nodeId });
    expect(again).toEqual({ node: { id: 5 } });
    const { pairsCollection } = await ask('{ pairsCollection(first: 2) { edges { cursor node { title patronId } } } }');
    expect(pairsCollection.edges.map(({ cursor }: Json) => Buffer.from(cursor, 'base64').toString())).toEqual([
      '["Graphs", 1]',
      '["Logic", 1]',
    ]);
  });

  test('a view has aggregates where its directive enables them, and entrypoints only where it can be written', async () => {
    expect(await ask('{ feesCollection { aggregate { count sum { fee n } } } }')).toEqual({
      feesCollection: { aggregate: { count: 2, sum: { fee: 16, n: 5 } } },
    });
    expect((await fieldsOf('Mutation')).filter((name) => /Fees|CheapLoan|Totals|Shelf|Log/.test(name))).toEqual([
      'deleteCheapLoanByPk',
      'deleteFromCheapLoanCollection',
      'deleteFromLogCollection',
      'deleteFromShelfCollection',
      'deleteLogByPk',
      'deleteShelfByPk',
      'insertCheapLoan',
      'insertIntoCheapLoanCollection',
      'insertIntoLogCollection',
      'insertIntoShelfCollection',
      'insertLog',
      'insertShelf',
      'updateCheapLoanByPk',
      'updateCheapLoanCollection',
      'updateLogByPk',
      'updateLogCollection',
      'updateManyCheapLoanCollection',
      'updateManyLogCollection',
      'updateManyShelfCollection',
      'updateShelfByPk',
      'updateShelfCollection',
    ]);
  });

  test('a view is written like a table, under its own node ids', async () => {
    const data = await ask(`mutation {
      insertIntoCheapLoanCollection(objects: [{id: 20, patronId: 3, Caption: "Sums", fee: "1.5"}]) { records { nodeId borrower { fullName } } }
      updateCheapLoanCollection(set: {Caption: "Sum"}, filter: {id: {eq: 20}}) { records { Caption } }
      deleteFromCheapLoanCollection(filter: {id: {eq: 20}}) { affectedCount records { Caption } }
    }`);
    expect(data).toEqual({
      insertIntoCheapLoanCollection: {
        records: [{ nodeId: Buffer.from('["lib", "cheap", 20]').toString('base64'), borrower: { fullName: 'Cy' } }],
      },
      updateCheapLoanCollection: { records: [{ Caption: 'Sum' }] },
      deleteFromCheapLoanCollection: { affectedCount: 1, records: [{ Caption: 'Sum' }] },
    });
  });
});

describe('a materialized view', () => {
  test('a materialized view is read like a view, with computed fields and relationships', async () => {
    expect(await nodes('totalsCollection(filter: {n: {gt: "1"}})', 'id n doubled whose { fullName }')).toEqual([
      { id: 1, n: '4', doubled: '8', whose: { fullName: 'Ada' } },
    ]);
    expect((await ask('{ totalsByPk(id: 2) { n nodeId } }')).totalsByPk).toMatchObject({ n: '1' });
  });

  test('a materialized view leads back to one row where a unique index on it proves that', async () => {
    expect(await ask('{ patronByPk(id: 1) { loanTotal { n } } other: patronByPk(id: 3) { loanTotal { n } } }')).toEqual(
      {
        patronByPk: { loanTotal: { n: '4' } },
        other: { loanTotal: null },
      },
    );
  });
});

describe('a foreign table', () => {
  test('a foreign table is read with filter, order, page and relationships', async () => {
    expect(
      await nodes('shelfCollection(orderBy: [{label: AscNullsLast}])', 'label shelfLabel patron { fullName }'),
    ).toEqual([
      { label: 'Lost', shelfLabel: 'shelf Lost', patron: null },
      { label: 'Low', shelfLabel: 'shelf Low', patron: { fullName: 'Bo' } },
      { label: 'Top', shelfLabel: 'shelf Top', patron: { fullName: 'Ada' } },
    ]);
    const data = await ask(`{ shelfByPk(id: 2) { label } shelves(filter: {id: {gt: 1}}) { edges { node { label } } }
      patronByPk(id: 1) { shelfCollection { totalCount edges { node { label } } } } }`);
    expect(data).toEqual({
      shelfByPk: { label: 'Low' },
      shelves: { edges: [{ node: { label: 'Low' } }, { node: { label: 'Lost' } }] },
      patronByPk: { shelfCollection: { totalCount: 1, edges: [{ node: { label: 'Top' } }] } },
    });
  });

  test('a foreign table is written like a table', async () => {
    const data = await ask(`mutation {
      insertIntoShelfCollection(objects: [{id: 9, label: "New", patronId: 3}]) { affectedCount records { label shelfLabel patron { fullName } } }
      updateShelfCollection(set: {label: "Newer"}, filter: {id: {eq: 9}}) { affectedCount records { label } }
    }`);
    expect(data).toEqual({
      insertIntoShelfCollection: {
        affectedCount: 1,
        records: [{ label: 'New', shelfLabel: 'shelf New', patron: { fullName: 'Cy' } }],
      },
      updateShelfCollection: { affectedCount: 1, records: [{ label: 'Newer' }] },
    });
    expect(await database.query('select label from remote.shelf where id = 9')).toEqual([{ label: 'Newer' }]);
    await ask('mutation { deleteFromShelfCollection(filter: {id: {eq: 9}}) { affectedCount } }');
    expect(await database.query('select label from remote.shelf where id = 9')).toEqual([]);
  });
});

describe('a foreign table that nothing can read', () => {
  test('a foreign table that nothing can read fails alone when it is read, cannot be written, and leaves other tables readable', async () => {
    for (const name of ['unreachable', 'overUnreachable', 'overThat']) {
      const answer = await execution.run('anon', `{ ${name}Collection { edges { node { id } } } }`);
      expect(answer, name).toMatchObject({ data: null, errors: [{}] });
    }
    expect((await fieldsOf('Mutation')).filter((name) => /Unreachable|OverThat/.test(name))).toEqual([]);
    expect(await nodes('shelfCollection(first: 1)', 'label')).toEqual([{ label: 'Top' }]);
  });
});

describe('parts of tables', () => {
  test('each partition is a table of its own', async () => {
    const data = await ask(
      '{ eventOldCollection { totalCount aggregate { count } edges { node { note patron { fullName } } } } }',
    );
    expect(data.eventOldCollection).toEqual({
      totalCount: 1,
      aggregate: { count: 1 },
      edges: [{ node: { note: 'old', patron: { fullName: 'Ada' } } }],
    });
    expect((await ask('{ patronByPk(id: 1) { eventNewCollection { edges { node { note } } } } }')).patronByPk).toEqual({
      eventNewCollection: { edges: [{ node: { note: 'new' } }] },
    });
    const nodeId = Buffer.from('["lib", "event_new", 2, "2021-05-01"]').toString('base64');
    expect(await ask(`{ node(nodeId: "${nodeId}") { ... on EventNew { note } } }`)).toEqual({ node: { note: 'new' } });
  });

  test('an inheritance parent shows the rows of its children, each child its own, with its own computed fields', async () => {
    expect(await nodes('personCollection', 'id name greeting')).toEqual([
      { id: 1, name: 'Pat', greeting: 'Hello Pat' },
      { id: 2, name: 'Kim', greeting: 'Hello Kim' },
      { id: 3, name: 'Gus', greeting: 'Hello Gus' },
    ]);
    expect(await nodes('clerkCollection', 'id name desk')).toEqual([{ id: 2, name: 'Kim', desk: 5 }]);
    expect(await fieldsOf('Clerk')).not.toContain('greeting');
    expect(await nodes('guestCollection', 'badge greeting')).toEqual([{ badge: 9, greeting: 'Welcome Gus' }]);
  });

  test('a table without a key has one from its directive; a real key is never replaced', async () => {
    expect(await nodes('logCollection', 'at what')).toEqual([
      { at: 'a', what: 'first' },
      { at: 'b', what: 'second' },
    ]);
    expect(await ask('{ logByPk(at: "b") { what } }')).toEqual({ logByPk: { what: 'second' } });
    const { shared } = await execution.role('anon');
    const lookup = shared.schema.getQueryType()!.getFields().realKeyByPk!;
    expect(lookup.args.map(({ name }) => name)).toEqual(['id']);
  });
});
