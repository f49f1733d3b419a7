/** Root fields that write one row and answer it (extension `writes`). */
import { beforeEach, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader, tableOf } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create type mood as enum ('good', 'bad');
  create table author (id int primary key, name text unique, likes int not null default 0, tags text[] default '{}');
  create table book (id int generated always as identity primary key, author_id int references author, title text default 'untitled');
  create table diary (day date, mood mood, line text, primary key (day, mood));
  create table loose (id int, line text);
  comment on table loose is '@graphql({"primary_key_columns": ["id"]})';
  create table blob (key bytea primary key, line text);
  create table setting ("set" int primary key, line text);
  create table taken (id int primary key, line text);
  create function make_it() returns int volatile language sql as 'select 7';
  comment on function make_it is '@graphql({"name": "insertTaken"})';
  create function loud(b book) returns text stable language sql as 'select upper(b.title)';
  grant all on all tables in schema public to anon;
  grant select, delete on author to authenticated;
`);
const execution = await startExecution(database, { introspection: 'always' });
const run = async (mutation: string, variables = {}, declared = '') =>
  Object.values(await execution.data('anon', `mutation ${declared} { ${mutation} }`, { variables }))[0];
const refused = async (mutation: string) => (await execution.run('anon', `mutation { ${mutation} }`)).errors?.[0];

beforeEach(() =>
  database.query(`truncate author, book, diary, loose restart identity;
    insert into author values (1, 'Ana', 5), (2, 'Ben', 6); insert into book (author_id, title) values (1, 'One');
    insert into diary values ('2024-05-01', 'good', 'sun'); insert into loose values (1, 'a'), (1, 'b'), (2, 'c')`),
);

test('an inserted row is answered as it is', async () => {
  expect(await run('insertBook(object: {authorId: 2}) { id title loud author { name } nodeId __typename }')).toEqual({
    id: 2,
    title: 'untitled',
    loud: 'UNTITLED',
    author: { name: 'Ben' },
    nodeId: 'WyJwdWJsaWMiLCAiYm9vayIsIDJd',
    __typename: 'Book',
  });
  const given = { o: { authorId: 1, title: 'Two' } };
  const mutation = 'insertBook(object: $o) { id title }';
  expect(await run(mutation, given, '($o: BookInsertInput!)')).toEqual({ id: 3, title: 'Two' });
  expect(await run('insertBook(object: {}) { id }')).toEqual({ id: 4 });
  const part = 'insertBook(object: {title: $title, author: {insert: {id: 9, name: "Cid"}}}) { title author { id } }';
  expect(await run(part, { title: 'Three' }, '($title: String)')).toEqual({ title: 'Three', author: { id: 9 } });
});

test('an inserted row has its related rows with it', async () => {
  const object = { id: 3, name: 'Cid', bookCollection: { insert: [{ title: 'x' }, { title: 'y' }] } };
  const select = '{ name bookCollection { nodes { title } } }';
  const answer = { name: 'Cid', bookCollection: { nodes: [{ title: 'x' }, { title: 'y' }] } };
  expect(await run(`insertAuthor(object: $o) ${select}`, { o: object }, '($o: AuthorInsertInput!)')).toEqual(answer);
  const set = 'name: "Cid", bookCollection: {insert: [{title: "z"}], delete: [{filter: {title: {eq: "One"}}}]}';
  expect(await run(`updateAuthorByPk(id: 1, set: {${set.replace('Cid', 'Dan')}}) ${select}`)).toEqual({
    name: 'Dan',
    bookCollection: { nodes: [{ title: 'z' }] },
  });
});

test('a row that is there is updated, or answered as null where it stays as it is', async () => {
  const upsert = (rest: string) =>
    run(`insertAuthor(object: {id: 1, name: "New"}, onConflict: {constraint: author_pkey${rest}}) { id name likes }`);
  expect(await upsert(', updateColumns: [name]')).toEqual({ id: 1, name: 'New', likes: 5 });
  expect(await upsert('')).toBeNull();
  expect(await upsert(', updateColumns: [name], filter: {likes: {gt: 50}}')).toBeNull();
  expect(await refused('insertAuthor(object: {id: 1}) { id }')).toMatchObject({
    path: ['insertAuthor'],
    extensions: { code: 'CONSTRAINT_VIOLATION', constraint: 'author_pkey' },
  });
});

test('an update by key changes that row, by values and by operators', async () => {
  const update =
    'updateAuthorByPk(id: $id, set: {name: "A"}, increment: {likes: 2}, append: {tags: ["x"]}) { id name likes tags }';
  expect(await run(update, { id: 1 }, '($id: Int!)')).toEqual({ id: 1, name: 'A', likes: 7, tags: ['x'] });
  expect(await run(update, { id: 99 }, '($id: Int!)')).toBeNull();
  expect(await run('updateAuthorByPk(id: 2, increment: {likes: 1}) { __typename }')).toEqual({
    __typename: 'Author',
  });
  expect(await database.query('select id, name, likes from author order by id')).toEqual([
    { id: 1, name: 'A', likes: 7 },
    { id: 2, name: 'Ben', likes: 7 },
  ]);
  for (const change of ['', ', set: {}', ', set: null, increment: {}'])
    expect((await refused(`updateAuthorByPk(id: 2${change}) { id }`))?.message).toContain('At least one mapping');
});

test('a deleted row is answered as it was', async () => {
  expect(await run('deleteBookByPk(id: 1) { title author { name } }')).toEqual({
    title: 'One',
    author: { name: 'Ana' },
  });
  expect(await run('deleteBookByPk(id: 1) { title }')).toBeNull();
  expect(await database.query('select * from book')).toEqual([]);
});

test('keys of several columns, of dates and of enums are arguments', async () => {
  const key = 'day: "2024-05-01", mood: good';
  expect(await run(`updateDiaryByPk(${key}, set: {line: "rain"}) { day mood line }`)).toEqual({
    day: '2024-05-01',
    mood: 'good',
    line: 'rain',
  });
  expect(
    await run(
      'deleteDiaryByPk(day: $day, mood: $mood) { line }',
      { day: '2024-05-01', mood: 'bad' },
      '($day: Date!, $mood: Mood!)',
    ),
  ).toBeNull();
  expect(await run(`deleteDiaryByPk(${key}) { line }`)).toEqual({ line: 'rain' });
  const { errors } = await execution.run('anon', 'mutation ($id: Int) { deleteBookByPk(id: $id) { id } }', {
    variables: { id: null },
  });
  expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
  expect(await database.query('select count(*)::int as n from book')).toEqual([{ n: 1 }]);
});

test('a key that is none writes no row where it finds several', async () => {
  const before = await database.query('select id, line from loose order by line');
  for (const mutation of ['updateLooseByPk(id: 1, set: {line: "x"}) { line }', 'deleteLooseByPk(id: 1) { line }'])
    expect((await refused(mutation))?.message).toContain('impacts too many records');
  expect(await database.query('select id, line from loose order by line')).toEqual(before);
  expect(await run('deleteLooseByPk(id: 2) { line }')).toEqual({ line: 'c' });
});

test('equal shapes are one text, whatever the values', async () => {
  const text = async (query: string, variables: object) =>
    (await execution.statements('anon', query, { variables: { ...variables } })).map((statement) => statement.text);
  const update = 'mutation ($id: Int!, $set: AuthorUpdateInput!) { updateAuthorByPk(id: $id, set: $set) { name } }';
  expect(await text(update, { id: 1, set: { name: 'a' } })).toEqual(
    await text(update, { id: 2, set: { name: "'--" } }),
  );
  const insert = 'mutation ($o: BookInsertInput!) { insertBook(object: $o) { id } }';
  expect(await text(insert, { o: { title: 'a' } })).toEqual(await text(insert, { o: { title: null } }));
});

test('fields of one row take no name that is there, and no argument', async () => {
  const reader = modelReader(database);
  const model = await reader.model(['public']);
  expect(tableOf(model, 'Taken').rowWrites).toEqual(['update', 'delete']);
  expect(tableOf(model, 'Setting').rowWrites).toEqual(['insert', 'delete']);
  expect(tableOf(model, 'Blob').rowWrites).toEqual(['insert']);
  expect(await run('insertTaken')).toBe(7);
  const found = (await reader.omissions(['public'])).filter(({ kind }) => kind === 'name');
  expect(found.map(({ reason, fix }) => `${reason} ${fix}`).join('\n')).toMatchInlineSnapshot(`
    "Table public.setting would have "updateSettingByPk", and the argument "set" for its key has that name already. comment on table public.setting is '@graphql({"name":"PublicSetting"})';
    Table public.taken would have "insertTaken", and function public.make_it has that name already. comment on table public.taken is '@graphql({"name":"PublicTaken"})';"
  `);
});

test('fields of one row follow the grants, and the extension', async () => {
  const model = await modelReader(database).model(['public'], 'authenticated');
  expect(tableOf(model, 'Author').rowWrites).toEqual(['delete']);
  const plain = await startExecution(database, { extensions: ['reads'] });
  expect((await plain.errors('anon', 'mutation { deleteBookByPk(id: 1) { id } }'))[0]).toContain('Cannot query field');
});

test('what others call them leads to them', async () => {
  const hint = async (field: string) =>
    (await refused(`${field} { id }`))?.extensions.hint ?? (await refused(`${field} { id }`))?.message;
  expect(await hint('insert_author_one(object: {})')).toContain('Did you mean "insertAuthor"');
  expect(await hint('update_author_by_pk(id: 1)')).toContain('Did you mean "updateAuthorByPk"');
  expect(await hint('deleteAuthorById(id: 1)')).toContain('Did you mean "deleteAuthorByPk"');
  expect(await hint('createAuthor(input: {})')).toContain('Did you mean "insertAuthor"');
  expect(await hint('insert_author(objects: [])')).toContain('Did you mean "insertIntoAuthorCollection"');
});
