/**
 * Writing a foreign table: rows of a second, real database, reached through postgres_fdw.
 */
import { beforeEach, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const remote = await createDatabase(`
  create table stock (id int primary key, name varchar(10) not null default 'remote', amount int default 9 check (amount >= 0));
  create function shout() returns trigger language plpgsql as $$ begin new.name := new.name || '!'; return new; end $$;
  create trigger shout before insert on stock for each row when (new.name = 'loud') execute function shout();
`);
const { hostname, port, username, password } = new URL(remote.url);
const database = await createDatabase(`
  create extension postgres_fdw;
  create server warehouse foreign data wrapper postgres_fdw options (host '${hostname}', port '${port}', dbname '${remote.name}');
  create user mapping for public server warehouse options (user '${username}', password '${password}', password_required 'false');
  create foreign table stock (id int not null, name varchar(10) default 'local', amount int) server warehouse;
  comment on foreign table stock is '@graphql({"primary_key_columns": ["id"], "totalCount": {"enabled": true}})';
  create foreign table stock_read_only (id int) server warehouse options (table_name 'stock', updatable 'false');
  comment on foreign table stock_read_only is '@graphql({"primary_key_columns": ["id"]})';
  create server closed foreign data wrapper postgres_fdw options (host '127.0.0.1', port '1', dbname 'none');
  create user mapping for public server closed options (user 'nobody', password 'none', password_required 'false');
  create foreign table lost (id int not null) server closed;
  comment on foreign table lost is '@graphql({"primary_key_columns": ["id"]})';
  create table local_log (id int primary key);
  grant all on all tables in schema public to anon;
`);
const gateway = await startExecution(database);
const run = (query: string) => gateway.run('anon', query);
const stock = () => remote.query('select id, name, amount from stock order by id');

beforeEach(async () => {
  await remote.query("truncate stock; insert into stock values (1, 'bolt', 5), (2, 'nut', 6)");
  await database.query('truncate local_log');
});

test('a foreign table is inserted into, updated and deleted from like any other', async () => {
  const insert =
    'mutation { insertIntostockCollection(objects: [{id: 3, name: "loud", amount: 1}, {id: 4, name: "gear", amount: null}]) { affectedCount records { nodeId id name amount } } }';
  const nodeId = (id: number) => Buffer.from(`["public", "stock", ${id}]`).toString('base64');
  expect(await run(insert)).toEqual({
    data: {
      insertIntostockCollection: {
        affectedCount: 2,
        records: [
          { nodeId: nodeId(3), id: 3, name: 'loud!', amount: 1 },
          { nodeId: nodeId(4), id: 4, name: 'gear', amount: null },
        ],
      },
    },
  });
  const update = `mutation { updatestockCollection(set: {amount: 7}, filter: {nodeId: {eq: "${nodeId(4)}"}}) { affectedCount records { amount } } }`;
  expect(await run(update)).toEqual({
    data: { updatestockCollection: { affectedCount: 1, records: [{ amount: 7 }] } },
  });
  expect(
    await run('mutation { deleteFromstockCollection(filter: {id: {lt: 3}}, atMost: 2) { affectedCount } }'),
  ).toEqual({
    data: { deleteFromstockCollection: { affectedCount: 2 } },
  });
  expect(await stock()).toEqual([
    { id: 3, name: 'loud!', amount: 1 },
    { id: 4, name: 'gear', amount: 7 },
  ]);
});

test('defaults are those of the foreign table, not of the remote one', async () => {
  const query =
    'mutation { insertIntostockCollection(objects: [{id: 3}, {id: 4, name: "gear"}]) { records { name amount } } }';
  expect(await run(query)).toEqual({
    data: {
      insertIntostockCollection: {
        records: [
          { name: 'local', amount: null },
          { name: 'gear', amount: null },
        ],
      },
    },
  });
});

test('a failure of the remote database, of atMost or of a later field undoes the remote rows too', async () => {
  const before = await stock();
  const local = 'a: insertIntolocal_logCollection(objects: {id: 1}) { affectedCount }';
  const bodies = [
    await run(
      `mutation { ${local} b: insertIntostockCollection(objects: [{id: 3}, {id: 4, amount: -1}]) { affectedCount } }`,
    ),
    await run(`mutation { ${local} b: updatestockCollection(set: {amount: 1}) { affectedCount } }`),
    await run(
      `mutation { b: insertIntostockCollection(objects: {id: 3}) { affectedCount } ${local} c: insertIntolocal_logCollection(objects: {id: 1}) { affectedCount } }`,
    ),
  ];
  expect(bodies.map(({ data, errors }) => [data, errors[0].extensions.code, errors[0].path])).toEqual([
    [null, 'CONSTRAINT_VIOLATION', ['b']],
    [null, 'BAD_USER_INPUT', ['b']],
    [null, 'CONSTRAINT_VIOLATION', ['c']],
  ]);
  expect(await stock()).toEqual(before);
  expect(await database.query('select * from local_log')).toEqual([]);
});

test('a string over the local length is refused before anything runs', async () => {
  expect(
    await run('mutation { insertIntostockCollection(objects: {id: 3, name: "much too long"}) { affectedCount } }'),
  ).toMatchObject({
    data: null,
    errors: [{ message: 'Invalid input for String type. Maximum character length 10' }],
  });
});

test('a foreign table that its server calls read only has no mutation fields', async () => {
  for (const field of [
    'insertIntostock_read_onlyCollection(objects: {id: 3})',
    'updatestock_read_onlyCollection(set: {id: 3})',
    'deleteFromstock_read_onlyCollection',
  ]) {
    expect((await run(`mutation { ${field} { affectedCount } }`)).errors[0].extensions.code).toBe(
      'GRAPHQL_VALIDATION_FAILED',
    );
  }
});

test('a foreign server that is down fails the statement alone: no outage, and no doubt about what was written', async () => {
  const message = 'Another server that the database reads or writes could not be used. Nothing was written.';
  const extensions = { code: 'INTERNAL', id: expect.any(String) };
  const read = await gateway.answer('anon', '{ lostCollection { edges { node { id } } } }');
  expect(read.codes).toEqual(['INTERNAL']);
  expect(JSON.parse(String(read.body))).toEqual({
    data: null,
    errors: [{ message, path: ['lostCollection'], extensions }],
  });
  const both = `mutation {
    insertIntolocal_logCollection(objects: [{id: 1}]) { affectedCount } insertIntolostCollection(objects: [{id: 1}]) { affectedCount } }`;
  expect(await run(both)).toEqual({
    data: null,
    errors: [{ message, path: ['insertIntolostCollection'], extensions }],
  });
  expect(await database.query('select id from local_log')).toEqual([]);
});
