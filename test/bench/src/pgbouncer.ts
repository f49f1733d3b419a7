/**
 * Starts PgBouncer in transaction mode in front of a PostgreSQL, where it is installed.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findFreePort } from '../../../src/postgres/embedded/embedded-server.ts';
import { findServerUser } from '../../../src/postgres/embedded/server-user.ts';
import { startTarget } from './processes.ts';

/** A pooler that listens. */
export interface PgBouncer {
  /** Connection string of the same login and database, through the pooler. */
  readonly url: string;
  readonly pid: number;
  /** As `1.18.0`. */
  readonly version: string;
  /** From 1.21 on it keeps prepared statements that clients name. */
  readonly keepsStatements: boolean;
  stop(): Promise<void>;
}

/** Where distributions put servers is not on everybody's path. */
const path = [process.env.PATH, '/usr/sbin', '/usr/local/sbin'].join(delimiter);

/** Starts it with so many connections to the server, and with further settings; null where it is not installed. */
export async function startPgBouncer(
  databaseUrl: string,
  poolSize: number,
  more: Settings = {},
): Promise<PgBouncer | null> {
  const version = findVersion();
  if (version === null) return null;
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-pgbouncer-'));
  // Open, because it refuses to run as root.
  chmodSync(directory, 0o755);
  const url = new URL(databaseUrl);
  const port = await findFreePort();
  const keepsStatements = isAtLeast(version, [1, 21]);
  const users = join(directory, 'users.txt');
  writeFileSync(users, `"${url.username}" "${decodeURIComponent(url.password)}"\n`);
  const config = join(directory, 'pgbouncer.ini');
  writeFileSync(config, printConfig({ url, port, users, poolSize, keepsStatements, more }));
  const removeFiles = () => rmSync(directory, { recursive: true, force: true });
  try {
    const { pid, stop } = await startTarget({
      name: 'pgbouncer',
      program: 'pgbouncer',
      user: await findServerUser(),
      arguments: [config],
      env: { PATH: path },
      port: /listening on 127\.0\.0\.1:(\d+)/,
    });
    url.port = String(port);
    return { url: url.href, pid, version, keepsStatements, stop: () => stop().finally(removeFiles) };
  } catch (problem) {
    removeFiles();
    throw problem;
  }
}

function findVersion(): string | null {
  const found = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8', env: { ...process.env, PATH: path } });
  return /PgBouncer (\d+\.\d+\.\d+)/i.exec(found.stdout ?? '')?.[1] ?? null;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [given = 0, second = 0] = version.split('.').map(Number);
  return given > major || (given === major && second >= minor);
}

/** Of `[pgbouncer]`. */
type Settings = Readonly<Record<string, string | number>>;

interface Config {
  readonly url: URL;
  readonly port: number;
  /** File of names and passwords. */
  readonly users: string;
  readonly poolSize: number;
  readonly keepsStatements: boolean;
  readonly more: Settings;
}

function printConfig({ url, port, users, poolSize, keepsStatements, more }: Config): string {
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: users,
    pool_mode: 'transaction',
    default_pool_size: poolSize,
    max_client_conn: 200,
    log_connections: 0,
    log_disconnections: 0,
    log_stats: 0,
    ...(keepsStatements ? { max_prepared_statements: 200 } : {}),
    ...more,
  };
  const database = url.pathname.slice(1);
  return [
    '[databases]',
    `${database} = host=${url.hostname} port=${url.port} dbname=${database}`,
    '[pgbouncer]',
    ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    '',
  ].join('\n');
}
