/**
 * A process that serves ends when it is told to, whatever has become of those who started it and of the database.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { holdFunction, takeLock, untilHeld } from '../support/busy.ts';
import { startFreezingProxy } from '../support/freezing-proxy.ts';
import { anonKey, secret } from '../support/http.ts';
import { createAuthDatabase } from '../support/postgres.ts';
import { type Running, startCommand, temporaryDirectory } from './run-command.ts';

const database = await createAuthDatabase(`
  ${holdFunction};
  create schema blog; create table blog.post (id int primary key);
  grant usage on schema blog to anon; grant select on blog.post to anon`);

const login = database.urlAs('authenticator', 'test');
const env = { DATABASE_URL: login, PGREFLECT_ADMIN_DATABASE_URL: database.url, PGREFLECT_JWT_SECRET: secret };

interface Served {
  readonly command: Running;
  ask(query: string): Promise<unknown>;
}

async function serve(args: readonly string[], given: Readonly<Record<string, string>> = env): Promise<Served> {
  const directory = temporaryDirectory();
  const command = startCommand(['serve', '--port', '0', ...args], { env: given, directory });
  const [, url = ''] = await command.until(/GraphQL and GraphiQL: (\S+)/);
  await command.until(/Role "anon" reads 0 tables/);
  const headers = { apikey: anonKey, 'content-type': 'application/json' };
  const ask = async (query: string): Promise<unknown> =>
    (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
  return { command, ask };
}

const patient = ['--statement-timeout-ms', '60000', '--drain-timeout-ms', '60000'];

test('a gateway whose output is no longer read continues to serve, and stops as usual', async () => {
  const file = join(temporaryDirectory(), 'pgreflect.toml');
  writeFileSync(file, 'schemas = "public"');
  const { command, ask } = await serve(['--config', file]);
  command.stopReading();
  writeFileSync(file, 'schemas = "blog"');
  command.signal('SIGHUP');
  const posts = '{ postCollection { edges { node { id } } } }';
  while (!('data' in ((await ask(posts)) as object))) await sleep(20);
  // It has tried to say that by now.
  expect(await ask(posts)).toEqual({ data: { postCollection: { edges: [] } } });
  command.signal('SIGTERM');
  expect((await command.finished).code).toBe(0);
});

test('a command whose output is not read finishes its work', async () => {
  const printing = startCommand(['schema', '--role', 'anon'], { env });
  printing.stopReading();
  expect((await printing.finished).code).toBe(0);
});

test('a second SIGTERM ends it at once', async () => {
  const { command, ask } = await serve(patient);
  command.stopReading();
  await takeLock(database, 1);
  const held = ask('{ hold(lock: 1) }').catch(() => 'cut');
  await untilHeld(database, 1);
  command.signal('SIGTERM');
  // A service manager and npm say the same within a moment, which does not count as asking again.
  const again = setInterval(() => command.signal('SIGTERM'), 100);
  expect((await command.finished).code).toBe(143);
  clearInterval(again);
  expect(await held).toBe('cut');
});

test('a second SIGINT ends all processes that share the port at once', async () => {
  const { command, ask } = await serve(['--workers', '2', ...patient]);
  await takeLock(database, 2);
  const held = ask('{ hold(lock: 2) }').catch(() => 'cut');
  await untilHeld(database, 1);
  command.signal('SIGINT');
  command.signal('SIGINT');
  const again = setInterval(() => command.signal('SIGINT'), 100);
  expect((await command.finished).code).toBe(130);
  clearInterval(again);
  expect(await held).toBe('cut');
});

test('a database that hangs does not keep a command from ending', async () => {
  const proxy = await startFreezingProxy(database.url);
  const given = {
    ...env,
    DATABASE_URL: proxy.through(login),
    PGREFLECT_ADMIN_DATABASE_URL: proxy.through(database.url),
  };
  const { command, ask } = await serve(['--drain-timeout-ms', '200'], given);
  proxy.freeze();
  const held = ask('{ hold(lock: 3) }').catch(() => 'cut');
  command.signal('SIGTERM');
  expect((await command.finished).code).toBe(0);
  expect(await held).toBe('cut');
});
