/**
 * The embedded server's data directory: its location, its checks, and its creation.
 *
 * Guarantees: a directory is complete or absent (a killed start leaves nothing that looks like data), and two servers
 * never use the same one.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { chown, mkdir, mkdtemp, realpath, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { EmbeddedBinaries } from './embedded-binaries.ts';
import { EmbeddedServerError } from './embedded-server-error.ts';
import { canEnter, type ServerUser } from './server-user.ts';

/** Location of the data if the server's user cannot reach the requested one. */
const elsewhere = '/var/lib/pgreflect';

/**
 * The directory to use for `requested`, which need not exist yet.
 *
 * If we are root and the server's user cannot enter the parent directories (a checkout in root's home), the data is
 * under `/var/lib/pgreflect` and `requested` becomes a link to it. Deleting the link still starts afresh.
 */
export async function locateData(
  requested: string,
  user: ServerUser | null,
  log: (line: string) => void,
): Promise<string> {
  const wanted = resolve(requested);
  await mkdir(dirname(wanted), { recursive: true });
  const parent = await realpath(dirname(wanted));
  const direct = join(parent, basename(wanted));
  const link = lstatSync(direct, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  if (link && existsSync(direct)) return realpath(direct);
  if (link) await rm(direct);
  if (user === null || (await canEnter(parent, user))) return direct;
  if (existsSync(direct)) {
    throw new EmbeddedServerError(`The user "postgres" cannot enter "${parent}".`, {
      hint: `Move "${direct}" to a directory that user can read, run as a regular user, or run chmod o+x on "${parent}" and the directories above.`,
    });
  }
  await mkdir(elsewhere, { recursive: true, mode: 0o755 });
  const real = join(elsewhere, `data-${randomBytes(6).toString('hex')}`);
  await symlink(real, direct);
  log(`The user "postgres" cannot enter ${parent}; the data is in ${real}.`);
  return real;
}

/** Waits for a stopping server, removes the lock file of an ended one. @throws EmbeddedServerError if one runs. */
export async function awaitUnused(directory: string): Promise<void> {
  const patienceUntil = performance.now() + 15_000;
  for (let round = 0; ; round += 1) {
    const owner = readOwner(directory);
    if (owner === null || !isAlive(owner.pid)) return;
    if (!isServerOf(owner.pid, directory)) {
      // After a reboot, another process may have that process id; PostgreSQL would refuse to start.
      await rm(join(directory, 'postmaster.pid'), { force: true });
      return;
    }
    const mayEnd = round < 20 || owner.status === 'stopping';
    if (!mayEnd || performance.now() > patienceUntil) {
      throw new EmbeddedServerError(`Another PostgreSQL (process ${owner.pid}) uses "${directory}".`, {
        hint: `Stop the other pgreflect first. If none is running, stop the server: kill -INT ${owner.pid}`,
      });
    }
    await sleep(100);
  }
}

/** Removes the data of `requested`, wherever it is. @throws EmbeddedServerError `in_use` if a server runs there. */
export async function removeData(requested: string): Promise<void> {
  if (!existsSync(requested)) return;
  const directory = await realpath(requested);
  await awaitUnused(directory);
  for (const path of [directory, requested]) await rm(path, { recursive: true, force: true });
}

/** Creates the cluster if there is none. @throws EmbeddedServerError for another major version; log's last line. */
export async function initializeData(
  directory: string,
  password: string,
  binaries: EmbeddedBinaries,
  user: ServerUser | null,
): Promise<void> {
  if (existsSync(join(directory, 'PG_VERSION'))) {
    assertMajor(directory, binaries.major);
    return;
  }
  const staging = `${directory}.new`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  const secrets = await mkdtemp(join(tmpdir(), 'pgreflect-'));
  const passwordFile = join(secrets, 'password');
  try {
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    if (user) for (const path of [staging, secrets, passwordFile]) await chown(path, user.uid, user.gid);
    await runInitdb(binaries.initdb, staging, passwordFile, user);
  } finally {
    await rm(secrets, { recursive: true, force: true });
  }
  if (existsSync(directory)) await removeEmpty(directory);
  await rename(staging, directory);
}

/** The environment of the server's programs. It leaves out ours, whose secrets SQL functions could read. */
export function serverEnvironment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', ...(process.env.TZ ? { TZ: process.env.TZ } : {}) };
}

async function runInitdb(initdb: string, directory: string, passwordFile: string, user: ServerUser | null) {
  const options = [
    `--pgdata=${directory}`, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256',
    // PostgreSQL's built-in locale provider sorts and folds alike on every operating system.
    '--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--no-instructions',
  ]; // biome-ignore format: pairs
  try {
    await promisify(execFile)(initdb, options, { ...(user ?? {}), cwd: '/', env: serverEnvironment() });
  } catch (cause) {
    const { stderr, message } = cause as Error & { readonly stderr?: string };
    throw new EmbeddedServerError(`The database could not be made: ${(stderr || message).trim().split('\n').at(-1)}`, {
      hint: `Check the permissions and free space of "${directory}".`,
      cause,
    });
  }
}

function assertMajor(directory: string, major: number): void {
  const found = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim();
  if (found === String(major)) return;
  throw new EmbeddedServerError(`"${directory}" was made by PostgreSQL ${found}, this is ${major}.`, {
    hint:
      'Start it with the pgreflect that made it and dump it: pg_dump --format=custom --file=old.dump DATABASE_URL. ' +
      `Move "${directory}" away, start again, then: pg_restore --clean --if-exists --dbname=DATABASE_URL old.dump`,
  });
}

async function removeEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (problem) {
    throw new EmbeddedServerError(`"${directory}" is not empty and not the data of a PostgreSQL.`, {
      hint: 'Choose another directory, or empty this one.',
      cause: problem,
    });
  }
}

/** Process id and state from the lock file, which exists while the server runs. */
function readOwner(directory: string): { readonly pid: number; readonly status: string } | null {
  try {
    const lines = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n');
    const pid = Number.parseInt(lines[0] ?? '', 10);
    return Number.isInteger(pid) && pid > 0 ? { pid, status: (lines[7] ?? '').trim() } : null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (problem) {
    return (problem as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the process is this directory's server, by its working directory; any, if that cannot be read. */
function isServerOf(pid: number, directory: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === directory;
  } catch (problem) {
    const { code } = problem as NodeJS.ErrnoException;
    return code === 'EACCES' || process.platform !== 'linux';
  }
}
