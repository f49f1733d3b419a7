/**
 * Defaults that may be computed before a row is inserted, so that its key is known without reading it back (extension `writes`,
 * docs/row-security.md): the next number of the column's own sequence, and random UUIDs.
 */
import type { CatalogColumn, RoleAccess } from '../../catalog/catalog.ts';
import { quotePath } from '../../catalog/quote-name.ts';

/** What computes it, without arguments other than the sequence. */
export interface EarlyDefault {
  readonly kind: 'sequence' | 'function';
  /** Of the sequence, quoted and with its schema; of the function, which is PostgreSQL's own. */
  readonly name: string;
}

/**
 * The default of a column; null: only PostgreSQL can compute it, or the role cannot.
 *
 * @param namespace Name of the table's, which the sequence is in.
 */
export function earlyDefault(
  { attrelid, attnum, sequence, defaultFunction }: CatalogColumn,
  namespace: string,
  access: RoleAccess,
): EarlyDefault | null {
  // The insert then names the column.
  if (!access.hasColumn(attrelid, attnum, 'insert')) return null;
  if (defaultFunction !== null) return { kind: 'function', name: defaultFunction };
  // An identity column draws its numbers whatever the grants on the sequence.
  if (sequence === null || !access.drawsNumbers(attrelid, attnum)) return null;
  return { kind: 'sequence', name: quotePath(namespace, sequence) };
}
