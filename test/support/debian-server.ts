/**
 * The newest minor release of PostgreSQL that the Debian of this machine has, for what only such a release does. It runs
 * from the files of its package, which is not installed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findFreePort } from './free-port.ts';

/** A server that runs. */
export interface DebianServer {
  /** Such as `15.20-0+deb12u1`. */
  readonly version: string;
  readonly url: string;
  stop(): Promise<void>;
}

/** Whether this machine has Debian's packages. */
export function hasDebianPackages(): boolean {
  try {
    execFileSync('apt-get', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Downloads it and starts it. */
export async function startDebianServer(): Promise<DebianServer> {
  const home = mkdtempSync(join(tmpdir(), 'pgreflect-debian-'));
  // Open, because the server runs as another user of the operating system where we are root.
  chmodSync(home, 0o755);
  const major = newestMajor();
  execFileSync('apt-get', ['download', `postgresql-${major}`], { cwd: home, stdio: 'ignore' });
  const [file = ''] = readdirSync(home);
  execFileSync('dpkg', ['-x', file, 'root'], { cwd: home });
  const programs = join(home, 'root/usr/lib/postgresql', major, 'bin');
  const user = userOfServer();
  const data = mkdtempSync(join(home, 'data-'));
  if (user !== null) chownSync(data, user.uid, user.gid);
  const options = { ...user, stdio: 'ignore' } as const;
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    options,
  );
  const port = await findFreePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=200'];
  const given = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(programs, 'postgres'), given, options);
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url);
  return {
    version: file.split('_')[1] ?? '',
    url,
    async stop() {
      const over = once(server, 'exit');
      server.kill('SIGINT');
      await over;
      rmSync(home, { recursive: true });
    },
  };
}

async function untilReady(url: string): Promise<void> {
  for (let attempts = 300; ; attempts -= 1) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (attempts === 0) throw error;
      await sleep(100);
    }
  }
}

/** The major that the package `postgresql` stands for. */
function newestMajor(): string {
  const shown = execFileSync('apt-cache', ['depends', 'postgresql'], { encoding: 'utf8' });
  const [, major] = /Depends: postgresql-(\d+)/.exec(shown) ?? [];
  if (major === undefined) throw new Error('The package postgresql depends on no server.');
  return major;
}

/** PostgreSQL refuses to run as root. Null: we are not. */
function userOfServer(): { readonly uid: number; readonly gid: number } | null {
  if (userInfo().uid !== 0) return null;
  const id = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
