/**
 * Functions that anon may call put statements of their own under the names of ours. Every statement that they plant tells who
 * has run it; none ever runs, and the next callers get their own rows.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { token } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { asPooler, type RecordingProxy, startRecordingProxy } from '../support/recording-proxy.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create schema loot;
    create table loot.run (as_login name, as_role name, claims text);
    create function loot.take() returns text language plpgsql security definer as $$ begin
      insert into loot.run values (session_user, current_setting('role'), current_setting('request.jwt.claims', true));
      return 'loot';
    end $$;
    grant usage on schema loot to public;
    create table diary (id int primary key, owner text not null, line text not null);
    insert into diary values (1, 'ann', 'line of ann'), (2, 'bob', 'line of bob');
    alter table diary enable row level security;
    create policy own on diary using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
    create table letter (id int primary key);
    grant usage on schema public to anon, authenticated;
    grant select, insert, update on diary to anon, authenticated;
    grant select, insert on letter to anon;

    -- Puts a statement under every name that the connection knows, with as many parameters and columns. Not under those of tables whose
    -- code runs while a statement is bound or planned: PostgreSQL itself may crash where that takes the statement away.
    create function forge() returns int volatile language plpgsql as $$
    declare
      found record;
      parameters text;
    begin
      for found in select name, parameter_types from pg_catalog.pg_prepared_statements where name <> '' and statement !~ 'typed|planned' loop
        execute format('deallocate %I', found.name);
        select string_agg(type::text, ',') into parameters from unnest(found.parameter_types) type;
        execute format('prepare %I %s as select loot.take()', found.name, '(' || parameters || ')');
      end loop;
      return 1;
    end $$;
    create function forge_quietly() returns int stable language sql as 'select public.forge()';
    create function forge_beside(letter) returns int volatile language sql as 'select public.forge()';
    create function forget() returns int volatile language plpgsql as $$ begin deallocate all; return 1; end $$;
    create function prepare_something() returns int volatile language plpgsql as
      $$ begin execute 'prepare ' || quote_ident('mine ' || clock_timestamp()) || ' as select 1'; return 1; end $$;
    create function at_commit() returns trigger language plpgsql as $$ begin perform forge(); return null; end $$;
    create constraint trigger late after insert on letter deferrable initially deferred for each row execute function at_commit();
    create function hold() returns int volatile language plpgsql as
      $$ begin execute 'declare held cursor with hold for select forge()'; return 1; end $$;
    create table fenced (id int primary key);
    insert into fenced values (1);
    alter table fenced enable row level security;
    create policy forging on fenced for select to anon using (forge() = 1);
    create view seen with (security_barrier) as select d.id, forge() as forged from diary d;
    comment on view seen is '@graphql({"primary_key_columns": ["id"]})';
    create table beside (id int primary key);
    insert into beside select id from diary;
    create table other (id int primary key);
    insert into other values (1);
    create table linking (id int primary key, beside_id int references beside, other_id int references other);
    insert into linking values (1, 1, 1);
    comment on table linking is '@graphql({"many_to_many": true})';
    alter table linking enable row level security;
    create policy forging on linking for select to anon using (forge() = 1);
    comment on table beside is '@graphql({"aggregate": {"enabled": true}, "foreign_keys": [{"local_columns": ["id"], "foreign_schema": "public", "foreign_table": "seen", "foreign_columns": ["id"]}]})';
    create domain checked as int check (value is null or forge() = 1);
    create table typed (id int primary key, value checked);
    insert into typed values (1, null);
    create function folded(int) returns int immutable language sql as 'select public.forge()';
    create table planned (id int primary key);
    create index on planned ((id + folded(1)));
    grant select on beside, linking, other, fenced, seen, typed, planned to anon;
    create function isolate() returns text volatile language sql as
      $$ select set_config('default_transaction_isolation', 'serializable', false) || set_config('default_transaction_deferrable', 'on', false) $$;
    create function isolation() returns text stable language sql as
      $$ select current_setting('transaction_isolation') || ' ' || current_setting('transaction_deferrable') $$;
  `);
  await database.query('delete from loot.run');
  gateway = await testGateway(database, { poolSize: 1, schemaPollMs: 600_000 }, atEnd);
});
beforeEach(() => database.query('delete from loot.run'));

const asAnn = async () => ({ authorization: `Bearer ${await token({ role: 'authenticated', sub: 'ann' })}` });
const read = '{ diaryCollection { edges { node { line } } } }';
const write = 'mutation { updateDiaryCollection(set: {line: "line of ann"}) { records { line } } }';

/** Ann reads and writes until all that she needs is prepared, and gets her row and no other. */
async function annAsks(): Promise<void> {
  const headers = await asAnn();
  for (let round = 0; round < 3; round++) {
    const { body } = await gateway.ask(read, { headers });
    expect(body).toEqual({ data: { diaryCollection: { edges: [{ node: { line: 'line of ann' } }] } } });
    const written = await gateway.ask(write, { headers });
    expect(written.body).toEqual({ data: { updateDiaryCollection: { records: [{ line: 'line of ann' }] } } });
  }
}

/** What was run of the planted statements by anybody but the attacker. */
const loot = () => database.query(`select * from loot.run where as_role <> 'anon'`);

describe('statements under our names are never run for the next caller, be they planted by', () => {
  let letters = 0;
  test.each([
    ['a mutation', () => 'mutation { forge }'],
    ['a query function', () => '{ forgeQuietly }'],
    [
      'a computed field',
      () => `mutation { insertIntoLetterCollection(objects: [{id: ${++letters}}]) { records { forgeBeside } } }`,
    ],
    [
      'a trigger at the commit',
      () => `mutation { insertIntoLetterCollection(objects: [{id: ${++letters}}]) { affectedCount } }`,
    ],
    ['a cursor that is kept at the commit', () => 'mutation { hold }'],
    ['a policy', () => '{ fencedCollection { edges { node { id } } } }'],
    ['a view', () => '{ seenCollection { edges { node { id forged } } } }'],
    [
      'a view that a condition on groups reads',
      () =>
        '{ besideCollection { groups(by: {column: id}, having: {filter: {seen: {forged: {gt: 0}}}, count: {gt: 0}}) { count } } }',
    ],
    ['a junction table', () => '{ besideCollection { edges { node { otherCollection { edges { node { id } } } } } } }'],
    [
      'a junction table that a filter reads',
      () => '{ besideCollection(filter: {otherCollection: {some: {id: {eq: 1}}}}) { edges { node { id } } } }',
    ],
    [
      'a view that a filter reads',
      () => '{ besideCollection(filter: {seen: {forged: {gt: 0}}}) { edges { node { id } } } }',
    ],
    [
      'a view that an order reads',
      () => '{ besideCollection(orderBy: {seen: {forged: AscNullsLast}}) { edges { node { id } } } }',
    ],
    ['a domain', () => '{ typedCollection(filter: {value: {eq: 1}}) { edges { node { id } } } }'],
    ['an index, which PostgreSQL looks at when it plans', () => '{ plannedCollection { edges { node { id } } } }'],
    ['a function that has deallocated ours in the same request', () => 'mutation { forget forge }'],
  ])('%s', async (_way, operation) => {
    await annAsks();
    for (let round = 0; round < 2; round++) {
      // What the attacker is answered is the attacker's business: replacing the statement that is running breaks it.
      await gateway.ask(operation()).catch(() => {});
      await annAsks();
    }
    expect(await loot()).toEqual([]);
  });

  test('a query that shares the connection with those behind it', async () => {
    await annAsks();
    const headers = await asAnn();
    for (let round = 0; round < 8; round++) {
      const asked = [
        gateway.ask('{ forgeQuietly }'),
        ...Array.from({ length: 6 }, () => gateway.ask(read, { headers })),
      ];
      const [, ...answers] = await Promise.all(asked);
      for (const { body } of answers) {
        expect(body).toEqual({ data: { diaryCollection: { edges: [{ node: { line: 'line of ann' } }] } } });
      }
    }
    expect(await loot()).toEqual([]);
  });
});

test("functions that deallocate or prepare fail no request, and the gateway's statements stay prepared", async () => {
  await annAsks();
  for (let round = 0; round < 2; round++) {
    for (const field of ['forget', 'prepareSomething']) {
      expect((await gateway.ask(`mutation { ${field} again: ${field} }`)).body).toEqual({
        data: { [field]: 1, again: 1 },
      });
      await annAsks();
    }
  }
  const off = gateway.observations.filter(({ kind }) => kind === 'prepared_statements_off');
  expect(off).toEqual([]);
});

test('transactions do not begin with the settings of the last caller', async () => {
  expect((await gateway.ask('{ isolation }')).body.data.isolation).toBe('read committed off');
  await gateway.ask('mutation { isolate }');
  expect((await gateway.ask('{ isolation }')).body.data.isolation).toBe('read committed off');
});

describe('behind a pooler, where other clients use the connection as well', () => {
  let proxy: RecordingProxy;
  let pooled: TestGateway;
  beforeAll(async () => {
    proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
    proxy.inspect(asPooler);
    pooled = await testGateway(database, { databaseUrl: proxy.url, poolSize: 1, schemaPollMs: 600_000 }, atEnd);
  });
  afterAll(() => proxy.stop());

  test('nothing that is planted runs, and transactions begin as they should', async () => {
    const headers = await asAnn();
    for (const attack of ['mutation { forge }', 'mutation { isolate }', '{ forgeQuietly }']) {
      await pooled.ask(attack);
      const { body } = await pooled.ask(read, { headers });
      expect(body).toEqual({ data: { diaryCollection: { edges: [{ node: { line: 'line of ann' } }] } } });
      expect((await pooled.ask('{ isolation }')).body.data.isolation).toBe('read committed off');
    }
    expect(await loot()).toEqual([]);
  });
});
