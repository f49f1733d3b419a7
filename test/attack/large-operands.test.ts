/**
 * Operands whose work multiplies with a row's value, while PostgreSQL looks neither for a timeout nor for a cancel request, and values that
 * are used so often that their copies fill its memory, do not reach it.
 */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table item (id int primary key, body text, tags int[], data jsonb, search tsvector);
  insert into item values (1, 'abc', '{1, 2}', '[1, 2]', to_tsvector('simple', 'a b'));
  grant select, update on item to anon, service_role;
`);
const limited = await startExecution(database, {});
const unlimited = await startExecution(database, { limits: null });

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const json = (count: number) => JSON.stringify({ a: [{ b: numbers(count - 2) }] });

/** What an operation may have in all: a filter of an item by a variable, the most, the variable of a size, and what is said of more. */
const cases = [
  ['like', '{body: {like: $v}}', 'String', 2000, (size: number) => 'a'.repeat(size), 'characters in patterns'],
  ['ilike', '{not: {body: {ilike: $v}}}', 'String', 2000, (size: number) => 'a'.repeat(size), 'characters in patterns'],
  ['contains', '{tags: {contains: $v}}', '[Int!]', 10_000, numbers, 'items in lists that are compared'],
  ['containedBy', '{tags: {containedBy: $v}}', '[Int!]', 10_000, numbers, 'items in lists that are compared'],
  ['overlaps', '{tags: {overlaps: $v}}', '[Int!]', 10_000, numbers, 'items in lists that are compared'],
  ['contains of JSON', '{data: {contains: $v}}', 'JSON', 1000, json, 'values and keys that JSON'],
  ['containedBy of JSON', '{data: {containedBy: $v}}', 'JSON', 1000, json, 'values and keys that JSON'],
  ['contains of a part', '{data: {at: {path: ["0"], json: {contains: $v}}}}', 'JSON', 1000, json, 'values and keys that JSON'],
  ['hasAllKeys', '{data: {hasAllKeys: $v}}', '[String!]', 1000, (size: number) => numbers(size).map(String), 'values and keys that JSON'],
  ['hasAnyKey', '{data: {hasAnyKey: $v}}', '[String!]', 1000, (size: number) => numbers(size).map(String), 'values and keys that JSON'],
  ['in', '{id: {in: $v}}', '[Int!]', 1_000_000, numbers, 'items in lists of "in"'],
] as const; // biome-ignore format: a table

const refused = (most: number, what: string) => ({
  errors: [
    {
      message: expect.stringContaining(`The operation has more than ${most} ${what}`),
      extensions: { code: 'LIMIT_EXCEEDED', limit: 'operands' },
    },
  ],
});

test.each(cases)('%s: one value may be so large, two may not', async (_, filter, type, most, make, what) => {
  const run = (on: typeof limited, query: string, size: number) =>
    on.run('anon', query, { variables: { v: make(size) } });
  const once = `query ($v: ${type}) { itemCollection(filter: ${filter}) { edges { node { id } } } }`;
  const twice = once
    .replace('filter: ', 'filter: {or: [{id: {eq: 0}}, ')
    .replace(') { edges', `, ${filter}]}) { edges`);
  const byAlias = once.replace(/\}$/, ` other: itemCollection(filter: {and: [${filter}]}) { edges { node { id } } } }`);
  const change = `mutation ($v: ${type}) { updateItemCollection(set: {body: "x"}, filter: {and: [${filter}, ${filter}]}) { affectedCount } }`;
  const half = most / 2 + 3;
  for (const query of [twice, byAlias, change])
    expect(await run(limited, query, half)).toMatchObject(refused(most, what));
  if (most < 100_000) {
    expect((await run(limited, once, most)).errors).toBeUndefined();
    expect(await run(limited, once, most + 1)).toMatchObject(refused(most, what));
    expect((await run(unlimited, twice, half)).errors).toBeUndefined();
  }
});

test('values in the document count as well', async () => {
  const select = (filter: string) => `{ itemCollection(filter: ${filter}) { edges { node { id } } } }`;
  const like = `{body: {like: "${'a'.repeat(1001)}"}}`;
  expect((await limited.run('anon', select(like))).errors).toBeUndefined();
  expect(await limited.run('anon', select(`{or: [${like}, ${like}]}`))).toMatchObject(refused(2000, 'characters'));
  expect(await limited.run('anon', select(`{tags: {overlaps: [${numbers(10_001)}]}}`))).toMatchObject(
    refused(10_000, 'items'),
  );
});

test('a key or a single value counts once, because it may be looked for in a list', async () => {
  for (const data of [{ hasKey: 'a' }, { contains: '1' }]) {
    const run = (count: number) =>
      limited.run('anon', `query ($f: [ItemFilter!]) { itemCollection(filter: {or: $f}) { edges { node { id } } } }`, {
        variables: {
          f: Array.from({ length: count }, () => ({ data })),
        },
      });
    expect((await run(1000)).errors).toBeUndefined();
    expect(await run(1001)).toMatchObject(refused(1000, 'values and keys'));
  }
});

test('JSON outside of lists is found without comparing', async () => {
  const query = 'query ($v: JSON) { itemCollection(filter: {data: {contains: $v}}) { edges { node { id } } } }';
  const large = JSON.stringify(Object.fromEntries(numbers(5000).map((n) => [`k${n}`, 'a, b'.repeat(10)])));
  expect((await limited.run('anon', query, { variables: { v: large } })).errors).toBeUndefined();
  // PostgreSQL says what is wrong with it.
  expect((await limited.run('anon', query, { variables: { v: '[1' } })).errors[0].message).toContain('json');
});

test('values behind others that are deep in each other count as well', async () => {
  const query = 'query ($v: JSON) { itemCollection(filter: {data: {contains: $v}}) { edges { node { id } } } }';
  const deep = `${'{"a":'.repeat(12000)}1${'}'.repeat(12000)}`;
  const v = `{"a": ${deep}, "b": ${JSON.stringify(numbers(2000))}}`;
  expect(await limited.run('anon', query, { variables: { v } })).toMatchObject(refused(1000, 'values and keys'));
});

test('keys that an update removes from JSON count as well, in each entry of a list', async () => {
  const keys = (count: number) => numbers(count).map((n) => `k${n}`);
  const one =
    'mutation ($k: [String!]) { updateItemCollection(set: {}, remove: {data: $k}, filter: {id: {eq: 1}}) { affectedCount } }';
  const list = 'mutation ($u: [ItemUpdateEntry!]!) { updateManyItemCollection(updates: $u) { affectedCount } }';
  const entry = (id: number, count: number) => ({ remove: { data: keys(count) }, filter: { id: { eq: id } } });
  const tooMany = refused(10_000, 'items in lists');
  expect((await limited.run('anon', one, { variables: { k: keys(10_000) } })).errors).toBeUndefined();
  expect(await limited.run('anon', one, { variables: { k: keys(10_001) } })).toMatchObject(tooMany);
  const updates = (...counts: number[]) => ({
    variables: { u: counts.map((count, index) => entry(index + 1, count)) },
  });
  expect((await limited.run('anon', list, updates(9000, 9000))).errors).toBeUndefined();
  expect(await limited.run('anon', list, updates(1, 10_001))).toMatchObject(tooMany);
  expect(await database.query('select data from item')).toEqual([{ data: [1, 2] }]);
});

test('a search by which rows are ordered has 500 characters at most, others may be longer', async () => {
  const words = (size: number) => 'ab '.repeat(size).slice(0, size);
  const order = 'query ($v: String) { itemCollection(orderBy: {searchRank: {plain: $v}}) { edges { node { id } } } }';
  const run = (query: string, size: number) => limited.run('anon', query, { variables: { v: words(size) } });
  expect((await run(order, 500)).errors).toBeUndefined();
  expect(await run(order, 501)).toMatchObject(refused(500, 'characters in searches'));
  const filter = 'query ($v: String) { itemCollection(filter: {search: {plain: $v}}) { edges { node { id } } } }';
  expect((await run(filter, 5000)).errors).toBeUndefined();
});

test('a long value is not used so often that its copies fill the memory of PostgreSQL, by no role', async () => {
  const many = (use: string, count: number) => Array.from({ length: count }, () => use).join();
  const value = 'a'.repeat(400_000);
  const tooLong = { errors: [{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'text' } }] };
  for (const [type, use] of [
    ['String', '{body: {eq: $v}}'],
    ['[String!]', '{body: {in: $v}}'],
    ['String', '{data: {at: {path: [$v], text: {eq: "a"}}}}'],
    ['String', '{body: {regex: $v}}'],
  ] as const) {
    const query = (count: number) =>
      `query ($v: ${type}) { itemCollection(filter: {or: [${many(use, count)}]}) { edges { node { id } } } }`;
    for (const on of [limited, unlimited]) {
      expect(await on.run('anon', query(200), { variables: { v: value } }), use).toMatchObject(tooLong);
    }
  }
  const fields = numbers(200).map((n) => `f${n}: data(at: [$v])`);
  const parts = `query ($v: String!) { itemCollection { edges { node { ${fields.join(' ')} } } } }`;
  expect(await limited.run('anon', parts, { variables: { v: value } })).toMatchObject(tooLong);
  expect((await limited.run('anon', parts, { variables: { v: 'a' } })).errors).toBeUndefined();
});
