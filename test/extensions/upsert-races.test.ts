/** Upserts at the same time: nothing is lost, nothing is written twice, and what PostgreSQL cannot order is a conflict. */
import pg from 'pg';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const database = await createDatabase(`
  create schema app; grant usage on schema app to anon;
  create table app.stock (id int primary key, writer text not null, times int not null default 1);
  create table app.seat (id int primary key, writer text not null);
  create sequence app.runs; grant usage on sequence app.runs to anon;
  -- The second row waits until the test lets it go on: the first one is locked by then.
  create function app.meet() returns trigger language plpgsql as $$ begin
    perform nextval('app.runs');
    if current_setting('test.first', true) = 'written' then perform pg_advisory_xact_lock_shared(1); end if;
    perform set_config('test.first', 'written', true);
    return new; end $$;
  create trigger meet before insert on app.seat for each row execute function app.meet();
  create table app.own (id int primary key, writer text not null);
  alter table app.own enable row level security;
  create policy all_rows on app.own using (true) with check (true);
  create table app.moved (id int primary key, tenant text not null, body text not null);
  alter table app.moved enable row level security;
  create policy own on app.moved using (tenant = 'own');
  create schema hidden;
  create table hidden.sheet (id int primary key, code text unique, tenant text not null default 'own', body text not null);
  create view app.own_sheet as select id, code, body from hidden.sheet where tenant = 'own';
  create view app.named_sheet as select id, code, body, tenant from hidden.sheet where tenant = 'own';
  create view app.barred_sheet with (security_barrier) as select id, code, body, tenant from app.named_sheet where body <> 'barred';
  comment on view app.own_sheet is '@graphql({"primary_key_columns": ["id"]})';
  comment on view app.named_sheet is '@graphql({"primary_key_columns": ["id"]})';
  comment on view app.barred_sheet is '@graphql({"primary_key_columns": ["id"]})';
  create table app.folder (id int primary key);
  create table app.page (id int primary key, folder int not null references app.folder, tenant text not null, body text not null);
  create view app.own_page as select * from app.page where tenant = 'own';
  comment on view app.own_page is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_columns": ["folder"], "foreign_schema": "app", "foreign_table": "folder", "foreign_columns": ["id"]}]})';
  grant all on all tables in schema app to anon; revoke all on app.page from anon`);
const execution = await startExecution(database, { schemas: ['app'] });
const other = new pg.Client({ connectionString: database.url });
await other.connect();
atEnd(() => other.end());

beforeEach(async () => {
  await other.query('rollback');
  await database.query('truncate app.stock, app.own, app.moved, hidden.sheet, app.folder, app.page');
});

/** Newer minor releases of PostgreSQL refuse what a view hides before the filter is asked. */
const refusesHiddenRows = await database
  .query(
    `insert into hidden.sheet values (1, 'a', 'other', 'x');
     insert into app.named_sheet values (1, 'a', 'y', 'own') on conflict (id) do update set body = 'y' where false`,
  )
  .then(
    () => false,
    () => true,
  );

const upsert = (table: string, ids: readonly number[], writer: string, more = '') =>
  execution.run(
    'anon',
    `mutation ($o: [${table}InsertInput!]!) { insertInto${table}Collection(objects: $o,
      onConflict: {constraint: ${table}_pkey, updateColumns: [writer]${more}}) { affectedCount } }`,
    { variables: { o: ids.map((id) => ({ id, writer })) } },
  );
const waiting = `select from pg_stat_activity where datname = current_database() and application_name = 'pgreflect test' and wait_event_type = 'Lock'`;
const whenWaiting = (count = 1) =>
  vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(count), 30_000);

describe.each([
  ['are there', `insert into app.seat values (1, 'first'), (2, 'first')`],
  ['are new', ''],
])('of two writers that wait for each other, whose keys %s', (_, script) => {
  test('one is a conflict, one writes, and neither is repeated', async () => {
    await database.query(`truncate app.seat; ${script}; alter sequence app.runs restart`);
    await other.query('begin; select pg_advisory_xact_lock(1)');
    const answers = [upsert('seat', [1, 2], 'a'), upsert('seat', [2, 1], 'b')];
    await whenWaiting(2);
    await other.query('commit');
    const [a, b] = await Promise.all(answers);
    const [written, refused] = a!.errors === undefined ? [a, b] : [b, a];
    expect(written).toEqual({ data: { insertIntoseatCollection: { affectedCount: 2 } } });
    expect(refused).toMatchObject({
      data: null,
      errors: [{ path: ['insertIntoseatCollection'], extensions: { code: 'CONFLICT', sqlstate: '40P01' } }],
    });
    const writer = written === a ? 'a' : 'b';
    expect(await database.query('select * from app.seat order by id')).toEqual([
      { id: 1, writer },
      { id: 2, writer },
    ]);
    // Numbers of a sequence are not given back: each of the two statements ran once, for two rows.
    expect(await database.query('select last_value::int from app.runs')).toEqual([{ last_value: 4 }]);
  });
});

test('a row that another transaction writes meanwhile is met, and updated', async () => {
  await other.query(`begin; insert into app.stock values (1, 'other', 7)`);
  const answer = upsert('stock', [1, 2], 'own', ', filter: {times: {eq: 7}}');
  await whenWaiting();
  await other.query('commit');
  expect((await answer).data.insertIntostockCollection.affectedCount).toBe(2);
  expect(await database.query('select * from app.stock order by id')).toEqual([
    { id: 1, writer: 'own', times: 7 },
    { id: 2, writer: 'own', times: 1 },
  ]);
});

test.each([
  ['matches', ', filter: {writer: {eq: "other"}}'],
  ['does not match', ', filter: {writer: {eq: "nobody"}}'],
])(
  'under policies, a row that is written meanwhile and %s the filter is a conflict: nothing is written',
  async (_, filter) => {
    await other.query(`begin; insert into app.own values (1, 'other')`);
    const answer = upsert('own', [1, 2], 'own', filter);
    await whenWaiting();
    await other.query('commit');
    expect((await answer).errors).toMatchObject([{ extensions: { code: 'CONFLICT', input: '$o' } }]);
    expect(await database.query('select * from app.own')).toEqual([{ id: 1, writer: 'other' }]);
  },
);

test('a row that is there under policies and no longer matches when its turn comes is a conflict', async () => {
  await database.query(`insert into app.own values (1, 'first')`);
  await other.query(`begin; update app.own set writer = 'other'`);
  const answer = upsert('own', [1], 'own', ', filter: {writer: {eq: "first"}}');
  await whenWaiting();
  await other.query('commit');
  expect((await answer).errors).toMatchObject([{ extensions: { code: 'CONFLICT', input: '$o' } }]);
  expect(await database.query('select * from app.own')).toEqual([{ id: 1, writer: 'other' }]);
});

describe.each(['mine', 'secret'])(
  'a row that another transaction gives to another tenant meanwhile, with the body %s',
  (body) => {
    const upsertMoved = async (filter: string) => {
      await database.query(`insert into app.moved values (1, 'own', 'mine')`);
      await other.query(`begin; update app.moved set tenant = 'other', body = '${body}'`);
      const query = `mutation { it: insertIntomovedCollection(objects: [{id: 1, tenant: "own", body: "x"}],
      onConflict: {constraint: moved_pkey, updateColumns: [tenant, body]${filter}}) { affectedCount records { body } } }`;
      const answer = execution.run('anon', query);
      await whenWaiting();
      await other.query('commit');
      const { data, errors } = await answer;
      expect(await database.query('select * from app.moved')).toEqual([{ id: 1, tenant: 'other', body }]);
      return { data, errors };
    };

    test.each(['', ', filter: {body: {eq: "mine"}}'])('the row is not changed: %s', async (filter) => {
      const { errors } = await upsertMoved(filter);
      expect(errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED', sqlstate: '42501' } }]);
    });

    test('the row is not asked the filter, which the row from before does not match', async () => {
      const { data, errors } = await upsertMoved(', filter: {body: {eq: "secret"}}');
      if (refusesHiddenRows) expect(errors).toMatchObject([{ extensions: { sqlstate: '42501' } }]);
      else expect(data).toEqual({ it: { affectedCount: 0, records: [] } });
    });
  },
);

describe.each([
  ['own_sheet', ''],
  ['named_sheet', ''],
  ['named_sheet', 'tenant'],
  ['barred_sheet', ''],
  ['barred_sheet', 'tenant'],
])('a row that another transaction moves out of the view %s meanwhile, where %s is updated, too', (view, more) => {
  const upsertMoved = async (object: string, change: string, onConflict: string) => {
    await database.query(`insert into hidden.sheet values (1, 'a', 'own', 'mine')`);
    await other.query(`begin; ${change}`);
    const given = more === '' ? object : `${object}, tenant: "own"`;
    const query = `mutation { it: insertInto${view}Collection(objects: [{id: 2, body: "new"}, {${given}}],
      onConflict: {updateColumns: [body, ${more}], ${onConflict}}) { affectedCount records { id code body } } }`;
    const answer = execution.run('anon', query);
    await whenWaiting();
    await other.query('commit');
    return answer;
  };
  const moved = `update hidden.sheet set tenant = 'other', body = 'secret'`;
  const replaced = `delete from hidden.sheet; insert into hidden.sheet values (1, 'a', 'other', 'secret')`;
  const theirs = [{ id: 1, code: 'a', tenant: 'other', body: 'secret' }];

  test.each([
    ['moved', moved, 'constraint: sheet_pkey', 'id: 1, body: "x"'],
    ['moved', moved, 'constraint: sheet_code_key', 'id: 3, code: "a", body: "x"'],
    ['moved', moved, 'constraint: sheet_pkey, filter: {body: {eq: "mine"}}', 'id: 1, body: "x"'],
    ['replaced', replaced, 'constraint: sheet_pkey', 'id: 1, body: "x"'],
    ['replaced', replaced, 'constraint: sheet_code_key, filter: {id: {eq: 1}}', 'id: 3, code: "a", body: "x"'],
  ])('the row is neither changed nor shown: %s by %s, met by %s', async (_, change, onConflict, object) => {
    const { data, errors } = await upsertMoved(object, change, onConflict);
    expect(await database.query('select * from hidden.sheet')).toEqual(theirs);
    expect({ data, errors }).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'CONFLICT', retry: 'once' } }],
    });
    expect(JSON.stringify(errors)).not.toContain('secret');
  });

  test('the row is not asked the filter, which the row from before does not match', async () => {
    const onConflict = 'constraint: sheet_pkey, filter: {body: {eq: "secret"}}';
    const { data, errors } = await upsertMoved('id: 1, body: "x"', moved, onConflict);
    if (refusesHiddenRows) expect(errors).toMatchObject([{ extensions: { code: 'CONFLICT', retry: 'once' } }]);
    else expect(data.it.records).toEqual([{ id: 2, code: null, body: 'new' }]);
    expect(await database.query('select * from hidden.sheet where id = 1')).toEqual(theirs);
  });

  test('the row is updated where it comes back, as any that is only changed', async () => {
    const change = `update hidden.sheet set tenant = 'other'; update hidden.sheet set tenant = 'own', code = 'b'`;
    const { data } = await upsertMoved(
      'id: 1, body: "x"',
      change,
      'constraint: sheet_pkey, filter: {code: {neq: "c"}}',
    );
    expect(data.it.records).toEqual([
      { id: 2, code: null, body: 'new' },
      { id: 1, code: 'b', body: 'x' },
    ]);
  });

  test('the row is a conflict where it no longer matches the filter', async () => {
    const change = `update hidden.sheet set code = 'c'`;
    const { errors } = await upsertMoved(
      'id: 1, body: "x"',
      change,
      'constraint: sheet_pkey, filter: {code: {neq: "c"}}',
    );
    expect(errors).toMatchObject([{ extensions: { code: 'CONFLICT' } }]);
    expect(errors[0].extensions).not.toHaveProperty('retry');
    expect(await database.query('select * from hidden.sheet')).toEqual([
      { id: 1, code: 'c', tenant: 'own', body: 'mine' },
    ]);
  });
});

test('a related row that another transaction moves out of its view meanwhile is neither changed nor adopted', async () => {
  await database.query(`insert into app.folder values (1); insert into app.page values (1, 1, 'own', 'mine')`);
  await other.query(`begin; update app.page set tenant = 'other'`);
  const query = `mutation { it: insertIntofolderCollection(objects: [{id: 2, own_pageCollection: {insert: [{id: 1, tenant: "own", body: "x"}],
    onConflict: {constraint: page_pkey, updateColumns: [folder, tenant, body]}}}]) { affectedCount } }`;
  const answer = execution.run('anon', query);
  await whenWaiting();
  await other.query('commit');
  expect((await answer).errors).toMatchObject([
    { extensions: { code: 'CONFLICT', input: 'objects[0].own_pageCollection.insert[0]' } },
  ]);
  expect(await database.query('select * from app.page')).toEqual([{ id: 1, folder: 1, tenant: 'other', body: 'mine' }]);
  expect(await database.query('select * from app.folder')).toEqual([{ id: 1 }]);
});
