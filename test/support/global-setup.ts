/**
 * One PostgreSQL server for the whole run: `TEST_DATABASE_URL` (a superuser's connection string) where it is set, else
 * the embedded server. Test files clone their own databases from it, see postgres.ts.
 */
import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedServer } from '../../src/database/embedded-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string;
  }
}

const studioBuild = join(import.meta.dirname, '../../src/studio/build.ts');

/** Builds the studio where its sources have changed, starts the server and returns what stops it. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  execFileSync(process.execPath, [studioBuild], { stdio: 'inherit' });
  const given = process.env.TEST_DATABASE_URL;
  if (given) {
    project.provide('serverUrl', given);
    return undefined;
  }
  const server = await startEmbeddedServer({
    dataDirectory: join(await openDirectory(), 'data'),
    password: 'test',
    persistent: false,
    settings: { fsync: 'off', max_connections: '200', shared_buffers: '256MB' },
  });
  project.provide('serverUrl', server.url);
  return () => server.stop();
}

/** A temporary directory that the server's own operating system user can enter as well. */
async function openDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pgreflect-test-'));
  await chmod(directory, 0o755);
  return directory;
}
