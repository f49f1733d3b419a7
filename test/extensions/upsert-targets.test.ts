/** Which unique indexes and columns `onConflict` offers to a role, and what each of them does (docs/upsert.md). */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  create extension citext;
  create schema app; create schema hidden; grant usage on schema app to anon, authenticated;
  create table app.many (id int primary key, a int, b int, c text, d text, e text, "true" int unique, period int4range,
    constraint by_pair unique (a, b) include (c), constraint later unique (c) deferrable, exclude using gist (period with &&));
  create unique index also_later on app.many (c);
  create unique index twice_later on app.many (c, d);
  create unique index "odd name" on app.many (d);
  create unique index "null" on app.many (e);
  create index plain on app.many (e);
  create function app.lower(int) returns text immutable language sql as 'select $1::text';
  create unique index by_own_function on app.many (app.lower(a));
  create unique index by_case on app.many ((case when a > 1 then b end));
  create unique index by_terms on app.many ((a + b), lower(d || 'x'), coalesce(e, ''), (c::varchar(9))) where (e = any ('{p,q}') or not (d ~ '^\\d''') and a is not null) and (a > 1) is not false;
  create view app.plain_view as select a as x, b as y, c, d as dd, id from app.many;
  comment on view app.plain_view is '@graphql({"primary_key_columns": ["id"]})';
  create view app.over_view as select y, x, id, c from app.plain_view where id > 0 with check option;
  comment on view app.over_view is '@graphql({"primary_key_columns": ["id"]})';

  create table hidden.secret (id int primary key, code text unique, note text);
  create unique index secret_note on hidden.secret (lower(note)) where code is null;
  create view app.shown as select id as num, code, note as remark from hidden.secret;
  comment on view app.shown is '@graphql({"primary_key_columns": ["num"]})';
  create view app.triggered as select * from app.many;
  comment on view app.triggered is '@graphql({"primary_key_columns": ["id"]})';
  create function hidden.replace() returns trigger language plpgsql as 'begin return new; end';
  create trigger t instead of insert or update on app.triggered for each row execute function hidden.replace();

  create table app.ruled (id int primary key, n int);
  create rule r as on update to app.ruled do also nothing;
  create table app.parent_part (id int, day int, n int, primary key (id, day)) partition by range (day);
  create table app.part partition of app.parent_part for values from (0) to (10);
  create view app.whole as select id, day, n from app.parent_part;
  comment on view app.whole is '@graphql({"primary_key_columns": ["id", "day"]})';
  create table app.always (id int generated always as identity primary key, n int, double int generated always as (n * 2) stored);
  create table app.mail (address citext primary key, n int);
  create type app.mood as enum ('ok', 'sad');
  create table app.mooded (id int primary key, mood app.mood, n int);
  create unique index only_ok on app.mooded (mood) where mood = 'ok';
  create table app.stay (room int4range, during int4range, id int not null unique);
  comment on table app.stay is '@graphql({"primary_key_columns": ["id"]})';
  do $$ begin
    if current_setting('server_version_num')::int >= 180000 then execute 'alter table app.stay add primary key (room, during without overlaps)'; end if;
  end $$;
  create table app.rest (id int primary key, n int, o int);
  revoke all on all tables in schema app from anon;
  grant all on all tables in schema app to anon;
`);
const execution = await startExecution(database, { schemas: ['app'], introspection: 'always' });
const valuesOf = async (type: string, role = 'anon', from = execution): Promise<readonly string[] | null> => {
  const { __type } = await from.data(role, `{ __type(name: "${type}") { enumValues { name } inputFields { name } } }`);
  return __type && (__type.enumValues ?? __type.inputFields).map(({ name }: { name: string }) => name);
};
const insert = (table: string, objects: string, onConflict: string, select = 'affectedCount') =>
  execution.run(
    'anon',
    `mutation { insertInto${table}Collection(objects: ${objects}, onConflict: ${onConflict}) { ${select} } }`,
  );
const count = async (...given: Parameters<typeof insert>) => {
  const { data, errors } = await insert(...given);
  expect(errors).toBe(undefined);
  return Object.values<{ affectedCount: number }>(data)[0]!.affectedCount;
};

describe('indexes', () => {
  test('of a table are offered if they are unique, not deferrable, and PostgreSQL can tell them apart by their columns', async () => {
    expect(await valuesOf('manyConstraint')).toEqual(['many_pkey', 'many_true_key', 'by_pair', 'twice_later', 'by_own_function', 'by_terms']); // biome-ignore format: a list of names
    expect(await valuesOf('manyColumn')).toEqual(['id', 'a', 'b', 'c', 'd', 'e', 'period']);
    const distinct = await execution.errors('anon', '{ manyCollection(distinctOn: [period]) { edges { cursor } } }');
    expect(distinct).toEqual(['"period" is for "updateColumns" alone: rows are not compared by it.']);
  });

  test.each(['many_pkey', 'many_true_key', 'by_pair', 'twice_later', 'by_own_function', 'by_terms'])(
    'each of them decides: %s',
    async (constraint) => {
      await database.query(
        `truncate app.many; insert into app.many (id, a, b, c, d, e, "true") values (1, 2, 3, 'c', 'd', 'p', 1)`,
      );
      const object = { many_pkey: 'id: 1', many_true_key: 'id: 2, true: 1', by_pair: 'id: 2, a: 2, b: 3', twice_later: 'id: 2, c: "c", d: "d"', by_own_function: 'id: 2, a: 2', by_terms: 'id: 2, a: 3, b: 2, c: "c", d: "D", e: "p"' }[constraint]!; // biome-ignore format: one row
      expect(await count('many', `[{${object}}]`, `{constraint: ${constraint}, updateColumns: [period]}`)).toBe(1);
      expect(await count('many', `[{${object}}]`, `{constraint: ${constraint}}`)).toBe(0);
      expect(await database.query('select id from app.many')).toEqual([{ id: 1 }]);
    },
  );

  test('that are left out for their names or expressions are told to the operator, with SQL that renames them', async () => {
    const omissions = await modelReader(database).omissions(['app']);
    expect(
      omissions.filter(({ reason }) => reason.includes('"onConflict"')).map(({ reason, fix }) => `${reason} ${fix}`),
    ).toEqual([
      'Table app.many has no "odd name" in "onConflict": the name of the unique index is no GraphQL name. alter index app."odd name" rename to odd_name;',
      'Table app.many has no "null" in "onConflict": the name of the unique index is no GraphQL name. alter index app."null" rename to many_null;',
      'Table app.many has no "by_case" in "onConflict": an expression of the unique index is too complex. null',
    ]);
  });

  test('that are exclusion constraints are not offered', async () => {
    expect(await valuesOf('stayConstraint')).toEqual(['stay_id_key']);
  });

  test('of tables with rules, and of views with triggers of their own, are not offered', async () => {
    for (const type of ['ruled', 'triggered']) expect(await valuesOf(`${type}OnConflict`), type).toBe(null);
    expect((await insert('ruled', '[{id: 1}]', '{constraint: ruled_pkey}')).errors).toMatchObject([
      { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
    ]);
  });
});

describe('views', () => {
  test('views have the indexes of their table whose columns they pass on, through other views and from hidden schemas', async () => {
    expect(await valuesOf('plain_viewConstraint')).toEqual(['many_pkey', 'by_pair', 'twice_later', 'by_own_function']);
    expect(await valuesOf('over_viewConstraint')).toEqual(['many_pkey', 'by_pair', 'by_own_function']);
    expect(await valuesOf('shownConstraint')).toEqual(['secret_pkey', 'secret_code_key', 'secret_note']);
    expect(await valuesOf('wholeConstraint')).toEqual(['parent_part_pkey']);
  });

  test('name the columns as the view does', async () => {
    await database.query(`truncate app.many, hidden.secret; insert into hidden.secret values (1, null, 'Note')`);
    expect(await count('over_view', '[{id: 1, x: 5, y: 6, c: "one"}]', '{constraint: many_pkey}')).toBe(1);
    const filter = 'filter: {or: [{c: {eq: "one"}}, {y: {eq: 0}}]}';
    expect(
      await count(
        'over_view',
        '[{id: 2, x: 5, y: 6, c: "two"}]',
        `{constraint: by_pair, updateColumns: [c], ${filter}}`,
      ),
    ).toBe(1);
    expect(await database.query('select id, c from app.many')).toEqual([{ id: 1, c: 'two' }]);
    const { data } = await insert(
      'shown',
      '[{num: 2, remark: "NOTE"}, {num: 3, remark: "x"}]',
      '{constraint: secret_note, updateColumns: [remark]}',
      'records { num remark }',
    );
    expect(data.insertIntoshownCollection.records).toEqual([
      { num: 1, remark: 'NOTE' },
      { num: 3, remark: 'x' },
    ]);
    expect(await count('whole', '[{id: 1, day: 1, n: 1}]', '{constraint: parent_part_pkey}')).toBe(1);
    expect(await count('part', '[{id: 1, day: 1, n: 2}]', '{constraint: part_pkey, updateColumns: [n]}')).toBe(1);
    expect(await database.query('select n from app.part')).toEqual([{ n: 2 }]);
  });
});

describe('columns', () => {
  test('that only the database fills are not updated; no object meets a row by them, so they are no target', async () => {
    expect(await valuesOf('alwaysConstraint')).toBeNull();
    expect(await valuesOf('alwaysOnConflict')).toBeNull();
  });

  test('of other types are compared as their index does', async () => {
    expect(await count('mail', '[{address: "A@x.org", n: 1}]', '{constraint: mail_pkey}')).toBe(1);
    expect(await count('mail', '[{address: "a@X.org", n: 2}]', '{constraint: mail_pkey, updateColumns: [n]}')).toBe(1);
    expect(await database.query('select address::text, n from app.mail')).toEqual([{ address: 'A@x.org', n: 2 }]);
    expect(
      await count('mooded', '[{id: 1, mood: ok}, {id: 2, mood: sad}, {id: 3, mood: sad}]', '{constraint: only_ok}'),
    ).toBe(3);
    expect(await count('mooded', '[{id: 4, mood: ok, n: 7}]', '{constraint: only_ok, updateColumns: [n]}')).toBe(1);
    expect(await database.query('select id from app.mooded where n = 7')).toEqual([{ id: 1 }]);
  });
});

describe('privileges', () => {
  const updatable = async () => {
    const columns = (await valuesOf('restColumn', 'authenticated')) ?? [];
    const taken = columns.map(async (column: string) => {
      const query = `mutation { insertIntorestCollection(objects: [{id: 1}], onConflict: {constraint: rest_pkey, updateColumns: [${column}]}) { affectedCount } }`;
      const { errors } = await execution.run('authenticated', query);
      if (errors === undefined) return [column];
      const refused = `"${column}" cannot be updated: the role may not insert, update and read it.`;
      expect([errors[0].message, errors[0].extensions.input]).toEqual([refused, 'onConflict.updateColumns[0]']);
      return [];
    });
    return (await Promise.all(taken)).flat();
  };
  const offered = async (grants: string) => {
    await database.query(`revoke all on app.rest from authenticated; ${grants}`);
    await execution.reload();
    const conflict = await valuesOf('restOnConflict', 'authenticated');
    return (
      conflict && [
        conflict,
        await valuesOf('restConstraint', 'authenticated'),
        conflict.includes('updateColumns') ? await updatable() : null,
      ]
    );
  };
  const all = ['constraint', 'updateColumns', 'filter'];

  test.each([
    [
      'insert and update of the table',
      'grant select, insert, update on app.rest to authenticated',
      [all, ['rest_pkey'], ['id', 'n', 'o']],
    ],
    ['nothing to update', 'grant select, insert on app.rest to authenticated', [['constraint'], ['rest_pkey'], null]],
    [
      'single columns',
      'grant select (id, n, o), insert (id, n), update (id, o) on app.rest to authenticated',
      [all, ['rest_pkey'], ['id']],
    ],
    [
      'a column that it may not select',
      'grant select (id, o), insert, update on app.rest to authenticated',
      [all, ['rest_pkey'], ['id', 'o']],
    ],
    ['no right to select the key', 'grant select (n), insert, update on app.rest to authenticated', null],
    ['no right to insert', 'grant select, update on app.rest to authenticated', null],
  ])('a role with %s is offered what PostgreSQL lets it do', async (_, grants, expected) => {
    expect(await offered(grants)).toEqual(expected);
    if (expected === null) return;
    await database.query('truncate app.rest; insert into app.rest values (1, 1, 1)');
    const columns = expected[2] === null ? '' : `, updateColumns: [${expected[2]}]`;
    const query = `mutation { insertIntorestCollection(objects: [{id: 1}], onConflict: {constraint: rest_pkey${columns}}) { affectedCount } }`;
    expect((await execution.data('authenticated', query)).insertIntorestCollection.affectedCount).toBe(
      columns === '' ? 0 : 1,
    );
  });
});

describe('names', () => {
  test('that something has without the extension are not taken; the rest is offered', async () => {
    await database.query(`
      create schema taken; grant usage on schema taken to anon;
      create table taken.one (id int primary key, n int);
      create table taken.two (id int primary key, n int);
      create table taken.three (id int primary key, n int);
      create table taken."oneConstraint" (id int primary key);
      create type taken."twoColumn" as enum ('x');
      create table taken.user_of (id int primary key, v taken."twoColumn");
      create table taken.holder (id int primary key);
      comment on table taken.holder is '@graphql({"name": "threeOnConflict"})';
      grant all on all tables in schema taken to anon`);
    const named = await startExecution(database, { schemas: ['taken'], introspection: 'always' });
    expect(await valuesOf('oneOnConflict', 'anon', named)).toBe(null);
    expect(await valuesOf('twoOnConflict', 'anon', named)).toEqual(['constraint']);
    const { __type } = await named.data('anon', '{ __type(name: "threeOnConflict") { kind } }');
    expect(__type).toEqual({ kind: 'OBJECT' });
    const { __schema } = await named.data('anon', '{ __schema { mutationType { fields { name args { name } } } } }');
    const args = Object.fromEntries(__schema.mutationType.fields.map((field: { name: string; args: { name: string }[] }) => [field.name, field.args.map(({ name }) => name)])); // biome-ignore format: one row
    expect(args).toMatchObject({
      insertIntooneCollection: ['objects'],
      insertIntotwoCollection: ['objects', 'onConflict'],
      insertIntothreeCollection: ['objects'],
    });
    const reasons = (await modelReader(database).omissions(['taken'])).map(({ reason }) => reason);
    expect(reasons).toContain(
      'Table taken.one would have the type "oneConstraint", and table taken."oneConstraint" has that name already.',
    );
  });
});

test('an index that is gone, or has another name, is noticed by the request that names it', async () => {
  await database.query(`
    create schema gone; create schema behind; grant usage on schema gone to anon;
    create table gone.item (id int primary key, code text unique);
    create table behind.thing (id int primary key, code text unique);
    create view gone.thing as select * from behind.thing;
    comment on view gone.thing is '@graphql({"primary_key_columns": ["id"]})';
    grant all on all tables in schema gone to anon`);
  const gone = await startExecution(database, { schemas: ['gone'] });
  const ask = async (table: string, constraint: string) => {
    const query = `mutation { insertInto${table}Collection(objects: [{id: 1}], onConflict: {constraint: ${constraint}}) { affectedCount } }`;
    const { data, errors } = await gone.run('anon', query);
    return errors?.[0].extensions.code ?? data[`insertInto${table}Collection`].affectedCount;
  };
  for (const [table, schema] of [
    ['item', 'gone'],
    ['thing', 'behind'],
  ] as const) {
    expect(await ask(table, `${table}_code_key`)).toBe(1);
    await database.query(`alter table ${schema}.${table} drop constraint ${table}_code_key`);
    expect(await ask(table, `${table}_code_key`)).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await ask(table, `${table}_pkey`)).toBe(0);
    await database.query(`alter index ${schema}.${table}_pkey rename to ${table}_by_id`);
    expect(await gone.compare()).toBe(true);
    expect(await ask(table, `${table}_by_id`)).toBe(0);
  }
});
