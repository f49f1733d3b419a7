/**
 * The schema-change trigger and the check inside the flight: nothing runs on a model older than the last change.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import { membershipsExpression } from '../../src/postgres/caller/settings.ts';
import { DatabaseError } from '../../src/postgres/database-error.ts';
import type { ApiPool } from '../../src/postgres/pool/pool.ts';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { flightOf, openPool } from '../support/flights.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';

const sqlFile = (name: string) => readFileSync(new URL(`../../sql/${name}`, import.meta.url), 'utf8');
const watch = `select set_config('pgreflect.login_role', 'authenticator', false); ${sqlFile('watch.sql')}`;

let database: TestDatabase;
let url: string;
let pool: ApiPool;
let system: SystemPool;
beforeAll(async () => {
  database = await createDatabase('create table note (id int); grant select on note to anon', watch);
  url = database.urlAs('authenticator', 'test');
  pool = openPool(url, { size: 8 });
  system = createSystemPool({
    connectionString: url, size: 3, waitMs: 60_000, applicationName: 'pgreflect-test', onError: () => {},
  }); // biome-ignore format: short
});
afterAll(() => system.stop());

interface LoadedModel {
  readonly snapshot: string;
  readonly memberships: string;
  readonly change: number;
  readonly readable: boolean;
}

/** Loads a model of two facts in the order that makes the check exact. */
function loadModel(): Promise<LoadedModel> {
  return system.transaction(
    async (connection) => {
      const [first] = await connection.query('select pg_current_snapshot()::text as snapshot');
      for (;;) {
        const [held] = await connection.query(`select count(*)::int as count from pg_locks l
        where l.locktype = 'transactionid' and l.granted
          and l.transactionid in (select c.xid::xid from pgreflect.catalog_change c)`);
        if (held?.count === 0) break;
      }
      const [facts] =
        await connection.query(`select coalesce(obj_description('public.note'::regclass), '0')::int as change,
      has_table_privilege('anon', 'public.note', 'select') as readable, ${membershipsExpression} as memberships`);
      return { ...first, ...facts } as unknown as LoadedModel;
    },
    { begin: 'begin isolation level repeatable read read only' },
  );
}

/**
 * Runs one flight against the model; true where it was stale. Memberships belong to the whole server, where other test
 * files change them too: left out unless asked for.
 */
async function isStale(model: LoadedModel, memberships: string | null = null): Promise<boolean> {
  try {
    await runAs(pool, flightOf(['select 1'], { freshness: { snapshot: model.snapshot, memberships } }));
    return false;
  } catch (problem) {
    if (problem instanceof DatabaseError && problem.kind === 'stale') return true;
    throw problem;
  }
}

describe('a model is stale after', () => {
  test.each([
    'create table t1 (id int)',
    'alter table note add column body text',
    'grant select (id) on note to authenticated',
    'revoke select (id) on note from authenticated',
    "comment on table note is '5'",
    'create function f1() returns int language sql return 1',
    'drop function f1()',
    "create type mood as enum ('a')",
    "alter type mood add value 'b'",
    'create policy p1 on note using (true)',
    'drop table t1',
    'drop schema if exists gone; create schema gone; drop schema gone',
  ])('%s', async (statement) => {
    const model = await loadModel();
    expect(await isStale(model)).toBe(false);
    await database.query(statement);
    expect(await isStale(model)).toBe(true);
    expect(await isStale(await loadModel())).toBe(false);
  });
});

test('a change of role memberships, which no trigger sees, is found where the model remembers them', async () => {
  const role = `role_${database.name}`;
  await database.query(`create role ${role}`);
  for (const statement of [`grant anon to ${role}`, `revoke anon from ${role}`]) {
    const model = await loadModel();
    await database.query(statement);
    expect(await isStale(model)).toBe(false);
    expect(await isStale(model, model.memberships)).toBe(true);
  }
  await database.query(`drop role ${role}`);
});

describe('a model stays fresh after', () => {
  test.each([
    'insert into note (id) values (1)',
    'create temporary table passing (id int); drop table passing',
    'vacuum note',
    'analyze note',
    'begin; create table undone (id int); rollback',
  ])('%s', async (statement) => {
    const model = await loadModel();
    for (const part of statement.startsWith('begin') ? [statement] : statement.split('; ')) await database.query(part);
    expect(await isStale(model)).toBe(false);
  });
});

test('a change that began before the model was loaded and commits after it is found', async () => {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('begin');
  await other.query('create table slow (id int)');
  await database.query('create table fast (id int)');
  const model = await loadModel().catch(() => null);
  expect(model).not.toBeNull();
  await other.query('commit');
  expect(await isStale(model!)).toBe(true);
  await other.end();
});

test('changes of the catalog do not wait for each other', async () => {
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('begin');
  await other.query('create table open_end (id int)');
  await database.query('create table not_waiting (id int)');
  await other.query('rollback');
  await other.end();
});

test('a stale flight writes nothing, takes one round trip, and an empty one checks too', async () => {
  const proxy = await startRecordingProxy(url);
  const own = openPool(proxy.url);
  await runAs(own, flightOf(['select 1']));
  const freshness = { ...(await loadModel()), memberships: null };
  await database.query("comment on table note is '6'; grant insert on note to anon");
  proxy.reset();
  const insert = flightOf(['insert into note (id) values (77)'], { freshness, mutation: true });
  await expect(runAs(own, insert)).rejects.toMatchObject({ kind: 'stale', step: 0, maybeCommitted: false });
  await expect(runAs(own, flightOf([], { freshness }))).rejects.toMatchObject({ kind: 'stale', step: 0 });
  expect(proxy.roundTrips()).toBe(2);
  expect(await database.query('select id from note where id = 77')).toEqual([]);
  expect(await runAs(own, flightOf([], { freshness: { ...(await loadModel()), memberships: null } }))).toEqual([]);
  await own.stop();
  await proxy.stop();
});

test('under constant changes no answer is older than the last one committed before the request', async () => {
  let committed = 0;
  let done = false;
  /** By asker, how often the model was fresh. */
  const fresh = Array.from({ length: 8 }, () => 0);
  const change = async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (let number = 1; number <= 100 || Math.min(...fresh) <= 5; number += 1) {
      const verb = number % 2 === 0 ? 'grant select on note to anon' : 'revoke select on note from anon';
      await client.query(`begin; ${verb}; comment on table note is '${number}'; commit`);
      committed = number;
      // Longer and longer, so that some of the readings end between two changes on a slow machine too.
      await sleep(8 + number / 10);
    }
    done = true;
    await client.end();
  };
  const ask = async (asker: number) => {
    let model = await loadModel();
    while (!done) {
      const atLeast = committed;
      if (await isStale(model)) {
        model = await loadModel();
      } else {
        // Privileges are read through a cache that may be ahead of the snapshot; never where the check passes.
        expect(model.readable).toBe(model.change % 2 === 0);
        fresh[asker]! += 1;
      }
      expect(model.change).toBeGreaterThanOrEqual(atLeast);
    }
  };
  await database.query("comment on table note is '0'; grant select on note to anon");
  await Promise.all([change(), ...fresh.map((_, asker) => ask(asker))]);
});

test('the check reads its table as the login role, whatever role a function has left on the connection', async () => {
  await database.query(`create function leave_role() returns int language sql stable as
    $$ select 1 from (select set_config('role', 'service_role', false)) x $$`);
  const own = openPool(url);
  await runAs(own, flightOf(['select 1']));
  await runAs(own, flightOf(['select leave_role()']));
  const freshness = { ...(await loadModel()), memberships: null };
  expect(await runAs(own, flightOf(['select current_user'], { freshness }))).toEqual(['anon']);
});

test('installing twice changes nothing, only the login role may read, and removal leaves nothing', async () => {
  const own = await createDatabase(watch, watch);
  const other = openPool(own.urlAs('authenticator', 'test'));
  await expect(runAs(other, flightOf(['select count(*) from pgreflect.catalog_change']))).rejects.toMatchObject({
    sqlstate: '42501',
  });
  await own.query(sqlFile('unwatch.sql'));
  await own.query(sqlFile('unwatch.sql'));
  expect(await own.query("select from pg_namespace where nspname = 'pgreflect'")).toEqual([]);
  expect(await own.query('select from pg_event_trigger')).toEqual([]);
  await own.query('create table after_removal (id int)');
});

test('removal keeps a namespace that holds something else', async () => {
  const own = await createDatabase(watch, 'create table pgreflect.other (id int)', sqlFile('unwatch.sql'));
  expect(await own.query("select 1 as one from pg_class where relname = 'other'")).toEqual([{ one: 1 }]);
});

test('a check without the trigger fails in the settings step, as an ordinary error', async () => {
  const own = await createDatabase();
  const other = openPool(own.urlAs('authenticator', 'test'));
  const freshness = { snapshot: '100:100:', memberships: null };
  await expect(runAs(other, flightOf(['select 1'], { freshness }))).rejects.toMatchObject({
    kind: 'statement',
    step: 0,
    sqlstate: '42P01',
  });
});
