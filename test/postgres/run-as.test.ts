/**
 * One flight under a caller's role: its number of round trips, what the caller sees, and errors at each step.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunAsOptions } from '../../src/postgres/caller/flight-request.ts';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import { DatabaseError } from '../../src/postgres/database-error.ts';
import { callerOf, flightOf, openPool } from '../support/flights.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';

const schema = `
  create table note (id int primary key, body text not null check (body <> ''));
  create table link (id int primary key, note int references note deferrable initially deferred);
  grant select, insert, update, delete on note, link to anon;
  insert into note values (1, 'first'), (2, 'second');
  create table secret (id int);
`;

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await createDatabase(schema);
  url = database.urlAs('authenticator', 'test');
});

/** The error of a flight that must fail. */
async function failureOf(pool: Parameters<typeof runAs>[0], options: RunAsOptions): Promise<DatabaseError> {
  const problem = await runAs(pool, options).then(
    (results) => new Error(`succeeded with ${JSON.stringify(results)}`),
    (error: unknown) => error,
  );
  expect(problem).toBeInstanceOf(DatabaseError);
  return problem as DatabaseError;
}

describe('round trips', () => {
  test('a request is one write and one answer, with one step, with several and with none', async () => {
    const proxy = await startRecordingProxy(url);
    const pool = openPool(proxy.url);
    await runAs(pool, flightOf(['select 1']));

    for (const steps of [['select 1'], ['select 1', 'select 2', 'select 3'], []]) {
      for (const mutation of [false, true]) {
        proxy.reset();
        await runAs(pool, flightOf(steps, { mutation }));
        expect(proxy.roundTrips()).toBe(1);
      }
    }
    await pool.stop();
    await proxy.stop();
  });

  test('a failed request takes one round trip, and so is the next one on its connection', async () => {
    const proxy = await startRecordingProxy(url);
    const pool = openPool(proxy.url);
    await runAs(pool, flightOf(['select 1']));
    proxy.reset();
    await failureOf(pool, flightOf(['select 1', 'select 1 / 0']));
    expect(proxy.roundTrips()).toBe(1);
    await runAs(pool, flightOf(['select 1']));
    expect(proxy.roundTrips()).toBe(2);
    expect(proxy.connections()).toBe(0);
    await pool.stop();
    await proxy.stop();
  });
});

describe('results', () => {
  test('results are the first column of the only row of each step, as text', async () => {
    const pool = openPool(url);
    const steps = ['select 7, 8', "select json_build_object('a', true)", 'select null', 'select 1 where false'];
    expect(await runAs(pool, flightOf(steps))).toEqual(['7', '{"a" : true}', null, null]);
  });

  test('values are bound as text, null as SQL null, and never read as SQL', async () => {
    const pool = openPool(url);
    const hostile = "'; drop table note; --";
    const step = { text: 'select $1::text || coalesce($2::text, $3::text)', values: [hostile, null, '\\x'] };
    expect(await runAs(pool, flightOf([step]))).toEqual([`${hostile}\\x`]);
  });

  test('a step sees what the step before it wrote', async () => {
    const pool = openPool(url);
    const steps = ["insert into note values (10, 'x') returning id", 'select count(*) from note where id = 10'];
    expect(await runAs(pool, flightOf(steps, { mutation: true }))).toEqual(['10', '1']);
    await database.query('delete from note where id = 10');
  });

  test('megabytes arrive whole', async () => {
    const pool = openPool(url);
    const [text] = await runAs(pool, flightOf(["select repeat('ä', 5000000)"]));
    expect(text).toHaveLength(5_000_000);
  });
});

describe('settings', () => {
  test('role, claims, headers, method, path, search path and limits are those of the request', async () => {
    const pool = openPool(url);
    const read = `select concat_ws('|', current_user, current_setting('request.jwt.claims'),
      current_setting('request.headers'), current_setting('request.method'), current_setting('request.path'),
      current_setting('search_path'), current_setting('statement_timeout'), current_setting('work_mem'),
      current_setting('transaction_read_only'))`;
    const options = flightOf([read], {
      caller: { role: 'authenticated', claims: '{"sub":"u"}', headers: '{"a":"b"}', method: 'GET', path: '/p' },
      searchPath: '"public", "a ""b"',
      settings: new Map([['work_mem', '5MB']]),
      timeoutMs: 1234,
      readOnly: true,
    });
    expect(await runAs(pool, options)).toEqual([
      'authenticated|{"sub":"u"}|{"a":"b"}|GET|/p|"public", "a ""b"|1234ms|5MB|on',
    ]);
  });

  test('nothing of a request is left for the next one', async () => {
    const pool = openPool(url);
    await runAs(pool, flightOf(['select 1'], { settings: new Map([['work_mem', '5MB']]), readOnly: true }));
    const read = "select concat_ws('|', current_setting('work_mem'), current_setting('transaction_read_only'))";
    expect(await runAs(pool, flightOf([read]))).toEqual(['4MB|off']);
  });

  test('a write in a read-only request fails with 25006', async () => {
    const pool = openPool(url);
    const error = await failureOf(pool, flightOf(["insert into note values (11, 'x')"], { readOnly: true }));
    expect(error).toMatchObject({ kind: 'statement', step: 1, sqlstate: '25006' });
  });

  test.each(['none', ''])('the role name "%s" is refused before anything is sent', async (role) => {
    const proxy = await startRecordingProxy(url);
    const pool = openPool(proxy.url);
    const attempt = runAs(pool, flightOf(['select current_user'], { caller: callerOf(role) }));
    await expect(attempt).rejects.toMatchObject({ code: 'ROLE_NOT_ALLOWED' });
    expect(proxy.connections()).toBe(0);
    await proxy.stop();
  });

  test("a role's own setting cannot smuggle in another role, search path, limit or encoding", async () => {
    const pool = openPool(url);
    const settings = new Map([
      ['role', 'service_role'],
      ['search_path', 'secret'],
      ['statement_timeout', '0'],
      ['client_encoding', 'LATIN1'],
    ]);
    const read =
      "select concat_ws('|', current_user, current_setting('search_path'), current_setting('statement_timeout'), chr(233))";
    expect(await runAs(pool, flightOf([read], { settings, timeoutMs: 50_001 }))).toEqual(['anon|public|50001ms|é']);
  });
});

describe('errors', () => {
  test.each([
    ['the settings, for a role that does not exist', { caller: callerOf('nobody_at_all') }, ['select 1'], 0, '22023'],
    [
      'the settings, for a role the login role may not take',
      { caller: callerOf('postgres') },
      ['select 1'],
      0,
      '42501',
    ],
    ['the first step', {}, ['select 1 / 0', 'select 2'], 1, '22012'],
    ['the second step', {}, ['select 1', 'select id from secret'], 2, '42501'],
    ['a text that is not SQL', {}, ['select 1', 'selekt'], 2, '42601'],
    ['a value of the wrong type', {}, [{ text: 'select $1::int', values: ['x'] }], 1, '22P02'],
    ['a value with a zero byte', {}, [{ text: 'select $1::text', values: ['a\0b'] }], 1, '22021'],
    ['the commit', { mutation: true }, ['insert into link values (1, 99) returning id', 'select 1'], 3, '23503'],
    ['copy from the client', {}, ['select 1', 'copy note from stdin'], 2, '57014'],
  ] as const)('tell the step: %s', async (_where, more, steps, step, sqlstate) => {
    const pool = openPool(url);
    const error = await failureOf(pool, flightOf(steps, more));
    expect(error).toMatchObject({ step, sqlstate, maybeCommitted: false });
    expect(await runAs(pool, flightOf(['select current_user']))).toEqual(['anon']);
  });

  test('an error in a later step undoes the earlier ones', async () => {
    const pool = openPool(url);
    const error = await failureOf(
      pool,
      flightOf(["insert into note values (20, 'x') returning id", "insert into note values (21, '')"], {
        mutation: true,
      }),
    );
    expect(error).toMatchObject({
      kind: 'statement',
      step: 2,
      sqlstate: '23514',
      schema: 'public',
      table: 'note',
      constraint: 'note_body_check',
    });
    expect(error.detail).toContain('Failing row');
    expect(await database.query('select id from note where id >= 20')).toEqual([]);
  });

  test('values of rows are not among the properties a logger copies', async () => {
    const pool = openPool(url);
    const error = await failureOf(pool, flightOf(["insert into note values (21, '')"]));
    expect(JSON.stringify({ ...error })).not.toContain('Failing row');
    expect(error.cause).toBeUndefined();
  });

  test("the marker of staleness in a user's value means nothing", async () => {
    const pool = openPool(url);
    const error = await failureOf(pool, flightOf([{ text: 'select $1::int', values: ['pgreflect:stale:1'] }]));
    expect(error).toMatchObject({ kind: 'statement', step: 1, sqlstate: '22P02' });
  });
});
