/** Updates that write related rows (extension `nested_writes`, docs/nested-writes.md). */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { startRecordingProxy, through } from '../support/recording-proxy.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table author (id int primary key, name text not null);
  create table book (id int generated always as identity primary key, author_id int not null references author on update cascade, title text, pages int check (pages > 0));
  create table chapter (id int generated always as identity primary key, book_id int not null references book on delete cascade, title text);
  create table log (id int generated always as identity primary key, author_id int not null references author on update cascade, note text);
  alter table book enable row level security;
  create policy visible on book to anon using (title <> 'hidden');
  grant select, insert, update, delete on author, book, chapter to anon;
  grant select, delete on log to anon;
  grant select on author to service_role;
`);
const proxy = await startRecordingProxy(database.url);
const execution = await startExecution(through(proxy, database), { introspection: 'always' });

beforeEach(async () => {
  await database.query('truncate author, book, chapter, log restart identity');
  await database.query(`insert into author values (1, 'Ana'), (2, 'Ben')`);
  await database.query(`insert into book (author_id, title) values (1, 'a'), (1, 'b'), (1, 'hidden'), (2, 'c')`);
  await database.query(`insert into chapter (book_id, title) values (1, 'a1'), (2, 'b1'), (4, 'c1')`);
  await database.query(`insert into log (author_id, note) values (1, 'x'), (2, 'y')`);
});

const state = async () =>
  (
    await database.query(`select a.name, b.title, c.title as chapter from author a left join book b on b.author_id = a.id
      left join chapter c on c.book_id = b.id order by a.id, b.id, c.id`)
  ).map(({ name, title, chapter }) => [name, title, chapter].join(' '));

const before = ['Ana a a1', 'Ana b b1', 'Ana hidden ', 'Ben c c1'];

const update = (set: string, filter = '{id: {eq: 1}}', atMost = 1) =>
  `mutation { it: updateAuthorCollection(set: ${set}, filter: ${filter}, atMost: ${atMost}) { affectedCount records { name bookCollection { edges { node { title chapterCollection { edges { node { title } } } } } } } } }`;

async function refusal(query: string) {
  const { data, errors } = await execution.run('anon', query);
  expect(data ?? null).toBeNull();
  expect(await state()).toEqual(before);
  expect(errors).toHaveLength(1);
  return { message: errors[0].message, path: errors[0].path, input: errors[0].extensions.input };
}

test('related rows are deleted, updated and inserted, in one round trip, and the answer shows them', async () => {
  const query = update(`{name: "Ann", bookCollection: {
    insert: [{title: "d", chapterCollection: {insert: [{title: "d1"}, {title: "d2"}]}}],
    update: [{set: {title: "B", chapterCollection: {update: [{set: {title: "B1"}, filter: {}}], insert: [{title: "B2"}]}}, filter: {title: {eq: "b"}}}],
    delete: [{filter: {title: {eq: "a"}}}]
  }}`);
  await execution.data('anon', '{ authorCollection { edges { node { id } } } }');
  proxy.reset();
  const { it: answer } = await execution.data('anon', query);
  expect(proxy.roundTrips()).toBe(1);
  const chapters = (...titles: string[]) => ({ edges: titles.map((title) => ({ node: { title } })) });
  expect(answer).toEqual({
    affectedCount: 1,
    records: [
      {
        name: 'Ann',
        bookCollection: {
          edges: [
            { node: { title: 'B', chapterCollection: chapters('B1', 'B2') } },
            { node: { title: 'd', chapterCollection: chapters('d1', 'd2') } },
          ],
        },
      },
    ],
  });
  expect(await state()).toEqual(['Ann B B1', 'Ann B B2', 'Ann hidden ', 'Ann d d1', 'Ann d d2', 'Ben c c1']);
});

test('inserts with related rows take one round trip, too', async () => {
  const query = `mutation ($o: [AuthorInsertInput!]!) { insertIntoAuthorCollection(objects: $o) { affectedCount records { name } } }`;
  const book = { title: 'x', chapterCollection: { insert: [{ title: 'x1' }] } };
  const variables = { o: [{ id: 8, name: 'Gil', bookCollection: { insert: [book, book] } }] };
  await execution.data('anon', '{ authorCollection { edges { node { id } } } }');
  proxy.reset();
  await execution.data('anon', query, { variables });
  expect(proxy.roundTrips()).toBe(1);
});

test('a connection that is lost between the statements leaves nothing half-written', async () => {
  const query = update(
    '{name: "Ann", bookCollection: {insert: [{title: "d", chapterCollection: {insert: [{title: "d1"}]}}], delete: [{filter: {title: {eq: "a"}}}]}}',
  );
  const after = ['Ann b b1', 'Ann hidden ', 'Ann d d1', 'Ben c c1'];
  let size = 0;
  for (let part = 1; part <= 9; part += 1) {
    proxy.inspect((from, packet) => {
      if (from !== 'client' || !packet.includes('pgreflect_')) return 'pass';
      size = packet.length;
      return Math.floor((packet.length * part) / 10);
    });
    const { errors } = await execution.run('anon', query);
    proxy.inspect(null);
    expect(errors[0].extensions).toMatchObject({ code: 'UNAVAILABLE', outcome: 'unknown' });
    expect(await state()).toEqual(before);
  }
  expect(size).toBeGreaterThan(1000);
  proxy.inspect((from, packet) => (from === 'server' && packet.includes('Ann') ? 'cut' : 'pass'));
  const { errors } = await execution.run('anon', query);
  proxy.inspect(null);
  expect(errors[0].extensions).toMatchObject({ code: 'UNAVAILABLE', outcome: 'unknown' });
  expect([before, after]).toContainEqual(await state());
});

test('only rows that belong to the updated ones, and that the role sees, are changed', async () => {
  const all = update('{name: "X", bookCollection: {update: [{set: {pages: 7}, filter: {}, atMost: 9}]}}');
  await execution.data('anon', all);
  expect(await database.query('select title, pages from book order by id')).toEqual([
    { title: 'a', pages: 7 },
    { title: 'b', pages: 7 },
    { title: 'hidden', pages: null },
    { title: 'c', pages: null },
  ]);
});

test('related rows are changed by their values, too', async () => {
  const query = `mutation ($u: AuthorUpdateInput!) { it: updateAuthorCollection(set: $u, filter: {id: {eq: 1}}) { affectedCount } }`;
  const entry = { increment: { pages: 2 }, append: { title: '!' }, filter: { title: { eq: 'a' } } };
  await database.query('update book set pages = 5');
  await execution.data('anon', query, { variables: { u: { bookCollection: { update: [entry] } } } });
  await execution.data(
    'anon',
    update('{bookCollection: {update: [{increment: {pages: -3}, filter: {title: {eq: "b"}}}]}}'),
  );
  expect(await database.query('select title, pages from book order by id')).toEqual([
    { title: 'a!', pages: 7 },
    { title: 'b', pages: 2 },
    { title: 'hidden', pages: 5 },
    { title: 'c', pages: 5 },
  ]);
});

test('several updated rows may be related to the changed ones; none changes nothing', async () => {
  const both = update(
    '{name: "X", bookCollection: {delete: [{filter: {title: {in: ["b", "c"]}}, atMost: 2}]}}',
    '{}',
    2,
  );
  await execution.data('anon', both);
  expect(await state()).toEqual(['X a a1', 'X hidden ', 'X  ']);
  const none = update('{name: "Y", bookCollection: {delete: [{}]}}', '{id: {eq: 9}}');
  expect((await execution.data('anon', none)).it).toEqual({ affectedCount: 0, records: [] });
});

test('a key that changes is followed', async () => {
  await execution.data(
    'anon',
    update(
      '{id: 11, bookCollection: {insert: [{title: "new"}], update: [{set: {title: "A"}, filter: {title: {eq: "a"}}}]}}',
    ),
  );
  expect(await database.query('select author_id, title from book order by id')).toEqual([
    { author_id: 11, title: 'A' },
    { author_id: 11, title: 'b' },
    { author_id: 11, title: 'hidden' },
    { author_id: 2, title: 'c' },
    { author_id: 11, title: 'new' },
  ]);
});

test('variables may hold all of it', async () => {
  const query =
    'mutation ($set: AuthorUpdateInput!) { updateAuthorCollection(set: $set, filter: {id: {eq: 1}}) { affectedCount } }';
  const set = {
    name: 'V',
    bookCollection: {
      insert: [{ title: 'v' }, { title: 'w' }],
      update: [{ set: { title: 'B' }, filter: { title: { eq: 'b' } } }],
      delete: [{ filter: { title: { eq: 'a' } } }],
    },
  };
  await execution.data('anon', query, { variables: { set } });
  expect(await state()).toEqual(['V B b1', 'V hidden ', 'V v ', 'V w ', 'Ben c c1']);
});

describe('refused, with nothing written', () => {
  test.each([
    ['an insert for several rows', update('{name: "X", bookCollection: {insert: [{title: "x"}]}}', '{}', 2), 'exactly one updated row', 'set'],
    ['an insert for no row', update('{name: "X", bookCollection: {insert: [{title: "x"}]}}', '{id: {eq: 9}}'), 'exactly one updated row', 'set'],
    ['more rows than allowed to update', update('{name: "X", bookCollection: {update: [{set: {pages: 1}, filter: {}}]}}'), 'update impacts too many records', 'set.bookCollection.update[0].set'],
    ['more rows than allowed to delete', update('{name: "X", bookCollection: {delete: [{}]}}'), 'delete impacts too many records', 'set.bookCollection.delete[0]'],
    ['more rows than allowed at the top', update('{name: "X", bookCollection: {delete: [{filter: {title: {eq: "a"}}}]}}', '{}'), 'update impacts too many records', 'set'],
    ['the foreign key in an update', update('{name: "X", bookCollection: {update: [{set: {authorId: 2}, filter: {}}]}}'), '"authorId" is set by "bookCollection"', 'set.bookCollection.update[0].set.authorId'],
    ['the foreign key in an insert', update('{name: "X", bookCollection: {insert: [{authorId: 2}]}}'), '"authorId" is set by "bookCollection"', 'set.bookCollection.insert[0].authorId'],
    ['a constraint below', update('{name: "X", bookCollection: {delete: [{filter: {title: {eq: "a"}}}], insert: [{title: "x", pages: 0}]}}'), 'violates check constraint', 'set.bookCollection.insert[0]'],
    ['a row that policies would hide', update('{name: "X", bookCollection: {update: [{set: {title: "hidden"}, filter: {title: {eq: "a"}}}]}}'), 'row-level security', 'set.bookCollection.update[0].set'],
    ['in a list of updates', `mutation { it: updateManyAuthorCollection(updates: [{set: {name: "X", bookCollection: {delete: [{}]}}, filter: {id: {eq: 1}}}]) { affectedCount } }`, 'A list of updates writes no related rows', 'updates[0].set.bookCollection'],
    ['an update of no column', update('{name: "X", bookCollection: {update: [{set: {}}]}}'), 'At least one mapping', 'set.bookCollection.update[0]'],
    ['the foreign key by an operator', update('{name: "X", bookCollection: {update: [{increment: {authorId: 1}, filter: {}}]}}'), '"authorId" is set by "bookCollection"', 'set.bookCollection.update[0].increment.authorId'],
    ['a change of deleted rows', update('{name: "X", bookCollection: {delete: [{set: {title: "A"}, filter: {}}]}}'), '"delete" takes "filter" and "atMost", and no "set"', 'set.bookCollection.delete[0].set'],
    ['a change of disconnected rows', update('{name: "X", bookCollection: {disconnect: [{increment: {pages: 1}}]}}'), '"disconnect" takes "filter" and "atMost", and no "increment"', 'set.bookCollection.disconnect[0].increment'],
  ])('%s', async (_, query, message, input) => {
    const found = await refusal(query);
    expect(found).toEqual({ message: expect.stringContaining(message), path: ['it'], input });
  }); // biome-ignore format: a case a line
});

test('equal shapes are one text for each statement, with any values and any number of inserted rows', async () => {
  const query =
    'mutation ($set: AuthorUpdateInput!, $id: Int!) { updateAuthorCollection(set: $set, filter: {id: {eq: $id}}) { affectedCount } }';
  const textsOf = async (name: string, titles: readonly string[], id: number) => {
    const chapters = { insert: titles.map((title) => ({ title })) };
    const set = {
      name,
      bookCollection: {
        insert: titles.map((title) => ({ title, chapterCollection: chapters })),
        update: [{ set: { title: name }, filter: { title: { eq: titles[0] } }, atMost: id }],
        delete: [{ filter: { id: { in: titles.map((_, index) => index) } } }],
      },
    };
    return (await execution.statements('anon', query, { variables: { set, id } })).map(({ text }) => text);
  };
  const texts = await textsOf('X', ['x'], 1);
  // The rows, three changes of related rows, the rows below the inserted ones, and the answer.
  expect(new Set(texts).size).toBe(6);
  expect(await textsOf('Y', ['y', 'z', "it's"], 2)).toEqual(texts);
});

test('a nested update is offered as far as the rights of the role go', async () => {
  const fields = async (type: string) => {
    const { __type } = await execution.data(
      'anon',
      `{ __type(name: "${type}") { inputFields { name type { name kind } } } }`,
    );
    return __type?.inputFields.map(({ name }: { name: string }) => name);
  };
  expect(await fields('AuthorUpdateInput')).toEqual(['id', 'name', 'bookCollection', 'logCollection']);
  expect(await fields('BookNestedUpdate')).toEqual([
    ...['insert', 'update', 'delete'],
    ...['connect', 'disconnect', 'replace', 'replaceAtMost'],
  ]);
  expect(await fields('LogNestedUpdate')).toEqual(['delete', 'replace', 'replaceAtMost']);
  expect(await fields('BookUpdateEntry')).toEqual(['set', 'increment', 'append', 'filter', 'atMost']);
  await execution.data('anon', update('{name: "X", logCollection: {delete: [{}]}}'));
  expect(await database.query('select author_id from log')).toEqual([{ author_id: 2 }]);
});
