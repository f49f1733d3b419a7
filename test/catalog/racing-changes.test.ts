/**
 * Changes that are committed while the catalog is being read: the reading begins before them, and what it has not looked at yet
 * is gone or new when it looks.
 */
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { readCatalog } from '../../src/graphql/catalog/read-catalog.ts';
import { buildModel } from '../../src/graphql/model/build-model.ts';
import type { Model } from '../../src/graphql/model/model.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { systemPool, tableOf } from '../support/read-model.ts';

const schema = `
  create table thing (id int primary key, label text);
  create view held as select id, label from thing;
  create view shown as select id, label from thing;
  comment on view shown is '@graphql({"primary_key_columns": ["id"]})';
  create type colour as enum ('red', 'blue');
  create table painted (id int primary key, colour colour default 'red');
  create function paint(shade colour default 'red') returns int language sql as 'select 1';
  grant usage on schema public to anon;
  grant all on all tables in schema public to anon;
`;

/** Somebody holds a view, so that a reading has begun, and goes on only after the change. */
async function readDuring(database: TestDatabase, change: string): Promise<Model> {
  const reading = systemPool(database.url);
  await readCatalog(reading, ['public']);
  const view = await hold(database, holdView);
  const catalog = readCatalog(reading, ['public']);
  catalog.catch(() => {});
  await isWanted(database, 'held');
  await database.query(change);
  await view.release();
  return buildModel(await catalog, { role: 'anon', extensions: [] });
}

const holdView = 'alter view held set (security_barrier = true)';

/** Runs a statement whose locks are kept until the function is called. */
async function hold(database: TestDatabase, statement: string): Promise<{ release(): Promise<void> }> {
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query(`begin; ${statement}`);
  const release = async () => {
    await holder.query('rollback');
    await holder.end();
  };
  return { release };
}

/** Resolves when somebody waits for a lock on this table. */
async function isWanted(database: TestDatabase, table: string): Promise<void> {
  const waiting = 'select from pg_locks where not granted and relation = $1::regclass';
  await vi.waitFor(async () => expect(await database.query(waiting, [table])).toHaveLength(1), 30_000);
}

const replaced = `begin; drop view shown; create view shown as select id, label from thing;
  comment on view shown is '@graphql({"primary_key_columns": ["id"]})'; grant all on shown to anon; commit`;

test('a type that is dropped while the catalog is read does not fail the reading', async () => {
  const database = await createDatabase(schema);
  const model = await readDuring(database, 'drop type colour cascade');
  expect(tableOf(model, 'painted').columns.map(({ name }) => name)).toEqual(['id']);
});

test('a view that a migration drops and makes again never loses its privileges', async () => {
  const database = await createDatabase(schema);
  const view = tableOf(await readDuring(database, replaced), 'shown');
  expect(view.columns.map(({ name, readable, insertable }) => [name, readable, insertable])).toEqual([
    ['id', true, true],
    ['label', true, true],
  ]);
  expect([view.insert, view.update, view.delete]).toEqual([true, true, true]);
});

test.each([
  ['a comment', `comment on table thing is '@graphql({"name": "Meanwhile"})'`, 'comment on table thing is null'],
  ['a function', "create function extra() returns int language sql as 'select 1'", 'drop function extra()'],
])('%s that is there only while the catalog is read is in no model', async (_, change, undo) => {
  const database = await createDatabase(schema);
  const pool = systemPool(database.url);
  // A new connection wants more of the catalog.
  await readCatalog(pool, ['public']);
  // After the fingerprint, the reading wants a table of the catalog, and looks at rows only then; at the end, it wants a view.
  const [ranges, view] = [await hold(database, 'lock table pg_catalog.pg_range'), await hold(database, holdView)];
  const reading = readCatalog(pool, ['public']);
  await isWanted(database, 'pg_range');
  await database.query(change);
  await ranges.release();
  await isWanted(database, 'held');
  await database.query(undo);
  await view.release();
  // Nor in one that is read later and takes over what has not changed.
  for (const catalog of [await reading, await readCatalog(pool, ['public'], await reading)]) {
    const { tables, routines } = buildModel(catalog, { role: 'postgres', extensions: [] });
    expect([...tables.values()].map(({ baseName }) => baseName)).toEqual(['thing', 'shown', 'painted']);
    expect([...routines.values()].map(({ name }) => name)).toEqual([]);
  }
});
