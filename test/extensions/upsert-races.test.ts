/** Upserts at the same time: nothing is lost, nothing is written twice, and what PostgreSQL cannot order is a conflict. */
import pg from 'pg';
import { beforeEach, expect, test, vi } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const database = await createDatabase(`
  create schema app; grant usage on schema app to anon;
  create table app.stock (id int primary key, writer text not null, times int not null default 1);
  create table app.own (id int primary key, writer text not null);
  alter table app.own enable row level security;
  create policy all_rows on app.own using (true) with check (true);
  grant all on all tables in schema app to anon`);
const execution = await startExecution(database, { schemas: ['app'] });
const other = new pg.Client({ connectionString: database.url });
await other.connect();
atEnd(() => other.end());

beforeEach(() => database.query('truncate app.stock, app.own'));

const upsert = (table: string, ids: readonly number[], writer: string, more = '') =>
  execution.run(
    'anon',
    `mutation ($o: [${table}InsertInput!]!) { insertInto${table}Collection(objects: $o,
      onConflict: {constraint: ${table}_pkey, updateColumns: [writer]${more}}) { affectedCount } }`,
    { variables: { o: ids.map((id) => ({ id, writer })) } },
  );
const waiting = `select from pg_stat_activity where datname = current_database() and application_name = 'pgreflect test' and wait_event_type = 'Lock'`;
const whenWaiting = () => vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), 30_000);

test('two writers of the same 1,000 keys in opposite order: each writes all or is a conflict, and no update is lost', async () => {
  const ids = Array.from({ length: 1000 }, (_, n) => n);
  for (let round = 0; round < 5; round += 1) {
    const writers = [`a${round}`, `b${round}`] as const;
    const answers = await Promise.all([
      upsert('stock', ids, writers[0]),
      upsert('stock', ids.toReversed(), writers[1]),
    ]);
    const written = writers.filter((_, index) => answers[index]!.errors === undefined);
    for (const { data, errors } of answers) {
      if (errors === undefined) expect(data.insertIntostockCollection.affectedCount).toBe(1000);
      else
        expect(errors).toMatchObject([
          { path: ['insertIntostockCollection'], extensions: { code: 'CONFLICT', sqlstate: '40P01' } },
        ]);
    }
    const found = await database.query<{ writer: string; count: number }>(
      'select writer, count(*)::int from app.stock group by writer',
    );
    expect(found).toEqual([{ writer: expect.toBeOneOf(written), count: 1000 }]);
  }
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

test('a row that is there under policies and changes meanwhile is filtered by its new values', async () => {
  await database.query(`insert into app.own values (1, 'first')`);
  await other.query(`begin; update app.own set writer = 'other'`);
  const answer = upsert('own', [1], 'own', ', filter: {writer: {eq: "first"}}');
  await whenWaiting();
  await other.query('commit');
  expect((await answer).data.insertIntoownCollection.affectedCount).toBe(0);
  expect(await database.query('select * from app.own')).toEqual([{ id: 1, writer: 'other' }]);
});
