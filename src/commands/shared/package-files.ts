/**
 * Reads files of the package: statements in `sql/` and examples.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Root of the package; the same relative path from source and compiled code. */
const root = new URL('../../../', import.meta.url);

/** Text of a file of the package, for example `examples/shop/schema.sql`. */
export function readPackageFile(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** The example's operations, in order of their file names. */
export function readExampleOperations(): readonly string[] {
  const directory = 'examples/shop/queries/';
  const names = readdirSync(new URL(directory, root)).filter((name) => name.endsWith('.graphql'));
  return names.sort().map((name) => readPackageFile(`${directory}${name}`));
}
