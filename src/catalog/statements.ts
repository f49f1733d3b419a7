/**
 * The long fixed statements over the catalog, read once from `sql/` beside the source or the compiled code.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `$1`: names of the exposed namespaces. One column `catalog`, JSON text of rows (assemble-catalog.ts). */
export const catalogStatement = statement('catalog.sql');
/** `$1` … `$5`: role names, oids of namespaces, tables, routines, types. Columns `role` and `access`, JSON text. */
export const roleAccessStatement = statement('role-access.sql');
/** `$1`: names of the exposed namespaces. Columns `fingerprint` and `memberships`. */
export const fingerprintStatement = statement('catalog-fingerprint.sql');
/** One column `search_path`. */
export const loginSearchPathStatement = statement('login-search-path.sql');
/** One column `watched`: the schema-change trigger is installed, enabled and its table readable. */
export const watchStatement = statement('watch-state.sql');

function statement(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../sql/${file}`, import.meta.url)), 'utf8');
}
