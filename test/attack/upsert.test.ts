/**
 * A tenant upserts keys of rows that policies or views hide: to change them, to see them, or to ask a filter about them. Whatever the filter
 * says, the answer is the same, and the rows stay as they are.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const schema = `
  create schema lib; create schema hidden; grant usage on schema lib to anon;
  create function lib.tenant() returns int stable language sql as
    $$ select coalesce(nullif(current_setting('request.jwt.claims', true), '')::json ->> 'tenant', '1')::int $$;
  create table lib.note (id int primary key, tenant int not null default lib.tenant(), code text unique, body text, size int, friend int references lib.note);
  alter table lib.note enable row level security;
  create policy own on lib.note to anon using (tenant = lib.tenant());
  create table lib.readable (id int primary key, tenant int not null, body text);
  alter table lib.readable enable row level security;
  create policy reads on lib.readable for select to anon using (true);
  create policy inserts on lib.readable for insert to anon with check (true);
  create policy changes on lib.readable for update to anon using (tenant = lib.tenant());
  create table hidden.sheet (id int primary key, tenant int not null default lib.tenant(), code text unique, body text, size int);
  create view lib.own_sheet as select id, code, body, size from hidden.sheet where tenant = lib.tenant();
  create view lib.sheet_of_own as select id, code as mark, body, size from lib.own_sheet;
  create view lib.whole_note with (security_barrier) as select id, tenant, code, body, size from lib.note;
  create view lib.limited as select id, code, body, size from lib.note where size < 100;
  create table lib.unnamed (id int not null, email text, tenant int not null, size int);
  create unique index unnamed_email on lib.unnamed (lower(email));
  comment on table lib.unnamed is '@graphql({"primary_key_columns": ["id"]})';
  alter table lib.unnamed enable row level security;
  create policy own on lib.unnamed to anon using (tenant = lib.tenant());
  create table hidden.plan (id int primary key, tenant int not null default lib.tenant(), body text);
  create table lib.own_plan () inherits (hidden.plan);
  comment on table lib.own_plan is '@graphql({"primary_key_columns": ["id"]})';
  create view lib.plans as select id, body from hidden.plan where tenant = lib.tenant();
  create view lib.all_plans as select id, tenant, body from hidden.plan;
  comment on view lib.plans is '@graphql({"primary_key_columns": ["id"]})';
  comment on view lib.all_plans is '@graphql({"primary_key_columns": ["id"]})';
  comment on view lib.own_sheet is '@graphql({"primary_key_columns": ["id"]})';
  comment on view lib.sheet_of_own is '@graphql({"primary_key_columns": ["id"]})';
  comment on view lib.whole_note is '@graphql({"primary_key_columns": ["id"]})';
  comment on view lib.limited is '@graphql({"primary_key_columns": ["id"]})';
  grant select, insert, update on all tables in schema lib to anon;
`;
let database: TestDatabase;
let execution: TestExecution;
beforeAll(async () => {
  database = await createDatabase(schema);
  execution = await startExecution(database, { schemas: ['lib'] });
});
beforeEach(async () => {
  await database.query(`truncate lib.note, lib.readable, hidden.sheet, lib.unnamed;
    insert into lib.note values (1, 1, 'a', 'mine', 5, null), (2, 2, 'b', 'secret', 500, 1);
    insert into lib.readable values (1, 1, 'mine'), (2, 2, 'theirs');
    insert into hidden.sheet values (1, 1, 'a', 'mine', 5), (2, 2, 'b', 'secret', 500);
    insert into lib.unnamed values (1, 'a@x', 1, 5), (2, 'b@x', 2, 500)`);
});

const upsert = (table: string, object: string, onConflict: string, select = 'affectedCount records { __typename }') =>
  execution.run(
    'anon',
    `mutation { insertInto${table}Collection(objects: [{${object}}], onConflict: {${onConflict}}) { ${select} } }`,
    {
      claims: { role: 'anon', tenant: 1 },
    },
  );
const everything = async () =>
  JSON.stringify(await database.query(`select (select json_agg(n order by id) from lib.note n) as n, (select json_agg(r order by id) from lib.readable r) as r,
    (select json_agg(s order by id) from hidden.sheet s) as s, (select json_agg(u order by id) from lib.unnamed u) as u`)); // biome-ignore format: one query

// Each pair: true of the hidden row, and false.
const filters = [
  ['{}', '{id: {is: NULL}}'],
  ['{size: {gt: 100}}', '{size: {lt: 100}}'],
  ['{body: {eq: "secret"}}', '{body: {eq: "other"}}'],
  ['{body: {like: "a\\\\"}}', '{body: {regex: "(a"}}'],
  ['{not: {code: {is: NULL}}}', '{and: [{code: {eq: "b"}}, {size: {eq: 501}}]}'],
] as const;

const hiddenRows = [
  ['note', 'id: 2, body: "x"', 'note_pkey'],
  ['note', 'id: 3, code: "b", body: "x"', 'note_code_key'],
  ['own_sheet', 'id: 2, body: "x"', 'sheet_pkey'],
  ['own_sheet', 'id: 3, code: "b", body: "x"', 'sheet_code_key'],
  ['sheet_of_own', 'id: 3, mark: "b", body: "x"', 'sheet_code_key'],
] as const;

describe.each(hiddenRows)('a hidden row of %s, met by {%s} and %s', (table, object, constraint) => {
  test('a hidden row stays as it is, is not shown, and no filter tells what is in it', async () => {
    const before = await everything();
    const answers = new Set<string>();
    for (const filter of [
      '',
      ...filters
        .flat()
        .map((each) => `, filter: ${each.replaceAll('code', table === 'sheet_of_own' ? 'mark' : 'code')}`),
    ]) {
      for (const select of ['affectedCount', 'records { id body }', 'affectedCount records { __typename }']) {
        const answer = await upsert(table, object, `constraint: ${constraint}, updateColumns: [body]${filter}`, select);
        expect(answer.errors).toMatchObject([
          { extensions: { code: table === 'note' ? 'PERMISSION_DENIED' : 'CONFLICT' } },
        ]);
        answers.add(JSON.stringify(answer));
      }
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).not.toMatch(/secret|500|tenant|hidden/);
    expect(await everything()).toBe(before);
  });

  test('a hidden row is neither changed nor shown where there is nothing to update', async () => {
    const before = await everything();
    const { data } = await upsert(table, object, `constraint: ${constraint}`, 'affectedCount records { id body }');
    expect(data).toEqual({ [`insertInto${table}Collection`]: { affectedCount: 0, records: [] } });
    expect(await everything()).toBe(before);
  });
});

test("the caller's own rows are found through each index, and filters apply", async () => {
  for (const [table, object, constraint] of [
    ['note', 'id: 1, body: "new"', 'note_pkey'],
    ['own_sheet', 'id: 9, code: "a", body: "new"', 'sheet_code_key'],
    ['sheet_of_own', 'id: 1, body: "newer"', 'sheet_pkey'],
    ['whole_note', 'id: 1, tenant: 1, body: "newest"', 'note_pkey'],
  ] as const) {
    const skipped = await upsert(
      table,
      object,
      `constraint: ${constraint}, updateColumns: [body], filter: {size: {gt: 5}}`,
      'affectedCount',
    );
    expect(skipped.data[`insertInto${table}Collection`]).toEqual({ affectedCount: 0 });
    const { data } = await upsert(
      table,
      object,
      `constraint: ${constraint}, updateColumns: [body], filter: {size: {eq: 5}}`,
      'records { id size }',
    );
    expect(data[`insertInto${table}Collection`]).toEqual({ records: [{ id: 1, size: 5 }] });
  }
});

test('a row that may be read and not updated fails the mutation', async () => {
  const before = await everything();
  for (const filter of ['', ', filter: {body: {eq: "theirs"}}']) {
    const { errors } = await upsert(
      'readable',
      'id: 2, tenant: 1, body: "x"',
      `constraint: readable_pkey, updateColumns: [body, tenant]${filter}`,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED', sqlstate: '42501' } }]);
  }
  expect(await everything()).toBe(before);
});

test('a row cannot be moved to another tenant, nor taken from one', async () => {
  const before = await everything();
  for (const object of ['id: 1, tenant: 2', 'id: 2, tenant: 1', 'id: 2, tenant: 2']) {
    const { errors } = await upsert('note', object, 'constraint: note_pkey, updateColumns: [tenant, body]');
    expect(errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED' } }]);
  }
  expect(await everything()).toBe(before);
});

test('a view that shows some rows of a table with policies hides the others from upserts, too', async () => {
  await database.query(`insert into lib.note values (3, 1, 'c', 'large', 300, null)`);
  const before = await everything();
  for (const filter of ['', ', filter: {size: {gt: 1}}', ', filter: {size: {lt: 1}}']) {
    const { errors } = await upsert(
      'limited',
      'id: 3, body: "x", size: 1',
      `constraint: note_pkey, updateColumns: [body, size]${filter}`,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
  }
  expect(await everything()).toBe(before);
});

test('an index by which a hidden row could not be found again is not offered where rows can be hidden', async () => {
  const { errors } = await upsert(
    'unnamed',
    'id: 9, tenant: 1, email: "B@x"',
    'constraint: unnamed_email, updateColumns: [size]',
  );
  expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
});

test('a row of a child table with the same key does not stand for a hidden one', async () => {
  await database.query(
    `insert into hidden.plan values (2, 2, 'secret'); insert into lib.own_plan values (2, 1, 'mine')`,
  );
  const onConflict = 'constraint: plan_pkey, updateColumns: [body]';
  const { errors } = await upsert('plans', 'id: 2, body: "x"', onConflict);
  expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  expect(await database.query('select body from only hidden.plan')).toEqual([{ body: 'secret' }]);
  // Where nothing is hidden, there is nothing to mistake.
  expect((await upsert('all_plans', 'id: 2, body: "x"', onConflict)).errors).toBeUndefined();
});

test('forged names of indexes, columns and variables reach no SQL', async () => {
  const before = await everything();
  const query = `mutation ($c: noteConstraint!, $u: [noteColumn!]!) {
    insertIntonoteCollection(objects: [{id: 2, body: "x"}], onConflict: {constraint: $c, updateColumns: $u}) { affectedCount } }`;
  for (const c of ['0', '1', 0, 'note_pkey) do update set body = 1; --', '__proto__', 'constructor', null]) {
    expect((await execution.run('anon', query, { variables: { c, u: [] } })).errors).toHaveLength(1);
  }
  for (const u of [['1'], ['4'], ['tenant = 1'], ['__proto__'], [null], ['friend', 'missing']]) {
    expect((await execution.run('anon', query, { variables: { c: 'note_pkey', u } })).errors).toHaveLength(1);
  }
  expect(await everything()).toBe(before);
});
