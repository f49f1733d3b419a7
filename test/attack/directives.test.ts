/**
 * Comment directives that are malformed or hostile: every request fails closed with the same code and names the object to
 * those who may see it; names that a directive takes from another object give access to nothing.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { expectNothingLeaked, nest } from './attack.ts';

const base = `
  create table item (id int primary key, body text);
  create table hidden (id int primary key, secret text);
  insert into hidden values (1, 'never shown');
  create type mood as enum ('sad', 'happy');
  create function twice(n int) returns int stable language sql as 'select 2 * n';
  grant usage on schema public to anon;
  grant select on item to anon;
`;
const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
const list = '{ itemCollection { edges { node { id } } } }';

let database: TestDatabase;
let gateway: TestGateway;

beforeAll(async () => {
  database = await createDatabase(base, 'create table plain (id int primary key); grant select on plain to anon');
  gateway = await testGateway(database, { schemaPollMs: 600_000, introspection: 'always' }, atEnd);
});

let commented: readonly string[] = [];

/** Serves the schema with this comment on each of the objects, and with none from the time before. */
async function setComments(objects: readonly string[], comment: string): Promise<void> {
  for (const object of commented) await database.query(`comment on ${object} is null`);
  commented = objects;
  for (const object of objects) await database.query(`comment on ${object} is ${quote(comment)}`);
  await gateway.reload();
}

describe('a directive that is malformed', () => {
  test.each<[string, string, string]>([
    ['not JSON', 'table item', '@graphql({name: "x"})'],
    ['unfinished', 'table item', '@graphql({"name": "x")'],
    ['nested too deep', 'table item', `@graphql(${nest(100_000, '[', ']')}x)`],
    ['a negative page size', 'table item', '@graphql({"max_rows": -1})'],
    ['a page size that is no number', 'schema public', '@graphql({"max_rows": "1; drop table item"})'],
    ['a key that is no list', 'table item', '@graphql({"primary_key_columns": "id"})'],
    ['foreign keys without their parts', 'table item', '@graphql({"foreign_keys": [{}]})'],
    ['mappings that are no object', 'type mood', '@graphql({"mappings": ["sad"]})'],
    ['a description that is no text', 'column item.body', '@graphql({"description": {"a": 1}})'],
    ['on a function', 'function twice(int)', '@graphql({"name": )'],
  ])('%s fails every request of the role with its place', async (_name, object, comment) => {
    await setComments([object], comment);
    for (const query of [list, '{ __typename }', '{ twice(n: 1) }']) {
      const { status, body } = await gateway.ask(query);
      expect([status, body.data, body.errors[0].extensions.code]).toEqual([200, undefined, 'DIRECTIVE_INVALID']);
      expect(body.errors[0].message).toMatch(/^Error while loading schema, check comment directives\./);
      expect(body.errors[0].message.length).toBeLessThan(2000);
      expectNothingLeaked(JSON.stringify(body));
    }
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    await setComments([], '');
    expect((await gateway.ask(list)).body).toEqual({ data: { itemCollection: { edges: [] } } });
  });

  test('on an object that the role may not see is reported by an error id only', async () => {
    const own = await createDatabase(base, `comment on table hidden is '@graphql({"secret-directive": )'`);
    const started = await testGateway(own, { schemaPollMs: 600_000 });
    const { body } = await started.ask(list);
    expect(body.errors).toEqual([
      {
        message: 'Error while loading schema, check comment directives.',
        extensions: { code: 'DIRECTIVE_INVALID', id: expect.any(String) },
      },
    ]);
    expect(started.observations).toContainEqual(
      expect.objectContaining({ kind: 'masked_error', id: body.errors[0].extensions.id }),
    );
  });
});

describe('a directive that is hostile', () => {
  const names = [
    'Query', 'Mutation', 'Int', 'String', 'ID', '__Schema', '__typename', 'Node', 'PageInfo', 'Cursor', 'constructor', '__proto__', 'toString',
    'item; drop table hidden', 'a"b', "a'b", '', ' ', '9lives', 'ünïcode', 'x'.repeat(70_000), '\\u0000', 'hidden', 'Hidden',
  ]; // biome-ignore format: a list
  test.each(names)(
    'with the name %j for a table, a column, a type and a function gives a valid schema',
    async (name) => {
      gateway.observations.length = 0;
      const named = ['table item', 'column item.body', 'type mood', 'function twice(int)'];
      await setComments(named, `@graphql(${JSON.stringify({ name })})`);
      expect((await gateway.ask('{ plainCollection { edges { node { id } } } }')).body).toEqual({
        data: { plainCollection: { edges: [] } },
      });
      const { body } = await gateway.ask('{ __schema { queryType { name } types { name fields { name } } } }');
      expect(body.errors).toBeUndefined();
      expect(body.data.__schema.queryType.name).toBe('Query');
      for (const type of body.data.__schema.types) expect(type.name).toMatch(/^[_A-Za-z]\w*$/);
      expect(JSON.stringify(await database.query('select secret from hidden'))).toContain('never shown');
      expect(gateway.observations.filter(({ kind }) => kind === 'masked_error')).toEqual([]);
    },
  );

  test('foreign keys to a hidden table or a catalog table lead nowhere', async () => {
    const key = (foreign_schema: string, foreign_table: string, foreign_columns: readonly string[]) => ({
      local_columns: ['id'],
      foreign_schema,
      foreign_table,
      foreign_columns,
    });
    const keys = [
      key('public', 'hidden', ['id']),
      key('pg_catalog', 'pg_authid', ['oid']),
      key('public', 'item"; drop table hidden; --', ['id']),
      key('public', 'item', ['id"; drop table hidden; --']),
    ];
    await setComments(['table item'], `@graphql(${JSON.stringify({ foreign_keys: keys })})`);
    const { body } = await gateway.ask('{ __type(name: "item") { fields { name } } }');
    expect(body.data.__type.fields.map((field: { name: string }) => field.name).sort()).toEqual([
      'body',
      'id',
      'nodeId',
    ]);
    expect(await database.query('select id from hidden')).toEqual([{ id: 1 }]);
  });
});

test('An enum of a hundred thousand labels without a name stops no request, while a name is looked for each', async () => {
  const own = await createDatabase(`${base}
    do $$ begin execute (
      select 'create type odd as enum (' || string_agg(quote_literal(replace(replace(i::bit(20)::text, '0', '?'), '1', '!')), ',') || ')'
      from generate_series(1, 100000) i
    ); end $$`);
  const { ask } = await testGateway(own);
  expect((await ask(list)).body).toEqual({ data: { itemCollection: { edges: [] } } });
});

test('A function whose default has 17 MB stops no request', async () => {
  const own = await createDatabase(`${base}
    do $$ begin execute format('create function says(words text default %L) returns text stable language sql as %L', repeat('a', 17000000), 'select 1::text'); end $$`);
  const { ask } = await testGateway(own, { schemaPollMs: 600_000 });
  expect((await ask('{ itemCollection { edges { node { id } } } says(words: "x") }')).body).toEqual({
    data: { itemCollection: { edges: [] }, says: '1' },
  });
});
