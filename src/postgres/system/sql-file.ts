/**
 * Reads the long fixed statements of `sql/`, which lie beside the source and beside the compiled code alike.
 */
import { readdirSync, readFileSync } from 'node:fs';

const directory = new URL('../../../sql/', import.meta.url);

/** Text of a file of `sql/`, for example `auth/user.sql`. Read it once, when the module that needs it is loaded. */
export function loadSqlFile(name: string): string {
  return readFileSync(new URL(name, directory), 'utf8');
}

/** Names of the files of a folder of `sql/`, sorted; for example `auth` -> `['0001-tables.sql', …]`. */
export function listSqlFiles(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, directory))
    .filter((name) => name.endsWith('.sql'))
    .sort();
}
