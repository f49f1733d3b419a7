/**
 * With `--log-format json`, whatever a process that serves writes is a line of its log. Those of workers: workers.test.ts, of
 * `pgreflect start`: start.test.ts.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { linesOf, messagesOf } from './log-lines.ts';
import { runProcess, startCommand, temporaryDirectory } from './run-command.ts';

const database = await createDatabase(
  "create table note (id int primary key); grant select on note to anon; comment on table note is '@graphql({bad'",
);
const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
const json = ['--port', '0', '--log-format', 'json'];

test('every line of serve is JSON: where it serves, how to ask, warnings, what the start took, and what becomes of a changed configuration', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'pgreflect.toml');
  writeFileSync(file, '');
  const secret = { PGREFLECT_JWT_SECRET: 'a-secret-of-at-least-thirty-two-characters' };
  const args = ['serve', '--trusted-proxies', '127.0.0.1', ...json];
  const command = startCommand(args, { env: { ...env, ...secret }, directory });
  await command.until(/Try:/);
  writeFileSync(file, 'max_depth = "deep"\n');
  await command.until(/not reloaded/);
  writeFileSync(file, 'pool_size = 3\n');
  await command.until(/restart is needed/);
  command.signal('SIGTERM');
  const { code, out, err } = await command.finished;
  expect(code).toBe(0);
  const lines = linesOf(out + err);
  expect(messagesOf(lines)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^info pgreflect serves the database/),
      expect.stringMatching(/^info GraphQL and GraphiQL: http/),
      expect.stringMatching(/^error The configuration was not reloaded\.\n.*\n- .*max_depth/),
      'warn A restart is needed for: pool_size.',
      'info stopped',
    ]),
  );
  const took = expect.any(Number);
  expect(lines.find(({ msg }) => msg === 'listening')).toMatchObject({
    loadMs: took,
    schemaMs: took,
    authMs: took,
    serverMs: took,
  });
});

test('every problem of a configuration is an event with what mends it, also of a process that says nothing else', async () => {
  const args = ['serve', '--anon-role', 'missing', '--log-level', 'silent', ...json];
  const { code, out, err } = await runProcess(args, { env });
  expect(code).toBe(1);
  expect(linesOf(out + err)).toEqual([
    expect.objectContaining({
      level: 'error',
      msg: expect.stringContaining('secret'),
      hint: expect.stringContaining('pgreflect keys'),
    }),
    expect.objectContaining({
      level: 'error',
      msg: expect.stringContaining('missing'),
      hint: expect.stringContaining('pgreflect init'),
    }),
  ]);
});
