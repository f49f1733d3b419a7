/**
 * The operating system's user that the embedded server runs as: ourselves, or `postgres` where we are root, because
 * PostgreSQL refuses to run as root. And which places that user can reach.
 */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A user by number. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** The user to run as; null = ourselves. As root, makes the user `postgres` where it is missing. */
export async function findServerUser(): Promise<ServerUser | null> {
  if (process.getuid?.() !== 0) return null;
  const known = await lookUp();
  if (known) return known;
  await makeUser();
  const made = await lookUp();
  if (made) return made;
  throw new Error('The operating system user "postgres" could not be made. Make it, or run as an ordinary user.');
}

/** True where `user` can enter the directory and all those above it. */
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

/** The commands of Debian, Red Hat and their relatives, then those of BusyBox. */
async function makeUser(): Promise<void> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  } catch {
    await run('adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', 'postgres']).catch(() => {});
  }
}
