/** Errors that a client causes, or that the author of a function raises for it, pass with a message that names nothing hidden. */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

// Without it, each refused request waits until the catalog is compared again.
const watch = `select set_config('pgreflect.login_role', 'authenticator', false); ${fixture('../../sql/watch.sql')}`;
const database = await createDatabase(
  `
  comment on schema public is '@graphql({"inflect_names": true})';
  create schema vault;
  create table item (id int primary key, price int, body text);
  create index item_body on item (body);
  insert into item values (1, 1), (2, 2);
  create table vault.kept (id int primary key, body text, code int generated always as identity);
  create index kept_body on vault.kept (body);
  create view cheap as select * from item where price < 10 with check option;
  comment on view cheap is '@graphql({"primary_key_columns": ["id"]})';
  create view vault.inner_kept as select * from vault.kept where id < 10 with check option;
  create view outer_kept as select id, body, code as number from vault.inner_kept with check option;
  comment on view outer_kept is '@graphql({"primary_key_columns": ["id"]})';
  create table numbered (id int primary key, code int generated always as identity);
  create view renumbered as select * from numbered;
  comment on view renumbered is '@graphql({"primary_key_columns": ["id"]})';
  create function several() returns int stable language sql as 'select (select id from item)';
  create function strictly(which int) returns int stable language plpgsql as $$
    declare found int; begin select id into strict found from item where id >= which; return found; end $$;
  create function fail(state text, told text default null) returns int volatile language plpgsql as $$
    begin raise exception 'as asked' using errcode = state, detail = coalesce(told, 'the detail'), hint = 'the hint'; end $$;
  create function keep(body text) returns int volatile security definer language sql as
    $$ insert into vault.kept values (1, body); select 1 $$;
  create function count_kept() returns int volatile language plpgsql as $$ begin return (select nothing from vault.kept); end $$;
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`,
  watch,
);
const execution = await startExecution(database);
const fails = async (query: string) => {
  const { errors } = await execution.run('anon', query);
  expect(errors).toHaveLength(1);
  return { message: errors[0].message, ...errors[0].extensions };
};
const random = `(select string_agg(md5(random()::text), '') from generate_series(1, 200))`;
const text = async () => (await database.query<{ t: string }>(`select ${random} as t`))[0]!.t;

describe('an error of PostgreSQL that the client caused', () => {
  test('an error of PostgreSQL that the client caused is the check option of a view, and a view that the role does not see is not named', async () => {
    expect(
      await fails('mutation { insertIntoCheapCollection(objects: [{id: 3, price: 50}]) { affectedCount } }'),
    ).toEqual({
      message: 'new row violates check option for view "cheap"',
      code: 'CONSTRAINT_VIOLATION',
      sqlstate: '44000',
    });
    const hidden = await fails(
      'mutation { insertIntoOuterKeptCollection(objects: [{id: 50, body: "secret-body"}]) { affectedCount } }',
    );
    expect(hidden).toMatchObject({ code: 'CONSTRAINT_VIOLATION', sqlstate: '44000', id: expect.any(String) });
    expect(JSON.stringify(hidden)).not.toMatch(/inner_kept|secret-body/);
  });

  test('an error of PostgreSQL that the client caused is a value for a generated column of a view, whose name is told where the role sees it', async () => {
    expect(
      await fails('mutation { insertIntoRenumberedCollection(objects: [{id: 1, code: 5}]) { affectedCount } }'),
    ).toEqual({
      message: 'cannot insert a non-DEFAULT value into column "code"',
      code: 'BAD_USER_INPUT',
      sqlstate: '428C9',
    });
    await database.query('alter table vault.kept rename column code to vaulted');
    const hidden = await fails('mutation { updateOuterKeptCollection(set: {number: 5}) { affectedCount } }');
    expect(hidden).toMatchObject({
      message: 'A column that the database fills by itself was given a value. Leave it out.',
      sqlstate: '428C9',
      id: expect.any(String),
    });
    expect(JSON.stringify(hidden)).not.toContain('vaulted');
  });

  test('an error of PostgreSQL that the client caused is several rows where one is asked for, or none', async () => {
    expect(await fails('{ several }')).toEqual({
      message: 'more than one row returned by a subquery used as an expression',
      code: 'BAD_USER_INPUT',
      sqlstate: '21000',
    });
    expect(await fails('{ strictly(which: 5) }')).toEqual({
      message: 'query returned no rows',
      code: 'RAISED',
      sqlstate: 'P0002',
    });
    expect(await fails('{ strictly(which: 1) }')).toMatchObject({
      message: 'query returned more than one row',
      sqlstate: 'P0003',
    });
  });

  test('an error of PostgreSQL that the client caused is a value that is too large for an index, which is named where the role sees the table', async () => {
    const large = await text();
    const seen = await fails(
      `mutation { insertIntoItemCollection(objects: [{id: 9, body: "${large}"}]) { affectedCount } }`,
    );
    expect(seen).toEqual({
      message: 'A value is too large for the index "item_body". Send a shorter one.',
      code: 'LIMIT_EXCEEDED',
      sqlstate: '54000',
      table: 'item',
      constraint: 'item_body',
    });
    const hidden = await fails(`mutation { keep(body: "${large}") }`);
    expect(hidden).toEqual({
      message: 'A value is too large for an index. Send a shorter one.',
      code: 'LIMIT_EXCEEDED',
      sqlstate: '54000',
    });
  });
});

describe('an error that a function raises', () => {
  test.each(['PT402', 'P0002', 'P0004', '54000', '57P01', '08006', '53300', '42883', 'ABCDE', '0A000'])(
    'an error that a function raises passes with %s',
    async (state) => {
      expect(await fails(`mutation { fail(state: "${state}") }`)).toEqual({
        message: 'as asked',
        code: 'RAISED',
        sqlstate: state,
        detail: 'the detail',
        hint: 'the hint',
      });
    },
  );

  test.each([
    ['44000', 'CONSTRAINT_VIOLATION'],
    ['428C9', 'BAD_USER_INPUT'],
    ['23505', 'CONSTRAINT_VIOLATION'],
    ['42501', 'PERMISSION_DENIED'],
  ])('an error that a function raises has the code of %s, without its detail', async (sqlstate, code) => {
    expect(await fails(`mutation { fail(state: "${sqlstate}") }`)).toEqual({ message: 'as asked', code, sqlstate });
  });

  test('an error that a function raises is masked where its code says that it is internal, as are all other errors of PostgreSQL', async () => {
    for (const query of ['mutation { fail(state: "XX000") }', 'mutation { countKept }']) {
      const error = await fails(query);
      expect(JSON.stringify(error)).not.toMatch(/kept|code"?:? ?"?vault/);
      expect(error.id).toEqual(expect.any(String));
    }
    expect(await execution.data('anon', '{ itemCollection { edges { node { id } } } }')).toBeTruthy();
  });
});

describe('an error that has a sentence of its own', async () => {
  const own = await createDatabase(
    `
    create table shape (id int primary key, at point, doc xml, up text generated always as ('x') stored);
    insert into shape values (1, '(1,2)', null);
    create view leaf as select id, at from shape;
    comment on view leaf is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [{"local_columns": ["at"], "foreign_schema": "public", "foreign_table": "shape", "foreign_columns": ["at"], "foreign_name": "shape", "local_name": "leaves"}]})';
    create view loud as select id, upper(doc::text) as up from shape;
    comment on view loud is '@graphql({"primary_key_columns": ["id"]})';
    create materialized view empty as select 1 as id with no data;
    comment on materialized view empty is '@graphql({"primary_key_columns": ["id"]})';
    create table loop (id int primary key);
    alter table loop enable row level security;
    create policy own on loop using (exists (select from loop l where l.id = loop.id));
    create table deep (id int primary key);
    insert into deep values (1);
    alter table deep enable row level security;
    create function may_read() returns boolean language plpgsql as 'begin return exists (select from deep); end';
    create policy own on deep using (may_read());
    create table touched (id int primary key, n int);
    insert into touched values (1, 1);
    create function touch() returns trigger language plpgsql as
      $$ begin update public.touched set n = n + 1 where id = new.id; return new; end $$;
    create trigger touch before update on touched for each row when (pg_trigger_depth() = 0) execute function touch();
    create function slug(given text) returns text stable language plpgsql as $$ begin return hidden_slugify(given); end $$;
    create extension ltree; create extension hstore;
    create table named (id int primary key, relation regclass, function regproc, type regtype, role regrole, schema regnamespace, path ltree, attributes hstore);
    create table ruled (id int primary key);
    create rule kept as on delete to ruled do instead nothing;
    create table published (id int unique, n int);
    create publication changes for table published;
    create view published_rows as select * from published;
    comment on view published_rows is '@graphql({"primary_key_columns": ["id"]})';
    insert into published values (1, 1);
    create function note_down() returns int stable language plpgsql as $$ begin insert into ruled values (1); return 1; end $$;
    create function misread() returns int stable language plpgsql as $$ begin return (select gone from ruled); end $$;
    create function unended() returns int stable language plpgsql as $$ begin end $$;
    create function run_typo() returns int stable language plpgsql as $$ begin execute 'selec 1'; return 1; end $$;
    create function read_gone() returns int stable language plpgsql as $$ begin return (select 1 from hidden_gone); end $$;
    grant all on all tables in schema public to anon;
  `,
    watch,
  );
  const gateway = await startExecution(own);
  test.each([
    [
      '{ leafCollection { edges { node { shape { id } } } } }',
      'BAD_USER_INPUT',
      /no such operator.*the relationship\.$/,
    ],
    [
      'mutation { insertIntoloudCollection(objects: [{id: 2, up: "x"}]) { affectedCount } }',
      'BAD_USER_INPUT',
      /Leave it out\.$/,
    ],
    ['mutation { updateloudCollection(set: {up: "x"}) { affectedCount } }', 'BAD_USER_INPUT', /Leave it out\.$/],
    ['{ emptyCollection { edges { node { id } } } }', 'INTERNAL', /refresh materialized view/],
    ['{ loopCollection { edges { node { id } } } }', 'INTERNAL', /reads that table again, without end/],
    ['mutation { updatetouchedCollection(set: {n: 5}) { affectedCount } }', 'INTERNAL', /columns of "new"/],
    ['{ slug(given: "a") }', 'INTERNAL', /--extra-search-path/],
    ['{ read_gone }', 'INTERNAL', /--extra-search-path/],
    ...['relation', 'function', 'type', 'role', 'schema'].map((column): [string, string, RegExp] => [
      `mutation { insertIntonamedCollection(objects: [{id: 1, ${column}: "nobody"}]) { affectedCount } }`,
      'BAD_USER_INPUT',
      /Send the name of one that is there/,
    ]),
    [
      '{ namedCollection(filter: {relation: {eq: "a.b.c"}}) { edges { node { id } } } }',
      'BAD_USER_INPUT',
      /Send the name/,
    ],
    [
      'mutation { insertIntonamedCollection(objects: [{id: 1, type: "a.b"}]) { affectedCount } }',
      'BAD_USER_INPUT',
      /Send the name/,
    ],
    ...['type: "int["', 'type: "\'"', 'path: "(1,2)"', 'attributes: "x"'].map((value): [string, string, RegExp] => [
      `mutation { insertIntonamedCollection(objects: [{id: 1, ${value}}]) { affectedCount } }`,
      'BAD_USER_INPUT',
      /Correct its text\.$/,
    ]),
    ['{ run_typo }', 'INTERNAL', /text of a function or trigger cannot work/],
    ['mutation { deleteFromruledCollection { affectedCount } }', 'INTERNAL', /Replace the rule by a trigger/],
    ['mutation { deleteFrompublished_rowsCollection { affectedCount } }', 'INTERNAL', /"replica identity full"/],
    ['{ note_down }', 'INTERNAL', /Declare it "volatile"/],
    ['{ misread }', 'INTERNAL', /text of a function or trigger cannot work/],
    ['{ unended }', 'INTERNAL', /text of a function or trigger cannot work/],
  ])('%s', async (query, code, message) => {
    const { errors } = await gateway.run('anon', query);
    expect(errors).toMatchObject([
      { message: expect.stringMatching(message), extensions: { code, id: expect.any(String) } },
    ]);
    expect(JSON.stringify(errors)).not.toMatch(/hidden_/);
  });

  test('a policy whose function reads its own table is told what to do', async () => {
    const { errors } = await gateway.run('anon', '{ deepCollection { edges { node { id } } } }');
    expect(errors).toMatchObject([
      { message: expect.stringMatching(/declare it "security definer"/), extensions: { code: 'LIMIT_EXCEEDED' } },
    ]);
  });
});
