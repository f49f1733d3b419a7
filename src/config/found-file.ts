/** What a `pgreflect.toml` that was only found may not do: it may have come with a repository. */
import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';

/** How the operator allows it, for the end of a sentence. */
export function namesIt(fileName: string): string {
  return `if you trust the file, add --config ${fileName} (or set PGREFLECT_CONFIG)`;
}

/** Whether a file is below a folder, links resolved. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(realPath(folder), realPath(path));
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Of a file that does not exist: its name in the folder. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}
