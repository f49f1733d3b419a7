/** Reads the long, fixed statements of `sql/`, at the same relative path for source and compiled code. */
import { readdirSync, readFileSync } from 'node:fs';

const directory = new URL('../../../sql/', import.meta.url);

/** Text of a file of `sql/`, for example `auth/user.sql`, with those that it includes. Call it once, at module load. */
export function loadSqlFile(name: string): string {
  const text = readFileSync(new URL(name, directory), 'utf8');
  return text.replaceAll(/^-- include (.+)$/gm, (_line, part: string) => loadSqlFile(part));
}

/** Names of the files of a folder of `sql/`, sorted; for example `auth` -> `['0001-tables.sql', …]`. */
export function listSqlFiles(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, directory))
    .filter((name) => name.endsWith('.sql'))
    .sort();
}
