/**
 * Reads src/ as text for the convention tests: every TypeScript file with its folder, its imports and its lines.
 *
 * Text patterns are enough, because the formatter fixes the layout: a declaration starts at column 0, a function ends at
 * a brace in the column where it began.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout's root directory. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** One import, re-export or dynamic import. */
interface Import {
  /** As written. */
  readonly specifier: string;
  /** Path from the root for one of our files, else null. */
  readonly file: string | null;
  /** `@scope/name` or `name` of a package, `node:…` for a built-in module, null for one of our files. */
  readonly package: string | null;
  /** Erased before the program runs: `import type …` and `export type … from`. */
  readonly typeOnly: boolean;
  /** `import('…')`: loaded when the program gets there. */
  readonly isDynamic: boolean;
}

/** A file of src/. */
export interface SourceFile {
  /** From the root, with slashes: `src/graphql/compile/sql/sql.ts`. */
  readonly path: string;
  /** The room, `graphql/compile` or `auth`, or the file's own name (`main.ts`) directly under src/. */
  readonly folder: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly imports: readonly Import[];
}

/** All files below a directory of the checkout whose name ends so, as paths from the root. */
export function listFiles(directory: string, ending: string): string[] {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split('\\').join('/'))
    .filter((path) => !path.includes('node_modules/'))
    .sort();
}

/** Every TypeScript file of src/ but the studio, which is a program of its own. */
export function readSources(): SourceFile[] {
  const paths = listFiles('src', '.ts').filter((path) => !path.startsWith('src/studio/app/'));
  return paths.map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return { path, folder: roomOf(path), text, lines: text.split('\n'), imports: findImports(path, text) };
  });
}

/** The room of a file, from its path. */
export function roomOf(path: string): string {
  const [, first = path, second = ''] = path.split('/');
  return first === 'graphql' && !second.endsWith('.ts') ? `${first}/${second}` : first;
}

const importPattern =
  /^(?:import|export)\s+(?<type>type\s+)?[^'";]*?from\s+'(?<from>[^']+)'|^import\s+'(?<bare>[^']+)'|\bimport\('(?<dynamic>[^']+)'\)/gm;

function findImports(path: string, text: string): Import[] {
  return [...withoutBlockComments(text).matchAll(importPattern)].map(({ groups = {} }) => {
    const specifier = groups.from ?? groups.bare ?? groups.dynamic ?? '';
    const ours = specifier.startsWith('.');
    return {
      specifier,
      file: ours ? posix.join(posix.dirname(path), specifier) : null,
      package: ours ? null : packageOf(specifier),
      typeOnly: groups.type !== undefined,
      isDynamic: groups.dynamic !== undefined,
    };
  });
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The text with block comments blanked; lines keep their numbers. A `/*` within a word is no comment: `'/assets/*'`. */
export function withoutBlockComments(text: string): string {
  return text.replace(/(?<!\S)\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '));
}
