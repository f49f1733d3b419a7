/**
 * Grants and row security decide what may be written, and what comes back.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-rules.sql'));
const library = await startExecution(database, { schemas: ['lib'] });
const asAda = (query: string) => library.run('anon', query, { claims: { sub: 'ada' } });
const denied = (message: string) => ({
  data: null,
  errors: [{ message, extensions: { code: 'PERMISSION_DENIED', sqlstate: '42501' } }],
});
const notes = () => database.query('select owner, body from lib.note order by id');

beforeEach(async () => {
  await database.query(`
    truncate lib.note, lib.account;
    insert into lib.note (owner, body, pinned) values ('ada', 'one', false), ('ada', 'two', true), ('bo', 'three', false);
    insert into lib.account values (1, 'a', 5, 'x')`);
});

describe('row security', () => {
  test('row security lets a role write its own rows', async () => {
    const body = await asAda(
      'mutation { insertIntonoteCollection(objects: {body: "new"}) { records { owner body } } }',
    );
    expect(body).toEqual({ data: { insertIntonoteCollection: { records: [{ owner: 'ada', body: 'new' }] } } });
  });

  test('row security refuses a row against its check, and nothing of the request is kept', async () => {
    const query =
      'mutation { a: insertIntonoteCollection(objects: {body: "mine"}) { affectedCount } b: insertIntonoteCollection(objects: {owner: "bo"}) { affectedCount } }';
    expect(await asAda(query)).toMatchObject(denied('new row violates row-level security policy for table "note"'));
    expect((await asAda(query)).errors[0].path).toEqual(['b']);
    expect(await notes()).toHaveLength(3);
  });

  test('row security refuses a row that its policies for reading would hide: an insert that returns it, and any update', async () => {
    const message = 'new row violates row-level security policy for table "note"';
    const insert = 'mutation { insertIntonoteCollection(objects: {body: "invisible"}) { records { __typename } } }';
    expect(await asAda(insert)).toMatchObject(denied(message));
    expect((await asAda(insert)).errors[0].extensions.hint).toMatch(/those for SELECT do not show it to be read back/);
    const update =
      'mutation { updatenoteCollection(set: {body: "invisible"}, filter: {body: {eq: "one"}}) { __typename } }';
    expect(await asAda(update)).toMatchObject(denied(message));
    expect((await asAda(update)).errors[0].extensions.hint).toMatch(/an update reads the rows that it finds/);
    expect(await notes()).toHaveLength(3);
  });

  test('row security refuses an update against its check', async () => {
    const update =
      'mutation { updatenoteCollection(set: {body: "forbidden"}, filter: {body: {eq: "one"}}) { affectedCount } }';
    expect(await asAda(update)).toMatchObject(denied('new row violates row-level security policy for table "note"'));
  });

  test('row security skips rows that may not be updated or deleted; they do not count for atMost', async () => {
    const update = 'mutation { updatenoteCollection(set: {pinned: false}, atMost: 2) { affectedCount } }';
    await database.query("update lib.note set pinned = (body = 'two')");
    const remove = 'mutation { deleteFromnoteCollection { affectedCount records { body } } }';
    expect(await asAda(remove)).toEqual({
      data: { deleteFromnoteCollection: { affectedCount: 1, records: [{ body: 'one' }] } },
    });
    expect(await asAda(update)).toEqual({ data: { updatenoteCollection: { affectedCount: 1 } } });
    expect(await notes()).toEqual([
      { owner: 'ada', body: 'two' },
      { owner: 'bo', body: 'three' },
    ]);
  });
});

describe('column grants', () => {
  test('decide the keys of the inputs', async () => {
    for (const key of ['level: 2', 'secret: "x"']) {
      const insert = `mutation { insertIntoaccountCollection(objects: {id: 2, ${key}}) { affectedCount } }`;
      expect((await library.run('anon', insert)).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
    const update = 'mutation { updateaccountCollection(set: {id: 9}) { affectedCount } }';
    expect((await library.run('anon', update)).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  test('column grants leave readable in records what is not writable', async () => {
    const insert =
      'mutation { insertIntoaccountCollection(objects: {id: 2, name: "b"}) { records { nodeId id name level } } }';
    const nodeId = Buffer.from('["lib", "account", 2]').toString('base64');
    expect(await library.data('anon', insert)).toEqual({
      insertIntoaccountCollection: { records: [{ nodeId, id: 2, name: 'b', level: 1 }] },
    });
    expect(await database.query('select secret from lib.account where id = 2')).toEqual([{ secret: 's' }]);
    const update =
      'mutation { updateaccountCollection(set: {name: "c"}, filter: {level: {eq: 5}}) { records { level } } }';
    expect(await library.data('anon', update)).toEqual({ updateaccountCollection: { records: [{ level: 5 }] } });
  });

  test('that hide the key leave writes possible that do not return it', async () => {
    const insert = (selection: string) =>
      `mutation { insertIntoaccountCollection(objects: {id: 2, name: "b"}) { ${selection} } }`;
    expect(await library.data('authenticated', insert('affectedCount records { name level __typename }'))).toEqual({
      insertIntoaccountCollection: { affectedCount: 1, records: [{ name: 'b', level: 1, __typename: 'account' }] },
    });
    const body = await library.run('authenticated', insert('records { nodeId }').replace('id: 2', 'id: 3'));
    expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: 'PERMISSION_DENIED' } }] });
    expect(await database.query('select id from lib.account order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });
});

describe('table grants', () => {
  test('decide the fields of the mutation type', async () => {
    for (const field of [
      'insertIntonoteCollection(objects: {body: "x"})',
      'updatenoteCollection(set: {body: "x"})',
      'deleteFromnoteCollection',
      'deleteFromaccountCollection',
    ]) {
      const body = await library.run('authenticated', `mutation { ${field} { affectedCount } }`);
      expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
  });

  test('to insert but not to select give inserts with a count, and nothing else of the table', async () => {
    const insert = 'mutation { insertIntoguardedCollection(objects: {id: 1, body: "x"}) { affectedCount } }';
    expect(await library.run('authenticated', insert)).toEqual({
      data: { insertIntoguardedCollection: { affectedCount: 1 } },
    });
    expect(await database.query('delete from lib.guarded returning body, log')).toEqual([{ body: 'x', log: 'insert' }]);
    for (const query of [
      insert.replace('affectedCount', 'records { __typename }'),
      '{ guardedCollection { __typename } }',
      'mutation { updateguardedCollection(set: {body: "x"}) { affectedCount } }',
      'mutation { deleteFromguardedCollection { affectedCount } }',
    ]) {
      const body = await library.run('authenticated', query);
      expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
    const { types } = (await library.role('authenticated')).shared.schema.toConfig();
    expect(types.map(({ name }) => name).filter((name) => name.startsWith('guarded'))).toEqual([
      'guardedInsertInput',
      'guardedInsertResponse',
    ]);
    // A global id of the table leads nowhere.
    const nodeId = btoa(JSON.stringify(['lib', 'guarded', 1]));
    expect((await library.run('authenticated', `{ node(nodeId: "${nodeId}") { __typename } }`)).errors).toHaveLength(1);
  });

  test('to select only leave no mutation type', async () => {
    await database.query(
      'revoke all on lib.account, lib.guarded from service_role; grant usage on schema lib to service_role; grant select on lib.parent to service_role',
    );
    await library.reload();
    const body = await library.run('service_role', 'mutation { __typename }');
    expect(body).not.toHaveProperty('data');
    expect(body.errors).toHaveLength(1);
    const { shared } = await library.role('service_role');
    expect(shared.schema.getMutationType()).toBeUndefined();
  });
});
