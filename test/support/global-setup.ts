/**
 * One PostgreSQL server for the whole run: `TEST_DATABASE_URL` (a superuser's connection string) where it is set, a
 * container of `TEST_POSTGRES_IMAGE` (such as `postgres:16`, needs Docker) where that is, else the embedded server. It has the usual roles and a database with the tables of the auth service, which test files copy (postgres.ts).
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { findBinaries } from '../../src/postgres/embedded/embedded-binaries.ts';
import { initializeData } from '../../src/postgres/embedded/embedded-data.ts';
import { startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import { findServerUser } from '../../src/postgres/embedded/server-user.ts';
import { bundlePrograms } from './bundle-programs.ts';
import { installPackages } from './install-packages.ts';
import { migrateDatabase } from './migrate-database.ts';
import { scratch } from './scratch.ts';
import { defaultRoles } from './usual-roles.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string;
    /** Names of databases that nobody is connected to: an empty one, and one with the tables of the auth service. */
    emptyTemplate: string;
    authTemplate: string;
    /** A data directory that no server has used, for servers of tests (own-server.ts); empty where the run does not start its own. */
    madeData: string;
  }
}

/** A third of the time of a connection is the 4,096 rounds that guesses at a stolen hash are to take; older servers have no choice. */
const quickPasswords = `select set_config('scram_iterations', '1', false) where current_setting('server_version_num')::int >= 160000`;

const studioBuild = join(import.meta.dirname, '../../src/studio/app/build.ts');

const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '200',
  shared_buffers: '128MB',
};

/** Builds the studio where its sources have changed, starts the server and returns what stops it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  installIfMissing();
  execFileSync(process.execPath, [studioBuild], { stdio: 'inherit' });
  await bundlePrograms();
  project.provide('madeData', '');
  const given = process.env.TEST_DATABASE_URL;
  if (given) {
    return provide(project, given);
  }
  const image = process.env.TEST_POSTGRES_IMAGE;
  if (image) {
    return provideContainer(project, image);
  }
  const directory = await openDirectory();
  const [made, dataDirectory] = [join(directory, 'made'), join(directory, 'data')];
  await makeData(made);
  // With its owner, who may be another user than this one.
  execFileSync('cp', ['-a', made, dataDirectory]);
  project.provide('madeData', made);
  const server = await startEmbeddedServer({
    dataDirectory,
    password: 'test',
    persistent: false,
    settings,
  });
  await run(server.url, quickPasswords, "alter role current_user password 'test'");
  await provide(project, server.url);
  return async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  };
}

/** For a runner that was started without `npm test`, which also looks at the lock file. */
function installIfMissing(): void {
  try {
    import.meta.resolve('playwright-core');
  } catch {
    installPackages('test');
  }
}

/** A server in a container, which ends with the run. */
async function provideContainer(project: TestProject, image: string): Promise<() => Promise<void>> {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const container = await new PostgreSqlContainer(image).withCommand(['postgres', ...flags]).start();
  await provide(project, container.getConnectionUri());
  return async () => void (await container.stop());
}

/** Prepares the server for all files; returns what removes that again. */
async function provide(project: TestProject, serverUrl: string): Promise<() => Promise<void>> {
  const mark = randomBytes(6).toString('hex');
  const [emptyTemplate, authTemplate] = [`t_empty_${mark}`, `t_auth_${mark}`];
  const create = [emptyTemplate, authTemplate].map(
    (name) => `create database ${name} template template0 encoding 'UTF8' locale 'C'`,
  );
  await run(serverUrl, quickPasswords, defaultRoles, ...create);
  const urlOf = (name: string) => Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
  // The first connection to a database writes down what every other one needs of the catalog, which is copied, too.
  await run(urlOf(emptyTemplate));
  await migrateDatabase(urlOf(authTemplate));
  project.provide('serverUrl', serverUrl);
  project.provide('emptyTemplate', emptyTemplate);
  project.provide('authTemplate', authTemplate);
  const drop = [emptyTemplate, authTemplate].map((name) => `drop database if exists ${name} with (force)`);
  return () => run(serverUrl, ...drop);
}

async function run(connectionString: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const text of statements) await client.query(text);
  await client.end();
}

/** Makes the data of a server with the password `test`. */
async function makeData(directory: string): Promise<void> {
  const user = await findServerUser();
  await initializeData(directory, 'test', await findBinaries(user), user);
}

/** A temporary directory that the server's own operating system user can enter as well. */
async function openDirectory(): Promise<string> {
  const directory = await mkdtemp(join(scratch, 'pgreflect-test-'));
  await chmod(directory, 0o755);
  return directory;
}
