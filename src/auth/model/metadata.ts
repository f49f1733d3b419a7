/** Metadata of users: JSON objects whose fields clients change one by one. */
import { AuthError } from './auth-error.ts';

/** A JSON object. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Merges `changes` into `old` at the top level; null deletes a field, nested objects are replaced. */
export function mergeMetadata(old: Metadata, changes: Metadata): Metadata {
  const entries = Object.entries({ ...old, ...changes });
  return Object.fromEntries(entries.filter(([key, value]) => value !== null || !Object.hasOwn(changes, key)));
}

/**
 * Largest size of each kind of metadata of a user, as JSON in UTF-8. Every token contains both kinds, and requests with
 * it must fit `maxHeaderSize` of the HTTP server.
 */
const maxBytes = 16_384;

/** Refuses metadata over the limit, unless it is smaller than `old`. @throws AuthError `validation_failed` (422) */
export function assertModest(metadata: Metadata, old: Metadata = {}, what = 'Metadata of a user'): void {
  const bytes = metadataBytes(metadata);
  if (bytes <= maxBytes || bytes < metadataBytes(old)) return;
  const message = `${what} may have 16 kB of JSON at most; this would be ${Math.ceil(bytes / 1024)} kB.`;
  throw new AuthError('validation_failed', message, { status: 422 });
}

/** As `mergeMetadata`, for metadata of a request. @throws AuthError as `assertModest` */
export function enterMetadata(old: Metadata, changes: Metadata): Metadata {
  const entered = mergeMetadata(old, changes);
  assertModest(entered, old);
  return entered;
}

/** As `mergeMetadata`, for changes that no client can be refused for: leaves out fields over the limit. */
export function mergeWhatFits(old: Metadata, changes: Metadata): Metadata {
  const kept = Object.fromEntries(Object.entries(old).filter(([name]) => !Object.hasOwn(changes, name)));
  return mergeMetadata(kept, keepWhatFits(changes, kept));
}

/** The fields that fit beside the others. */
export function keepWhatFits(fields: Metadata, others: Metadata): Metadata {
  let room = maxBytes - metadataBytes(others);
  const fitting = Object.entries(fields).filter(([name, value]) => {
    const bytes = metadataBytes({ [name]: value });
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  return Object.fromEntries(fitting);
}

/** Size of its JSON in UTF-8. */
export function metadataBytes(metadata: Metadata): number {
  return Buffer.byteLength(JSON.stringify(metadata));
}
