/** Partitioned tables as tables of the API, and partitions that their comment hides (docs/extensions.md). */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  create schema app; create schema plain; grant usage on schema app, plain to anon;
  create table app.site (id int primary key, name text);
  create table app.visit (id int, day date, site_id int references app.site (id), page text, hits int default 1, unique (page, day),
    primary key (id, day)) partition by range (day);
  create table app.visit_2025 partition of app.visit for values from ('2025-01-01') to ('2026-01-01');
  create table app.visit_2026 partition of app.visit for values from ('2026-01-01') to ('2027-01-01') partition by range (day);
  create table app.visit_2026_1 partition of app.visit_2026 for values from ('2026-01-01') to ('2027-01-01');
  create table app.note (id int primary key, visit_id int, day date, text text, foreign key (visit_id, day) references app.visit);
  create table app.keyless (id int) partition by range (id);
  insert into app.site values (1, 'one'), (2, 'two');

  create table app.log (id int, kind text, primary key (id, kind)) partition by list (kind);
  create table app.log_a partition of app.log for values in ('a') partition by range (id);
  create table app.log_a_1 partition of app.log_a for values from (0) to (100);
  create table app.log_b partition of app.log for values in ('b');
  comment on table app.log is '@graphql({"partitions": "hidden"})';
  insert into app.log values (1, 'a'), (2, 'b');
  create function app.logs() returns setof app.log stable language sql as 'select * from app.log order by id';
  create function app.label(app.log) returns text stable language sql as 'select $1.kind || $1.id';
  create function app.part_of_log() returns setof app.log_b stable language sql as 'select * from app.log_b';

  create table app.own (id int primary key, owner_id int, owner_day date);
  create table app.taken (id int primary key);
  comment on table app.taken is '@graphql({"name": "part"})';
  create table app.part (id int primary key) partition by range (id);
  create table app.held (id int primary key) partition by range (id);
  create function app."heldCollection"() returns int stable language sql as 'select 1';
  create table app.pair (own_id int primary key references app.own (id)) partition by range (own_id);
  alter table app.own add column pair text;

  create table plain.reader (id int primary key, log_id int, kind text, foreign key (log_id, kind) references app.log);
  create function plain.one_log() returns app.log stable language sql as 'select * from app.log limit 1';
  comment on schema plain is '@graphql({"extensions": false})';
  grant all on all tables in schema app, plain to anon;
`);
const schemas = ['app', 'plain'];
const execution = await startExecution(database, { schemas, introspection: 'always' });
const namesOf = async (type: string, of = execution, role = 'anon'): Promise<readonly string[]> => {
  const { __type } = await of.data(role, `{ __type(name: "${type}") { fields { name } } }`);
  return __type.fields.map(({ name }: Json) => name);
};

describe('a partitioned table with a primary key', () => {
  test('a partitioned table is read like any other, with relationships in both directions', async () => {
    await database.query(`insert into app.visit values (1, '2025-03-01', 1, 'a'), (2, '2026-03-01', 2, 'b');
      insert into app.note values (1, 2, '2026-03-01', 'n')`);
    const data = await execution.data(
      'anon',
      `{ visitCollection(filter: { site: { name: { eq: "two" } } }, orderBy: [{ day: DescNullsLast }]) {
          edges { node { nodeId id day page site { name visitCollection { edges { node { id } } } } noteCollection { edges { node { text visit { page } } } } } } }
        siteCollection(filter: { visitCollection: { some: { page: { eq: "a" } } } }) { edges { node { name visitCollection { edges { node { day } } } } } } }`,
    );
    expect(data.visitCollection.edges).toEqual([
      {
        node: {
          nodeId: Buffer.from('["app", "visit", 2, "2026-03-01"]').toString('base64'),
          id: 2,
          day: '2026-03-01',
          page: 'b',
          site: { name: 'two', visitCollection: { edges: [{ node: { id: 2 } }] } },
          noteCollection: { edges: [{ node: { text: 'n', visit: { page: 'b' } } }] },
        },
      },
    ]);
    expect(data.siteCollection.edges).toEqual([
      { node: { name: 'one', visitCollection: { edges: [{ node: { day: '2025-03-01' } }] } } },
    ]);
  });

  test('a partitioned table is written like any other, and rows go to their partitions', async () => {
    const data = await execution.data(
      'anon',
      `mutation {
        insertIntovisitCollection(objects: [
          { id: 10, day: "2025-05-05", page: "x", site: { insert: { id: 3, name: "three" } } },
          { id: 11, day: "2026-05-05", page: "y", site_id: 1 }]) { records { id hits site { name } } }
        updatevisitCollection(set: { day: "2026-06-06" }, filter: { id: { eq: 10 } }) { affectedCount }
        deleteFromvisitCollection(filter: { id: { eq: 11 } }) { records { id } } }`,
    );
    expect(data).toEqual({
      insertIntovisitCollection: {
        records: [
          { id: 10, hits: 1, site: { name: 'three' } },
          { id: 11, hits: 1, site: { name: 'one' } },
        ],
      },
      updatevisitCollection: { affectedCount: 1 },
      deleteFromvisitCollection: { records: [{ id: 11 }] },
    });
  });

  test('a partitioned table takes onConflict by keys that hold the partition key', async () => {
    const upsert = (object: string) =>
      execution.run(
        'anon',
        `mutation { insertIntovisitCollection(objects: [${object}], onConflict: { constraint: visit_page_day_key, updateColumns: [hits] }) { records { id hits } } }`,
      );
    await execution.data(
      'anon',
      'mutation { insertIntovisitCollection(objects: [{ id: 20, day: "2025-07-07", page: "p" }]) { affectedCount } }',
    );
    const { data } = await upsert('{ id: 21, day: "2025-07-07", page: "p", hits: 5 }');
    expect(data.insertIntovisitCollection.records).toEqual([{ id: 20, hits: 5 }]);
  });

  test('rows of a partitioned table have node ids; without a key it is left out and reported', async () => {
    const nodeId = Buffer.from('["app", "log", 1, "a"]').toString('base64');
    expect(await execution.data('anon', `{ node(nodeId: "${nodeId}") { ... on log { kind } } }`)).toEqual({
      node: { kind: 'a' },
    });
    const omissions = await modelReader(database).omissions(schemas);
    expect(omissions.find(({ object }) => object === 'app.keyless')).toMatchObject({
      kind: 'key',
      reason:
        'Partitioned table app.keyless has no primary key. Its key must have the columns that decide the partition.',
    });
  });
});

describe('partitions', () => {
  test('partitions stay tables of their own, also those that have partitions', async () => {
    const fields = await namesOf('Query');
    expect(fields).toEqual(
      expect.arrayContaining(['visit_2025Collection', 'visit_2026Collection', 'visit_2026_1Collection']),
    );
  });

  test('hidden partitions are left out of the tables that a role only inserts into, too', async () => {
    await database.query(
      `grant usage on schema app to authenticated; grant insert on app.log, app.log_a, app.log_b to authenticated`,
    );
    await execution.reload();
    const fields = await namesOf('Mutation', execution, 'authenticated');
    expect(fields).toEqual(['insertIntologCollection']);
  });

  test('partitions are left out where a comment above them hides them, and reported', async () => {
    const fields = await namesOf('Query');
    expect(fields.filter((name) => /log/.test(name))).toEqual(['logByPk', 'logCollection', 'logs']);
    const omissions = await modelReader(database).omissions(schemas);
    // Somebody asked for it: neither `check` nor the studio takes it for a mistake.
    const hidden = omissions.filter(({ reason }) => reason.includes('is a partition'));
    expect(new Set(hidden.map(({ kind }) => kind))).toEqual(new Set(['switch']));
    expect(hidden.map(({ reason }) => reason)).toEqual([
      'Partitioned table app.log_a is a partition, which the comment of app.log hides.',
      'Table app.log_a_1 is a partition, which the comment of app.log hides.',
      'Table app.log_b is a partition, which the comment of app.log hides.',
    ]);
    expect(await execution.data('anon', '{ logs { edges { node { label } } } }')).toEqual({
      logs: { edges: [{ node: { label: 'a1' } }, { node: { label: 'b2' } }] },
    });
  });

  test('a comment that says something else fails every request, as other mistakes do', async () => {
    await database.query(`comment on table app.visit is '@graphql({"partitions": "none"})'`);
    await execution.reload();
    const { errors } = await execution.run('anon', '{ siteCollection { edges { node { id } } } }');
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('"partitions" must be "hidden"'),
      extensions: { code: 'DIRECTIVE_INVALID' },
    });
    await database.query('comment on table app.visit is null');
    await execution.reload();
  });
});

describe('what is there without it', () => {
  test('names that are there without partitioned tables stay: types, root fields, columns', async () => {
    expect(await namesOf('part')).toEqual(['nodeId', 'id']);
    expect(await execution.data('anon', '{ heldCollection partCollection { edges { node { id } } } }')).toEqual({
      heldCollection: 1,
      partCollection: { edges: [] },
    });
    const own = await execution.data('anon', '{ __type(name: "own") { fields { name type { name } } } }');
    expect(own.__type.fields.at(-1)).toEqual({ name: 'pair', type: { name: 'String' } });
  });

  test('a schema without the extension has nothing of partitioned tables', async () => {
    expect(await namesOf('reader')).toEqual(['nodeId', 'id', 'log_id', 'kind']);
    expect(await namesOf('Query')).not.toContain('one_log');
    const without = await startExecution(database, { schemas, introspection: 'always', extensions: [] });
    const fields = await namesOf('Query', without);
    expect(fields.filter((name) => /^(visit|log).*Collection/.test(name))).toEqual([
      'log_a_1Collection',
      'log_bCollection',
      'visit_2025Collection',
      'visit_2026_1Collection',
    ]);
  });
});

test('policies of the table that a request names decide, and no others', async () => {
  await createSchema(
    database,
    'guarded',
    `
    create table ev (id int primary key, tenant int not null) partition by range (id);
    create table ev_1 partition of ev for values from (0) to (100);
    insert into ev values (1, 1), (2, 2);
    alter table ev enable row level security; create policy own on ev to anon using (tenant = 1);
    alter table ev_1 enable row level security; create policy other on ev_1 to anon using (tenant = 2);
    grant select, update, delete on ev, ev_1 to anon;
  `,
  );
  const { run } = await startExecution(database, { schemas: ['guarded'] });
  const ids = async (table: string) =>
    (await run('anon', `{ ${table}Collection { nodes { id } } }`)).data[`${table}Collection`].nodes;
  expect([await ids('ev'), await ids('ev_1')]).toEqual([[{ id: 1 }], [{ id: 2 }]]);
  const { data } = await run('anon', 'mutation { deleteFromevCollection(atMost: 9) { affectedCount } }');
  expect(data).toEqual({ deleteFromevCollection: { affectedCount: 1 } });
  expect(await database.query('select id from guarded.ev')).toEqual([{ id: 2 }]);
});
