/** With `--log-format json`, whatever a process that serves writes is a line of its log. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../../src/shared/version.ts';
import { createDatabase } from '../support/postgres.ts';
import { type Finished, runProcess, startCommand, temporaryDirectory } from './run-command.ts';

const database = await createDatabase(
  "create table note (id int primary key); grant select on note to anon; comment on table note is '@graphql({bad'",
);
const env = {
  DATABASE_URL: database.urlAs('authenticator', 'test'),
  PGREFLECT_JWT_SECRET: 'a-secret-of-at-least-thirty-two-characters',
};
const json = ['--port', '0', '--log-format', 'json'];

type Line = Readonly<Record<string, unknown>>;

/** All lines of both outputs. */
function linesOf({ out, err }: Finished): readonly Line[] {
  const lines = `${out}${err}`.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const parsed = JSON.parse(line) as Line;
    expect(parsed).toMatchObject({ service: 'pgreflect', version, host: expect.any(String), pid: expect.any(Number) });
    // A key that is there twice is lost in most readers.
    expect(Object.keys(parsed)).toHaveLength(line.match(/(?<=[{,])"[A-Za-z_]+":/g)?.length ?? 0);
    return parsed;
  });
}

const messages = (lines: readonly Line[]) => lines.map(({ level, msg }) => `${level} ${msg}`);

async function served(args: readonly string[], untilText: RegExp, directory = temporaryDirectory()): Promise<Finished> {
  const command = startCommand([...args, ...json], { env, directory });
  await command.until(untilText);
  command.signal('SIGTERM');
  return command.finished;
}

test('every line of serve is JSON: where it serves, how to ask, warnings, and what the start took', async () => {
  const finished = await served(['serve', '--trusted-proxies', '127.0.0.1'], /takes notice by itself|Try:/);
  const lines = linesOf(finished);
  expect(finished.code).toBe(0);
  expect(messages(lines)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^info pgreflect serves the database/),
      expect.stringMatching(/^info GraphQL and GraphiQL: http/),
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

test('a configuration that is not taken over is an error, and an option that needs a restart a warning', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'pgreflect.toml');
  writeFileSync(file, '');
  const command = startCommand(['serve', ...json], { env, directory });
  await command.until(/Try:/);
  writeFileSync(file, 'max_depth = "deep"\n');
  await command.until(/not reloaded/);
  writeFileSync(file, 'pool_size = 3\n');
  await command.until(/restart is needed/);
  command.signal('SIGTERM');
  expect(messages(linesOf(await command.finished))).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^error The configuration was not reloaded\.\n.*\n- .*max_depth/),
      'warn A restart is needed for: pool_size.',
    ]),
  );
});

test('every line of workers is JSON, with the number of the worker', async () => {
  const lines = linesOf(await served(['serve', '--workers', '2'], /takes notice by itself|Try:/));
  expect(new Set(lines.map(({ worker }) => worker))).toEqual(new Set([undefined, 1, 2]));
});

test('every problem of a configuration is an event with what mends it', async () => {
  const finished = await runProcess(['serve', '--anon-role', 'missing', ...json], {
    env: { DATABASE_URL: env.DATABASE_URL },
  });
  const lines = linesOf(finished);
  expect(finished.code).toBe(1);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([
    expect.objectContaining({
      msg: expect.stringContaining('secret'),
      hint: expect.stringContaining('pgreflect keys'),
    }),
    expect.objectContaining({
      msg: expect.stringContaining('missing'),
      hint: expect.stringContaining('pgreflect init'),
    }),
  ]);
});

test('a process that says nothing says why it does not start', async () => {
  const finished = await runProcess(['serve', '--log-level', 'silent', ...json], {
    env: { DATABASE_URL: env.DATABASE_URL },
  });
  expect([finished.code, linesOf(finished).length]).toEqual([1, 1]);
});

test('every line of start is JSON', async () => {
  const lines = linesOf(await served(['start', '--empty'], /pgreflect is ready/));
  expect(messages(lines)).toEqual(expect.arrayContaining([expect.stringMatching(/^info pgreflect is ready/)]));
});
