/** Every other way in which the command `pgreflect` and the gateway end together; the usual ones: one-life.test.ts. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { holdFunction } from '../support/busy.ts';
import { createDatabase } from '../support/postgres.ts';
import { launcher, start, stopWhole } from './one-life.ts';
import { openFolder } from './person.ts';

const database = await createDatabase(holdFunction);

test.each(['SIGINT', 'SIGQUIT'] as const)(
  '%s to the command alone stops the gateway, and its exit code is 0',
  async (signal) => {
    const started = await start(database);
    expect(await stopWhole(started, () => started.child.kill(signal))).toEqual([0, null]);
  },
);

test('SIGKILL of the command of pgreflect serve ends the gateway, and frees its port', async () => {
  const started = await start(database);
  await stopWhole(started, () => process.kill(started.pid, 'SIGKILL'));
});

test.each(['SIGKILL', 'SIGTERM'] as const)('%s of npx, whose shell lives on, ends the gateway', async (signal) => {
  const directory = openFolder();
  writeFileSync(join(directory, 'package.json'), '{"private": true}');
  mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true });
  symlinkSync(launcher, join(directory, 'node_modules/.bin/pgreflect'));
  const started = await start(database, ['npx', 'pgreflect', 'serve', '--port', '0'], directory);
  await stopWhole(started, () => process.kill(started.pid, signal));
});

test('SIGKILL of the gateway of pgreflect start leaves no PostgreSQL', async () => {
  const started = await start(database, ['node', launcher, 'start', '--empty', '--port', '0']);
  await stopWhole(started, () => process.kill(started.gateway(), 'SIGKILL'));
});
