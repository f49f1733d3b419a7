/**
 * The schema of a role for operators: what requests of the role see, and why the rest is missing.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, type ManagementReply, managedGateway, ref } from './management.ts';

let database: TestDatabase;
let managed: ManagedGateway;

const accessToken = 'sbp_0123456789012345678901234567890123456789';

const get = (role: string, token: string = accessToken): Promise<ManagementReply> =>
  managed.call({ path: `/v1/projects/${ref}/schema?role=${encodeURIComponent(role)}`, token: `Bearer ${token}` });

beforeAll(async () => {
  database = await createAuthDatabase();
  await database.query(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table author (id bigint primary key, full_name text not null, secret text);
    create table book (id bigint primary key, title text, author_id bigint not null references author, "no name" text);
    create table loan (book_id bigint primary key references book);
    create table log (line text);
    create function _loud_title(book) returns text stable language sql as 'select upper($1.title)';
    grant usage on schema public to anon, service_role;
    grant select (id, full_name), insert on author to anon;
    grant select on book, loan, log to anon;
    grant select on author to service_role`);
});

beforeEach(async () => {
  managed = await managedGateway(database, await addToken(database), { accessToken });
});

describe('the schema of a role', () => {
  test('the schema of a role has its tables with the fields that its requests may ask for', async () => {
    const { status, body } = await get('anon');
    expect(status).toBe(200);
    expect(body.role).toBe('anon');
    expect(body.tables.map(({ name }: { name: string }) => name)).toEqual(['Author', 'Book', 'Loan']);
    expect(body.tables[0]).toMatchObject({
      name: 'Author',
      object: 'public.author',
      kind: 'table',
      rowSecurity: false,
      rootFields: ['authorCollection', 'authorByPk'],
      insert: true,
      update: false,
      delete: false,
    });
    const fields = body.tables[0].fields.map(({ name, type, kind, column, isKey, target }: Record<string, unknown>) => {
      return [name, type, kind, column, isKey, target];
    });
    expect(fields).toEqual([
      ['nodeId', 'ID!', 'node_id', null, false, null],
      ['id', 'BigInt!', 'column', 'id', true, null],
      ['fullName', 'String!', 'column', 'full_name', false, null],
      ['bookCollection', 'BookConnection', 'relationship', null, false, 'Book'],
    ]);
    expect(body.tables[1].fields.at(-1)).toMatchObject({ name: 'loudTitle', type: 'String', kind: 'computed' });
  });

  test('the schema of a role says what extensions add to a table, for what the role sees', async () => {
    await database.query(`
      create schema more; comment on schema more is '@graphql({"inflect_names": true})';
      create table more.post (id int primary key, at date, body jsonb, old json, words tsvector);
      create table more.tag (id int primary key, label text);
      create table more.post_tag (post_id int references more.post, tag_id int references more.tag, primary key (post_id, tag_id));
      comment on table more.post is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
      comment on table more.post_tag is '@graphql({"many_to_many": true})';
      create function more.age(more.post) returns int stable language sql as 'select 1';
      comment on function more.age(more.post) is '@graphql({"filter": true, "order": true})';
      grant usage on schema more to anon, service_role;
      grant select on all tables in schema more to anon; grant insert, update on more.tag to anon; grant select (id, at) on more.post to service_role`);
    managed = await managedGateway(database, await addToken(database), { accessToken, schemas: ['more'] });
    const added = async (role: string) =>
      Object.fromEntries(
        (await get(role)).body.tables.map(
          ({ name, added: all }: { name: string; added: Record<string, unknown>[] }) => [
            name,
            Object.fromEntries(all.map(({ kind, names }) => [kind, names])),
          ],
        ),
      );
    const seen = await added('anon');
    expect(seen.Post).toEqual({
      related_filter: ['postTagCollection', 'tagCollection'],
      related_order: ['postTagCollection', 'tagCollection'],
      function_filter: ['age'],
      function_order: ['age'],
      json_filter: ['body', 'old'],
      json_part: ['body', 'old'],
      text_search: ['words'],
      rank: ['wordsRank'],
      many_to_many: ['tagCollection'],
      distinct: ['distinctOn'],
      groups: ['groups'],
      count_at_most: ['totalCount(atMost)'],
    });
    expect(seen.Tag).toMatchObject({
      many_to_many: ['postCollection'],
      distinct: ['distinctOn'],
      upsert: ['onConflict'],
      update_operator: ['increment', 'append'],
      update_many: ['updateManyTagCollection'],
      row_write: ['insertTag', 'updateTagByPk'],
    });
    expect(seen.Tag).not.toHaveProperty('groups');
    expect((await get('anon')).body.relationships).toEqual([
      { from: 'PostTag', to: 'Post', field: 'post', inverse: 'postTagCollection', cardinality: 'many' },
      { from: 'PostTag', to: 'Tag', field: 'tag', inverse: 'postTagCollection', cardinality: 'many' },
    ]);
    // A function of a row reads every column.
    expect(await added('service_role')).toEqual({
      Post: {
        distinct: ['distinctOn'],
        groups: ['groups'],
        count_at_most: ['totalCount(atMost)'],
      },
    });
    managed = await managedGateway(database, await addToken(database), {
      accessToken,
      schemas: ['more'],
      extensions: [],
    });
    expect(await added('anon')).toEqual({ Post: {}, Tag: {}, PostTag: {} });
    await database.query('drop schema more cascade');
  });

  test('a table of a role says how the role filters, orders and writes it, also where introspection is off', async () => {
    const table = async (name: string, role: string, token = accessToken) =>
      managed.call({ path: `/v1/projects/${ref}/schema/tables/${name}?role=${role}`, token: `Bearer ${token}` });
    const { status, body } = await table('Book', 'anon');
    expect(status).toBe(200);
    const { columns, relationships, ...rest } = body;
    expect(rest).toEqual({
      role: 'anon',
      name: 'Book',
      object: 'public.book',
      kind: 'table',
      description: null,
      rowSecurity: false,
      maxRows: 30,
      jsonValues: false,
      collection: 'bookCollection',
      totalCount: false,
      countAtMost: false,
      live: true,
      insert: null,
      update: null,
      delete: null,
      nodeId: 'nodeId',
      enums: [],
    });
    expect(
      columns.map(({ name, type, isKey, isOrdered }: Record<string, unknown>) => [name, type, isKey, isOrdered]),
    ).toEqual([
      ['id', 'BigInt!', true, true],
      ['title', 'String', false, true],
      ['authorId', 'BigInt!', false, true],
    ]);
    expect(columns[1].operators).toContainEqual({ name: 'in', type: '[String!]' });
    expect(relationships[0]).toEqual({
      name: 'author',
      target: 'Author',
      isList: false,
      isForeignKey: true,
      pairs: [{ local: 'authorId', foreign: 'id' }],
      isFiltered: true,
      inserts: [],
      updates: [],
    });
    // What the role may insert and not read is there, and says so; what it may neither read nor insert is not.
    const { body: author } = await table('Author', 'anon');
    expect(author.insert).toBe('insertIntoAuthorCollection');
    expect(
      author.columns.map(({ name, isRead, insert, update }: Record<string, unknown>) => [name, isRead, insert, update]),
    ).toEqual([
      ['id', true, 'BigInt', null],
      ['fullName', true, 'String', null],
      ['secret', false, 'String', null],
    ]);
    expect(await table('Book', 'service_role')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await table('Book', 'postgres')).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    const lesser = await addToken(database, { scopes: ['project:read', 'auth_config:write'] });
    expect(await table('Book', 'anon', lesser)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  test('a table of a role says what its inserts and updates do with related rows', async () => {
    await database.query(`
      grant usage on schema public to authenticated;
      create table shelf (id bigint primary key, title text unique);
      create table folder (id bigint primary key, shelf_id bigint references shelf, title text);
      grant select, insert on shelf, folder to authenticated`);
    const related = async (table: string) => {
      const path = `/v1/projects/${ref}/schema/tables/${table}?role=authenticated`;
      const { body } = await managed.call({ path, token: `Bearer ${accessToken}` });
      return body.relationships;
    };
    const list = { name: 'folderCollection', target: 'Folder', isList: true, isForeignKey: false };
    try {
      expect(await related('Shelf')).toMatchObject([{ ...list, inserts: ['insert'], updates: [] }]);
      await database.query('grant update, delete on shelf, folder to authenticated');
      const writes = ['insert', 'update', 'delete', 'connect', 'disconnect', 'replace'];
      expect(await related('Shelf')).toMatchObject([{ ...list, inserts: ['insert', 'connect'], updates: writes }]);
      expect(await related('Folder')).toMatchObject([
        {
          name: 'shelf',
          isList: false,
          inserts: ['insert', 'connect'],
          updates: ['insert', 'update', 'connect', 'disconnect'],
        },
      ]);
    } finally {
      await database.query('drop table folder, shelf');
    }
  });

  test('the schema of a role has each foreign key once, with the fields of both its sides', async () => {
    expect((await get('anon')).body.relationships).toEqual([
      { from: 'Book', to: 'Author', field: 'author', inverse: 'bookCollection', cardinality: 'many' },
      { from: 'Loan', to: 'Book', field: 'book', inverse: 'loan', cardinality: 'one' },
    ]);
  });

  test('the schema of a role says of what is missing why, and the SQL that changes it; running that changes the next answer', async () => {
    const missing = async () => {
      const { body } = await get('anon');
      return Object.fromEntries(
        body.missing.map(({ reason, kind, fix }: Record<string, unknown>) => [reason, [kind, fix]]),
      );
    };
    const before = await missing();
    const column = 'Column public.author.secret exists; role anon has no SELECT on it.';
    const grant = 'grant select (secret) on public.author to anon;';
    expect(before).toMatchObject({
      [column]: ['privilege', grant],
      'Table public.log has no primary key.': [
        'key',
        'alter table public.log add column id bigint generated always as identity primary key;',
      ],
      'Column public.book."no name" has no valid GraphQL name.': [
        'name',
        `comment on column public.book."no name" is '@graphql({"name":"no_name"})';`,
      ],
      'Table public.author exists; role anon has no UPDATE.': ['privilege', 'grant update on public.author to anon;'],
    });
    await database.query(grant);
    const { [column]: gone, ...others } = before;
    expect(gone).toBeDefined();
    expect(await missing()).toEqual(others);
  });

  test('the schema of a role says which tables it only inserts into', async () => {
    expect((await get('service_role')).body.insertOnly).toEqual([]);
    await database.query('grant insert on loan to service_role');
    try {
      const { body } = await get('service_role');
      expect(body.insertOnly).toEqual(['public.loan']);
      expect(body.tables.map(({ name }: { name: string }) => name)).toEqual(['Author']);
      expect(body.missing.find(({ object }: { object: string }) => object === 'public.loan')).toMatchObject({
        reason: 'Table public.loan exists; role service_role may insert, and has no SELECT.',
        fix: 'grant select on public.loan to service_role;',
      });
    } finally {
      await database.query('revoke insert on loan from service_role');
    }
  });

  test("the schema of a role is each role's own, also where two roles see the same", async () => {
    await database.query('grant usage on schema public to authenticated; grant select on author to authenticated');
    const [service, twin] = [(await get('service_role')).body, (await get('authenticated')).body];
    expect(twin.tables).toEqual(service.tables);
    expect(service.missing.map(({ fix }: { fix: string }) => fix)).toContain(
      'grant select on public.book to service_role;',
    );
    expect(JSON.stringify(twin.missing)).not.toContain('service_role');
  });

  test('the schema of a role is for operators only, because it names what the role cannot see', async () => {
    const usual = await addToken(database);
    expect(await get('anon', usual)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const operator = await addToken(database, { scopes: ['project:operate'] });
    expect(await get('anon', operator)).toMatchObject({ status: 200 });
    expect(await get('anon', 'sbp_0000000000000000000000000000000000000000')).toMatchObject({ status: 401 });
  });

  test('the schema of a role is refused for a role that requests may not have', async () => {
    const message = 'role must be one of the roles that requests may have';
    for (const role of ['', 'postgres', 'anon&role=service_role', 'nobody"; drop table author; --']) {
      expect(await get(role)).toMatchObject({ status: 400, body: { code: 'validation_failed', message } });
    }
    const path = `/v1/projects/${ref}/schema?role=anon&role=service_role`;
    expect(await managed.call({ path, token: `Bearer ${accessToken}` })).toMatchObject({ status: 400 });
  });

  test('the schema of a role is not there for a role that the database does not have, where requests may have any', async () => {
    managed = await managedGateway(database, await addToken(database), { accessToken, allowedRoles: '*' });
    expect(await get('nobody')).toMatchObject({
      status: 404,
      body: { code: 'not_found', message: 'There is no role "nobody" in the database' },
    });
  });

  test('the schema of a role is empty while a directive is malformed, and says which', async () => {
    await database.query(`comment on table log is '@graphql({"name": })'`);
    const { body } = await get('anon');
    expect(body.tables).toEqual([]);
    expect(body.missing[0]).toMatchObject({
      kind: 'directive',
      object: 'public.log',
      fix: expect.stringMatching(/^-- Correct the directive, or leave it out:\n-- comment on table public\.log is /),
    });
    await database.query('comment on table log is null');
  });
});
