/**
 * A database as a hosted Supabase project has it: owners and rights of Supabase, `postgres` without a superuser's, the migrations of a
 * project (project/), and a hundred users. On a server of its own, because roles belong to a server.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { loadSqlFile } from '../../src/postgres/system/sql-file.ts';
import { startServer } from '../support/own-server.ts';
import { fixture } from '../support/postgres.ts';
import { scratch } from '../support/scratch.ts';
import { atEnd } from '../support/when-over.ts';
import { applyFolder } from './apply-folder.ts';

/** A server of the tests' own. */
export interface OwnServer {
  /** A connection string. Passwords are `test`. */
  urlAs(role: string, database?: string): string;
  /** Runs SQL as its superuser. */
  query(role: string, text: string): Promise<readonly Record<string, unknown>[]>;
}

/** The project as its repository has it. */
export const projectFolder = join(import.meta.dirname, 'project');

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

/** A server without anything, embedded unless another one was started. Ends after the tests of the file. */
export async function startOwnServer(start: () => Promise<string> = () => startEmbedded()): Promise<OwnServer> {
  const url = await start();
  const urlAs = (role: string, database = 'postgres') =>
    Object.assign(new URL(url), { username: role, password: 'test', pathname: `/${database}` }).href;
  return {
    urlAs,
    async query(role, text) {
      const client = new pg.Client({ connectionString: urlAs(role) });
      await client.connect();
      const result = (await client.query(text).finally(() => client.end())) as unknown as { rows: [] } | { rows: [] }[];
      return (Array.isArray(result) ? result.at(-1)! : result).rows;
    },
  };
}

/** The embedded one, with these settings beside the usual ones. @returns Its superuser's connection string. */
export async function startEmbedded(more: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = mkdtempSync(join(scratch, 'pgreflect-move-'));
  chmodSync(directory, 0o755);
  const server = await startServer({
    dataDirectory: join(directory, 'data'),
    persistent: false,
    settings: { fsync: 'off', full_page_writes: 'off', autovacuum: 'off', ...more },
  });
  atEnd(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return server.url;
}

/** The hosted project. */
export async function startHostedProject(start?: () => Promise<string>): Promise<OwnServer> {
  const server = await startOwnServer(start);
  await server.query('postgres', `create role supabase_admin superuser login password 'test'`);
  const asAdmin = (text: string) => server.query('supabase_admin', text);
  await asAdmin(`alter role postgres rename to bootstrap; alter role bootstrap nologin`);
  await asAdmin(read('hosted.sql'));
  const [original = ''] = fixture('auth-original.sql').split('-- Ana signed up');
  await asAdmin(original);
  for (const part of ['storage', 'realtime', 'cron', 'net', 'vault'])
    await asAdmin(loadSqlFile(`supabase/${part}.sql`));
  await asAdmin(read('hosted-owners.sql'));
  const { failed } = await applyFolder(server.urlAs('postgres'), join(projectFolder, 'supabase/migrations'));
  if (failed.length > 0) throw new Error(JSON.stringify(failed, null, 2));
  await asAdmin('revoke supabase_storage_admin, supabase_realtime_admin from postgres');
  await asAdmin(`set search_path = public, extensions; ${read('people.sql')}`);
  return server;
}
