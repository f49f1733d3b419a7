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
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  try {
    await holder.query('begin; alter view held set (security_barrier = true)');
    const catalog = readCatalog(reading, ['public']);
    catalog.catch(() => {});
    await vi.waitFor(async () => {
      const waiting = await database.query(
        "select from pg_stat_activity where datname = current_database() and application_name = 'test' and wait_event_type = 'Lock'",
      );
      expect(waiting).toHaveLength(1);
    }, 30_000);
    await database.query(change);
    await holder.query('rollback');
    return buildModel(await catalog, { role: 'anon', extensions: [] });
  } finally {
    await holder.end();
  }
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
