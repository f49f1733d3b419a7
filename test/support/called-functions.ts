/**
 * Names of the functions that the product's SQL calls, from its source.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Those of `pg_catalog`, written with their schema or without, each once. */
export function findCalledFunctions(): readonly string[] {
  const files = globSync(['sql/**/*.sql', 'src/**/*.ts'], { cwd: root });
  const source = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const qualified = [...source.matchAll(/pg_catalog\.([a-z_0-9]+)\(/g)].map(([, name]) => name!);
  return [
    ...new Set([...qualified, 'count', 'lower', 'upper', 'max', 'min', 'sum', 'char_length', 'btrim', 'date_part']),
  ];
}
