/** Reads files of the package: statements in `sql/` and examples. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Root of the package; the same relative path from source and compiled code. */
const root = new URL('../../../', import.meta.url);

/** Text of a file of the package, for example `examples/shop/schema.sql`. */
export function readPackageFile(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** Path of an example in the package, for `examples/…` as in a checkout; null if there is none. */
export function findExample(path: string): string | null {
  if (!path.startsWith('examples/')) return null;
  const file = new URL(path, root);
  return file.href.startsWith(new URL('examples/', root).href) && existsSync(file) ? fileURLToPath(file) : null;
}

/** The example's operations, in order of their file names. */
export function readExampleOperations(): readonly string[] {
  const directory = 'examples/shop/queries/';
  const names = readdirSync(new URL(directory, root)).filter((name) => name.endsWith('.graphql'));
  return names.sort().map((name) => readPackageFile(`${directory}${name}`));
}
