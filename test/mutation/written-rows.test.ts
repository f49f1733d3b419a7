/**
 * Inserts, and writes of one row, whose records are plainly selected are the statement one would write by hand; their JSON is made
 * by the gateway. What they answer and refuse is the same as of every other write.
 */
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const schema = `
  create schema lib;
  grant usage on schema lib to anon;
  create table lib.note (id int primary key, body text, brief varchar(20), tags text[], owner text not null default 'me');
  alter table lib.note enable row level security;
  create policy all_writes on lib.note using (true) with check (true);
  create policy own_rows on lib.note as restrictive for select using (owner = 'me');
  create table lib.late (id int, n int, primary key (id) deferrable);
  create table lib.parent (id int primary key, n int);
  create table lib.child (primary key (id)) inherits (lib.parent);
  create table lib.stubborn (id int primary key);
  -- Neither the limit of the server nor ours ends it.
  create function lib.linger() returns trigger language plpgsql as $$
    begin
      for i in 1..2 loop
        begin perform pg_sleep(3); exception when query_canceled then null; end;
      end loop;
      return new;
    end $$;
  create trigger linger before insert on lib.stubborn for each row execute function lib.linger();
  create table lib.ruled (id int primary key, n int);
  create table lib.behind (id int, n int);
  create rule away as on delete to lib.ruled do instead delete from lib.behind where n = old.n returning behind.id, behind.n;
  insert into lib.ruled values (1, 7);
  create table lib.many (id int primary key, n int);
  create rule more as on insert to lib.many do instead
    insert into lib.behind select g, new.n from generate_series(1, new.id) as g returning behind.id, behind.n;
  create type lib.mood as enum ('ok', 'so so');
  create table lib.thing (id text primary key, data jsonb, tags text[], price numeric, mood lib.mood, moods lib.mood[], host inet);
  create table lib.padded (id int, code char(400) not null, note bpchar, primary key (id, code));
  create table lib.pair (a int, b text, n int, primary key (a, b));
  grant all on all tables in schema lib to anon;
`;

let database: TestDatabase;
let execution: TestExecution;
beforeAll(async () => {
  database = await createDatabase(schema);
  execution = await startExecution(database, { schemas: ['lib'], maxResponseBytes: 20_000 });
});
beforeEach(async () => {
  await database.query(`truncate lib.note, lib.late, lib.parent, lib.pair, lib.behind, lib.thing, lib.padded;
    insert into lib.note values (1, 'one'), (2, repeat('"', 3000)), (3, repeat('"', 12000));
    insert into lib.late values (1, 1); insert into lib.parent values (1, 1); insert into lib.child values (1, 2);
    insert into lib.behind values (1, 7), (2, 7);
    insert into lib.pair values (1, 'x', 1), (1, 'y', 2)`);
});

const run = (query: string, variables = {}) => execution.run('anon', query, { variables });
const textOf = async (query: string, variables = {}) =>
  (await execution.statements('anon', query, { variables })).map(({ text }) => text).join(';\n');
const bodies = async () =>
  (await database.query('select id, body from lib.note order by id')).map((row) => Object.values(row));

describe('One row', () => {
  test('One row is inserted and returned', async () => {
    const query =
      'mutation ($b: String) { insertIntonoteCollection(objects: [{id: 9, body: $b}]) { affectedCount records { body owner } } }';
    expect(await textOf(query, { b: 'y' })).toMatch(
      /^insert into "lib"."note" as "t1" \("id", "body"\) values \(.*\) returning "t1"."body"/,
    );
    expect(await run(query, { b: 'nine "\n' })).toEqual({
      data: { insertIntonoteCollection: { affectedCount: 1, records: [{ body: 'nine "\n', owner: 'me' }] } },
    });
  });

  test('One row is updated by its key', async () => {
    const query =
      'mutation { u: updatenoteCollection(set: {brief: "b"}, filter: {id: {eq: 1}}) { records { id brief } __typename } }';
    expect(await textOf(query)).toMatch(
      /^update "lib"."note" as "t1" set .* where .* returning "t1"."id", "t1"."brief", case when [^$]*$/,
    );
    expect(await run(query)).toEqual({
      data: { u: { records: [{ id: 1, brief: 'b' }], __typename: 'noteUpdateResponse' } },
    });
  });

  test('One row is deleted by its key, with further conditions', async () => {
    const query =
      'mutation ($b: String) { deleteFrompairCollection(filter: {n: {gt: 0}, and: [{a: {eq: 1}}, {b: {eq: $b}}]}) { affectedCount records { n } } }';
    expect(await textOf(query, { b: 'y' })).toMatch(
      /^delete from "lib"."pair" as "t1" where .* returning "t1"."n", case when [^$]*$/,
    );
    expect(await run(query, { b: 'y' })).toEqual({
      data: { deleteFrompairCollection: { affectedCount: 1, records: [{ n: 2 }] } },
    });
    expect(await run(query, { b: 'y' })).toEqual({
      data: { deleteFrompairCollection: { affectedCount: 0, records: [] } },
    });
  });

  test('that policies hide from the caller is not written if anything of it is selected', async () => {
    const query =
      'mutation { insertIntonoteCollection(objects: [{id: 9, owner: "you"}]) { affectedCount records { __typename } } }';
    expect(await textOf(query)).toMatch(/returning/);
    expect((await run(query)).errors[0]).toMatchObject({ extensions: { code: 'PERMISSION_DENIED' } });
    expect(await bodies()).toHaveLength(3);
  });
});

describe('Several objects', () => {
  const query = `mutation ($o: [noteInsertInput!]!) {
    insertIntonoteCollection(objects: $o) { affectedCount records { id body brief tags owner } __typename }
  }`;
  const inserted = (records: object[]) => ({
    data: {
      insertIntonoteCollection: { affectedCount: records.length, records, __typename: 'noteInsertResponse' },
    },
  });

  test('Several objects are inserted and returned in their order, with the defaults of the keys they lack', async () => {
    const bodies = ['', 'null', 'NULL', '"', '\\', '\\"', '{a,b}', '{"a"}', ', ', '\n\t\u0001', 'ü✓😀', ' x '];
    const objects = bodies.map((body, index) => ({ id: 100 - index, body, ...(index === 3 && { tags: ['t'] }) }));
    const records = objects.map((object) => ({ brief: null, tags: null, owner: 'me', ...object }));
    expect(await textOf(query, { o: objects })).toMatch(
      /^insert into "lib"."note" as "t1" \("id", "body", "tags"\) select .* from rows from \(.*\) as "r2"\("c0", "c1", "c2", "p2"\) returning "t1"."id"/,
    );
    expect(await run(query, { o: objects })).toEqual(inserted(records));
  });

  test('Several objects may have lists and nulls, in a variable or in the document', async () => {
    const objects = [
      { id: 9, tags: ['a', null, '"', '\\', '{}', ''], brief: null },
      { id: 8, tags: [], body: null },
      { id: 7, tags: null, body: 'x' },
    ];
    const records = objects.map((object) => ({ body: null, brief: null, owner: 'me', ...object }));
    expect(await run(query, { o: objects })).toEqual(inserted(records));
    await database.query('delete from lib.note where id > 5');
    const written = `[{id: 9, tags: ["a", null, "\\"", "\\\\", "{}", ""], brief: null}, {id: 8, tags: [], body: null}, {id: 7, tags: null, body: $b}]`;
    const literal = query.replace('$o: [noteInsertInput!]!', '$b: String').replace('$o', written);
    expect(await run(literal, { b: 'x' })).toEqual(inserted(records));
  });

  test('Several objects are not written where policies hide one of them from the caller', async () => {
    const objects = [{ id: 9 }, { id: 8, owner: 'you' }];
    expect(
      (await run(query.replace(/records \{.*?\}/, 'records { __typename }'), { o: objects })).errors[0],
    ).toMatchObject({
      extensions: { code: 'PERMISSION_DENIED' },
    });
    expect(await bodies()).toHaveLength(3);
  });

  test('Several objects are all written or none', async () => {
    const objects = [{ id: 9 }, { id: 1 }];
    expect((await run(query, { o: objects })).errors[0]).toMatchObject({
      extensions: { code: 'CONSTRAINT_VIOLATION' },
    });
    expect(await bodies()).toHaveLength(3);
  });

  test('Several objects are returned with node ids, JSON, lists, numbers and enums', async () => {
    const asked = `mutation ($o: [thingInsertInput!]!) {
      insertIntothingCollection(objects: $o) { records { nodeId data tags price mood } }
    }`;
    const objects = ['a', '"', 'ü'].map((id) => ({
      id,
      data: '{"a": ["\\""]}',
      tags: [id, null, '{}'],
      price: '1.50',
      mood: 'ok',
    }));
    expect(await textOf(asked, { o: objects })).toMatch(/^insert into "lib"."thing" as "t1"/);
    const nodeId = (id: string) =>
      Buffer.from(JSON.stringify(['lib', 'thing', id]).replaceAll(',', ', ')).toString('base64');
    expect(await run(asked, { o: objects })).toEqual({
      data: {
        insertIntothingCollection: { records: objects.map(({ id, ...rest }) => ({ nodeId: nodeId(id), ...rest })) },
      },
    });
  });

  test.each(['id', 'moods', 'host'])('Several objects are returned as rows, of every type (%s)', async (field) => {
    expect(
      await textOf(`mutation { insertIntothingCollection(objects: [{id: "a"}, {id: "b"}]) { records { ${field} } } }`),
    ).toMatch(/^insert/);
  });
});

describe('Rows are counted before the commit', () => {
  test.each([
    ['where the filter holds a part of the key', 'pair(filter: {a: {eq: 1}})'],
    [
      'where the filter holds the key in one of two ways',
      'pair(filter: {or: [{a: {eq: 1}, b: {eq: "x"}}, {n: {eq: 2}}]})',
    ],
    ['where a rule makes the statement another one', 'ruled(filter: {id: {eq: 1}})'],
    ['where heirs of the table may have the same key', 'parent(filter: {id: {eq: 1}})'],
  ])('%s', async (_, asked) => {
    const field = `deleteFrom${asked.replace('(', 'Collection(')}`;
    const query = `mutation { ${field} { affectedCount } }`;
    expect(await textOf(query)).toContain('at_most');
    expect((await run(query)).errors[0].message).toBe('delete impacts too many records');
  });

  test('where the constraint is deferrable, and where atMost is a variable or too small', async () => {
    expect(await textOf('mutation { deleteFromlateCollection(filter: {id: {eq: 1}}) { affectedCount } }')).toContain(
      'at_most',
    );
    const bounded =
      'mutation ($m: Int!) { deleteFromnoteCollection(filter: {id: {eq: 1}}, atMost: $m) { affectedCount } }';
    expect(await textOf(bounded, { m: 1 })).toContain('at_most');
    const none = 'mutation { deleteFromnoteCollection(filter: {id: {eq: 1}}, atMost: 0) { affectedCount } }';
    expect((await run(none)).errors[0].message).toBe('delete impacts too many records');
  });
});

describe('An answer that is too large', () => {
  const touch = (id: number) =>
    `mutation { a: updatenoteCollection(set: {brief: "seen"}, filter: {id: {eq: ${id}}}) { records { body brief } } }`;
  const extensions = { code: 'LIMIT_EXCEEDED', limit: 'max-response-bytes', outcome: 'committed' };
  const committed = { path: ['a'], extensions };

  test('An answer that is too large is given where it fits', async () => {
    const { data } = await run(touch(2));
    expect(data.a.records).toEqual([{ body: '"'.repeat(3000), brief: 'seen' }]);
    expect(await database.query('select brief from lib.note where id = 2')).toEqual([{ brief: 'seen' }]);
  });

  test('An answer that is too large says that the write is committed where it does not', async () => {
    const { data, errors } = await run(touch(3));
    expect([data, errors.length]).toEqual([null, 1]);
    expect(errors[0]).toMatchObject(committed);
    expect(errors[0].message).toMatch(
      /^The mutation has been committed, but its answer is larger than the limit of 20000/,
    );
    expect(await database.query('select brief from lib.note where id = 3')).toEqual([{ brief: 'seen' }]);
  });

  test('An answer that is too large does not keep the fields beside it from being committed, nor from failing all', async () => {
    const insert = (id: number) => `b: insertIntonoteCollection(objects: [{id: ${id}}]) { records { id } }`;
    const both = (id: number) => touch(3).replace(/ }$/, ` ${insert(id)} }`);
    expect((await run(both(1))).errors).toMatchObject([{ path: ['b'], extensions: { code: 'CONSTRAINT_VIOLATION' } }]);
    expect(await database.query('select brief from lib.note where id = 3')).toEqual([{ brief: null }]);
    expect((await run(both(9))).errors).toMatchObject([committed]);
    expect(await database.query('select id from lib.note where id = 9')).toEqual([{ id: 9 }]);
  });

  const several = `mutation ($o: [noteInsertInput!]!) { a: insertIntonoteCollection(objects: $o) { records { id body } } }`;
  const objects = (count: number, body: string | null) =>
    Array.from({ length: count }, (_, index) => ({ id: 100 + index, body }));

  test.each([
    ['of few rows with much text', 2, 'a'.repeat(4000)],
    ['of many rows without any', 40, null],
  ])('%s is given where it fits', async (_, count, body) => {
    expect((await run(several, { o: objects(count, body) })).data.a.records).toEqual(objects(count, body));
  });

  test.each([
    ['of few rows with much text', 2, 'a'.repeat(12_000)],
    ['of many rows with some', 100, 'a'.repeat(190)],
    ['of rows whose text needs escapes', 100, '\u0001'.repeat(40)],
    ['of very many rows without texts', 2000, null],
  ])('%s says that the insert is committed', async (_, count, body) => {
    expect(await run(several, { o: objects(count, body) })).toMatchObject({ data: null, errors: [committed] });
    expect(await bodies()).toHaveLength(3 + count);
  });

  test('An answer that is too large says so where a rule writes other rows', async () => {
    const asked = (id: number) =>
      run(`mutation { a: insertIntomanyCollection(objects: [{id: ${id}, n: 1}]) { affectedCount records { id } } }`);
    expect(await asked(3)).toEqual({ data: { a: { affectedCount: 3, records: [{ id: 1 }, { id: 2 }, { id: 3 }] } } });
    expect(await asked(3000)).toMatchObject({ data: null, errors: [committed] });
    expect(await database.query('select from lib.behind')).toHaveLength(3005);
  });

  test.each(['note', 'code', 'nodeId'])(
    'An answer that is too large has the blanks at the end of %s',
    async (field) => {
      const query = `mutation ($o: [paddedInsertInput!]!) { a: insertIntopaddedCollection(objects: $o) { records { ${field} } } }`;
      const padded = Array.from({ length: 20 }, (_, id) => ({ id, code: 'a', note: 'a'.padEnd(800) }));
      expect((await run(query, { o: padded })).data.a.records).toHaveLength(20);
    },
  );
});

test('A write that is committed though its time was over is answered', async () => {
  const hasty = await startExecution(database, { schemas: ['lib'], statementTimeoutMs: 2500 });
  // The time is that of the statement, not of the connection.
  await vi.waitFor(() => hasty.data('anon', '{ __typename }'));
  const query = 'mutation { a: insertIntostubbornCollection(objects: [{id: 1}]) { affectedCount records { id } } }';
  expect(await hasty.run('anon', query)).toEqual({ data: { a: { affectedCount: 1, records: [{ id: 1 }] } } });
});
