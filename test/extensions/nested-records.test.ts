/** What `records` of nested writes shows: rows as they are after all levels (docs/nested-writes.md). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const script = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table folder (id int generated always as identity primary key, name text unique, size int not null default 0,
    folder_id int references folder, upper text generated always as (upper(name)) stored);
  create table file (id int generated always as identity primary key, folder_id int not null references folder, size int);
  grant select, insert, update, delete on all tables in schema public to anon;
`;
const addSizes = `create function add_size() returns trigger language plpgsql as $$ begin
    update folder f set size = f.size + new.size where f.id = new.folder_id; return null; end $$;
  create trigger add_size after insert on file for each row execute function add_size()`;
const setSize = `create function set_size() returns trigger language plpgsql as $$ begin
    update folder f set size = 7 where f.id = new.id; return null; end $$;
  create trigger set_size after insert on folder for each row execute function set_size()`;

const write = `mutation ($o: [FolderInsertInput!]!) { it: insertIntoFolderCollection(objects: $o) { affectedCount records { id name upper size folderId } } }`;
const folder = (name: string, ...sizes: readonly number[]) => ({
  name,
  fileCollection: { insert: sizes.map((size) => ({ size })) },
});

describe.each([
  ['nothing else changes them', '', [0, 0, 0]],
  ['a trigger on the related table changes them', addSizes, [3, 0, 4]],
  ['a trigger on their own table changes them', setSize, [7, 7, 7]],
])('where %s', (_, more, sizes) => {
  let database: TestDatabase;
  let execution: TestExecution;
  beforeAll(async () => {
    database = await createDatabase(`${script} ${more}`);
    execution = await startExecution(database);
  });
  beforeEach(() => database.query('truncate folder, file restart identity'));

  test('records come in the order of the objects, with what the database has made', async () => {
    const objects = [folder('b', 1, 2), { name: 'c', folder: { insert: { name: 'above' } } }, folder('a', 4)];
    const { it } = await execution.data('anon', write, { variables: { o: objects } });
    expect(it).toEqual({
      affectedCount: 3,
      records: [
        { id: 2, name: 'b', upper: 'B', size: sizes[0], folderId: null },
        { id: 3, name: 'c', upper: 'C', size: sizes[1], folderId: 1 },
        { id: 4, name: 'a', upper: 'A', size: sizes[2], folderId: null },
      ],
    });
    expect(await database.query(`select f.size from folder f where f.name <> 'above' order by f.id`)).toEqual(
      sizes.map((size) => ({ size })),
    );
  });
});

test('a row that is also one of its own related rows is shown with the changes of both', async () => {
  const database = await createDatabase(script);
  const execution = await startExecution(database);
  const query = `mutation { it: insertIntoFolderCollection(objects: [{name: "a", size: 1, folderCollection: {
    insert: [{name: "a", size: 5}], onConflict: {constraint: folder_name_key, updateColumns: [size, folderId]}}}]) { records { id size folderId } } }`;
  expect((await execution.data('anon', query)).it).toEqual({ records: [{ id: 1, size: 5, folderId: 1 }] });
});
