/**
 * A mutation that meets a changed database: it runs on the newer model, and it writes once.
 */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

// No trigger tells of changes here: the refusal of the database is the first to know.
const database = await createDatabase(`
  create table item (id int generated always as identity primary key, name text, old text);
  grant all on item to anon;
`);
const execution = await startExecution(database);
const insert =
  'mutation { insertIntoitemCollection(objects: [{name: "a"}, {name: "b"}]) { affectedCount records { name } } }';
const expected = { insertIntoitemCollection: { affectedCount: 2, records: [{ name: 'a' }, { name: 'b' }] } };
const count = async () => (await database.query<{ n: number }>('select count(*)::int as n from item'))[0]?.n;

test.each([
  ['a returned column is dropped', 'alter table item drop column old'],
  ['a column changes its type', 'alter table item alter column name type varchar(9)'],
  [
    'the table is made anew',
    'drop table item; create table item (id int generated always as identity primary key, name text); grant all on item to anon',
  ],
  [
    'a grant on a column is taken away',
    'revoke all on item from anon; grant select (name), insert (name) on item to anon',
  ],
])('when %s', async (_name, change) => {
  await execution.reload();
  await database.query('truncate item');
  expect(await execution.data('anon', insert)).toEqual(expected);
  expect(await count()).toBe(2);
  await database.query(change);
  expect(await execution.data('anon', insert)).toEqual(expected);
  expect(await count()).toBe(change.includes('drop table') ? 2 : 4);
});

test('when a column that it writes is gone, it is refused and nothing is written', async () => {
  await database.query(
    'drop table item; create table item (id int generated always as identity primary key, title text); grant all on item to anon',
  );
  const body = await execution.run('anon', insert);
  expect(body).not.toHaveProperty('data');
  expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(await count()).toBe(0);
});
