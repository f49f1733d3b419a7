/**
 * A tenant writes and asks for the count alone, so that nothing is read back: to pass policies, to write or count rows of others, or to
 * learn of hidden rows. The rows of others stay as they are, and the counts have the tenant's rows alone.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const schema = `
  create schema lib; grant usage on schema lib to anon;
  create function lib.tenant() returns int stable language sql as
    $$ select (nullif(current_setting('request.jwt.claims', true), '')::json ->> 'tenant')::int $$;
  create table lib.note (id int primary key, tenant int not null, code text unique, body text);
  alter table lib.note enable row level security;
  -- Only the policies for reading tell tenants apart, as careless ones do.
  create policy reads on lib.note for select to anon using (tenant = lib.tenant());
  create policy updates on lib.note for update to anon using (true);
  create policy deletes on lib.note for delete to anon using (true);
  create policy inserts on lib.note for insert to anon with check (tenant = lib.tenant());
  grant select, insert, update, delete on lib.note to anon;
  create table lib.granted (id int primary key, body text, level int not null default 0);
  create table lib.box (id int primary key, tenant int not null, name text);
  create table lib.item (box int references lib.box, line int, tenant int, primary key (box, line));
  alter table lib.box enable row level security;
  alter table lib.item enable row level security;
  create policy reads on lib.box for select to anon using (tenant = lib.tenant());
  create policy inserts on lib.box for insert to anon with check (tenant = lib.tenant());
  create policy reads on lib.item for select to anon using (tenant = lib.tenant());
  create policy inserts on lib.item for insert to anon with check (
    tenant = lib.tenant() and exists (select from lib.box b where b.id = box and b.tenant = lib.tenant()));
  -- A trigger that moves a row to a key that is there, or drops it.
  create table lib.moved (id int primary key, tenant int not null);
  create function lib.move() returns trigger language plpgsql as $$ begin
    if new.id = 1 then return null; end if; new.id = new.id + 10; return new; end $$;
  create trigger moves before insert on lib.moved for each row execute function lib.move();
  create table lib.part (moved int references lib.moved, line int, primary key (moved, line));
  grant select, insert, update, delete on lib.box, lib.item, lib.moved, lib.part to anon;
  grant select (id), insert (id, body), update (body) on lib.granted to anon;
`;
let database: TestDatabase;
let execution: TestExecution;
beforeAll(async () => {
  database = await createDatabase(schema);
  execution = await startExecution(database, { schemas: ['lib'] });
});
beforeEach(() =>
  database.query(`truncate lib.note, lib.granted, lib.box, lib.item, lib.moved, lib.part;
    insert into lib.box values (1, 1, 'mine'), (2, 2, 'secret'); insert into lib.moved values (-9, 2), (-8, 2);
    insert into lib.note values (1, 1, 'a', 'mine'), (2, 2, 'b', 'secret'), (3, 2, 'c', 'secret')`),
);

const run = (field: string) =>
  execution.run('anon', `mutation { x: ${field} { affectedCount } }`, { claims: { tenant: 1 } });
const others = () => database.query('select * from lib.note where tenant = 2 order by id');
const theirs = [
  { id: 2, tenant: 2, code: 'b', body: 'secret' },
  { id: 3, tenant: 2, code: 'c', body: 'secret' },
];

test.each([
  ['without a filter', ''],
  ['with an empty filter', 'filter: {}, '],
  ['with filters that read no column', 'filter: {and: [{}, {or: []}]}, '],
  ['with a filter that all rows match', 'filter: {id: {gt: 0}}, '],
])('an update and a delete %s write and count only rows that the tenant sees', async (_, filter) => {
  expect((await run(`updatenoteCollection(set: {body: "x"}, ${filter}atMost: 100)`)).data).toEqual({
    x: { affectedCount: 1 },
  });
  expect(await others()).toEqual(theirs);
  expect((await run(`deleteFromnoteCollection(${filter}atMost: 100)`)).data).toEqual({ x: { affectedCount: 1 } });
  expect(await others()).toEqual(theirs);
});

test('a hidden row named by its key is neither written nor told from one that does not exist', async () => {
  for (const field of ['updatenoteCollection(set: {body: "x"}, ', 'deleteFromnoteCollection(']) {
    const [hidden, missing] = [
      await run(`${field}filter: {id: {eq: 2}})`),
      await run(`${field}filter: {id: {eq: 9}})`),
    ];
    expect(hidden).toEqual({ data: { x: { affectedCount: 0 } } });
    expect(missing).toEqual(hidden);
  }
  expect(await others()).toEqual(theirs);
});

test('atMost counts no hidden rows, so that its error does not tell of them', async () => {
  expect((await run('updatenoteCollection(set: {body: "x"})')).data).toEqual({ x: { affectedCount: 1 } });
  expect((await run('deleteFromnoteCollection')).data).toEqual({ x: { affectedCount: 1 } });
  expect(await others()).toEqual(theirs);
});

test('a row for another tenant is refused, by itself and among others, and so is an upsert that meets one', async () => {
  for (const field of [
    'insertIntonoteCollection(objects: [{id: 7, tenant: 2}])',
    'insertIntonoteCollection(objects: [{id: 7, tenant: 1}, {id: 8, tenant: 2}])',
    'insertIntonoteCollection(objects: [{id: 2, tenant: 1, body: "x"}], onConflict: {constraint: note_pkey, updateColumns: [body]})',
    'insertIntonoteCollection(objects: [{id: 7, tenant: 1, code: "b"}], onConflict: {constraint: note_code_key, updateColumns: [body]})',
    'insertIntonoteCollection(objects: [{id: 2, tenant: 1, body: "x"}], onConflict: {constraint: note_pkey, updateColumns: [tenant, body]})',
  ]) {
    const { data, errors } = await run(field);
    expect([data, errors[0].extensions.code]).toEqual([null, 'PERMISSION_DENIED']);
    expect(JSON.stringify(errors)).not.toMatch(/secret/);
  }
  expect(await others()).toEqual(theirs);
  expect(await database.query('select id from lib.note where id > 3')).toEqual([]);
});

test('columns that the role may not write stay out of reach', async () => {
  for (const field of [
    'insertIntograntedCollection(objects: [{id: 1, level: 9}])',
    'updategrantedCollection(set: {level: 9}, filter: {id: {eq: 1}})',
    'updategrantedCollection(set: {body: "x"}, filter: {body: {eq: "x"}})',
  ]) {
    expect((await run(field)).errors).toMatchObject([{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }]);
  }
  expect((await run('insertIntograntedCollection(objects: [{id: 1, body: "x"}])')).data).toEqual({
    x: { affectedCount: 1 },
  });
  expect(await database.query('select * from lib.granted')).toEqual([{ id: 1, body: 'x', level: 0 }]);
});

test.each([
  [
    'with the key of a row of theirs',
    '{id: 2, tenant: 1, itemCollection: {insert: [{line: 1, tenant: 1}]}}',
    'CONSTRAINT_VIOLATION',
  ],
  ['for them', '{id: 7, tenant: 2, itemCollection: {insert: [{line: 1, tenant: 1}]}}', 'PERMISSION_DENIED'],
  [
    'with a row below for them',
    '{id: 7, tenant: 1, itemCollection: {insert: [{line: 1, tenant: 2}]}}',
    'PERMISSION_DENIED',
  ],
  [
    'among others',
    '{id: 7, tenant: 1, itemCollection: {insert: [{line: 1, tenant: 1}]}}, {id: 2, tenant: 1}',
    'CONSTRAINT_VIOLATION',
  ],
])('a row with related rows %s is refused, and none of them is written', async (_, objects, code) => {
  const { data, errors } = await run(`insertIntoboxCollection(objects: [${objects}])`);
  expect([data, errors[0].extensions.code]).toEqual([null, code]);
  expect(JSON.stringify(errors)).not.toMatch(/secret/);
  expect(await database.query('select * from lib.box order by id')).toEqual([
    { id: 1, tenant: 1, name: 'mine' },
    { id: 2, tenant: 2, name: 'secret' },
  ]);
  expect(await database.query('select * from lib.item')).toEqual([]);
});

test('related rows never go to a row of theirs with the given key, where a trigger drops the row or gives it another key', async () => {
  const part = 'partCollection: {insert: [{line: 1}]}';
  const { data, errors } = await run(`insertIntomovedCollection(objects: [{id: 1, tenant: 1, ${part}}])`);
  expect([data, errors[0].extensions.code]).toEqual([null, 'BAD_USER_INPUT']);
  expect((await run(`insertIntomovedCollection(objects: [{id: 2, tenant: 1, ${part}}])`)).errors).toBeUndefined();
  expect(await database.query('select * from lib.part')).toEqual([{ moved: 12, line: 1 }]);
});

test('a trigger that comes while the gateway runs is known to the next request', async () => {
  const inserted = () =>
    run('insertIntoboxCollection(objects: [{id: 8, tenant: 1, itemCollection: {insert: [{line: 1, tenant: 1}]}}])');
  expect((await inserted()).errors).toBeUndefined();
  await database.query(`delete from lib.item; delete from lib.box where id = 8;
    create trigger moves before insert on lib.box for each row execute function lib.move()`);
  await execution.reload();
  expect((await inserted()).errors).toBeUndefined();
  expect(await database.query('select box from lib.item')).toEqual([{ box: 18 }]);
  await database.query('drop trigger moves on lib.box');
  await execution.reload();
});
