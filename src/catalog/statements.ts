/**
 * The long fixed statements over the catalog, read once from `sql/` beside the source or the compiled code.
 *
 * They run in one transaction, in this order, and leave what the later ones need in settings of that transaction.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `$1`: names of namespaces, null for the login role's search path. Leaves the names to expose. */
export const exposedNamesStatement = statement('exposed-names.sql');
/** One column `watched`: the schema-change trigger is installed, enabled and its table readable. */
export const watchStatement = statement('watch-state.sql');
/** Columns `fingerprint`, `objects`, `memberships` and `snapshot`. Leaves the snapshot. Once it is there: no row where it is the newest. */
export const fingerprintStatement = statement('catalog-fingerprint.sql');
/** Column `committing`: transactions of the snapshot that other processes may not know of yet. */
export const settledStatement = statement('settled.sql');
/** Columns `catalog`, JSON text of rows (assemble-catalog.ts), and `torn`: something of it was gone before it had been read. */
export const catalogStatement = statement('catalog.sql');

function statement(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../sql/${file}`, import.meta.url)), 'utf8');
}
