import { afterEach, expect, test } from 'vitest';
import { createDatabase, fixture } from '../support/postgres.ts';
import { modelReader, tableOf } from '../support/read-model.ts';

const database = await createDatabase(
  fixture('lib.sql'),
  `create table lib.secret (id int, note text); create schema other; create table other.t (id int);
   create function lib.fine() returns int stable language sql as 'select 1';
   create procedure lib.proc() language sql as 'select 1'`,
);
const reader = modelReader(database);
const objects = [
  'schema lib', 'table lib.loan', 'column lib.loan.fee', 'table lib.secret', 'column lib.secret.note', 'function lib.fine',
  'procedure lib.proc', 'constraint loan_patron_id_fkey on lib.loan', 'type lib.loan_state', 'table other.t',
]; // biome-ignore format: a list of names

afterEach(async () => {
  for (const object of objects) await database.query(`comment on ${object} is null`);
});

async function errorOf(object: string, json: string) {
  await database.query(`comment on ${object} is '@graphql(${json.replaceAll("'", "''")})'`);
  return (await reader.model(['lib'])).directiveError;
}

test('a malformed directive anywhere in an exposed schema is an error that names object, problem and place', async () => {
  const problem = 'expected a key in double quotes at character 11 of the comment';
  const names: [string, string, boolean][] = [
    ['schema lib', 'lib', true],
    ['table lib.loan', 'lib.loan', true],
    ['column lib.loan.fee', 'lib.loan.fee', true],
    ['table lib.secret', 'lib.secret', false],
    ['column lib.secret.note', 'lib.secret.note', false],
    ['function lib.fine', 'lib.fine', true],
    ['procedure lib.proc', 'lib.proc', true],
    ['constraint loan_patron_id_fkey on lib.loan', 'loan_patron_id_fkey on lib.loan', true],
    ['type lib.loan_state', 'lib.loan_state', true],
  ];
  for (const [object, name, visible] of names) {
    expect(await errorOf(object, "{'a': 1}"), object).toMatchObject({ object: name, problem, visible });
    await database.query(`comment on ${object} is null`);
  }
});

test('while a directive is malformed the model shows nothing', async () => {
  await errorOf('table lib.secret', '{"a" 1}');
  const model = await reader.model(['lib']);
  expect([model.tables.size, model.enums.size, model.routines.size]).toEqual([0, 0, 0]);
  expect(await reader.omissions(['lib'])).toMatchObject([{ kind: 'directive', object: 'lib.secret' }]);
});

test('directives of schemas that are not exposed, or not to the role, are never read', async () => {
  expect(await errorOf('table other.t', '{x}')).toBeNull();
  await errorOf('schema lib', '{x}');
  await database.query('revoke usage on schema lib from anon');
  expect((await reader.model(['lib'])).directiveError).toBeNull();
  await database.query('grant usage on schema lib to anon');
});

test('wrong types of keys are errors', async () => {
  const wrong: [string, string, string][] = [
    ['schema lib', '{"max_rows": -1}', '"max_rows" must be a whole number from 0 to 2147483647'],
    ['schema lib', '{"max_rows": 1.5}', '"max_rows" must be a whole number from 0 to 2147483647'],
    ['table lib.loan', '{"max_rows": "many"}', '"max_rows" must be a whole number from 0 to 2147483647'],
    ['table lib.loan', '{"description": 1}', '"description" must be a string'],
    ['column lib.loan.fee', '{"description": []}', '"description" must be a string'],
    ['table lib.loan', '{"primary_key_columns": "id"}', '"primary_key_columns" must be an array of column names'],
    ['table lib.loan', '{"primary_key_columns": [1]}', '"primary_key_columns" must be an array of column names'],
    ['table lib.loan', '{"foreign_keys": {}}', '"foreign_keys" must be an array of objects'],
    ['table lib.loan', '{"foreign_keys": [{}]}', 'in "foreign_keys", "local_columns" is missing'],
    [
      'table lib.loan',
      '{"foreign_keys": [{"local_columns": ["a"], "foreign_schema": 1}]}',
      'in "foreign_keys", "foreign_schema" must be a string',
    ],
    ['type lib.loan_state', '{"mappings": ["a"]}', '"mappings" must be an object from labels to names'],
    ['type lib.loan_state', '{"mappings": {"out": 1}}', '"mappings" must be an object from labels to names'],
  ];
  for (const [object, json, problem] of wrong) {
    expect((await errorOf(object, json))?.problem, `${object} ${json}`).toBe(problem);
    await database.query(`comment on ${object} is null`);
  }
});

test('values of another type that have no effect are no errors', async () => {
  const odd: [string, string][] = [
    ['schema lib', '{"inflect_names": "true", "max_rows": "12"}'],
    ['table lib.loan', '{"totalCount": true, "aggregate": "on", "name": null}'],
    ['function lib.fine', '{"description": {"a": 1}}'],
    ['constraint loan_patron_id_fkey on lib.loan', '{"foreign_name": 5}'],
    ['table lib.loan', '[]'],
  ];
  for (const [object, json] of odd) {
    expect(await errorOf(object, json), `${object} ${json}`).toBeNull();
    await database.query(`comment on ${object} is null`);
  }
});

test('max_rows of zero is legal, of a table wins over that of its schema', async () => {
  await database.query(`comment on schema lib is '@graphql({"max_rows": 0, "inflect_names": true})'`);
  await database.query(`comment on table lib.loan is '@graphql({"max_rows": 500})'`);
  const model = await reader.model(['lib']);
  expect(tableOf(model, 'Volume').maxRows).toBe(0);
  expect(tableOf(model, 'Loan').maxRows).toBe(500);
});
