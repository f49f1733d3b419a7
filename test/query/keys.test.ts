/**
 * Keys of every type: each row is found by its node id, and pages by cursor meet every row once, in both directions.
 */
import { describe, expect, test } from 'vitest';
import type { Json } from '../support/execution.ts';
import { openReader } from './reader.ts';

const keys: readonly (readonly [name: string, type: string, values: string])[] = [
  ['smallint', 'smallint', '-3, 0, 7'],
  ['bigint', 'bigint', '-9223372036854775808, 9007199254740992, 9007199254740993, 9223372036854775807'],
  ['numeric', 'numeric', "1.50, 123456789012345678901234567890.123456789, 'NaN', -0.1, 1e40"],
  ['rounded', 'numeric(6,2)', '1.5, 2, 3.25'],
  ['float', 'double precision', "0.1, 1e300, '-Infinity', 'Infinity', 'NaN', 1e-300"],
  ['real', 'real', '0.1, 3.4e38, -7'],
  ['text', 'text', `'', 'ä"\\{}', 'null', ' x ', E'line\\nbreak', repeat('long', 50)`],
  ['padded', 'char(4)', "'a', 'ab', 'abcd'"],
  ['varying', 'varchar(3)', "'a', 'äöü'"],
  ['single_char', '"char"', "'a', 'b'"],
  ['name', 'name', "'a', 'b'"],
  ['flag', 'boolean', 'true, false'],
  ['uuid', 'uuid', "'00000000-0000-0000-0000-000000000001', 'ffffffff-0000-0000-0000-000000000001'"],
  ['day', 'date', "'2024-05-01', '-infinity', 'infinity', '0044-03-15 BC', '12024-01-01'"],
  ['clock', 'time', "'07:45', '23:59:59.999999', '24:00'"],
  ['zoned_clock', 'timetz', "'07:45+02', '07:45-03:30'"],
  ['stamp', 'timestamp', "'2024-05-01 10:00:00.123456', 'infinity', '0044-03-15 BC'"],
  ['zoned', 'timestamptz', "'2024-05-01 10:00:00.1+02', '2024-05-01 10:00:00.1+03', '-infinity'"],
  ['span', 'interval', "'1 day 2 hours', '-1 month', '1.5 seconds'"],
  ['bytes', 'bytea', "'\\x00', '\\xdeadbeef', ''"],
  ['address', 'inet', "'10.0.0.1', '::1', '10.0.0.0/8'"],
  ['bounds', 'int4range', "'[1,5)', 'empty', '(,)'"],
  ['money', 'money', '1.5, -2, 1000000.25'],
  ['bits', 'bit(3)', "'101', '000'"],
  ['mood', 'lib.mood', "'sad', 'o''k', 'ä,b'"],
  ['domain', 'lib.amount', '12345678901234567890.5, 1'],
  ['list', 'int[]', "'{1,2}', '{}', '{3,NULL}', '[0:1]={1,2}'"],
  ['texts', 'text[]', `'{a,"b,c"}', '{NULL,"null"}', '{"\\\\\\""}', '{{a,b},{c,d}}'`],
  ['numerics', 'numeric[]', "'{1.50}', '{123456789012345678901234567890.5}'"],
  ['moods', 'lib.mood[]', "'{sad}', '{o''k,sad}'"],
  ['json', 'jsonb', `'{"a":[1,"b"]}', 'null', '"text"', '1.50', '[]', '{}'`],
];
const tables = keys.map(
  ([name, type, values]) => `create table lib.key_${name} (k ${type} primary key, n int generated always as identity);
    insert into lib.key_${name} (k) values ${values
      .split(/, (?![^(]*\)|b')/)
      .map((value) => `(${value})`)
      .join(', ')};`,
);
const { ask, database, run } = await openReader([
  "create schema lib; grant usage on schema lib to anon; create type lib.mood as enum ('sad', 'o''k', 'ä,b'); create domain lib.amount as numeric;",
  ...tables,
  'grant select on all tables in schema lib to anon',
]);

describe('rows with a key of type', () => {
  test.each(keys)('%s (%s) are visited once by paging, forward and backward', async (name) => {
    const rows = await database.query<{ n: number }>(`select n from lib.key_${name} order by k`);
    const expected = rows.map(({ n }) => n);
    const walk = async (given: string, next: 'endCursor' | 'startCursor', argument: string) => {
      const met: number[] = [];
      let cursor: string | null = null;
      do {
        const query: string = `query ($c: Cursor) { c: key_${name}Collection(${given}, ${argument}: $c) { edges { node { n } } pageInfo { ${next} hasNextPage hasPreviousPage } } }`;
        const { edges, pageInfo }: Json = (await ask(query, { c: cursor })).c;
        met.push(...edges.map((edge: { node: { n: number } }) => edge.node.n));
        cursor = (argument === 'after' ? pageInfo.hasNextPage : pageInfo.hasPreviousPage) ? pageInfo[next] : null;
      } while (cursor !== null && met.length < 20);
      return met;
    };
    expect(await walk('first: 1', 'endCursor', 'after')).toEqual(expected);
    expect(await walk('last: 1', 'startCursor', 'before')).toEqual(expected.toReversed());
  });

  test.each(keys)('%s (%s) are found by their node ids', async (name) => {
    const data = await ask(`{ c: key_${name}Collection { edges { node { nodeId n } } } }`);
    for (const { node } of data.c.edges) {
      const found = await run(`query ($id: ID!) { node(nodeId: $id) { ... on key_${name} { n } } }`, {
        id: node.nodeId,
      });
      expect(found).toEqual({ data: { node: { n: node.n } } });
      const filtered = await ask(
        `query ($id: ID!) { c: key_${name}Collection(filter: {nodeId: {eq: $id}}) { edges { node { n } } } }`,
        { id: node.nodeId },
      );
      expect(filtered.c.edges).toEqual([{ node: { n: node.n } }]);
    }
  });
});
