/** Go's quoting of texts and characters, and its idea of what can be printed. */

const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
const toEscape = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;
const toEscapeInAscii = /["\\]|[^\x20-\x7e]/gu;
const shortEscapes: Readonly<Record<string, string>> = {
  '\x07': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v', '\\': '\\\\',
}; // biome-ignore format: a table

/** Whether a character is visible; the blank is, other white space is not. */
export function isPrintable(character: string): boolean {
  return !unprintable.test(character);
}

/** `"…"` with escapes. `ascii` escapes everything beyond ASCII too. */
export function quoteText(text: string, ascii: boolean): string {
  return `"${text.replace(ascii ? toEscapeInAscii : toEscape, (character) => escapeCharacter(character, '"'))}"`;
}

/** `'x'` with escapes. */
export function quoteCharacter(character: string, ascii: boolean): string {
  const plain = character === '"' || (character !== "'" && character !== '\\' && isPrintable(character));
  const escaped = plain && (!ascii || character <= '~') ? character : escapeCharacter(character, "'");
  return `'${escaped}'`;
}

function escapeCharacter(character: string, quote: string): string {
  if (character === quote) return `\\${quote}`;
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Whether a text can be in backquotes unchanged. */
export function canBackquote(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return !/[\x00-\x08\x0a-\x1f`\x7f\ufeff]/.test(text);
}
