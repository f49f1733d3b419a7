/**
 * The packaged PostgreSQL: its life, and what happens when processes die or directories are closed to its user.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, lstat, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBinaries, usableCopy } from '../../src/postgres/embedded/embedded-binaries.ts';
import { startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import { scratch } from '../support/scratch.ts';

const isRoot = process.getuid?.() === 0;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(scratch, 'pgreflect-embedded-'));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A copy of the data of the first test, which takes a tenth of the time of making it. */
async function copyData(name: string): Promise<string> {
  const dataDirectory = join(folder, name);
  // With its owner, who may be another user than this one.
  await promisify(execFile)('cp', ['-a', join(folder, 'kept'), dataDirectory]);
  return dataDirectory;
}

const quick = { password: 'test', persistent: true, settings: { fsync: 'off' } };

async function ask(url: string, text: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return Object.values((await client.query(text)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** A process of its own that runs a server until it is killed; resolves with its port. */
async function startInOtherProcess(dataDirectory: string) {
  const module = new URL('../../src/postgres/embedded/embedded-server.ts', import.meta.url).href;
  const script = `
    const { startEmbeddedServer } = await import(${JSON.stringify(module)});
    const server = await startEmbeddedServer({ dataDirectory: ${JSON.stringify(dataDirectory)}, ...${JSON.stringify(quick)} });
    process.on('SIGTERM', () => server.stop().then(() => { console.log('clean'); process.exit(7); }));
    console.log(server.port);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, port: Number(line.toString()) };
}

test('data survives a restart, stopping twice is harmless, and the loopback is all it listens on', async () => {
  const dataDirectory = join(folder, 'kept');
  const first = await startEmbeddedServer({ dataDirectory, ...quick });
  expect(await ask(first.url, 'show listen_addresses')).toBe('127.0.0.1');
  expect(await ask(first.url, "select lower('ÄÖ')")).toBe('äö');
  await ask(first.url, 'create table kept as select 42 as answer');
  await first.stop();
  await first.stop();
  const second = await startEmbeddedServer({ dataDirectory, ...quick });
  expect(await ask(second.url, 'select answer from kept')).toBe(42);
  await second.stop();
});

test('a server that is not persistent takes its data with it; it knows nothing of our environment, and our process has no handlers for its sake', async () => {
  const dataDirectory = join(folder, 'passing');
  const count = () =>
    ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'beforeExit'].map((event) => process.listenerCount(event));
  const before = count();
  process.env.PGREFLECT_JWT_SECRET = 'not-for-sql';
  const server = await startEmbeddedServer({ dataDirectory, ...quick, persistent: false });
  expect(count()).toEqual(before);
  const read = "select pg_read_binary_file('/proc/self/environ') like '%not-for-sql%'::bytea";
  const found = process.platform === 'linux' ? await ask(server.url, read) : false;
  delete process.env.PGREFLECT_JWT_SECRET;
  await server.stop();
  expect(found).toBe(false);
  await expect(stat(dataDirectory)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a process that is killed leaves no server behind, and the next start recovers the data', async () => {
  const dataDirectory = await copyData('killed');
  const { child, port } = await startInOtherProcess(dataDirectory);
  await ask(`postgresql://postgres:test@127.0.0.1:${port}/postgres`, 'create table left_behind as select 43 as answer');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const again = await startEmbeddedServer({ dataDirectory, ...quick });
  expect(await isOpen(port)).toBe(false);
  expect(await ask(again.url, 'select answer from left_behind')).toBe(43);
  await again.stop();
});

test('a signal to the process does not stop the server: the process stops it, with an exit code of its own', async () => {
  const { child } = await startInOtherProcess(await copyData('signalled'));
  const output = once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(String((await output)[0])).toBe('clean\n');
  expect(await once(child, 'exit')).toEqual([7, null]);
});

test('a directory that another process uses is refused with the number of that process', async () => {
  const dataDirectory = await copyData('shared');
  const server = await startEmbeddedServer({ dataDirectory, ...quick });
  const pid = (await readFile(join(dataDirectory, 'postmaster.pid'), 'utf8')).split('\n')[0];
  await expect(startEmbeddedServer({ dataDirectory, ...quick })).rejects.toMatchObject({
    message: `Another PostgreSQL (process ${pid}) uses "${dataDirectory}".`,
    hint: expect.stringContaining(`kill -INT ${pid}`),
  });
  expect(await ask(server.url, 'select 1')).toBe(1);
  await server.stop();
});

test('a lock file left by a process that is gone, or whose number another one has now, is no obstacle', async () => {
  const dataDirectory = await copyData('stale');
  for (const pid of [2 ** 22 - 3, process.pid]) {
    await writeFile(join(dataDirectory, 'postmaster.pid'), `${pid}\n${dataDirectory}\n0\n5432\n\n\n\nready\n`);
    const next = await startEmbeddedServer({ dataDirectory, ...quick });
    await next.stop();
  }
});

test('data of another major version is refused with the commands that move it', async () => {
  const dataDirectory = join(folder, 'old');
  await mkdir(dataDirectory);
  await writeFile(join(dataDirectory, 'PG_VERSION'), '16\n');
  await expect(startEmbeddedServer({ dataDirectory, ...quick })).rejects.toMatchObject({
    message: expect.stringContaining('made by PostgreSQL 16'),
    hint: expect.stringMatching(/pg_dump.*pg_restore/),
  });
});

test('a directory with other contents is refused and left as it is', async () => {
  const dataDirectory = join(folder, 'foreign');
  await mkdir(dataDirectory);
  await writeFile(join(dataDirectory, 'diary.txt'), 'mine');
  await expect(startEmbeddedServer({ dataDirectory, ...quick })).rejects.toMatchObject({
    message: expect.stringContaining('is not empty'),
  });
  expect(await readFile(join(dataDirectory, 'diary.txt'), 'utf8')).toBe('mine');
});

test('a start that fails says what the server said', async () => {
  const settings = { no_such_setting: '1' };
  const attempt = startEmbeddedServer({ dataDirectory: await copyData('wrong'), ...quick, settings });
  await expect(attempt).rejects.toMatchObject({ message: expect.stringContaining('no_such_setting') });
});

test.runIf(isRoot)('in a private directory of root, the data is stored elsewhere, behind a link', async () => {
  const home = join(folder, 'home');
  await mkdir(home, { mode: 0o700 });
  const dataDirectory = join(home, 'project', 'data');
  const lines: string[] = [];
  const onLog = (line: string) => lines.push(line);
  const first = await startEmbeddedServer({ dataDirectory, ...quick, onLog });
  await ask(first.url, 'create table kept as select 42 as answer');
  await first.stop();
  expect(lines[0]).toMatch(/the data is in \/var\/lib\/pgreflect\/data-/);
  const second = await startEmbeddedServer({ dataDirectory, ...quick, persistent: false });
  expect(await ask(second.url, 'select answer from kept')).toBe(42);
  await second.stop();
  await expect(stat(dataDirectory)).rejects.toMatchObject({ code: 'ENOENT' });
});

test.runIf(isRoot)('programs in a private directory are copied once to where the server can read them', async () => {
  const source = join(folder, 'closed', 'native');
  await mkdir(source, { recursive: true });
  await writeFile(join(source, 'program'), 'x');
  const user = { uid: 65_534, gid: 65_534 };
  const cache = join(folder, 'cache');
  expect(await usableCopy(source, '1', user, cache)).toBe(source);
  await chmod(join(folder, 'closed'), 0o700);
  const copy = await usableCopy(source, '1', user, cache);
  expect(copy.startsWith(cache)).toBe(true);
  expect(await readFile(join(copy, 'program'), 'utf8')).toBe('x');
  await rm(source, { recursive: true });
  await mkdir(source);
  expect(await usableCopy(source, '1', user, cache)).toBe(copy);
});

test('PostgreSQL runs where npm has run no install script, which makes the links between its libraries', async () => {
  const { initdb } = await findBinaries(null);
  const source = join(folder, 'without-links', 'native');
  const filter = async (path: string) => !(await lstat(path)).isSymbolicLink();
  await cp(dirname(dirname(initdb)), source, { recursive: true, filter });
  const version = () => promisify(execFile)(join(source, 'bin', basename(initdb)), ['--version']);
  await expect(version()).rejects.toThrow('error while loading shared libraries');
  expect(await Promise.all([1, 2].map(() => usableCopy(source, '1', null, folder)))).toEqual([source, source]);
  expect((await version()).stdout).toMatch(/^initdb \(PostgreSQL\) /);
});
