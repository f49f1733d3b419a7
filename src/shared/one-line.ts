/**
 * Text of others, shown to people on one line. Names of the database are chosen by whoever made the object, and may hold line breaks,
 * with which they would pass for lines of ours, and what a terminal obeys.
 */

/** Control characters, other ends of lines, and what turns the direction of writing. */
const unseen = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The text with such characters written out: `\u000a`. */
export function onOneLine(text: string): string {
  return text.replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const quoted = /"(?:[^"]|"")*"|'(?:[^']|'')*'/g;

/**
 * SQL for a person to paste, of several lines where we made it so; null where a quoted name or text in it has such characters: as it
 * is, it would pass for other lines, and written out it would mean something else.
 */
export function pasteable(statement: string): string | null {
  const isPlain = (text: string) => onOneLine(text) === text;
  if (!(statement.match(quoted) ?? []).every(isPlain)) return null;
  return isPlain(statement.replaceAll('\n', ' ')) ? statement : null;
}
