/**
 * Shows external text on one line. Object names are chosen by their creators. They may contain line breaks, which could
 * fake a line of our output, and terminal escape codes.
 */

/** Control characters, line separators, and characters that change the text's direction. */
export const unseen = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** The text with such characters escaped: `\u000a`. */
export function onOneLine(text: string): string {
  return text.replaceAll(unseen, escaped);
}

/** The same for a text of several lines, of Windows too, which may have tabs. */
export function inLines(text: string): string {
  return text.replaceAll(unseen, (character, at: number) =>
    '\n\t'.includes(character) || text.startsWith('\r\n', at) ? character : escaped(character),
  );
}

/** The same for lines of JSON, which escapes only some of these characters by itself. */
export function inJsonLines(text: string): string {
  return text.replaceAll(unseen, (character) => (character === '\n' ? character : escaped(character)));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const quoted = /"(?:[^"]|"")*"|'(?:[^']|'')*'/g;

/**
 * SQL for an operator to paste, with line breaks only where we put them. Null if a quoted name or text contains such
 * characters: raw, they could fake other lines, and escaped, they would change the meaning.
 */
export function pasteable(statement: string): string | null {
  const isPlain = (text: string) => onOneLine(text) === text;
  if (!(statement.match(quoted) ?? []).every(isPlain)) return null;
  return isPlain(statement.replaceAll('\n', ' ')) ? statement : null;
}
