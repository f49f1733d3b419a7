/** Writes of related rows at the same time: nothing of two mixes, and rows that are given away meanwhile stay as they are. */
import pg from 'pg';
import { beforeEach, expect, test, vi } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table folder (id int primary key, writer text, tenant text not null default 'own');
  create table page (id int primary key, folder_id int not null references folder on update cascade, writer text, tenant text not null default 'own');
  alter table folder enable row level security;
  alter table page enable row level security;
  create policy own on folder using (tenant = 'own');
  create policy own on page using (tenant = 'own');
  grant select, insert, update, delete on folder, page to anon`);
const execution = await startExecution(database);
const other = new pg.Client({ connectionString: database.url });
await other.connect();
atEnd(() => other.end());

beforeEach(async () => {
  await other.query('rollback');
  await database.query('truncate folder, page');
});

const waiting = `select from pg_stat_activity where datname = current_database() and application_name = 'pgreflect test' and wait_event_type = 'Lock'`;

test('two writers that upsert 200 rows with related rows in opposite order: each writes all or nothing', async () => {
  const ids = Array.from({ length: 200 }, (_, n) => n);
  const query =
    'mutation ($o: [FolderInsertInput!]!) { insertIntoFolderCollection(objects: $o, onConflict: {constraint: folder_pkey, updateColumns: [writer]}) { affectedCount } }';
  const onConflict = { constraint: 'page_pkey', updateColumns: ['writer', 'folderId'] };
  const write = (writer: string, order: readonly number[]) => {
    const pages = (id: number) => ({ insert: [2 * id, 2 * id + 1].map((page) => ({ id: page, writer })), onConflict });
    return execution.run('anon', query, {
      variables: { o: order.map((id) => ({ id, writer, pageCollection: pages(id) })) },
    });
  };
  for (let round = 0; round < 5; round += 1) {
    const writers = [`a${round}`, `b${round}`];
    const answers = await Promise.all([write(writers[0]!, ids), write(writers[1]!, ids.toReversed())]);
    const written = writers.filter((_, index) => answers[index]!.errors === undefined);
    for (const { errors } of answers)
      if (errors) expect(errors).toMatchObject([{ extensions: { code: 'CONFLICT', sqlstate: '40P01' } }]);
    const found = await database.query(
      'select f.writer, p.writer as page, count(*)::int from folder f join page p on p.folder_id = f.id and p.id / 2 = f.id group by 1, 2',
    );
    expect(found).toEqual([{ writer: expect.toBeOneOf(written), page: found[0]!.writer, count: 400 }]);
  }
});

test.each([
  ['to another row', 'update page set folder_id = 2'],
  ['to another tenant', "update page set tenant = 'other'"],
])('a related row that another transaction gives %s meanwhile is neither changed nor deleted', async (_, given) => {
  for (const change of ['update: [{set: {writer: "x"}}]', 'delete: [{}]']) {
    await database.query(`truncate folder, page; insert into folder values (1), (2); insert into page values (1, 1)`);
    await other.query(`begin; ${given}`);
    const query = `mutation { it: updateFolderCollection(set: {writer: "x", pageCollection: {${change}}}, filter: {id: {eq: 1}}) { records { pageCollection { edges { node { id } } } } } }`;
    const answer = execution.data('anon', query);
    await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), 30_000);
    await other.query('commit');
    expect(await answer).toEqual({ it: { records: [{ pageCollection: { edges: [] } }] } });
    expect(await database.query('select id, writer from page')).toEqual([{ id: 1, writer: null }]);
  }
});

test('related rows follow a key that another transaction changes meanwhile', async () => {
  await database.query('insert into folder values (1), (2); insert into page values (1, 1), (2, 2)');
  await other.query('begin; update folder set id = 3 where id = 1');
  const query = `mutation { it: updateFolderCollection(set: {writer: "x", pageCollection: {update: [{set: {writer: "x"}}]}}, filter: {id: {in: [1, 3]}}) { records { id } } }`;
  const answer = execution.data('anon', query);
  await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), 30_000);
  await other.query('commit');
  expect(await answer).toEqual({ it: { records: [{ id: 3 }] } });
  expect(await database.query('select id, folder_id, writer from page order by id')).toEqual([
    { id: 1, folder_id: 3, writer: 'x' },
    { id: 2, folder_id: 2, writer: null },
  ]);
});

test('a row that another transaction gives to another tenant meanwhile gets no related rows', async () => {
  await database.query('insert into folder values (1); insert into page values (1, 1)');
  await other.query("begin; update folder set tenant = 'other'");
  const query = `mutation { it: updateFolderCollection(set: {writer: "x", pageCollection: {delete: [{}], insert: [{id: 2}]}}, filter: {id: {eq: 1}}) { affectedCount } }`;
  const answer = execution.run('anon', query);
  await vi.waitFor(async () => expect(await database.query(waiting)).toHaveLength(1), 30_000);
  await other.query('commit');
  expect((await answer).errors).toMatchObject([{ message: expect.stringContaining('exactly one updated row') }]);
  expect(await database.query('select id, writer from page')).toEqual([{ id: 1, writer: null }]);
  expect(await database.query('select writer from folder')).toEqual([{ writer: null }]);
});
