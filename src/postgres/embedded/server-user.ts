/**
 * The operating system's user of the embedded server: ours, or `postgres` if we are root, because PostgreSQL refuses to
 * run as root. Also checks which directories that user can reach.
 */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A user by id. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** The user to run as; null = ours. As root, creates the user `postgres` if missing. */
export async function findServerUser(): Promise<ServerUser | null> {
  if (process.getuid?.() !== 0) return null;
  const known = await lookUp();
  if (known) return known;
  await makeUser();
  const made = await lookUp();
  if (made) return made;
  throw new Error('The operating system user "postgres" could not be made. Make it, or run as an ordinary user.');
}

/** True if `user` can enter the directory and all its parents. */
export async function canEnter(directory: string, user: ServerUser): Promise<boolean> {
  for (let place = directory; ; place = dirname(place)) {
    const { mode, uid, gid } = await stat(place);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (place === dirname(place)) return true;
  }
}

async function lookUp(): Promise<ServerUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

/** Tries the commands of Debian and Red Hat systems, then those of BusyBox. */
async function makeUser(): Promise<void> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  } catch {
    await run('adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', 'postgres']).catch(() => {});
  }
}
