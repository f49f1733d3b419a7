/**
 * A server of the PostgreSQL that the system has, with the programs that come with it: `psql` and `pg_dump` fit their own server, and
 * the embedded one has none.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findServerUser } from '../../src/postgres/embedded/server-user.ts';
import { findFreePort } from '../support/free-port.ts';
import { scratch } from '../support/scratch.ts';
import { atEnd } from '../support/when-over.ts';

/** The folder of the programs. @throws Error with what to install */
export function systemPrograms(): string {
  const [program] = globSync('/usr/lib/postgresql/*/bin/initdb').sort().reverse();
  if (program === undefined) throw new Error('PostgreSQL is not installed. Install it: apt-get install postgresql');
  return join(program, '..');
}

/** Starts one with the superuser `postgres`, password `test`; it ends after the tests of the file. @returns Its connection string */
export async function startSystemServer(): Promise<string> {
  const programs = systemPrograms();
  const directory = mkdtempSync(join(scratch, 'pgreflect-system-'));
  const data = join(directory, 'data');
  const password = join(directory, 'password');
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(password, 'test\n');
  const user = await findServerUser();
  if (user !== null) for (const path of [directory, data, password]) chownSync(path, user.uid, user.gid);
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(programs, program), args, {
      ...(user ?? {}),
      cwd: '/',
      stdio: 'ignore',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    });
  run('initdb', [
    '--pgdata',
    data,
    '--username=postgres',
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-sync',
  ]);
  const port = await findFreePort();
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
  run('pg_ctl', ['start', '--wait', '--pgdata', data, '--log', join(directory, 'log'), '--options', settings]);
  atEnd(() => {
    run('pg_ctl', ['stop', '--wait', '--mode', 'fast', '--pgdata', data]);
    rmSync(directory, { recursive: true, force: true });
  });
  return `postgresql://postgres:test@127.0.0.1:${port}/postgres`;
}
