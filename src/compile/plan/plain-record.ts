/**
 * Objects that hold values by key and nothing else.
 *
 * Used by input-coercer.ts and document-variables.ts (make them) and decisions.ts (compares them).
 */

/** An object without methods, which engines do not keep as a hash table, as they do what `Object.create(null)` makes. */
export const PlainRecord = function PlainRecord() {} as unknown as new () => Record<string, unknown>;
PlainRecord.prototype = Object.freeze(Object.create(null));

/** Whether two lists of keys are the same, in the same order. */
export function haveSameKeys(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}
