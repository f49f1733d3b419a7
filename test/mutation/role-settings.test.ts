/**
 * Settings of a role, a database or the login that decide how values are written as text, or who a caller is: no row is
 * lost by them, no value is stored as another, and nobody writes as another.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Json, startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const script = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table owner (id float8 primary key default 0.1::float8 + 0.2, part float4 unique, name text, tags text[]);
  create table pet (id float4 primary key, owner_id float8 references owner, name text);
  create table walk (at timestamptz primary key, long interval unique, name text);
  create table step (id int primary key, walk_at timestamptz references walk, walk_long interval references walk (long));
  create table pair (a float8, b float8, n int, primary key (a, b));
  create function caller() returns text stable language sql as $$
    select concat_ws(' ', current_setting('request.jwt.claims')::json ->> 'sub', current_setting('request.headers'),
      current_setting('request.method'), current_setting('request.path')) $$;
  create table mine (id int primary key, owner text not null default caller());
  grant select, insert, update, delete on all tables in schema public to anon;
`;

const settings: Readonly<Record<string, string>> = {
  extra_float_digits: '-5',
  bytea_output: 'escape',
  IntervalStyle: 'sql_standard',
  DateStyle: 'SQL, DMY',
  TimeZone: 'Asia/Kolkata',
  xmloption: 'document',
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  'request.jwt.claims': '{"sub": "somebody else"}',
  'request.headers': '{"x": "forged"}',
  'request.method': 'GET',
  'request.path': '/forged',
};

/** Who they are set for. */
const places: Readonly<Record<string, (database: TestDatabase) => string>> = {
  role: ({ name }) => `alter role anon in database ${name}`,
  database: ({ name }) => `alter database ${name}`,
  login: ({ name }) => `alter role authenticator in database ${name}`,
};

const close = 0.30000000000000004;

describe.each(Object.keys(places))('settings of the %s', (place) => {
  let database: TestDatabase;
  let execution: TestExecution;
  const ask = (query: string, variables: Json = {}) => execution.data('anon', query, { variables });

  beforeAll(async () => {
    database = await createDatabase(script);
    for (const [name, value] of Object.entries(settings))
      await database.query(`${places[place]!(database)} set ${name} = '${value}'`.replace("'SQL, DMY'", 'SQL, DMY'));
    execution = await startExecution(database);
  });

  test('an object with related objects gets its key, whatever its digits are', async () => {
    const data = await ask(
      `mutation ($id: Float!) { insertIntoOwnerCollection(objects: [{id: $id, name: "a", petCollection: {insert: [{id: 0.1, name: "x"}]}}]) {
        affectedCount records { id name petCollection { edges { node { id owner { name } } } } } } }`,
      { id: close },
    );
    expect(data.insertIntoOwnerCollection.records).toEqual([
      { id: close, name: 'a', petCollection: { edges: [{ node: { id: 0.1, owner: { name: 'a' } } }] } },
    ]);
  });

  test('related rows of an updated row are found by its key', async () => {
    const { updateOwnerCollection: updated } = await ask(
      `mutation { updateOwnerCollection(filter: {name: {eq: "a"}}, atMost: 1, set: {part: 1, petCollection: {
        insert: [{id: 0.7, name: "z"}], update: [{filter: {name: {eq: "x"}}, set: {name: "y"}}]}}) {
        affectedCount records { petCollection { edges { node { name } } } } } }`,
    );
    expect(updated.records[0].petCollection.edges.map(({ node }: Json) => node.name)).toEqual(['y', 'z']);
    const { deleted } = await ask(
      `mutation { deleted: updateOwnerCollection(filter: {name: {eq: "a"}}, atMost: 1, set: {part: 1, petCollection: {
        delete: [{filter: {name: {eq: "z"}}}]}}) { records { petCollection { edges { node { name } } } } } }`,
    );
    expect(deleted.records[0].petCollection.edges).toHaveLength(1);
  });

  test('timestamps and intervals of a key reach related rows unchanged', async () => {
    const { insertIntoWalkCollection: inserted } = await ask(
      `mutation { insertIntoWalkCollection(objects: [
          {at: "2024-03-04T05:06:07.123456Z", long: "1 mon -2 days +03:04:05.6", name: "a", stepCollection: {insert: [{id: 1}]}},
          {at: "2024-12-11T23:59:59Z", long: "-1 mon +2 days -03:04:05", name: "b", stepCollection: {insert: [{id: 2}]}},
          {at: "0044-03-15 12:00:00+00 BC", long: "-4 days", name: "c", stepCollection: {insert: [{id: 3}]}}]) {
        records { name stepCollection { edges { node { id } } } } } }`,
    );
    expect(inserted.records.map(({ stepCollection }: Json) => stepCollection.edges[0].node.id)).toEqual([1, 2, 3]);
  });

  test('days and months of the input are in the order of the setting', async () => {
    const { walkCollection } = await ask(
      '{ walkCollection(filter: {at: {lt: "05/03/2024 00:00:00Z"}, name: {neq: "c"}}) { edges { node { name at } } } }',
    );
    expect(walkCollection.edges).toEqual([{ node: { name: 'a', at: '2024-03-04T10:36:07.123456+05:30' } }]);
  });

  test('a cursor and a node id lead to the row they were read from', async () => {
    await database.query(
      `insert into pair select 1.0::float8 / n, 0.1::float8 + n * 1e-16, n from generate_series(1, 9) n`,
    );
    const seen: number[] = [];
    let after: string | null = null;
    for (let page = 0; page < 12; page += 1) {
      const { pairCollection } = await ask(
        'query ($after: Cursor) { pairCollection(first: 2, after: $after, orderBy: [{b: AscNullsLast}]) { edges { cursor node { n } } } }',
        { after },
      );
      if (pairCollection.edges.length === 0) break;
      seen.push(...pairCollection.edges.map(({ node }: Json) => node.n));
      after = pairCollection.edges.at(-1).cursor;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const { pairCollection } = await ask('{ pairCollection(filter: {n: {eq: 3}}) { edges { node { nodeId a b } } } }');
    const { nodeId, a, b } = pairCollection.edges[0].node;
    expect(await ask('query ($id: ID!) { node(nodeId: $id) { ... on Pair { n } } }', { id: nodeId })).toEqual({
      node: { n: 3 },
    });
    // What is shown finds the row again.
    const found =
      'query ($a: Float, $b: Float) { pairCollection(filter: {a: {eq: $a}, b: {eq: $b}}) { edges { node { n } } } }';
    expect((await ask(found, { a, b })).pairCollection.edges).toEqual([{ node: { n: 3 } }]);
  });

  test('a caller writes as the user of the token', async () => {
    const caller = 'me {} POST /graphql/v1';
    const query = 'mutation { insertIntoMineCollection(objects: [{id: 1}]) { affectedCount } }';
    await execution.data('anon', query, { claims: { sub: 'me' } });
    expect(await database.query('select owner from mine')).toEqual([{ owner: caller }]);
    expect(await execution.data('anon', '{ caller }', { claims: { sub: 'me' } })).toEqual({ caller });
  });

  test('null stays null', async () => {
    const { insertIntoOwnerCollection: inserted } = await ask(
      `mutation { insertIntoOwnerCollection(objects: [{id: 7, name: null, tags: ["a", null, "NULL"]}, {id: 8, name: "b", tags: []}]) { records { name tags } } }`,
    );
    expect(inserted.records).toEqual([
      { name: null, tags: ['a', null, 'NULL'] },
      { name: 'b', tags: [] },
    ]);
    const { upserted } = await ask(
      `mutation { upserted: insertIntoOwnerCollection(onConflict: {constraint: owner_pkey, updateColumns: [name]},
        objects: [{id: 7, name: "c"}, {id: 8, name: null}]) { records { name } } }`,
    );
    expect(upserted.records).toEqual([{ name: 'c' }, { name: null }]);
    expect(await database.query(`select count(*)::int as n from owner where name = 'NULL'`)).toEqual([{ n: 0 }]);
  });

  test('lists of updates and update operators find their rows', async () => {
    await ask(
      'mutation ($id: Float!) { insertIntoOwnerCollection(objects: [{id: $id, name: "one"}]) { affectedCount } }',
      {
        id: 0.1 + 0.7,
      },
    );
    const { many } = await ask(
      `mutation ($one: Float!, $two: Float!) { many: updateManyOwnerCollection(updates: [
        {filter: {id: {eq: $one}}, set: {name: null}}, {filter: {id: {eq: $two}}, set: {name: "d"}}]) { affectedCount records { id name } } }`,
      { one: 0.1 + 0.7, two: 7 },
    );
    expect(many.map(({ records }: Json) => records)).toEqual([[{ id: 0.1 + 0.7, name: null }], [{ id: 7, name: 'd' }]]);
  });
});
