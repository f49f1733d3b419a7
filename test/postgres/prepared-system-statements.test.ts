/**
 * Our own statements, prepared: only those with values, only where asked for, and not where they get lost.
 */
import { expect, test } from 'vitest';
import { openGraphql } from '../../src/graphql/open-graphql.ts';
import { createSystemPool } from '../../src/postgres/system/run-system.ts';
import { testConfig } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { asPooler, startRecordingProxy } from '../support/recording-proxy.ts';
import { atEnd } from '../support/when-over.ts';

async function preparedTexts(preparedStatements: boolean): Promise<readonly unknown[]> {
  const database = await createDatabase();
  const options = {
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
  };
  const pool = createSystemPool({ ...options, preparedStatements });
  try {
    for (const value of [1, 2]) await pool.query('select $1::int as value', [value]);
    await pool.transaction((connection) => connection.query('select 1; select 2'));
    return await pool.query(
      `select s.statement from pg_catalog.pg_prepared_statements s
       where s.name <> '' and s.statement not like '%set_config%' and s.statement not like '%prepared_statements%' order by s.statement`,
    );
  } finally {
    await pool.stop();
  }
}

test('a statement with values is prepared once on a connection', async () => {
  const statements = ['begin', 'commit', 'select $1::int as value'];
  expect(await preparedTexts(true)).toEqual(statements.map((statement) => ({ statement })));
});

test('with prepared statements switched off nothing is prepared', async () => {
  expect(await preparedTexts(false)).toEqual([]);
});

test('the statement that looks for changes of the catalog is planned once on a connection', async () => {
  const database = await createDatabase();
  const config = testConfig({ databaseUrl: database.url, schemas: ['public'], systemPoolSize: 1 });
  const { start, stop, reflector, systemPool } = openGraphql(config, { observe: () => {} });
  atEnd(stop);
  await start();
  // Whether something has changed is the business of other tests, too: roles belong to the whole server.
  for (const _ of [1, 2]) await reflector.refreshIfChanged('test');
  // The reading compares it twice.
  const [plans] = await systemPool.query(
    `select s.generic_plans::int as kept, s.custom_plans::int as new from pg_catalog.pg_prepared_statements s
     where s.statement like '-- One text that changes%'`,
  );
  expect(plans?.new).toBe(0);
  expect(plans?.kept).toBeGreaterThanOrEqual(4);
});

test('a statement that a trigger deallocates is prepared again', async () => {
  const database = await createDatabase('create table note (id int)');
  const options = {
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
  };
  const pool = createSystemPool({ ...options, preparedStatements: true });
  const insert = () => pool.query('insert into public.note select $1::int returning id', [1]);
  try {
    for (let time = 0; time < 3; time += 1) {
      expect(await insert()).toEqual([{ id: 1 }]);
      await pool.query('deallocate all');
    }
    await pool.transaction(async (connection) => {
      expect(await connection.query('select $1::int as value', [2])).toEqual([{ value: 2 }]);
    });
    expect(await pool.query('select count(*)::int as rows from public.note')).toEqual([{ rows: 3 }]);
  } finally {
    await pool.stop();
  }
});

test('behind a pooler, whose connections others use as well, nothing is prepared, with a notice', async () => {
  const database = await createDatabase('create table note (id int)');
  const proxy = await startRecordingProxy(database.url);
  proxy.inspect(asPooler);
  let notices = 0;
  const options = { connectionString: proxy.url, size: 1, waitMs: 60_000, applicationName: 'test', onError: () => {} };
  const pool = createSystemPool({ ...options, preparedStatements: true, onPreparedOff: () => (notices += 1) });
  try {
    for (const value of [1, 2]) expect(await pool.query('select $1::int as value', [value])).toEqual([{ value }]);
    expect(await pool.query(`select name from pg_catalog.pg_prepared_statements where name <> ''`)).toEqual([]);
    expect(notices).toBe(1);
  } finally {
    await pool.stop();
    await proxy.stop();
  }
});

test('a transaction whose first statements are lost begins again', async () => {
  const database = await createDatabase('create table note (id int)');
  const options = {
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
  };
  const pool = createSystemPool({ ...options, preparedStatements: true });
  const insertTwo = () =>
    pool.transaction((connection) =>
      Promise.all([1, 2].map((id) => connection.query('insert into public.note select $1::int returning id', [id]))),
    );
  try {
    await insertTwo();
    await pool.query('deallocate all');
    expect(await insertTwo()).toEqual([[{ id: 1 }], [{ id: 2 }]]);
    expect(await pool.query('select count(*)::int as rows from public.note')).toEqual([{ rows: 4 }]);
  } finally {
    await pool.stop();
  }
});

test('a trigger that raises the error of a lost statement is not run twice', async () => {
  const database = await createDatabase(
    'create table note (id int); create sequence tries',
    `create function lie() returns trigger language plpgsql as $$ begin
      perform nextval('public.tries'); raise exception 'prepared statement "x" does not exist' using errcode = '26000'; end $$`,
    'create trigger lie before insert on note for each row execute function lie()',
  );
  const options = {
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
  };
  const pool = createSystemPool({ ...options, preparedStatements: true });
  try {
    await expect(pool.query('insert into public.note values ($1::int)', [1])).rejects.toMatchObject({
      sqlstate: '26000',
    });
    expect(await pool.query('select last_value::int as tries from public.tries')).toEqual([{ tries: 1 }]);
  } finally {
    await pool.stop();
  }
});
