/**
 * The values of an answer without the names of its fields, which each server chooses in its own way.
 */

/** Values in document order, without cursors and trailing zeros of seconds, which each server writes in its own way. */
export function leaves(value: unknown): unknown[] {
  if (typeof value === 'string') return [value.replace(/(:\d\d)\.0+(?=\+)/, '$1')];
  if (value === null || typeof value !== 'object') return [value];
  return Object.entries(value)
    .filter(([key]) => key !== 'endCursor')
    .flatMap(([, inner]) => leaves(inner));
}
