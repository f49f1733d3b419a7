/** Rows that are there already, named by a unique key (extension `writes`, docs/nested-writes.md). */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Given, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create type grade as enum ('high', 'low');
  create table author (
    id int generated always as identity primary key, name text not null, email varchar(20) unique, grade grade,
    tenant int not null default 1, number int not null, unique (tenant, number), unique (grade, number)
  );
  create unique index on author (name) where number > 100;
  create table book (
    id bigserial primary key, author_id int references author, editor_id int default 1 constraint book_editor references author, title text,
    isbn text unique
  );
  comment on constraint book_editor on book is '@graphql({"local_name": "editedCollection"})';
  create table license (id int primary key, book_id bigint unique references book);
  create table fine (id int primary key, tenant int, number int, foreign key (tenant, number) references author (tenant, number));
  grant select, insert, update, delete on all tables in schema public to anon;
  grant usage on all sequences in schema public to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });

beforeEach(async () => {
  await database.query('truncate author, book, license, fine restart identity');
  await database.query(`insert into author (name, email, number, grade)
    values ('Ana', 'ana@x', 7, 'high'), ('Ben', 'ben@x', 8, 'low'), ('Cid', null, 9, null)`);
  await database.query(`insert into book (title, isbn) values ('A', 'a'), ('B', 'b')`);
  await database.query('insert into license values (1, null), (2, null)');
});

const books = () =>
  database.query(
    'select b.title, a.name as author, e.name as editor from book b left join author a on a.id = author_id left join author e on e.id = editor_id order by b.id',
  );
const texts = async (query: string, given: Given) =>
  (await execution.statements('anon', query, given)).map(({ text }) => text);
const insert = `mutation ($objects: [BookInsertInput!]!) { insertIntoBookCollection(objects: $objects) {
  affectedCount records { title author { name } editor { name } } } }`;

describe('the row that an inserted one refers to', () => {
  test('the row is found by any of its unique keys, in the document', async () => {
    const query = `mutation { insertIntoBookCollection(objects: [
      {title: "C", author: {connect: {email: "ben@x"}}}
      {title: "D", author: {connect: {tenantAndNumber: {tenant: 1, number: 7}}}, editor: {connect: {id: 3}}}
      {title: "E", authorId: 3}
      {title: "F", author: {insert: {name: "Dan", number: 10}}}
      {title: "G", author: {connect: {gradeAndNumber: {grade: low, number: 8}}}}
      {title: "H"}
    ]) { affectedCount records { title author { name } editor { name } } } }`;
    const { insertIntoBookCollection: answer } = await execution.data('anon', query);
    const record = (title: string, author: string | null, editor: string) => ({
      title,
      author: author && { name: author },
      editor: { name: editor },
    });
    expect(answer).toEqual({
      affectedCount: 6,
      records: [
        record('C', 'Ben', 'Ana'),
        record('D', 'Ana', 'Cid'),
        record('E', 'Cid', 'Ana'),
        record('F', 'Dan', 'Ana'),
        record('G', 'Ben', 'Ana'),
        record('H', null, 'Ana'),
      ],
    });
  });

  test('objects of variables name rows by different keys, and any number of them has one text', async () => {
    const objects = [
      { title: 'C', author: { connect: { email: 'ben@x' } } },
      {
        title: 'D',
        author: { connect: { tenantAndNumber: { tenant: 1, number: 7 } } },
        editor: { connect: { id: 3 } },
      },
      { title: 'E', author: { insert: { name: 'Dan', number: 10 } }, editor: null },
      { title: 'F', author: { connect: { id: null, email: 'ana@x' } } },
    ];
    await execution.data('anon', insert, { variables: { objects } });
    expect((await books()).slice(2, 6)).toEqual([
      { title: 'C', author: 'Ben', editor: 'Ana' },
      { title: 'D', author: 'Ana', editor: 'Cid' },
      { title: 'E', author: 'Dan', editor: 'Ana' },
      { title: 'F', author: 'Ana', editor: 'Ana' },
    ]);
    const one = (count: number) => ({
      variables: { objects: Array.from({ length: count }, () => ({ title: 'x', author: { connect: { id: 1 } } })) },
    });
    expect(await texts(insert, one(2))).toEqual(await texts(insert, one(40)));
  });

  test('a row that is named stands beside others that are inserted with onConflict', async () => {
    const onConflict = { constraint: 'author_email_key', updateColumns: ['name'] };
    const objects = [
      { title: 'C', author: { connect: { id: 1 } } },
      { title: 'D', author: { insert: { name: 'Benno', email: 'ben@x', number: 20 }, onConflict } },
    ];
    const expected = { C: 'Ana', D: 'Benno' };
    const authors = ({ records }: { records: { title: string; author: { name: string } }[] }) =>
      Object.fromEntries(records.map(({ title, author }) => [title, author.name]));
    const ofVariable = await execution.data('anon', insert, { variables: { objects } });
    expect(authors(ofVariable.insertIntoBookCollection)).toEqual(expected);
    const query = `mutation { insertIntoBookCollection(objects: [
      {title: "C", author: {connect: {id: 1}}}
      {title: "D", author: {insert: {name: "Benno", email: "ben@x", number: 20}, onConflict: {constraint: author_email_key, updateColumns: [name]}}}
    ]) { records { title author { name } } } }`;
    expect(authors((await execution.data('anon', query)).insertIntoBookCollection)).toEqual(expected);
    const nested = `mutation { insertIntoAuthorCollection(objects: [
      {name: "Eva", number: 30, bookCollection: {connect: [{isbn: "a"}]}}
      {name: "Fay", number: 31, bookCollection: {insert: [{title: "BB", isbn: "b"}], onConflict: {constraint: book_isbn_key, updateColumns: [title, authorId]}}}
    ]) { affectedCount } }`;
    await execution.data('anon', nested);
    expect((await books()).slice(0, 2)).toMatchObject([
      { title: 'A', author: 'Eva' },
      { title: 'BB', author: 'Fay' },
    ]);
  });

  test('a whole entry or key may be a variable', async () => {
    const query = `mutation ($key: AuthorKey!, $entry: AuthorNestedInsert, $id: Int) { insertIntoBookCollection(objects: [
      {title: "C", author: {connect: $key}, editor: $entry}, {title: "D", author: {connect: {id: $id}}}
    ]) { affectedCount } }`;
    const variables = {
      key: { email: 'ben@x' },
      entry: { connect: { tenantAndNumber: { tenant: 1, number: 9 } } },
      id: 1,
    };
    await execution.data('anon', query, { variables });
    expect((await books()).slice(2)).toEqual([
      { title: 'C', author: 'Ben', editor: 'Cid' },
      { title: 'D', author: 'Ana', editor: 'Ana' },
    ]);
  });

  test('a key of several columns sets a foreign key of several columns', async () => {
    const query =
      'mutation { insertIntoFineCollection(objects: [{id: 1, author: {connect: {email: "ben@x"}}}]) { affectedCount } }';
    await execution.data('anon', query);
    expect(await database.query('select tenant, number from fine')).toEqual([{ tenant: 1, number: 8 }]);
  });
});

describe('rows that refer to the inserted one', () => {
  test('connected rows are changed to refer to the inserted one, whatever they referred to before', async () => {
    const query = `mutation { insertIntoAuthorCollection(objects: [
      {name: "Dan", number: 20, bookCollection: {connect: [{isbn: "b"}, {id: "1"}], insert: [{title: "C"}]}}
      {name: "Eve", number: 21}
    ]) { affectedCount records { name } } }`;
    await database.query('update book set author_id = 1');
    await execution.data('anon', query);
    expect((await books()).map(({ title, author }) => [title, author])).toEqual([
      ['A', 'Dan'],
      ['B', 'Dan'],
      ['C', 'Dan'],
    ]);
  });

  test('connected rows come from variables, any number of them with one text', async () => {
    const query = `mutation ($objects: [AuthorInsertInput!]!) { insertIntoAuthorCollection(objects: $objects) { affectedCount } }`;
    const objects = [
      { name: 'Dan', number: 20 },
      { name: 'Eve', number: 21, bookCollection: { connect: [{ isbn: 'b' }] } },
      { name: 'Fay', number: 22, bookCollection: { connect: [{ id: '1' }] } },
    ];
    await execution.data('anon', query, { variables: { objects } });
    expect((await books()).map(({ title, author }) => [title, author])).toEqual([
      ['A', 'Fay'],
      ['B', 'Eve'],
    ]);
    const list = `mutation ($books: [BookKey!]) { insertIntoAuthorCollection(objects: [
      {name: "Gil", number: 30}, {name: "Hal", number: 31, bookCollection: {connect: $books}}]) { affectedCount } }`;
    const keys = [{ id: '1' }, { id: '2' }];
    const given = { variables: { books: keys } };
    expect(await texts(list, { variables: { books: [{ id: '2' }] } })).toEqual(await texts(list, given));
    await execution.data('anon', list, given);
    expect((await books()).map(({ author }) => author)).toEqual(['Hal', 'Hal']);
  });

  test('the only row that refers to it is changed as well', async () => {
    const query =
      'mutation { insertIntoBookCollection(objects: [{title: "C", license: {connect: {id: 2}}}]) { records { license { id } } } }';
    expect(await execution.data('anon', query)).toEqual({
      insertIntoBookCollection: { records: [{ license: { id: 2 } }] },
    });
  });
});

describe('refusals', () => {
  const state = async () => [await books(), await database.query('select * from author order by id')];
  const refused = async (objects: string, type = 'Book') => {
    const before = await state();
    const body = await execution.run(
      'anon',
      `mutation { insertInto${type}Collection(objects: ${objects}) { affectedCount } }`,
    );
    expect(await state()).toEqual(before);
    const [error] = body.errors ?? [];
    return [error?.message, error?.extensions.code, error?.extensions.input];
  };
  const notThere =
    'A row to connect is not there, the role may not see or change it, or it is named twice. Nothing was written.';

  test('a row that is not there is refused with its place, and nothing is written', async () => {
    expect(await refused('[{title: "C"}, {title: "D", author: {connect: {id: 99}}}]')).toEqual([
      notThere,
      'BAD_USER_INPUT',
      'objects[1].author.connect',
    ]);
    const several = '[{title: "C", author: {connect: {id: 1}}}, {title: "D", author: {connect: {id: 99}}}]';
    expect((await refused(several))[2]).toBe('objects[*].author.connect');
    const variables = { objects: [{ title: 'C', author: { connect: { email: 'nobody' } } }] };
    const body = await execution.run('anon', insert, { variables });
    expect(body.errors?.[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT', input: '$objects[0].author.connect' });
  });

  test('a row is named by one key with a value, and an entry takes one way', async () => {
    const oneKey = 'A row is named by exactly one of its keys, with a value.';
    expect((await refused('[{author: {connect: {}}}]'))[0]).toBe(oneKey);
    expect((await refused('[{author: {connect: {id: 1, email: "ana@x"}}}]'))[0]).toBe(oneKey);
    expect((await refused('[{author: {connect: {id: null}}}]'))[0]).toBe(oneKey);
    const oneWay = '"author" takes either "insert" or "connect".';
    expect((await refused('[{author: {}}]'))[0]).toBe(oneWay);
    expect((await refused('[{author: {connect: {id: 1}, insert: {name: "x", number: 1}}}]'))[0]).toBe(oneWay);
    for (const author of [{}, { connect: { id: 1 }, insert: { name: 'x', number: 1 } }, { connect: {} }]) {
      const body = await execution.run('anon', insert, { variables: { objects: [{ author }] } });
      expect(body.errors?.[0]?.message).toBe('connect' in author && !('insert' in author) ? oneKey : oneWay);
    }
  });

  test('the columns that a link sets are left out', async () => {
    expect(await refused('[{authorId: 1, author: {connect: {id: 1}}}]')).toEqual([
      '"authorId" is set by "author". Leave it out.',
      'BAD_USER_INPUT',
      'objects[0].authorId',
    ]);
  });

  test('a row is connected once', async () => {
    const twice = '[{name: "Dan", number: 20, bookCollection: {connect: [{id: "1"}, {id: "1"}]}}]';
    expect((await refused(twice, 'Author'))[0]).toBe(notThere);
  });

  test('a row is connected once under any of its keys, by one object and by two', async () => {
    const author = (number: number, connect: string) =>
      `{name: "Dan", number: ${number}, bookCollection: {connect: [${connect}]}}`;
    for (const objects of [
      author(20, '{id: "1"}, {isbn: "a"}'),
      `${author(20, '{id: "1"}')}, ${author(21, '{isbn: "b"}, {isbn: "a"}')}`,
    ]) {
      expect((await refused(`[${objects}]`, 'Author'))[0]).toBe(notThere);
    }
    const set = 'bookCollection: {connect: [{isbn: "a"}, {id: "2"}, {id: "1"}]}';
    const update = `mutation { updateAuthorCollection(set: {${set}}, filter: {id: {eq: 1}}) { affectedCount } }`;
    expect((await execution.run('anon', update)).errors?.[0]?.message).toBe(notThere);
    expect((await books()).map(({ author: of }) => of)).toEqual([null, null]);
    const each = `[${author(20, '{id: "1"}')}, ${author(21, '{isbn: "b"}')}]`;
    await execution.data('anon', `mutation { insertIntoAuthorCollection(objects: ${each}) { affectedCount } }`);
    expect((await database.query('select count(distinct author_id) as n from book'))[0]).toEqual({ n: '2' });
  });

  test('keys of partial indexes, of expressions and of hidden columns name no rows', async () => {
    const { __type } = await execution.data('anon', '{ __type(name: "AuthorKey") { inputFields { name } } }');
    const { inputFields } = __type as { inputFields: { name: string }[] };
    expect(inputFields.map(({ name }) => name)).toEqual(['id', 'email', 'tenantAndNumber', 'gradeAndNumber']);
  });
});

describe('equal rows that inserted ones refer to', () => {
  const isbns = (objects: readonly object[]) => ({ variables: { objects } });
  const author = (name: string, number: number, more: object = {}) => ({
    author: { insert: { name, number, ...more } },
  });

  test('equal objects are one row, in variables and in the document', async () => {
    const objects = [
      { title: 'C', ...author('Dan', 50) },
      { title: 'D' },
      { title: 'E', ...author('Eve', 51) },
      { title: 'F', author: { insert: { number: 50, name: 'Dan' } } },
      { title: 'G', author: { connect: { id: 1 } } },
      { title: 'H', ...author('Eve', 51) },
    ];
    await execution.data('anon', insert, isbns(objects));
    const found = ['C Dan', 'D null', 'E Eve', 'F Dan', 'G Ana', 'H Eve'];
    const shown = async (from: number) => (await books()).slice(from).map(({ title, author: by }) => `${title} ${by}`);
    expect(await shown(2)).toEqual(found);
    expect(await database.query('select name from author where id > 3 order by id')).toEqual([
      { name: 'Dan' },
      { name: 'Eve' },
    ]);
    await database.query('delete from book where id > 2; delete from author where id > 3');
    const query = `mutation ($dan: AuthorInsertInput!) { insertIntoBookCollection(objects: [
      {title: "C", author: {insert: $dan}}, {title: "D"}, {title: "E", author: {insert: {name: "Eve", number: 51}}}
      {title: "F", author: {insert: $dan}}, {title: "G", author: {connect: {id: 1}}}
      {title: "H", author: {insert: {name: "Eve", number: 51}}}
    ]) { affectedCount } }`;
    await execution.data('anon', query, { variables: { dan: { name: 'Dan', number: 50 } } });
    expect(await shown(2)).toEqual(found);
  });

  test('equal objects have one text with others, and what is nested in them is inserted once', async () => {
    const nested = { bookCollection: { insert: [{ title: 'below' }] } };
    const objects = [
      { title: 'C', ...author('Dan', 50, nested) },
      { title: 'D', ...author('Dan', 50, nested) },
      { title: 'E', ...author('Eve', 51, nested) },
    ];
    const others = objects.map((object, index) => ({ ...object, ...author('X', 60 + index, nested) }));
    expect(await texts(insert, isbns(objects))).toEqual(await texts(insert, isbns(others)));
    await execution.data('anon', insert, isbns(objects));
    const found = (await books()).slice(2).map(({ title, author: by }) => `${title} ${by}`);
    expect(found.sort()).toEqual(['C Dan', 'D Dan', 'E Eve', 'below Dan', 'below Eve']);
  });

  test('equal objects are one row wherever a root field inserts them, with what is nested in them', async () => {
    const nested = { bookCollection: { insert: [{ title: 'below' }] } };
    const both = (title: string, by: object, editor: object) => ({
      title,
      author: { insert: by },
      editor: { insert: editor },
    });
    const [dan, eve, fay] = [50, 51, 52].map((number) => ({ name: `N${number}`, number, ...nested }));
    const lists = [
      [both('C', dan!, dan!)],
      [both('C', dan!, eve!), both('D', eve!, dan!), both('E', fay!, fay!), { title: 'F' }],
    ];
    for (const objects of lists) {
      const literal = JSON.stringify(objects).replaceAll(/"(\w+)":/g, '$1:');
      for (const given of [
        { query: insert, variables: { objects } },
        { query: insert.replace(/\(.*?\) /, '').replace('$objects', literal), variables: {} },
      ]) {
        await execution.data('anon', given.query, { variables: given.variables });
        const found = (await books()).slice(2).map(({ title, author: by, editor }) => `${title} ${by} ${editor}`);
        const isOne = objects.length === 1;
        expect(found.filter((each) => !each.startsWith('below')).sort()).toEqual(
          isOne ? ['C N50 N50'] : ['C N50 N51', 'D N51 N50', 'E N52 N52', 'F null Ana'],
        );
        expect(found.filter((each) => each.startsWith('below')).sort()).toEqual(
          (isOne ? [50] : [50, 51, 52]).map((number) => `below N${number} Ana`),
        );
        await database.query('delete from book where id > 2; delete from author where id > 3');
      }
    }
    const deep = `mutation { insertIntoLicenseCollection(objects: [{id: 9, book: {insert: {title: "C", author: {insert: {name: "Dan", number: 50}}, editor: {insert: {name: "Dan", number: 50}}}}}]) { affectedCount } }`;
    await execution.data('anon', deep);
    expect((await books()).at(-1)).toEqual({ title: 'C', author: 'Dan', editor: 'Dan' });
  });

  test('equal objects with another onConflict, or in another root field, are rows of their own', async () => {
    const by = '{insert: {name: "Dan", number: 50}}';
    const conflict = by.replace('}}', '}, onConflict: {constraint: author_tenant_number_key, updateColumns: [name]}}');
    const field = (author: string, editor: string) =>
      `insertIntoBookCollection(objects: [{title: "C", author: ${author}, editor: ${editor}}]) { affectedCount }`;
    expect((await execution.errors('anon', `mutation { ${field(conflict, by)} }`))[0]).toMatch(/duplicate key/);
    await execution.data('anon', `mutation { ${field(by, conflict)} }`);
    await database.query('delete from book where id > 2; delete from author where id > 3');
    await execution.data('anon', `mutation { ${field(conflict, conflict)} }`);
    expect((await books()).slice(2)).toEqual([{ title: 'C', author: 'Dan', editor: 'Dan' }]);
    await database.query('delete from book where id > 2; delete from author where id > 3');
    const alone = (alias: string) =>
      `${alias}: insertIntoBookCollection(objects: [{title: "C", author: ${by}}]) { affectedCount }`;
    expect((await execution.errors('anon', `mutation { ${alone('one')} ${alone('two')} }`))[0]).toMatch(
      /duplicate key/,
    );
  });

  test('different objects for one row stay an error, and name their place', async () => {
    const conflict = { onConflict: { constraint: 'author_tenant_number_key', updateColumns: ['name'] } };
    const object = (name: string) => ({ author: { ...author(name, 50).author, ...conflict } });
    await execution.data('anon', insert, isbns([object('Dan'), object('Dan')]));
    expect(await database.query('select name from author where number = 50')).toEqual([{ name: 'Dan' }]);
    const body = await execution.run('anon', insert, isbns([object('Dan'), object('Eve')]));
    expect(body.errors?.[0].message).toBe('Two objects are for the same row. Send only one of them.');
    const long = [{ author: { insert: { name: 'x', number: 50 } } }, { author: { insert: { name: 'x', number: 50 } } }];
    const taken = await execution.run('anon', insert, isbns(long));
    expect(taken.errors?.[0].extensions.input).toBe('$objects[0].author.insert');
  });

  test('a row that only one may refer to is not shared', async () => {
    const query = `mutation { insertIntoLicenseCollection(objects: [
      {id: 10, book: {insert: {title: "same"}}}, {id: 11, book: {insert: {title: "same"}}}]) { affectedCount } }`;
    await execution.data('anon', query);
    expect(await database.query("select count(*)::int as n from book where title = 'same'")).toEqual([{ n: 2 }]);
  });
});
