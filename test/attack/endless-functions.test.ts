/**
 * Functions that catch their own cancelling: neither a time limit nor a cancel request ends them, nor that nobody waits any more.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { signedUpBefore, testAuth } from '../support/auth-service.ts';
import { testGateway } from '../support/gateway.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';
import { namingProcess, startRecordingProxy } from '../support/recording-proxy.ts';

const body = `begin
  insert into public.held values (1);
  loop
    begin perform pg_catalog.pg_sleep(60); exception when query_canceled then null; end;
  end loop;
end`;
const make = `
  create table public.held (id int primary key);
  create function public.endless() returns int language plpgsql security definer as $$ ${body} $$;
  create function public.endless_hook(event jsonb) returns jsonb language plpgsql as $$ ${body} $$;`;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`${make}
    grant usage on schema public to anon;
    grant execute on function public.endless to anon;`);
});

/** The row can be inserted once the function has lost its lock. */
async function expectEnded(held: TestDatabase): Promise<void> {
  const insert = "set lock_timeout = '500ms'; insert into public.held values (1)";
  await vi.waitFor(() => held.query(insert), { timeout: 20_000, interval: 100 });
}

test('a function that a request calls ends after the time limit and releases its locks', async () => {
  const gateway = await testGateway(database, { statementTimeoutMs: 500 });
  const { body: answer } = await gateway.ask('mutation { endless }');
  expect(answer.errors[0].extensions.code).toBe('TIMEOUT');
  await expectEnded(database);
});

test('behind a pooler, which invents the process ID, no other server process is cancelled', async () => {
  await database.query('delete from public.held');
  const innocent = new pg.Client(database.urlAs('authenticator', 'test'));
  await innocent.connect();
  onTestFinished(() => innocent.end());
  const { rows } = await innocent.query('select pg_backend_pid() as pid');
  const proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
  onTestFinished(() => proxy.stop());
  proxy.inspect(namingProcess(() => rows[0].pid));
  const gateway = await testGateway(database, { databaseUrl: proxy.url, statementTimeoutMs: 500 });
  const { body: answer } = await gateway.ask('mutation { endless }');
  expect(answer.errors[0].extensions.code).toBe('TIMEOUT');
  await sleep(7000);
  expect((await innocent.query('select 1 as alive')).rows).toEqual([{ alive: 1 }]);
  await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ~ 'endless' and pid <> pg_backend_pid()`);
  await expectEnded(database);
});

test('a function that is a hook ends after the time limit of the request, which is answered', async () => {
  const own = await createAuthDatabase(make);
  const signIn = { email: 'hooked@x.test', password: 'a good password' };
  await signedUpBefore(own, signIn.email, signIn.password);
  const auth = await testAuth(own, {
    api_max_request_duration: 3,
    hook_custom_access_token_enabled: true,
    hook_custom_access_token_uri: 'pg-functions://postgres/public/endless_hook',
  });
  expect((await auth.ask('/token?grant_type=password', signIn)).body.code).toBe('request_timeout');
  await expectEnded(own);
});
