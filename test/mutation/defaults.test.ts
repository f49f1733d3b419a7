/**
 * What a row gets for the keys that its object lacks: the same as from `insert … values (default, …)`.
 */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-defaults.sql'));
const library = await startExecution(database, { schemas: ['lib'] });
const every = 'plain at_time on_day short amount level sub_level own_level flags words options who none length';

const filled = {
  plain: "plain, with a comma and a ' quote",
  at_time: expect.stringMatching(/^\d\d:\d\d:\d\d/),
  on_day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  short: 'abc',
  amount: '1.00',
  level: 5,
  sub_level: 5,
  own_level: 7,
  flags: '101',
  words: ['a', 'b'],
  options: '{"a": 1}',
  who: 'anon',
  none: null,
  length: 33,
};

test('an object without keys is a row of defaults', async () => {
  const { insertIntothingCollection } = await library.data(
    'anon',
    `mutation { insertIntothingCollection(objects: [{}]) { records { ${every} } } }`,
  );
  expect(insertIntothingCollection.records).toEqual([filled]);
});

test('a key that other objects have is the default for an object that lacks it, whatever its type', async () => {
  const query = `mutation { insertIntothingCollection(objects: [{name: "lacks all"}, {name: "has all", plain: "p", at_time: "07:45", on_day: "today",
    short: "xyz", amount: "2.5", level: 1, sub_level: 2, own_level: 3, flags: "010", words: ["c", null], options: "[]", who: "me", none: "n"}]) {
    records { name ${every} } } }`;
  const { insertIntothingCollection } = await library.data('anon', query);
  expect(insertIntothingCollection.records).toMatchObject([
    { name: 'lacks all', ...filled },
    {
      name: 'has all',
      plain: 'p',
      at_time: '07:45:00',
      short: 'xyz',
      amount: '2.50',
      level: 1,
      sub_level: 2,
      own_level: 3,
      flags: '010',
      words: ['c', null],
      options: '[]',
      who: 'me',
      none: 'n',
      length: 1,
    },
  ]);
});

test('null is null, not the default', async () => {
  const query = `mutation { insertIntothingCollection(objects: [{plain: null, level: null, ticket: null, stamp: null}, {plain: "x"}]) {
    records { plain level ticket stamp length } } }`;
  const { insertIntothingCollection } = await library.data('anon', query);
  expect(insertIntothingCollection.records[0]).toEqual({
    plain: null,
    level: null,
    ticket: null,
    stamp: null,
    length: null,
  });
});

test('a default that takes numbers from a sequence takes one for each row that needs it, in the order of the objects', async () => {
  await database.query('alter sequence lib.ticket restart with 100');
  const query = `mutation { insertIntothingCollection(objects: [{stamp: "s"}, {stamp: "s", ticket: "5"}, {stamp: "s"}, {stamp: "s"}]) { records { ticket } } }`;
  const { insertIntothingCollection } = await library.data('anon', query);
  expect(insertIntothingCollection.records.map(({ ticket }: { ticket: string }) => ticket)).toEqual([
    '100',
    '5',
    '101',
    '102',
  ]);
});

test('objects that lack different columns are numbered in their order, whatever is selected', async () => {
  const objects = '[{title: "a", kind: "x"}, {title: "b"}, {title: "c", kind: "y"}]';
  for (const selection of ['__typename', 'affectedCount', 'records { id }', 'records @skip(if: true) { id }']) {
    await database.query('truncate lib.counted restart identity');
    await library.data('anon', `mutation { insertIntocountedCollection(objects: ${objects}) { ${selection} } }`);
    const rows = await database.query('select title from lib.counted order by id');
    expect({ selection, titles: rows.map(({ title }) => title) }).toEqual({ selection, titles: ['a', 'b', 'c'] });
  }
  await database.query('truncate lib.counted restart identity');
  const o = Array.from({ length: 1500 }, (_, n) => ({ title: `t${n}`, ...(n % 3 ? { kind: 'k' } : {}) }));
  const query =
    'mutation ($o: [countedInsertInput!]!) { insertIntocountedCollection(objects: $o) { records { id title } } }';
  const { insertIntocountedCollection } = await library.data('anon', query, { variables: { o } });
  expect(insertIntocountedCollection.records.slice(0, 4)).toEqual(
    o.slice(0, 4).map(({ title }, n) => ({ id: n + 1, title })),
  );
  const rows = await database.query('select title from lib.counted order by id');
  expect(rows.map(({ title }) => title)).toEqual(o.map(({ title }) => title));
});

test('a default calls a function of a schema that is not exposed', async () => {
  const query =
    'mutation { insertIntothingCollection(objects: [{stamp: "given"}, {name: "n"}]) { records { stamp } } }';
  const { insertIntothingCollection } = await library.data('anon', query);
  expect(insertIntothingCollection.records).toEqual([
    { stamp: 'given' },
    { stamp: expect.stringMatching(/^stamp \d+$/) },
  ]);
});

test('a default uses objects of a schema that the role may not use', async () => {
  const records = async (objects: string) => {
    const query = `mutation { insertIntosealedCollection(objects: ${objects}) { records { id a stamp no dots } } }`;
    return (await library.data('anon', query)).insertIntosealedCollection.records;
  };
  expect(await records('[{id: 1}, {id: 2, no: 70, stamp: "s"}, {id: 3, a: "x", dots: "d"}, {id: 4, no: 80}]')).toEqual([
    { id: 1, a: null, stamp: 'stamp', no: '1', dots: 'a.b' },
    { id: 2, a: null, stamp: 's', no: '70', dots: 'a.b' },
    { id: 3, a: 'x', stamp: 'stamp', no: '2', dots: 'd' },
    { id: 4, a: null, stamp: 'stamp', no: '80', dots: 'a.b' },
  ]);
  expect(await records('[{id: 5, a: "y"}]')).toEqual([{ id: 5, a: 'y', stamp: 'stamp', no: '3', dots: 'a.b' }]);
});

test('a default calls the function it was created with, whatever functions of that name the search path has', async () => {
  const query =
    'mutation { insertIntomixedCollection(objects: [{id: 1}, {id: 2, label: "l", data: "1"}]) { records { label data } } }';
  const { insertIntomixedCollection } = await library.data('anon', query);
  expect(insertIntomixedCollection.records).toEqual([
    { label: 'no 1', data: '{"a": 1}' },
    { label: 'l', data: '1' },
  ]);
});

test('a default is checked like a value: one that is too long is an error and never cut', async () => {
  const body = await library.run(
    'anon',
    'mutation { insertIntoclumsyCollection(objects: [{id: 1}, {id: 2, short: "ok"}]) { affectedCount } }',
  );
  expect(body).toMatchObject({
    data: null,
    errors: [{ message: 'value too long for type character varying(3)', extensions: { sqlstate: '22001' } }],
  });
  expect(await database.query('select * from lib.clumsy')).toEqual([]);
});

test('a domain checks what is written', async () => {
  const body = await library.run(
    'anon',
    'mutation { insertIntothingCollection(objects: [{level: 10}]) { affectedCount } }',
  );
  expect(body).toMatchObject({
    data: null,
    errors: [
      {
        message: 'value for domain grade violates check constraint "grade_check"',
        extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate: '23514' },
      },
    ],
  });
});

test.each(['id', 'length'])('the column %s, which the database fills, is no input', async (column) => {
  const [message] = await library.errors(
    'anon',
    `mutation { insertIntothingCollection(objects: [{${column}: 1}]) { affectedCount } }`,
  );
  expect(message).toContain(`"${column}"`);
});

test('a table of generated columns alone is not updated', async () => {
  await database.query('insert into lib.counter default values');
  const body = await library.run('anon', 'mutation { updatecounterCollection(set: {}) { affectedCount } }');
  expect(body).not.toHaveProperty('data');
  expect(
    await library.data('anon', 'mutation { deleteFromcounterCollection { affectedCount records { id } } }'),
  ).toEqual({
    deleteFromcounterCollection: { affectedCount: 1, records: [{ id: '1' }] },
  });
});
