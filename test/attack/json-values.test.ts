/**
 * A client sends JSON values (`"json": "value"`) that are hostile: SQL in keys and strings, values nested very deep, one long variable in a
 * literal a thousand times, keys of JavaScript's objects. They stay values of parameters, and what is too large is refused before it is made.
 */
import { beforeEach, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true, "json": "value"})';
  create table item (id int primary key, data jsonb, old json);
  create table secret (id int primary key, word text); insert into secret values (1, 'hidden');
  grant select, insert, update on item to anon;
`);
const execution = await startExecution(database, { limits: null });
const insert = 'mutation ($v: JSON) { insertItem(object: {id: 2, data: $v, old: $v}) { data old } }';
const run = async (query: string, variables = {}) => execution.run('anon', query, { variables });
const codeOf = async (query: string, variables = {}) => {
  const { data, errors } = await run(query, variables);
  expect(data ?? null).toBeNull();
  return errors[0].extensions.code;
};
const rows = () => database.query('select id, data from item order by id');

beforeEach(() => database.query(`truncate item; insert into item values (1, '{"a": 1}', null)`));

test('SQL and quotes in keys and strings stay text of a value', async () => {
  const hostile = {
    "'; drop table item; --": '"}\'::jsonb, (select word from secret))--',
    $1: ['\\', '\\\\"', "''", '{}', '$$', '\n\t'],
  };
  const { data } = await run(insert, { v: hostile });
  expect(data.insertItem).toEqual({ data: hostile, old: hostile });
  const [statement] = await execution.statements('anon', insert, { variables: { v: hostile } });
  expect(statement!.text).not.toContain('drop');
  const literal = `mutation ($v: JSON) { updateItemByPk(id: 2, set: {data: {a: "\\"}'; drop table item; --", b: $v}}) { data } }`;
  const written = await run(literal, { v: '"], "x": [' });
  expect(written.data.updateItemByPk.data).toEqual({ a: '"}\'; drop table item; --', b: '"], "x": [' });
  const [text] = await execution.statements('anon', literal, { variables: { v: 1 } });
  expect(text!.text).not.toContain('drop');
  expect(await rows()).toHaveLength(2);
});

test('keys of JavaScript objects are keys like others', async () => {
  const value = JSON.parse(
    '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}, "toJSON": "x"}',
  );
  const { data } = await run(insert, { v: value });
  expect(JSON.stringify(data.insertItem.old)).toBe(JSON.stringify(value));
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('values that are nested very deep are refused, and nothing is written', async () => {
  const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  expect(await codeOf(insert, { v: deep(100_000) })).toBe('BAD_USER_INPUT');
  expect(await codeOf(insert, { v: deep(502) })).toBe('BAD_USER_INPUT');
  const literal = `mutation { insertItem(object: {id: 2, data: ${'['.repeat(502)}${']'.repeat(502)}}) { id } }`;
  expect(await codeOf(literal)).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(await rows()).toHaveLength(1);
  expect((await run(insert, { v: deep(500) })).errors).toBeUndefined();
});

test('a long variable in a literal many times is refused before its text is made', async () => {
  const members = Array.from({ length: 500 }, (_, index) => `k${index}: $v`).join(' ');
  const long = 'x'.repeat(500_000);
  const before = process.memoryUsage().heapUsed;
  const once = `mutation ($v: JSON) { insertItem(object: {id: 2, data: {${members}}}) { id } }`;
  expect(await codeOf(once, { v: long })).toBe('LIMIT_EXCEEDED');
  const listed = `mutation ($v: JSON) { updateManyItemCollection(updates: [{set: {data: {${members}}}, filter: {id: {eq: 1}}}]) { affectedCount } }`;
  expect(await codeOf(listed, { v: long })).toBe('LIMIT_EXCEEDED');
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(200_000_000);
  expect(await rows()).toEqual([{ id: 1, data: { a: 1 } }]);
});

test('what PostgreSQL cannot store in jsonb is an error of the client, and json keeps it as it is', async () => {
  for (const value of ['\u0000', '\ud800', { '\u0000': 1 }])
    expect(await codeOf(insert, { v: value })).toBe('BAD_USER_INPUT');
  const old = 'mutation ($v: JSON) { insertItem(object: {id: 2, old: $v}) { id } }';
  expect((await run(old, { v: { a: '\u0000' } })).errors).toBeUndefined();
  expect(await database.query(`select old::text as old from item where id = 2`)).toEqual([{ old: '{"a":"\\u0000"}' }]);
});
