/** A list of updates in one mutation field (extension `batch_update`). */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Given, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table item (id bigint primary key, name varchar(10), hits int not null default 0, tags text[], data jsonb, due date);
  create table pair (a int, b text, v int, primary key (b, a));
  create table word (w char(5) primary key, v int);
  create extension citext;
  create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table player (name text collate loose primary key, score int not null default 0);
  create type kind as enum ('old', 'new');
  create table label (kind kind, name citext, id uuid, v int, primary key (kind, name, id));
  create function loud(i item) returns text stable language sql as 'select upper(i.name)';
  grant select, insert, update, delete on all tables in schema public to anon;
`);
const execution = await startExecution(database);

const reset = () =>
  database.query(`
    truncate item, pair, word;
    insert into item select n, 'item ' || n, n * 10, '{a}', '{"a": 1}' from generate_series(1, 6) n;
    insert into pair values (1, 'x', 1), (1, 'y', 2), (2, 'x', 3);
    insert into word values ('one', 1)`);
beforeEach(reset);

type Entries = readonly Readonly<Record<string, unknown>>[];
const query = (fields = 'affectedCount records { id name hits }') =>
  `mutation ($updates: [ItemUpdateEntry!]!) { updateManyItemCollection(updates: $updates) { ${fields} } }`;
const run = async (updates: Entries, given: Given = {}) =>
  execution.run('anon', query(), { ...given, variables: { updates } });
const byId = (id: unknown, changes: object) => ({ ...changes, filter: { id: { eq: String(id) } } });
const texts = async (updates: Entries) =>
  (await execution.statements('anon', query(), { variables: { updates } })).map(({ text }) => text);
const items = () => database.query('select id::int, name, hits, tags, data from item order by id');
/** The list as a literal of GraphQL. */
const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${key}: ${literal(member)}`)
    .join(', ')}}`;
};

test('changes rows by their keys with one statement, and answers each entry in order', async () => {
  const updates = [
    byId(3, { set: { name: 'three' }, increment: { hits: 3 } }),
    byId(99, { set: { name: 'none' }, increment: { hits: 3 } }),
    byId(1, { set: { name: null }, increment: { hits: -1 } }),
  ];
  expect((await texts(updates)).length).toBe(1);
  expect(await run(updates)).toEqual({
    data: {
      updateManyItemCollection: [
        { affectedCount: 1, records: [{ id: '3', name: 'three', hits: 33 }] },
        { affectedCount: 0, records: [] },
        { affectedCount: 1, records: [{ id: '1', name: null, hits: 9 }] },
      ],
    },
  });
  expect((await items()).map(({ hits }) => hits)).toEqual([9, 20, 33, 40, 50, 60]);
});

test('runs entries of other filters and shapes each on its own, in order', async () => {
  const updates = [
    byId(1, { increment: { hits: 1 } }),
    byId(2, { increment: { hits: 1 } }),
    { set: { hits: 0 }, filter: { id: { lte: '2' } }, atMost: 2 },
    byId(1, { increment: { hits: 5 } }),
    byId(2, { append: { tags: ['b'] } }),
  ];
  expect((await texts(updates)).length).toBe(4);
  const { data } = await run(updates);
  expect(data.updateManyItemCollection.map(({ affectedCount }: { affectedCount: number }) => affectedCount)).toEqual([
    1, 1, 2, 1, 1,
  ]);
  expect(data.updateManyItemCollection[2].records).toHaveLength(2);
  expect((await items()).slice(0, 2)).toMatchObject([
    { hits: 5, tags: ['a'] },
    { hits: 0, tags: ['a', 'b'] },
  ]);
});

test('a list in a variable does the same as in the document', async () => {
  const lists: Entries[] = [
    [byId(1, { increment: { hits: 1 } }), byId(2, { increment: { hits: 2 } })],
    [
      byId(1, { set: { name: 'x' } }),
      byId(1, { set: { name: 'y' } }),
      { set: { name: 'z' }, atMost: 0, filter: { id: { eq: '77' } } },
    ],
    [byId(1, { set: null, append: { tags: [null, 'z'], data: '{"b": 2}' }, atMost: 3 })],
  ];
  for (const updates of lists) {
    const document = `mutation { updateManyItemCollection(updates: ${literal(updates)}) { affectedCount records { id name hits } } }`;
    const statements = (await execution.statements('anon', document)).map(({ text }) => text);
    expect(statements).toEqual(await texts(updates));
    await reset();
    const one = await execution.run('anon', document);
    const written = await items();
    await reset();
    expect(await run(updates)).toEqual(one);
    expect(await items()).toEqual(written);
  }
});

test('a list in the document may hold variables', async () => {
  const document = `mutation ($id: BigInt!, $by: Int, $one: ItemUpdateEntry!, $name: String, $tag: String) {
    updateManyItemCollection(updates: [
      {increment: {hits: $by}, set: {name: $name}, filter: {id: {eq: $id}}}
      {increment: {hits: 2}, filter: {id: {eq: 2}}}
      $one
      {prepend: {tags: [$tag, "z"]}, filter: {id: {eq: "4"}}}
    ]) { records { id hits name tags } } }`;
  const one = { set: { hits: 7 }, filter: { id: { eq: '3' } } };
  const variables = { id: '1', by: 4, one };
  const { updateManyItemCollection } = await execution.data('anon', document, { variables });
  expect(updateManyItemCollection.map(({ records }: { records: unknown[] }) => records[0])).toEqual([
    { id: '1', hits: 14, name: 'item 1', tags: ['a'] },
    { id: '2', hits: 22, name: 'item 2', tags: ['a'] },
    { id: '3', hits: 7, name: 'item 3', tags: ['a'] },
    { id: '4', hits: 40, name: 'item 4', tags: [null, 'z', 'a'] },
  ]);
  const { errors } = await execution.run('anon', document, { variables: { ...variables, one: null } });
  expect(errors).toHaveLength(1);
});

test('lists of equal shape share one statement, for any number of entries', async () => {
  const list = (n: number) => Array.from({ length: n }, (_, index) => byId(index, { increment: { hits: index } }));
  const [one] = await texts(list(1));
  expect(await texts(list(2))).toEqual([one]);
  expect(await texts(list(500))).toEqual([one]);
});

describe('the same key twice', () => {
  test('the same key twice is changed in order', async () => {
    const updates = [
      byId(1, { increment: { hits: 1 } }),
      byId(2, { increment: { hits: 1 } }),
      byId(1, { increment: { hits: 2 } }),
      byId(1, { increment: { hits: 3 } }),
    ];
    expect((await texts(updates)).length).toBe(3);
    const { data } = await run(updates);
    expect(
      data.updateManyItemCollection.map(({ records }: { records: { hits: number }[] }) => records[0]!.hits),
    ).toEqual([11, 21, 13, 16]);
  });

  test('in two ways that its collation takes for equal is updated by each of them, in order', async () => {
    await database.query(`insert into player values ('Ann'), ('Bob')`);
    const updates = ['Ann', 'aNN', 'bob'].map((eq) => ({ increment: { score: 5 }, filter: { name: { eq } } }));
    const { updateManyPlayerCollection: answers } = await execution.data(
      'anon',
      'mutation ($updates: [PlayerUpdateEntry!]!) { updateManyPlayerCollection(updates: $updates) { records { name score } } }',
      { variables: { updates } },
    );
    expect(answers.flatMap(({ records }: { records: unknown[] }) => records)).toEqual([
      { name: 'Ann', score: 5 },
      { name: 'Ann', score: 10 },
      { name: 'Bob', score: 5 },
    ]);
  });

  test('in two ways of writing is refused, and nothing is changed', async () => {
    const { errors } = await run([byId('1', { set: { hits: 1 } }), byId('01', { set: { hits: 2 } })]);
    expect(errors).toEqual([
      {
        message: 'Two entries name the same row, with its key written in two ways. Write it in one way.',
        path: ['updateManyItemCollection'],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect((await items())[0]).toMatchObject({ hits: 10 });
    const padded =
      'mutation { updateManyWordCollection(updates: [{set: {v: 2}, filter: {w: {eq: "one"}}}, {set: {v: 3}, filter: {w: {eq: "one  "}}}]) { affectedCount } }';
    expect(await execution.errors('anon', padded)).toEqual([errors[0].message]);
  });
});

test('keys of several columns are one statement', async () => {
  const update = `mutation ($updates: [PairUpdateEntry!]!) { updateManyPairCollection(updates: $updates) { records { a b v } } }`;
  const entry = (a: number, b: string, v: number) => ({ set: { v }, filter: { b: { eq: b }, a: { eq: a } } });
  const variables = { updates: [entry(2, 'x', 9), entry(1, 'y', 8), entry(1, 'x', 7)] };
  expect(await execution.statements('anon', update, { variables })).toHaveLength(1);
  expect((await execution.data('anon', update, { variables })).updateManyPairCollection).toEqual([
    { records: [{ a: 2, b: 'x', v: 9 }] },
    { records: [{ a: 1, b: 'y', v: 8 }] },
    { records: [{ a: 1, b: 'x', v: 7 }] },
  ]);
  const half = {
    updates: [
      { set: { v: 1 }, filter: { a: { eq: 1 } }, atMost: 2 },
      { set: { v: 1 }, filter: { a: { eq: 2 } } },
    ],
  };
  expect(await execution.statements('anon', update, { variables: half })).toHaveLength(2);
});

describe('an entry', () => {
  const refused = async (updates: Entries) => {
    const before = await items();
    const { data, errors } = await run(updates);
    expect([data ?? null, errors.length]).toEqual([null, 1]);
    expect(await items()).toEqual(before);
    const { message, path, extensions } = errors[0];
    expect(path).toEqual(['updateManyItemCollection']);
    return [extensions.code, message, extensions.input];
  };
  const first = byId(1, { increment: { hits: 1 } });

  test('an entry has a limit of rows of its own, 1 by default', async () => {
    const all = { set: { hits: 1 }, filter: {} };
    const tooMany = ['BAD_USER_INPUT', 'update impacts too many records'];
    expect(await refused([first, all])).toEqual([...tooMany, '$updates[1]']);
    expect(await refused([{ ...all, atMost: 5 }, first])).toEqual([...tooMany, '$updates[0]']);
    expect(await refused([byId(2, { set: { hits: 1 }, atMost: 0 })])).toEqual([...tooMany, '$updates[0]']);
    const document = 'mutation { updateManyItemCollection(updates: {set: {hits: 1}}) { affectedCount } }';
    expect((await execution.run('anon', document)).errors[0].extensions.input).toBe('updates[0]');
    expect((await run([first, { ...all, atMost: 6 }])).data.updateManyItemCollection[1].affectedCount).toBe(6);
  });

  test('that changes nothing is refused', async () => {
    const message = 'At least one mapping must be provided to set argument';
    for (const entry of [{}, { set: {} }, { set: null, increment: { hits: null } }]) {
      expect(await refused([first, byId(2, entry)])).toEqual(['BAD_USER_INPUT', message, '$updates[1]']);
    }
  });

  test('an entry is refused with its place', async () => {
    expect(await refused([first, byId(2, { set: { name: 'much too long' } })])).toEqual([
      'BAD_USER_INPUT',
      'Invalid input for String type. Maximum character length 10',
      '$updates[1].set.name',
    ]);
    expect(await refused([first, byId(2, { set: { hits: 1 }, increment: { hits: 1 } })])).toEqual([
      'BAD_USER_INPUT',
      '"hits" is changed by "set" and by "increment". Change a column in one way.',
      '$updates[1].increment.hits',
    ]);
    expect(await refused([byId(1, { append: { data: '{}' } }), byId(2, { append: { data: '5' } })])).toEqual([
      'BAD_USER_INPUT',
      '"append" takes a JSON object to merge, or a JSON array to add.',
      '$updates[1].append.data',
    ]);
    expect(await refused([byId(1, { set: { due: '2024-01-01' } }), byId(2, { set: { due: 'soon' } })])).toEqual([
      'BAD_USER_INPUT',
      'invalid input syntax for type date: "soon"',
      '$updates[1].set.due',
    ]);
  });

  test('that the database refuses undoes all of them', async () => {
    expect(await refused([byId(1, { increment: { hits: 1 } }), byId(2, { increment: { hits: 2147483647 } })])).toEqual([
      'BAD_USER_INPUT',
      'integer out of range',
      'increment.hits',
    ]);
    const alone = { increment: { hits: 2147483647 }, filter: { id: { lte: '1' } } };
    expect((await refused([byId(1, { increment: { hits: 1 } }), alone]))[2]).toBe('$updates[1].increment.hits');
    expect(await refused([byId(1, { append: { data: '{}' } }), byId(2, { append: { data: '[]' } })])).toEqual([
      'BAD_USER_INPUT',
      '"data" of a row is a JSON object: "append" merges an object into an object, and adds an array to an array.',
      'append.data',
    ]);
    expect((await refused([first, byId(2, { set: { hits: null } })]))[0]).toBe('CONSTRAINT_VIOLATION');
  });
});

test('lists without entries, and lists of too many statements, are refused', async () => {
  expect(await execution.errors('anon', query(), { variables: { updates: [] } })).toEqual([
    'At least one entry must be provided to updates',
  ]);
  const alone = { set: { hits: 1 }, filter: { id: { lt: '0' } } };
  const { errors } = await run(Array.from({ length: 101 }, () => alone));
  expect(errors[0]).toMatchObject({ extensions: { code: 'LIMIT_EXCEEDED', limit: 'statements' } });
  expect(errors[0].message).toContain('The updates need more than 100 statements.');
  expect((await run(Array.from({ length: 100 }, () => alone))).data.updateManyItemCollection).toHaveLength(100);
});

test('an update list may be one of several fields, under any alias', async () => {
  const document = `mutation ($a: [ItemUpdateEntry!]!, $b: [ItemUpdateEntry!]!) {
    one: updateItemCollection(set: {hits: 100}, filter: {id: {eq: 1}}) { affectedCount }
    two: updateManyItemCollection(updates: $a) { __typename records { hits loud pairs: nodeId } }
    three: updateManyItemCollection(updates: $b) { affectedCount }
    four: updateManyItemCollection(updates: [{increment: {hits: 1}, filter: {id: {eq: 1}}}]) { records { hits } }
    __typename
  }`;
  const variables = {
    a: [byId(1, { increment: { hits: 1 } }), byId(1, { increment: { hits: 1 } })],
    b: [{ set: { hits: 0 }, filter: { id: { gt: '4' } }, atMost: 2 }],
  };
  const data = await execution.data('anon', document, { variables });
  expect(data).toMatchObject({
    one: { affectedCount: 1 },
    two: [
      { __typename: 'ItemUpdateResponse', records: [{ hits: 101, loud: 'ITEM 1' }] },
      { __typename: 'ItemUpdateResponse', records: [{ hits: 102, loud: 'ITEM 1' }] },
    ],
    three: [{ affectedCount: 2 }],
    four: [{ records: [{ hits: 103 }] }],
    __typename: 'Mutation',
  });
});

test('keys of enums, citext and uuid are compared as the database does', async () => {
  const id = '0a0b0c0d-0000-4000-8000-00000000000e';
  await database.query(
    `truncate label; insert into label values ('old', 'Ana', '${id}', 1), ('new', 'Ana', '${id}', 2)`,
  );
  const update = `mutation ($u: [LabelUpdateEntry!]!) { updateManyLabelCollection(updates: $u) { records { kind name v } } }`;
  const entry = (kind: string, name: string, own = id) => ({
    increment: { v: 10 },
    filter: { kind: { eq: kind }, name: { eq: name }, id: { eq: own } },
  });
  const variables = (...u: object[]) => ({ variables: { u } });
  const given = variables(entry('new', 'ANA', id.toUpperCase()), entry('old', 'ana'));
  expect(await execution.statements('anon', update, given)).toHaveLength(1);
  expect((await execution.data('anon', update, given)).updateManyLabelCollection).toEqual([
    { records: [{ kind: 'new', name: 'Ana', v: 12 }] },
    { records: [{ kind: 'old', name: 'Ana', v: 11 }] },
  ]);
  const [message] = await execution.errors('anon', update, variables(entry('new', 'ANA'), entry('new', 'ana')));
  expect(message).toContain('Two entries name the same row');
});
