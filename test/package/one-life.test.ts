/**
 * The command `pgreflect` and the gateway live and die together, under the Node of the machine. One before 22.15 starts the pinned Node
 * as a child; a later one becomes it. Whoever started it sees no difference. Other signals, and npx: one-life.nightly.test.ts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { holdFunction, takeLock, untilHeld } from '../support/busy.ts';
import { anonKey } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';
import { launcher, serving, start, stopWhole } from './one-life.ts';
import { openFolder } from './person.ts';
import { familyOf } from './process-family.ts';

const database = await createDatabase(holdFunction);

test('SIGHUP without a terminal is no wish to stop; SIGTERM to the command alone stops the gateway, and its exit code is 0', async () => {
  const started = await start(database);
  started.child.kill('SIGHUP');
  const health = await fetch(`${new URL(started.url).origin}/health`);
  expect(health.status).toBe(200);
  expect(await stopWhole(started, () => started.child.kill('SIGTERM'))).toEqual([0, null]);
});

test('Ctrl-C, which signals the command and the gateway at once, lets a request finish', async () => {
  const { pid, ended, url } = await start(database);
  const release = await takeLock(database, 1);
  const headers = { apikey: anonKey, 'content-type': 'application/json' };
  const answer = fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: '{ hold(lock: 1) }' }) });
  await untilHeld(database, 1);
  process.kill(-pid, 'SIGINT');
  await expect
    .poll(() =>
      fetch(`${new URL(url).origin}/health`).then(
        () => true,
        () => false,
      ),
    )
    .toBe(false);
  await release();
  expect(await (await answer).json()).toEqual({ data: { hold: 'held' } });
  expect(await ended).toEqual([0, null]);
});

test('SIGKILL of the gateway ends the command in the same way', async () => {
  const { ended, gateway } = await start(database);
  process.kill(gateway(), 'SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
});

test('SIGKILL of the command ends the gateway and the PostgreSQL of pgreflect start', async () => {
  const directory = openFolder();
  const started = await start(database, ['node', launcher, 'start', '--empty', '--port', '0'], directory);
  const [postmaster] = readFileSync(join(directory, '.pgreflect/data/postmaster.pid'), 'utf8').split('\n');
  expect(familyOf(started.pid).map(({ pid }) => String(pid))).toContain(postmaster);
  await stopWhole(started, () => process.kill(started.pid, 'SIGKILL'));
});

test.runIf(process.platform === 'linux')('a terminal that closes ends the command and the gateway', async () => {
  const words = serving.map((word) => `'${word}'`).join(' ');
  // A terminal with a shell in it, which waits for its command.
  const started = await start(database, ['script', '--quiet', '--command', `${words}; true`, '/dev/null']);
  await stopWhole(started, () => started.child.kill('SIGKILL'));
});
