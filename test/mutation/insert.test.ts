/**
 * `insertInto…`: what the objects may look like, what the columns they leave out get, and what comes back.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-library.sql'));
const library = await startExecution(database, { schemas: ['lib'] });
const insert = async (objects: string, selection: string, variables: Record<string, unknown> = {}, types = '') =>
  (
    await library.data(
      'anon',
      `mutation ${types} { x: insertIntoVolumeCollection(objects: ${objects}) { ${selection} } }`,
      {
        variables,
      },
    )
  ).x;
const volumes = () =>
  database.query(
    'select shelf_mark, title, tags, acquired_on::text from lib.volume where shelf_mark like $1 order by 1',
    ['N%'],
  );

beforeEach(async () => {
  await database.query("delete from lib.volume where shelf_mark like 'N%'");
});

describe('the objects of an insert', () => {
  const typed = '($o: [VolumeInsertInput!]!)';

  test('the objects of an insert may be a list in the document', async () => {
    expect(await insert('[{shelfMark: "N1"}, {shelfMark: "N2"}]', 'affectedCount')).toEqual({ affectedCount: 2 });
  });

  test('the objects of an insert may be a single object instead of a list', async () => {
    expect(await insert('{shelfMark: "N1", title: "One"}', 'records { title }')).toEqual({
      records: [{ title: 'One' }],
    });
  });

  test('the objects of an insert may be a variable that holds a list', async () => {
    const variables = {
      o: [
        { shelfMark: 'N1', tags: ['a'] },
        { shelfMark: 'N2', tags: ['b', null] },
      ],
    };
    expect(await insert('$o', 'records { shelfMark tags }', variables, typed)).toEqual({
      records: [
        { shelfMark: 'N1', tags: ['a'] },
        { shelfMark: 'N2', tags: ['b', null] },
      ],
    });
  });

  test('the objects of an insert may be a variable that holds a single object, declared as list or as object', async () => {
    const one = { o: { shelfMark: 'N1' } };
    expect(await insert('$o', 'affectedCount', one, typed)).toEqual({ affectedCount: 1 });
    const two = { o: { shelfMark: 'N2' } };
    expect(await insert('$o', 'affectedCount', two, '($o: VolumeInsertInput!)')).toEqual({ affectedCount: 1 });
  });

  test('the objects of an insert may mix literals, variables for objects and variables for values', async () => {
    const types = '($o: VolumeInsertInput!, $t: String, $tag: String)';
    const variables = { o: { shelfMark: 'N2', tags: ['whole'] }, t: 'By variable', tag: 'x' };
    const objects = '[{shelfMark: "N1", title: $t}, $o, {shelfMark: "N3", tags: ["a", $tag]}]';
    expect(await insert(objects, 'records { shelfMark title tags }', variables, types)).toEqual({
      records: [
        { shelfMark: 'N1', title: 'By variable', tags: [] },
        { shelfMark: 'N2', title: 'Untitled', tags: ['whole'] },
        { shelfMark: 'N3', title: 'Untitled', tags: ['a', 'x'] },
      ],
    });
  });

  test('with different keys are one statement, and a missing key is the default of its column', async () => {
    const objects =
      '[{shelfMark: "N1", title: "T"}, {shelfMark: "N2", acquiredOn: "2024-05-05"}, {shelfMark: "N3", tags: "t"}]';
    await insert(objects, 'affectedCount');
    expect(await volumes()).toEqual([
      { shelf_mark: 'N1', title: 'T', tags: [], acquired_on: '2020-02-02' },
      { shelf_mark: 'N2', title: 'Untitled', tags: [], acquired_on: '2024-05-05' },
      { shelf_mark: 'N3', title: 'Untitled', tags: ['t'], acquired_on: '2020-02-02' },
    ]);
  });

  test('the objects of an insert take null for null, as a literal and as a variable, and an absent variable for the default', async () => {
    const objects =
      '[{shelfMark: "N1", acquiredOn: null}, {shelfMark: "N2", acquiredOn: $a}, {shelfMark: "N3", acquiredOn: $b}]';
    await insert(objects, 'affectedCount', { a: null }, '($a: Date, $b: Date)');
    expect((await volumes()).map(({ acquired_on }) => acquired_on)).toEqual([null, null, '2020-02-02']);
  });

  test('the objects of an insert take null for null inside a variable', async () => {
    const variables = { o: [{ shelfMark: 'N1', acquiredOn: null }, { shelfMark: 'N2' }] };
    await insert('$o', 'affectedCount', variables, typed);
    expect((await volumes()).map(({ acquired_on }) => acquired_on)).toEqual([null, '2020-02-02']);
  });

  test('the objects of an insert may be the default of a variable', async () => {
    const types = '($o: [VolumeInsertInput!]! = [{shelfMark: "N1", title: "Default"}, {shelfMark: "N2"}])';
    expect(await insert('$o', 'records { title }', {}, types)).toEqual({
      records: [{ title: 'Default' }, { title: 'Untitled' }],
    });
    expect(await insert('$o', 'affectedCount', { o: { shelfMark: 'N3' } }, types)).toEqual({ affectedCount: 1 });
  });

  test('the objects of an insert may be declared with elements that can be null, as long as none is', async () => {
    const types = '($o: [VolumeInsertInput])';
    expect(await insert('$o', 'affectedCount', { o: [{ shelfMark: 'N1' }] }, types)).toEqual({ affectedCount: 1 });
    const query = `mutation ${types} { insertIntoVolumeCollection(objects: $o) { affectedCount } }`;
    for (const o of [[{ shelfMark: 'N2' }, null], null]) {
      expect(await library.run('anon', query, { variables: { o } })).not.toHaveProperty('data');
    }
    expect(await library.run('anon', query)).not.toHaveProperty('data');
  });

  test('the objects of an insert hold null where an absent variable stands in a list', async () => {
    const objects = '[{shelfMark: "N1", tags: ["a", $tag]}, {shelfMark: "N2", tags: $tags}]';
    expect(await insert(objects, 'records { tags }', {}, '($tag: String, $tags: [String])')).toEqual({
      records: [{ tags: ['a', null] }, { tags: [] }],
    });
  });

  test('the objects of an insert must not be an empty list', async () => {
    const message = 'At least one record must be provided to objects';
    const literal = await library.run('anon', 'mutation { insertIntoVolumeCollection(objects: []) { affectedCount } }');
    expect(literal).toMatchObject({ data: null, errors: [{ message, path: ['insertIntoVolumeCollection'] }] });
    const query = `mutation ${typed} { insertIntoVolumeCollection(objects: $o) { affectedCount } }`;
    expect(await library.run('anon', query, { variables: { o: [] } })).toMatchObject({
      data: null,
      errors: [{ message }],
    });
  });

  test.each([
    ['missing', 'mutation { insertIntoVolumeCollection { affectedCount } }'],
    ['null', 'mutation { insertIntoVolumeCollection(objects: null) { affectedCount } }'],
    ['a null element', 'mutation { insertIntoVolumeCollection(objects: [null]) { affectedCount } }'],
    ['an unknown key', 'mutation { insertIntoVolumeCollection(objects: [{colour: "red"}]) { affectedCount } }'],
    ['a string', 'mutation { insertIntoVolumeCollection(objects: "x") { affectedCount } }'],
    ['a value of a wrong type', 'mutation { insertIntoVolumeCollection(objects: [{title: 1}]) { affectedCount } }'],
    ['a list in a list', 'mutation { insertIntoVolumeCollection(objects: [{tags: [["x"]]}]) { affectedCount } }'],
    ['an undeclared variable', 'mutation { insertIntoVolumeCollection(objects: $o) { affectedCount } }'],
  ])('the objects of an insert are refused before anything runs: %s', async (_name, query) => {
    const body = await library.run('anon', query);
    expect(body).not.toHaveProperty('data');
    expect(body.errors.length).toBeGreaterThan(0);
  });

  test.each([
    ['null', null],
    ['a list with null', [null]],
    ['an unknown key', [{ colour: 'red' }]],
    ['a string', 'x'],
    ['a value of a wrong type', [{ title: 1 }]],
  ])('the objects of an insert are refused in a variable: %s', async (_name, o) => {
    const query = `mutation ${typed} { insertIntoVolumeCollection(objects: $o) { affectedCount } }`;
    const body = await library.run('anon', query, { variables: { o } });
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});

test('a variable that is nested a hundred thousand levels deep is refused like any other wrong value', async () => {
  const o = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  const query = 'mutation ($o: [VolumeInsertInput!]!) { insertIntoVolumeCollection(objects: $o) { affectedCount } }';
  const body = await library.run('anon', query, { variables: { o } });
  expect(body).not.toHaveProperty('data');
  expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
});

describe('the answer to an insert', () => {
  test('the answer to an insert has the records in the order of the objects', async () => {
    const marks = Array.from({ length: 100 }, (_, index) => `N${(index * 37) % 100}`);
    const variables = { o: marks.map((shelfMark, index) => (index % 3 ? { shelfMark } : { shelfMark, title: 'T' })) };
    const { records } = await insert('$o', 'records { shelfMark }', variables, '($o: [VolumeInsertInput!]!)');
    expect(records.map((record: { shelfMark: string }) => record.shelfMark)).toEqual(marks);
  });

  test('the answer to an insert may consist of __typename alone', async () => {
    expect(await insert('{shelfMark: "N1"}', '__typename')).toEqual({ __typename: 'VolumeInsertResponse' });
    expect(await volumes()).toHaveLength(1);
  });

  test('the answer to an insert has type names, aliases, node ids and merged fields', async () => {
    const selection =
      'n: affectedCount records { __typename id: nodeId } records { mark: shelfMark } again: records { title }';
    expect(await insert('{shelfMark: "N1"}', selection)).toEqual({
      n: 1,
      records: [{ __typename: 'Volume', id: Buffer.from('["lib", "volume", "N1"]').toString('base64'), mark: 'N1' }],
      again: [{ title: 'Untitled' }],
    });
  });

  test('the answer to an insert leaves out what @skip and @include say', async () => {
    const selection = 'affectedCount @skip(if: true) records @include(if: $yes) { shelfMark title @skip(if: $yes) }';
    expect(await insert('{shelfMark: "N1"}', selection, { yes: true }, '($yes: Boolean!)')).toEqual({
      records: [{ shelfMark: 'N1' }],
    });
    expect(await insert('{shelfMark: "N2"}', 'records { title @skip(if: true) }')).toEqual({ records: [{}] });
  });
});

describe('a large insert', () => {
  const query = 'mutation ($o: [VolumeInsertInput!]!) { insertIntoVolumeCollection(objects: $o) { affectedCount } }';
  const objects = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ shelfMark: `N${index}`, title: 'T' }));

  test('of 1,000 objects is one statement with a parameter for each column', async () => {
    const variables = { o: objects(1000) };
    const statements = await library.statements('anon', query, { variables });
    expect(statements).toHaveLength(1);
    expect(statements[0]?.slots).toHaveLength(2);
    expect(await library.data('anon', query, { variables })).toEqual({
      insertIntoVolumeCollection: { affectedCount: 1000 },
    });
  });

  test('a large insert has the statement of a small one', async () => {
    const text = async (o: unknown) => (await library.statements('anon', query, { variables: { o } }))[0]?.text;
    expect(await text(objects(1))).toBe(await text(objects(1000)));
  });
});
