/**
 * Metadata of users: free JSON objects of which clients change single members.
 */
import { AuthError } from './auth-error.ts';

/** A JSON object. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Lays `changes` over `old` at the top level; null deletes a member, nested objects are replaced. */
export function mergeMetadata(old: Metadata, changes: Metadata): Metadata {
  const entries = Object.entries({ ...old, ...changes });
  return Object.fromEntries(entries.filter(([key, value]) => value !== null || !Object.hasOwn(changes, key)));
}

/** Most that a user may have of each kind, as JSON in UTF-8: every token has both, and its request must fit `maxHeaderSize` of the HTTP server. */
const maxBytes = 16_384;

/** Refuses what is too much; less than `old` has is not. @throws AuthError `validation_failed` (422) */
export function assertModest(metadata: Metadata, old: Metadata = {}, what = 'Metadata of a user'): void {
  const bytes = bytesOf(metadata);
  if (bytes <= maxBytes || bytes < bytesOf(old)) return;
  const message = `${what} may have 16 kB of JSON at most; this would be ${Math.ceil(bytes / 1024)} kB.`;
  throw new AuthError('validation_failed', message, { status: 422 });
}

/** As `mergeMetadata`, of what people enter. @throws AuthError as `assertModest` */
export function enterMetadata(old: Metadata, changes: Metadata): Metadata {
  const entered = mergeMetadata(old, changes);
  assertModest(entered, old);
  return entered;
}

/** As `mergeMetadata`, where nobody is there to be refused: members for which there is no room are left out. */
export function mergeWhatFits(old: Metadata, changes: Metadata): Metadata {
  const kept = Object.fromEntries(Object.entries(old).filter(([name]) => !Object.hasOwn(changes, name)));
  let room = maxBytes - bytesOf(kept);
  const fitting = Object.entries(changes).filter(([name, value]) => {
    const bytes = bytesOf({ [name]: value });
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  return mergeMetadata(kept, Object.fromEntries(fitting));
}

/** Of its JSON in UTF-8. */
export function bytesOf(metadata: Metadata): number {
  return Buffer.byteLength(JSON.stringify(metadata));
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
