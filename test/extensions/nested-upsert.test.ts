/** Related rows that are there already: `onConflict` beside `insert` (extensions `nested_writes` and `upsert`, docs/nested-writes.md). */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { startRecordingProxy, through } from '../support/recording-proxy.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table author (id int generated always as identity primary key, email text not null unique, name text);
  create table book (id int generated always as identity primary key, isbn text not null unique, author_id int not null references author, title text, pages int default 1, price int default 2);
  create table chapter (book_id int references book, no int, title text, primary key (book_id, no));
  create table loan (id int primary key, book_id int not null references book, note text);
  grant select, insert, update on author, book, chapter to anon;
  grant select, insert, update (note) on loan to anon;
`);
const proxy = await startRecordingProxy(database.url);
const execution = await startExecution(through(proxy, database), { introspection: 'always' });

beforeEach(() =>
  database.query(`truncate author, book, chapter, loan restart identity;
    insert into author (email, name) values ('a@x', 'Ana'), ('b@x', 'Ben');
    insert into book (isbn, author_id, title) values ('1', 1, 'One'), ('2', 2, 'Two');
    insert into chapter values (1, 1, 'Start'); insert into loan values (1, 2, 'due')`),
);

const state = async () =>
  (
    await database.query(`select a.email, a.name, b.isbn, b.title, c.no, c.title as chapter from author a
      left join book b on b.author_id = a.id left join chapter c on c.book_id = b.id order by a.email, b.isbn, c.no`)
  ).map((row) => Object.values(row).map(String).join(' '));
const before = ['a@x Ana 1 One 1 Start', 'b@x Ben 2 Two null null'];

const byEmail = 'onConflict: {constraint: author_email_key, updateColumns: [name]}';
const byIsbn = 'onConflict: {constraint: book_isbn_key, updateColumns: [title, authorId]}';
const byNo = 'onConflict: {constraint: chapter_pkey, updateColumns: [title]}';

type Values = Readonly<Record<string, unknown>>;
const insert = (of: string, objects: string, more = '') =>
  `mutation { it: insertInto${of}Collection(objects: ${objects}${more}) { affectedCount } }`;
/** The same request with the objects as a variable. */
const asVariable = (of: string, objects: string, more = '') => {
  const json = objects.replaceAll(/(\w+):/g, '"$1":').replaceAll(/(?<=[[ ])([a-z]\w+)(?=[\],}])/gi, '"$1"');
  const query = `mutation ($o: [${of}InsertInput!]!) { it: insertInto${of}Collection(objects: $o${more}) { affectedCount } }`;
  return [query, { o: JSON.parse(json) as unknown }] as const;
};

async function refusal(query: string, variables: Values = {}) {
  const { data, errors } = await execution.run('anon', query, { variables });
  expect(data ?? null).toBeNull();
  expect(errors).toHaveLength(1);
  expect(await state()).toEqual(before);
  return { message: errors[0].message, input: errors[0].extensions.input };
}

/** Refused as a literal and as a variable. */
async function refusedBoth(of: string, objects: string, more = '') {
  const literal = await refusal(insert(of, objects, more));
  const variable = await refusal(...asVariable(of, objects, more));
  expect(variable.message).toBe(literal.message);
  return literal;
}

const tree = `[
  {email: "a@x", name: "Ann", bookCollection: {insert: [
    {isbn: "1", title: "First", chapterCollection: {insert: [{no: 1, title: "Begin"}, {no: 2, title: "End"}], ${byNo}}},
    {isbn: "3", title: "Third"}], ${byIsbn}}},
  {email: "c@x", name: "Cid", bookCollection: {insert: [{isbn: "2", title: "Second"}], ${byIsbn}}}]`;

test.each([
  ['the document', () => [insert('Author', tree, `, ${byEmail}`), {}] as const],
  ['a variable', () => asVariable('Author', tree, `, ${byEmail}`)],
])('a tree from %s updates the rows that are there, at each level, in one round trip', async (_, request) => {
  const [query, variables] = request();
  await execution.data('anon', '{ authorCollection { edges { node { id } } } }');
  proxy.reset();
  expect(await execution.data('anon', query, { variables })).toEqual({ it: { affectedCount: 2 } });
  expect(proxy.roundTrips()).toBe(1);
  expect(await state()).toEqual([
    'a@x Ann 1 First 1 Begin',
    'a@x Ann 1 First 2 End',
    'a@x Ann 3 Third null null',
    'b@x Ben null null null null',
    'c@x Cid 2 Second null null',
  ]);
});

test('the row that others refer to is found again by its key, or inserted', async () => {
  const objects = `[{isbn: "5", author: {insert: {email: "a@x", name: "Ann"}, ${byEmail}}},
    {isbn: "6", author: {insert: {email: "d@x", name: "Dan"}, ${byEmail}}}, {isbn: "7", authorId: 2}]`;
  const expected = ['a@x Ann 1 One 1 Start', 'a@x Ann 5 null null null', 'b@x Ben 2 Two null null', 'b@x Ben 7 null null null', 'd@x Dan 6 null null null']; // biome-ignore format: a state
  await execution.data('anon', insert('Book', objects));
  expect(await state()).toEqual(expected);
  await database.query(`delete from book where id > 2; delete from author where id > 2`);
  const [query, variables] = asVariable('Book', objects);
  await execution.data('anon', query, { variables });
  expect(await state()).toEqual(expected);
});

test('rows below such a row are found again, too', async () => {
  const book = `{isbn: "1", title: "New", authorId: 1, chapterCollection: {insert: [{no: 1, title: "Begin"}], ${byNo}}}`;
  const objects = `[{no: 5, title: "End", book: {insert: ${book}, ${byIsbn}}}]`;
  const expected = ['a@x Ana 1 New 1 Begin', 'a@x Ana 1 New 5 End', before[1]];
  await execution.data('anon', insert('Chapter', objects));
  expect(await state()).toEqual(expected);
  await database.query(
    'delete from chapter where no = 5; update chapter set title = null; update book set title = null where id = 1',
  );
  const [query, variables] = asVariable('Chapter', objects);
  await execution.data('anon', query, { variables });
  expect(await state()).toEqual(expected);
});

test('rows without rows of their own may stay as they are', async () => {
  const chapters = (onConflict: string) =>
    insert('Book', `[{isbn: "1", title: "One", chapterCollection: {insert: [{no: 1, title: "x"}, {no: 2, title: "y"}], onConflict: {constraint: chapter_pkey${onConflict}}}}]`, `, onConflict: {constraint: book_isbn_key, updateColumns: [title]}`); // biome-ignore format: a query
  const withAuthor = (query: string) => query.replace('{isbn', '{authorId: 1, isbn');
  await execution.data('anon', withAuthor(chapters('')));
  expect(await state()).toEqual(['a@x Ana 1 One 1 Start', 'a@x Ana 1 One 2 y', 'b@x Ben 2 Two null null']);
  await execution.data('anon', withAuthor(chapters(', updateColumns: [title], filter: {title: {eq: "y"}}')));
  expect(await state()).toEqual(['a@x Ana 1 One 1 Start', 'a@x Ana 1 One 2 y', 'b@x Ben 2 Two null null']);
  await execution.data('anon', withAuthor(chapters(', updateColumns: [title], filter: {title: {eq: "Start"}}')));
  expect(await state()).toEqual(['a@x Ana 1 One 1 x', 'a@x Ana 1 One 2 y', 'b@x Ben 2 Two null null']);
});

test('an update may insert or update related rows', async () => {
  const set = `{name: "Ann", bookCollection: {insert: [{isbn: "1", title: "I"}, {isbn: "2", title: "II"}, {isbn: "3"}], ${byIsbn}}}`;
  await execution.data(
    'anon',
    `mutation { updateAuthorCollection(set: ${set}, filter: {id: {eq: 1}}) { affectedCount } }`,
  );
  expect(await state()).toEqual(['a@x Ann 1 I 1 Start', 'a@x Ann 2 II null null', 'a@x Ann 3 null null null', 'b@x Ben null null null null']); // biome-ignore format: a state
});

describe('refused, with nothing written', () => {
  const kept =
    'Rows with related rows, or beside "replace", cannot stay as they are: give "onConflict" updateColumns, and no filter.';

  test('rows that may stay as they are where others need their key', async () => {
    const nothing = 'onConflict: {constraint: author_email_key}';
    expect(await refusedBoth('Book', `[{isbn: "9", author: {insert: {email: "a@x"}, ${nothing}}}]`)).toEqual({
      message: kept,
      input: 'objects[0].author.onConflict',
    });
    const filtered = byIsbn.replace('}', ', filter: {pages: {gt: 0}}}');
    const books = `{insert: [{isbn: "1", chapterCollection: {insert: [{no: 7}]}}], ${filtered}}`;
    expect((await refusedBoth('Author', `[{email: "z@x", bookCollection: ${books}}]`)).message).toBe(kept);
  });

  test('different conflicts in objects that one statement inserts', async () => {
    const message = '"bookCollection" has a different "onConflict" in other objects. Give all of them the same.';
    const other = byIsbn.replace('title, ', '');
    for (const second of [other, '']) {
      const objects = `[{email: "x@x", bookCollection: {insert: [{isbn: "8"}], ${byIsbn}}},
        {email: "y@x", bookCollection: {insert: [{isbn: "9"}]${second && `, ${second}`}}}]`;
      expect((await refusedBoth('Author', objects)).message).toBe(message);
    }
    const same = `[{email: "x@x", bookCollection: {insert: [{isbn: "8"}], onConflict: null}}, {email: "y@x", bookCollection: {insert: [{isbn: "9"}]}}]`;
    expect(await execution.data('anon', insert('Author', same))).toEqual({ it: { affectedCount: 2 } });
  });

  test('unless they are equal values of variables, in each request anew', async () => {
    const entry = (n: number, conflict: string, books: string) =>
      `{email: "${n}@x", bookCollection: {insert: [${books}], onConflict: ${conflict}}}`;
    const objects = [entry(1, '$a', '{isbn: "2", title: "New"}'), entry(2, '$b', '{isbn: "3"}'), entry(3, '$a', '{isbn: "4"}')]; // biome-ignore format: objects
    const query = `mutation ($a: BookOnConflict, $b: BookOnConflict!, $c: BookOnConflict) {
      it: insertIntoAuthorCollection(objects: [${objects.join()}]) { affectedCount }
      other: insertIntoBookCollection(objects: [{isbn: "o", authorId: 1}], onConflict: $c) { affectedCount } }`;
    const conflict = (filter: object, updateColumns: unknown = ['title', 'authorId']) => ({ constraint: 'book_isbn_key', updateColumns, filter }); // biome-ignore format: an object
    const [two, one] = [conflict({ title: { eq: 'Two' } }), conflict({ title: { eq: 'One' } })];
    const message = '"bookCollection" has a different "onConflict" in other objects. Give all of them the same.';
    const different = [
      { a: two, b: one },
      { a: two, b: conflict({}) },
      { a: two, b: conflict({ title: { eq: 'Two' } }, ['authorId']) },
      { a: null, b: two },
      { b: two },
    ];
    for (const variables of different) {
      expect(await refusal(query, variables)).toEqual({ message, input: '$b' });
      // A kept row: nothing is written for it.
      await execution.data('anon', query, { variables: { a: one, b: structuredClone(one), c: two } });
      expect(await state()).toContain('b@x Ben 2 Two null null');
      await database.query(`delete from book where id > 2; delete from author where id > 2`);
      expect((await refusal(query, variables)).message).toBe(message);
    }
    const reordered = { updateColumns: two.updateColumns, filter: two.filter, constraint: two.constraint };
    await execution.data('anon', query, { variables: { a: two, b: reordered } });
    expect(await state()).toContain('1@x null 2 New null null');
  });

  test('an update that would leave a row with other rows', async () => {
    const message =
      'A row that is there may belong to another one. Add "authorId" to updateColumns, or name a constraint with it.';
    const titles = 'onConflict: {constraint: book_isbn_key, updateColumns: [title]}';
    const below = `[{email: "x@x", bookCollection: {insert: [{isbn: "1"}], ${titles}}}]`;
    expect(await refusedBoth('Author', below)).toEqual({ message, input: 'objects[0].bookCollection.onConflict' });
    const beside = '[{isbn: "1", author: {insert: {email: "x@x"}}}]';
    expect(await refusedBoth('Book', beside, `, ${titles}`)).toEqual({ message, input: 'onConflict' });
  });

  test('the same without the right to update the foreign key', async () => {
    const loans = '{insert: [{id: 1, note: "x"}], onConflict: {constraint: loan_pkey, updateColumns: [note]}}';
    expect((await refusedBoth('Book', `[{isbn: "9", authorId: 1, loanCollection: ${loans}}]`)).message).toBe(
      'A row that is there may belong to another one. Name a constraint with the columns of the foreign key.',
    );
  });

  test('two objects for the same row', async () => {
    const objects = `[{isbn: "8", author: {insert: {email: "a@x", name: "A"}, ${byEmail}}}, {isbn: "9", author: {insert: {email: "a@x", name: "B"}, ${byEmail}}}]`;
    expect(await refusedBoth('Book', objects)).toEqual({
      message: 'Two objects are for the same row. Send only one of them.',
      input: 'objects[*].author.insert',
    });
  });
});

test('what a filter asks of other tables counts for each object, as at the root', async () => {
  const limited = await startExecution(database, { limits: { maxCost: 50 } });
  const some = (count: number) => {
    const books = Array.from({ length: count }, (_, n) => ({ isbn: `n${n}` }));
    const onConflict = {
      constraint: 'book_isbn_key',
      updateColumns: ['authorId'],
      filter: { author: { name: { eq: 'x' } } },
    };
    return { o: [{ email: 'x@x', bookCollection: { insert: books, onConflict } }] };
  };
  const [query] = asVariable('Author', '[]');
  await limited.data('anon', query, { variables: some(10) });
  const [message] = await limited.errors('anon', query, { variables: some(60) });
  expect(message).toContain('max-cost');
});

test('onConflict is offered where the related table has conflicts', async () => {
  const fields = async (type: string) =>
    (await execution.data('anon', `{ __type(name: "${type}") { inputFields { name } } }`)).__type.inputFields.map(
      ({ name }: { name: string }) => name,
    );
  expect(await fields('BookNestedInsert')).toEqual(['insert', 'onConflict', 'connect']);
  expect(await fields('AuthorNestedInsert')).toEqual(['insert', 'onConflict', 'connect']);
  expect(await fields('BookNestedUpdate')).toEqual([
    ...['insert', 'update', 'onConflict'],
    ...['connect', 'disconnect', 'replace', 'replaceAtMost'],
  ]);
});
