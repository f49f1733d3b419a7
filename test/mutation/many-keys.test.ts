/**
 * Objects to insert that have different keys: what they lack does not make a small request a large one, and no key means anything but
 * its column.
 */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const names = Array.from({ length: 12 }, (_, index) => `c${index}`);
const columns = (type: string) => names.map((name) => `${name} ${type}`).join(', ');

let database: TestDatabase;
let execution: TestExecution;
beforeAll(async () => {
  database = await createDatabase(`
    create schema lib;
    create schema hidden;
    grant usage on schema lib to anon;
    create function hidden.stamp() returns text language sql as $$ select 'stamp' $$;
    create table lib.wide (${columns('int')});
    create table lib.stamped (id int primary key, ${columns('text default hidden.stamp()')});
    create table lib.state (id int generated always as identity primary key, empty boolean);
    alter table lib.wide add primary key (c0);
    grant all on all tables in schema lib to anon;
  `);
  execution = await startExecution(database, { schemas: ['lib'] });
});
beforeEach(() => database.query('truncate lib.wide, lib.stamped, lib.state'));

const insert = (table: string, o: readonly object[]) =>
  execution.run('anon', `mutation ($o: [${table}InsertInput!]!) { i: insertInto${table}Collection(objects: $o) { affectedCount } }`, { variables: { o } }); // biome-ignore format: one line
const refused = { data: null, errors: [{ path: ['i'], extensions: { code: 'LIMIT_EXCEEDED', limit: 'keys' } }] };
const all = Object.fromEntries(names.map((name) => [name, 0]));

test('Many objects that lack what one of them has are refused', async () => {
  const objects = Array.from({ length: 100_000 }, () => ({}));
  expect(await insert('wide', [...objects, all])).toMatchObject(refused);
  expect(await insert('wide', [all, ...objects])).toMatchObject(refused);
  const some = Array.from({ length: 5000 }, (_, index) => ({ c0: index + 1 }));
  expect(await insert('wide', [all, ...some])).toEqual({ data: { i: { affectedCount: 5001 } } });
});

test('Objects whose hidden defaults differ are inserted, and refused where they are too many', async () => {
  const object = (id: number) => ({ id, ...Object.fromEntries(names.filter((_, bit) => (id >> bit) & 1).map((name) => [name, name])) }); // biome-ignore format: one line
  const objects = Array.from({ length: 1700 }, (_, id) => object(id));
  expect(await insert('stamped', objects)).toMatchObject(refused);
  expect(await insert('stamped', objects.slice(0, 1600))).toEqual({ data: { i: { affectedCount: 1600 } } });
  const rows = await database.query('select * from lib.stamped order by id');
  expect(rows).toEqual(objects.slice(0, 1600).map((given) => ({ ...Object.fromEntries(names.map((name) => [name, 'stamp'])), ...given }))); // biome-ignore format: one line
});

test('A column may have any name', async () => {
  expect(await insert('state', [{ empty: true }])).toEqual({ data: { i: { affectedCount: 1 } } });
});
