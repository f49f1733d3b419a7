/**
 * How a shell calls this very program for the project of a directory, so that a printed command works by paste: `npx
 * pgreflect` and `npm start` put no `pgreflect` on the path of other shells.
 */
import { realpathSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoteForShell } from '../../shared/quote-for-shell.ts';

const launcher = fileURLToPath(new URL('../../../bin/pgreflect.js', import.meta.url));

/** What a command begins with: `cd /home/ada/shop && npx pgreflect`. @param path The variable `PATH` of this process. */
export function shellCall(directory: string, path = ''): string {
  return `cd ${word(directory)} && ${programCall(directory, path)}`;
}

/** The same in a shell that is in the directory: `npx pgreflect`. */
export function programCall(directory: string, path = ''): string {
  // npm and npx add such folders for what they run.
  const places = path.split(delimiter).filter((place) => place !== '' && !/node_modules[\\/]\.bin[\\/]?$/.test(place));
  // The first that is found runs.
  const found = places.map((place) => realPath(join(place, 'pgreflect'))).find((program) => program !== null);
  if (found === realPath(launcher)) return 'pgreflect';
  if (realPath(join(directory, 'node_modules', '.bin', 'pgreflect')) === realPath(launcher)) return 'npx pgreflect';
  const inside = relative(directory, launcher);
  return `node ${word(inside.startsWith('..') ? launcher : inside)}`;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function word(text: string): string {
  return /^[\w./@+-]+$/.test(text) ? text : quoteForShell(text);
}
