/** Inserts with related rows that fail: whatever the level, nothing is written, and the error says where. */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table author (id int generated always as identity primary key, name text not null, code text unique);
  create table book (id bigserial primary key, author_id int references author, title varchar(20), pages int check (pages > 0));
  create table chapter (id uuid primary key default gen_random_uuid(), book_id bigint not null references book, title text, day date);
  create table note (id bigserial primary key, author_code text references author (code), body text);
  -- Suppresses rows called "skip", renames those called "rename".
  create function watch() returns trigger language plpgsql as $$ begin
    if new.name = 'skip' then return null; end if;
    return new; end $$;
  create trigger watch before insert on author for each row execute function watch();
  create table late (id int generated always as identity primary key, author_id int not null);
  alter table late add constraint late_author foreign key (author_id) references author deferrable initially deferred;
  create view writer as select id, name from author;
  comment on view writer is '@graphql({"primary_key_columns": ["id"]})';
  create view blind as select id, name from author;
  comment on view blind is '@graphql({"primary_key_columns": ["id"]})';
  create function write_blindly() returns trigger language plpgsql as $$ begin
    insert into author (name) values (new.name); return new; end $$;
  create trigger write_blindly instead of insert on blind for each row execute function write_blindly();
  comment on table book is '@graphql({"foreign_keys": [
    {"local_columns": ["author_id"], "foreign_schema": "public", "foreign_table": "writer", "foreign_columns": ["id"], "local_name": "bookCollection", "foreign_name": "writer"},
    {"local_columns": ["author_id"], "foreign_schema": "public", "foreign_table": "blind", "foreign_columns": ["id"], "local_name": "bookCollection", "foreign_name": "blind"}]})';
  grant select, insert, update, delete on all tables in schema public to anon;
  grant usage on all sequences in schema public to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });

beforeEach(() => database.query('truncate author, book, chapter, note, late'));

async function written(): Promise<number> {
  const [row] = await database.query(`select (select count(*) from author) + (select count(*) from book)
    + (select count(*) from chapter) + (select count(*) from note) + (select count(*) from late) as n`);
  return Number(row?.n);
}

async function refusal(query: string, variables?: Readonly<Record<string, unknown>>) {
  const { data, errors } = await execution.run('anon', query, variables && { variables });
  expect(data ?? null).toBeNull();
  expect(await written()).toBe(0);
  expect(errors).toHaveLength(1);
  const [{ message, path, extensions }] = errors;
  return { message, path, code: extensions.code, input: extensions.input };
}

const insert = (objects: string, name = 'Author') =>
  `mutation { it: insertInto${name}Collection(objects: ${objects}) { affectedCount } }`;
const withVariable =
  'mutation ($o: [AuthorInsertInput!]!) { it: insertIntoAuthorCollection(objects: $o) { affectedCount } }';

describe('a constraint below', () => {
  test('undoes what is above it', async () => {
    expect(await refusal(insert('[{name: "a"}, {name: "b", bookCollection: {insert: [{pages: 0}]}}]'))).toEqual({
      message: 'new row for relation "book" violates check constraint "book_pages_check"',
      path: ['it'],
      code: 'CONSTRAINT_VIOLATION',
      input: 'objects[1].bookCollection.insert[0]',
    });
  });

  test('a constraint below names the only object of a variable, and the place of several', async () => {
    const o = [{ name: 'a' }, { name: 'b', bookCollection: { insert: [{ pages: 0 }] } }];
    expect((await refusal(withVariable, { o })).input).toBe('$o[1].bookCollection.insert[0]');
    const several = [...o, { name: 'c', bookCollection: { insert: [{ pages: 1 }] } }];
    expect((await refusal(withVariable, { o: several })).input).toBe('$o[*].bookCollection.insert[*]');
    expect((await refusal(insert('[{name: "a", bookCollection: {insert: [{pages: 0}, {pages: 1}]}}]'))).input).toBe(
      'objects[*].bookCollection.insert[*]',
    );
  });

  test('a constraint below may be deferred', async () => {
    await database.query('alter table late add constraint never check (author_id < 0) not valid');
    await database.query('alter table late drop constraint never');
    const answer = await execution.data('anon', insert('[{name: "a", lateCollection: {insert: [{}]}}]'));
    expect(answer).toEqual({ it: { affectedCount: 1 } });
    expect(await written()).toBe(2);
  });
});

test('a value that PostgreSQL cannot read names its place', async () => {
  const o = [
    { name: 'a', bookCollection: { insert: [{ chapterCollection: { insert: [{ day: '2024-02-03' }] } }] } },
    { name: 'b', bookCollection: { insert: [{ chapterCollection: { insert: [{}, { day: '2024-02-31' }] } }] } },
  ];
  const place = '[1].bookCollection.insert[0].chapterCollection.insert[1].day';
  expect((await refusal(withVariable, { o })).input).toBe(`$o${place}`);
  const text = JSON.stringify(o).replaceAll(/"(\w+)":/g, '$1:');
  expect((await refusal(insert(text))).input).toBe(`objects${place}`);
});

test('a string over the declared length names its place', async () => {
  const o = [{ name: 'b', bookCollection: { insert: [{ title: 'x'.repeat(21) }] } }];
  expect((await refusal(withVariable, { o })).input).toBe('$o[*].bookCollection.insert[*].title');
  const text = JSON.stringify(o).replaceAll(/"(\w+)":/g, '$1:');
  expect((await refusal(insert(text))).input).toBe('objects[0].bookCollection.insert[0].title');
});

describe('the columns of the foreign key', () => {
  test('the columns of the foreign key are left out of objects below', async () => {
    const o = [{ name: 'a', bookCollection: { insert: [{ authorId: 1 }] } }];
    const refused = {
      message: '"authorId" is set by "bookCollection". Leave it out.',
      path: ['it'],
      code: 'BAD_USER_INPUT',
    };
    expect(await refusal(withVariable, { o })).toEqual({
      ...refused,
      input: '$o[*].bookCollection.insert[*].authorId',
    });
    expect(await refusal(insert('[{name: "a", bookCollection: {insert: [{title: "x"}, {authorId: null}]}}]'))).toEqual({
      ...refused,
      input: 'objects[0].bookCollection.insert[1].authorId',
    });
  });

  test('the columns of the foreign key are left out beside the object above', async () => {
    const refused = { message: '"authorId" is set by "author". Leave it out.', path: ['it'], code: 'BAD_USER_INPUT' };
    expect(await refusal(insert('[{authorId: 1}, {author: {insert: {name: "a"}}, authorId: 1}]', 'Book'))).toEqual({
      ...refused,
      input: 'objects[1].authorId',
    });
    const query = 'mutation ($o: [BookInsertInput!]!) { it: insertIntoBookCollection(objects: $o) { affectedCount } }';
    const o = [{ authorId: 1 }, { author: { insert: { name: 'a' } }, authorId: 1 }];
    expect(await refusal(query, { o })).toEqual({ ...refused, input: '$o[*].authorId' });
  });

  test('the columns of the foreign key are not given by the way back', async () => {
    const answer = await refusal(insert('[{name: "a", bookCollection: {insert: [{author: {insert: {name: "b"}}}]}}]'));
    expect(answer).toMatchObject({
      message: '"author" is set by "bookCollection". Leave it out.',
      input: 'objects[0].bookCollection.insert[0].author',
    });
  });
});

describe('a row that a trigger suppresses', () => {
  const suppressed =
    'The database has not inserted a row that others depend on. Nothing was written. Insert the rows separately.';

  test.each([
    [
      'with rows below',
      '[{name: "a"}, {name: "skip", bookCollection: {insert: [{title: "x"}]}}, {name: "b"}]',
      'Author',
    ],
    [
      'among others with rows below',
      '[{name: "skip"}, {name: "b", bookCollection: {insert: [{title: "x"}]}}]',
      'Author',
    ],
    ['that others refer to', '[{author: {insert: {name: "b"}}}, {author: {insert: {name: "skip"}}}]', 'Book'],
  ])('%s fails the operation', async (_, objects, name) => {
    expect(await refusal(insert(objects, name))).toMatchObject({
      message: suppressed,
      path: ['it'],
      code: 'BAD_USER_INPUT',
    });
  });

  test('at the lowest level is left out, as in an insert of its own', async () => {
    const query = insert('[{name: "a"}, {name: "skip"}]');
    expect(await execution.data('anon', query)).toEqual({ it: { affectedCount: 1 } });
  });
});

describe('a key that is not known', () => {
  const unknown =
    'The database did not return the key of a row that related rows need. Nothing was written. Insert the rows separately.';

  test('of a view whose trigger does not return it', async () => {
    const objects = '[{title: "x", blind: {insert: {name: "a"}}}]';
    expect(await refusal(insert(objects, 'Book'))).toMatchObject({ message: unknown, code: 'BAD_USER_INPUT' });
  });

  test('because it is null', async () => {
    const objects = '[{name: "a", noteCollection: {insert: [{body: "x"}]}}]';
    expect(await refusal(insert(objects))).toMatchObject({
      message: unknown,
      input: 'objects[0].noteCollection.insert[0]',
    });
    const fine = '[{name: "a"}, {name: "b", code: "c", noteCollection: {insert: [{body: "x"}]}}]';
    expect(await execution.data('anon', insert(fine))).toEqual({ it: { affectedCount: 2 } });
  });
});

test('a view that PostgreSQL writes through has certain keys', async () => {
  const query = `mutation { insertIntoBookCollection(objects: [{title: "x", writer: {insert: {name: "a"}}}]) { records { writer { name } } } }`;
  const { insertIntoBookCollection: answer } = await execution.data('anon', query);
  expect(answer.records).toEqual([{ writer: { name: 'a' } }]);
});

describe('limits', () => {
  const nested = (levels: number): string =>
    levels === 0 ? '{name: "a"}' : `{name: "a", bookCollection: {insert: [{author: null, title: "x"}]}}`;

  test('four levels of related rows, no more', async () => {
    await createSchema(
      database,
      'family',
      `
      comment on schema family is '@graphql({"inflect_names": true})';
      create table person (id int generated always as identity primary key, name text, boss_id int references person);
      grant select, insert on person to anon;
    `,
    );
    const people = await startExecution(database, { schemas: ['family'] });
    const tree = (levels: number): object =>
      levels === 0 ? { name: 'x' } : { name: 'x', personCollection: { insert: [tree(levels - 1)] } };
    const query = 'mutation ($o: [PersonInsertInput!]!) { insertIntoPersonCollection(objects: $o) { affectedCount } }';
    await people.data('anon', query, { variables: { o: tree(4) } });
    expect(await people.errors('anon', query, { variables: { o: tree(5) } })).toEqual([
      'Related rows are nested more than 4 levels deep. Send those below in a mutation of their own.',
    ]);
    expect(await database.query('select count(*)::int as n from family.person')).toEqual([{ n: 5 }]);
  });

  test('each level counts for the depth', async () => {
    const shallow = await startExecution(database, { limits: { maxDepth: 1 } });
    const [message] = await shallow.errors('anon', insert(`[${nested(1)}]`));
    expect(message).toContain('levels of tables');
    expect(await written()).toBe(0);
  });
});
