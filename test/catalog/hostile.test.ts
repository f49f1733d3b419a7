import { expect, test } from 'vitest';
import { createDatabase, fixture } from '../support/postgres.ts';
import { columnOf, modelReader, relationshipsOf, routineOf, tableNames, tableOf } from '../support/read-model.ts';

const database = await createDatabase(fixture('hostile.sql'));
const reader = modelReader(database);
const namespace = 'select "x"; --';
const model = await reader.model([namespace]);

test('names with quotes, line breaks and reserved words give a valid model', () => {
  expect(model.directiveError).toBeNull();
  expect(model.namespaces).toMatchObject([{ name: namespace, inflectNames: false, introspection: false }]);
  expect(tableNames(model)).toEqual(['Hostile_1', 'select', 'constructor', 'a'.repeat(63)]);
  expect(tableOf(model, 'Hostile_1')).toMatchObject({ name: `ta"ble' $$ \\n`, description: '"); -- \\ $$' });
  expect(relationshipsOf(model, 'Hostile_1')).toEqual([
    'outbound hostile_1: one Hostile_1',
    'inbound hostile_1Collection: many Hostile_1',
  ]);
});

test('columns keep their SQL names, and those that GraphQL cannot spell take part in nothing', () => {
  const table = tableOf(model, 'Hostile_1');
  expect(table.columns.filter((column) => column.fieldName === null).map((column) => column.name)).toEqual([
    '__proto__',
    'ünïcödé',
  ]);
  expect(columnOf(table, 'x"; drop table').fieldName).toBe('weird');
  expect(columnOf(table, '日本語'.repeat(7)).fieldName).toBe('japanese');
  expect(columnOf(table, "quo'te").hasDefault).toBe(true);
  expect(table.byPk).toBe(true);
});

test('enum labels that GraphQL cannot spell are mapped or kept as they are', () => {
  expect([...model.enums.values()]).toMatchObject([
    {
      graphqlName: 'Hostile',
      values: [
        { label: "it's", graphqlName: 'ITS' },
        { label: 'back\\slash', graphqlName: 'BACK' },
        { label: '$$', graphqlName: 'DOLLARS' },
        { label: '"double"', graphqlName: 'DOUBLE' },
        { label: 'plain', graphqlName: 'plain' },
        { label: 'true', graphqlName: null },
        { label: '', graphqlName: null },
      ],
    },
  ]);
});

test('routines with hostile names are called by reserved words or not at all', () => {
  expect(routineOf(model, 'fu"nc')).toBeUndefined();
  expect(routineOf(model, 'union')).toMatchObject({
    fieldName: 'union',
    arguments: [
      { fieldName: 'table', required: true },
      { fieldName: 'limit', required: false, displayDefault: '"\\"\\\\"' },
    ],
  });
  expect(routineOf(model, "com'puted")).toMatchObject({ use: 'computed', fieldName: 'computed' });
});

test('the SQL of every fix can be run as it is', async () => {
  await database.query(`create table "${namespace.replaceAll('"', '""')}"."no key' \\" ("a'b" int, "sel""ect" int)`);
  await database.query(`create view "${namespace.replaceAll('"', '""')}"."vi'ew" as select 1 as "co'l""umn\\"`);
  await database
    .query(`grant select ("a'b") on all tables in schema "${namespace.replaceAll('"', '""')}" to anon`)
    .catch(() => {});
  const omissions = await reader.omissions([namespace], 'authenticated');
  const fixes = omissions.flatMap(({ fix }) => fix ?? []);
  expect(fixes.length).toBeGreaterThan(3);
  for (const fix of fixes) await expect(database.query(`begin; ${fix} rollback`), fix).resolves.toBeDefined();
});
