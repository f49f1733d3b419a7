/** Escapers for HTML text and attributes. All are total: any text in, safe text out. */
import { attributeKind, toLowerCase } from './attribute-kinds.ts';

/** Replaces a value that no escaping makes safe there. The same text as in Go, so that users can search for it. */
export const refused = 'ZgotmplZ';

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const markup = /[\0"&'+<>]/g;
const markupOrSpace = /[\0\t-\r "&'+<=>`\ufdd0-\ufdef\ufff0-\uffff]/g;
const plainMarkup = /[\0"&'<>]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: end

const entities: Readonly<Record<string, string>> = { '\0': '\ufffd' };

/** For text, RCDATA and quoted attributes. */
export function escapeMarkup(text: string): string {
  return text.replace(markup, (character) => entities[character] ?? namedOrDecimal(character));
}

/** The function `html`: as `escapeMarkup`, but `+` stays. */
export function escapeHtmlFunction(text: string): string {
  return text.replace(plainMarkup, (character) => entities[character] ?? namedOrDecimal(character));
}

/** For unquoted attributes, where white space and `=` would end the value and an empty one would be lost. */
export function escapeUnquoted(text: string): string {
  if (text === '') return refused;
  return text.replace(markupOrSpace, (character) =>
    character === '\0' || character >= '\ufdd0'
      ? `&#x${(character === '\0' ? 0xfffd : character.charCodeAt(0)).toString(16)};`
      : namedOrDecimal(character),
  );
}

const named: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function namedOrDecimal(character: string): string {
  return named[character] ?? `&#${character.charCodeAt(0)};`;
}

/** A part of a tag or attribute name: only plain, harmless lower-case names. */
export function filterName(text: string): string {
  const name = toLowerCase(text);
  return /^[a-z0-9]+$/.test(name) && attributeKind(name) === 'plain' ? name : refused;
}
