/** Reads external JSON, which may be invalid. */

/** The value of the text; undefined for invalid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON value is an object: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Deepest nesting, because PostgreSQL and this process both recurse through it. */
const maxDepth = 100;

/** Whether PostgreSQL can store a JSON value: all strings, member names included, without NUL and lone surrogates. */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  if (depth >= maxDepth) return false;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member, depth + 1));
}
