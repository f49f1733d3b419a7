/**
 * Writing through views: simple ones, with check option, with triggers and rules; and whose default counts.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-views.sql'));
const library = await startExecution(database, { schemas: ['lib'] });
const data = (query: string, variables: Record<string, unknown> = {}) => library.data('anon', query, { variables });
const run = (query: string) => library.run('anon', query);
const nodeId = (...parts: unknown[]) =>
  Buffer.from(`[${parts.map((part) => JSON.stringify(part)).join(', ')}]`).toString('base64');

beforeEach(async () => {
  await database.query('truncate lib.base restart identity');
});

describe('a simple view', () => {
  test('a simple view is written like a table and answers node ids of its own name', async () => {
    const inserted = await data(
      'mutation { insertIntoShelfCollection(objects: {id: 900, title: "A"}) { records { nodeId id title shout } } }',
    );
    expect(inserted.insertIntoShelfCollection.records).toEqual([
      { nodeId: nodeId('lib', 'shelf', 900), id: '900', title: 'A', shout: 'A?' },
    ]);
    const filter = `filter: {nodeId: {eq: "${nodeId('lib', 'shelf', 900)}"}}`;
    const updated = await data(
      `mutation { updateShelfCollection(set: {title: "B"}, ${filter}) { affectedCount records { title note } } }`,
    );
    expect(updated.updateShelfCollection).toEqual({ affectedCount: 1, records: [{ title: 'B', note: 'view note' }] });
    const deleted = await data(`mutation { deleteFromShelfCollection(${filter}) { records { id title } } }`);
    expect(deleted.deleteFromShelfCollection).toEqual({ records: [{ id: '900', title: 'B' }] });
  });

  test('a simple view gives its own default before that of the table below', async () => {
    const { insertIntoShelfCollection } = await data(
      'mutation { insertIntoShelfCollection(objects: {id: 900}) { records { title note shade } } }',
    );
    expect(insertIntoShelfCollection.records).toEqual([{ title: 'base title', note: 'view note', shade: 'grey' }]);
  });

  test('a simple view gives the default of the table below where objects have different keys', async () => {
    const query = `mutation { insertIntoShelfCollection(objects: [
      {id: 901, title: "one"}, {id: 902, note: "two"}, {id: 903, note: null, code: "x"}, {id: 904, title: "four", shade: "red", code: null}]) {
      affectedCount records { id title note shade code } } }`;
    const { insertIntoShelfCollection } = await data(query);
    const code = expect.stringMatching(/^c\d+$/);
    expect(insertIntoShelfCollection).toEqual({
      affectedCount: 4,
      records: [
        { id: '901', title: 'one', note: 'view note', shade: 'grey', code },
        { id: '902', title: 'base title', note: 'two', shade: 'grey', code },
        { id: '903', title: 'base title', note: null, shade: 'grey', code: 'x' },
        { id: '904', title: 'four', note: 'view note', shade: 'red', code: null },
      ],
    });
  });

  test('a simple view gives them for objects in a variable too', async () => {
    const query =
      'mutation ($o: [ShelfInsertInput!]!) { insertIntoShelfCollection(objects: $o) { records { id title shout } } }';
    const objects = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        index % 2 ? { id: String(1000 + index) } : { id: String(1000 + index), title: `t${index}` },
      );
    const { insertIntoShelfCollection } = await data(query, { o: objects(7) });
    expect(insertIntoShelfCollection.records).toEqual(
      objects(7).map(({ id, title = 'base title' }) => ({ id, title, shout: `${title.toUpperCase()}?` })),
    );
  });

  test('a simple view takes objects without any key', async () => {
    const { insertIntoShelfCollection } = await data(
      'mutation { insertIntoShelfCollection(objects: [{}, {}]) { records { id title note } } }',
    );
    const record = { id: expect.stringMatching(/^\d+$/), title: 'base title', note: 'view note' };
    expect(insertIntoShelfCollection.records).toEqual([record, record]);
  });

  test('a simple view takes an object without any key beside others', async () => {
    const query =
      'mutation { insertIntoShelfCollection(objects: [{title: "a"}, {}, {title: "c"}]) { affectedCount records { title } } }';
    expect(await data(query)).toEqual({
      insertIntoShelfCollection: {
        affectedCount: 3,
        records: [{ title: 'a' }, { title: 'base title' }, { title: 'c' }],
      },
    });
  });
});

describe('a view with check option', () => {
  // Class 44 is none of those whose messages pass.
  test('a view with check option refuses rows that it would not show', async () => {
    const body = await run(
      'mutation { insertIntoVisibleCollection(objects: [{title: "ok"}, {title: "hidden"}]) { affectedCount } }',
    );
    expect(body).toMatchObject({
      data: null,
      errors: [
        {
          message: 'new row violates check option for view "visible"',
          path: ['insertIntoVisibleCollection'],
          extensions: { code: 'CONSTRAINT_VIOLATION' },
        },
      ],
    });
    expect(await database.query('select * from lib.base')).toEqual([]);
  });
});

describe('a view column that is an expression', () => {
  test('a view column that is an expression stays in the inputs, and writing it fails in the database', async () => {
    const body = await run(
      'mutation { insertIntoWithExpressionCollection(objects: {title: "a", loud: "A"}) { affectedCount } }',
    );
    expect(body).toMatchObject({ data: null, errors: [{ path: ['insertIntoWithExpressionCollection'] }] });
    const left = await data(
      'mutation { insertIntoWithExpressionCollection(objects: {title: "a"}) { records { loud } } }',
    );
    expect(left).toEqual({ insertIntoWithExpressionCollection: { records: [{ loud: 'A' }] } });
  });
});

describe('a view with INSTEAD OF triggers', () => {
  test('a view with INSTEAD OF triggers answers what the trigger hands back', async () => {
    const query =
      'mutation { insertIntoJoinedCollection(objects: [{title: "a"}, {title: "b", note: "n"}]) { affectedCount records { title note } } }';
    expect(await data(query)).toEqual({
      insertIntoJoinedCollection: {
        affectedCount: 2,
        records: [
          { title: 'a!', note: 'trigger note' },
          { title: 'b!', note: 'n' },
        ],
      },
    });
    expect(await data('mutation { updateJoinedCollection(set: {title: "z"}, atMost: 2) { affectedCount } }')).toEqual({
      updateJoinedCollection: { affectedCount: 2 },
    });
    expect(await data('mutation { deleteFromJoinedCollection(atMost: 2) { records { title } } }')).toEqual({
      deleteFromJoinedCollection: { records: [{ title: 'z' }, { title: 'z' }] },
    });
    expect(await database.query('select * from lib.base')).toEqual([]);
  });

  test('a view with INSTEAD OF triggers does not count rows that the trigger suppresses', async () => {
    const query =
      'mutation { insertIntoJoinedCollection(objects: [{title: "skip"}, {title: "b"}]) { affectedCount records { title } } }';
    expect(await data(query)).toEqual({ insertIntoJoinedCollection: { affectedCount: 1, records: [{ title: 'b!' }] } });
    const none = 'mutation { insertIntoJoinedCollection(objects: {title: "skip"}) { __typename } }';
    expect(await data(none)).toEqual({ insertIntoJoinedCollection: { __typename: 'JoinedInsertResponse' } });
  });
});

describe('a view with a rule', () => {
  test('a view with a rule can be inserted into as the rule says, without counting the rows that it leaves out', async () => {
    const query =
      'mutation { insertIntoRuledCollection(objects: [{title: "a"}, {title: "skip"}]) { affectedCount records { title } } }';
    expect(await data(query)).toEqual({ insertIntoRuledCollection: { affectedCount: 1, records: [{ title: 'a' }] } });
  });

  test('a view with a rule has no fields for what no rule allows', async () => {
    const [message] = await library.errors(
      'anon',
      'mutation { updateRuledCollection(set: {title: "x"}) { affectedCount } }',
    );
    expect(message).toContain('updateRuledCollection');
  });
});

test.each(['Counted', 'Stored'])('%s, which PostgreSQL cannot write, has no mutation fields', async (name) => {
  const insert = `insertInto${name}Collection(objects: {title: "x"}) { affectedCount }`;
  const update = `update${name}Collection(set: {title: "x"}) { affectedCount }`;
  for (const field of [insert, update, `deleteFrom${name}Collection { affectedCount }`]) {
    const body = await run(`mutation { ${field} }`);
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  }
});
