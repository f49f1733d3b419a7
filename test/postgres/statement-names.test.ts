/**
 * Named statements: what is named, how many, and right answers whatever a function does to them.
 */
import { beforeAll, expect, test } from 'vitest';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import type { ApiPool } from '../../src/postgres/pool/pool.ts';
import { callerOf, flightOf, openPool } from '../support/flights.ts';
import { createDatabase } from '../support/postgres.ts';
import { asPooler, startRecordingProxy } from '../support/recording-proxy.ts';

let url: string;
beforeAll(async () => {
  const database = await createDatabase(`
    create table note (id int primary key);
    create table link (note int references note deferrable initially deferred);
    grant select, insert, delete on note, link to anon;
    create function forget() returns int language plpgsql as $$ begin execute 'deallocate all'; return 1; end $$;
    create function steal(name text) returns int language plpgsql as
      $$ begin execute format('prepare %I as select %L', name, 'stolen'); return 1; end $$;
    create function lie() returns int language plpgsql as
      $$ begin raise exception 'prepared statement "x" does not exist' using errcode = '26000'; end $$;
  `);
  url = database.urlAs('authenticator', 'test');
});

/** The texts that the pool's only connection has prepared, our own left out. */
async function preparedTexts(pool: ApiPool): Promise<string[]> {
  const read = `select coalesce(json_agg(statement order by statement), '[]') from pg_prepared_statements
    where statement like 'select ''t%'`;
  const [json] = await runAs(pool, flightOf([read]));
  return JSON.parse(String(json)) as string[];
}

test('a text is named when it comes for the second time', async () => {
  const pool = openPool(url);
  await runAs(pool, flightOf(["select 't once'"]));
  for (let time = 0; time < 2; time += 1) await runAs(pool, flightOf(["select 't twice'"]));
  expect(await preparedTexts(pool)).toEqual(["select 't twice'"]);
});

test('a name belongs to a role and a text', async () => {
  const pool = openPool(url);
  for (const role of ['anon', 'authenticated', 'anon', 'authenticated', 'anon']) {
    const options = flightOf(["select 't ' || current_user"], { caller: callerOf(role) });
    expect(await runAs(pool, options)).toEqual([`t ${role}`]);
  }
  expect(await preparedTexts(pool)).toEqual(["select 't ' || current_user", "select 't ' || current_user"]);
});

test('one flight may use a text twice', async () => {
  const pool = openPool(url);
  const step = (value: string) => ({ text: "select 't' || $1::text", values: [value] });
  for (let round = 0; round < 3; round += 1) {
    expect(await runAs(pool, flightOf([step('1'), step('2')]))).toEqual(['t1', 't2']);
  }
});

test('a connection keeps no more names than the limit, those used last', async () => {
  const pool = openPool(url, { maxStatementsPerConnection: 8 });
  for (let number = 0; number < 60; number += 1) {
    for (let time = 0; time < 2; time += 1) {
      expect(await runAs(pool, flightOf([`select 't${number}'`]))).toEqual([`t${number}`]);
    }
  }
  const [count] = await runAs(pool, flightOf(['select count(*) from pg_prepared_statements']));
  expect(Number(count)).toBeLessThanOrEqual(8);
  expect(await preparedTexts(pool)).toContain("select 't59'");
});

test('1,000 mixed flights, good, failing at every step and cancelled, all get their own answer', async () => {
  const proxy = await startRecordingProxy(url);
  const pool = openPool(proxy.url, { size: 4, maxStatementsPerConnection: 12 });
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  const one = async (number: number) => {
    const text = `select '${random(20)}:' || $1::text`;
    const good = { text, values: [String(number)] };
    const expected = `${/'(\d+):/.exec(text)?.[1]}:${number}`;
    switch (random(6)) {
      case 0:
        return expect(runAs(pool, flightOf([good, `select ${random(9)} / 0`]))).rejects.toMatchObject({ step: 2 });
      case 1:
        return expect(runAs(pool, flightOf([{ text: 'select $1::int', values: ['x'] }, good]))).rejects.toMatchObject({
          step: 1,
          sqlstate: '22P02',
        });
      case 2:
        return expect(runAs(pool, flightOf([good], { caller: callerOf('nobody') }))).rejects.toMatchObject({ step: 0 });
      case 3: {
        const insert = `insert into link values (${random(5)})`;
        return expect(runAs(pool, flightOf([insert, good], { mutation: true }))).rejects.toMatchObject({
          step: 3,
          sqlstate: '23503',
        });
      }
      case 4: {
        const client = new AbortController();
        setTimeout(() => client.abort(), random(4));
        const options = flightOf(['select pg_sleep(0.002)', good], { signal: client.signal });
        return runAs(pool, options).then(
          (results) => expect(results[1]).toBe(expected),
          (problem) => expect(problem).toMatchObject({ kind: 'cancelled' }),
        );
      }
      default:
        return expect(await runAs(pool, flightOf([good]))).toEqual([expected]);
    }
  };
  const next = { number: 0 };
  const worker = async () => {
    while (next.number < 1000) await one(next.number++);
  };
  await Promise.all([1, 2, 3, 4].map(worker));
  await pool.stop();
  await proxy.stop();
});

test('statements that a function deallocates are prepared again, on another connection', async () => {
  const events: unknown[] = [];
  const pool = openPool(url, { onEvent: (event) => events.push(event) });
  for (let loss = 0; loss < 5; loss += 1) {
    for (let time = 0; time < 2; time += 1) expect(await runAs(pool, flightOf(["select 't a'"]))).toEqual(['t a']);
    expect(await runAs(pool, flightOf(['select forget()'], { mutation: true }))).toEqual(['1']);
    const options = flightOf(["select 't a'", 'insert into note values (1) returning id', 'delete from note'], {
      mutation: true,
    });
    expect((await runAs(pool, options)).slice(0, 2)).toEqual(['t a', '1']);
  }
  expect(events).toEqual([]);
  for (let time = 0; time < 3; time += 1) await runAs(pool, flightOf(["select 't a'"]));
  expect(await preparedTexts(pool)).toEqual(["select 't a'"]);
});

test('behind a pooler, whose server processes others use as well, nothing is prepared, with a notice', async () => {
  const proxy = await startRecordingProxy(url);
  proxy.inspect(asPooler);
  const events: unknown[] = [];
  const pool = openPool(proxy.url, { size: 3, onEvent: (event) => events.push(event) });
  const ask = () => runAs(pool, flightOf(["select 't a'", "select 't b'"]));
  for (let time = 0; time < 3; time += 1) {
    for (const answer of await Promise.all([ask(), ask(), ask()])) expect(answer).toEqual(['t a', 't b']);
  }
  expect(events).toEqual([{ kind: 'prepared_statements_off' }]);
  expect(await runAs(pool, flightOf(['select count(*) from pg_prepared_statements']))).toEqual(['0']);
  await pool.stop();
  await proxy.stop();
});

test('a prepared statement that exists under a name of the gateway is not used', async () => {
  const [first, second] = [openPool(url), openPool(url)];
  for (let time = 0; time < 2; time += 1) await runAs(first, flightOf(["select 't real'"]));
  const read = "select name from pg_prepared_statements where statement = 'select ''t real'''";
  const [name] = await runAs(first, flightOf([read]));
  await runAs(second, flightOf([{ text: 'select steal($1)', values: [String(name)] }], { mutation: true }));
  for (let time = 0; time < 3; time += 1) {
    expect(await runAs(second, flightOf(["select 't real'"]))).toEqual(['t real']);
  }
});

test('a function that raises the error of a lost statement is not run twice', async () => {
  const proxy = await startRecordingProxy(url);
  const pool = openPool(proxy.url);
  await runAs(pool, flightOf(['select 1']));
  proxy.reset();
  await expect(runAs(pool, flightOf(['select lie()'], { mutation: true }))).rejects.toMatchObject({
    kind: 'statement',
    sqlstate: '26000',
  });
  expect(proxy.roundTrips()).toBe(1);
  await pool.stop();
  await proxy.stop();
});

test('with naming switched off nothing is ever prepared, and a request still takes one round trip', async () => {
  const proxy = await startRecordingProxy(url);
  const pool = openPool(proxy.url, { preparedStatements: false });
  await runAs(pool, flightOf(["select 't a'"]));
  proxy.reset();
  for (let time = 0; time < 3; time += 1) await runAs(pool, flightOf(["select 't a'", "select 't b'"]));
  expect(proxy.roundTrips()).toBe(3);
  expect(await runAs(pool, flightOf(['select count(*) from pg_prepared_statements']))).toEqual(['0']);
  await pool.stop();
  await proxy.stop();
});
