/**
 * Hooks that are functions of the database: called once, in the transaction of the request, which outlives their failures.
 */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { functionLimits } from '../../src/auth/hooks/call-function.ts';
import { createHooks } from '../../src/auth/hooks/call-hook.ts';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import type { Queryable } from '../../src/postgres/system/queryable.ts';
import type { SystemPool } from '../../src/postgres/system/run-system.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { Observation } from '../../src/shared/observation.ts';
import { openSystemPool } from '../support/auth.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

const functions = `
  create table public.seen (event jsonb not null);
  create function public.echo(event jsonb) returns jsonb language sql immutable as $$ select event $$;
  create function public."Mixed"(event jsonb) returns jsonb language sql as $$ select '{"mixed": true}'::jsonb $$;
  create function public.note(event jsonb) returns jsonb language plpgsql as
    $$ begin insert into public.seen values (event); return null; end $$;
  create function public.fail(event jsonb) returns jsonb language plpgsql as
    $$ begin perform public.note(event); raise exception 'no %', event; end $$;
  create function public.wait(event jsonb) returns jsonb language plpgsql as
    $$ begin perform public.note(event); perform pg_sleep(60); return event; end $$;
  create function public.huge(event jsonb) returns jsonb language sql as
    $$ select jsonb_build_object('text', repeat('x', 204801)) $$;
  create function public.list(event jsonb) returns jsonb language sql as $$ select '[]'::jsonb $$;
  create function public.refuse(event jsonb) returns jsonb language sql as
    $$ select '{"error": {"http_code": 403, "message": "Not you"}}'::jsonb $$;
`;

let database: TestDatabase;
let pool: SystemPool;
beforeAll(async () => {
  database = await createDatabase(functions);
  pool = openSystemPool(database.url, 2);
});

function askFunction(connection: Queryable | null, name: string, payload: unknown = { a: 1 }) {
  const observations: Observation[] = [];
  const observe = (observation: Observation) => {
    if (observation.kind !== 'external_call') observations.push(observation);
  };
  // Only a function that never ends meets its limit.
  const timeoutMs = name === 'public/wait' ? 50 : 60_000;
  const limits = { function: { ...functionLimits, timeoutMs } };
  const hooks = createHooks({ database: pool, clock: systemClock, observe, limits });
  const config = layerAuthConfig({ hook_send_sms_enabled: true, hook_send_sms_uri: `pg-functions://postgres/${name}` });
  return { answer: hooks.ask(connection, { name: 'send_sms', config, payload }), observations };
}

test('a function takes the question and returns the answer', async () => {
  expect(await askFunction(null, 'public/echo', { a: { b: 'ü"\'' } }).answer).toEqual({ a: { b: 'ü"\'' } });
  expect(await askFunction(null, 'public/Mixed').answer).toEqual({ mixed: true });
});

test('a function says no as a webhook does', async () => {
  const { answer, observations } = askFunction(null, 'public/refuse');
  await expect(answer).rejects.toMatchObject({ code: 'unknown', status: 403, message: 'Not you' });
  expect(observations).toEqual([]);
});

test('a function is called once, and what it writes belongs to the transaction of the request', async () => {
  await pool
    .transaction(async (connection) => {
      expect(await askFunction(connection, 'public/note', { n: 1 }).answer).toEqual({});
      throw new Error('undone');
    })
    .catch(() => {});
  expect(await database.query('select event from public.seen')).toEqual([]);
  await pool.transaction((connection) => askFunction(connection, 'public/note', { n: 2 }).answer);
  expect(await database.query('select event from public.seen')).toEqual([{ event: { n: 2 } }]);
});

const failures = [
  ['fail', 'unexpected_failure', 500, 'Error running hook', /^SQLSTATE P0001$/],
  ['wait', 'hook_timeout', 422, /within maximum time of 0.05 seconds/, 'no answer within 50 ms'],
  ['huge', 'hook_payload_over_size_limit', 422, /size limit of 204800 bytes/, 'more than 204800 bytes of JSON'],
  ['list', 'unexpected_failure', 500, /unmarshaling JSON/, 'its answer is not a JSON object'],
  ['absent', 'unexpected_failure', 500, /Error running hook/, /^function public.absent\(jsonb\) does not exist$/],
] as const; // biome-ignore format: a table

test.each(failures)('a function that does not answer (%s) fails alone', async (name, code, status, message, reason) => {
  const kept = await pool.transaction(async (connection) => {
    await connection.query("select pg_catalog.set_config('statement_timeout', '7s', true)", []);
    const { answer, observations } = askFunction(connection, `public/${name}`, { secret: name });
    const error = await answer.catch((problem: unknown) => problem);
    expect(error).toMatchObject({ code, status, message: expect.stringMatching(message) });
    // What is logged with it has nothing of the question, which the function may have repeated.
    expect(inspect(error)).not.toContain('secret');
    expect(observations).toEqual([{ kind: 'hook_failed', hook: 'send_sms', reason: expect.stringMatching(reason) }]);
    return connection.query(
      `select pg_catalog.current_setting('statement_timeout') as timeout, pg_catalog.count(*)::int as noted
      from public.seen s where s.event ->> 'secret' = $1`,
      [name],
    );
  });
  expect(kept).toEqual([{ timeout: '7s', noted: 0 }]);
});

test('after an answer the time limit of the request holds again', async () => {
  const [row] = await pool.transaction(
    async (connection) => {
      await askFunction(connection, 'public/echo').answer;
      return connection.query("select pg_catalog.current_setting('statement_timeout') as timeout", []);
    },
    { settings: { statement_timeout: '3s' } },
  );
  expect(row).toEqual({ timeout: '3s' });
});

test('the login of the service needs to be allowed to execute it', async () => {
  await database.query('revoke execute on function public.echo(jsonb) from public');
  const login = openSystemPool(database.urlAs('authenticator', 'test'), 1);
  const ask = () => login.transaction((connection) => askFunction(connection, 'public/echo').answer);
  await expect(ask()).rejects.toMatchObject({ status: 500 });
  await database.query('grant execute on function public.echo(jsonb) to authenticator');
  expect(await ask()).toEqual({ a: 1 });
});

describe('a function of somebody who could not act as the login of the service', () => {
  // Roles belong to the whole server, so this file has its own.
  const tenant = `tenant_${randomBytes(4).toString('hex')}`;
  const theirs = (argument: string) => `create function ${tenant}.hook(${argument}) returns jsonb language plpgsql
    as $$ begin alter role ${tenant} superuser; return '{"theirs": true}'; end $$;
    alter function ${tenant}.hook owner to ${tenant};`;
  beforeAll(() => database.query(`create role ${tenant}; create schema ${tenant} authorization ${tenant}`));
  beforeEach(() => database.query(`drop function if exists ${tenant}.hook; alter role ${tenant} nosuperuser`));
  afterAll(() => database.query(`drop owned by ${tenant}; drop role ${tenant}`));

  test.each([
    ['where it takes jsonb', theirs('event jsonb')],
    ['where it takes anything', theirs('event anyelement')],
    ['where it has more arguments', theirs('event jsonb, more int default 1')],
  ])('a function of somebody who could not act as the login of the service does not run, %s', async (_where, sql) => {
    await database.query(sql);
    const { answer, observations } = askFunction(null, `${tenant}/hook`);
    await expect(answer).rejects.toMatchObject({ status: 500, message: 'Error running hook' });
    expect(await database.query('select rolsuper from pg_roles where rolname = $1', [tenant])).toEqual([
      { rolsuper: false },
    ]);
    expect(observations).toMatchObject([{ reason: expect.stringContaining(`${tenant}.hook(jsonb)`) }]);
  });

  test('a function of somebody who could not act as the login of the service does not run in place of a trusted one that they drop between the look and the call', async () => {
    await database.query(
      `create function ${tenant}.hook(event jsonb) returns jsonb language sql as $$ select event $$`,
    );
    // A new connection has nothing in its caches that could be called in place of what is there now.
    await openSystemPool(database.url, 1)
      .transaction((connection) => {
        const swapping: Queryable = {
          async query(text, values) {
            const rows = await connection.query(text, values);
            if (text.includes('pg_proc')) {
              await database.query(
                `set role ${tenant}; drop function ${tenant}.hook; reset role; ${theirs('event jsonb')}`,
              );
            }
            return rows;
          },
        };
        return askFunction(swapping, `${tenant}/hook`).answer;
      })
      .catch(() => {});
    expect(await database.query('select rolsuper from pg_roles where rolname = $1', [tenant])).toEqual([
      { rolsuper: false },
    ]);
  });

  test('a function of somebody who could not act as the login of the service runs once it and its schema belong to one who could: to the login, or to a member of it', async () => {
    await database.query(`create function ${tenant}.hook(event jsonb) returns jsonb language sql as $$ select event $$;
      alter function ${tenant}.hook owner to ${tenant}`);
    // Roles belong to the whole server: the usual login has no members that other tests would find.
    const gate = `gate_${tenant}`;
    await database.query(`create role ${gate} login password 'test'`);
    const login = openSystemPool(database.urlAs(gate, 'test'), 1);
    const ask = () => login.transaction((connection) => askFunction(connection, `${tenant}/hook`).answer);
    await database.query(`grant usage on schema ${tenant} to ${gate}`);
    await expect(ask()).rejects.toMatchObject({ status: 500 });
    await database.query(`grant ${gate} to ${tenant}`);
    expect(await ask()).toEqual({ a: 1 });
    await database.query(`revoke ${gate} from ${tenant}`);
    await database.query(`alter function ${tenant}.hook owner to ${gate}`);
    await expect(ask()).rejects.toMatchObject({ status: 500 });
    await database.query(`alter schema ${tenant} owner to ${gate}`);
    expect(await ask()).toEqual({ a: 1 });
    await database.query(`drop schema ${tenant} cascade; drop role ${gate}`);
  });
});

test('a payload over the limit does not reach it', async () => {
  const { answer } = askFunction(null, 'public/note', { text: 'x'.repeat(functionLimits.maxRequestBytes) });
  await expect(answer).rejects.toMatchObject({ code: 'hook_payload_over_size_limit' });
});

test.each(['public/a"b', 'public/a.b', 'public', 'public/a/b', 'public/a%20b', ''])(
  'the name %j is not one of a function',
  async (name) => {
    await expect(askFunction(null, name).answer).rejects.toMatchObject({ message: 'Hook is not configured' });
  },
);

test('what it leaves on the connection is gone, and what follows in the transaction finds PostgreSQL’s own names', async () => {
  await database.query(`
    create table public.planted (as_user name);
    create function public.plant() returns boolean language plpgsql as
      $$ begin insert into public.planted values (current_user); return true; end $$;
    create function public.lower(varchar) returns text language sql as $$ select public.plant()::text $$;
    create function public.litter(event jsonb) returns jsonb language plpgsql as $body$
    declare found record;
    begin
      perform set_config('search_path', 'public, pg_catalog', true), set_config('app.left', 'behind', false);
      for found in select name from pg_catalog.pg_prepared_statements where name <> '' loop
        execute format('deallocate %I', found.name);
        execute format('prepare %I as select public.plant() as own', found.name);
      end loop;
      return event;
    end $body$`);
  const own = openSystemPool(database.url, 1);
  const ask = () =>
    own.query(`select pg_catalog.current_setting('app.left', true) as own from (select $1::int4) x`, [1]);
  for (let round = 0; round < 3; round += 1) {
    expect((await ask())[0]?.own ?? '').toBe('');
    await own.transaction(async (connection) => {
      await askFunction(connection, 'public/litter').answer;
      await connection.query(`select lower('A'::varchar)`, []);
    });
  }
  expect(await database.query('select * from public.planted')).toEqual([]);
});
