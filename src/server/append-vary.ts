/** Adds names to a `Vary` header. */

/** @param given The header so far. */
export function appendVary(given: unknown, name: string): string {
  return typeof given === 'string' && given !== '' ? `${given}, ${name}` : name;
}
