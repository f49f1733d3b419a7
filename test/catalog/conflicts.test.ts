import { expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { modelReader, relationshipsOf, routineOf, tableNames, tableOf } from '../support/read-model.ts';

const database = await createDatabase(`
create schema a; create schema b; grant usage on schema a, b to anon;
create table b.twin (id int primary key);
create table a.twin (id int primary key);
create table a."Query" (id int primary key);
create table a."StringFilter" (id int primary key);
create table a."Odd" (id int primary key);
create table a."OddEdge" (id int primary key);
create type a."OddConnection" as enum ('x');
create type b.mood as enum ('y');
create table a.mood (id int primary key);
create table a.holder (id int primary key, bm b.mood, ao a."OddConnection", twin_b int references b.twin);
create table a.x (id int primary key);
create table a."X" (id int primary key);
create table a."Y" (id int primary key);
create table a.y (id varchar primary key);
create function a."xCollection"() returns int stable language sql as 'select 1';
create function a.node() returns int stable language sql as 'select 1';
create function a."insertIntoxCollection"() returns int language sql as 'select 1';
create function a."_same"() returns int stable language sql as 'select 1';
create function a."same"() returns text stable language sql as 'select 1::text';
grant all on all tables in schema a, b to anon;
`);
const reader = modelReader(database);
const model = await reader.model(['a', 'b']);

test('of two tables with one type name, the one of the earlier schema stays; the other is left out with its relationships', async () => {
  expect(
    [...model.tables.values()].filter((table) => table.baseName === 'twin').map((table) => table.namespace),
  ).toEqual(['a']);
  expect(relationshipsOf(model, 'holder')).toEqual([]);
  const turned = await reader.model(['b', 'a']);
  expect(
    [...turned.tables.values()].filter((table) => table.baseName === 'twin').map((table) => table.namespace),
  ).toEqual(['b']);
  expect(relationshipsOf(turned, 'holder')).toEqual(['outbound twin: one twin']);
});

test('tables named like built-in types, or like a type derived from an older table, are omitted', async () => {
  expect(tableNames(model)).toEqual(['twin', 'Odd', 'mood', 'holder', 'x', 'X', 'Y', 'y']);
  const reasons = (await reader.omissions(['a', 'b']))
    .filter(({ kind, reason }) => kind === 'name' && reason.includes('such a name'))
    .map(({ reason }) => reason);
  expect(reasons).toEqual([
    'Table a."Query" would be "Query" in GraphQL, and a built-in type has such a name already.',
    'Table a."StringFilter" would be "StringFilter" in GraphQL, and a built-in type has such a name already.',
    'Table a."OddEdge" would be "OddEdge" in GraphQL, and table a."Odd" has such a name already.',
    'Type a."OddConnection" would be "OddConnection" in GraphQL, and table a."Odd" has such a name already.',
    'Table b.twin would be "twin" in GraphQL, and table a.twin has such a name already.',
    'Type b.mood would be "mood" in GraphQL, and table a.mood has such a name already.',
  ]);
});

test('columns of an enum whose name is taken are opaque', () => {
  const types = tableOf(model, 'holder').columns.map(({ type }) => type?.kind === 'scalar' && type.scalar);
  expect(types).toEqual(['Int', 'Opaque', 'Opaque', 'Int']);
  expect(model.enums.size).toBe(0);
});

test('of two tables with one root field the older one has it', () => {
  const fields = ['x', 'X', 'Y', 'y'].map((name) => {
    const { rootField, byPk } = tableOf(model, name);
    return [rootField, byPk];
  });
  expect(fields).toEqual([[true, true], [false, false], [true, true], [false, false]]); // biome-ignore format: pairs
});

test('a function is left out where a field of a table, or node, has its name; of two functions the newer one stays', () => {
  expect(routineOf(model, 'xCollection')).toBeUndefined();
  expect(routineOf(model, 'node')).toBeUndefined();
  expect(routineOf(model, 'insertIntoxCollection')).toBeUndefined();
  expect(routineOf(model, '_same')).toBeUndefined();
  expect(routineOf(model, 'same')?.fieldName).toBe('same');
});
