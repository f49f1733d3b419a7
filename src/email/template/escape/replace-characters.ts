/**
 * Replaces single characters of a text; texts without any are returned as they are.
 */

/** @param pattern Global, matches one character at a time. */
export function replaceCharacters(text: string, pattern: RegExp, replace: (character: string) => string): string {
  return text.search(pattern) < 0 ? text : text.replace(pattern, replace);
}
