/**
 * What the database refuses: the error carries a stable code, PostgreSQL's own message and SQLSTATE, names what it can, and
 * nothing is written.
 */
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-rules.sql'));
const library = await startExecution(database, { schemas: ['lib'] });
const run = (query: string, variables: Record<string, unknown> = {}) => library.run('anon', query, { variables });
const insertChecked = (objects: string) =>
  run(`mutation { insertIntocheckedCollection(objects: ${objects}) { affectedCount } }`);
const count = async (table: string) =>
  (await database.query<{ n: number }>(`select count(*)::int as n from lib.${table}`))[0]?.n;

beforeEach(async () => {
  await database.query(`
    truncate lib.checked, lib.parent, lib.guarded;
    insert into lib.parent values (1);
    insert into lib.checked (id, code, amount, room, position) values (1, 'a', 1, '[1,5)', 1), (2, 'b', 2, '[5,9)', 2);
    insert into lib.guarded values (1, 'fine'), (2, 'keep')`);
});

describe('a constraint', () => {
  test.each([
    [
      'primary key',
      '{id: 1, amount: 1}',
      '23505',
      'duplicate key value violates unique constraint "checked_pkey"',
      { constraint: 'checked_pkey' },
    ],
    [
      'unique',
      '{id: 9, amount: 1, code: "a"}',
      '23505',
      'duplicate key value violates unique constraint "checked_code_key"',
      { constraint: 'checked_code_key' },
    ],
    [
      'not null',
      '{id: 9, amount: null}',
      '23502',
      'null value in column "amount" of relation "checked" violates not-null constraint',
      { column: 'amount' },
    ],
    [
      'check',
      '{id: 9, amount: 101}',
      '23514',
      'new row for relation "checked" violates check constraint "checked_amount_check"',
      { constraint: 'checked_amount_check' },
    ],
    [
      'foreign key',
      '{id: 9, amount: 1, parent_id: 7}',
      '23503',
      'insert or update on table "checked" violates foreign key constraint "checked_parent_id_fkey"',
      { constraint: 'checked_parent_id_fkey' },
    ],
    [
      'exclusion',
      '{id: 9, amount: 1, room: "[4,6)"}',
      '23P01',
      'conflicting key value violates exclusion constraint "checked_room_excl"',
      { constraint: 'checked_room_excl' },
    ],
  ])('of the kind %s', async (_kind, object, sqlstate, message, names) => {
    const body = await insertChecked(`[{id: 8, amount: 1}, ${object}]`);
    expect(body).toEqual({
      data: null,
      errors: [
        {
          message,
          path: ['insertIntocheckedCollection'],
          extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate, table: 'checked', ...names },
        },
      ],
    });
    expect(await count('checked')).toBe(2);
  });

  test('never shows the values of the row', async () => {
    const { body } = await library.answer(
      'anon',
      'mutation { insertIntocheckedCollection(objects: {id: 9, amount: 101, code: "confidential"}) { affectedCount } }',
    );
    expect(body).not.toContain('confidential');
    expect(body).not.toContain('Failing row');
  });

  test('on update and on delete', async () => {
    expect(
      await run('mutation { updatecheckedCollection(set: {amount: -1}, atMost: 2) { affectedCount } }'),
    ).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate: '23514' } }],
    });
    await database.query('update lib.checked set parent_id = 1 where id = 1');
    expect(await run('mutation { deleteFromparentCollection { affectedCount } }')).toMatchObject({
      data: null,
      errors: [{ extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate: '23503', table: 'checked' } }],
    });
    expect(await count('parent')).toBe(1);
  });

  test('that is deferred fails at the commit and undoes all', async () => {
    const query =
      'mutation { a: insertIntoparentCollection(objects: {id: 5}) { affectedCount } b: insertIntocheckedCollection(objects: {id: 9, amount: 1, later_id: 7}) { affectedCount } }';
    const body = await run(query);
    expect(body).toEqual({
      data: null,
      errors: [
        {
          message: 'insert or update on table "checked" violates foreign key constraint "later_fk"',
          extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate: '23503', table: 'checked', constraint: 'later_fk' },
        },
      ],
    });
    expect([await count('parent'), await count('checked')]).toEqual([1, 2]);
  });

  test('that is deferred may be violated between two root fields', async () => {
    const query =
      'mutation { a: insertIntocheckedCollection(objects: {id: 9, amount: 1, later_id: 7}) { affectedCount } b: insertIntoparentCollection(objects: {id: 7}) { affectedCount } }';
    expect(await run(query)).toEqual({ data: { a: { affectedCount: 1 }, b: { affectedCount: 1 } } });
    const swap =
      'mutation { a: updatecheckedCollection(set: {position: 2}, filter: {id: {eq: 1}}) { affectedCount } b: updatecheckedCollection(set: {position: 1}, filter: {id: {eq: 2}}) { affectedCount } }';
    expect(await run(swap)).toEqual({ data: { a: { affectedCount: 1 }, b: { affectedCount: 1 } } });
  });
});

describe('a trigger', () => {
  const insertGuarded = (body: string) =>
    run(
      `mutation { insertIntoguardedCollection(objects: [{id: 8, body: "ok"}, {id: 9, body: "${body}"}]) { affectedCount records { id body log } } }`,
    );

  test('a trigger changes what is written, and the records show it', async () => {
    expect(await insertGuarded('raise warning')).toEqual({
      data: {
        insertIntoguardedCollection: {
          affectedCount: 2,
          records: [
            { id: 8, body: 'ok', log: 'insert' },
            { id: 9, body: 'raise warning', log: 'insert' },
          ],
        },
      },
    });
    const update = 'mutation { updateguardedCollection(set: {body: "x"}, filter: {id: {eq: 8}}) { records { log } } }';
    expect(await run(update)).toEqual({ data: { updateguardedCollection: { records: [{ log: 'insert update' }] } } });
  });

  test('that skips rows takes them out of the count, the records and what atMost counts', async () => {
    expect(await insertGuarded('suppress')).toEqual({
      data: { insertIntoguardedCollection: { affectedCount: 1, records: [{ id: 8, body: 'ok', log: 'insert' }] } },
    });
    const remove =
      'mutation { deleteFromguardedCollection(filter: {id: {in: [1, 2]}}) { affectedCount records { id } } }';
    expect(await run(remove)).toEqual({
      data: { deleteFromguardedCollection: { affectedCount: 1, records: [{ id: 1 }] } },
    });
    const none = 'mutation { insertIntoguardedCollection(objects: {id: 7, body: "suppress"}) { __typename } }';
    expect(await run(none)).toEqual({ data: { insertIntoguardedCollection: { __typename: 'guardedInsertResponse' } } });
  });

  test('a trigger raises an error with detail and hint', async () => {
    expect(await insertGuarded('raise')).toEqual({
      data: null,
      errors: [
        {
          message: 'no raise here',
          path: ['insertIntoguardedCollection'],
          extensions: { code: 'RAISED', sqlstate: 'P0001', detail: 'Bodies must be polite.', hint: 'Say please.' },
        },
      ],
    });
    expect(await count('guarded')).toBe(2);
  });

  test('a trigger raises an error of another class: its detail is not shown, and unknown classes are masked', async () => {
    expect(await insertGuarded('raise unique')).toEqual({
      data: null,
      errors: [
        {
          message: 'taken',
          path: ['insertIntoguardedCollection'],
          extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate: '23505' },
        },
      ],
    });
    expect(await insertGuarded('raise custom')).toEqual({
      data: null,
      errors: [
        {
          message: 'Unexpected error.',
          path: ['insertIntoguardedCollection'],
          extensions: { code: 'INTERNAL', id: expect.any(String) },
        },
      ],
    });
    expect(await count('guarded')).toBe(2);
  });
});

describe('a rule that takes writes away', () => {
  test('a rule that takes writes away fails, because PostgreSQL cannot say which rows were written', async () => {
    await database.query("insert into lib.ruled values (1, 'x') on conflict do nothing");
    const body = await run('mutation { deleteFromruledCollection { affectedCount } }');
    expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: 'INTERNAL' } }] });
    expect(await count('ruled')).toBe(1);
    expect(await run('mutation { insertIntoruledCollection(objects: {id: 2}) { affectedCount } }')).toEqual({
      data: { insertIntoruledCollection: { affectedCount: 1 } },
    });
    await database.query('truncate lib.ruled');
  });
});

describe('another transaction', () => {
  const clients: pg.Client[] = [];
  const open = async () => {
    const client = new pg.Client({ connectionString: database.url });
    clients.push(client);
    await client.connect();
    return client;
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
    await database.query(`alter role authenticator in database ${database.name} reset all`);
  });
  const isWaiting = async () => {
    for (;;) {
      const rows = await database.query(
        "select 1 from pg_stat_activity where datname = current_database() and application_name = 'pgreflect test' and wait_event_type = 'Lock'",
      );
      if (rows.length > 0) return;
      await setTimeout(10);
    }
  };

  test('that waits for this one while this one waits for it is a conflict; nothing is written', async () => {
    const other = await open();
    // The other one waits longer, so that this one is chosen.
    await other.query("set deadlock_timeout = '20s'");
    await other.query('begin');
    await other.query("update lib.guarded set body = 'other' where id = 2");
    const mutation = run(
      'mutation { a: updateguardedCollection(set: {body: "mine"}, filter: {id: {eq: 1}}) { affectedCount } b: updateguardedCollection(set: {body: "mine"}, filter: {id: {eq: 2}}) { affectedCount } }',
    );
    await isWaiting();
    const second = other.query("update lib.guarded set body = 'other' where id = 1");
    expect(await mutation).toEqual({
      data: null,
      errors: [
        {
          message: 'deadlock detected',
          path: ['b'],
          extensions: { code: 'CONFLICT', sqlstate: '40P01', hint: expect.stringContaining('send the request again') },
        },
      ],
    });
    await second;
    await other.query('commit');
    expect(await database.query('select body from lib.guarded order by id')).toEqual([
      { body: 'other' },
      { body: 'other' },
    ]);
  });

  test('that holds a row for longer than lock_timeout allows is a conflict', async () => {
    await database.query(`alter role authenticator in database ${database.name} set lock_timeout = '100ms'`);
    const impatient = await startExecution(database, { schemas: ['lib'] });
    const other = await open();
    await other.query('begin');
    await other.query("update lib.guarded set body = 'other' where id = 1");
    const { data, errors } = await impatient.run(
      'anon',
      'mutation { a: updateguardedCollection(set: {body: "mine"}, filter: {id: {eq: 2}}) { affectedCount } b: updateguardedCollection(set: {body: "mine"}, filter: {id: {eq: 1}}) { affectedCount } }',
    );
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ path: ['b'], extensions: { code: 'CONFLICT', sqlstate: '55P03' } }]);
    expect(errors[0].message).toContain('send the request again');
    await other.query('rollback');
    expect(await database.query('select body from lib.guarded order by id')).toEqual([
      { body: 'fine' },
      { body: 'keep' },
    ]);
  });

  test('that changes the same row is a conflict under repeatable read', async () => {
    await database.query(
      `alter role authenticator in database ${database.name} set default_transaction_isolation = 'repeatable read'`,
    );
    const strict = await startExecution(database, { schemas: ['lib'] });
    const other = await open();
    await other.query('begin');
    await other.query("update lib.guarded set body = 'other' where id = 1");
    const mutation = strict.run(
      'anon',
      'mutation { updateguardedCollection(set: {body: "mine"}, filter: {id: {eq: 1}}) { affectedCount } }',
    );
    await isWaiting();
    await other.query('commit');
    expect(await mutation).toMatchObject({
      data: null,
      errors: [
        {
          message: 'could not serialize access due to concurrent update',
          extensions: { code: 'CONFLICT', sqlstate: '40001' },
        },
      ],
    });
    expect(await database.query('select body from lib.guarded where id = 1')).toEqual([{ body: 'other' }]);
  });

  test('that changes the same row is waited for otherwise, and its change is seen', async () => {
    const other = await open();
    await other.query('begin');
    await other.query("update lib.guarded set log = 'other' where id = 1");
    const mutation = run(
      'mutation { updateguardedCollection(set: {body: "mine"}, filter: {id: {eq: 1}}) { records { log } } }',
    );
    await isWaiting();
    await other.query('commit');
    expect(await mutation).toEqual({
      data: { updateguardedCollection: { records: [{ log: 'other update update' }] } },
    });
  });
});
