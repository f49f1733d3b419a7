/**
 * Limits of objects to insert that lack keys of each other. Each column travels with an element for each object, so a small request
 * of many objects, one of them with all keys, would become a very large one; and objects that lack different columns with
 * defaults are inserts of their own, in one text.
 *
 * Used by decisions.ts and plan-write.ts.
 */
import { PublicError } from '../../shared/errors.ts';

/** Values that objects may lack, however few they have: some megabytes. */
const alwaysLacking = 1_000_000;
/** And as many more for each value that they have, so that what may be lacking grows with the request. */
const lackingForEach = 16;
/** Most columns in all inserts of one statement: half a megabyte of text. */
const mostColumns = 10_000;

/** Whether objects that have so many values lack too many others; `keys` are those that any of them has. */
export function areSparse(counts: {
  readonly objects: number;
  readonly keys: number;
  readonly values: number;
}): boolean {
  return counts.objects * counts.keys - counts.values > alwaysLacking + lackingForEach * counts.values;
}

/** The error for objects that are sparse. */
export function refuseSparse(): PublicError {
  return new PublicError('LIMIT_EXCEEDED', 'The objects lack too many of the keys that others of them have.', {
    extensions: { limit: 'keys' },
  });
}

/** @throws PublicError Where so many inserts of so many columns would be too long a statement. */
export function assertFewInserts(inserts: number, columns: number): void {
  if (inserts <= 1 || inserts * columns <= mostColumns) return;
  const message = `The objects lack too many different keys: they need ${inserts} inserts of ${columns} columns.`;
  throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'keys' } });
}
