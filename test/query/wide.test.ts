/**
 * Many fields: objects with more members than a function has arguments, or a select list has columns.
 */
import { expect, test } from 'vitest';
import { openReader } from './reader.ts';

const columns = Array.from({ length: 400 }, (_, index) => `c${index}`);
const wide = `
  create schema lib; grant usage on schema lib to anon;
  create table lib.wide (id int primary key, ${columns.map((name) => `${name} int default 7`).join(', ')});
  insert into lib.wide values (1), (2);
  create function lib.echo(lib.wide) returns lib.wide stable language sql as 'select * from lib.wide where id = $1.id';
  create function lib.widest() returns setof lib.wide stable language sql as 'select * from lib.wide';
  grant select on lib.wide to anon;`;
const { ask } = await openReader([wide], { limits: null });

test('an object may have every column of a table of four hundred', async () => {
  const fields = columns.join(' ');
  const data = await ask(`{ wideByPk(id: 1) { ${fields} echo { ${fields} } }
    wideCollection(last: 1) { edges { node { ${fields} } } pageInfo { hasNextPage } } widest { edges { node { ${fields} } } } }`);
  expect(Object.keys(data.wideByPk.echo)).toEqual(columns);
  expect(Object.keys(data.wideCollection.edges[0].node)).toEqual(columns);
  expect(data.widest.edges[1].node.c399).toBe(7);
});

test('an object may have more members than a select list has columns', async () => {
  const keys = Array.from({ length: 2000 }, (_, index) => `k${index}`);
  const fields = keys.map((key) => `${key}: id`).join(' ');
  const data = await ask(`{ wideByPk(id: 2) { ${fields} } wideCollection { edges { node { ${fields} } } } }`);
  expect(data.wideByPk).toEqual(Object.fromEntries(keys.map((key) => [key, 2])));
  expect(Object.keys(data.wideCollection.edges[1].node)).toEqual(keys);
});

test('a query may have more root fields than a select list has columns', async () => {
  const keys = Array.from({ length: 1700 }, (_, index) => `k${index}`);
  const data = await ask(`{ ${keys.map((key) => `${key}: __typename`).join(' ')} }`);
  expect(Object.keys(data)).toEqual(keys);
});

test('a query may look up hundreds of rows', async () => {
  const selected = columns.slice(0, 50).join(' ');
  const roots = Array.from({ length: 150 }, (_, index) => `r${index}: wideByPk(id: ${index}) { ${selected} }`);
  const data = await ask(`{ ${roots.join(' ')} }`);
  expect(Object.values(data).filter((row) => row !== null)).toHaveLength(2);
});
