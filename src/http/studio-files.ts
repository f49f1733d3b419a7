/**
 * The built studio in dist/studio: a fixed set of files, read and compressed when they are first asked for.
 *
 * A request chooses among the names that were there when the first one came; no path of a client ever reaches the file
 * system.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file as it is sent. */
export interface StudioFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

/** The files. */
export interface StudioFiles {
  /** By its path below `/studio/`; null where there is none. */
  find(path: string): Promise<StudioFile | null>;
}

/** The same from src/http and from dist/http. */
const directory = fileURLToPath(new URL('../../dist/studio/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};

/** The files of the package. */
export function createStudioFiles(): StudioFiles {
  let names: Promise<ReadonlySet<string>> | null = null;
  const files = new Map<string, Promise<StudioFile>>();
  return {
    async find(path) {
      names ??= listNames();
      if ((await names).has(path)) {
        const file = files.get(path) ?? read(path);
        files.set(path, file);
        const found = await file.catch(ignoreMissing);
        if (found !== null) return found;
      }
      // Built again meanwhile, or not built yet: the next request looks again.
      if (path === 'index.html' || files.has(path)) {
        names = null;
        files.clear();
      }
      return null;
    },
  };
}

async function listNames(): Promise<ReadonlySet<string>> {
  const found = await readdir(directory, { recursive: true }).catch(ignoreMissing);
  const names = (found ?? []).map((name) => name.replaceAll('\\', '/'));
  return new Set(names.filter((name) => extname(name) in types));
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function read(path: string): Promise<StudioFile> {
  const bytes = await readFile(join(directory, path));
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`;
  return { type: types[extname(path)]!, bytes, gzipped: await promisify(gzip)(bytes), etag };
}
