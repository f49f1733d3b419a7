/** Facts about single values that decide what a statement is. */

/** Whether a string, or every string of a list, is within the limit in code points. */
export function fits(value: unknown, maxLength: number): boolean {
  if (Array.isArray(value)) return value.every((item) => fits(item, maxLength));
  if (typeof value !== 'string' || value.length <= maxLength) return true;
  // A code point is one or two characters. Long values may be asked about very often.
  if (value.length > 2 * maxLength) return false;
  let characters = 0;
  for (const _character of value) characters++;
  return characters <= maxLength;
}

/** Whether the JSON text is of an object or array. */
export function isNestedJson(value: unknown): boolean {
  return /^[ \t\n\r]*[{[]/.test(String(value));
}
