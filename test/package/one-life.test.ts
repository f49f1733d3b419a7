/**
 * The command `pgreflect` and the gateway live and die together, under the Node of the machine. One before 22.15 starts the pinned Node
 * as a child; a later one becomes it. Whoever started it sees no difference.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { programs } from '../support/bundle-programs.ts';
import { holdFunction, takeLock, untilHeld } from '../support/busy.ts';
import { anonKey, secret } from '../support/http.ts';
import { pathOfPerson } from '../support/install-packages.ts';
import { createDatabase } from '../support/postgres.ts';
import { openFolder } from './person.ts';
import { familyOf, startFamily, untilGone } from './process-family.ts';

const database = await createDatabase(holdFunction);
const { launcher } = programs();
const serving = ['node', launcher, 'serve', '--port', '0'];
const variables = {
  DATABASE_URL: database.urlAs('authenticator', 'test'),
  PGREFLECT_JWT_SECRET: secret,
  PGREFLECT_SCHEMAS: 'public',
};

const start = (words: readonly string[], directory = openFolder()) =>
  startFamily(words, { directory, environment: { PATH: pathOfPerson(), ...variables } });

async function expectNobodyServes(url: string): Promise<void> {
  await expect(fetch(url)).rejects.toThrow();
}

test.each(['SIGINT', 'SIGTERM', 'SIGQUIT'] as const)(
  '%s to the command alone stops the gateway, and its exit code is 0',
  async (signal) => {
    const { child, ended, url, pid } = await start(serving);
    const family = familyOf(pid);
    child.kill(signal);
    expect(await ended).toEqual([0, null]);
    await untilGone(family);
    await expectNobodyServes(url);
  },
);

test('Ctrl-C, which signals the command and the gateway at once, lets a request finish', async () => {
  const { pid, ended, url } = await start(serving);
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

test('SIGKILL of the command ends the gateway, and frees its port', async () => {
  const { pid, ended, url } = await start(serving);
  const family = familyOf(pid);
  process.kill(pid, 'SIGKILL');
  await untilGone(family);
  await ended;
  await expectNobodyServes(url);
});

test.each(['SIGKILL', 'SIGTERM'] as const)('%s of npx, whose shell lives on, ends the gateway', async (signal) => {
  const directory = openFolder();
  writeFileSync(join(directory, 'package.json'), '{"private": true}');
  mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true });
  symlinkSync(launcher, join(directory, 'node_modules/.bin/pgreflect'));
  const { pid, ended, url } = await start(['npx', 'pgreflect', 'serve', '--port', '0'], directory);
  const family = familyOf(pid);
  process.kill(pid, signal);
  await untilGone(family);
  await ended;
  await expectNobodyServes(url);
});

test('SIGKILL of the gateway ends the command in the same way', async () => {
  const { ended, gateway } = await start(serving);
  process.kill(gateway(), 'SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
});

test.each(['command', 'gateway'])('SIGKILL of the %s of pgreflect start leaves no PostgreSQL', async (victim) => {
  const directory = openFolder();
  const { pid, ended, gateway } = await start(['node', launcher, 'start', '--empty', '--port', '0'], directory);
  const family = familyOf(pid);
  const [postmaster] = readFileSync(join(directory, '.pgreflect/data/postmaster.pid'), 'utf8').split('\n');
  expect(family.map((one) => String(one.pid))).toContain(postmaster);
  process.kill(victim === 'command' ? pid : gateway(), 'SIGKILL');
  await untilGone(family);
  await ended;
});

test.runIf(process.platform === 'linux')('a terminal that closes ends the command and the gateway', async () => {
  const words = serving.map((word) => `'${word}'`).join(' ');
  // A terminal with a shell in it, which waits for its command.
  const { child, pid, ended } = await start(['script', '--quiet', '--command', `${words}; true`, '/dev/null']);
  const family = familyOf(pid);
  child.kill('SIGKILL');
  await untilGone(family);
  await ended;
});

test('SIGHUP without a terminal is no wish to stop', async () => {
  const { child, ended, url } = await start(serving);
  child.kill('SIGHUP');
  const health = await fetch(`${new URL(url).origin}/health`);
  expect(health.status).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
