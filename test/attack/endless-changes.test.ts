/**
 * Whoever may change something that concerns nobody, such as default privileges, or is refused without end, makes the gateway
 * read no catalog and build no model, and no request looks at changes that its model knows.
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const watch = `select set_config('pgreflect.login_role', 'authenticator', false);
  ${readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8')}`;

const schema = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table thing (id int primary key, secret text);
  insert into thing values (1);
  create schema elsewhere;
  grant usage on schema public to anon;
  grant select (id) on thing to anon;
  create function refused() returns int stable language plpgsql as
    $$ begin raise exception 'no' using errcode = '42704'; end $$;
`;
const query = '{ thingCollection { edges { node { id } } } }';
const found = { thingCollection: { edges: [{ node: { id: 1 } }] } };

test('Changes of default privileges and of other schemas move no model', async () => {
  const database = await createDatabase(schema, watch);
  const execution = await startExecution(database);
  expect(await execution.data('anon', query)).toEqual(found);
  // A role that another test makes on the same server meanwhile concerns every model: then once more.
  let tables = 0;
  await vi.waitFor(async () => {
    const before = await execution.role('anon');
    for (let change = 0; change < 3; change += 1) {
      await database.query('alter default privileges grant select on tables to public');
      tables += 1;
      await database.query(`create table elsewhere.t${tables} (id int primary key)`);
      expect(await execution.data('anon', query)).toEqual(found);
    }
    const after = await execution.role('anon');
    expect(after.shared).toBe(before.shared);
    expect(after.catalog.roles).toBe(before.catalog.roles);
    expect(after.catalog.snapshot).not.toBe(before.catalog.snapshot);
  });
  await database.query('alter table thing rename column id to number');
  expect(await execution.errors('anon', query)).toEqual([expect.stringContaining('Cannot query field "id"')]);
});

test('A transaction that stays open makes no request look at the changes of others again and again', async () => {
  const database = await createDatabase(schema, watch);
  const client = new pg.Client(database.url);
  await client.connect();
  atEnd(() => client.end());
  await client.query('begin; select pg_current_xact_id()');
  for (let change = 0; change < 50; change += 1)
    await database.query('create table elsewhere.t (); drop table elsewhere.t');
  const execution = await startExecution(database);
  expect(await execution.data('anon', query)).toEqual(found);
  // Of a change in that transaction every request hears.
  await client.query('alter table thing rename column id to number; commit');
  expect(await execution.errors('anon', query)).toEqual([expect.stringContaining('Cannot query field "id"')]);
});

test('Without the trigger, requests that are refused share comparisons of the catalog, and a table that has moved is found', async () => {
  const database = await createDatabase(schema);
  const execution = await startExecution(database);
  const before = await execution.role('anon');
  const refused = { errors: [{ extensions: { code: 'RAISED', sqlstate: '42704' } }] };
  const answers = await Promise.all(Array.from({ length: 30 }, () => execution.run('anon', '{ refused }')));
  for (const answer of answers) expect(answer).toMatchObject(refused);
  expect((await execution.role('anon')).shared).toBe(before.shared);
  await database.query('alter table thing set schema elsewhere');
  const answer = await execution.run('anon', query);
  expect(answer.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  // Who began with the earlier model, after another request has found the change, is answered from the new one, too.
  await database.query('alter table elsewhere.thing set schema public');
  await execution.compare();
  await database.query('alter table thing set schema elsewhere');
  const both = await Promise.all([execution.run('anon', query), execution.run('anon', query)]);
  for (const { errors } of both) expect(errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
});
