/** Links that an update sets, removes and replaces (extension `writes`, docs/nested-writes.md). */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table author (id int generated always as identity primary key, name text not null, email text unique);
  create table book (id int generated always as identity primary key, author_id int references author, title text, isbn text unique, pages int default 0);
  create table tag (id int primary key, label text unique);
  create table book_tag (book_id int references book, tag_id int references tag, note text, primary key (book_id, tag_id));
  create table chapter (id int primary key, book_id int not null references book, title text);
  create table detail (id int primary key, book_id int unique references book, body text);
  create table cover (book_id int primary key references book, art text);
  create table tenant (id int primary key);
  create table room (id int primary key, tenant int references tenant, unique (tenant, id));
  create table seat (id int primary key, tenant int references tenant, room_no int, foreign key (tenant, room_no) references room (tenant, id));
  comment on table book_tag is '@graphql({"totalCount": {"enabled": true}})';
  grant select, insert, update, delete on all tables in schema public to anon;
  grant usage on all sequences in schema public to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });

beforeEach(async () => {
  await database.query(
    'truncate author, book, tag, book_tag, chapter, detail, cover, tenant, room, seat restart identity cascade',
  );
  await database.query(`insert into author (name, email) values ('Ana', 'ana@x'), ('Ben', 'ben@x')`);
  await database.query(
    `insert into book (title, isbn, author_id) values ('A', 'a', 1), ('B', 'b', 1), ('C', 'c', 2), ('D', 'd', null)`,
  );
  await database.query(`insert into tag select n, 't' || n from generate_series(1, 40) n`);
  await database.query(`insert into book_tag values (1, 1, 'old'), (1, 2, 'old'), (2, 1, 'other')`);
  await database.query('insert into chapter values (1, 1, null)');
  await database.query(`insert into detail values (1, 1, 'a'), (2, null, 'free'); insert into cover values (4, 'd')`);
  await database.query(
    'insert into tenant values (1); insert into room values (5, 1); insert into seat values (1, 1, 5)',
  );
});

const owners = async () =>
  (await database.query('select title, name from book left join author a on a.id = author_id order by book.id')).map(
    ({ title, name }) => `${title} ${name ?? '-'}`,
  );
const tags = async () =>
  (await database.query('select book_id, tag_id, note from book_tag order by 1, 2')).map(
    ({ book_id: book, tag_id: tag, note }) => `${book}.${tag} ${note ?? '-'}`,
  );
const update = (type: string, set: string, filter: string, more = '') =>
  execution.data(
    'anon',
    `mutation { it: update${type}Collection(set: ${set}, filter: ${filter}, ${more}) { affectedCount records { id } } }`,
  );
const state = async () => [
  await owners(),
  await tags(),
  await database.query('select * from author order by id'),
  await database.query('select * from seat'),
  await database.query('select * from detail order by id'),
];
const refused = async (type: string, set: string, filter = '{id: {eq: 1}}', more = '') => {
  const before = await state();
  const query = `mutation { it: update${type}Collection(set: ${set}, filter: ${filter}, ${more}) { affectedCount } }`;
  const { data, errors } = await execution.run('anon', query);
  expect([data, await state()], String(errors?.[0].message)).toEqual([null, before]);
  return [errors?.[0].message, errors?.[0].extensions.input];
};

describe('the row that updated ones refer to', () => {
  test('an update connects, inserts, updates and disconnects the row that the updated one refers to', async () => {
    await update('Book', '{title: "AA", author: {connect: {email: "ben@x"}}}', '{id: {eq: 1}}');
    expect(await owners()).toEqual(['AA Ben', 'B Ana', 'C Ben', 'D -']);
    await update('Book', '{author: {insert: {name: "Cid"}}}', '{id: {eq: 1}}');
    expect(await owners()).toEqual(['AA Cid', 'B Ana', 'C Ben', 'D -']);
    await update('Book', '{author: {update: {set: {name: "Dan"}}}}', '{id: {eq: 1}}');
    expect(await owners()).toEqual(['AA Dan', 'B Ana', 'C Ben', 'D -']);
    await update('Book', '{author: {disconnect: true}}', '{id: {eq: 1}}');
    expect(await owners()).toEqual(['AA -', 'B Ana', 'C Ben', 'D -']);
  });

  test('several rows are connected to one, and answered as they are then', async () => {
    const answer = await execution.data(
      'anon',
      `mutation ($set: BookUpdateInput!) { it: updateBookCollection(set: $set, atMost: 5) {
        affectedCount records { title author { name } } } }`,
      { variables: { set: { author: { connect: { id: 2 } } } } },
    );
    expect(answer.it.affectedCount).toBe(4);
    expect(answer.it.records.map((record: { author: { name: string } }) => record.author.name)).toEqual(
      Array.from({ length: 4 }, () => 'Ben'),
    );
  });

  test('an inserted row is met by onConflict, and nested itself', async () => {
    const set =
      '{author: {insert: {name: "Benno", email: "ben@x", bookCollection: {insert: [{title: "E"}]}}, onConflict: {constraint: author_email_key, updateColumns: [name]}}}';
    await update('Book', set, '{id: {eq: 1}}');
    expect(await owners()).toEqual(['A Benno', 'B Ana', 'C Benno', 'D -', 'E Benno']);
  });

  test('a foreign key of several columns keeps those that others share when it is emptied', async () => {
    await update('Seat', '{room: {disconnect: true}}', '{id: {eq: 1}}');
    expect(await database.query('select * from seat')).toEqual([{ id: 1, tenant: 1, room_no: null }]);
  });

  test('one way is taken, beside no column that it sets, and for one row if it is inserted', async () => {
    const oneWay = '"author" takes one of "insert", "connect", "update" and "disconnect".';
    expect(await refused('Book', '{author: {connect: {id: 1}, disconnect: true}}')).toEqual([oneWay, 'set.author']);
    const isSet = '"authorId" is set by "author". Leave it out.';
    expect(await refused('Book', '{authorId: 1, author: {connect: {id: 2}}}')).toEqual([isSet, 'set.authorId']);
    expect(
      (await refused('Book', '{author: {disconnect: true}}', '{}', 'increment: {authorId: 1}, atMost: 9'))[0],
    ).toBe(isSet);
    const forOne = /^Related rows are inserted, connected and replaced for exactly one updated row\./;
    expect((await refused('Book', '{author: {insert: {name: "X"}}}', '{id: {lte: 2}}', 'atMost: 2'))[0]).toMatch(
      forOne,
    );
    expect((await refused('Book', '{author: {insert: {name: "X"}}}', '{id: {eq: 99}}'))[0]).toMatch(forOne);
    const notThere = /^A row to connect is not there/;
    expect(await refused('Book', '{author: {connect: {id: 99}}}')).toEqual([
      expect.stringMatching(notThere),
      'set.author.connect',
    ]);
    expect((await refused('Author', '{bookCollection: {connect: [{id: 1}, {id: 1}]}}'))[0]).toMatch(notThere);
    const kept = '"book" cannot be disconnected: its foreign key takes no null, or the role may not change it.';
    expect((await refused('Chapter', '{book: {disconnect: true}}'))[0]).toBe(kept);
    expect((await refused('Book', '{chapterCollection: {disconnect: [{}]}}'))[0]).toBe(
      kept.replace('book', 'chapterCollection'),
    );
  });
});

describe('the only row that refers to the updated one', () => {
  const details = async () =>
    (await database.query('select id, book_id, body from detail order by id')).map((row) =>
      Object.values(row).join(' '),
    );

  test('an update inserts, updates, connects and disconnects the only row that refers to it', async () => {
    await update('Book', '{title: "AA", detail: {update: {set: {body: "b"}}}}', '{id: {eq: 1}}');
    expect([(await owners())[0], await details()]).toEqual(['AA Ana', ['1 1 b', '2  free']]);
    await update('Book', '{detail: {disconnect: true}}', '{id: {eq: 1}}');
    await update('Book', '{detail: {connect: {id: 1}}}', '{id: {eq: 2}}');
    await update('Book', '{detail: {insert: {id: 3, body: "new"}}, cover: {insert: {art: "c"}}}', '{id: {eq: 3}}');
    expect(await details()).toEqual(['1 2 b', '2  free', '3 3 new']);
    const set = { detail: { connect: { id: 2 } }, cover: { connect: { bookId: 4 } }, author: { connect: { id: 2 } } };
    const query =
      'mutation ($set: BookUpdateInput!) { it: updateBookCollection(set: $set, filter: {id: {eq: 1}}) { records { author { id } detail { body } cover { art } } } }';
    expect(await execution.data('anon', query, { variables: { set } })).toEqual({
      it: { records: [{ author: { id: 2 }, detail: { body: 'free' }, cover: { art: 'd' } }] },
    });
    expect(await database.query('select * from cover order by 1')).toEqual([
      { book_id: 1, art: 'd' },
      { book_id: 3, art: 'c' },
    ]);
  });

  test('the only row is met by onConflict, so that it is set whether it is there or not', async () => {
    const set = (id: number) =>
      `{detail: {insert: {id: ${id}, body: "set"}, onConflict: {constraint: detail_book_id_key, updateColumns: [body]}}}`;
    await update('Book', set(8), '{id: {eq: 1}}');
    await update('Book', set(9), '{id: {eq: 2}}');
    expect(await details()).toEqual(['1 1 set', '2  free', '9 2 set']);
    const below =
      '{bookCollection: {update: [{set: {detail: {update: {set: {body: "deep"}}}}, filter: {id: {eq: 2}}}]}}';
    await update('Author', below, '{id: {eq: 1}}');
    expect(await details()).toEqual(['1 1 set', '2  free', '9 2 deep']);
  });

  test('the only row is written in one way, for one row, without its foreign key, and no second one', async () => {
    const oneWay = '"detail" takes one of "insert", "connect", "update" and "disconnect".';
    expect(await refused('Book', '{detail: {connect: {id: 1}, disconnect: true}}')).toEqual([oneWay, 'set.detail']);
    expect((await refused('Book', '{detail: {insert: {id: 5, bookId: 2}}}'))[0]).toMatch(/is set by "detail"/);
    expect((await refused('Book', '{detail: {update: {set: {bookId: 2}}}}'))[0]).toMatch(/is set by "detail"/);
    const forOne = /^Related rows are inserted, connected and replaced for exactly one updated row\./;
    for (const entry of ['insert: {id: 5}', 'connect: {id: 2}'])
      expect((await refused('Book', `{detail: {${entry}}}`, '{id: {lte: 2}}', 'atMost: 2'))[0]).toMatch(forOne);
    for (const entry of ['insert: {id: 5}', 'connect: {id: 2}'])
      expect((await refused('Book', `{detail: {${entry}}}`))[0]).toMatch(/unique constraint "detail_book_id_key"/);
    expect((await refused('Book', '{detail: {connect: {id: 99}}}'))[0]).toMatch(/^A row to connect is not there/);
    expect((await refused('Book', '{cover: {disconnect: true}}', '{id: {eq: 4}}'))[0]).toMatch(/takes no null/);
  });
});

describe('rows that refer to the updated one', () => {
  test('related rows are connected and disconnected, and the row itself need not change', async () => {
    const set = '{bookCollection: {disconnect: [{filter: {title: {eq: "A"}}}], connect: [{isbn: "c"}, {id: 4}]}}';
    expect(await update('Author', set, '{id: {eq: 1}}')).toEqual({ it: { affectedCount: 1, records: [{ id: 1 }] } });
    expect(await owners()).toEqual(['A -', 'B Ana', 'C Ana', 'D Ana']);
    const variables = { set: { bookCollection: { connect: [{ id: 1 }] } } };
    const query =
      'mutation ($set: AuthorUpdateInput!) { updateAuthorCollection(set: $set, filter: {id: {eq: 2}}) { affectedCount } }';
    await execution.data('anon', query, { variables });
    expect((await owners())[0]).toBe('A Ben');
  });

  test('replace deletes all rows but those that are named here', async () => {
    const set = `{bookTagCollection: {replace: DELETE, update: [{set: {note: "kept"}, filter: {tagId: {eq: 2}}}], insert: [{tagId: 3, note: "new"}]}}`;
    await update('Book', set, '{id: {eq: 1}}');
    expect(await tags()).toEqual(['1.2 kept', '1.3 new', '2.1 other']);
  });

  test('replace gives new rows the keys of those it deletes, and keeps the ones that an upsert meets', async () => {
    await update('Book', '{bookTagCollection: {replace: DELETE, insert: [{tagId: 1, note: "new"}]}}', '{id: {eq: 1}}');
    expect(await tags()).toEqual(['1.1 new', '2.1 other']);
    const upsert = '{constraint: book_tag_pkey, updateColumns: [tagId]}';
    await update(
      'Book',
      `{bookTagCollection: {replace: DELETE, insert: [{tagId: 1}, {tagId: 5}], onConflict: ${upsert}}}`,
      '{id: {eq: 1}}',
    );
    expect(await tags()).toEqual(['1.1 new', '1.5 -', '2.1 other']);
    const message = await refused(
      'Book',
      '{bookTagCollection: {replace: DELETE, insert: [{tagId: 9}], onConflict: {constraint: book_tag_pkey}}}',
    );
    expect(message[0]).toContain('cannot stay as they are');
  });

  test('replace disconnects rows where they shall stay, and alone removes all', async () => {
    await update('Author', '{bookCollection: {replace: DISCONNECT, connect: [{id: 1}]}}', '{id: {eq: 1}}');
    expect(await owners()).toEqual(['A Ana', 'B -', 'C Ben', 'D -']);
    await update('Book', '{bookTagCollection: {replace: DELETE}}', '{id: {eq: 1}}');
    expect(await tags()).toEqual(['2.1 other']);
  });

  test('replace fails where it meets more rows than it may remove', async () => {
    await database.query('insert into book_tag select 1, n from generate_series(3, 40) n');
    const set = '{bookTagCollection: {replace: DELETE}}';
    expect(await refused('Book', set)).toEqual([
      '"replace" meets more rows than it may remove. "replaceAtMost" says how many: 30 if it is left out.',
      'set.bookTagCollection.replace',
    ]);
    await update('Book', '{bookTagCollection: {replace: DELETE, replaceAtMost: 40}}', '{id: {eq: 1}}');
    expect(await tags()).toEqual(['2.1 other']);
  });

  test('replace removes nothing where a list beside it is an absent variable', async () => {
    const before = await tags();
    for (const [type, field, value] of [
      ['[BookTagInsertInput!]', 'insert', [{ tagId: 9 }]],
      ['[BookTagKey!]', 'connect', [{ bookIdAndTagId: { bookId: 1, tagId: 2 } }]],
    ] as const) {
      const query = `mutation ($list: ${type}) { updateBookCollection(filter: {id: {eq: 1}}, set: {
        bookTagCollection: {replace: DELETE, ${field}: $list}}) { affectedCount } }`;
      expect(await execution.errors('anon', query)).toEqual([
        `The variable of "${field}" is absent: "replace" would remove more rows. Send a list, or null for none.`,
      ]);
      expect(await tags()).toEqual(before);
      expect((await execution.run('anon', query, { variables: { list: value } })).errors).toBeUndefined();
      await database.query(
        "delete from book_tag where book_id = 1; insert into book_tag values (1, 1, 'old'), (1, 2, 'old')",
      );
    }
  });

  test('entries of updates choose rows too, and change those below', async () => {
    const set =
      '{bookCollection: {update: [{set: {bookTagCollection: {delete: [{filter: {tagId: {eq: 1}}, atMost: 5}]}}, atMost: 5}]}}';
    await update('Author', set, '{id: {eq: 1}}');
    expect(await tags()).toEqual(['1.2 old']);
  });

  test('of several replacements of one list at a time, the last one decides all of it', async () => {
    const query = `mutation ($tags: [BookTagInsertInput!]) { updateBookCollection(filter: {id: {eq: 1}}, set: {
      bookTagCollection: {replace: DELETE, insert: $tags}}) { affectedCount } }`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => {
        const list = [1, 2, 3].map((each) => ({ tagId: index * 3 + each, note: String(index) }));
        return execution.run('anon', query, { variables: { tags: list } });
      }),
    );
    expect(answers.map(({ errors }) => errors)).toEqual(answers.map(() => undefined));
    expect(
      await database.query(
        'select count(*)::int as n, count(distinct note)::int as lists from book_tag where book_id = 1',
      ),
    ).toEqual([{ n: 3, lists: 1 }]);
  });
});
