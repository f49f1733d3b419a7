/**
 * What system statements depend on is pinned in each of their transactions, whatever the login, the database or an earlier user
 * of the connection have set.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let pool: SystemPool;

/** Functions and operators that fit our arguments better than those of PostgreSQL, and note who has run them. */
const traps = [
  'create schema trap; grant usage, create on schema trap to public; set search_path = trap, pg_catalog',
  'create table trap.caught (what text, who text); grant insert on trap.caught to public',
  `create function trap.spring(what text) returns boolean language plpgsql as $$ begin
     insert into trap.caught values (what, session_user); return true; end $$`,
  `create function trap.lower(varchar) returns text language sql as $$ select trap.spring('lower')::text $$`,
  `create function trap.same(varchar, varchar) returns boolean language sql as $$ select trap.spring('=') $$`,
  'create operator trap.= (leftarg = varchar, rightarg = varchar, function = trap.same)',
  `create function trap.less(int4, int8) returns boolean language sql as $$ select trap.spring('<') $$`,
  'create operator trap.< (leftarg = int4, rightarg = int8, function = trap.less)',
];
const bait = `select lower($1::varchar) = 'a' as lowered, $1::varchar = 'B'::varchar as same, 1::int4 < 0::int8 as less`;
const honest = [{ lowered: false, same: true, less: false }];

beforeAll(async () => {
  database = await createDatabase();
  for (const text of traps) await database.query(text);
  const settings = {
    search_path: 'trap, pg_catalog',
    DateStyle: 'SQL, DMY',
    IntervalStyle: 'sql_standard',
    TimeZone: 'Asia/Tokyo',
    bytea_output: 'escape',
    extra_float_digits: '-10',
    standard_conforming_strings: 'off',
    backslash_quote: 'on',
    jit: 'on',
  };
  for (const [name, value] of Object.entries(settings)) {
    const path = name === 'search_path' ? value : `'${value}'`;
    await database.query(`alter database ${database.name} set ${name} = ${path}`);
  }
  const options = {
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
  };
  pool = createSystemPool({ ...options, preparedStatements: true });
});

afterAll(() => pool.stop());

const caught = () => database.query('select what, who from trap.caught');

test('on a connection without the settings of the gateway, planted functions run', async () => {
  const client = createSystemPool({
    connectionString: database.url,
    size: 1,
    waitMs: 60_000,
    applicationName: 'test',
    onError: () => {},
  });
  await client
    .transaction((connection) => connection.query(`rollback; ${bait.replaceAll('$1', "'B'")}`))
    .catch(() => {});
  await client.stop();
  expect((await caught()).length).toBeGreaterThan(0);
  await database.query('delete from trap.caught');
});

test('a statement alone and those of a transaction find the names of PostgreSQL', async () => {
  expect(await pool.query(bait, ['B'])).toEqual(honest);
  expect(await pool.transaction((connection) => connection.query(bait, ['B']))).toEqual(honest);
  expect(await pool.transaction((connection) => connection.query(bait.replaceAll('$1', "'B'")))).toEqual(honest);
  expect(await caught()).toEqual([]);
});

test('statements find the names of PostgreSQL although another program has changed the path of the connection, as behind a pooler', async () => {
  await pool.transaction((connection) => connection.query(`commit; set search_path = trap, pg_catalog`));
  expect(await pool.query(bait, ['B'])).toEqual(honest);
  expect(await pool.transaction((connection) => connection.query(bait, ['B']))).toEqual(honest);
  expect(await caught()).toEqual([]);
});

test('large statements on the catalog are not compiled, alone or in a transaction', async () => {
  const ask = "select current_setting('jit') as jit where $1 = ''";
  expect(await pool.query(ask, [''])).toEqual([{ jit: 'off' }]);
  expect(await pool.transaction((connection) => connection.query(ask, ['']))).toEqual([{ jit: 'off' }]);
});

test('values come back as they are, in whatever style the database writes them', async () => {
  const values = [new Date('2026-02-03T04:05:06.789Z'), Buffer.from([0, 39, 92, 255]), 0.1 + 0.2];
  const statement = `select $1::timestamptz as at, $2::bytea as bytes, $3::float8 as number, '2026-02-03'::date::text as day,
    '1 day 02:00'::interval::text as long, 'a\\b' as slash`;
  const [row] = await pool.query(statement, values);
  expect(row).toEqual({
    at: values[0],
    bytes: values[1],
    number: values[2],
    day: '2026-02-03',
    long: '1 day 02:00:00',
    slash: 'a\\b',
  });
});
