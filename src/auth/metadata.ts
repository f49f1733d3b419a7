/**
 * Metadata of users: free JSON objects of which clients change single members.
 */

/** A JSON object. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Lays `changes` over `old` at the top level; null deletes a member, nested objects are replaced. */
export function mergeMetadata(old: Metadata, changes: Metadata): Metadata {
  const entries = Object.entries({ ...old, ...changes });
  return Object.fromEntries(entries.filter(([key, value]) => value !== null || !Object.hasOwn(changes, key)));
}

/** Deepest nesting of metadata; PostgreSQL and we both have to walk through it. */
const maxDepth = 100;

/** Whether all texts of a JSON value, names of members included, are without NUL and without halves of characters. */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= maxDepth) return false;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member, depth + 1));
}
