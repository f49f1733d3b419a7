/**
 * What a user's function leaves behind on a connection is gone before the next request on it.
 */
import { beforeAll, expect, test } from 'vitest';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import { flightOf, openPool } from '../support/flights.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

let url: string;
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    create sequence counter;
    grant usage on sequence counter to anon;
    create function leave_state() returns int language plpgsql as $$
    begin
      perform set_config('app.secret', 'of the last caller', false), set_config('work_mem', '9MB', false);
      perform set_config('search_path', 'pg_temp', false), pg_advisory_lock(42), nextval('public.counter');
      create temporary table note as select 'temporary' as body;
      execute 'listen gossip';
      execute 'declare left_open cursor with hold for select 1';
      perform set_config('role', 'service_role', false);
      return 1;
    end $$;
    create function leave_settings() returns int language sql stable as
      $$ select 1 from (select set_config('app.secret', 'of the last caller', false), set_config('role', 'service_role', false)) x $$;
  `);
  url = database.urlAs('authenticator', 'test');
});

const look = `select concat_ws('|', session_user, current_user, current_setting('app.secret', true),
  current_setting('work_mem'), current_setting('search_path'), to_regclass('pg_temp.note'),
  (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
  (select count(*) from pg_cursors where name = 'left_open'))`;
const clean = 'authenticator|anon||4MB|public|0|0';

test('after a mutation: settings, role, temporary tables, locks, channels, cursors', async () => {
  const pool = openPool(url);
  await runAs(pool, flightOf(['select leave_state()'], { mutation: true }));
  expect(await runAs(pool, flightOf([look]))).toEqual([clean]);
  // Unlistening takes effect at the commit, like listening.
  expect(await runAs(pool, flightOf(['select count(*) from pg_listening_channels()']))).toEqual(['0']);
  await expect(runAs(pool, flightOf(['select lastval()']))).rejects.toMatchObject({ sqlstate: '55000' });
  await pool.stop();
});

test('also where the flight that should have cleaned failed', async () => {
  const pool = openPool(url);
  await runAs(pool, flightOf(['select leave_state()'], { mutation: true }));
  await expect(runAs(pool, flightOf(['select 1 / 0']))).rejects.toMatchObject({ sqlstate: '22012' });
  expect(await runAs(pool, flightOf([look]))).toEqual([clean]);
  await pool.stop();
});

test('also where the mutation that left it failed: a lock survives a rollback', async () => {
  const pool = openPool(url);
  const steps = ['select leave_state()', 'select 1 / 0'];
  await expect(runAs(pool, flightOf(steps, { mutation: true }))).rejects.toMatchObject({ sqlstate: '22012' });
  expect(await runAs(pool, flightOf([look]))).toEqual([clean]);
  await pool.stop();
});

test('after a query whose function changes settings or the role', async () => {
  const pool = openPool(url);
  await runAs(pool, flightOf(['select 1']));
  await runAs(pool, flightOf(['select leave_settings()']));
  const before = `select concat_ws('|', current_user, current_setting('app.secret', true))`;
  expect(await runAs(pool, flightOf([before]))).toEqual(['anon|']);
});

test('a connection that a superuser’s login has given to another user is ended', async () => {
  const pool = openPool(database.url);
  const give = `select set_config('session_authorization', 'service_role', false)`;
  expect(await runAs(pool, flightOf([give], { mutation: true }))).toEqual(['service_role']);
  const [users] = await runAs(pool, flightOf([`select concat_ws('|', session_user = 'service_role', current_user)`]));
  expect(users).toBe('f|anon');
  await pool.stop();
});
