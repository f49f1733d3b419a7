/** Rows that are inserted together with their related rows (extension `nested_writes`, docs/nested-writes.md). */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table author (id int generated always as identity primary key, name text not null, email text unique);
  create table book (
    id bigserial primary key, author_id int references author, title varchar(20), pages int check (pages > 0)
  );
  create table chapter (id uuid primary key default gen_random_uuid(), book_id bigint not null references book, title text);
  create table person (id int generated always as identity primary key, name text, boss_id int references person);
  create table shelf (id bigserial primary key, author_id int references author, writer_id int references person,
    room int default 7, label text default 'none', height int default 9);
  grant select, insert, update, delete on all tables in schema public to anon;
  grant usage on all sequences in schema public to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });

beforeEach(async () => {
  await database.query('truncate author, book, chapter, person, shelf restart identity');
});

const books = () =>
  database.query('select a.name, b.title, b.pages from book b left join author a on a.id = b.author_id order by b.id');

describe('rows that refer to the inserted one', () => {
  test('rows that refer to the inserted one get its key, and the answer shows them', async () => {
    const query = `mutation { insertIntoAuthorCollection(objects: [
      {name: "Ana", bookCollection: {insert: [{title: "A", pages: 1}, {title: "B"}]}},
      {name: "Ben"},
      {name: "Cid", bookCollection: {insert: {title: "C"}}}
    ]) { affectedCount records { id name bookCollection { edges { node { id title pages author { name } } } } } } }`;
    const { insertIntoAuthorCollection: answer } = await execution.data('anon', query);
    const node = (id: number, title: string, pages: number | null, name: string) => ({
      node: { id: String(id), title, pages, author: { name } },
    });
    expect(answer).toEqual({
      affectedCount: 3,
      records: [
        { id: 1, name: 'Ana', bookCollection: { edges: [node(1, 'A', 1, 'Ana'), node(2, 'B', null, 'Ana')] } },
        { id: 2, name: 'Ben', bookCollection: { edges: [] } },
        { id: 3, name: 'Cid', bookCollection: { edges: [node(3, 'C', null, 'Cid')] } },
      ],
    });
    expect(await books()).toEqual([
      { name: 'Ana', title: 'A', pages: 1 },
      { name: 'Ana', title: 'B', pages: null },
      { name: 'Cid', title: 'C', pages: null },
    ]);
  });

  test('rows that refer to the inserted one come from variables, any number of them with one text', async () => {
    const query = `mutation ($objects: [AuthorInsertInput!]!) { insertIntoAuthorCollection(objects: $objects) {
      records { name bookCollection { edges { node { title chapterCollection { edges { node { title } } } } } } } } }`;
    const tree = (count: number) => ({
      variables: {
        objects: Array.from({ length: count }, (_, a) => ({
          name: `author ${a}`,
          bookCollection: {
            insert: Array.from({ length: (a + 1) % 3 }, (_, b) => ({
              title: `${a}.${b}`,
              chapterCollection: { insert: [{ title: `${a}.${b}.x` }, { title: `${a}.${b}.y` }] },
            })),
          },
        })),
      },
    });
    const texts = async (count: number) =>
      (await execution.statements('anon', query, tree(count))).map(({ text }) => text);
    expect(await texts(7)).toEqual(await texts(2));
    const { insertIntoAuthorCollection: answer } = await execution.data('anon', query, tree(7));
    type Edges = { edges: { node: Record<string, Edges & string> }[] };
    const found = answer.records.map(({ name, bookCollection }: { name: string; bookCollection: Edges }) => [
      name,
      bookCollection.edges.map(({ node }) => [
        node.title,
        node.chapterCollection!.edges.map((edge) => edge.node.title).sort(),
      ]),
    ]);
    const expected = tree(7).variables.objects.map(({ name, bookCollection }) => [
      name,
      bookCollection.insert.map(({ title }) => [title, [`${title}.x`, `${title}.y`]]),
    ]);
    expect(found).toEqual(expected);
  });
});

test('rows that use the defaults of different columns are written in their order, wherever they are nested', async () => {
  const objects = `[{name: "Ana", shelfCollection: {insert: [{label: "A"}, {room: 2}, {}]}}, {name: "Ben"},
    {name: "Cid", shelfCollection: {insert: [{room: 3, label: "C"}, {label: "D", height: 1}]}}]`;
  const onShelves = `[{label: "E", writer: {insert: {name: "P"}}}, {room: 5, author: {insert: {name: "Q"}}}, {label: "F"},
    {writer: {insert: {name: "R"}}, author: {insert: {name: "S"}}}]`;
  const rows = () =>
    database.query(`select s.id::int, a.name, label, room, height, p.name as writer
      from shelf s left join author a on a.id = s.author_id left join person p on p.id = s.writer_id order by s.id`);
  const run = async (asVariable: boolean, of: string, given: string) => {
    const object = JSON.parse(given.replaceAll(/(\w+):/g, '"$1":'));
    const head = asVariable ? `mutation ($o: [${of}InsertInput!]!)` : 'mutation';
    const objects = asVariable ? '$o' : given;
    await execution.data('anon', `${head} { insertInto${of}Collection(objects: ${objects}) { affectedCount } }`, {
      variables: asVariable ? { o: object } : {},
    });
  };
  const row = (id: number, name: string | null, label: string, room: number, height = 9, writer: string | null = null) => ({ id, name, label, room, height, writer }); // biome-ignore format: one line
  for (const asVariable of [false, true]) {
    await database.query('truncate author, book, chapter, person, shelf restart identity');
    await run(asVariable, 'Author', objects);
    expect(await rows()).toEqual([
      row(1, 'Ana', 'A', 7),
      row(2, 'Ana', 'none', 2),
      row(3, 'Ana', 'none', 7),
      row(4, 'Cid', 'C', 3),
      row(5, 'Cid', 'D', 7, 1),
    ]);
    await database.query('truncate author, book, chapter, person, shelf restart identity');
    await run(asVariable, 'Shelf', onShelves);
    expect(await rows()).toEqual([
      row(1, null, 'E', 7, 9, 'P'),
      row(2, 'Q', 'none', 5),
      row(3, null, 'F', 7),
      row(4, 'S', 'none', 7, 9, 'R'),
    ]);
  }
});

describe('the row that the inserted one refers to', () => {
  test('the row that the inserted one refers to is inserted first; others keep their own value, or none', async () => {
    await database.query(`insert into author (name) values ('old')`);
    const query = `mutation { insertIntoBookCollection(objects: [
      {title: "A", author: {insert: {name: "Ana"}}},
      {title: "B", authorId: 1},
      {title: "C"},
      {title: "D", author: {insert: {name: "Dan", email: "d@x"}}},
      {title: "E", author: null}
    ]) { affectedCount records { title author { name email } } } }`;
    const { insertIntoBookCollection: answer } = await execution.data('anon', query);
    expect(answer).toEqual({
      affectedCount: 5,
      records: [
        { title: 'A', author: { name: 'Ana', email: null } },
        { title: 'B', author: { name: 'old', email: null } },
        { title: 'C', author: null },
        { title: 'D', author: { name: 'Dan', email: 'd@x' } },
        { title: 'E', author: null },
      ],
    });
  });

  test('rows are inserted that refer to that one again', async () => {
    const objects = [
      { title: 'A', author: { insert: { name: 'Ana', bookCollection: { insert: [{ title: 'B' }, { title: 'C' }] } } } },
      { title: 'D', chapterCollection: { insert: [{ title: 'd' }] } },
    ];
    const query = `mutation ($objects: [BookInsertInput!]!) { insertIntoBookCollection(objects: $objects) {
      records { title author { bookCollection { edges { node { title } } } } chapterCollection { edges { node { title } } } } } }`;
    const { insertIntoBookCollection: answer } = await execution.data('anon', query, { variables: { objects } });
    expect(answer.records).toEqual([
      {
        title: 'A',
        author: { bookCollection: { edges: ['B', 'C', 'A'].map((title) => ({ node: { title } })) } },
        chapterCollection: { edges: [] },
      },
      { title: 'D', author: null, chapterCollection: { edges: [{ node: { title: 'd' } }] } },
    ]);
  });
});

test('a table may refer to itself, both ways', async () => {
  const query = `mutation { insertIntoPersonCollection(objects: [{
    name: "b", boss: {insert: {name: "a"}}, personCollection: {insert: [{name: "c", personCollection: {insert: [{name: "d"}]}}, {name: "e"}]}
  }]) { records { name boss { name } personCollection { edges { node { name personCollection { edges { node { name } } } } } } } } }`;
  await execution.data('anon', query);
  const found = await database.query(
    'select p.name, b.name as boss from person p left join person b on b.id = p.boss_id order by 1',
  );
  expect(found.map(({ name, boss }) => [name, boss])).toEqual([
    ['a', null],
    ['b', 'a'],
    ['c', 'b'],
    ['d', 'c'],
    ['e', 'b'],
  ]);
});
